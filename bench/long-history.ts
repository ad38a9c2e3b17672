/**
 * A home with a long history, the same bytes each time: agents that finish item after item, turn by
 * turn, and keep some open. Written through the ledger's own commits, many turns in each.
 */
import { createHash } from 'node:crypto'
import { AgentFacts } from '../src/domain/agent-facts.ts'
import type { Event } from '../src/domain/event.ts'
import { Draft } from '../src/domain/facts.ts'
import type { Mint } from '../src/domain/ids.ts'
import { fromMs, minute } from '../src/domain/time.ts'
import { openLedger } from '../src/ledger/open.ts'
import {
  agentCreated,
  briefDelivered,
  callFinished,
  callRecorded,
  decisionMade,
  itemCompleted,
  itemCreated,
  messageAdmitted,
  requestSent,
  roundRecorded,
  turnEnded,
  turnStarted,
  waitRegistered,
} from '../src/testing/events.ts'

export type HistorySpec = { events: number; agents: number; open_items: number }

/** When the first of them began; each turn takes a minute. */
const start = Date.parse('2025-06-01T00:00:00.000Z')
const roundsPerTurn = 8
/** Events of one commit: long transactions are quick to write and the same on disk. */
const perCommit = 1_000

/** Ids that look minted: in order, with an end that differs. */
function mintOf(): Mint & ((prefix: string) => string) {
  let n = 0
  return ((prefix: string) => {
    const count = (++n).toString(16).padStart(12, '0')
    const tail = createHash('sha256').update(count).digest('hex').slice(0, 12)
    return `${prefix}_${count.slice(0, 8)}-${count.slice(8)}-7000-8000-${tail}`
  }) as Mint & ((prefix: string) => string)
}

const words = 'the quick brown fox jumps over the lazy dog and looks for what it has lost '

/** Writes the history into an empty home; answers how many events there are. */
export async function writeHistory(home: string, spec: HistorySpec): Promise<number> {
  const mint = mintOf()
  const ledger = await openLedger(home, { clock_now: () => start, mint })
  const lanes = Array.from({ length: spec.agents }, (_, i) => new AgentFacts(`agent-${i}`))
  let written = 0
  let now = start
  const commit = async (facts: AgentFacts, events: readonly Event[]) => {
    const draft = new Draft(facts, { now: fromMs(now), mint, causation_id: 'bench' })
    for (const event of events) draft.emit(event)
    const rows = [...draft.changed()]
    const { agent_id, seq: expect_seq } = facts
    const change = { agent_id, expect_seq, at: draft.now, events: draft.emitted, rows }
    const committed = await ledger.commit(change)
    if (!committed.ok) throw new Error('somebody else writes here')
    facts.apply(rows, committed.seq, draft.now)
    written += events.length
  }
  for (const facts of lanes) await commit(facts, [agentCreated(facts.agent_id)])
  for (let n = 0; n < spec.open_items; n += 200) {
    const facts = lanes[(n / 200) % lanes.length]
    if (facts) await commit(facts, Array.from({ length: 100 }, () => waiting(mint)).flat())
  }
  for (let turn = 0; written < spec.events;) {
    const facts = lanes[turn % lanes.length]
    if (!facts) throw new Error('no agents')
    const events: Event[] = []
    const most = Math.min(perCommit, spec.events - written)
    while (events.length < most) events.push(...oneTurn(mint, turn++))
    now += minute
    await commit(facts, events)
  }
  await ledger.close()
  return written
}

/** An open item that waits for somebody. */
function waiting(mint: Mint): Event[] {
  const item = itemCreated({ id: mint('work') })
  return [item, waitRegistered({ id: mint('wait'), work_item_id: item.id, source: 'github' })]
}

/** A message, an item, a turn of eight rounds about it, and its report. */
function oneTurn(mint: Mint, n: number): Event[] {
  const item = itemCreated({ id: mint('work'), objective: `answer question ${n}` })
  const about = { work_item_id: item.id }
  const message = messageAdmitted({ id: mint('msg'), body: words.repeat(4), ...about })
  const turn = turnStarted({ id: mint('turn'), ...about })
  const events: Event[] = [
    message,
    { ...decisionMade(), id: mint('dec'), ...about },
    turn,
    { type: 'message_claimed', id: message.id, turn_id: turn.id, to_coalesce: false },
    item,
  ]
  for (let round = 1; round <= roundsPerTurn; round++) {
    const id = `${turn.id}:${round}` as const
    const call = { ...callRecorded(turn.id, round, 0), id: mint('call'), ...about }
    const tool_name = 'ExecCommand'
    const result = { tool_name, summary: 'done', status: 'success', result: words.repeat(6) }
    events.push(
      requestSent(turn.id, round, about),
      { ...roundRecorded(id), parts: [{ type: 'text', text: words.repeat(3) }] },
      call,
      { type: 'call_started', id: call.id, intent: {}, task_id: null, ...about },
      { ...callFinished(call.id), result: result as ReturnType<typeof callFinished>['result'] },
    )
  }
  const brief = { id: mint('brief'), turn_id: turn.id, text: words.repeat(3) }
  return [
    ...events,
    { type: 'message_consumed', id: message.id, turn_id: turn.id, because: 'answered' },
    itemCompleted(item.id),
    briefDelivered({ ...brief, kind: 'result', ...about }),
    turnEnded(turn.id),
  ]
}
