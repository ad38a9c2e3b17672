/**
 * The program around a command that wants a terminal (docs/spec/task.md#runner,
 * docs/spec/recovery.md#a-kill-at-each-step): started by the runner in the command's place, so it
 * outlives the daemon. It makes the terminal, runs the command in the terminal's own session,
 * appends what comes out to `stdout`, types what comes in by `stdin`, and ends as the command
 * ended: by the same exit status or the same signal.
 *
 * Arguments: folder, shell, caps, kind of identity, as `begin` in `runner-script.ts` gives them; or
 * `--check`, which says on stderr why no terminal can be made here, and exits 1.
 */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs'
import type { spawn as Spawn } from '@lydell/node-pty'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { argv, env, exit, pid } from 'node:process'
import { TERMINAL_COLUMNS, TERMINAL_ROWS } from '../limits.ts'

/** What programs look up in the terminal database: every system has it. */
const TERM = 'xterm-256color'
const size = { name: TERM, cols: TERMINAL_COLUMNS, rows: TERMINAL_ROWS }

const [folder = '', shell = '', caps = '', kind = ''] = argv.slice(2)
if (folder === '--check') await check()
else await main()

async function check(): Promise<void> {
  try {
    const { spawn } = await import('@lydell/node-pty')
    spawn('/bin/sh', ['-c', 'exit 0'], { ...size, env: {} }).onExit(({ exitCode }) =>
      exit(exitCode),
    )
  } catch (error) {
    process.stderr.write(error instanceof Error ? error.message : String(error))
    exit(1)
  }
}

async function main(): Promise<void> {
  try {
    const { spawn } = await import('@lydell/node-pty')
    run(spawn)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    appendFileSync(join(folder, 'state'), 'could_not_start terminal\n')
    exit(126)
  }
}

function run(spawn: typeof Spawn): void {
  const [made, name] = [join(folder, 'stdin.new'), join(folder, 'stdin')]
  // Open for both, so that it has no end while nobody writes.
  const fifo = openSync(made, constants.O_RDWR | constants.O_NONBLOCK)
  // Before the command there is nobody to hang up on: the runner's stop ends this program.
  const script = `${caps} || exit 126\nexec "$0" "$@"`
  const shut = existsSync(join(folder, 'confined')) ? [join(folder, 'confined')] : []
  const args = ['-c', script, shell, ...shut, join(folder, 'command')]
  // Raw bytes: a character may come in two pieces.
  const terminal = spawn(shell, args, { ...size, env, encoding: null })
  terminal.onData((bytes) => record(bytes as unknown as Uint8Array))
  terminal.onExit(({ exitCode, signal }) => endAs(exitCode, signal ?? 0))
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
    process.on(signal, () => hangUp(terminal.pid))
  }
  process.on('uncaughtException', (error) => {
    // Without this program the terminal is gone, and with it the end of the command: say so by a
    // death of its own, never by an exit status that would read as the command's.
    process.stderr.write(`${error.message}\n`)
    process.kill(pid, 'SIGKILL')
  })
  const identity = identityOf(terminal.pid)
  if (identity !== null) appendFileSync(join(folder, 'state'), `session ${identity}\n`)
  const input = new Socket({ fd: fifo, readable: true, writable: false })
  input.setEncoding('utf8').on('data', (text) => terminal.write(String(text)))
  renameSync(made, name)
}

/** One line, in the runner's words (`runner-script.ts`); null for a command that has gone. */
function identityOf(child: number): string | null {
  try {
    if (kind === 'proc') return readFileSync(`/proc/${child}/stat`, 'latin1').trim()
    const args = ['-o', 'lstart=', '-p', String(child)]
    const started = execFileSync('ps', args, { encoding: 'utf8', env: { ...env, LC_ALL: 'C' } })
    return `${child} ${started.trim()}`
  } catch {
    return null
  }
}

function record(bytes: Uint8Array): void {
  try {
    for (let from = 0; from < bytes.length;) from += writeSync(1, bytes, from)
  } catch (error) {
    // A command that writes to a file itself would see the full disk; its terminal goes on, and
    // the runner records that something may be missing.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
}

/** A stop, or the time limit, reaches this program; the command is in a session of its own. */
function hangUp(session: number): void {
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGCONT'] as const) {
    try {
      process.kill(-session, signal)
    } catch {
      return // It has ended: `onExit` is about to say so.
    }
  }
}

function endAs(status: number, signal: number): void {
  if (signal === 0) exit(status)
  for (const name of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.removeAllListeners(name)
  process.kill(pid, signal)
  // One that Node ignores (PIPE): the status that a shell gives for it.
  exit(128 + signal)
}
