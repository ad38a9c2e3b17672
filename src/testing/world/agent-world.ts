/**
 * An agent with its facts in memory, for tests of the rules: `World` keeps the whole ledger of one
 * agent, applies what a Draft decided exactly as a commit would, and checks that rows are the fold
 * of their events. Time passes only when a test says so; ids count up, so they can be written down.
 */
import assert from 'node:assert/strict'
import { AgentFacts } from '../../domain/facts/agent-facts.ts'
import { evolve, tableOf, tables, type Event, type Rows } from '../../domain/state/event.ts'
import type { StoredEvent, Table } from '../../domain/state/event.ts'
import { Draft, type Facts } from '../../domain/facts/facts.ts'
import { isLiveRow } from '../../domain/facts/live-rows.ts'
import { pickItem } from '../../domain/waits/focus.ts'
import type { Mint, WorkItemId } from '../../domain/ids.ts'
import {
  admitEvent,
  admitPrompt,
  type OutsideEvent,
  type OperatorPrompt,
} from '../../domain/inbox/admit.ts'
import { createItem, type CreateItem } from '../../domain/work/create-and-update.ts'
import { callbackEvent, localPrompt } from '../../domain/state/provenance.ts'
import { plainQuestion, type Question } from '../../domain/state/question.ts'
import { next, type Next } from '../../domain/scheduler/next.ts'
import type { Task } from '../../domain/state/task.ts'
import { plus, type Timestamp } from '../../domain/time.ts'
import { isRejection, type Rejection } from '../../domain/rejection.ts'
import type { Wait } from '../../domain/state/wait.ts'
import { waitFor, type WaitCommand, type WaitResult } from '../../domain/waits/wait-for.ts'
import type { PlanStored, WorkItem } from '../../domain/state/work-item.ts'
import { agentCreated, taskQueued } from '../events.ts'

export const T0: Timestamp = '2026-03-02T09:00:00.000Z'

type AnyRow = Rows[Table]
/** What a decision returns when it is not refused. */
type Accepted<T> = Exclude<T, Rejection>

export class World {
  facts: AgentFacts
  now: Timestamp = T0
  /** Every event ever committed, in order. */
  readonly events: StoredEvent[] = []
  /** The events of the last commit. */
  last: readonly Event[] = []
  readonly #rows = new Map<Table, Map<string, AnyRow>>(tables.map((t) => [t, new Map()]))
  readonly #counts = new Map<string, number>()

  /** Unborn: the first commit makes the agent. */
  constructor(agent_id = 'main', born = true, model: string | null = 'scripted/model') {
    this.facts = new AgentFacts(agent_id)
    if (!born) return
    this.do((d) =>
      d.emit(agentCreated(agent_id, { model, workspace: { mode: 'inherit', root: '/w' } })),
    )
  }

  /** `work_0001`, `work_0002` …, in order of making; `task_t001`, whose result is `msg_t001`. */
  readonly mint: Mint = (prefix) => {
    const n = (this.#counts.get(prefix) ?? 0) + 1
    this.#counts.set(prefix, n)
    const name = prefix === 'task' ? `t${String(n).padStart(3, '0')}` : String(n).padStart(4, '0')
    return `${prefix}_${name}` as never
  }

  pass(ms: number): this {
    this.now = plus(this.now, ms)
    return this
  }

  /** Commits what `decide` emits; a refused decision commits nothing. */
  try<T>(decide: (d: Draft) => T): T {
    const d = new Draft(this.facts, { now: this.now, mint: this.mint })
    const result = decide(d)
    this.last = isRejection(result) ? [] : d.emitted.map(({ event }) => event)
    if (!isRejection(result)) this.#commit(d)
    return result
  }

  /** The same for a decision that is not refused. */
  do<T>(decide: (d: Draft) => T): Accepted<T> {
    const result = this.try(decide)
    if (isRejection(result)) assert.fail(`refused: ${result.code}: ${result.message}`)
    return result as Accepted<T>
  }

  /** The code of a decision that must be refused, and must leave no event. */
  refused(decide: (d: Draft) => unknown): string {
    const result = this.try(decide)
    assert.ok(isRejection(result), 'was not refused')
    return result.code
  }

  /** The row as the ledger has it, live or not. */
  row<T extends Table>(table: T, id: string): Rows[T] {
    return this.find(table, id) ?? assert.fail(`no row ${id} in ${table}`)
  }

  find<T extends Table>(table: T, id: string): Rows[T] | null {
    return (this.#rows.get(table)?.get(id) as Rows[T] | undefined) ?? null
  }

  /** Every row of a table the ledger has. */
  all<T extends Table>(table: T): Rows[T][] {
    return [...(this.#rows.get(table)?.values() ?? [])] as Rows[T][]
  }

  /** The last committed events of these types. */
  lastOf<T extends Event['type']>(...types: T[]): Extract<Event, { type: T }>[] {
    const wanted = new Set<string>(types)
    return this.last.filter((e): e is Extract<Event, { type: T }> => wanted.has(e.type))
  }

  next(running = false): Next {
    return next(this.facts, this.now, running)
  }

  /** Throws the facts away and reads the live rows again, as a new process would. */
  reload(): this {
    const before = this.facts
    const whole = this.whole()
    this.facts = new AgentFacts(before.agent_id)
    for (const table of tables) {
      for (const row of this.all(table)) {
        if (isLiveRow(whole, table, row)) this.facts.include(table, row)
      }
    }
    this.facts.apply([], before.seq, before.last_at)
    return this
  }

  /** Every row of the ledger as facts, for what looks at history. */
  whole(): Facts {
    const facts = new AgentFacts(this.facts.agent_id)
    for (const table of tables) for (const row of this.all(table)) facts.include(table, row)
    facts.apply([], this.facts.seq, this.facts.last_at)
    return facts
  }

  #commit(d: Draft): void {
    for (const { event, meta } of d.emitted) {
      const table = tableOf[event.type]
      const before = this.#rows.get(table)?.get(event.id) ?? null
      const row = evolve(before, event, { at: d.now, seq: meta.seq, agent_id: d.agent_id })
      this.#rows.get(table)?.set(event.id, row)
      const global_seq = this.events.length + 1
      this.events.push({
        id: `evt_${global_seq}`,
        global_seq,
        v: 1,
        agent_id: d.agent_id,
        ...meta,
        event,
      })
    }
    const changed = [...d.changed()]
    for (const [table, row] of changed) assert.deepEqual(row, this.row(table, row.id))
    this.facts.apply(changed, d.seq, d.last_at)
  }
}

// What happens to an agent, each one commit.

export const somePlan = (id: WorkItemId): PlanStored => ({
  path: `/holon/agents/main/work-items/${id}/plan.md`,
  sha256: null,
  bytes: 0,
  good_sha256: null,
})

type NewItem = Partial<Omit<CreateItem, 'id'>> & { focus?: boolean }

/** An open item; in focus when asked. */
export function item(w: World, given: NewItem = {}): WorkItemId {
  const { focus = false, ...fields } = given
  const id = w.mint('work')
  w.do((d) =>
    createItem(d, {
      id,
      by: 'agent',
      objective: `Objective of ${id}`,
      plan_status: 'draft',
      todo_list: [],
      plan: somePlan(id),
      budget: null,
      ...fields,
    }),
  )
  if (focus) pick(w, id)
  return id
}

export const pick = (w: World, id: WorkItemId, reason: string | null = 'it is its turn') =>
  w.do((d) => pickItem(d, { work_item_id: id, by: 'agent', reason }))

export type NewWait = Partial<Omit<WaitCommand, 'question'>> & {
  question?: Question | string | null
}

export const waitCommand = ({ question = null, ...given }: NewWait = {}): WaitCommand => ({
  by: 'agent',
  runtime_cause: null,
  wake: 'external',
  reason: 'the build is not there yet',
  work_item_id: null,
  resource: null,
  source: null,
  condition: null,
  wake_at: null,
  recheck_at: null,
  delivery_mode: 'enqueue_message',
  task: null,
  has_listener: true,
  question: typeof question === 'string' ? plainQuestion(question) : question,
  ...given,
})

export const wait = (w: World, given: NewWait = {}): Accepted<WaitResult> =>
  w.do((d) => waitFor(d, waitCommand(given)))

/** The active wait of an item. */
export function waitOf(w: World, id: WorkItemId): Wait {
  const found = w.all('waits').find((x) => x.work_item_id === id && x.status === 'active')
  assert.ok(found, `${id} has no active wait`)
  return found
}

export const prompt = (given: Partial<OperatorPrompt> = {}): OperatorPrompt => ({
  provenance: localPrompt('cli_prompt'),
  text: 'Go on.',
  images: [],
  work_item_id: null,
  wait_id: null,
  priority: 'next',
  start: false,
  ...given,
})

export const say = (w: World, given: Partial<OperatorPrompt> = {}) =>
  w.do((d) => admitPrompt(d, prompt(given)))

export const delivery = (given: Partial<OutsideEvent> = {}): OutsideEvent => ({
  provenance: callbackEvent,
  source: null,
  resource: null,
  body: 'It happened.',
  dedupe_key: null,
  wait_id: null,
  ...given,
})

export const deliver = (w: World, given: Partial<OutsideEvent> = {}) =>
  w.do((d) => admitEvent(d, delivery(given)))

/** A command that runs since now; promoted: its end will be a message. */
export function task(
  w: World,
  given: { work_item_id?: WorkItemId | null; promoted?: boolean; child?: boolean } = {},
): Task {
  const id = w.mint('task')
  w.do((d) => {
    const what = given.child
      ? ({ kind: 'child_agent', cmd: null, child_agent_id: 'child' } as const)
      : { cmd: 'make' }
    const where = { workdir: '/w', output_path: `/holon/tasks/${id}`, start_place: null }
    const { work_item_id = null } = given
    d.emit(taskQueued({ id, work_item_id, label: `make ${id}`, ...what, ...where }))
    d.emit({ type: 'task_started', id, pid: 1, started_at: d.now })
    if (given.child || (given.promoted ?? true)) d.emit({ type: 'task_promoted', id })
  })
  return w.row('tasks', id)
}

/** The item's row as the ledger has it. */
export const itemRow = (w: World, id: WorkItemId): WorkItem => w.row('work_items', id)
export const focusOf = (w: World): WorkItemId | null =>
  w.row('agents', w.facts.agent_id).current_work_item_id
