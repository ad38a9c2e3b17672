// Commands that take input, by pipe and by terminal, through the tools as a model uses them. Real
// processes; whoever still runs reads its input, and is stopped at the end.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { TaskId } from '../../domain/ids.ts'
import type { Processes } from '../../exec/ports.ts'
import { ProcessFault } from '../../exec/commands/process-fault.ts'
import { ToolBench } from '../../testing/world/tool-context.ts'
import { execCommand } from './exec-command.ts'
import { taskInput } from './task-input.ts'
import { taskOutput } from './task-output.ts'
import { taskStop } from './task-stop.ts'

let proof: 'scanned' | null = null
let problem: string | null = null
let refusal: ProcessFault | null = null
const bench = new ToolBench({
  processes: (real: Processes) => ({
    ...real,
    stop: async (id, grace_ms) => {
      const outcome = await real.stop(id, grace_ms)
      return outcome.stopped && proof ? { stopped: true, proof } : outcome
    },
    terminal_problem: async () => problem ?? real.terminal_problem(),
    input: async (...given) => {
      if (refusal) throw refusal
      return real.input(...given)
    },
  }),
})
const started: TaskId[] = []

after(async () => {
  for (const id of started) await bench.processes.stop(id, 0)
  await bench.close()
})

type Given = Parameters<typeof execCommand.run>[0]
type Result = { status: string; summary: string; warnings?: unknown; result?: unknown }

/** Starts it and lets it go to the background. */
async function inBackground(input: Given) {
  const done = await bench.call(execCommand, { ...input, yield_ms: 0 })
  const { task_handle } = valueOf(done) as { task_handle: { task_id: TaskId } }
  started.push(task_handle.task_id)
  return { id: task_handle.task_id, task_handle, warnings: done.result.warnings ?? [] }
}

function valueOf({ result }: { result: Result }): Record<string, unknown> {
  assert.equal(result.status, 'success', result.summary)
  return result.result as Record<string, unknown>
}

const give = (task_id: string, text: string, end?: boolean) =>
  bench.call(taskInput, { task_id, text, ...(end === undefined ? {} : { end }) })

type Done = Awaited<ReturnType<typeof give>>

const errorOf = ({ result }: Done): string[] => {
  if (result.status !== 'error') return assert.fail(result.summary)
  return [result.error.kind, result.error.code, result.summary]
}

const output = async (task_id: string, block = true) =>
  valueOf(await bench.call(taskOutput, { task_id, block, timeout_ms: 60_000 }))

test('with wait_ms the call has what the command said to it', async () => {
  const cmd = 'while read line; do echo "got $line"; done'
  const { id } = await inBackground({ cmd, accepts_input: true })
  const without = valueOf(await give(id, 'a\n'))
  assert.deepEqual(without, { task_id: id, task_kind: 'command', bytes: 2 })
  const given = { task_id: id, text: 'b\n', end: true, wait_ms: 30_000 }
  const { stdout, stderr } = valueOf(await bench.call(taskInput, given))
  assert.match(String(stdout), /got b\n$/)
  assert.equal(stderr, '')
})

test('a command that accepts input gets what is given, and its end', async () => {
  const { id } = await inBackground({ cmd: 'sort; echo over', accepts_input: true })
  const first = await give(id, 'b\nä\n')
  assert.deepEqual(valueOf(first), { task_id: id, task_kind: 'command', bytes: 5 })
  assert.deepEqual(
    [first.result.summary, first.changed_something],
    [`5 bytes given to ${id}`, true],
  )
  const last = valueOf(await give(id, 'a\n', true))
  assert.deepEqual(last, { task_id: id, task_kind: 'command', bytes: 2, input_ended: true })
  assert.equal((await output(id))['stdout'], 'a\nb\nä\nover\n')
})

test('a terminal takes input, and its output is read without escape codes', async () => {
  const cmd = `printf '\\033[1mname?\\033[0m '; read -r name; printf '\\r\\033[Khello %s\\n' "$name"`
  const { id } = await inBackground({ cmd, tty: true })
  while (!String((await output(id, false))['stdout']).includes('name?')) await bench.clock.sleep(5)
  await give(id, 'you\n')
  const { stdout, stderr, exit_status } = await output(id)
  assert.deepEqual([stdout, stderr, exit_status], ['name? you\nhello you\n', '', 0])
  const file = readFileSync(join(bench.home, 'tasks', id, 'stdout'), 'utf8')
  assert(file.startsWith('\u001b[1mname?\u001b[0m '), 'the file keeps them')
})

test('a machine without terminals refuses one, and says why', async () => {
  problem = 'no native part for this system'
  const before = [...bench.facts.rows('tasks')].length
  const done = await bench.call(execCommand, { cmd: 'true', tty: true })
  problem = null
  const said = 'This machine has no terminals for commands: no native part for this system.'
  assert.deepEqual(errorOf(done), ['rejected', 'tty_not_supported', said])
  assert.equal([...bench.facts.rows('tasks')].length, before)
})

test('input is refused where nobody would read it, before an intent', async (t) => {
  const { id: deaf } = await inBackground({ cmd: 'sleep 300' })
  const { id: ended } = await inBackground({ cmd: 'cat', accepts_input: true })
  const { id: stopping } = await inBackground({ cmd: 'cat', accepts_input: true })
  const { id: reader } = await inBackground({ cmd: 'cat; sleep 300', accepts_input: true })
  await give(reader, '', true)
  await bench.call(taskStop, { task_id: ended })
  bench.emit({ type: 'task_cancelling', id: stopping, survivors: [], because: 'a test' })
  const cases: [string, string, string, string, string][] = [
    ['nobody’s task', 'task_nope', 'x', 'task_not_found', 'task_nope is not a task of main.'],
    ['an ended task', ended, 'x', 'task_ended', `${ended} has ended: cancelled.`],
    ['a task being stopped', stopping, 'x', 'task_ended', `${stopping} is being stopped.`],
    [
      'a task without input',
      deaf,
      'x',
      'task_takes_no_input',
      `${deaf} was started without input.`,
    ],
    ['nothing to give', reader, '', 'message_empty', 'There is nothing to give: text is empty.'],
    [
      'an input that was ended',
      reader,
      'x',
      'task_takes_no_input',
      `The input of ${reader} was ended before.`,
    ],
  ]
  for (const [name, id, text, code, message] of cases) {
    await t.test(name, async () => {
      const done = await give(id, text)
      assert.deepEqual(errorOf(done), ['rejected', code, message])
      assert.equal(done.changed_something, false)
    })
  }
})

test('what a command does not take is counted, and nothing is lost silently', async (t) => {
  const { id } = await inBackground({ cmd: 'cat', accepts_input: true })
  const partly = new ProcessFault('input_partly_taken', 'the first 5 of 9 bytes', 'never')
  const full = new ProcessFault('input_refused', 'the command does not read its input', 'later')
  const cases: [string, ProcessFault, string[], boolean][] = [
    ['a part', partly, ['fault', 'input_partly_taken', 'The first 5 of 9 bytes.'], true],
    ['nothing', full, ['fault', 'input_refused', 'The command does not read its input.'], false],
  ]
  for (const [name, fault, said, changed] of cases) {
    await t.test(name, async () => {
      refusal = fault
      const done = await give(id, '123456789')
      refusal = null
      assert.deepEqual([errorOf(done), done.changed_something], [said, changed])
    })
  }
})

test('after a crash it is unknown whether the text arrived, and it is not given again', async () => {
  const { id } = await inBackground({ cmd: 'cat', accepts_input: true })
  const input = { task_id: id, text: 'once\n' }
  const begun = await bench.begin(taskInput, input)
  if ('refused' in begun) assert.fail(begun.refused.summary)
  const done = await bench.recover(taskInput, input, begun)
  assert.deepEqual(errorOf(done).slice(0, 2), ['outcome_unknown', 'input_unknown'])
  await give(id, '', true)
  assert.equal((await output(id))['stdout'], '')
})

test('a second run of what runs already goes on, with a warning that names the first', async () => {
  const cmd = 'cat; exit 0'
  const first = await inBackground({ cmd, accepts_input: true })
  assert.deepEqual(first.warnings, [])
  const second = await inBackground({ cmd, accepts_input: true })
  assert.deepEqual(second.warnings, [
    {
      kind: 'already_running',
      message: `${first.id} ran the same command in the same folder when this one began.`,
      duplicate_of: first.id,
    },
  ])
  assert.deepEqual(second.task_handle, {
    task_id: second.id,
    task_kind: 'command',
    status: 'running',
    duplicate_of: first.id,
    initial_output: '',
  })
  for (const id of [first.id, second.id]) {
    await give(id, '', true)
    await output(id)
  }
  const alone = await bench.call(execCommand, { cmd: 'exit 0', workdir: '.' })
  assert.equal(alone.result.warnings, undefined)
})

test('a stop that could not look everywhere says so', async () => {
  const { id } = await inBackground({ cmd: 'sleep 300' })
  proof = 'scanned'
  const done = valueOf(await bench.call(taskStop, { task_id: id }))
  proof = null
  assert.equal(done['status'], 'cancelled')
  assert.match(String(done['unproven']), /^This machine cannot find a process that left/)
  const { id: sure } = await inBackground({ cmd: 'sleep 301' })
  assert.equal('unproven' in valueOf(await bench.call(taskStop, { task_id: sure })), false)
})
