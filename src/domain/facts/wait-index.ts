/**
 * The live waits of one agent by what is asked of them: whose they are, what would end them, which
 * turn showed them last. An agent may have thousands, and every delivery, start and end of a turn
 * asks for a few. Kept as the rows change; what nobody has asked for yet is not kept.
 */
import type { TaskId, TurnId, WaitId, WorkItemId } from '../ids.ts'
import type { matches, Wait } from '../state/wait.ts'

/** What an outside event names, as far as it does. */
export type EventName = Parameters<typeof matches>[1]

/** Waits by a key; null: the wait does not belong here. In each group in the order they came. */
class Groups {
  readonly #keyOf: (wait: Wait) => string | null
  readonly #groups = new Map<string, Map<WaitId, Wait>>()

  constructor(keyOf: (wait: Wait) => string | null, waits: Iterable<Wait>) {
    this.#keyOf = keyOf
    for (const wait of waits) this.#add(keyOf(wait), wait)
  }

  get(key: string): Iterable<Wait> {
    return this.#groups.get(key)?.values() ?? []
  }

  /** One that stays in its group keeps its place there. */
  changes(before: Wait | undefined, now: Wait | undefined): void {
    const from = before === undefined ? null : this.#keyOf(before)
    const to = now === undefined ? null : this.#keyOf(now)
    if (before !== undefined && from !== null && from !== to) {
      const group = this.#groups.get(from)
      group?.delete(before.id)
      if (group?.size === 0) this.#groups.delete(from)
    }
    if (now !== undefined) this.#add(to, now)
  }

  #add(key: string | null, wait: Wait): void {
    if (key === null) return
    const group = this.#groups.get(key)
    if (group === undefined) this.#groups.set(key, new Map([[wait.id, wait]]))
    else group.set(wait.id, wait)
  }
}

const one = ''
const kinds = {
  /** Of the agent itself, whatever their status. */
  agent: (wait: Wait) => (wait.work_item_id === null ? one : null),
  /** Ended while they held a focus that has not come back yet. */
  released: (wait: Wait) => (isReleased(wait) ? one : null),
  shown: (wait: Wait) => wait.last_review?.turn_id ?? null,
  external: (wait: Wait) => (isActive(wait, 'external') ? nameOf(wait) : null),
  task: (wait: Wait) => (isActive(wait, 'task_result') ? wait.resource : null),
}
type Kind = keyof typeof kinds

export const isActive = (wait: Wait, wake: Wait['wake']): boolean =>
  wait.status === 'active' && wait.wake === wake

export const isReleased = (wait: Wait): boolean =>
  wait.status === 'resolved' && wait.released_focus && !wait.focus_settled

const nameOf = ({ source, resource }: EventName): string => JSON.stringify([source, resource])

export class WaitIndex {
  readonly #rows: () => Iterable<Wait>
  readonly #ofItems = new Map<WorkItemId, Wait>()
  readonly #kept = new Map<Kind, Groups>()

  /** `rows` are all live waits, as they are when it is called. */
  constructor(rows: () => Iterable<Wait>) {
    this.#rows = rows
    const ofAgent: Wait[] = []
    for (const wait of rows()) {
      if (wait.work_item_id === null) ofAgent.push(wait)
      else if (wait.status === 'active') this.#ofItems.set(wait.work_item_id, wait)
    }
    this.#kept.set('agent', new Groups(kinds.agent, ofAgent))
  }

  /** A row is about to be put, or dropped when `now` is undefined. */
  changes(before: Wait | undefined, now: Wait | undefined): void {
    for (const groups of this.#kept.values()) groups.changes(before, now)
    const item = (now ?? before)?.work_item_id ?? null
    if (item === null) return
    if (now?.status === 'active') this.#ofItems.set(item, now)
    else if (this.#ofItems.get(item)?.id === (now ?? before)?.id) this.#ofItems.delete(item)
  }

  /** The active one of an item. */
  ofItem(item: WorkItemId): Wait | null {
    return this.#ofItems.get(item) ?? null
  }

  ofAgent(): Iterable<Wait> {
    return this.#of('agent').get(one)
  }

  released(): Iterable<Wait> {
    return this.#of('released').get(one)
  }

  shownBy(turn: TurnId): Iterable<Wait> {
    return this.#of('shown').get(turn)
  }

  /** Active ones for the end of a task. */
  forTask(task: TaskId): Iterable<Wait> {
    return this.#of('task').get(task)
  }

  /** Active external ones that name nothing else than the event does. */
  *forEvent({ source, resource }: EventName): Iterable<Wait> {
    const waits = this.#of('external')
    const names = new Set<string>()
    for (const a of [source, null]) {
      for (const b of [resource, null]) names.add(nameOf({ source: a, resource: b }))
    }
    for (const name of names) yield* waits.get(name)
  }

  #of(kind: Kind): Groups {
    let groups = this.#kept.get(kind)
    if (groups === undefined) {
      groups = new Groups(kinds[kind], this.#rows())
      this.#kept.set(kind, groups)
    }
    return groups
  }
}
