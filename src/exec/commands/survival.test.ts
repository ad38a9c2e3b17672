// What outlives the daemon: a small daemon in a process of its own is killed, and this test finds
// its tasks by their folders alone.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { systemClock } from '../clock.ts'
import { OUTPUT_CAP_BYTES } from '../limits.ts'
import type { Processes } from '../ports.ts'
import { createProcesses } from './processes.ts'
import { processTable } from './process-table.ts'
import { tasksIn } from '../../testing/host/tasks-in.ts'

const folder = mkdtempSync(join(tmpdir(), 'holon-survival-'))
const tasks_folder = join(folder, 'tasks')
const clock = systemClock()
const parent_env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder }
const patience = () => AbortSignal.timeout(20_000)
const url = (name: string) => JSON.stringify(new URL(name, import.meta.url).href)
let processes: Processes

before(() => {
  processes = createProcesses({ tasks_folder, clock, parent_env })
})
after(async () => {
  // A test that failed may have left its command running.
  for (const task_id of tasksIn(tasks_folder)) await processes.stop(task_id, 0)
  await processes.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A daemon that starts `commands` and then lives until it is killed. */
async function daemon(commands: Record<string, { cmd: string; timeout_ms?: number }>) {
  const program = `
    import { createProcesses } from ${url('./processes.ts')}
    import { systemClock } from ${url('../clock.ts')}
    const options = ${JSON.stringify({ tasks_folder, parent_env })}
    const processes = createProcesses({ ...options, clock: systemClock() })
    const commands = ${JSON.stringify(commands)}
    for (const [task_id, given] of Object.entries(commands)) {
      const spec = { task_id, workdir: '/', env: {}, timeout_ms: null, stdin: 'none', ...given }
      await processes.prepare(spec)
      await processes.start(task_id)
    }
    console.log(processes.spawnerPid())
    setInterval(() => {}, 1000)`
  const args = ['--input-type=module', '-e', program]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout, 'data')
  return { child, spawner: Number(String(line)) }
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

const identity = (pid: number) => processTable().identity(pid)

async function untilGone(pid: number): Promise<void> {
  while (await identity(pid)) await clock.sleep(5)
}

const go = (name: string) => writeFileSync(join(folder, name), '')
const waitFor = (name: string) =>
  `until [ -e '${join(folder, name)}' ] || [ ! -d '${folder}' ]; do sleep 0.02; done`

test('a command goes on after kill -9 of the daemon, and its end is found', async () => {
  const { child, spawner } = await daemon({
    task_long: { cmd: `${waitFor('long')}; echo later; exit 9` },
    task_done: { cmd: 'echo quick; exit 2' },
  })
  await kill(child)
  const seen = await processes.observe('task_long')
  assert.equal(seen.state, 'running')
  const ending = processes.ended('task_long', patience())
  go('long')
  const end = await ending
  assert(end.state === 'ended')
  assert.deepEqual([end.how, end.exit_status], ['exited', 9])
  const output = await processes.output('task_long', { stream: 'stdout', max_bytes: 100 })
  assert.equal(output.text, 'later\n')
  const done = await processes.ended('task_done', patience())
  assert(done.state === 'ended' && done.exit_status === 2)
  // The spawner was the daemon's only; it leaves when nothing of it runs any more.
  await untilGone(spawner)
})

test('a command goes on after kill -9 of the daemon and of the spawner', async () => {
  const { child, spawner } = await daemon({ task_orphan: { cmd: `${waitFor('orphan')}; exit 4` } })
  process.kill(spawner, 'SIGKILL')
  await kill(child)
  await untilGone(spawner)
  assert.equal((await processes.observe('task_orphan')).state, 'running')
  const second = await daemon({ task_orphan: { cmd: 'echo a second start' } })
  await kill(second.child)
  go('orphan')
  const end = await processes.ended('task_orphan', patience())
  assert(end.state === 'ended' && end.exit_status === 4)
  assert.equal(end.output.stdout_bytes, 0)
})

test('a time limit holds while the daemon is dead', async () => {
  const { child } = await daemon({ task_limited: { cmd: 'sleep 300', timeout_ms: 400 } })
  await kill(child)
  const end = await processes.ended('task_limited', patience())
  assert(end.state === 'ended')
  assert.deepEqual([end.how, end.signal], ['timed_out', 'SIGTERM'])
})

test('the cap on output holds while the daemon is dead', async () => {
  const cmd = `head -c ${OUTPUT_CAP_BYTES + 1_000_000} /dev/zero | tr '\\0' x; ${waitFor('flood')}`
  const { child } = await daemon({ task_flood: { cmd: `${waitFor('begin')}; ${cmd}` } })
  await kill(child)
  go('begin')
  const stdout = join(tasks_folder, 'task_flood', 'stdout')
  // Nobody looks from here: only the spawner that the daemon left behind can cut the file.
  const dropped = () =>
    existsSync(stdout) && readFileSync(stdout, 'latin1').includes('[output dropped here: over')
  while (!dropped()) await clock.sleep(50)
  assert(statSync(stdout).size < OUTPUT_CAP_BYTES)
  go('flood')
  const end = await processes.ended('task_flood', patience())
  assert(end.state === 'ended' && end.exit_status === 0)
})

test('an exit line counts only with its newline, and a claim only when it is whole', async () => {
  const { child } = await daemon({ task_torn: { cmd: 'exit 3' } })
  await processes.ended('task_torn', patience())
  await kill(child)
  const state = join(tasks_folder, 'task_torn', 'state')
  const text = readFileSync(state, 'utf8')
  assert.match(text, /\nexit 3\n$/)
  truncateSync(state, Buffer.byteLength(text) - 1)
  assert.equal((await processes.observe('task_torn')).state, 'lost')
  appendFileSync(state, '\n')
  assert.equal((await processes.observe('task_torn')).state, 'ended')
  writeFileSync(state, 'holon-runner 1 proc')
  assert.deepEqual(await processes.observe('task_torn'), {
    state: 'lost',
    pid: null,
    output: { stdout_bytes: 0, stderr_bytes: 0 },
  })
  writeFileSync(state, 'holon-runner 2 something new\n')
  await assert.rejects(processes.observe('task_torn'), { code: 'foreign_format' })
  rmSync(join(tasks_folder, 'task_torn'), { recursive: true })
})
