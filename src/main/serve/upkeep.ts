/**
 * Upkeep of a home: copying it, bringing it back, letting go of what is old, a new token. Here with
 * the real ports; the ledger is loaded when one is used.
 */
import type { UpkeepPorts } from '../../cli/command/daemon-ports.ts'
import type { Ledger, LedgerReads } from '../../ledger/port.ts'
import type { Backup, Retention, UpkeepEnd } from '../../protocol/upkeep.ts'
import { backupFolder } from './backup-folder.ts'
import { rotateToken } from '../homes/control.ts'
import { clock, ids } from '../machine/machine.ts'
import { openHomeReader } from '../homes/reader.ts'
import { sayUpgrade } from '../homes/upgrade.ts'

type BackupAsked = { to: string; with_secrets: boolean }

/** What the place of the copy refuses is a value; a fault of the home itself is thrown. */
export async function backupOf(
  ledger: Pick<LedgerReads, 'backup'>,
  home: string,
  { to, with_secrets }: BackupAsked,
): Promise<UpkeepEnd<Backup>> {
  const folder = await backupFolder(home, to)
  if (!folder.ok) return folder
  const now = new Date(clock.now()).toISOString()
  const { LedgerFault } = await import('../../ledger/port.ts')
  try {
    const { path, manifest } = await ledger.backup({ to: folder.value, now, with_secrets })
    const { made_at, last_global_seq, files, not_included } = manifest
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    const value = { path, made_at, last_global_seq, files: files.length, bytes, not_included }
    return { ok: true, value }
  } catch (error) {
    if (!(error instanceof LedgerFault) || error.code === 'corrupt') throw error
    return {
      ok: false,
      code: 'backup_failed',
      message: `No backup is made in ${to}: ${said(error)}`,
    }
  }
}

/** The ledger speaks of the home; what is wrong here is the place of the copy. */
function said({ message, cause }: Error): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : null
  if (code === 'EACCES' || code === 'EPERM') return 'you may not write there.'
  if (code === 'EROFS') return 'it cannot be written to.'
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk there is full.'
  // What it says to do is about a home.
  return `${message.replace(/: [^:]*$/, '')}.`
}

/** As the wire has it: a table without rows is not there. */
export async function retainIn(
  ledger: Pick<Ledger, 'retain'>,
  options: { before: string; dry_run: boolean },
): Promise<Retention> {
  const { rows, ...done } = await ledger.retain(options)
  const counted = Object.entries(rows).flatMap(([table, count]) =>
    count === undefined ? [] : [[table, count] as const],
  )
  return { ...done, rows: Object.fromEntries(counted) }
}

export const upkeepPorts: UpkeepPorts = {
  async backup(home, asked) {
    const reader = await openHomeReader(home)
    if (reader === null) return null
    try {
      return await backupOf(reader, home, asked)
    } finally {
      await reader.close()
    }
  },
  async restore(from, home) {
    const { restoreHome } = await import('../../ledger/backup/restore.ts')
    return restoreHome(from, home)
  },
  async retain(home, options) {
    const [{ openLedger }, { refuseOpenSecrets }] = await Promise.all([
      import('../../ledger/store/open.ts'),
      import('../homes/secrets.ts'),
    ])
    await refuseOpenSecrets(home, {})
    const ledger = await openLedger(home, {
      clock_now: () => clock.now(),
      mint: (prefix) => ids.mint(prefix),
      before_upgrade: sayUpgrade,
    })
    try {
      return await retainIn(ledger, options)
    } finally {
      await ledger.close()
    }
  },
  rotate_token: async (home) => void (await rotateToken(home)),
}
