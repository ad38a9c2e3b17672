// Real commands through the real runner. A command that must still run sleeps longer than any test
// lasts, and is stopped at the end; nothing here waits for a fixed time.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { limits } from '../../domain/limits.ts'
import type { StartPlace } from '../../domain/start-place.ts'
import { ANOTHER_PLACE } from '../../domain/agents/task-end.ts'
import type { Processes } from '../../exec/ports.ts'
import { ProcessFault } from '../../exec/commands/process-fault.ts'
import { startPlace } from '../../exec/commands/start-place.ts'
import { ToolBench } from '../../testing/world/tool-context.ts'
import type { CommandIntent } from './command-outcome.ts'
import { execCommand } from './exec-command.ts'

const bench = new ToolBench()
/** Tasks of the shared bench that may run still; tests with their own bench clean up themselves. */
const started: string[] = []

after(async () => {
  for (const id of started) await bench.processes.stop(id, 0)
  await bench.close()
})

type Given = Parameters<typeof execCommand.run>[0]
type Done = Awaited<ReturnType<typeof run>>

const run = (input: Given, signals: Parameters<ToolBench['call']>[2] = {}, on = bench) =>
  on.call(execCommand, input, signals)

/** A call whose intent is committed: what a crash finds. */
async function begun(input: Given, on = bench) {
  const call = await on.begin(execCommand, input)
  if ('refused' in call) throw new Error(call.refused.summary)
  if (on === bench) started.push(call.intent.task_id)
  return call
}

/** As the tool does it, up to the point where the crash is meant to be. */
async function startByHand(intent: CommandIntent, on = bench) {
  const { task_id, cmd, workdir, timeout_ms, stdin } = intent
  await on.processes.prepare({ task_id, cmd, workdir, env: {}, timeout_ms, stdin })
  await on.processes.start(task_id)
}

function resultOf(done: Done) {
  assert.equal(done.result.status, 'success', done.result.summary)
  return done.result.status === 'success' ? (done.result.result as never) : assert.fail()
}

function errorOf(done: Done) {
  if (done.result.status !== 'error') return assert.fail('a success')
  const { kind, code, detail } = done.result.error
  return { kind, code, detail: (detail ?? {}) as Record<string, unknown> }
}

const handleOf = (done: Done) => {
  const { task_handle } = resultOf(done) as { task_handle: { task_id: `task_${string}` } }
  started.push(task_handle.task_id)
  return task_handle
}

async function outputBegins(id: string, on = bench) {
  for (;;) {
    const seen = await on.processes.observe(id)
    if (seen.state === 'running' && seen.output.stdout_bytes > 0) return
    await on.clock.sleep(2)
  }
}

test('a command that ends in time answers with its status and both streams', async () => {
  const done = await run({ cmd: 'echo out; echo err >&2' })
  assert.deepEqual(resultOf(done), { exit_status: 0, stdout: 'out\n', stderr: 'err\n' })
  assert.deepEqual(done.settled, ['task_started', 'task_ended'])
  assert.equal(done.changed_something, false)
})

test('an exit status other than zero is a success', async () => {
  const done = await run({ cmd: 'exit 3' })
  assert.deepEqual(resultOf(done), { exit_status: 3, stdout: '', stderr: '' })
  const task = [...bench.facts.rows('tasks')].at(-1)
  assert.deepEqual([task?.status, task?.exit_status, task?.promoted], ['completed', 3, false])
})

test('the same command with the same result has the same hash, another result not', async () => {
  writeFileSync(join(bench.workspace, 'state'), 'one')
  const first = await run({ cmd: 'cat state' })
  const again = await run({ cmd: 'cat state' })
  writeFileSync(join(bench.workspace, 'state'), 'two')
  const other = await run({ cmd: 'cat state' })
  assert.match(first.result_hash ?? '', /^[0-9a-f]{64}$/)
  assert.equal(again.result_hash, first.result_hash)
  assert.notEqual(other.result_hash, first.result_hash)
})

test('a command runs in the folder named, also by a link, with the variables given', async () => {
  const own = new ToolBench({ environment: { HOLON_TRIGGER_URL: 'http://127.0.0.1/x' } })
  try {
    mkdirSync(join(own.workspace, 'deep'))
    symlinkSync(join(own.workspace, 'deep'), join(own.workspace, 'link'))
    const cmd = 'pwd -P; echo "$HOLON_TRIGGER_URL"'
    for (const workdir of ['deep', 'link', join(own.workspace, 'deep')]) {
      const done = await run({ cmd, workdir }, {}, own)
      const stdout = `${join(own.workspace, 'deep')}\nhttp://127.0.0.1/x\n`
      assert.deepEqual(resultOf(done), { exit_status: 0, stdout, stderr: '' })
    }
    const intents = own.events.filter(({ type }) => type !== 'call_finished')
    const kept = JSON.stringify(intents)
    assert.equal(kept.includes('127.0.0.1'), false, 'names of variables are kept, not values')
  } finally {
    await own.close()
  }
})

test('what cannot be run is refused before a task exists', async (t) => {
  const before = [...bench.facts.rows('tasks')].length
  const cases: [string, Given, string][] = [
    ['a missing folder', { cmd: 'true', workdir: 'nowhere' }, 'workdir_not_found'],
    ['a file as folder', { cmd: 'true', workdir: 'state' }, 'workdir_not_found'],
    ['a blank command', { cmd: ' \n' }, 'cmd_invalid'],
    ['a NUL', { cmd: 'a\0b' }, 'cmd_invalid'],
  ]
  for (const [name, input, code] of cases) {
    await t.test(name, async () => assert.equal(errorOf(await run(input)).code, code))
  }
  assert.equal([...bench.facts.rows('tasks')].length, before)
})

test('a command that lasts goes to the background with a handle and what it wrote', async () => {
  const own = new ToolBench({
    processes: (real) => ({
      ...real,
      // The window begins once there is something to show.
      start: async (id) => {
        await real.start(id)
        await outputBegins(id, own)
      },
    }),
  })
  try {
    const item = own.bindItem()
    const done = await run({ cmd: 'echo begun; sleep 300', yield_ms: 0 }, {}, own)
    const { task_handle } = resultOf(done) as { task_handle: { task_id: `task_${string}` } }
    const { task_id } = task_handle
    assert.deepEqual(task_handle, {
      task_id,
      task_kind: 'command',
      status: 'running',
      initial_output: 'begun\n',
    })
    assert.deepEqual(done.settled, ['task_started', 'task_promoted'])
    assert.deepEqual([done.changed_something, done.result_hash], [true, null])
    const task = own.row('tasks', task_id)
    assert.deepEqual(
      [task.status, task.promoted, task.work_item_id, task.label, task.output.path],
      ['running', true, item, 'echo begun; sleep 300', join(own.home, 'tasks', task_id)],
    )
    await own.processes.stop(task_id, 0)
  } finally {
    await own.close()
  }
})

test('a command that takes long is said to run, before it ends or goes to the background', async () => {
  const own = new ToolBench()
  const rest = Promise.withResolvers<void>()
  const sleep = own.clock.sleep.bind(own.clock)
  own.clock.sleep = async (ms, signal) => {
    if (ms === limits.start_unnoted.value) return
    rest.resolve()
    await sleep(ms, signal)
  }
  try {
    const input = { cmd: 'until [ -e go ] || [ ! -d "$PWD" ]; do sleep 0.01; done' }
    const call = await begun(input, own)
    const task = () => own.row('tasks', call.intent.task_id)
    const done = own.run(execCommand, input, call)
    assert.equal(task().status, 'queued')
    await rest.promise
    assert.deepEqual([task().status, task().promoted], ['running', false])
    assert.notEqual(task().started_at, null)
    writeFileSync(join(own.workspace, 'go'), '')
    assert.deepEqual((await done).settled, ['task_ended'])
  } finally {
    await own.close()
  }
})

test('an interjected message moves a command to the background that had its first seconds', async () => {
  const own = new ToolBench()
  const asked: number[] = []
  const sleep = own.clock.sleep.bind(own.clock)
  own.clock.monotonic = () => 0
  own.clock.sleep = async (ms, signal) => {
    asked.push(ms)
    if (ms !== limits.interject_grace.value) await sleep(ms, signal)
  }
  try {
    const input = { cmd: 'sleep 300', yield_ms: 600_000 }
    const done = await own.call(execCommand, input, { interject: AbortSignal.abort() })
    assert.match(done.result.summary, /goes on in the background: a message came in/)
    assert.ok(asked.includes(limits.interject_grace.value), String(asked))
  } finally {
    await own.close()
  }
})

test('a message that waits already cuts no short command', async () => {
  const done = await run({ cmd: 'sleep 0.2; echo whole' }, { interject: AbortSignal.abort() })
  assert.match(JSON.stringify(done.result), /"stdout":"whole/)
})

test('a command is moved to the background at once where Holon closes', async () => {
  const close = new AbortController()
  const done = run({ cmd: 'sleep 300', yield_ms: 600_000 }, { close: close.signal })
  close.abort()
  const handle = handleOf(await done)
  assert.equal((await bench.processes.observe(handle.task_id)).state, 'running')
})

test('a time limit stops the command and fails its task', async () => {
  const done = await run({ cmd: 'echo begun; sleep 300', timeout_ms: 200, yield_ms: 60_000 })
  const { kind, code, detail } = errorOf(done)
  assert.deepEqual([kind, code, detail['stdout']], ['timeout', 'command_timed_out', 'begun\n'])
  const task = bench.row('tasks', String(detail['task_id']))
  assert.deepEqual([task.status, task.reason], ['failed', 'timeout'])
  assert.deepEqual(done.settled, ['task_ended'])
})

test('an abort stops the command with proof and keeps what it wrote', async () => {
  const abort = new AbortController()
  const cmd = 'echo begun; sleep 300 & echo $! >child; wait'
  const call = await begun({ cmd, yield_ms: 600_000 })
  const done = bench.run(execCommand, { cmd }, call, { abort: abort.signal })
  await outputBegins(call.intent.task_id)
  abort.abort()
  const { kind, code, detail } = errorOf(await done)
  assert.deepEqual([kind, code, detail['stdout']], ['aborted', 'command_stopped', 'begun\n'])
  const task = bench.row('tasks', call.intent.task_id)
  assert.deepEqual([task.status, task.reason, task.promoted], ['cancelled', 'aborted', false])
  assert.deepEqual(
    bench.events.slice(-5).map(({ type }) => type),
    ['call_started', 'task_started', 'task_cancelling', 'call_finished', 'task_ended'],
  )
})

test('an aborted turn starts nothing', async () => {
  const done = await run({ cmd: 'touch began' }, { abort: AbortSignal.abort() })
  assert.deepEqual(errorOf(done).code, 'command_not_started')
  assert.deepEqual(done.settled, ['task_ended'])
  assert.equal(existsSync(join(bench.workspace, 'began')), false)
})

test('survivors of a stop keep the task cancelling, named, and for the supervisor', async () => {
  const own = new ToolBench({
    processes: (real) => ({
      ...real,
      stop: async (id, grace) => {
        await real.stop(id, grace)
        return { stopped: false, survivors: [4_242] }
      },
    }),
  })
  try {
    const call = await begun({ cmd: 'sleep 300' }, own)
    const abort = new AbortController()
    const done = own.run(execCommand, { cmd: 'sleep 300' }, call, { abort: abort.signal })
    abort.abort()
    assert.deepEqual(errorOf(await done).detail['survivors'], [4_242])
    const task = own.row('tasks', call.intent.task_id)
    assert.deepEqual([task.status, task.survivors, task.promoted], ['cancelling', [4_242], true])
  } finally {
    await own.close()
  }
})

test('giant output is shown as head and tail, and the whole stays in its file', async () => {
  const done = await run({ cmd: 'seq 1 400000; seq 1 3 >&2', max_output_tokens: 1_000 })
  const { stdout, stderr, full_output } = resultOf(done) as Record<string, never> & {
    stdout: string
    stderr: string
    full_output: { stdout: string }
  }
  const lines = stdout.split('\n')
  const cut = lines.findIndex((line) => line.startsWith('[…'))
  assert.deepEqual([lines[0], lines.at(-2), stderr], ['1', '400000', '1\n2\n3\n'])
  assert.match(
    lines[cut] ?? '',
    /^\[… \d+ of 2688895 bytes left out; the whole is in .*stdout …\]$/,
  )
  assert.equal(Number(lines[cut - 1]), cut, 'the head ends with a whole line')
  const behind = lines.slice(cut + 1, -1)
  const rest = Array.from({ length: behind.length }, (_, n) => `${400_001 - behind.length + n}`)
  assert.deepEqual(behind, rest, 'the tail begins with a whole line')
  assert(behind.length > 200, `${behind.length} lines`)
  assert(stdout.length < 3_200, `${stdout.length} characters`)
  assert.equal((await bench.files.hash(full_output.stdout)).bytes, 2_688_895)
})

test('a command that cannot begin is a fault, and its task has failed', async () => {
  const own = new ToolBench({
    processes: (real) => ({
      ...real,
      start: () => Promise.reject(new ProcessFault('spawner_failed', 'no spawner', 'later')),
    }),
  })
  try {
    const done = await run({ cmd: 'true' }, {}, own)
    const { kind, code, detail } = errorOf(done)
    assert.deepEqual([kind, code], ['fault', 'could_not_start'])
    const task = own.row('tasks', String(detail['task_id']))
    assert.deepEqual([task.status, task.reason], ['failed', 'no spawner'])
    assert.equal((await own.processes.observe(task.id)).state, 'ended', 'it can never start now')
  } finally {
    await own.close()
  }
})

test('at most so many tasks run at a time', async () => {
  const own = new ToolBench()
  try {
    for (let n = 0; n < limits.running_tasks.value; n++) await begun({ cmd: 'true' }, own)
    const done = await run({ cmd: 'true' }, {}, own)
    const over = 'running_tasks is 32 tasks; the limit is 32.'
    assert.deepEqual([errorOf(done).code, done.result.summary], ['over_limit', over])
  } finally {
    await own.close()
  }
})

test('recovery of a call that never began runs the command once', async () => {
  const input = { cmd: 'echo x >>count; cat count' }
  const call = await begun(input)
  const done = await bench.recover(execCommand, input, call)
  assert.deepEqual(resultOf(done), { exit_status: 0, stdout: 'x\n', stderr: '' })
})

/** What takes the claim of a command away together with what the command did. */
const losses: [string, (bench: ToolBench, here: StartPlace) => StartPlace][] = [
  ['a power cut', (_, here) => ({ ...here, boot: 'the next boot' })],
  ['a restore', (_, here) => ({ ...here, tasks: 'the folder of the restored home' })],
  [
    'a tasks folder that was emptied',
    (own) => {
      const tasks_folder = join(own.home, 'tasks')
      rmSync(tasks_folder, { recursive: true })
      mkdirSync(tasks_folder)
      return startPlace(tasks_folder)
    },
  ],
]
for (const [loss, lose] of losses) {
  test(`after ${loss} a command without a claim is unknown, and not begun again`, async (t) => {
    let lost: StartPlace | null = null
    const own = new ToolBench({
      processes: (real) => ({ ...real, place: () => lost ?? real.place() }),
    })
    t.after(() => own.close())
    const input = { cmd: 'echo paid >> paid.txt' }
    const call = await begun(input, own)
    lost = lose(own, own.processes.place())
    const done = await own.recover(execCommand, input, call)
    assert.deepEqual([errorOf(done).kind, done.settled], ['outcome_unknown', ['task_ended']])
    assert.equal(existsSync(join(own.workspace, 'paid.txt')), false)
    const { status, reason } = own.row('tasks', call.intent.task_id)
    assert.deepEqual({ status, reason }, { status: 'interrupted', reason: ANOTHER_PLACE })
  })
}

test('recovery after the end of the command gives the real result, without a rerun', async () => {
  const input = { cmd: 'echo x >>once; cat once; exit 5' }
  const call = await begun(input)
  await startByHand(call.intent)
  await bench.processes.ended(call.intent.task_id, AbortSignal.timeout(20_000))
  const done = await bench.recover(execCommand, input, call)
  assert.deepEqual(resultOf(done), { exit_status: 5, stdout: 'x\n', stderr: '' })
  assert.deepEqual(done.settled, ['task_started', 'task_ended'])
})

test('recovery joins a running command for the rest of its window', async () => {
  const input = {
    cmd: 'until [ -e go ] || [ ! -d "$PWD" ]; do sleep 0.01; done; echo gone',
    yield_ms: 600_000,
  }
  const call = await begun(input)
  await startByHand(call.intent)
  const done = bench.recover(execCommand, input, call)
  writeFileSync(join(bench.workspace, 'go'), '')
  assert.deepEqual(resultOf(await done), { exit_status: 0, stdout: 'gone\n', stderr: '' })
})

test('recovery after the window promotes a running command, as re-adopted', async () => {
  const input = { cmd: 'sleep 300', yield_ms: 60_000 }
  const call = await begun(input)
  await startByHand(call.intent)
  bench.passTime(61_000)
  const done = await bench.recover(execCommand, input, call)
  assert.equal(handleOf(done).task_id, call.intent.task_id)
  assert.deepEqual(done.settled, ['task_started', 'task_readopted', 'task_promoted'])
})

test('recovery of a command that vanished is unknown, with its last output', async () => {
  const own = new ToolBench({ processes: vanishing })
  try {
    const input = { cmd: 'echo last words; sleep 300' }
    const call = await begun(input, own)
    await startByHand(call.intent, own)
    await outputBegins(call.intent.task_id, own)
    lost = true
    const done = await own.recover(execCommand, input, call)
    const { kind, code, detail } = errorOf(done)
    assert.deepEqual([kind, code], ['outcome_unknown', 'command_lost'])
    assert.deepEqual([detail['stdout'], detail['pid']], ['last words\n', 77])
    assert.equal(own.row('tasks', call.intent.task_id).status, 'interrupted')
    lost = false
    await own.processes.stop(call.intent.task_id, 0)
  } finally {
    await own.close()
  }
})

let lost = false
const vanishing = (real: Processes): Processes => ({
  ...real,
  observe: async (id) => {
    const seen = await real.observe(id)
    return lost && seen.state === 'running' ? { state: 'lost', pid: 77, output: seen.output } : seen
  },
})

test('recovery finishes a stop that a crash cut off', async () => {
  const input = { cmd: 'sleep 300' }
  const call = await begun(input)
  await startByHand(call.intent)
  const id = call.intent.task_id
  bench.emit({ type: 'task_cancelling', id, survivors: [], because: 'aborted' })
  const done = await bench.recover(execCommand, input, call)
  assert.equal(errorOf(done).code, 'command_stopped')
  assert.equal(bench.row('tasks', id).status, 'cancelled')
})

test('when the machine does not answer, nothing is claimed; the task is handed over', async () => {
  const own = new ToolBench({
    processes: (real) => ({
      ...real,
      observe: () => Promise.reject(new ProcessFault('foreign_format', 'another format', 'never')),
    }),
  })
  try {
    const input = { cmd: 'true' }
    const call = await begun(input, own)
    const done = await own.recover(execCommand, input, call)
    assert.deepEqual(
      [errorOf(done).kind, errorOf(done).code],
      ['outcome_unknown', 'foreign_format'],
    )
    assert.deepEqual(done.settled, ['task_promoted'])
  } finally {
    await own.close()
  }
})
