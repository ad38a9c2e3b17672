// Input by pipe and by terminal, to real commands under the real runner. Nothing here waits for a
// fixed time: a command that must still run reads its input, and is stopped at the end.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemClock } from '../clock.ts'
import { INPUT_MAX_BYTES, TERMINAL_LINE_BYTES } from '../limits.ts'
import type { CommandSpec, StdinMode, TaskProcess } from '../ports.ts'
import { createProcesses, type ProcessesOptions } from './processes.ts'
import { processTable } from './process-table.ts'
import { tasksIn } from '../../testing/host/tasks-in.ts'

const folder = mkdtempSync(join(tmpdir(), 'holon-input-'))
const tasks_folder = join(folder, "tasks with 'odd' name")
const clock = systemClock()
const parent_env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, LANG: 'C.UTF-8' }
const options: ProcessesOptions = { tasks_folder, clock, parent_env }
const processes = createProcesses(options)
const patience = () => AbortSignal.timeout(30_000)
let count = 0

after(async () => {
  for (const task_id of tasksIn(tasks_folder)) {
    if ((await processes.observe(task_id)).state === 'running') await processes.stop(task_id, 0)
  }
  await processes.close()
  rmSync(folder, { recursive: true, force: true })
})

async function begin(
  stdin: StdinMode,
  cmd: string,
  more: Partial<CommandSpec> = {},
  on = processes,
) {
  // Not the ids of another file: a stop looks for its task over the whole machine.
  const task_id = `task_input_${++count}`
  await on.prepare({ task_id, cmd, workdir: folder, env: {}, timeout_ms: null, stdin, ...more })
  await on.start(task_id)
  return task_id
}

const textOf = async (task_id: string, stream: 'stdout' | 'stderr' = 'stdout') =>
  (await processes.output(task_id, { stream, max_bytes: 1_000_000 })).text

async function untilSaid(task_id: string, text: string): Promise<void> {
  while (!(await textOf(task_id)).includes(text)) await clock.sleep(5)
}

const endOf = async (task_id: string, on = processes) => words(await on.ended(task_id, patience()))

function words(seen: TaskProcess): string {
  if (seen.state !== 'ended') return seen.state
  return [seen.how, seen.exit_status, seen.signal, seen.problem].filter((x) => x !== null).join(' ')
}

/** Of a command that ended: when its reader has gone too, which takes the pipes with it. */
async function filesOf(task_id: string): Promise<string[]> {
  const path = join(tasks_folder, task_id)
  while (existsSync(join(path, 'told'))) await clock.sleep(5)
  return readdirSync(path).toSorted()
}
const gone = async (pid: number) => (await processTable().identity(pid)) === null

const shells: [string, Partial<ProcessesOptions>][] = [
  ['as found', {}],
  ['bash without setsid', { shell: '/bin/bash', setsid: null }],
  ['sh with setsid', { shell: '/bin/sh' }],
]

for (const [name, variant] of shells) {
  test(`${name}: a pipe is open until its input is ended, and then ends`, async () => {
    const under = createProcesses({ ...options, ...variant })
    const id = await begin('pipe', 'cat; echo "end $?"', {}, under)
    await under.input(id, 'one\n')
    await untilSaid(id, 'one\n')
    await under.input(id, 'two\n', { end: true })
    assert.equal(await endOf(id, under), 'exited 0')
    assert.equal(await textOf(id), 'one\ntwo\nend 0\n')
    assert.deepEqual(await filesOf(id), ['command', 'input', 'run', 'state', 'stderr', 'stdout'])
    assert.equal(under.stdin_of(id), 'pipe')
    await under.close()
  })

  test(`${name}: a terminal is one, of a fixed size, and ends as its command ends`, async () => {
    const under = createProcesses({ ...options, ...variant })
    const cmd = 'test -t 0 && test -t 1 && test -t 2; echo "$? $TERM"; stty size; exit 7'
    const id = await begin('terminal', cmd, {}, under)
    assert.equal(await endOf(id, under), 'exited 7')
    assert.equal(await textOf(id), '0 xterm-256color\r\n40 120\r\n')
    assert.equal(await textOf(id, 'stderr'), '')
    assert.deepEqual(await filesOf(id), ['command', 'input', 'run', 'state', 'stderr', 'stdout'])
    await under.close()
  })
}

test('input reaches only who asked for it, and while it runs', async () => {
  const deaf = await begin('none', 'sleep 300')
  await assert.rejects(processes.input(deaf, 'x'), { code: 'input_refused', retry: 'never' })
  await processes.stop(deaf, 1_000)
  await assert.rejects(processes.input(deaf, 'x'), { code: 'not_running' })
  assert.equal(processes.stdin_of(deaf), 'none')
})

test('after its end no input is taken, and ending it again is nothing', async () => {
  const id = await begin('pipe', 'cat; sleep 300')
  await processes.input(id, '', { end: true })
  await processes.input(id, '', { end: true })
  await assert.rejects(processes.input(id, 'more\n'), { code: 'input_ended' })
  await processes.stop(id, 1_000)
})

test('a command that closed its input is given nothing', async () => {
  const id = await begin('pipe', 'exec <&-; echo closed; sleep 300')
  await untilSaid(id, 'closed')
  const refusal = { code: 'input_refused', message: 'the command has closed its input' }
  await assert.rejects(processes.input(id, 'x'), refusal)
  await processes.stop(id, 1_000)
})

test('as much as a pipe holds is taken at once; more is refused, or counted when cut off', async () => {
  const id = await begin('pipe', 'sleep 300')
  await assert.rejects(processes.input(id, 'x'.repeat(INPUT_MAX_BYTES + 1)), {
    code: 'input_too_long',
  })
  await processes.input(id, 'y'.repeat(INPUT_MAX_BYTES - 1_024))
  await assert.rejects(processes.input(id, 'z'.repeat(4_096)), {
    code: 'input_partly_taken',
    message: /the first 1024 of 4096 bytes were given to it, the rest was not$/,
  })
  await assert.rejects(processes.input(id, 'z'), { code: 'input_refused', retry: 'later' })
  await processes.stop(id, 1_000)
})

const skip = existsSync('/dev/full') ? false : 'this system has no /dev/full'
test('a write that fails otherwise is not called the fault of the command', { skip }, async () => {
  const id = await begin('pipe', 'sleep 300')
  await processes.input(id, 'x')
  const stdin = join(tasks_folder, id, 'stdin')
  rmSync(stdin)
  symlinkSync('/dev/full', stdin)
  await assert.rejects(processes.input(id, 'x'), { code: 'ENOSPC' })
  rmSync(stdin)
  await processes.stop(id, 1_000)
})

test('a command that reads slowly gets all of a long input', async () => {
  const id = await begin('pipe', 'sum=$(cat | wc -c); echo "$sum"')
  for (let piece = 0; piece < 5; piece++) await processes.input(id, 'é'.repeat(INPUT_MAX_BYTES / 2))
  await processes.input(id, '', { end: true })
  await endOf(id)
  assert.equal(await textOf(id), `${5 * INPUT_MAX_BYTES}\n`)
})

test('what is typed into a terminal is shown and read, and Ctrl-D ends it', async () => {
  const id = await begin('terminal', 'read -r name; echo "hello $name"; cat; echo over')
  await processes.input(id, 'wörld\n')
  await untilSaid(id, 'hello wörld')
  await processes.input(id, 'half a line', { end: true })
  assert.equal(await endOf(id), 'exited 0')
  const shown = 'wörld\r\nhello wörld\r\nhalf a line'
  assert.equal((await textOf(id)).slice(0, shown.length), shown)
  assert.match(await textOf(id), /half a lineover\r\n$/)
})

test('a line that a terminal would drop is refused', async () => {
  const id = await begin('terminal', 'sleep 300')
  const long = `short\n${'x'.repeat(TERMINAL_LINE_BYTES + 1)}\n`
  await assert.rejects(processes.input(id, long), { code: 'input_too_long' })
  await processes.stop(id, 1_000)
})

test('a terminal keeps escape codes in the file, and all of a long output', async () => {
  const id = await begin('terminal', `printf '\\033[31mred\\033[0m\\n'; seq 1 30000`)
  assert.equal(await endOf(id), 'exited 0')
  const lines = (await textOf(id)).split('\r\n')
  assert.equal(lines[0], '\u001b[31mred\u001b[0m')
  assert.deepEqual(
    lines.slice(1, -1),
    Array.from({ length: 30_000 }, (_, i) => String(i + 1)),
  )
})

const deaths: [string, string][] = [
  ['kill -KILL $$', 'signalled SIGKILL'],
  ['kill -TERM $$', 'signalled SIGTERM'],
  ['kill -HUP $$', 'signalled SIGHUP'],
  ['kill -PIPE $$', 'exited 141'],
  ['exit 137', 'exited 137'],
]
test('a death in a terminal is told apart as without one', async () => {
  const seen = []
  for (const [cmd] of deaths) seen.push([cmd, await endOf(await begin('terminal', cmd))])
  assert.deepEqual(seen, deaths)
})

test('Ctrl-C interrupts what runs in a terminal', async () => {
  const id = await begin('terminal', `trap 'echo caught; exit 5' INT; echo on; sleep 300`)
  await untilSaid(id, 'on')
  await processes.input(id, '\u0003')
  assert.equal(await endOf(id), 'exited 5')
  assert.match(await textOf(id), /caught/)
})

test('a stop ends a terminal with everything in it, also who left its session', async () => {
  const cmd = `env -i setsid sh -c 'echo $$; exec sleep 300' & echo $$; trap '' HUP; sleep 300`
  const id = await begin('terminal', cmd)
  while ((await textOf(id)).split('\n').length < 3) await clock.sleep(5)
  const pids = (await textOf(id)).trim().split('\r\n').map(Number)
  const seen = await processes.observe(id)
  assert(seen.state === 'running' && pids.includes(seen.pid), 'the pid is of what runs inside')
  assert.deepEqual(await processes.stop(id, 5_000), { stopped: true, proof: 'marked' })
  assert.deepEqual(await Promise.all(pids.map(gone)), [true, true])
  assert.equal(words(await processes.observe(id)), 'signalled SIGTERM')
})

test('the time limit ends a command in a terminal', async () => {
  const id = await begin('terminal', 'sleep 300', { timeout_ms: 500 })
  assert.equal(await endOf(id), 'timed_out SIGTERM')
})

test('without the program for it a terminal is a problem with a reason, and no command', async () => {
  const terminal = { node: process.execPath, script: join(folder, 'nowhere.js') }
  const under = createProcesses({ ...options, terminal })
  assert.match((await under.terminal_problem()) ?? '', /./)
  assert.equal(await processes.terminal_problem(), null)
  await under.close()
})

test('caps hold for a command and its children, in a terminal too; core files are off', async () => {
  const caps = { open_files: 123, processes: 4_321, memory_bytes: 2 ** 31, cpu_seconds: 3_600 }
  const under = createProcesses({ ...options, caps: { ...caps, open_files: 99_999_999 } })
  const cmd = `for one in n u v t; do bash -c "ulimit -$one"; done; ulimit -Sc`
  const told = []
  for (const stdin of ['none', 'terminal'] as const) {
    const id = await begin(stdin, cmd, { caps: { open_files: 123 } }, under)
    assert.equal(await endOf(id, under), 'exited 0')
    told.push((await textOf(id)).replaceAll('\r', '').trim().split('\n'))
  }
  const expected = ['123', '4321', String(2 ** 21), '3600', '0']
  assert.deepEqual(told, [expected, expected])
  const bad = begin('none', 'true', { caps: { open_files: 0 } })
  await assert.rejects(bad, { code: 'invalid_command' })
  await under.close()
})

test('a cap above what the machine allows is kept by the machine', async () => {
  const high = await begin('none', 'ulimit -n', { caps: { open_files: 2 ** 40 } })
  assert.equal(await endOf(high), 'exited 0')
  assert.match(await textOf(high), /^\d+\n$/)
})

test('when the runner is killed, the input stays open as long as its command', async () => {
  const id = await begin('pipe', 'echo $PPID; cat')
  await untilSaid(id, '\n')
  const runner = Number(await textOf(id))
  process.kill(runner, 'SIGKILL')
  while (!(await gone(runner))) await clock.sleep(5)
  await processes.input(id, 'still read\n')
  await untilSaid(id, 'still read')
  await processes.input(id, '', { end: true })
  assert.equal(await endOf(id), 'lost')
  assert.equal(existsSync(join(tasks_folder, id, 'stdin')), false)
  assert.match(readFileSync(join(tasks_folder, id, 'state'), 'utf8'), /\nmark \d{19}\n/)
})
