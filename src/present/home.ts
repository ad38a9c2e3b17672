/**
 * The first screen: what needs a person, what works, waits, comes next and is done, and the agents;
 * each row with its mark and its words. Every row of a list is here; the screen shows what fits.
 * Pure.
 */
import type { Can } from '../protocol/actions/action.ts'
import type { Attention } from '../protocol/views/attention.ts'
import type { WorkItemRecord } from '../protocol/records/work-item-record.ts'
import { doingWords, lateWords, markOf, turnWords, usedWords, type OpenTurn } from './item-words.ts'
import { bounds } from './history/limits.ts'
import type { Mark } from './text/marks.ts'
import type { Presentation, Spoken } from './presentation.ts'
import { questionLines } from './lines/question-lines.ts'
import { safeLine, type Safe } from './text/safe.ts'
import { clock, since } from './text/span.ts'
import {
  agentAsks,
  agentCell,
  haltOf,
  itemAsks,
  itemCell,
  itemSeen,
  spent,
  type Times,
} from './lines/state-cell.ts'

export type HomeRow = {
  /** Of the noun the row is about. */
  readonly id: string
  readonly agent_id: string
  readonly work_item_id: string | null
  readonly mark: Mark
  readonly who: Safe
  readonly title: Safe
  readonly right: Safe
  /** A second line, where something goes on. */
  readonly below: { readonly left: Safe; readonly right: Safe } | null
  /** Of a question: all of it, with the answers that are offered. */
  readonly asks?: readonly Safe[]
  readonly can: readonly Can[]
}

export type HomeSectionName =
  | 'needs'
  | 'working'
  | 'waiting'
  | 'next'
  | 'blocked'
  | 'done'
  | 'agents'
export type HomeSection = {
  readonly name: HomeSectionName
  readonly title: Safe
  readonly count: number
  readonly rows: readonly HomeRow[]
  readonly note: Safe
}

export type Home = {
  readonly counts: Safe
  readonly sections: readonly HomeSection[]
  readonly empty: boolean
}

const s = safeLine

/** `read`: what agents delivered last before this screen followed them. */
export function home(
  p: Presentation,
  times: Times,
  read: ReadonlyMap<string, Spoken> = new Map(),
): Home {
  const { state } = p
  const needs = attention(p, times)
  // The open turn of an agent that is held goes on when the hold ends: until then nothing works.
  const held = new Set(state.agents.flatMap((one) => (one.posture === 'wait:system' ? one.id : [])))
  const turns = state.turns.filter(({ agent_id }) => !held.has(agent_id))
  const working = turns.map((turn) => turnRow(p, turn, times))
  const busy = new Set(turns.map(({ work_item_id }) => work_item_id))
  const asking = new Set(state.attention.map(({ work_item_id }) => work_item_id))
  const rest = state.work_items.filter(({ id }) => !busy.has(id))
  const of = (is: (item: WorkItemRecord) => boolean) =>
    rest.filter(is).map((one) => itemRow(p, one, times))
  const open = rest.filter((one) => one.state === 'open')
  const waits = new Set(open.filter(isWaiting).map(({ id }) => id))
  const runs = new Set(
    open.filter((one) => one.scheduling_state === 'runnable').map(({ id }) => id),
  )
  const stuck = open.filter(({ id }) => !waits.has(id) && !runs.has(id) && !asking.has(id))
  const waiting = of(({ id }) => waits.has(id))
  const next = of(({ id }) => runs.has(id) && !asking.has(id))
  const done = newestFirst(rest.filter(({ state: is }) => is === 'completed')).map((one) =>
    itemRow(p, one, times),
  )
  const blocked = of((one) => stuck.includes(one))
  const agents = state.agents.filter(({ state: is }) => is !== 'deleted')
  const spoken = new Map([...read, ...p.spoken])
  const sum = (field: 'blocked' | 'queued_runnable' | 'current_runnable' | 'completed') =>
    state.counts.reduce((total, one) => total + one[field], 0)
  const notShown = (list: number, total: number) => Math.max(list, total)
  const stands = sum('blocked') - open.filter(({ candidate_class: c }) => c === 'blocked').length
  const ready = sum('queued_runnable') + sum('current_runnable')
  // What a turn is about now is ready too, and is told above.
  const inSight = state.work_items.filter(
    ({ state: is, candidate_class: c }) => is === 'open' && c.endsWith('runnable'),
  ).length
  const counts = {
    needs: state.attention_total,
    working: working.length,
    waiting: waiting.length + Math.max(0, stands),
    next: notShown(next.length, next.length + ready - inSight),
  }
  return {
    counts: countWords(counts),
    sections: [
      section('needs', 'NEEDS YOU', counts.needs, needs),
      section('working', 'WORKING', counts.working, working),
      section('waiting', 'WAITING', counts.waiting, waiting, 'no cost while waiting'),
      section('next', 'NEXT', counts.next, next),
      section('blocked', 'BLOCKED', blocked.length, blocked),
      section('done', 'DONE', Math.max(done.length, sum('completed')), done),
      section(
        'agents',
        'AGENTS',
        agents.length,
        agents.map((one) => agentRow(p, one, times, spoken.get(one.id))),
      ),
    ],
    empty:
      state.work_items.length === 0 &&
      needs.length === 0 &&
      working.length === 0 &&
      !agents.some(({ id }) => spoken.has(id)),
  }
}

/** What was done last comes first, whoever did it. */
export const newestFirst = (items: readonly WorkItemRecord[]): readonly WorkItemRecord[] =>
  items.toSorted((a, b) => order(b.completed_at ?? '', a.completed_at ?? ''))

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

type Counts = { needs: number; working: number; waiting: number; next: number }

function countWords({ needs, working, waiting, next }: Counts): Safe {
  const words = [
    [needs, needs === 1 ? 'needs you' : 'need you'],
    [working, 'working'],
    [waiting, 'waiting'],
    [next, 'next'],
  ] as const
  const said = words.filter(([n]) => n > 0).map(([n, word]) => `${n} ${word}`)
  return s(said.length === 0 ? 'nothing needs you' : said.join(', '))
}

const section = (
  name: HomeSectionName,
  title: string,
  count: number,
  rows: readonly HomeRow[],
  note = '',
): HomeSection => ({ name, title: s(title), count, rows, note: s(note) })

const isWaiting = ({ scheduling_state: is }: WorkItemRecord): boolean =>
  is === 'waiting_task' || is === 'waiting_timer' || is === 'waiting_external'

/** As the server orders it: questions first, then what stands still, oldest first in each kind. */
export const attention = (p: Presentation, times: Times): readonly HomeRow[] =>
  p.state.attention.slice(0, bounds.attention).map((entry) => attentionRow(entry, times))

function attentionRow(entry: Attention, times: Times): HomeRow {
  const [first = ''] = entry.text.trim().split('\n')
  return {
    id: entry.id,
    agent_id: entry.agent_id,
    work_item_id: entry.work_item_id,
    mark: markOf[entry.kind],
    who: s(entry.agent_id),
    title: s(first),
    right: s(since(entry.since, times)),
    below: null,
    ...(entry.kind === 'question' || entry.kind === 'approval'
      ? { asks: questionLines(entry, null) }
      : {}),
    can: entry.can,
  }
}

function turnRow(p: Presentation, turn: OpenTurn, times: Times): HomeRow {
  const item = p.state.work_items.find(({ id }) => id === turn.work_item_id)
  return {
    id: turn.id,
    agent_id: turn.agent_id,
    work_item_id: turn.work_item_id,
    mark: 'working',
    who: s(turn.agent_id),
    title: s(item?.objective ?? `because ${turn.because}`),
    right: s(turnWords(turn, times)),
    below: { left: s(doingWords(p, turn, times)), right: s(usedWords(turn.usage)) },
    can: item?.can ?? p.state.agents.find(({ id }) => id === turn.agent_id)?.can ?? [],
  }
}

export function itemRow(p: Presentation, item: WorkItemRecord, times: Times): HomeRow {
  const agent = p.state.agents.find(({ id }) => id === item.agent_id)
  const asks = itemAsks(agent, item)
  const turn = p.state.turns.find((one) => one.work_item_id === item.id)
  const cell = itemCell(itemSeen(item), haltOf(agent, times), times, asks)
  // A turn about it stands in place of the queue, and of nothing that holds it.
  const { mark, text } =
    turn !== undefined && cell.mark === 'next'
      ? { mark: 'working' as const, text: turnWords(turn, times) }
      : cell
  const price = item.state === 'completed' && item.spend !== null ? spent(item.spend) : '-'
  return {
    id: item.id,
    agent_id: item.agent_id,
    work_item_id: item.id,
    mark,
    who: s(item.agent_id),
    title: s(item.objective),
    right: s(price === '-' ? text : `${text}, ${price}`),
    below: item.late.length === 0 ? null : { left: s(lateWords(item.late)), right: s('') },
    can: item.can,
  }
}

function agentRow(
  { state: { waits } }: Presentation,
  agent: Presentation['state']['agents'][number],
  times: Times,
  spoken: Spoken | undefined,
): HomeRow {
  const { mark, text } = agentCell(agent, times, agentAsks(agent, waits))
  // Without work of its own what it said last is what there is of it.
  const [said = ''] = spoken?.text.trim().split('\n') ?? []
  const isSaid = spoken !== undefined && agent.posture === 'sleep' && agent.open_work_items === 0
  return {
    id: agent.id,
    agent_id: agent.id,
    work_item_id: null,
    mark,
    who: s(agent.id),
    title: s(isSaid ? said : text),
    right: s(isSaid ? clock(spoken.at, times) : `${agent.open_work_items} open`),
    below: null,
    can: agent.can,
  }
}

/** The next or the previous entry that needs a person, from the one that is selected. */
export function nextNeed(p: Presentation, from: string | null, step: 1 | -1): Attention | null {
  const all = p.state.attention
  const at = all.findIndex(({ id }) => id === from)
  if (all.length === 0) return null
  return all[at < 0 ? 0 : (at + step + all.length) % all.length] ?? null
}
