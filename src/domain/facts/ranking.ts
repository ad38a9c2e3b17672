/**
 * Ranking: the items of one agent with their waits, by class and in order, kept from one look to
 * the next. An agent may have thousands of items of which a turn moves one or two: a look projects
 * again what changed since the last one, and puts it where it belongs among the rest.
 *
 * A look is pure: it says what one over all rows would say, and what it returned never changes.
 */
import { candidateClasses, type CandidateClass } from '../state/decision.ts'
import type { RowReader, Rows, Table } from '../state/event.ts'
import type { TaskId, TurnId, WaitId, WorkItemId } from '../ids.ts'
import type { Meter } from '../state/meter.ts'
import { projectItem, type Projection } from './readiness.ts'
import { placed, since } from '../sorted.ts'
import type { Timestamp } from '../time.ts'
import { matches, type Wait } from '../state/wait.ts'
import { isActive, isReleased, WaitIndex, type EventName } from './wait-index.ts'
import { isUnadopted, type WorkItem } from '../state/work-item.ts'

export type Candidates = { readonly [C in CandidateClass]: readonly Projection[] }

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const byId = (a: Projection, b: Projection) => byText(a.item.id, b.item.id)
const newest = (a: Projection, b: Projection) => byText(b.item.updated_at, a.item.updated_at)

/** The total order inside each candidate class (docs/spec/work-item.md#ranking): ties by id. */
export const orders: { readonly [C in CandidateClass]: (a: Projection, b: Projection) => number } =
  {
    current_runnable: byId,
    triggered_blocked: (a, b) =>
      byText(b.wait?.last_triggered_at ?? '', a.wait?.last_triggered_at ?? '') ||
      newest(a, b) ||
      byId(a, b),
    queued_runnable: (a, b) =>
      byText(a.item.updated_at, b.item.updated_at) ||
      byText(a.item.created_at, b.item.created_at) ||
      byId(a, b),
    waiting_for_operator: (a, b) => newest(a, b) || byId(a, b),
    blocked: (a, b) => newest(a, b) || byId(a, b),
    completed_recent: (a, b) => newest(a, b) || byId(a, b),
  }

const recheckAt = (wait: Wait): Timestamp => wait.recheck_at ?? ''
const timerAt = (wait: Wait): Timestamp => wait.wake_at ?? ''
const byRecheck = (a: Wait, b: Wait) => byText(recheckAt(a), recheckAt(b)) || byText(a.id, b.id)
const byTimer = (a: Wait, b: Wait) => byText(timerAt(a), timerAt(b)) || byText(a.id, b.id)
const deadlineAt = (item: WorkItem): Timestamp => item.budget?.deadline ?? ''
const byItemId = (a: WorkItem, b: WorkItem) => byText(a.id, b.id)
const byDeadline = (a: WorkItem, b: WorkItem) =>
  byText(deadlineAt(a), deadlineAt(b)) || byText(a.id, b.id)

/** What one look found. */
export type Ranked = {
  readonly now: Timestamp
  /** The item in focus. */
  readonly current: WorkItemId | null
  readonly candidates: Candidates
  /** Active waits of items whose recheck no turn has shown yet, the earliest recheck first. */
  readonly rechecks: readonly Wait[]
  /** Active timers of items, the earliest first. */
  readonly timers: readonly Wait[]
  /** Open items whose budget has a deadline, the earliest first. */
  readonly deadlines: readonly WorkItem[]
  /** Open items that need input and have no wait, so that nobody was asked. */
  readonly unasked: readonly WorkItem[]
}

const none = <T>(): { [C in CandidateClass]: T[] } => ({
  current_runnable: [],
  triggered_blocked: [],
  queued_runnable: [],
  waiting_for_operator: [],
  blocked: [],
  completed_recent: [],
})

export interface Ranking {
  /** The active wait of an item: there is one at most. */
  waitOf(item: WorkItemId): Wait | null
  /** Live waits of the agent itself, in the order of the rows. */
  agentWaits(): Iterable<Wait>
  /** Live waits that ended while they held a focus which has not come back yet. */
  releasedWaits(): Iterable<Wait>
  /** Live waits that this turn showed last. */
  waitsShownBy(turn: TurnId): Iterable<Wait>
  /** Active waits for the end of a task. */
  waitsForTask(task: TaskId): Iterable<Wait>
  /** Active external waits that name nothing else than the event does. */
  waitsForEvent(event: EventName): Iterable<Wait>
  /** As it is at `now`, which may also lie before the last look. */
  at(now: Timestamp): Ranked
}

/** Rows with the items in their order, where it is kept along; else the rows say: `rankingOf`. */
export interface RankedRows extends RowReader {
  readonly ranking?: Ranking
}

/** Facts that keep no ranking, a few rows beside the live ones, are looked at whole. */
export const rankingOf = (facts: RankedRows): Ranking => facts.ranking ?? new KeptRanking(facts)

/** An item, as far as its place goes. */
type Standing = {
  readonly item: WorkItem | undefined
  readonly wait: Wait | null
  readonly meter: Meter | null
}

/** Of facts whose rows change one by one, each announced before it does. */
export class KeptRanking implements Ranking {
  readonly #facts: RankedRows
  #waits: WaitIndex | null = null
  #kept: Ranked | null = null
  /** How the items stood at the last look whose rows have changed since. */
  #stood = new Map<WorkItemId, Standing>()

  constructor(facts: RankedRows) {
    this.#facts = facts
  }

  waitOf(item: WorkItemId): Wait | null {
    return this.#indexed().ofItem(item)
  }

  agentWaits(): Iterable<Wait> {
    return this.#indexed().ofAgent()
  }

  releasedWaits(): Iterable<Wait> {
    return this.#indexed().released()
  }

  waitsShownBy(turn: TurnId): Iterable<Wait> {
    return this.#indexed().shownBy(turn)
  }

  waitsForTask(task: TaskId): Iterable<Wait> {
    return this.#indexed().forTask(task)
  }

  waitsForEvent(event: EventName): Iterable<Wait> {
    return this.#indexed().forEvent(event)
  }

  /** A row is about to be put, or dropped when `row` is undefined. */
  changes(table: Table, id: string, row: Rows[Table] | undefined): void {
    if (table === 'work_items' || table === 'meters') this.#moves(id as WorkItemId)
    if (table !== 'waits' || this.#waits === null) return
    const [before, now] = [this.#facts.row('waits', id), row as Wait | undefined]
    const item = (now ?? before)?.work_item_id ?? null
    if (item !== null) this.#moves(item)
    this.#waits.changes(before, now)
  }

  at(now: Timestamp): Ranked {
    const stood = this.#stood
    if (this.#kept === null) this.#kept = whole(this.#facts, this, now)
    else this.#kept = moved(this.#kept, stood, this.#facts, this, now)
    if (stood.size > 0) this.#stood = new Map()
    return this.#kept
  }

  #moves(id: WorkItemId): void {
    if (this.#kept === null || this.#stood.has(id)) return
    this.#stood.set(id, standing(this.#facts, this, id))
  }

  #indexed(): WaitIndex {
    return (this.#waits ??= new WaitIndex(() => this.#facts.rows('waits')))
  }
}

/** The rows that a decision in the making changed, as they are now. */
type Changed = <T extends 'work_items' | 'waits' | 'meters'>(table: T) => Iterable<Rows[T]>

/** Laid over another one: a look takes as long as the decision is, whatever lies below. */
export class LaidRanking implements Ranking {
  readonly #facts: RankedRows
  readonly #base: RankedRows
  readonly #changed: Changed

  constructor(facts: RankedRows, base: RankedRows, changed: Changed) {
    this.#facts = facts
    this.#base = base
    this.#changed = changed
  }

  waitOf(item: WorkItemId): Wait | null {
    let found = rankingOf(this.#base).waitOf(item)
    for (const wait of this.#changed('waits')) {
      if (wait.work_item_id !== item) continue
      if (wait.status === 'active') found = wait
      else if (found?.id === wait.id) found = null
    }
    return found
  }

  agentWaits(): Iterable<Wait> {
    return this.#laid(
      (below) => below.agentWaits(),
      (wait) => wait.work_item_id === null,
    )
  }

  releasedWaits(): Iterable<Wait> {
    return this.#laid((below) => below.releasedWaits(), isReleased)
  }

  waitsShownBy(turn: TurnId): Iterable<Wait> {
    return this.#laid(
      (below) => below.waitsShownBy(turn),
      (wait) => wait.last_review?.turn_id === turn,
    )
  }

  waitsForTask(task: TaskId): Iterable<Wait> {
    return this.#laid(
      (below) => below.waitsForTask(task),
      (wait) => isActive(wait, 'task_result') && wait.resource === task,
    )
  }

  waitsForEvent(event: EventName): Iterable<Wait> {
    return this.#laid(
      (below) => below.waitsForEvent(event),
      (wait) => isActive(wait, 'external') && matches(wait, event),
    )
  }

  *#laid(of: (below: Ranking) => Iterable<Wait>, belongs: (wait: Wait) => boolean): Iterable<Wait> {
    const over = new Map<WaitId, Wait>()
    for (const wait of this.#changed('waits')) over.set(wait.id, wait)
    for (const wait of of(rankingOf(this.#base))) if (!over.has(wait.id)) yield wait
    for (const wait of over.values()) if (belongs(wait)) yield wait
  }

  at(now: Timestamp): Ranked {
    const below = rankingOf(this.#base)
    const stood = new Map<WorkItemId, Standing>()
    const add = (id: WorkItemId) => stood.set(id, standing(this.#base, below, id))
    for (const { id } of this.#changed('work_items')) add(id)
    for (const { id } of this.#changed('meters')) add(id as WorkItemId)
    for (const { work_item_id } of this.#changed('waits')) {
      if (work_item_id !== null) add(work_item_id)
    }
    return moved(below.at(now), stood, this.#facts, this, now)
  }
}

const standing = (facts: RankedRows, ranking: Ranking, id: WorkItemId): Standing => ({
  item: facts.row('work_items', id),
  wait: ranking.waitOf(id),
  meter: facts.row('meters', id) ?? null,
})

const currentOf = (facts: RankedRows): WorkItemId | null =>
  facts.row('agents', facts.agent_id)?.current_work_item_id ?? null

/** The first look: all rows, each list sorted once. */
function whole(facts: RankedRows, ranking: Ranking, now: Timestamp): Ranked {
  const current = currentOf(facts)
  const candidates = none<Projection>()
  const rechecks: Wait[] = []
  const timers: Wait[] = []
  const deadlines: WorkItem[] = []
  const unasked: WorkItem[] = []
  for (const item of facts.rows('work_items')) {
    const wait = ranking.waitOf(item.id)
    const meter = facts.row('meters', item.id) ?? null
    const projection = projected({ item, wait, meter }, current, now)
    if (projection !== null) candidates[projection.candidate_class].push(projection)
    if (wait !== null && awaitsRecheck(wait)) rechecks.push(wait)
    if (wait !== null && isTimer(wait)) timers.push(wait)
    if (hasDeadline(item)) deadlines.push(item)
    if (isUnasked(item, wait)) unasked.push(item)
  }
  for (const name of candidateClasses) candidates[name].sort(orders[name])
  rechecks.sort(byRecheck)
  timers.sort(byTimer)
  deadlines.sort(byDeadline)
  unasked.sort(byItemId)
  return { now, current, candidates, rechecks, timers, deadlines, unasked }
}

/** The next look after `before`: `stood` is how the items stood then whose rows have changed. */
function moved(
  before: Ranked,
  stood: ReadonlyMap<WorkItemId, Standing>,
  facts: RankedRows,
  ranking: Ranking,
  now: Timestamp,
): Ranked {
  const current = currentOf(facts)
  const gone = none<Projection>()
  const come = none<Projection>()
  const waits = { gone: [] as Wait[], come: [] as Wait[] }
  const items = { gone: [] as WorkItem[], come: [] as WorkItem[] }
  const asks = { gone: [] as WorkItem[], come: [] as WorkItem[] }
  const move = (was: Standing, is: Standing) => {
    const a = projected(was, before.current, before.now)
    const b = projected(is, current, now)
    if (a !== null) gone[a.candidate_class].push(a)
    if (b !== null) come[b.candidate_class].push(b)
    if (was.item !== is.item) {
      if (was.item && hasDeadline(was.item)) items.gone.push(was.item)
      if (is.item && hasDeadline(is.item)) items.come.push(is.item)
    }
    if (was.item && isUnasked(was.item, was.wait)) asks.gone.push(was.item)
    if (is.item && isUnasked(is.item, is.wait)) asks.come.push(is.item)
    if (was.wait === is.wait) return
    if (was.wait !== null) waits.gone.push(was.wait)
    if (is.wait !== null) waits.come.push(is.wait)
  }
  for (const [id, was] of stood) move(was, standing(facts, ranking, id))
  // Those whose rows are the same stand elsewhere by the focus alone, or by the time.
  for (const id of elsewhere(before, current, now)) {
    if (stood.has(id)) continue
    const same = standing(facts, ranking, id)
    move(same, same)
  }
  const candidates: { [C in CandidateClass]: readonly Projection[] } = { ...before.candidates }
  for (const name of candidateClasses) {
    candidates[name] = placed(candidates[name], gone[name], come[name], orders[name])
  }
  const timed = (list: readonly Wait[], of: (wait: Wait) => boolean, order: typeof byTimer) =>
    placed(list, waits.gone.filter(of), waits.come.filter(of), order)
  return {
    now,
    current,
    candidates,
    rechecks: timed(before.rechecks, awaitsRecheck, byRecheck),
    timers: timed(before.timers, isTimer, byTimer),
    deadlines: placed(before.deadlines, items.gone, items.come, byDeadline),
    unasked: placed(before.unasked, asks.gone, asks.come, byItemId),
  }
}

function projected(
  { item, wait, meter }: Standing,
  current: WorkItemId | null,
  now: Timestamp,
): Projection | null {
  if (item === undefined) return null
  return projectItem(item, item.state === 'open' ? wait : null, current, now, meter)
}

/** Items in and out of focus, and those whose recheck or deadline lies between the two looks. */
function elsewhere(before: Ranked, current: WorkItemId | null, now: Timestamp): Set<WorkItemId> {
  const found = new Set<WorkItemId>()
  if (before.current !== current) {
    for (const id of [before.current, current]) if (id !== null) found.add(id)
  }
  const [from, to] = before.now < now ? [before.now, now] : [now, before.now]
  const { rechecks } = before
  for (let i = since(rechecks, from, recheckAt); i < rechecks.length; i++) {
    const wait = rechecks[i]
    if (wait === undefined || recheckAt(wait) > to) break
    if (wait.work_item_id !== null) found.add(wait.work_item_id)
  }
  const { deadlines } = before
  for (let i = since(deadlines, from, deadlineAt); i < deadlines.length; i++) {
    const item = deadlines[i]
    if (item === undefined || deadlineAt(item) > to) break
    found.add(item.id)
  }
  return found
}

const hasDeadline = (item: WorkItem): boolean =>
  item.state === 'open' && item.budget !== null && item.budget.deadline !== null
const isUnasked = (item: WorkItem, wait: Wait | null): boolean =>
  item.state === 'open' && item.plan_status === 'needs_input' && wait === null && !isUnadopted(item)
const awaitsRecheck = (wait: Wait): boolean => wait.recheck_at !== null
const isTimer = (wait: Wait): boolean => wait.wake === 'timer' && wait.wake_at !== null

/** The first recheck of an item after `now`. */
export function nextRecheck({ rechecks }: Ranked, now: Timestamp): Timestamp | null {
  return rechecks[since(rechecks, now, recheckAt)]?.recheck_at ?? null
}

/** The first deadline of an open item after `now`. */
export const nextDeadline = ({ deadlines }: Ranked, now: Timestamp): Timestamp | null =>
  deadlines[since(deadlines, now, deadlineAt)]?.budget?.deadline ?? null

/** The first timer of an item, and the first after `now`: one that is due may still be there. */
export function nextTimers({ timers }: Ranked, now: Timestamp): Timestamp[] {
  const [first, ahead] = [timers[0], timers[since(timers, now, timerAt)]]
  return [first, ahead].flatMap((wait) => wait?.wake_at ?? [])
}
