/**
 * Conformance by property: whatever a valid history is, the rows of the store are its fold, the live
 * ones are what the domain calls live, and `verify` agrees.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Event, Rows, Table } from '../domain/event.ts'
import { isLiveWait } from '../domain/facts.ts'
import type { MessageId, TurnId, WaitId, WorkItemId } from '../domain/ids.ts'
import { isLiveMessage } from '../domain/message.ts'
import type { Cases } from './conformance.ts'
import {
  itemCompleted,
  itemCreated,
  itemPaced,
  laneOf,
  messageAdmitted,
  turnEnded,
  turnStarted,
  waitRegistered,
  type Lane,
} from './lane.ts'

/** What a history is made of; each becomes an event where the rows allow it, else nothing. */
const deeds = [
  'create',
  'rename',
  'complete',
  'report',
  'pace',
  'admit',
  'claim',
  'requeue',
  'consume',
  'wait',
  'trigger',
  'resolve',
  'settle',
  'cancel',
  'start_turn',
  'end_turn',
] as const
type Deed = { deed: (typeof deeds)[number]; pick: number; text: string }

const pickOf = <T>(all: readonly T[], pick: number): T | undefined => all[pick % all.length]

function eventOf(lane: Lane, { deed, pick, text }: Deed): Event | null {
  const items = lane.all('work_items')
  const open = pickOf(
    items.filter((item) => item.state === 'open'),
    pick,
  )
  const turn = lane.all('turns').find((one) => one.state === 'open')
  const message = (status: string) =>
    pickOf(
      lane.all('messages').filter((one) => one.status === status),
      pick,
    )?.id
  const wait = (found: (one: Rows['waits']) => boolean) =>
    pickOf(lane.all('waits').filter(found), pick)?.id
  const on = <I extends string>(id: I | undefined, make: (id: I) => Event): Event | null =>
    id === undefined ? null : make(id)
  switch (deed) {
    case 'create':
      return itemCreated({ objective: text })
    case 'rename':
      return on(open?.id, (id: WorkItemId) => ({
        type: 'work_item_updated',
        id,
        by: 'agent',
        changed: { objective: text, blocked_by: pick % 2 === 0 ? null : text },
      }))
    case 'complete':
      return on(open?.id, itemCompleted)
    case 'report':
      return on(pickOf(items, pick)?.id, (id: WorkItemId) => ({
        type: 'work_item_reported',
        id,
        result_summary: text,
        brief_id: 'brief_1',
      }))
    case 'pace':
      return on(pickOf(items, pick)?.id, itemPaced)
    case 'admit':
      return messageAdmitted({ body: text, consumed_because: pick % 3 === 0 ? text : null })
    case 'claim':
      return on(turn && message('queued'), (id: MessageId) => ({
        type: 'message_claimed',
        id,
        turn_id: turn?.id as TurnId,
        to_coalesce: false,
      }))
    case 'requeue':
      return on(message('claimed'), (id: MessageId) => ({
        type: 'message_requeued',
        id,
        attempts: pick,
      }))
    case 'consume':
      return on(message('claimed'), (id: MessageId) => ({
        type: 'message_consumed',
        id,
        turn_id: null,
        because: text,
      }))
    case 'wait':
      return waitRegistered({
        work_item_id: open && pick % 2 === 0 ? open.id : null,
        released_focus: pick % 3 === 0,
        reason: text,
      })
    case 'trigger':
      return on(
        wait((one) => one.status === 'active'),
        (id: WaitId) => ({
          type: 'wait_triggered',
          id,
          message_id: 'msg_1',
          count: lane.row('waits', id).trigger_count + 1,
          turn_count: pick,
        }),
      )
    case 'resolve':
      return on(
        wait((one) => one.status === 'active'),
        (id: WaitId) => ({
          type: 'wait_resolved',
          id,
          by: { kind: 'runtime' },
        }),
      )
    case 'settle':
      return on(
        wait((one) => one.status === 'resolved'),
        (id: WaitId) =>
          pick % 2 === 0
            ? { type: 'wait_focus_settled', id }
            : { type: 'wait_reviewed', id, turn_id: 'turn_1' },
      )
    case 'cancel':
      return on(
        wait((one) => one.status === 'active'),
        (id: WaitId) => ({
          type: 'wait_cancelled',
          id,
          by: 'operator',
          because: text,
        }),
      )
    case 'start_turn':
      return turn ? null : turnStarted({ because: text, input_cut: lane.facts.seq })
    case 'end_turn':
      return turn ? turnEnded(turn.id) : null
  }
}

/** Ids of the rows that must be live, said a second time and without the store's shortcuts. */
function expectedLive(lane: Lane): string[] {
  const open = new Set(lane.all('work_items').flatMap((i) => (i.state === 'open' ? [i.id] : [])))
  const completed = lane
    .all('work_items')
    .filter((item) => item.state === 'completed')
    .sort((a, b) => b.changed_seq - a.changed_seq)
    .slice(0, 20)
  const turn = lane.all('turns').find((one) => one.state === 'open')
  const live = (table: Table, row: Rows[Table]): boolean => {
    if (table === 'agents') return true
    if (table === 'work_items') {
      return open.has(row.id as WorkItemId) || completed.some(({ id }) => id === row.id)
    }
    if (table === 'pacing') return open.has(row.id as WorkItemId)
    if (table === 'waits') return isLiveWait(row as Rows['waits'])
    if (table === 'messages') {
      const message = row as Rows['messages']
      return isLiveMessage(message) || (turn !== undefined && message.inbox_seq > turn.input_cut)
    }
    return table === 'turns' && row.id === turn?.id
  }
  return [...lane.rows.values()]
    .filter(([table, row]) => live(table, row))
    .map(([table, row]) => `${table} ${row.id}`)
    .sort()
}

const history = fc.array(
  fc.record({
    deed: fc.constantFrom(...deeds),
    pick: fc.nat({ max: 1_000 }),
    text: fc.string({ unit: 'grapheme', maxLength: 20 }),
  }),
  { minLength: 1, maxLength: 60 },
)

export const propertyCases: Cases = {
  'after any valid history the rows are its fold': async (store, home) => {
    let runs = 0
    await fc.assert(
      fc.asyncProperty(history, async (all) => {
        const ledger = await store.open(`${home}/${++runs}`)
        try {
          const lane = await laneOf(ledger)
          for (const deed of all) {
            const event = eventOf(lane, deed)
            if (event !== null) await lane.emit(event)
          }
          for (const [table, row] of lane.rows.values()) {
            assert.deepEqual(await ledger.row(table, row.id), row)
          }
          const live = (await ledger.live('main'))?.rows ?? []
          assert.deepEqual(
            live.map(([table, row]) => `${table} ${row.id}`).sort(),
            expectedLive(lane),
          )
          const { problems, rows } = await ledger.verify()
          assert.deepEqual({ problems, rows }, { problems: [], rows: lane.rows.size })
        } finally {
          await ledger.close()
        }
      }),
      { numRuns: 40 },
    )
  },
}
