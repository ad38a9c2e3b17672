// A command on a disk that has no room: /dev/full stands in for it, which answers every write with
// "no space left on device". The runner asks for room by its own settings file.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemClock } from '../clock.ts'
import { createProcesses } from './processes.ts'

const folder = mkdtempSync(join(tmpdir(), 'holon-full-'))
const tasks_folder = join(folder, 'tasks')
const parent_env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder }
const processes = createProcesses({ tasks_folder, clock: systemClock(), parent_env })
const skip = existsSync('/dev/full') ? false : 'this system has no /dev/full'

after(async () => {
  await processes.close()
  rmSync(folder, { recursive: true, force: true })
})

async function ended(task_id: string, cmd: string) {
  const spec = { workdir: folder, env: { SECRET: 'canary' }, timeout_ms: null, stdin: 'none' }
  await processes.prepare({ task_id, cmd, ...spec, stdin: 'none' })
  await processes.start(task_id)
  const end = await processes.ended(task_id, AbortSignal.timeout(20_000))
  assert.equal(end.state, 'ended')
  const { how, exit_status, problem } = end
  return { how, exit_status, problem }
}

const fillsUp = (task_id: string) => `ln -sf /dev/full '${join(tasks_folder, task_id, 'run')}'`

test('a command on a full disk says that its output may be missing', { skip }, async () => {
  assert.deepEqual(await ended('task_full', `${fillsUp('task_full')}; echo lost >/dev/full`), {
    how: 'exited',
    exit_status: 1,
    problem: 'the disk was full: what it wrote may be missing',
  })
})

test('a program that ignores a full disk is told of all the same', { skip }, async () => {
  assert.deepEqual(await ended('task_deaf', `${fillsUp('task_deaf')}; exit 0`), {
    how: 'exited',
    exit_status: 0,
    problem: 'the disk was full: what it wrote may be missing',
  })
})

test('with room there is no problem, and the settings of an ended command are gone', async () => {
  assert.deepEqual(await ended('task_room', 'exit 3'), {
    how: 'exited',
    exit_status: 3,
    problem: null,
  })
  assert.equal(readFileSync(join(tasks_folder, 'task_room', 'run'), 'utf8'), '')
})
