/**
 * The processes of this machine: is that very process still there, and who belongs to a task?
 * Reads /proc where there is one, else asks `ps` (which shows no environments: there a task's tree
 * is its group and its descendants). Zombies count as dead: nothing of them runs.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { fileFault } from '../files/file-fault.ts'
import type { IdentityKind } from './runner-script.ts'
import { type Identity, parseProcStat } from './runner-state.ts'

export type ProcessRow = Identity & { parent: number; group: number; session: number }

export interface ProcessTable {
  readonly kind: IdentityKind
  /** Changes with every boot; `-` where the system has no such id. */
  readonly boot: string
  /** The process with this pid now, or null. */
  identity(pid: number): Promise<Identity | null>
  rows(): Promise<ProcessRow[]>
  /** Does this process carry `name=value` in the environment it was started with? */
  carries(pid: number, name: string, value: string): Promise<boolean>
  /** Does this process carry the mark, which its ancestor was given (`runner-script.ts`)? */
  marked(pid: number, mark: string): Promise<boolean>
}

export function sameProcess(a: Identity | null, b: Identity | null): boolean {
  return a !== null && b !== null && a.pid === b.pid && a.started === b.started
}

const dead = new Set(['Z', 'X', 'x'])

/** `kind` is given by tests; by default whatever the system has. */
export function processTable(kind: IdentityKind = hasProc() ? 'proc' : 'ps'): ProcessTable {
  return kind === 'proc' ? procTable() : psTable()
}

function hasProc(): boolean {
  return procRow('self') !== null
}

function procRow(pid: number | 'self'): ProcessRow | null {
  // A pid that is gone is an answer, not a fault; it may go at any point of the read.
  const path = `/proc/${pid}/stat`
  try {
    const row = parseProcStat(readFileSync(path, 'latin1'))
    return row && !dead.has(row.state) ? row : null
  } catch (error) {
    return unseen(error, path, null)
  }
}

/** What cannot be looked at is not there, unless it is us who cannot look: that proves nothing. */
function unseen<T>(error: unknown, path: string, gone: T): T {
  const fault = fileFault(error, path)
  if (fault.code === 'scarce') throw fault
  return gone
}

function procTable(): ProcessTable {
  return {
    kind: 'proc',
    boot: bootId(),
    async identity(pid) {
      const row = procRow(pid)
      return row && { pid: row.pid, started: row.started }
    },
    async rows() {
      const names = await readdir('/proc').catch((error: unknown) => {
        throw fileFault(error, '/proc')
      })
      return names.flatMap((name) => (/^\d+$/.test(name) ? (procRow(Number(name)) ?? []) : []))
    },
    async carries(pid, name, value) {
      try {
        const environ = await readFile(`/proc/${pid}/environ`, 'utf8')
        return environ.split('\0').includes(`${name}=${value}`)
      } catch (error) {
        return unseen(error, '/proc', false) // gone, or another user's: not ours to stop
      }
    },
    async marked(pid, mark) {
      try {
        const limits = await readFile(`/proc/${pid}/limits`, 'latin1')
        const line = limits.split('\n').find((one) => one.startsWith('Max realtime timeout'))
        return line?.split(/\s+/).includes(mark) ?? false
      } catch (error) {
        return unseen(error, '/proc', false) // gone
      }
    },
  }
}

function bootId(): string {
  const path = '/proc/sys/kernel/random/boot_id'
  try {
    return readFileSync(path, 'utf8').trim() || '-'
  } catch (error) {
    return unseen(error, path, '-')
  }
}

function ps(args: readonly string[]): Promise<string[]> {
  const options = { env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, maxBuffer: 16 * 1024 * 1024 }
  return new Promise((resolve, reject) => {
    execFile('ps', args, options, (error, stdout) => {
      // `ps -p` exits 1 with nothing printed when no such process exists.
      if (error !== null && error.code !== 1) reject(fileFault(error, 'ps'))
      else resolve(stdout.split('\n').filter((line) => line.trim() !== ''))
    })
  })
}

function psTable(): ProcessTable {
  const columns = 'pid=,ppid=,pgid=,stat=,lstart='
  const rowOf = (line: string): ProcessRow[] => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S.*?)\s*$/.exec(line)
    const [, pid, parent, group, state, started] = match ?? []
    if (!pid || !started || dead.has(state?.[0] ?? '')) return []
    // No session column that means the same everywhere: 0 matches no task.
    return [{ pid: +pid, parent: Number(parent), group: Number(group), session: 0, started }]
  }
  return {
    kind: 'ps',
    boot: '-',
    async identity(pid) {
      const [row] = (await ps(['-o', columns, '-p', String(pid)])).flatMap(rowOf)
      return row ? { pid: row.pid, started: row.started } : null
    },
    rows: async () => (await ps(['-A', '-o', columns])).flatMap(rowOf),
    carries: async () => false,
    marked: async () => false,
  }
}
