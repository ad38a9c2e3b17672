/**
 * The invariants of tasks and children (docs/spec/invariants.md: 30 to 34, and of 6 and 41 what is
 * theirs). What one agent shows is found in its rows and its history; what takes a parent and its
 * child together, `familyViolations` finds in the rows of all agents of a home.
 */
import type { Event, EventType, StoredEvent } from '../state/event.ts'
import { agentOf, openTurn, type Facts } from '../facts/facts.ts'
import { taskResultId, type AgentId, type WorkItemId } from '../ids.ts'
import { limits } from '../limits.ts'
import type { Provenance } from '../state/provenance.ts'
import { isTerminal, type Task, type TaskEnd } from '../state/task.ts'

/** What the rows of one agent alone show. */
export const familyRows: { readonly [number: string]: (facts: Facts) => Iterable<string> } = {
  /** Nothing runs in the name of an agent that is deleted. */
  *6(facts) {
    if (agentOf(facts).state !== 'deleted') return
    const turn = openTurn(facts)
    if (turn !== null) yield `${turn.id} is open and its agent is deleted`
    for (const task of facts.rows('tasks')) {
      if (!isTerminal(task)) yield `${task.id} is ${task.status} and its agent is deleted`
    }
  },

  /** An active delegation has a task that is not over, of the same child and the same item. */
  *33(facts) {
    for (const { id, state, task_id, child_agent_id, work_item_id } of facts.rows('delegations')) {
      const task = facts.row('tasks', task_id)
      if (task && (state === 'active') === isTerminal(task)) {
        yield `${id} is ${state} and ${task_id} is ${task.status}`
      }
      if (state === 'active' && !task) yield `${id} is active and ${task_id} is not there`
      if (task && task.child_agent_id !== child_agent_id) {
        yield `${id} is of ${child_agent_id}, ${task_id} of ${task.child_agent_id}`
      }
      if (task && task.work_item_id !== work_item_id) {
        yield `${id} is for ${work_item_id}, ${task_id} for ${task.work_item_id}`
      }
    }
  },

  /** Nothing leads into a private child but its parent and the runtime. */
  *34(facts) {
    const agent = agentOf(facts)
    if (agent.visibility === 'public') return
    for (const message of facts.rows('messages')) {
      if (!comesFromWithin(message)) yield `${message.id} is of ${message.origin}`
    }
    for (const { id, wake, status } of facts.rows('waits')) {
      if (wake === 'external' && status === 'active') yield `${id} waits for an event from outside`
    }
    for (const { id, status } of [...facts.rows('triggers'), ...facts.rows('schedules')]) {
      if (status === 'active') yield `${id} leads into a private child`
    }
  },
}

function comesFromWithin({ origin }: Pick<Provenance, 'origin'>): boolean {
  switch (origin) {
    case 'agent':
    case 'system':
    case 'task':
    case 'timer':
      return true
    case 'operator':
    case 'callback':
    case 'webhook':
      return false
  }
}

type Of<T extends EventType> = Extract<Event, { type: T }>

type Past = {
  found: string[]
  isPrivate: boolean
  tasks: Map<
    string,
    Of<'task_queued'> & { status: Task['status']; promoted: boolean; end: TaskEnd | null }
  >
  /** Commands of checks, whose end is the check's to tell. */
  checks: Set<string>
  delegations: Map<string, Of<'delegation_made'> & { end: TaskEnd | null }>
  /** Result messages by id. */
  results: Map<string, number>
  items: Map<WorkItemId, 'open' | 'completed'>
  /** Active waits for the end of a task, by id. */
  waits: Map<string, Pick<Of<'wait_registered'>, 'work_item_id' | 'resource'>>
}

/** What only the history shows: 30, 31, 33 and 34 over every event of an agent, in order. */
export function familyHistory(events: readonly StoredEvent[]): string[] {
  const past: Past = {
    found: [],
    isPrivate: false,
    tasks: new Map(),
    checks: new Set(),
    delegations: new Map(),
    results: new Map(),
    items: new Map(),
    waits: new Map(),
  }
  for (const { event } of events) {
    const on = walk[event.type] as ((past: Past, event: Event) => void) | undefined
    on?.(past, event)
  }
  routed(past)
  return past.found
}

type Walk = { readonly [T in EventType]?: (past: Past, event: Of<T>) => void }

const walk: Walk = {
  agent_created(past, event) {
    past.isPrivate = event.preset === 'private_child'
  },
  work_item_created: (past, event) => void past.items.set(event.id, 'open'),
  work_item_completed: (past, event) => void past.items.set(event.id, 'completed'),
  wait_registered(past, event) {
    if (past.isPrivate && event.wake === 'external') {
      past.found.push(`34: ${event.id} waits for an event from outside`)
    }
    if (event.wake === 'task_result') past.waits.set(event.id, event)
  },
  wait_resolved: (past, event) => void past.waits.delete(event.id),
  wait_cancelled: (past, event) => void past.waits.delete(event.id),
  trigger_created: (past, event) => leadsIn(past, event.id),
  schedule_created: (past, event) => leadsIn(past, event.id),
  task_queued: (past, event) =>
    void past.tasks.set(event.id, { ...event, status: 'queued', promoted: false, end: null }),
  task_started(past, event) {
    const status = past.tasks.get(event.id)?.status ?? 'queued'
    if (status !== 'queued') past.found.push(`30: ${event.id} started after it was ${status}`)
    moveTask(past, event.id, 'running')
  },
  check_started: (past, event) => void past.checks.add(event.task_id),
  task_cancelling: (past, event) => moveTask(past, event.id, 'cancelling'),
  task_promoted(past, event) {
    const task = past.tasks.get(event.id)
    if (task) task.promoted = true
  },
  task_decided(past, event) {
    const task = past.tasks.get(event.id)
    if (task?.end) past.found.push(`30: ${event.id} was decided after its end`)
    if (task) task.promoted = event.answer.allowed
  },
  task_held_again(past, event) {
    const task = past.tasks.get(event.id)
    if (task?.status === 'running') past.found.push(`30: ${event.id} was held while it ran`)
    if (task) task.promoted = false
  },
  task_ended(past, event) {
    const task = past.tasks.get(event.id)
    if (task) task.end = event.status
    moveTask(past, event.id, event.status)
  },
  delegation_made: (past, event) => void past.delegations.set(event.id, { ...event, end: null }),
  delegation_ended(past, event) {
    const delegation = past.delegations.get(event.id)
    if (delegation) delegation.end = event.state
  },
  message_admitted: (past, event) => admitted(past, event),
}

function leadsIn(past: Past, id: string): void {
  if (past.isPrivate) past.found.push(`34: ${id} leads into a private child`)
}

function moveTask(past: Past, id: string, status: Task['status']): void {
  const task = past.tasks.get(id)
  if (task) task.status = status
}

function admitted(past: Past, event: Of<'message_admitted'>): void {
  if (past.isPrivate && !comesFromWithin(event.provenance)) {
    past.found.push(`34: ${event.id} is of ${event.provenance.origin}`)
  }
  const task = past.tasks.get(event.task_id ?? '')
  if (!task || event.id !== taskResultId(task.id)) return
  past.results.set(event.id, (past.results.get(event.id) ?? 0) + 1)
  const item = event.work_item_id
  if (!readersOf(past, task).includes(item)) {
    past.found.push(`33: ${event.id} goes to ${item}, ${task.id} is of ${task.work_item_id}`)
  }
  // As programs of before had it: nobody read what came for a completed item.
  const isOver = item !== null && past.items.get(item) === 'completed'
  if (event.consumed_because !== null && !isOver) {
    past.found.push(`33: ${event.id} is unread and ${item ?? 'nothing'} is open`)
  }
}

/** Whose turn may read the result: that of the task's item, and of whatever waits for it. */
function readersOf(past: Past, { id, work_item_id }: Of<'task_queued'>): (WorkItemId | null)[] {
  const waits = [...past.waits.values()].filter(({ resource }) => resource === id)
  return [work_item_id, ...waits.map((wait) => wait.work_item_id)]
}

/** 31: a terminal task and its one result go together; 33: so do its end and its delegation's. */
function routed(past: Past): void {
  for (const { id, kind, promoted, end } of past.tasks.values()) {
    const results = past.results.get(taskResultId(id)) ?? 0
    const tells = (promoted || kind === 'child_agent') && !past.checks.has(id)
    const owed = tells && end !== null ? 1 : 0
    if (results !== owed) past.found.push(`31: ${id} sent ${results} results and owes ${owed}`)
  }
  for (const { id, task_id, end } of past.delegations.values()) {
    const task = past.tasks.get(task_id)
    if (task && task.end !== end) {
      past.found.push(`33: ${id} ended ${end ?? 'never'} and ${task_id} ${task.end ?? 'never'}`)
    }
  }
}

/**
 * What takes several agents: the live rows of every agent of a home, deleted ones included, all
 * read at one moment. One sentence for each violation, opening with its number.
 */
export function familyViolations(all: readonly Facts[]): string[] {
  const home = new Map(all.map((facts) => [facts.agent_id, facts]))
  return all.flatMap((facts) => [
    ...supervised(home, facts),
    ...supervises(home, facts),
    ...lineage(home, facts),
  ])
}

type Home = ReadonlyMap<AgentId, Facts>

/** 32: who lives as a private child has a parent that lives, and a task there that is not over. */
function* supervised(home: Home, facts: Facts): Iterable<string> {
  const child = agentOf(facts)
  if (child.visibility === 'public' || child.state === 'deleted') return
  const { id, supervisor_agent_id, supervising_task_id } = child
  const above = home.get(supervisor_agent_id ?? '')
  if (!above || agentOf(above).state === 'deleted') {
    yield `32: ${id} lives and its parent ${supervisor_agent_id} does not`
  }
  const task = above?.row('tasks', supervising_task_id ?? '')
  if (!task || isTerminal(task)) {
    yield `32: ${id} lives and ${supervising_task_id}, which supervises it, is over`
  } else if (task.child_agent_id !== id) {
    yield `32: ${id} lives under ${task.id}, which supervises ${task.child_agent_id}`
  }
}

/** 32, from above: a task that is not over has its child. 33: whose item is the child's own. */
function* supervises(home: Home, facts: Facts): Iterable<string> {
  for (const { id, kind, child_agent_id, status } of facts.rows('tasks')) {
    if (kind !== 'child_agent' || isTerminal({ status })) continue
    const child = home.get(child_agent_id ?? '')
    if (!child || agentOf(child).state === 'deleted') {
      yield `32: ${id} is ${status} and ${child_agent_id}, which it supervises, does not live`
    }
  }
  for (const { id, child_agent_id, child_work_item_id } of facts.rows('delegations')) {
    if (child_work_item_id === null) continue
    for (const [agent, other] of home) {
      if (agent === child_agent_id || !other.row('work_items', child_work_item_id)) continue
      yield `33: ${id} is bound to ${child_work_item_id}, an item of ${agent}`
    }
  }
}

/** 41: how many agents one has, how deep they are; a private child has none. */
function* lineage(home: Home, facts: Facts): Iterable<string> {
  const agent = agentOf(facts)
  const made = [...home.values()]
    .map(agentOf)
    .filter((one) => one.lineage_parent_agent_id === agent.id)
  if (agent.visibility === 'private' && made.length > 0) {
    yield `41: ${agent.id} is a private child and made ${made.map(({ id }) => id).join(', ')}`
  }
  const living = made.filter(({ state }) => state !== 'deleted').length
  if (living > limits.live_children.value) yield `41: ${agent.id} has ${living} live agents`
  let depth = 0
  let above = agent.lineage_parent_agent_id
  while (above !== null) {
    depth += 1
    const next = home.get(above)
    above = next === undefined ? null : agentOf(next).lineage_parent_agent_id
  }
  if (depth > limits.depth.value) yield `41: ${agent.id} is ${depth} deep`
}
