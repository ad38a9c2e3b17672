/**
 * Conformance by property: whatever a valid history is, the rows of the store are its fold, the
 * live ones are what the domain calls live, and `verify` agrees.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Event, Rows, Table } from '../../domain/state/event.ts'
import { isLiveWait } from '../../domain/facts/live-rows.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { isLiveMessage } from '../../domain/state/message.ts'
import type { Ledger } from '../../ledger/port.ts'
import type { Cases } from './case.ts'
import { laneOf, type LedgerWorld } from '../world/ledger-world.ts'
import {
  itemCompleted,
  itemCreated,
  itemPaced,
  messageAdmitted,
  turnEnded,
  turnStarted,
  waitRegistered,
} from '../events.ts'

/** What a deed may look at: the rows so far, a number to choose one by, and some text. */
type Scene = { lane: LedgerWorld; pick: number; text: string; turn: Rows['turns'] | undefined }

const chosen = <T extends Table>(
  { lane, pick }: Scene,
  table: T,
  fits: (row: Rows[T]) => boolean,
): Rows[T] | undefined => {
  const all = lane.all(table).filter(fits)
  return all[pick % all.length]
}
const openItem = (scene: Scene) => chosen(scene, 'work_items', (item) => item.state === 'open')
const activeWait = (scene: Scene) => chosen(scene, 'waits', (wait) => wait.status === 'active')
const claimed = (scene: Scene) => chosen(scene, 'messages', (one) => one.status === 'claimed')

const on = <R>(row: R | undefined, make: (row: R) => Event): Event | null =>
  row === undefined ? null : make(row)

/** What a history is made of; each is an event where the rows allow it, else nothing. */
const deeds = {
  create: ({ text }) => itemCreated({ objective: text }),
  rename: (scene) =>
    on(openItem(scene), ({ id }) => ({
      type: 'work_item_updated',
      id,
      by: 'agent',
      changed: { objective: scene.text, blocked_by: scene.pick % 2 === 0 ? null : scene.text },
    })),
  complete: (scene) => on(openItem(scene), ({ id }) => itemCompleted(id)),
  report: (scene) =>
    on(
      chosen(scene, 'work_items', () => true),
      ({ id }) => ({
        type: 'work_item_reported',
        id,
        result_summary: scene.text,
        brief_id: 'brief_1',
      }),
    ),
  pace: (scene) =>
    on(
      chosen(scene, 'work_items', () => true),
      ({ id }) => itemPaced(id),
    ),
  admit: ({ pick, text }) =>
    messageAdmitted({ body: text, consumed_because: pick % 3 === 0 ? text : null }),
  claim: (scene) =>
    on(scene.turn, (turn) => {
      const message = chosen(scene, 'messages', (one) => one.status === 'queued')
      if (!message) return messageAdmitted()
      return { type: 'message_claimed', id: message.id, turn_id: turn.id, to_coalesce: false }
    }),
  requeue: (scene) =>
    on(claimed(scene), ({ id }) => ({ type: 'message_requeued', id, attempts: scene.pick })),
  consume: (scene) =>
    on(claimed(scene), ({ id }) => ({
      type: 'message_consumed',
      id,
      turn_id: null,
      because: scene.text,
    })),
  wait: (scene) =>
    waitRegistered({
      work_item_id: scene.pick % 2 === 0 ? (openItem(scene)?.id ?? null) : null,
      wake: scene.pick % 5 === 0 ? 'timer' : 'external',
      released_focus: scene.pick % 3 === 0,
      reason: scene.text,
    }),
  trigger: (scene) =>
    on(activeWait(scene), ({ id, trigger_count }) => ({
      type: 'wait_triggered',
      id,
      message_id: 'msg_1',
      count: trigger_count + 1,
      by: 'outside',
      turn_count: scene.pick,
    })),
  resolve: (scene) =>
    on(activeWait(scene), ({ id }) => ({ type: 'wait_resolved', id, by: { kind: 'runtime' } })),
  settle: (scene) =>
    on(
      chosen(scene, 'waits', (wait) => wait.status === 'resolved' && isLiveWait(wait)),
      ({ id }) =>
        scene.pick % 2 === 0
          ? { type: 'wait_focus_settled', id }
          : { type: 'wait_reviewed', id, turn_id: 'turn_1' },
    ),
  cancel: (scene) =>
    on(activeWait(scene), ({ id }) => ({
      type: 'wait_cancelled',
      id,
      by: 'operator',
      because: scene.text,
    })),
  start_turn: ({ turn, text, lane }) =>
    turn ? null : turnStarted({ because: text, input_cut: lane.facts.seq }),
  end_turn: ({ turn }) => on(turn, ({ id }) => turnEnded(id)),
} satisfies Record<string, (scene: Scene) => Event | null>

/** Ids of the rows that must be live, said a second time and without the store's shortcuts. */
function expectedLive(lane: LedgerWorld): string[] {
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
      // What the open turn was shown, and what came after its input.
      const isOfTurn =
        turn !== undefined && (message.turn_id === turn.id || message.inbox_seq > turn.input_cut)
      return isLiveMessage(message) || isOfTurn
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
    deed: fc.constantFrom(...(Object.keys(deeds) as (keyof typeof deeds)[])),
    pick: fc.nat({ max: 1_000 }),
    text: fc.string({ unit: 'grapheme', maxLength: 20 }),
  }),
  { minLength: 1, maxLength: 60 },
)

/** Wherever the horizon is, what is live stays as it is, what stays verifies, and twice is once. */
async function retainsOnlyWhatEnded(ledger: Ledger, lane: LedgerWorld, cut: number): Promise<void> {
  const live = await ledger.live('main')
  const [event] = await ledger.eventPage({ after: cut, limit: 1 })
  const before = event?.at ?? lane.facts.last_at
  const dry = await ledger.retain({ before, dry_run: true })
  const run = await ledger.retain({ before, dry_run: false, batch: 1 + (cut % 9) })
  assert.deepEqual({ ...run, dry_run: true }, dry)
  assert.deepEqual(await ledger.live('main'), live)
  const { problems, rows } = await ledger.verify()
  const gone = Object.values(run.rows).reduce((sum, n) => sum + n, 0)
  assert.deepEqual({ problems, rows }, { problems: [], rows: lane.rows.size - gone })
  const again = await ledger.retain({ before, dry_run: false })
  assert.deepEqual([again.events, again.rows], [0, {}])
}

export const propertyCases: Cases = {
  'after any valid history the rows are its fold': async (store, home) => {
    let runs = 0
    await fc.assert(
      fc.asyncProperty(history, fc.nat({ max: 60 }), async (all, cut) => {
        const ledger = await store.open(`${home}/${++runs}`)
        try {
          const lane = await laneOf(ledger)
          for (const { deed, pick, text } of all) {
            const turn = lane.all('turns').find((one) => one.state === 'open')
            const event = deeds[deed]({ lane, pick, text, turn })
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
          await retainsOnlyWhatEnded(ledger, lane, cut)
        } finally {
          await ledger.close()
        }
      }),
      { numRuns: 40 },
    )
  },
}
