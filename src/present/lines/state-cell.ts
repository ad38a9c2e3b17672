/**
 * The state of an item or an agent in one cell of a list, with the mark that goes before it: its
 * one word, then what it is about, since or until when. The command line and the screen both ask
 * here; the longer words are in `protocol/views/why.ts`. Pure.
 */
import type { AgentRecord } from '../../protocol/records/agent-record.ts'
import type { AgentView } from '../../protocol/agent-view.ts'
import {
  askedOf,
  holdsOf,
  itemStateOf,
  itemWord,
  measuredWords,
  postureOf,
  postureWord,
  triggeredWords,
  verificationOf,
  type Hold,
  type Measured,
  type Projection,
  type Usage,
  type VerificationState,
} from '../../protocol/records/records.ts'
import type { WaitRecord } from '../../protocol/records/wait-record.ts'
import type { WorkItemRecord } from '../../protocol/records/work-item-record.ts'
import { stateWords } from './check-lines.ts'
import type { Mark } from '../text/marks.ts'
import { clock, clockSpan, clockTimes, due, since, type Zone } from '../text/span.ts'

export type StateCell = { mark: Mark; text: string }

/** How times stand in a row: they run on, or (not connected, no motion) stand as clock times. */
export type Times = Zone & { runs: boolean }

/** Of a wait, what a cell says. */
export type WaitSeen = Pick<
  WaitRecord,
  | 'wake'
  | 'wake_at'
  | 'question'
  | 'recheck_at'
  | 'resource'
  | 'source'
  | 'created_at'
  | 'trigger_count'
  | 'reviewed_trigger_count'
>

/** Of an item, what a cell says: of a record that was read, or of a projection. */
export type ItemSeen = Pick<
  WorkItemRecord,
  | 'completed_at'
  | 'updated_at'
  | 'plan_status'
  | 'blocked_by'
  | 'scheduling_state'
  | 'candidate_class'
  | 'focus'
  | 'imported'
> & {
  wait: WaitSeen | null
  over: readonly Measured[]
  verification: VerificationState
}

export type AgentStatus = Pick<AgentRecord, 'id' | 'state' | 'posture' | 'until'>

export const agentSeen = ({ agent, next }: AgentView): AgentStatus => ({
  id: agent.id,
  state: agent.state,
  posture: postureOf(next),
  until: next.do === 'wait' ? next.until : null,
})

export const itemSeen = (item: WorkItemRecord): ItemSeen => ({
  ...item,
  over: item.meter?.over ?? [],
  verification: item.verification?.state ?? 'none',
})

/**
 * What an item is and waits for. `halt`: why its agent starts nothing for it now. `asks`: of a
 * child the agent above it, which gets its questions; null: they are the operator's.
 */
export function itemCell(
  item: ItemSeen,
  halt: string | null,
  times: Times,
  asks: string | null = null,
): StateCell {
  const state = itemStateOf(item)
  // The end of one does not lift the others.
  const [first, ...others] = holdsOf(item, item.wait, item.over)
  const also = others.map((hold) => `; ${holdWords(hold, times)}`).join('')
  const held = halt === null ? '' : `; ${halt}`
  switch (state) {
    case 'completed':
      return completed(item, times)
    case 'triggered': {
      const fresh = item.wait !== null && hasNews(item.wait) ? triggeredWords(item.wait) : null
      const what = fresh ?? `${itemWord.triggered}, its recheck is due`
      return {
        mark: 'arrived',
        text: `${what}${also}${held === '' ? '; its review is next' : held}`,
      }
    }
    case 'waiting_operator':
      if (asks !== null && first?.code === 'wait') {
        const text = `${asksWord(asks)}, ${stood(first.wait.created_at, times)}${also}`
        return { mark: 'waiting', text }
      }
      if (asks !== null && first?.code === 'needs_input' && item.over.length === 0) {
        return { mark: 'waiting', text: `${asksWord(asks)}: input on its plan` }
      }
      return { mark: 'needs_me', text: `${itemWord[state]}${yours(first, times)}${also}` }
    case 'waiting_task':
    case 'waiting_timer':
    case 'waiting_external':
    case 'blocked': {
      const text = first === undefined ? itemWord[state] : holdWords(first, times)
      return { mark: state === 'blocked' ? 'blocked' : 'waiting', text: `${text}${also}` }
    }
    case 'current':
    case 'queued':
      return { mark: 'next', text: `${itemWord[state]}${held}` }
  }
}

/** A claim is not shown as verified; without checks it is a claim and no more. */
function completed({ completed_at, updated_at, verification }: ItemSeen, times: Times): StateCell {
  const at = clock(completed_at ?? updated_at, times)
  const text = `${itemWord.completed} ${at}, ${stateWords[verification]}`
  switch (verification) {
    case 'none':
    case 'asked':
    case 'verified':
      return { mark: 'done', text }
    case 'pending':
      return { mark: 'waiting', text }
    case 'failed':
      return { mark: 'failed', text }
    case 'unknown':
    case 'changed':
      return { mark: 'unknown', text }
  }
}

type HoldSeen = Hold<WaitSeen>

/** What the operator is to do; of a question how long it stands. */
function yours(hold: HoldSeen | undefined, times: Times): string {
  if (hold?.code === 'wait') return `, ${stood(hold.wait.created_at, times)}`
  return hold === undefined ? '' : `: ${holdWords(hold, times)}`
}

function holdWords(hold: HoldSeen, times: Times): string {
  switch (hold.code) {
    case 'imported':
      return 'imported, look at it, then pick it'
    case 'wait':
      return waitsFor(hold.wait, times)
    case 'blocked_by':
      return `${itemWord.blocked}: ${hold.text}`
    case 'needs_input':
      return 'your input on its plan'
    case 'budget':
      return budget(hold.over, times)
  }
}

const budget = (over: readonly Measured[], times: Times): string =>
  `budget ${over.map((one) => clockTimes(measuredWords(one), times)).join(', ')}`

const hasNews = (wait: WaitSeen): boolean => wait.trigger_count > wait.reviewed_trigger_count

/** Of a child: its question is another agent's to answer. */
const asksWord = (asked: string): string => `asks ${asked}`

/** A wait by itself, as lists of waits have it. `asks`: as of an item. */
export function waitCell(wait: WaitSeen, times: Times, asks: string | null): StateCell {
  if (wait.wake === 'operator_input') {
    if (asks !== null) {
      return { mark: 'waiting', text: `${asksWord(asks)}, ${stood(wait.created_at, times)}` }
    }
    const text = `${itemWord.waiting_operator}, ${stood(wait.created_at, times)}`
    return { mark: 'needs_me', text }
  }
  const fresh = hasNews(wait) ? triggeredWords(wait) : null
  if (fresh !== null) return { mark: 'arrived', text: fresh }
  return { mark: 'waiting', text: waitsFor(wait, times) }
}

function waitsFor(wait: WaitSeen, times: Times): string {
  const long = stood(wait.created_at, times)
  switch (wait.wake) {
    case 'operator_input':
      return `waits for you, ${long}`
    case 'task_result':
      return `waits for ${wait.resource}, ${long}`
    case 'timer':
      return `waits for ${at(wait.wake_at ?? times.now, times)}`
    case 'system':
      return wait.wake_at === null ? `held, ${long}` : `held to ${at(wait.wake_at, times)}`
    case 'external': {
      const what = wait.source ?? wait.resource ?? 'an event'
      const looks = wait.recheck_at === null ? '' : `; looks at ${at(wait.recheck_at, times)}`
      return `waits for ${what}, ${long}${looks}`
    }
  }
}

const stood = (from: string, times: Times): string =>
  times.runs ? since(from, times) : `since ${clock(from, times)}`

const at = (moment: string, times: Times): string =>
  times.runs ? due(moment, times) : clock(moment, times)

/** Why an agent starts nothing for an item that could run or be looked at; null where it may. */
export function haltOf(agent: AgentStatus | undefined, times: Times): string | null {
  if (agent === undefined) return null
  const until = agent.until === null ? '' : ` to ${at(agent.until, times)}`
  switch (agent.posture) {
    case 'stop':
      return `${agent.id} is ${postureWord.stop}`
    case 'wait:system':
      return `${agent.id} is ${postureWord['wait:system']}${until}`
    case 'wait:backoff':
      return agent.until === null
        ? `${agent.id} ${postureWord['wait:backoff']}`
        : `next turn ${clock(agent.until, times)}`
    case 'noop':
    case 'start_turn':
    case 'sleep':
    case 'wait:operator':
    case 'wait:task':
    case 'wait:external':
    case 'wait:timer':
      return null
  }
}

/** What an item asks by that has no wait yet: its plan's question comes at the turn's end. */
const question = { wake: 'operator_input', source: null } as const

/** Whom the item's question is put to. */
export const itemAsks = (
  agent: Parameters<typeof askedOf>[0] | undefined,
  item: Pick<WorkItemRecord, 'wait'>,
): string | null => (agent === undefined ? null : askedOf(agent, item.wait ?? question))

/** Whom the agent's questions are put to; the operator's come first. */
export function agentAsks(
  agent: Parameters<typeof askedOf>[0] & Pick<AgentStatus, 'id'>,
  waits: Iterable<Pick<WaitRecord, 'agent_id' | 'wake' | 'source'>>,
): string | null {
  const asked = [...waits]
    .filter((wait) => wait.agent_id === agent.id && wait.wake === 'operator_input')
    .map((wait) => askedOf(agent, wait))
  return asked.includes(null) ? null : (asked[0] ?? askedOf(agent, question))
}

/** What an agent does, in its one word, with until when. `asks`: as of an item. */
export function agentCell(agent: AgentStatus, times: Times, asks: string | null): StateCell {
  const { posture } = agent
  const word = postureWord[posture]
  const until = agent.until === null ? '' : ` to ${at(agent.until, times)}`
  switch (posture) {
    case 'stop':
      return { mark: 'next', text: agent.state === 'deleted' ? 'deleted' : word }
    case 'noop':
    case 'start_turn':
      return { mark: 'working', text: word }
    case 'sleep':
      return { mark: 'next', text: word }
    case 'wait:operator':
      return asks === null
        ? { mark: 'needs_me', text: word }
        : { mark: 'waiting', text: asksWord(asks) }
    case 'wait:task':
      return { mark: 'waiting', text: word }
    case 'wait:system':
      return { mark: 'failed', text: `${word}${until}` }
    case 'wait:external':
    case 'wait:timer':
    case 'wait:backoff':
      return { mark: 'waiting', text: `${word}${until}` }
  }
}

/** The same with why; a reason that says the word once more is left out. */
export function agentSentence(
  agent: AgentStatus & Pick<AgentRecord, 'because' | 'unread'>,
  times: Times,
  asks: string | null,
  word = agentCell(agent, times, asks).text,
): string {
  const why = agentReason(agent)
  return why === null ? word : `${word}: ${why}`
}

function agentReason({
  id,
  state,
  posture,
  because,
  unread,
}: AgentStatus & Pick<AgentRecord, 'because' | 'unread'>): string | null {
  switch (posture) {
    case 'stop':
      return state === 'deleted' ? null : `holon agents start ${id} lets it go on`
    case 'noop':
      return null
    case 'wait:system':
      return unread?.detail ?? unread?.because ?? because
    case 'start_turn':
    case 'sleep':
    case 'wait:operator':
    case 'wait:task':
    case 'wait:external':
    case 'wait:timer':
    case 'wait:backoff':
      return because
  }
}

/** An item as a reader of the ledger sees it; a turn about it stands in place of the queue. */
export function stateCell(view: AgentView, p: Projection, zone: Zone): StateCell {
  const { item } = p
  if (p.reason.code === 'nothing_holds_it' && view.turn?.work_item_id === item.id) {
    const ms = Date.parse(zone.now) - Date.parse(view.turn.started_at)
    return view.survey.running
      ? { mark: 'working', text: `turn ${view.turn_count}, ${clockSpan(ms)}` }
      : { mark: 'next', text: `turn ${view.turn_count} is open; a run goes on` }
  }
  const times = { ...zone, runs: true }
  const seen = {
    ...item,
    ...p,
    over: p.budget?.over ?? [],
    verification: verificationOf(item).state,
  }
  const halt = haltOf(agentSeen(view), times)
  const asks = itemAsks(view.agent, p)
  return itemCell(seen, halt ?? (view.has_owner ? null : 'a run goes on'), times, asks)
}

/** `$0.31`, else tokens, else nothing spent. A price that is not known is never `$0.00`. */
export function spent(usage: Usage | null): string {
  if (usage === null) return '-'
  if (usage.usd !== null && usage.usd > 0) return dollars(usage.usd)
  const tokens = tokensOf(usage)
  if (tokens === null) return 'not counted'
  return tokens === 0 ? '-' : `${thousandths(tokens)} tokens`
}

export const tokensOf = (usage: Usage): number | null =>
  usage.input_tokens === null || usage.output_tokens === null
    ? null
    : usage.input_tokens + usage.output_tokens

export const dollars = (usd: number): string => `$${usd.toFixed(usd < 0.095 ? 3 : 2)}`

/** `18.2k` from a thousand on. */
export const thousandths = (n: number): string =>
  n < 1_000 ? String(n) : n < 999_500 ? `${(n / 1_000).toFixed(1)}k` : `${(n / 1e6).toFixed(1)}M`
