// ListTasks, TaskStatus, TaskOutput and TaskStop on real commands in the background.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { endTask } from '../../domain/inbox/admit.ts'
import { taskResultId, type TaskId } from '../../domain/ids.ts'
import type { Processes } from '../../exec/ports.ts'
import { ToolBench } from '../../testing/world/tool-context.ts'
import { execCommand } from './exec-command.ts'
import { listTasks } from './list-tasks.ts'
import { taskOutput } from './task-output.ts'
import { taskStatus } from './task-status.ts'
import { taskStop } from './task-stop.ts'
import { waitRegistered } from '../../testing/events.ts'

let survivors: number[] | null = null
const stubborn = (real: Processes): Processes => ({
  ...real,
  stop: async (id, grace) => {
    if (survivors === null) return real.stop(id, grace)
    return { stopped: false, survivors }
  },
})

const bench = new ToolBench({ processes: stubborn })
const background: TaskId[] = []

after(async () => {
  survivors = null
  for (const id of background) await bench.processes.stop(id, 0)
  await bench.close()
})

/** A command in the background. */
async function inBackground(cmd: string): Promise<TaskId> {
  const begun = await bench.begin(execCommand, { cmd, yield_ms: 0 })
  if ('refused' in begun) return assert.fail(begun.refused.summary)
  const id = begun.intent.task_id
  background.push(id)
  const done = await bench.run(execCommand, { cmd, yield_ms: 0 }, begun)
  // Too quick for the background: then the test's command is wrong.
  assert.equal(bench.row('tasks', id).promoted, true, done.result.summary)
  return id
}

const untilFile = (name: string, then: string) =>
  `until [ -e ${name} ] || [ ! -d "$PWD" ]; do sleep 0.01; done; ${then}`
const make = (name: string) => writeFileSync(join(bench.workspace, name), '')

type Done = { result: { status: string; result?: unknown; error?: { kind: string; code: string } } }
const resultOf = ({ result }: Done) => {
  assert.equal(result.status, 'success')
  return result.result as Record<string, unknown>
}
const codeOf = ({ result }: Done) => result.error?.code

/** What the supervisor commits when it learns of the end. */
const supervisorEnds = (id: TaskId) =>
  bench.commit((d) =>
    endTask(d, {
      task_id: id,
      status: 'completed',
      reason: null,
      exit_status: 0,
      output_bytes: 0,
      ended_at: d.now,
      body: 'It ended.',
    }),
  )

test('a task nobody has is refused by every tool that names one', async () => {
  for (const tool of [taskStatus, taskOutput, taskStop]) {
    const done = await bench.call(tool, { task_id: 'task_nope' })
    assert.equal(codeOf(done), 'task_not_found')
  }
})

test('the status of a running task names its process and how much it wrote', async () => {
  const id = await inBackground('sleep 300')
  const { pid, started_at, created_at, ...rest } = resultOf(
    await bench.call(taskStatus, { task_id: id }),
  )
  assert.equal(typeof pid, 'number')
  assert.equal(started_at, bench.row('tasks', id).started_at)
  assert.equal(created_at, bench.row('tasks', id).created_at)
  assert.deepEqual(rest, {
    task_id: id,
    task_kind: 'command',
    status: 'running',
    reason: null,
    exit_status: null,
    label: 'sleep 300',
    cmd: 'sleep 300',
    workdir: bench.workspace,
    timeout_ms: null,
    input: 'none',
    work_item_id: null,
    process: 'running',
    survivors: [],
    output: { path: join(bench.home, 'tasks', id), stdout_bytes: 0, stderr_bytes: 0 },
    ended_at: null,
  })
})

test('the list has the running ones first, then the ended, newest first', async () => {
  await bench.call(execCommand, { cmd: 'exit 1' })
  const id = await inBackground('sleep 300')
  const { running, ended } = resultOf(await bench.call(listTasks, {})) as {
    running: { task_id: string }[]
    ended: Record<string, unknown>[]
  }
  assert.equal(running[0]?.task_id, id)
  const { task_id: _, created_at: __, ended_at: ___, ...last } = ended[0] ?? {}
  assert.deepEqual(last, {
    task_kind: 'command',
    status: 'completed',
    label: 'exit 1',
    work_item_id: null,
    exit_status: 1,
    reason: null,
  })
})

test('output without block shows what is there and leaves the task alone', async () => {
  const id = await inBackground('sleep 300')
  const done = await bench.call(taskOutput, { task_id: id })
  assert.deepEqual(resultOf(done), {
    task_id: id,
    task_kind: 'command',
    status: 'running',
    exit_status: null,
    reason: null,
    stdout: '',
    stderr: '',
  })
  assert.deepEqual(done.settled, [])
})

test('a blocking read shows the end, ends the row, and its message is read with it', async () => {
  const id = await inBackground(untilFile('end', 'echo done; exit 4'))
  const reading = bench.call(taskOutput, { task_id: id, block: true, timeout_ms: 60_000 })
  make('end')
  const done = await reading
  const { status, exit_status, stdout } = resultOf(done)
  assert.deepEqual([status, exit_status, stdout], ['completed', 4, 'done\n'])
  assert.deepEqual(done.settled, ['task_ended', 'message_admitted', 'message_claimed'])
  const message = bench.row('messages', taskResultId(id))
  assert.equal(message.status, 'claimed')
  assert.match(message.body, /completed, exit status 4, \d\.\d s\nIts output/)
  const again = await bench.call(taskOutput, { task_id: id })
  assert.equal(resultOf(again)['stdout'], 'done\n')
  assert.deepEqual(again.settled, [])
})

test('an end that was announced already is read by the call that shows it', async () => {
  const id = await inBackground(untilFile('announced', 'true'))
  make('announced')
  await bench.processes.ended(id, AbortSignal.timeout(20_000))
  supervisorEnds(id)
  assert.equal(bench.row('messages', taskResultId(id)).status, 'queued')
  const done = await bench.call(taskOutput, { task_id: id, block: true })
  assert.deepEqual(done.settled, ['message_claimed'])
  assert.equal(bench.row('messages', taskResultId(id)).status, 'claimed')
})

test('a wait on the task is resolved in the commit of the read that shows its end', async () => {
  const item = bench.bindItem()
  const id = await inBackground(untilFile('waited', 'true'))
  const wait = waitRegistered({ work_item_id: item, wake: 'task_result', resource: id })
  bench.emit(wait)
  make('waited')
  await bench.call(taskOutput, { task_id: id, block: true })
  assert.equal(bench.row('waits', wait.id).status, 'resolved')
})

test('a blocking read comes back early for a time limit, a message, and an abort', async (t) => {
  const id = await inBackground('sleep 300')
  const input = { task_id: id, block: true, timeout_ms: 600_000 }
  await t.test('its own limit', async () => {
    const done = await bench.call(taskOutput, { ...input, timeout_ms: 1 })
    assert.equal(resultOf(done)['returned_early'], 'timeout')
  })
  await t.test('a message', async () => {
    const done = await bench.call(taskOutput, input, { interject: AbortSignal.abort() })
    assert.equal(resultOf(done)['returned_early'], 'interjected')
  })
  await t.test('an abort, which leaves the task running', async () => {
    const done = await bench.call(taskOutput, input, { abort: AbortSignal.abort() })
    assert.equal(codeOf(done), 'wait_aborted')
    assert.equal((await bench.processes.observe(id)).state, 'running')
  })
})

test('a stop is committed, carried out with proof, and its message needs no turn', async () => {
  const id = await inBackground('sleep 300 & sleep 300')
  const from = bench.events.length
  const done = await bench.call(taskStop, { task_id: id })
  const { status, reason } = resultOf(done)
  assert.deepEqual([status, reason], ['cancelled', 'stopped by the agent'])
  assert.deepEqual(
    bench.events.slice(from + 2).map(({ type }) => type),
    ['task_cancelling', 'call_finished', 'task_ended', 'message_admitted', 'message_consumed'],
  )
  assert.equal(done.changed_something, true)
  assert.equal((await bench.processes.observe(id)).state, 'ended')
})

test('stopping what has ended is a success that says how it ended', async () => {
  const id = await inBackground(untilFile('over', 'exit 2'))
  make('over')
  await bench.processes.ended(id, AbortSignal.timeout(20_000))
  for (const settled of [['task_ended', 'message_admitted', 'message_claimed'], []]) {
    const done = await bench.call(taskStop, { task_id: id })
    assert.match(done.result.summary, /had ended already: completed, exit status 2/)
    assert.deepEqual(done.settled, settled)
    assert.equal(done.changed_something, false)
  }
})

test('survivors keep a task cancelling, named in the result, until a stop is proven', async () => {
  const id = await inBackground('sleep 300')
  survivors = [31_337]
  const done = await bench.call(taskStop, { task_id: id })
  assert.deepEqual(
    [resultOf(done)['status'], resultOf(done)['survivors']],
    ['cancelling', [31_337]],
  )
  const { status, survivors: left } = bench.row('tasks', id)
  assert.deepEqual([status, left], ['cancelling', [31_337]])
  survivors = null
  assert.equal(resultOf(await bench.call(taskStop, { task_id: id }))['status'], 'cancelled')
})
