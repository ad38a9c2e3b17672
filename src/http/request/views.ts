/**
 * The agents of the home as readers see them, worked out from the owner's facts in memory and kept
 * until a commit or a moment changes them: a list of ten thousand items is ranked once, not at
 * every request. What only the ledger has (the last turn, dead letters, sums) is kept the same way.
 */
import type { Can } from '../../protocol/actions/action.ts'
import {
  agentView,
  lateTasks,
  newMemo,
  type AgentView,
  type SurveyCache,
} from '../../protocol/agent-view.ts'
import { agentRecordOf, type AgentRecord } from '../../protocol/records/agent-record.ts'
import type { Past } from '../../protocol/views/attention.ts'
import { canOfAgent, canOfItem, canOfWait } from '../../protocol/actions/can.ts'
import type { Rows } from '../../protocol/records/records.ts'
import { paymentsOf } from '../../protocol/records/records.ts'
import { spendByItem, type Spend } from '../../protocol/records/item-spend.ts'
import type { SpendGroup } from '../../protocol/records/spend-record.ts'
import { byMaking } from './making.ts'
import type { HomePort } from './ports.ts'

/** Turns of one item that its sum is made of, and dead letters of one agent that are shown. */
const mostTurns = 10_000
const mostDead = 50
/** Late results of one agent that are looked at. */
const mostLate = 50
/** Sums of items kept; the oldest are forgotten first. */
const sumsKept = 20_000
/** What may be done to items and waits, kept in the same way: some kilobytes each. */
const cansKept = 4_000
/** Agents whose shown items are kept as text: ten kilobytes each. */
const shownKept = 1_000

type Seen = {
  facts: AgentView['facts']
  seq: number
  memo: SurveyCache
  record: { survey: SurveyCache['survey']; value: AgentRecord } | null
  items: readonly Rows['work_items'][] | null
  waits: readonly Rows['waits'][] | null
}

type Kept = { seen: Seen; survey: SurveyCache['survey']; can: readonly Can[] }
type KeptText<T> = { seen: Seen; survey: SurveyCache['survey']; text: Promise<T> }

/** What of an agent stands in the snapshot, as JSON without the brackets around its lists. */
export type ShownText = { work_items: string; counts: string; waits: string }

type History = {
  seq: number
  turn: Rows['turns'] | null
  messages: readonly Rows['messages'][]
  deliveries: readonly Rows['deliveries'][]
  tasks: readonly Rows['tasks'][]
  completed_items: number
}

export class Views {
  readonly #home: HomePort
  readonly #seen = new Map<string, Seen>()
  readonly #history = new Map<string, Promise<History>>()
  readonly #historySeq = new Map<string, number>()
  readonly #sums = new Map<string, { key: string; sums: Promise<readonly SpendGroup[]> }>()
  readonly #turns = new Map<string, { key: string; turns: number }>()
  readonly #cans = new Map<string, Kept>()
  readonly #shown = new Map<string, KeptText<ShownText>>()
  readonly #records = new WeakMap<AgentRecord, string>()

  constructor(home: HomePort) {
    this.#home = home
  }

  /** Null when there is no such agent, or it was deleted. */
  of(agent_id: string): AgentView | null {
    const seen = this.#look(agent_id)
    return seen === null ? null : agentView(seen.facts, this.#home.now(), true, seen.memo)
  }

  /** Every agent that still exists, oldest first. */
  all(): AgentView[] {
    return this.#home.agent_ids().flatMap((id) => this.of(id) ?? [])
  }

  /** An agent's record changes with its facts and with the survey of them. */
  record(view: AgentView): AgentRecord {
    const seen = this.#look(view.agent.id)
    if (seen === null || seen.facts !== view.facts) return recordOf(view)
    // Asked first: it is what finds out whether the survey that was kept still holds.
    const { because } = view.next
    const { record, memo } = seen
    const holds = record?.survey === memo.survey && record.value.because === because
    if (record !== null && holds) return record.value
    const value = recordOf(view)
    seen.record = { survey: memo.survey, value }
    return value
  }

  /** The record as JSON, made once for each. */
  recordText(view: AgentView): string {
    const record = this.record(view)
    const text = this.#records.get(record) ?? JSON.stringify(record)
    this.#records.set(record, text)
    return text
  }

  /**
   * What `make` says of an agent, kept as long as its facts and the survey of them. `make` may look
   * at those, at what this class answers of them, and at nothing else.
   */
  shownText(view: AgentView, make: () => Promise<ShownText>): Promise<ShownText> {
    const seen = this.#look(view.agent.id)
    if (seen === null || seen.facts !== view.facts) return make()
    // Asked first: it is what finds out whether the survey that was kept still holds.
    void view.survey
    const { survey } = seen.memo
    const kept = this.#shown.get(view.agent.id)
    if (kept?.seen === seen && kept.survey === survey) return kept.text
    const text = make()
    keep(this.#shown, view.agent.id, { seen, survey, text }, shownKept)
    // Whoever waits for it is told; who comes later asks again.
    text.catch(() => this.#shown.delete(view.agent.id))
    return text
  }

  /** What may be done to an item, asked of the rules once in each state of its agent. */
  canOfItem(view: AgentView, p: Parameters<typeof canOfItem>[1]): readonly Can[] {
    return this.#can(view, p.item.id, () => canOfItem(view, p))
  }

  canOfWait(view: AgentView, wait: Rows['waits']): readonly Can[] {
    // A list may have been read before the last commit; what is kept here is of now.
    const now = view.facts.row('waits', wait.id) ?? wait
    return this.#can(view, wait.id, () => canOfWait(view, now))
  }

  /** The open items of an agent in the order of their making. */
  openItems({ agent, facts }: AgentView): readonly Rows['work_items'][] {
    const sorted = () => {
      const open: Rows['work_items'][] = []
      for (const item of facts.rows('work_items')) if (item.state === 'open') open.push(item)
      return open.sort(byMaking)
    }
    const seen = this.#look(agent.id)
    return seen === null ? sorted() : (seen.items ??= sorted())
  }

  /** The active waits of an agent in the order of their making. */
  activeWaits({ agent, facts }: AgentView): readonly Rows['waits'][] {
    const sorted = () => {
      const active: Rows['waits'][] = []
      for (const wait of facts.rows('waits')) if (wait.status === 'active') active.push(wait)
      return active.sort(byMaking)
    }
    const seen = this.#look(agent.id)
    return seen === null ? sorted() : (seen.waits ??= sorted())
  }

  /** What an item used, of the requests about it so far; null when none was and no turn is. */
  async spendOf(view: AgentView, item: Rows['work_items']): Promise<Spend | null> {
    const [sums, turns] = await Promise.all([this.#sumsOf(view), this.#turnsAbout(view, item)])
    const own = sums.filter(({ work_item_id }) => work_item_id === item.id)
    const about = Array.from({ length: turns }, () => ({ work_item_id: item.id }))
    return spendByItem(own, about).get(item.id) ?? null
  }

  /** Of all items of an agent at once; they move with each request that is paid for. */
  #sumsOf({ agent, facts, turn_count }: AgentView): Promise<readonly SpendGroup[]> {
    let paid = 0
    for (const round of facts.rows('rounds')) paid += paymentsOf(round).length
    const key = `${turn_count} ${paid}`
    const kept = this.#sums.get(agent.id)
    if (kept?.key === key) return kept.sums
    const sums = this.#home.reads.spend({ by: ['item'], agent_id: agent.id })
    keep(this.#sums, agent.id, { key, sums }, sumsKept)
    // What could not be read is asked for again; the failure is its caller's.
    sums.catch(() => this.#sums.delete(agent.id))
    return sums
  }

  /**
   * How many turns were about an item. It moves when one begins or ends, and the pacing of an open
   * item names the last one that ended.
   */
  async #turnsAbout({ facts }: AgentView, item: Rows['work_items']): Promise<number> {
    const pacing = facts.row('pacing', item.id)
    const ended = pacing?.kind === 'item' ? (pacing.last_turn_id ?? '') : ''
    const key = `${item.state} ${ended} ${openTurnAbout(facts, item.id)}`
    if (key === 'open  ') return 0
    const kept = this.#turns.get(item.id)
    if (kept?.key === key) return kept.turns
    const filter = { work_item_id: item.id, limit: mostTurns }
    const { length: turns } = await this.#home.reads.list('turns', filter)
    keep(this.#turns, item.id, { key, turns }, sumsKept)
    return turns
  }

  /** What the attention list needs of these agents beside their facts. */
  async past(views: readonly AgentView[]): Promise<Required<Past>> {
    const all = await Promise.all(views.map((view) => this.#historyOf(view)))
    return {
      turns: all.flatMap(({ turn }) => turn ?? []),
      messages: all.flatMap(({ messages }) => messages),
      deliveries: all.flatMap(({ deliveries }) => deliveries),
      tasks: all.flatMap(({ tasks }) => tasks),
    }
  }

  async completedItems(view: AgentView): Promise<number> {
    return (await this.#historyOf(view)).completed_items
  }

  /** Kept as long as the facts and the survey of them: the rules look at nothing else. */
  #can(view: AgentView, id: string, ask: () => Can[]): readonly Can[] {
    const seen = this.#look(view.agent.id)
    if (seen === null || seen.facts !== view.facts) return ask()
    // Asked first: it is what finds out whether the survey that was kept still holds.
    void view.survey
    const { survey } = seen.memo
    const kept = this.#cans.get(id)
    if (kept?.seen === seen && kept.survey === survey) return kept.can
    const can = ask()
    keep(this.#cans, id, { seen, survey, can }, cansKept)
    return can
  }

  /** What was worked out of the facts as they are now; thrown away when a commit moved them. */
  #look(agent_id: string): Seen | null {
    const facts = this.#home.facts(agent_id)
    const agent = facts?.row('agents', agent_id)
    if (!facts || !agent || agent.state === 'deleted') return null
    const kept = this.#seen.get(agent_id)
    if (kept !== undefined && kept.seq === facts.seq && kept.facts === facts) return kept
    const { seq } = facts
    const seen = { facts, seq, memo: newMemo(), record: null, items: null, waits: null }
    this.#seen.set(agent_id, seen)
    return seen
  }

  /** One read for all who ask at once; a read that failed is not kept. */
  #historyOf({ agent, facts }: AgentView): Promise<History> {
    const kept = this.#history.get(agent.id)
    if (kept !== undefined && this.#historySeq.get(agent.id) === facts.seq) return kept
    const read = this.#readHistory(facts)
    this.#history.set(agent.id, read)
    this.#historySeq.set(agent.id, facts.seq)
    read.catch(() => this.#historySeq.delete(agent.id))
    return read
  }

  async #readHistory(facts: AgentView['facts']): Promise<History> {
    const { agent_id, seq } = facts
    const { reads } = this.#home
    const dead = { agent_id, status: ['dead'], limit: mostDead }
    const ended = lateTasks(facts)
    const [turns, messages, deliveries, counts, tasks] = await Promise.all([
      reads.list('turns', { agent_id, limit: 1 }),
      reads.list('messages', dead),
      reads.list('deliveries', dead),
      reads.counts(agent_id),
      Promise.all(ended.slice(0, mostLate).map((id) => reads.row('tasks', id))),
    ])
    const { completed_items } = counts
    return {
      seq,
      turn: turns.at(-1) ?? null,
      messages,
      deliveries,
      tasks: tasks.filter((task) => task !== null),
      completed_items,
    }
  }
}

const recordOf = (view: AgentView): AgentRecord => agentRecordOf(view, canOfAgent(view))

/** Keeps the newest `most` entries; a `Map` is in the order of its insertions. */
function keep<V>(map: Map<string, V>, id: string, value: V, most: number): void {
  map.delete(id)
  map.set(id, value)
  const [oldest] = map.keys()
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}

/** A turn that is bound to an item moves into its sum when it begins. */
function openTurnAbout(facts: AgentView['facts'], item: string): string {
  for (const turn of facts.rows('turns')) {
    if (turn.state === 'open') return turn.work_item_id === item ? turn.id : ''
  }
  return ''
}
