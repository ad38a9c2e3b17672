/**
 * What a runner's `state` file says, as data. Pure; the format is told in `runner-script.ts`. A
 * last line without its newline was torn and does not count; a claim that is not whole is `torn`.
 */
import type { EndKind } from '../ports.ts'
import { FORMAT, type IdentityKind } from './runner-script.ts'

/** A process across pid reuse: `started` is opaque and compared for equality only. */
export type Identity = { pid: number; started: string }

export type RunnerEnd = {
  how: EndKind
  exit_status: number | null
  signal: string | null
  problem: string | null
}

export type RunnerState =
  | { claim: 'torn' }
  | { claim: 'foreign'; format: string }
  | {
      claim: 'whole'
      kind: IdentityKind
      boot: string
      runner: Identity
      command: Identity | null
      /** What runs inside a terminal: the command is then the program that makes it. */
      session: Identity | null
      /** Null where the machine has no marks, or before the command began. */
      mark: string | null
      /** Which process fills the output files; null: nobody has begun to, or none is needed. */
      reader: Identity | null
      end: RunnerEnd | null
    }

/** Field 22 of /proc/<pid>/stat is the start time, field 3 the state; the name may hold spaces. */
export function parseProcStat(line: string): (Identity & ProcFields) | null {
  const close = line.lastIndexOf(')')
  const pid = Number.parseInt(line, 10)
  const fields = line.slice(close + 2).split(' ')
  const started = fields[19]
  if (close < 0 || !Number.isSafeInteger(pid) || started === undefined) return null
  const [state = '', parent = '', group = '', session = ''] = fields
  return { pid, started, state, parent: +parent, group: +group, session: +session }
}

type ProcFields = { state: string; parent: number; group: number; session: number }

function parseIdentity(kind: IdentityKind, text: string): Identity | null {
  switch (kind) {
    case 'proc': {
      const stat = parseProcStat(text)
      return stat && { pid: stat.pid, started: stat.started }
    }
    case 'ps': {
      const [, pid, started] = /^\s*(\d+)\s+(\S.*?)\s*$/.exec(text) ?? []
      return pid && started ? { pid: Number(pid), started } : null
    }
  }
}

/** Linux and macOS agree on these numbers; they differ above, so others are `SIG<n>`. */
const signalNames: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  5: 'SIGTRAP',
  6: 'SIGABRT',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
}

export function parseRunnerState(text: string): RunnerState {
  const lines = text.split('\n').slice(0, -1)
  const [claim, ...rest] = lines
  if (claim === undefined) return { claim: 'torn' }
  const [, format, kind, boot, identity] = /^holon-runner (\S+) (\S+) (\S+) (.*)$/.exec(claim) ?? []
  if (format !== String(FORMAT) || (kind !== 'proc' && kind !== 'ps')) {
    return { claim: 'foreign', format: format ?? 'unknown' }
  }
  const runner = parseIdentity(kind, identity ?? '')
  if (!runner || boot === undefined) return { claim: 'torn' }
  const said = (word: string) => rest.find((line) => line.startsWith(word))?.slice(word.length)
  const identityOf = (word: string) => parseIdentity(kind, said(word) ?? '')
  const [command, session] = [identityOf('command '), identityOf('session ')]
  const mark = said('mark ') ?? null
  const last = rest.findLast((line) => line.startsWith('reader '))
  const reader = parseIdentity(kind, last?.slice('reader '.length) ?? '')
  const end = parseEnd(rest)
  return { claim: 'whole', kind, boot, runner, command, session, mark, reader, end }
}

/** The runner's word for a disk that was full when the command ended. */
const NO_ROOM = 'no_room'
const OUTPUT_LOST = 'the disk was full: what it wrote may be missing'

/** What the state says of output that did not reach its file. */
function lostOutput(lines: readonly string[]): string | null {
  const said = lines.flatMap((line) => {
    const [, stream, byte] = /^lost (stdout|stderr) (\d+)$/.exec(line) ?? []
    return stream === undefined ? [] : [`${stream} from byte ${byte} on`]
  })
  const places = [...new Set(said)]
  return places.length === 0 ? null : `output may be missing: ${places.join(', ')}`
}

function parseEnd(lines: readonly string[]): RunnerEnd | null {
  const exit = lines.findIndex((line) => /^exit \d+$/.test(line))
  if (exit < 0) return null
  const before = lines.slice(0, exit)
  const status = Number(lines[exit]?.slice('exit '.length))
  const failed = before.find((line) => line.startsWith('could_not_start '))
  if (failed) {
    const problem = failed.slice('could_not_start '.length)
    return { how: 'could_not_start', exit_status: null, signal: null, problem }
  }
  const died = status > 128 && before.some(namesDeath)
  const signal = died ? (signalNames[status - 128] ?? `SIG${status - 128}`) : null
  const exit_status = died ? null : status
  const lost = lostOutput(before)
  if (before.includes('timeout')) return { how: 'timed_out', exit_status, signal, problem: lost }
  if (died) return { how: 'signalled', exit_status, signal, problem: lost }
  const problem = before.includes(NO_ROOM) ? OUTPUT_LOST : lost
  return { how: 'exited', exit_status, signal, problem }
}

/** The shell's own line about a child that a signal killed; a job list also names plain exits. */
function namesDeath(line: string): boolean {
  if (line === '' || line === 'timeout' || line === NO_ROOM) return false
  if (/^(command|session|mark|reader|lost) /.test(line)) return false
  return !/^\[\d+\]\s*[+-]?\s*(Done|Exit|Running)\b/.test(line)
}
