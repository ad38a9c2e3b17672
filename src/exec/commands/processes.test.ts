// Real commands under the real spawner, in a temporary folder. Nothing here waits for a fixed time:
// a command that must still run blocks on a FIFO or a long sleep, and is stopped at the end.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemClock } from '../clock.ts'
import { OUTPUT_CAP_BYTES } from '../limits.ts'
import type { CommandSpec, TaskProcess } from '../ports.ts'
import { createProcesses, type ProcessesOptions } from './processes.ts'
import { ProcessFault } from './process-fault.ts'
import { processTable } from './process-table.ts'
import { parseProcStat } from './runner-state.ts'
import { tasksIn } from '../../testing/host/tasks-in.ts'

const folder = mkdtempSync(join(tmpdir(), 'holon-exec-'))
const tasks_folder = join(folder, "tasks with 'odd' name")
const clock = systemClock()
const parent_env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, LANG: 'C.UTF-8' }
const options: ProcessesOptions = { tasks_folder, clock, parent_env }
const processes = createProcesses(options)
const provenGone = { stopped: true, proof: 'marked' }
const patience = () => AbortSignal.timeout(20_000)
let count = 0

after(async () => {
  // A test that failed may have left its command running.
  for (const task_id of tasksIn(tasks_folder)) {
    if ((await processes.observe(task_id)).state === 'running') await processes.stop(task_id, 0)
  }
  await processes.close()
  rmSync(folder, { recursive: true, force: true })
})

type Extra = Partial<Omit<CommandSpec, 'task_id' | 'cmd'>>

function specOf(cmd: string, extra: Extra = {}): CommandSpec {
  const task_id = `task_${++count}`
  return { task_id, cmd, workdir: folder, env: {}, timeout_ms: null, stdin: 'none', ...extra }
}

async function begin(cmd: string, extra: Extra = {}, under = processes): Promise<string> {
  const spec = specOf(cmd, extra)
  await under.prepare(spec)
  await under.start(spec.task_id)
  return spec.task_id
}

const textOf = async (task_id: string, stream: 'stdout' | 'stderr' = 'stdout') =>
  (await processes.output(task_id, { stream, max_bytes: 1_000_000 })).text

/** What a command left: its end without times and sizes, and its two outputs. */
async function run(cmd: string, extra: Extra = {}, under = processes) {
  const task_id = await begin(cmd, extra, under)
  const end = summary(await under.ended(task_id, patience()))
  return { end, stdout: await textOf(task_id), stderr: await textOf(task_id, 'stderr'), task_id }
}

function summary(seen: TaskProcess): string {
  if (seen.state !== 'ended') return seen.state
  return [seen.how, seen.exit_status, seen.signal, seen.problem].filter((x) => x !== null).join(' ')
}

/** Waits until the command has written `text`. */
async function untilSaid(task_id: string, text: string): Promise<void> {
  while (!(await textOf(task_id)).includes(text)) await clock.sleep(5)
}

const hasEnded = async (pid: number) => (await processTable().identity(pid)) === null

async function untilGone(pid: number): Promise<void> {
  while (!(await hasEnded(pid))) await clock.sleep(5)
}

/** The ways a command can end, and what the runner's files say of each. */
const endings: [string, string, string][] = [
  ['a success', 'true', 'exited 0'],
  ['an exit status', 'exit 7', 'exited 7'],
  ['an unknown program', 'no-such-program-here', 'exited 127'],
  ['a syntax error', 'if then (', 'exited 2'],
  ['an exit status that looks like a signal', 'exit 137', 'exited 137'],
  ['a KILL of the shell', 'kill -KILL $$', 'signalled SIGKILL'],
  ['a TERM of the shell', 'kill -TERM $$', 'signalled SIGTERM'],
  ['a SEGV of the shell', 'kill -SEGV $$', 'signalled SIGSEGV'],
  ['a KILL of a program inside', 'sleep 9 & kill -KILL $!; wait $!', 'exited 137'],
  ['an INT, which a shell does not name', 'kill -INT $$', 'exited 130'],
  ['an exec', 'exec sh -c "exit 3"', 'exited 3'],
]

/** Every kind of shell this can run on; the first is what is found by itself. */
const variants: [string, Partial<ProcessesOptions>][] = [
  ['as found', {}],
  ['bash without setsid', { shell: '/bin/bash', setsid: null }],
  ['sh with setsid', { shell: '/bin/sh' }],
  ['identities by ps', { table: processTable('ps') }],
]

for (const [name, variant] of variants) {
  // What this variant's shell cannot see; the contract of TaskProcess says so.
  const unseen: Record<string, string> = {}
  if (variant.setsid === null) unseen['signalled SIGTERM'] = 'exited 143'
  // A background job of a plain sh begins with INT ignored.
  if (variant.shell === '/bin/sh') unseen['exited 130'] = 'exited 0'
  const expected = (end: string) => unseen[end] ?? end

  test(`${name}: every way to end is told apart`, async () => {
    const under = createProcesses({ ...options, ...variant })
    const results = []
    for (const [what, cmd] of endings) results.push([what, cmd, (await run(cmd, {}, under)).end])
    await under.close()
    assert.deepEqual(
      results,
      endings.map(([what, cmd, end]) => [what, cmd, expected(end)]),
    )
  })

  test(`${name}: stopping ends the command and its children, and leaves an end`, async () => {
    const under = createProcesses({ ...options, ...variant })
    const id = await begin('sleep 300 & echo $!; wait', {}, under)
    await untilSaid(id, '\n')
    const child = Number(await textOf(id))
    const proof = variant.shell === '/bin/sh' || variant.table ? 'scanned' : 'marked'
    assert.deepEqual(await under.stop(id, 2_000), { stopped: true, proof })
    assert.equal(await hasEnded(child), true)
    assert.equal(summary(await under.observe(id)), expected('signalled SIGTERM'))
    await under.close()
  })
}

test('both outputs, the exit status and the times of a command are kept', async () => {
  const before = clock.now()
  const id = await begin('echo out; echo err >&2; exit 3')
  const end = await processes.ended(id, patience())
  assert(end.state === 'ended' && end.started_at && end.ended_at)
  assert.deepEqual(end.output, { stdout_bytes: 4, stderr_bytes: 4 })
  assert.deepEqual([await textOf(id), await textOf(id, 'stderr')], ['out\n', 'err\n'])
  // A file system's clock runs a tick behind.
  assert(Date.parse(end.started_at) >= before - 50)
  assert(Date.parse(end.ended_at) >= Date.parse(end.started_at))
  // The reader takes the pipes away in its own time.
  const pipes = ['out', 'err', 'hold', 'told']
  const files = readdirSync(join(tasks_folder, id))
    .filter((name) => !pipes.includes(name))
    .toSorted()
  assert.deepEqual(files, ['command', 'run', 'state', 'stderr', 'stdout'])
})

test('a command may hold any character but NUL', async () => {
  const odd = [`'`, '"', '\\', '$HOME', '`id`', '\r', '\t', 'ü', '🙂', '-n', '%s', '!', '\u0001']
  const quoted = odd.map((text) => `'${text.replaceAll("'", `'\\''`)}'`)
  const { stdout } = await run(`printf '%s|' ${quoted.join(' ')}\n\n# no newline at the end`)
  assert.equal(stdout, odd.map((text) => `${text}|`).join(''))
  await assert.rejects(processes.prepare(specOf('echo \0')), { code: 'invalid_command' })
})

test('a command does not find itself by its own text', async () => {
  const { end } = await run('pkill -f unlikely-text-8731; echo on; exit 4')
  assert.equal(end, 'exited 4')
})

test('the process list shows a spawner and its runners with a line, not with their program', async (t) => {
  if (processTable().kind !== 'proc') return t.skip('without /proc their arguments are not read')
  const id = await begin('sleep 60')
  const spawner = processes.spawnerPid()
  assert(spawner !== null)
  const isOfSpawner = (pid: string): boolean => {
    try {
      const { parent } = parseProcStat(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? {}
      return parent === spawner
    } catch {
      return false
    }
  }
  const runners = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isOfSpawner(pid))
  const lines = [spawner, ...runners].map((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'),
  )
  await processes.stop(id, 0)
  assert(lines.length > 1)
  for (const line of lines) {
    assert.deepEqual(line.slice(-5, -3), ['holon-spawner', tasks_folder])
    assert.ok(line.slice(0, -5).join(' ').length < 120, line.join(' '))
  }
})

test('a command sees the allow-list and what is declared, and no canary', async () => {
  const canaries = { HOLON_CONTROL_TOKEN: 'canary', ANTHROPIC_API_KEY: 'canary', X_OTHER: 'canary' }
  const loaders = { LD_PRELOAD: 'canary', GIT_DIR: 'canary', NODE_OPTIONS: 'canary' }
  const under = createProcesses({
    ...options,
    parent_env: { ...parent_env, ...canaries, ...loaders, BASH_ENV: 'canary', TZ: 'UTC' },
  })
  const given = { env: { HOLON_TRIGGER_URL: `it's "odd"\n$x`, OPENAI_API_KEY: 'canary' } }
  const { stdout, task_id } = await run('env -0', given, under)
  await under.close()
  const shells = new Set(['PWD', 'SHLVL', '_'])
  const seen = stdout.split('\0').filter((line) => line && !shells.has(line.split('=')[0] ?? ''))
  assert.deepEqual(
    seen.toSorted(),
    [
      `HOLON_TASK_ID=${task_id}`,
      `HOLON_TRIGGER_URL=it's "odd"\n$x`,
      `HOME=${folder}`,
      'LANG=C.UTF-8',
      'PATH=/usr/local/bin:/usr/bin:/bin',
      'TZ=UTC',
    ].toSorted(),
  )
})

test('no signal is ignored and no descriptor of the daemon reaches a command', async () => {
  const { stdout } = await run('grep SigIgn /proc/self/status; ls -l /proc/$$/fd')
  const [ignored, , ...listed] = stdout.trim().split('\n')
  const descriptors = listed.map((line) => line.replace(/^.* (\d+) -> /, '$1 '))
  assert.equal(ignored, 'SigIgn:\t0000000000000000')
  // Whoever started this test may have left it descriptors of his own to pass on.
  const handedDown = (line: string) => {
    const [fd, target] = line.split(' ')
    return Number(fd) > 2 && linkOf(`/proc/self/fd/${fd}`) === target
  }
  const own = descriptors.filter((line) => !handedDown(line)).map((line) => line.split(' ')[0])
  // 255 is where bash keeps the file it runs.
  assert.deepEqual(own.toSorted(), ['0', '1', '2', '255'])
})

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

test('a missing working folder is an end of its own, and the reason is in the output', async () => {
  const { end, stderr } = await run('echo never', { workdir: join(folder, 'nowhere') })
  assert.equal(end, 'could_not_start workdir')
  assert.match(stderr, /nowhere/)
})

test('a torn settings file is an end of its own', async () => {
  const spec = specOf('echo never')
  await processes.prepare(spec)
  writeFileSync(join(tasks_folder, spec.task_id, 'run'), "workdir='/'\nstdin=none\n")
  await processes.start(spec.task_id)
  const end = await processes.ended(spec.task_id, patience())
  assert.equal(summary(end), 'could_not_start settings')
})

test('a background child that keeps the output open does not hold the end back', async () => {
  const { end, stdout, task_id } = await run('(sleep 300; echo late) & echo done')
  assert.deepEqual([end, stdout], ['exited 0', 'done\n'])
  assert.deepEqual(await processes.stop(task_id, 1_000), provenGone)
})

test('a flood is cut to head, notice and tail, and the command does not die of it', async () => {
  const flood = `head -c ${OUTPUT_CAP_BYTES * 2} /dev/zero | tr '\\0' x`
  // What is written in the moment of the cut is lost with it: the end is written after it.
  const file = `"${tasks_folder}/$HOLON_TASK_ID/stdout"`
  const cut = `until grep -qa 'output dropped here' ${file}; do sleep 0.02; done`
  const id = await begin(`printf 'begin '; ${flood}; ${cut}; printf ' end'; exit 5`)
  const end = await processes.ended(id, patience())
  assert.equal(summary(end), 'exited 5')
  assert(end.state === 'ended' && end.output.stdout_bytes <= OUTPUT_CAP_BYTES)
  const head = await processes.output(id, { stream: 'stdout', max_bytes: 6 })
  const tail = await processes.output(id, { stream: 'stdout', max_bytes: 4, tail: true })
  assert.deepEqual([head.text, tail.text], ['begin ', ' end'])
  const whole = readFileSync(join(tasks_folder, id, 'stdout'), 'latin1')
  assert.match(whole, /\n\[\d+ bytes of output dropped here: the limit is 16777216\]\n/)
})

test('output is read by range, on whole characters', async () => {
  const { task_id } = await run(`printf 'aé🙂z'`)
  const read = (range: { from?: number; max_bytes: number; tail?: boolean }) =>
    processes.output(task_id, { stream: 'stdout', ...range })
  assert.deepEqual(await read({ max_bytes: 100 }), {
    text: 'aé🙂z',
    bytes: 8,
    from: 0,
    truncated: false,
  })
  const first = { text: 'aé', bytes: 3, from: 0, truncated: true }
  assert.deepEqual(await read({ max_bytes: 4 }), first)
  const second = { text: '🙂', bytes: 4, from: 3, truncated: true }
  assert.deepEqual(await read({ from: 3, max_bytes: 4 }), second)
  const tail = { text: 'z', bytes: 1, from: 7, truncated: true }
  assert.deepEqual(await read({ max_bytes: 4, tail: true }), tail)
  assert.deepEqual(await read({ from: 8, max_bytes: 4 }), {
    text: '',
    bytes: 0,
    from: 8,
    truncated: false,
  })
})

test('of twenty concurrent starts one runs the command', async () => {
  const spec = specOf('echo ran')
  await processes.prepare(spec)
  const others = [createProcesses(options), createProcesses(options)]
  const starts = Array.from({ length: 20 }, (_, i) =>
    ([processes, ...others][i % 3] ?? processes).start(spec.task_id),
  )
  await Promise.all(starts)
  await processes.ended(spec.task_id, patience())
  await Promise.all(others.map((other) => other.close()))
  assert.equal(await textOf(spec.task_id), 'ran\n')
})

test('starting again, preparing again and an unknown task change nothing', async () => {
  const { task_id, stdout } = await run('echo once')
  await processes.prepare({ ...specOf('echo other'), task_id })
  await processes.start(task_id)
  assert.deepEqual([stdout, await textOf(task_id)], ['once\n', 'once\n'])
  assert.deepEqual(await processes.observe('task_unknown'), { state: 'absent' })
  await assert.rejects(processes.start('task_unknown'), { code: 'not_prepared' })
  await assert.rejects(processes.ended('task_unknown', patience()), { code: 'not_started' })
  await assert.rejects(processes.observe('../etc'), ProcessFault)
})

test('a task that was stopped before its start never starts', async () => {
  const spec = specOf('echo never')
  await processes.prepare(spec)
  assert.deepEqual(await processes.stop(spec.task_id, 10), { stopped: true, proof: 'never_began' })
  await processes.start(spec.task_id)
  assert.equal(summary(await processes.observe(spec.task_id)), 'could_not_start stopped')
  assert.equal(await textOf(spec.task_id), '')
})

test('the runner itself ends a command at its time limit', async () => {
  const { end } = await run('sleep 300', { timeout_ms: 50 })
  assert.equal(end, 'timed_out SIGTERM')
  const quick = await run('echo quick', { timeout_ms: 60_000 })
  assert.deepEqual([quick.end, quick.stdout], ['exited 0', 'quick\n'])
})

test('an abort ends the waiting and not the command', async () => {
  const id = await begin('sleep 300')
  const abort = new AbortController()
  const waiting = processes.ended(id, abort.signal)
  abort.abort(new Error('enough'))
  await assert.rejects(waiting, { message: 'enough' })
  assert.equal((await processes.observe(id)).state, 'running')
  await processes.stop(id, 1_000)
})

test('a command whose runner is held up before it begins is not called stopped', async () => {
  const bin = join(folder, 'slow')
  const gate = join(folder, 'gate')
  mkdirSync(bin)
  execFileSync('mkfifo', [gate])
  const held = `#!/bin/sh\nread -r x <'${gate}'\nPATH=${parent_env.PATH} exec mkfifo "$@"\n`
  writeFileSync(join(bin, 'mkfifo'), held, { mode: 0o755 })
  const PATH = `${bin}:${parent_env.PATH}`
  const under = createProcesses({ ...options, parent_env: { ...parent_env, PATH } })
  const task_id = await begin('echo ran; exec sleep 300', {}, under)
  const state = readFileSync(join(tasks_folder, task_id, 'state'), 'utf8')
  const runner = Number(/^holon-runner \S+ \S+ \S+ (\d+)/.exec(state)?.[1])
  assert.deepEqual(await under.stop(task_id, 0), { stopped: false, survivors: [runner] })
  assert.equal((await under.observe(task_id)).state, 'running')
  writeFileSync(gate, 'go on\n')
  await untilSaid(task_id, 'ran')
  assert.deepEqual(await under.stop(task_id, 0), provenGone)
  assert.equal(summary(await under.ended(task_id, patience())), 'signalled SIGTERM')
  await under.close()
})

test('stop reaches whoever left the group, the session, or ignores TERM', async () => {
  const escapee = `setsid sh -c 'echo $$; exec sleep 300' &`
  const stubborn = `sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' &`
  const stopped = `sh -c 'echo $$; kill -STOP $$' &`
  const nameless = `env -i sh -c 'echo $$; exec sleep 300' &`
  const id = await begin([escapee, stubborn, stopped, nameless, 'wait'].join('\n'))
  while ((await textOf(id)).split('\n').length < 5) await clock.sleep(5)
  const pids = (await textOf(id)).trim().split('\n').map(Number)
  assert.deepEqual(await processes.stop(id, 100), provenGone)
  assert.deepEqual(await Promise.all(pids.map(hasEnded)), [true, true, true, true])
})

/** Leaves the session, clears its environment and loses its parent, and says its pid. */
const cutsEveryTie = `env -i setsid sh -c 'sh -c "echo \\$\\$; exec sleep 300" & exit' & wait; sleep 300`

test('stop finds by its mark who left the session without environment and without parent', async () => {
  const id = await begin(cutsEveryTie)
  await untilSaid(id, '\n')
  const escaped = Number(await textOf(id))
  assert.deepEqual(await processes.stop(id, 1_000), provenGone)
  assert.equal(await hasEnded(escaped), true)
})

test('where there are no marks, a stop says that its proof is only what a scan can see', async () => {
  const under = createProcesses({ ...options, shell: '/bin/sh' })
  const id = await begin(cutsEveryTie, {}, under)
  await untilSaid(id, '\n')
  const escaped = Number(await textOf(id))
  assert.deepEqual(await under.stop(id, 1_000), { stopped: true, proof: 'scanned' })
  assert.equal(await hasEnded(escaped), false, 'it was not to be found')
  process.kill(escaped, 'SIGKILL')
  await under.close()
})

test('stop finds what a command left behind after its end', async () => {
  const { stdout, task_id } = await run(`setsid sh -c 'exec sleep 300' & echo $!`)
  assert.deepEqual(await processes.stop(task_id, 1_000), provenGone)
  assert.equal(await hasEnded(Number(stdout)), true)
})

test('a task without its runner goes on; with its command killed too it is lost', async () => {
  const id = await begin('echo $$ $PPID; sleep 300')
  await untilSaid(id, '\n')
  const [command = 0, runner = 0] = (await textOf(id)).split(' ').map(Number)
  process.kill(runner, 'SIGKILL')
  await untilGone(runner)
  assert.equal((await processes.observe(id)).state, 'running')
  process.kill(command, 'SIGKILL')
  const end = await processes.ended(id, patience())
  assert(end.state === 'lost')
  assert.equal(end.pid, command)
  assert.deepEqual(await processes.stop(id, 1_000), provenGone)
})

test('a pid that now belongs to another process is not the task', async () => {
  const own = await processTable().identity(process.pid)
  const stat = readFileSync('/proc/self/stat', 'utf8').trim()
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  const write = (id: string, line: string) => {
    mkdirSync(join(tasks_folder, id), { recursive: true })
    writeFileSync(join(tasks_folder, id, 'state'), line)
  }
  const claim = `holon-runner 1 proc ${boot} ${stat}\n`
  write('task_same', claim)
  write('task_reused', claim.replace(` ${own?.started} `, ' 1 '))
  write('task_boot', claim.replace(boot, 'another-boot'))
  const states = ['task_same', 'task_reused', 'task_boot'].map((id) => processes.observe(id))
  assert.deepEqual(
    (await Promise.all(states)).map((seen) => seen.state),
    ['running', 'lost', 'lost'],
  )
  rmSync(join(tasks_folder, 'task_same'), { recursive: true })
  // Nor is it stopped in its place: this very process has the number.
  assert.deepEqual(await processes.stop('task_reused', 50), { stopped: true, proof: 'scanned' })
})

test('a spawner that was killed is replaced, and its tasks still report', async () => {
  const first = await begin('read -r x; exit 6', { stdin: 'pipe' })
  const spawner = processes.spawnerPid()
  assert(spawner)
  process.kill(spawner, 'SIGKILL')
  const second = await run('echo after')
  assert.deepEqual([second.end, second.stdout], ['exited 0', 'after\n'])
  assert.notEqual(processes.spawnerPid(), spawner)
  await processes.input(first, 'go\n')
  assert.equal(summary(await processes.ended(first, patience())), 'exited 6')
})

test('under the mark of another, none is set, and the stop claims no more than its scan', async () => {
  const mark = '2305843009213693999'
  const inner = createProcesses({ ...options, shell: shellUnder(mark) })
  const id = await begin('grep "realtime timeout" /proc/self/limits; sleep 300', {}, inner)
  await untilSaid(id, '\n')
  assert.match(await textOf(id), new RegExp(`${mark} +${mark} `))
  assert.deepEqual(await inner.stop(id, 1_000), { stopped: true, proof: 'scanned' })
  await inner.close()
})

/** A shell whose processes carry a mark already. */
function shellUnder(mark: string): string {
  const path = join(folder, 'bash')
  writeFileSync(path, `#!/bin/bash\nulimit -R ${mark} 2>/dev/null\nexec /bin/bash "$@"\n`, {
    mode: 0o755,
  })
  return path
}

test('who waits for an end is told at once when it stopped waiting before, or nobody follows', async () => {
  const under = createProcesses(options)
  const enough = AbortSignal.abort(new Error('enough'))
  await assert.rejects(under.ended('task_nobody', enough), { message: 'enough' })
  await assert.rejects(under.ended('task_nobody', patience()), { code: 'not_started' })
  await under.close()
  await assert.rejects(under.ended('task_nobody', enough), { message: 'enough' })
  await assert.rejects(under.ended('task_nobody', patience()), {
    message: 'a task was started or awaited after close',
  })
})
