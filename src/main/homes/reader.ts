/** A home opened for reading, beside its owner or without one. */
import { stat } from 'node:fs/promises'
import type { HomeReader } from '../../cli/command/ports.ts'
import { describePlan } from '../../exec/files/plan-file.ts'
import type { LedgerReads } from '../../ledger/port.ts'
import { files } from '../machine/machine.ts'

/** Null when there is no ledger yet. Rejects with the ledger's faults. */
export async function openHomeReader(home: string): Promise<(HomeReader & LedgerReads) | null> {
  const [{ openReader }, { LedgerFault }] = await Promise.all([
    import('../../ledger/store/open.ts'),
    import('../../ledger/port.ts'),
  ])
  let reader: LedgerReads
  try {
    reader = await openReader(home)
  } catch (error) {
    if (!(error instanceof LedgerFault && error.code === 'no_home')) throw error
    const found = await stat(home).catch(() => null)
    if (found === null || found.isDirectory()) return null
    const says = `${home} is a file, not a folder: choose another home with --home or HOLON_HOME`
    throw new LedgerFault('io', says, 'never', { cause: error })
  }
  return {
    ...reader,
    command: async (task_id) => (await import('./command-seen.ts')).commandSeen(home, task_id),
    invariants: async (options) =>
      (await import('./invariants.ts')).brokenInvariants(reader, options),
    async replay(turn_id) {
      const [{ replayTurn }, turn] = await Promise.all([
        import('../../runtime/replay/replay.ts'),
        reader.row('turns', turn_id),
      ])
      if (turn === null) throw new Error(`no row for ${turn_id}`)
      return replayTurn(reader, home, turn)
    },
    plan: ({ plan_artifact: { path, good_sha256 } }) => {
      if (good_sha256 === null) return describePlan(files, path)
      // Who may only read has no file to show where the text is a row: the rest is still said.
      const file = () =>
        reader.blobFile(good_sha256).catch((error: unknown) => {
          if (error instanceof LedgerFault) return null
          throw error
        })
      return describePlan(files, path, { sha256: good_sha256, file })
    },
  }
}
