/**
 * What SQLite and the file system say, as the ledger's typed faults: one table of codes, each with
 * the sentence that tells a person what to do. Anything that is not the world's doing, such as a
 * broken constraint, is a bug and stays an ordinary error.
 */
import { closeSync, openSync } from 'node:fs'
import { LedgerFault, type LedgerFaultCode } from '../port.ts'

type Meaning = { code: LedgerFaultCode; retry: 'now' | 'later' | 'never'; remedy: string }

const full: Meaning = {
  code: 'disk_full',
  retry: 'later',
  remedy: 'the disk is full: free some space; nothing that was acknowledged is lost',
}
const readOnly: Meaning = {
  code: 'read_only',
  retry: 'never',
  remedy: 'the home cannot be written: mount it writable, or choose another with --home',
}
const denied: Meaning = {
  code: 'denied',
  retry: 'never',
  remedy: 'permission is missing: the home and all in it must belong to the user who runs holon',
}
const corrupt: Meaning = {
  code: 'corrupt',
  retry: 'never',
  remedy:
    'the ledger is damaged: keep the file, see what `holon doctor --verify` says, and bring ' +
    'back a backup with `holon restore`',
}
const busy: Meaning = {
  code: 'io',
  retry: 'later',
  remedy: 'another program holds the ledger: close whatever has the database open',
}
/** After a failed write or sync nobody knows what the disk holds; only a fresh start finds out. */
const broken: Meaning = {
  code: 'io',
  retry: 'never',
  remedy: 'the disk failed to read or write: look at the system log, then start again',
}
const scarce: Meaning = {
  code: 'io',
  retry: 'later',
  remedy: 'the system is out of memory or open files: raise the limit or close something',
}

/** By SQLite's extended result code, where the primary one says too little. */
const bySqliteExtended: Readonly<Record<number, Meaning>> = {
  // IOERR_SHMSIZE: the index of the log cannot grow, and it is a few KiB.
  4874: full,
}

/** By SQLite's primary result code. */
const bySqlite: Readonly<Record<number, Meaning>> = {
  3: denied,
  5: busy,
  6: busy,
  7: scarce,
  8: readOnly,
  10: broken,
  11: corrupt,
  13: full,
  15: busy,
  23: denied,
  26: corrupt,
}

const byErrno: Readonly<Record<string, Meaning>> = {
  ENOSPC: full,
  EDQUOT: full,
  EROFS: readOnly,
  EACCES: denied,
  EPERM: denied,
  EMFILE: scarce,
  ENFILE: scarce,
  ENOMEM: scarce,
}

/** SQLite's extended result code of an error, or null when it is not SQLite's. */
const sqliteCode = (error: Error): number | null =>
  'errcode' in error && typeof error.errcode === 'number' ? error.errcode : null

/** SQLite's word for a file that it could not open, whatever the reason. */
const cannotOpen = 14

/** SQLite's word for a constraint, a check or a trigger that refused. */
const constraint = 19

/** What to throw for `error`, met while `doing` something; null when the world is not to blame. */
export function faultOf(error: unknown, doing: string): LedgerFault | null {
  if (error instanceof LedgerFault) return error
  if (!(error instanceof Error)) return null
  const meaning = meaningOf(error)
  if (meaning === null) return null
  const { code, retry, remedy } = meaning
  return new LedgerFault(code, `${doing}: ${remedy} (${error.message})`, retry, { cause: error })
}

function meaningOf(error: Error): Meaning | null {
  const code = sqliteCode(error)
  if (code !== null) {
    const primary = code & 0xff
    if (primary === constraint) return null
    if (primary === cannotOpen) return canOpen() ? denied : scarce
    return bySqliteExtended[code] ?? bySqlite[primary] ?? null
  }
  if ('code' in error && typeof error.code === 'string' && 'syscall' in error) {
    return byErrno[error.code] ?? broken
  }
  return null
}

/** Files that SQLite has open for one database: itself, its log, its index, a temporary one. */
const filesOfSqlite = 4

/**
 * Whether this process can open what SQLite has to: SQLite says only that it could not, and closed
 * what it had, and with too few descriptors nobody's permission is missing. The folder of the
 * system is always there.
 */
function canOpen(): boolean {
  const opened: number[] = []
  try {
    while (opened.length < filesOfSqlite) opened.push(openSync('/', 'r'))
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    return byErrno[code] !== scarce
  } finally {
    for (const one of opened) closeSync(one)
  }
}

/** Runs `body`; what the world does to it comes out as a LedgerFault. */
export async function guarded<T>(doing: string, body: () => Promise<T> | T): Promise<T> {
  try {
    return await body()
  } catch (error) {
    throw faultOf(error, doing) ?? error
  }
}
