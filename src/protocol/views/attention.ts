/**
 * What needs a person: opened and closed by facts, the same list on every client
 * (docs/spec/http.md#attention). An entry stands here only while there is something a person can do
 * about it now, and not while a person has put it away. Pure.
 */
import { z } from 'zod'
import { boundHash } from '../../domain/work/answer-question.ts'
import { overWords } from '../../domain/facts/budget.ts'
import type { Delivery } from '../../domain/state/delivery.ts'
import { lateResults, wantsLook } from '../../domain/inbox/late-results.ts'
import { wantedWords } from '../../domain/waits/plan-question.ts'
import type { Choice } from '../../domain/state/question.ts'
import type { Message } from '../../domain/state/message.ts'
import type { Hold, Projection } from '../../domain/facts/readiness.ts'
import { fingerprint, isSnoozed } from '../../domain/state/snooze.ts'
import type { Task } from '../../domain/state/task.ts'
import { standing as howEnded } from '../../domain/agents/task-end.ts'
import type { Turn } from '../../domain/state/turn.ts'
import { waitWords, askedOf, type Wait } from '../../domain/state/wait.ts'
import {
  actOn,
  agentAs,
  endsHold,
  raiseBudget,
  resumeRun,
  canList,
  offered,
  type Action,
} from '../actions/action.ts'
import { activeWaitsOf, projections, queuedEvents, type AgentView } from '../agent-view.ts'
import { approvals } from './approval-attention.ts'
import { checkEntries } from './check-attention.ts'
import { agentId, count, listOf, timestamp, workItemId } from '../scalar.ts'
import { choice } from '../records/wait-record.ts'

/** Most urgent first: the order of the list. */
export const attentionKinds = [
  'approval',
  'question',
  'held',
  'failed_turn',
  'budget',
  'needs_input',
  'imported',
  'blocked',
  'check_failed',
  'check_asked',
  'dead_message',
  'dead_delivery',
  'late_result',
  'arrived',
  'cancelling',
  'worktree_kept',
] as const
export type AttentionKind = (typeof attentionKinds)[number]

export const attentionRecord = z
  .strictObject({
    id: z.string().describe('The id of the noun it is about: closing that closes the entry.'),
    kind: z.enum(attentionKinds),
    agent_id: agentId,
    work_item_id: workItemId.nullable(),
    text: z.string().describe('One sentence; of a question all that is asked.'),
    choices: listOf(choice).describe('Of a question: the answers that are offered.'),
    since: timestamp,
    bound_hash: z.string().nullable().describe('Of a question: send it back with the answer.'),
    snoozed: z
      .strictObject({ until: timestamp.nullable() })
      .nullable()
      .describe('Put away, until a time or (null) for good; only with include_snoozed.'),
    can: canList,
  })
  .meta({ id: 'Attention' })
export type Attention = z.infer<typeof attentionRecord>

export const attentionList = z
  .strictObject({
    attention: z.array(attentionRecord),
    total: count.describe('Entries in all, of which the page is a part.'),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'AttentionList' })

/** Rows that are in the ledger only: newest turns, dead messages and deliveries of the agents. */
export type Past = {
  turns: readonly Turn[]
  messages?: readonly Message[]
  deliveries?: readonly Delivery[]
  /** Of whose end a late result tells. */
  tasks?: readonly Task[]
}

type Entry = Omit<Attention, 'can' | 'snoozed' | 'bound_hash' | 'choices'> & {
  bound_hash?: string
  choices?: readonly Choice[]
  /** Worked out for the entries that are shown. */
  acts: () => readonly Action[]
}

/** An entry in its place in the list, and whether it is put away. */
export type AttentionPlacement = { entry: Entry; snoozed: Attention['snoozed'] }

/** Questions first, then what stands still, oldest first inside each kind. */
export const attentionOf = (
  views: readonly AgentView[],
  lastTurns: readonly Turn[],
): readonly Attention[] =>
  everyEntry(views, { turns: lastTurns }).filter(({ snoozed }) => snoozed === null)

/** The same with what a person has put away, marked as such. */
export const everyEntry = (views: readonly AgentView[], past: Past): Attention[] =>
  standingEntries(views, past).map(attentionRecordOf)

/** Every entry in order: of a long list only what is shown is made into records. */
export function standingEntries(views: readonly AgentView[], past: Past): AttentionPlacement[] {
  const byAgent = pastByAgent(past)
  const all = views.flatMap((view) =>
    entriesOf(view, byAgent.get(view.agent.id) ?? nothing()).map((entry) => standing(view, entry)),
  )
  return all.sort(
    (a, b) => place[a.entry.kind] - place[b.entry.kind] || byText(a.entry.since, b.entry.since),
  )
}

const place = Object.fromEntries(attentionKinds.map((kind, n) => [kind, n])) as {
  readonly [K in AttentionKind]: number
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

type PastOfAgent = {
  turn: Turn | null
  messages: Message[]
  deliveries: Delivery[]
  tasks: Task[]
}
const nothing = (): PastOfAgent => ({ turn: null, messages: [], deliveries: [], tasks: [] })

function pastByAgent(past: Past): Map<string, PastOfAgent> {
  const { turns, messages = [], deliveries = [], tasks = [] } = past
  const found = new Map<string, PastOfAgent>()
  const of = (agent_id: string): PastOfAgent => {
    const known = found.get(agent_id) ?? nothing()
    found.set(agent_id, known)
    return known
  }
  for (const turn of turns) of(turn.agent_id).turn ??= turn
  for (const message of messages) of(message.agent_id).messages.push(message)
  for (const delivery of deliveries) of(delivery.agent_id).deliveries.push(delivery)
  for (const task of tasks) of(task.agent_id).tasks.push(task)
  return found
}

const entriesOf = (view: AgentView, past: PastOfAgent): Entry[] => [
  ...approvals(view),
  ...questions(view),
  ...holds(view),
  ...cancelling(view),
  ...keptWorktrees(view),
  ...(view.agent.visibility === 'private' ? [] : ofPublic(view, past)),
]

/** What stands still in a private child, and what failed there, its supervisor is told of. */
const ofPublic = (view: AgentView, past: PastOfAgent): Entry[] => [
  ...stuckItems(view),
  ...checkEntries(view),
  ...failedTurns(view, past.turn),
  ...arrivals(view),
  ...past.messages.map(deadMessage),
  ...past.deliveries.map(deadDelivery),
  ...lateEntries(view, past.tasks),
]

function standing({ facts, now }: AgentView, entry: Entry): AttentionPlacement {
  const kept = facts.row('snoozes', entry.id)
  return { entry, snoozed: kept && isSnoozed(kept, entry, now) ? { until: kept.until } : null }
}

export function attentionRecordOf({ entry, snoozed }: AttentionPlacement): Attention {
  const { acts, bound_hash = null, choices = [], ...fields } = entry
  const away = [actOn('snooze', 'put it away', entry), actOn('dismiss', 'dismiss it', entry)]
  const can = [...acts(), ...away].map((one) => offered(one))
  return { ...fields, choices, bound_hash, snoozed, can }
}

/** What must stay as it is for the entry to stay put away. */
export const fingerprintOf = (entry: Pick<Attention, 'kind' | 'text' | 'since'>): string =>
  fingerprint(entry)

/**
 * A private child asks its supervisor, but for a permission
 * (docs/spec/agent.md#questions-of-a-child).
 */
function questions({ facts, agent }: AgentView): Entry[] {
  return activeWaitsOf(facts)
    .filter((wait) => wait.wake === 'operator_input' && askedOf(agent, wait) === null)
    .map((wait) => ({
      id: wait.id,
      kind: 'question',
      agent_id: agent.id,
      work_item_id: wait.work_item_id,
      text: waitWords(wait),
      choices: wait.question?.choices ?? [],
      since: wait.created_at,
      bound_hash: boundHash(wait),
      acts: () => [actOn('answer', 'answer', wait)],
    }))
}

/**
 * Open items that nothing but a person can move, and that asked no question. One entry an item: its
 * kind is what has to go first, its text and what may be done are of all that holds it.
 */
const stuckItems = (view: AgentView): Entry[] =>
  projections(view).flatMap((p): Entry[] => {
    const { item, reason, holds } = p
    // What waits, and is over its budget too, goes on by no end of the wait.
    const isStuck = reason.code !== 'wait' || holds.some(({ code }) => code === 'budget')
    const stuck = isStuck ? holds.flatMap((hold) => stuckBy(view, p, hold)) : []
    const [first] = stuck
    if (first === undefined) return []
    const { kind, since } = first
    const text = stuck
      .map((one) => one.text)
      .join('; ')
      .replaceAll('.; ', '; ')
    // Before its pick nothing else can be done about it.
    const acts = () => (kind === 'imported' ? first.acts() : stuck.flatMap((one) => one.acts()))
    const base = { id: item.id, agent_id: item.agent_id, work_item_id: item.id }
    return [{ ...base, kind, text, since, acts }]
  })

function stuckBy(
  view: AgentView,
  { item, wait, budget }: Projection,
  hold: Hold,
): Pick<Entry, 'kind' | 'text' | 'since' | 'acts'>[] {
  switch (hold.code) {
    case 'wait':
      return []
    case 'blocked_by': {
      const label = 'let it go on'
      const alone = view.agent.model === 'runbook' && !view.has_owner
      const acts = () => [alone ? resumeRun(label) : actOn('unblock', label, item)]
      return [{ kind: 'blocked', text: hold.text, since: item.updated_at, acts }]
    }
    case 'budget': {
      const acts = () => [raiseBudget(item, hold.over)]
      const text = overWords(hold.over, budget?.draws_on)
      return [{ kind: 'budget', text, since: item.updated_at, acts }]
    }
    case 'imported': {
      const text = 'it was imported: look at it, then pick it'
      const acts = () => [actOn('pick', 'pick it', item)]
      return [{ kind: 'imported', text, since: item.created_at, acts }]
    }
    case 'needs_input': {
      // At the end of the turn, or of a wait, it becomes a question, if it still stands.
      if (view.turn !== null || wait !== null) return []
      const acts = () => [actOn('send', 'answer', item)]
      return [{ kind: 'needs_input', text: wantedWords(item), since: item.updated_at, acts }]
    }
  }
}

/** Holds that a person can end. Those of a provider with a time end by themselves. */
const holds = ({ facts, agent, has_owner }: AgentView): Entry[] =>
  activeWaitsOf(facts)
    .filter((wait) => wait.wake === 'system' && isForPerson(agent, wait))
    .map((wait) => ({
      id: wait.id,
      kind: 'held',
      agent_id: agent.id,
      work_item_id: null,
      text: wait.reason,
      since: wait.created_at,
      acts: () => endsHold(agent, wait, has_owner),
    }))

function isForPerson({ visibility }: AgentView['agent'], wait: Wait): boolean {
  // Of a child: the item of its parent that is used up asks for it.
  if (wait.runtime_cause === 'budget') return visibility === 'public'
  // What asks the operator is a question of its own.
  if (wait.runtime_cause === 'spending') return wait.source === 'budget'
  return wait.wake_at === null
}

/** The agent's last turn failed; the next turn closes the entry. */
function failedTurns({ agent, turn }: AgentView, last: Turn | null): Entry[] {
  if (turn !== null || last?.outcome !== 'failed') return []
  return [
    {
      id: last.id,
      kind: 'failed_turn',
      agent_id: agent.id,
      work_item_id: last.work_item_id,
      text: `the last turn failed: ${last.reason ?? 'no reason is recorded'}`,
      since: last.ended_at ?? last.started_at,
      acts: () => [actOn('send', 'say it again, or differently', agentAs(agent.id))],
    },
  ]
}

/** Events that came for an agent that cannot take them. */
function arrivals({ facts, agent, survey }: AgentView): Entry[] {
  const first = queuedEvents(facts)[0]
  if (!survey.stopped || first === undefined) return []
  const from = first.source ?? 'an outside source'
  return [
    {
      id: first.id,
      kind: 'arrived',
      agent_id: agent.id,
      work_item_id: first.work_item_id,
      text: `${from} sent an event, but ${agent.id} is ${agent.state}`,
      since: first.created_at,
      acts: () => [actOn('start_agent', 'start the agent', agentAs(agent.id))],
    },
  ]
}

const cancelling = ({ facts, agent }: AgentView): Entry[] =>
  [...facts.rows('tasks')]
    .filter((task) => task.status === 'cancelling' && task.survivors.length > 0)
    .map((task) => ({
      id: task.id,
      kind: 'cancelling',
      agent_id: agent.id,
      work_item_id: task.work_item_id,
      text: `${task.label} does not end: ${task.survivors.join(', ')} still run`,
      since: task.started_at ?? task.created_at,
      acts: () => [actOn('stop_task', 'stop it again', task)],
    }))

/**
 * Worktrees whose child is over and that hold what would be lost. While the parent has something to
 * do it may be about to merge them: it is looked at again when its turn ends.
 */
function keptWorktrees(view: AgentView): Entry[] {
  const { facts, agent, has_owner } = view
  const kept = [...facts.rows('worktrees')].filter(({ state }) => state === 'kept')
  if (kept.length === 0) return []
  // The scheduler is asked only where it matters.
  const { do: does } = view.next
  if (has_owner && (does === 'start_turn' || does === 'noop')) return []
  return kept.map((worktree) => ({
    id: worktree.id,
    kind: 'worktree_kept',
    agent_id: agent.id,
    work_item_id: null,
    text: `${worktree.branch} of ${worktree.child_agent_id} is kept: ${worktree.reason}`,
    since: worktree.created_at,
    acts: () => [
      actOn('remove_worktree', 'remove it, once merged', worktree),
      actOn('discard_worktree', 'discard it; a snapshot keeps it', worktree),
    ],
  }))
}

/** A message that no turn could take. Only a person's dismissal closes it. */
const deadMessage = (message: Message): Entry => ({
  id: message.id,
  kind: 'dead_message',
  agent_id: message.agent_id,
  work_item_id: message.work_item_id,
  text: `a message was given up: ${message.status_reason ?? 'no reason is recorded'}`,
  since: message.created_at,
  acts: () => [actOn('send', 'say it again, or differently', agentAs(message.agent_id))],
})

/** An outside event that was let in and could not be delivered; a redelivery closes it. */
const deadDelivery = (delivery: Delivery): Entry => ({
  id: delivery.id,
  kind: 'dead_delivery',
  agent_id: delivery.agent_id,
  work_item_id: null,
  text: `an event was not delivered: ${delivery.reason ?? 'no reason is recorded'}`,
  since: delivery.received_at,
  acts: () => [actOn('redeliver', 'deliver it again', delivery)],
})

/** What came of a task whose item is completed, until the agent's next turn shows it. */
const lateEntries = ({ facts }: AgentView, tasks: readonly Task[]): Entry[] =>
  lateResults(facts).flatMap((message): Entry[] => {
    const task = tasks.find(({ id }) => id === message.task_id)
    if (task === undefined || !wantsLook(task)) return []
    return [
      {
        id: message.id,
        kind: 'late_result',
        agent_id: message.agent_id,
        work_item_id: message.work_item_id,
        text: `${task.label} ended after its item was done: ${howEnded(task)}`,
        since: message.created_at,
        acts: () => [actOn('send', 'have the agent look at it', agentAs(message.agent_id))],
      },
    ]
  })
