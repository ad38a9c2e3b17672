/**
 * The reads of the port over one connection, for the owner and for readers beside it.
 */
import { backupHome } from '../backup/backup.ts'
import { fileOfBlob, readBlob } from '../blobs/blob-rows.ts'
import { readEventPage, readEventRange, readEvents, readLastGlobalSeq } from '../reads/events.ts'
import { guarded } from '../sqlite/fault.ts'
import type { HomeStore } from '../reads/home-store.ts'
import { readDeliveryBySender, readMessageByKey, readTriggerByToken } from '../reads/dedupe.ts'
import { readAgentsAtWork, readLive } from '../reads/live.ts'
import { readList, readPage } from '../reads/pages.ts'
import { LedgerFault, type LedgerReads } from '../port.ts'
import { readRoundsAbout, readRoundsOfTurn } from '../reads/rounds.ts'
import { readAgents, readIdsLike, readRow } from '../reads/rows.ts'
import { readIdOfShort, readShortIds } from '../reads/short-ids.ts'
import { readCounts, readRequestsSinceWord, readSpend } from '../reads/spend.ts'
import { kyselyOver, type OpenMode } from '../sqlite/sqlite.ts'
import { readMadeAtSchema, readStats } from '../reads/stats.ts'
import { verifyStore } from '../verify/verify.ts'
import { readNoteEvents, readWordsAbout } from '../reads/item-history.ts'

/** Set once, when the object may not be used any more; every later call throws it. */
export type State = { ended: Error | null }

export function throwIfEnded(state: State): void {
  if (state.ended !== null) throw state.ended
}

/** What a closed ledger answers, and what waits for it then. */
export const closedFault = (): LedgerFault =>
  new LedgerFault('io', 'the ledger is closed: open the home again', 'never')

export type ReadSource = HomeStore & { mode: OpenMode; state: State }

export function readsOf(source: ReadSource): LedgerReads {
  const { home, db, database, files, mode, state } = source
  const reading = async <T>(body: () => Promise<T>): Promise<T> => {
    throwIfEnded(state)
    try {
      return await guarded('Reading the ledger', body)
    } catch (error) {
      // A read in flight when the ledger ended fails for that reason and no other.
      throwIfEnded(state)
      throw error
    }
  }
  return {
    agents: () => reading(() => readAgents(db)),
    agentsAtWork: () => reading(() => readAgentsAtWork(db)),
    live: (agent_id) => reading(() => readLive(db, agent_id)),
    row: (table, id) => reading(() => readRow(db, table, id)),
    idsLike: (table, text, agent_id) => reading(() => readIdsLike(db, table, text, agent_id)),
    shortIds: (agent_id, ids) => reading(() => readShortIds(db, agent_id, ids)),
    idOfShort: (agent_id, text) => reading(() => readIdOfShort(db, agent_id, text)),
    list: (table, filter) => reading(() => readList(db, table, filter)),
    page: (table, filter) => reading(() => readPage(db, table, filter)),
    events: (filter) => reading(() => readEvents(db, filter)),
    eventPage: (page) => reading(() => readEventPage(db, page)),
    eventRange: (agent_id) => reading(() => readEventRange(db, agent_id)),
    lastGlobalSeq: () => reading(() => readLastGlobalSeq(db)),
    messageByKey: (agent_id, key, since) =>
      reading(() => readMessageByKey(db, agent_id, key, since)),
    triggerByToken: (token_sha256) => reading(() => readTriggerByToken(db, token_sha256)),
    deliveryBySender: (agent_id, source, sender_id, since) =>
      reading(() => readDeliveryBySender(db, agent_id, source, sender_id, since)),
    counts: (agent_id) => reading(() => readCounts(db, agent_id)),
    spend: (filter) => reading(() => readSpend(db, filter)),
    requestsSinceWord: (agents, spoken_to) =>
      reading(() => readRequestsSinceWord(db, agents, spoken_to)),
    roundsAbout: (work_item_id, limit) => reading(() => readRoundsAbout(db, work_item_id, limit)),
    roundsOfTurn: (turn_id) => reading(() => readRoundsOfTurn(db, turn_id)),
    wordsAbout: (work_item_id, limit) => reading(() => readWordsAbout(db, work_item_id, limit)),
    noteEvents: (work_item_id, options) => reading(() => readNoteEvents(db, work_item_id, options)),
    blob: (sha256) => reading(() => readBlob(db, files, sha256)),
    blobFile: (sha256) => reading(() => fileOfBlob(db, files, sha256)),
    verify: () => reading(() => verifyOnItsOwn(source)),
    stats: () => reading(() => readStats(db)),
    madeAtSchema: () => reading(() => readMadeAtSchema(db)),
    backup: (options) => reading(() => backupHome({ home, database, mode }, options)),
    close: () =>
      guarded('Closing the ledger', async () => {
        state.ended ??= closedFault()
        await source.letGo()
      }),
  }
}

async function verifyOnItsOwn({ beside, files }: HomeStore) {
  const db = kyselyOver(await beside(), 'read')
  try {
    return await verifyStore(db, (sha256) => files.check(sha256))
  } finally {
    await db.destroy()
  }
}
