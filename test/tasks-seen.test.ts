/**
 * What `holon tasks` says of commands of which the ledger does not know yet: beside a run that is at
 * work, and after one that was killed.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../src/exec/clock.ts'
import { createProcesses } from '../src/exec/commands/processes.ts'
import { openLedger } from '../src/ledger/store/open.ts'
import { freshMint, taskQueued } from '../src/testing/events.ts'
import { laneOf } from '../src/testing/world/ledger-world.ts'
import { printed } from './support/typed-command.ts'

const commands = {
  'task_01a20081-e48b-7954-8bef-b17872400001': 'sleep 60',
  'task_01a20081-e48b-7954-8bef-b17872400002': 'exit 3',
  'task_01a20081-e48b-7954-8bef-b17872400003': 'kill -KILL $$',
} as const
const gone = 'task_01a20081-e48b-7954-8bef-b17872400004'
const begins = 'task_01a20081-e48b-7954-8bef-b17872400005'

test('a command runs, has ended or is gone as its process says, also while nobody has read it', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'holon-seen-'))
  const ledger = await openLedger(home, { clock_now: () => Date.now(), mint: freshMint })
  const lane = await laneOf(ledger)
  const tasks_folder = join(home, 'tasks')
  const parent_env = { PATH: process.env['PATH'], HOME: home }
  const processes = createProcesses({ tasks_folder, clock: systemClock(), parent_env })
  const [sleeps, exits, dies] = Object.keys(commands) as (keyof typeof commands)[]
  assert.ok(sleeps && exits && dies)
  t.after(async () => {
    await processes.stop(sleeps, 0)
    await processes.close()
    await ledger.close()
    rmSync(home, { recursive: true })
  })
  for (const id of [sleeps, exits, dies] as const) {
    const cmd = commands[id]
    await lane.emit(taskQueued({ id, label: cmd, cmd }))
    const given = { workdir: home, env: {}, timeout_ms: null, stdin: 'none' } as const
    await processes.prepare({ task_id: id, cmd, ...given })
    await processes.start(id)
    if (id !== sleeps) await processes.ended(id, AbortSignal.timeout(20_000))
  }
  await lane.emit(taskQueued({ id: gone, label: 'gone' }), taskQueued({ id: begins, label: 'new' }))
  mkdirSync(join(tasks_folder, gone), { recursive: true })
  writeFileSync(join(tasks_folder, gone, 'state'), '')

  const rows = (await printed(home, ['tasks'])).trimEnd().split('\n').slice(2)
  const status = rows.map((row) => row.replace(/^(.) +(task_\S+) .* command +/, '$1 $2 '))
  assert.deepEqual(
    status.map((row) => row.replaceAll(/ +/g, ' ').replace(/\d+(\.\d)? s$/, '# s')).toSorted(),
    [
      '* task_0001 sleep 60 running # s',
      '* task_0002 exit 3 ended, not yet read: exit 3 # s',
      '* task_0003 kill -KILL $$ ended, not yet read: ended by SIGKILL # s',
      '! task_0004 gone its process is gone, not yet read -',
      '- task_0005 new queued -',
    ].toSorted(),
  )
  const shown = await printed(home, ['tasks', 'show', 'task_0002'])
  assert.match(shown, /^status {2}ended, not yet read: exit 3, \d\.\d s$/m)
})
