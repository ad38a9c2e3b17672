// What commands write, through the pipes and the one reader: nothing of it is lost to a program
// that opens its output anew, the end is the command's own, and no death of a reader ends a
// command.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { tasksIn } from '../../testing/host/tasks-in.ts'
import { systemClock } from '../clock.ts'
import type { CommandSpec } from '../ports.ts'
import { processTable } from './process-table.ts'
import { createProcesses, type ProcessesOptions } from './processes.ts'
import { parseRunnerState } from './runner-state.ts'

const folder = mkdtempSync(join(tmpdir(), 'holon-reader-'))
const tasks_folder = join(folder, 'tasks')
const clock = systemClock()
const parent_env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder }
const options = { tasks_folder, clock, parent_env }
const processes = createProcesses(options)
const patience = () => AbortSignal.timeout(30_000)
let count = 0

after(async () => {
  for (const id of tasksIn(tasks_folder)) await processes.stop(id, 0)
  await processes.close()
  rmSync(folder, { recursive: true, force: true })
})

async function begin(cmd: string, under = processes, extra: Partial<CommandSpec> = {}) {
  const task_id = `task_read_${++count}`
  const spec = { task_id, cmd, workdir: folder, env: {}, timeout_ms: null } as const
  await under.prepare({ ...spec, stdin: 'none', ...extra })
  await under.start(task_id)
  return task_id
}

async function endOf(id: string, under = processes) {
  const end = await under.ended(id, patience())
  if (end.state !== 'ended') return assert.fail(`${id} is ${end.state}`)
  return { exit_status: end.exit_status, problem: end.problem }
}

const textOf = async (id: string, stream: 'stdout' | 'stderr' = 'stdout') =>
  (await processes.output(id, { stream, max_bytes: 10_000_000 })).text

const stateOf = (id: string) => {
  const state = parseRunnerState(readFileSync(join(tasks_folder, id, 'state'), 'utf8'))
  return state.claim === 'whole' ? state : assert.fail(`the claim of ${id} is ${state.claim}`)
}

async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  const end = clock.monotonic() + 30_000
  while (!(await is())) {
    assert(clock.monotonic() < end, 'it does not come')
    await clock.sleep(5)
  }
}

const saidBy = (id: string, text: string) => until(async () => (await textOf(id)).includes(text))

/** Each way to open one's output anew, with what both streams must have. */
const openers: [string, string, string][] = [
  ['echo one; echo two > /dev/stdout; echo three', 'one\ntwo\nthree\n', ''],
  ['echo one >&2; echo two > /dev/stderr; echo three >&2', '', 'one\ntwo\nthree\n'],
  ['echo one >&2; echo two | tee /dev/stderr', 'two\n', 'one\ntwo\n'],
  ['echo one; sh -c "echo two > /proc/self/fd/1"', 'one\ntwo\n', ''],
  ['echo one; dd if=/dev/null of=/dev/stdout 2>/dev/null; echo two', 'one\ntwo\n', ''],
  ['exec > /dev/stdout; echo one; exec > /dev/stdout; echo two', 'one\ntwo\n', ''],
  ['echo FAILED; echo "all good" > /dev/stdout; exit 0', 'FAILED\nall good\n', ''],
]
const shells: [string, Partial<ProcessesOptions>][] = [
  ['as found', {}],
  ['bash without setsid', { shell: '/bin/bash', setsid: null }],
  ['sh with setsid', { shell: '/bin/sh' }],
]
for (const [name, variant] of shells) {
  test(`${name}: a program that opens its output anew erases nothing`, async () => {
    const under = createProcesses({ ...options, ...variant })
    const seen: typeof openers = []
    for (const [cmd] of openers) {
      const id = await begin(cmd, under)
      await endOf(id, under)
      seen.push([cmd, await textOf(id), await textOf(id, 'stderr')])
    }
    await under.close()
    assert.deepEqual(seen, openers)
  })
}

test('the end of a command is its own exit, and what comes at once after it is kept', async () => {
  const go = join(folder, 'go')
  const server = `until [ -e '${go}' ]; do sleep 0.05; done; echo later; echo last`
  const id = await begin(`{ sleep 0.02; echo soon; ${server}; } & echo first; exit 4`)
  assert.deepEqual(await endOf(id), { exit_status: 4, problem: null })
  assert.equal(await textOf(id), 'first\nsoon\n')
  // What is left behind is neither killed nor cut off.
  writeFileSync(go, '')
  await saidBy(id, 'later\nlast\n')
})

test('much output of two commands at once is whole, in both streams, byte by byte', async () => {
  const cmd =
    'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo $i; echo $i >&2; done; printf "\\0\\377"'
  const ids = [await begin(cmd), await begin(cmd)]
  const lines = Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join('')
  for (const id of ids) {
    await endOf(id)
    const bytes = readFileSync(join(tasks_folder, id, 'stdout'))
    assert(bytes.equals(Buffer.concat([Buffer.from(lines), Buffer.from([0, 255])])))
    assert.equal(await textOf(id, 'stderr'), lines)
  }
})

test('a reader that is killed ends no command: another goes on, and the state says where', async () => {
  const go = join(folder, 'go-on')
  const flood = `head -c 300000 /dev/zero | tr '\\0' x`
  const id = await begin(`echo before; until [ -e '${go}' ]; do sleep 0.02; done; ${flood}; exit 5`)
  const other = await begin(`until [ -e '${go}' ]; do sleep 0.02; done; echo other`)
  await saidBy(id, 'before\n')
  await until(() => stateOf(other).reader !== null)
  const { reader } = stateOf(id)
  assert(reader)
  process.kill(reader.pid, 'SIGKILL')
  writeFileSync(go, '')
  const problem = 'output may be missing: stdout from byte 7 on, stderr from byte 0 on'
  assert.deepEqual(await endOf(id), { exit_status: 5, problem })
  assert.equal(await textOf(id), `before\n${'x'.repeat(300_000)}`)
  const lost = 'output may be missing: stdout from byte 0 on, stderr from byte 0 on'
  assert.deepEqual(await endOf(other), { exit_status: 0, problem: lost })
  assert.equal(await textOf(other), 'other\n')
  // Who comes after it has a reader from the start.
  assert.deepEqual(await endOf(await begin('exit 6')), { exit_status: 6, problem: null })
})

test('a command whose daemon, spawner and reader were killed is read on by the next daemon', async () => {
  const under = createProcesses(options)
  const go = join(folder, 'go-again')
  const id = await begin(
    `echo before; until [ -e '${go}' ]; do sleep 0.02; done; head -c 100000 /dev/zero; exit 7`,
    under,
  )
  await until(async () => (await under.output(id, { stream: 'stdout', max_bytes: 9 })).bytes > 0)
  const [spawner, reader] = [under.spawnerPid(), stateOf(id).reader]
  assert(spawner !== null && reader !== null)
  await under.close()
  for (const pid of [spawner, reader.pid]) process.kill(pid, 'SIGKILL')
  writeFileSync(go, '')
  assert.equal((await endOf(id)).exit_status, 7)
  assert.equal((await textOf(id)).length, 100_007)
})

test('without a program that reads no command is begun, and the fault says why', async () => {
  const reader = { node: join(folder, 'nobody'), script: 'none' }
  const under = createProcesses({ ...options, reader })
  await assert.rejects(begin('echo never', under), /the program that reads the output/)
  assert.deepEqual(await under.observe(`task_read_${count}`), { state: 'absent' })
  await under.close()
})

test('the pipes of a command are gone when nobody writes to them any more', async () => {
  const id = await begin('echo here')
  await endOf(id)
  const names = ['out', 'err', 'hold', 'told'].map((name) => join(tasks_folder, id, name))
  await until(() => !names.some((name) => existsSync(name)))
})

/** A command as the runner of an earlier version had it: it writes to the files themselves. */
async function earlier(id: string, cmd: string): Promise<ChildProcess> {
  const at = join(tasks_folder, id)
  const script = `mkdir -p '${at}'; read -r boot </proc/sys/kernel/random/boot_id
    read -r me </proc/self/stat; printf 'holon-runner 1 proc %s %s\\n' "$boot" "$me" >'${at}/state'
    printf 'command %s\\n' "$me" >>'${at}/state'; exec >>'${at}/stdout' 2>>'${at}/stderr'
    ${cmd}; printf 'exit %s\\n' "$?" >>'${at}/state'`
  const child = spawn('/bin/bash', ['-c', script], { detached: true, stdio: 'ignore' })
  await until(() => existsSync(join(at, 'stdout')))
  return child
}

test('a command that the runner of an earlier version started is followed to its end', async () => {
  const go = join(folder, 'go-earlier')
  const child = await earlier('task_earlier', `echo old; until [ -e '${go}' ]; do sleep 0.02; done`)
  assert.equal((await processes.observe('task_earlier')).state, 'running')
  await saidBy('task_earlier', 'old\n')
  const end = endOf('task_earlier')
  writeFileSync(go, '')
  assert.deepEqual(await end, { exit_status: 0, problem: null })
  if (child.exitCode === null) await once(child, 'exit')
  assert.equal(existsSync(join(tasks_folder, 'task_earlier', 'out')), false)
})

test('a time limit whose command’s number is another process’s by now kills nobody', async (t) => {
  const stranger = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' })
  t.after(() => stranger.kill('SIGKILL'))
  const id = await begin('echo up; sleep 300', processes, { timeout_ms: 3_000 })
  await saidBy(id, 'up')
  const { runner, command } = stateOf(id)
  assert(command)
  const watchdog = (await processTable().rows()).find(
    ({ parent, pid }) => parent === runner.pid && pid !== command.pid,
  )
  assert(watchdog)
  process.kill(runner.pid, 'SIGKILL')
  process.kill(-command.pid, 'SIGKILL')
  // As if the number had gone to the stranger since: its start is another one.
  const stat = readFileSync(`/proc/${stranger.pid}/stat`, 'utf8').trim()
  const name = stat.lastIndexOf(')') + 1
  const fields = stat.slice(name + 1).split(' ')
  fields[19] = '1'
  const line = `command ${stat.slice(0, name)} ${fields.join(' ')}\n`
  appendFileSync(join(tasks_folder, id, 'state'), line)
  await until(async () => (await processTable().identity(watchdog.pid)) === null)
  assert.match(readFileSync(join(tasks_folder, id, 'state'), 'utf8'), /\ntimeout\n/)
  assert.deepEqual([stranger.exitCode, stranger.signalCode], [null, null])
})
