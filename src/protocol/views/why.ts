/**
 * `why` as readers get it: the record of the rules, with what a person may do about it now, as
 * shell lines, and the last decision that was stored (docs/spec/http.md#why,
 * docs/spec/http.md#why). Pure.
 */
import { z } from 'zod'
import { candidateClasses, type Decision } from '../../domain/state/decision.ts'
import type { Hold, Projection } from '../../domain/facts/readiness.ts'
import { heldTasks } from '../../domain/approvals/held-command.ts'
import { haltOf } from '../../domain/explain/told.ts'
import { unreviewed, type Wait } from '../../domain/state/wait.ts'
import { why, type Why as Told } from '../../domain/explain/why.ts'
import type { WorkItem } from '../../domain/state/work-item.ts'
import {
  actOn,
  agentAs,
  raiseBudget,
  endsHold,
  lookAt,
  resumeRun,
  seeOutput,
  canList,
  offered,
  type Action,
  type Can,
} from '../actions/action.ts'
import { activeWaitsOf, type AgentView } from '../agent-view.ts'
import { considered, decisionRecord } from '../records/history-record.ts'
import { decisionRun } from './why-history.ts'
import { question } from '../records/wait-record.ts'
import { agentId, listOf, orNull, timestamp, workItemId } from '../scalar.ts'

export type { Decision } from '../../domain/state/decision.ts'

export const whyRecord = z
  .strictObject({
    work_item_id: workItemId,
    agent_id: agentId,
    objective: z.string(),
    state: z.enum([
      'completed',
      'waiting_task',
      'waiting_operator',
      'waiting_timer',
      'waiting_external',
      'blocked',
      'runnable',
    ]),
    candidate_class: z.enum(candidateClasses),
    question: orNull(question).describe('What it asks now; null: nothing.'),
    sentence: z.string(),
    why: z.string(),
    detail: z.string().nullable(),
    also: listOf(
      z.strictObject({
        code: z.enum(['imported', 'wait', 'blocked_by', 'needs_input', 'budget']),
        why: z.string(),
        detail: z.string().nullable(),
      }),
    ).describe('What else holds it, in the order in which it has to go.'),
    since: timestamp.nullable(),
    next: z.string(),
    when: timestamp.nullable(),
    cost_since: timestamp.nullable(),
    verdict: z.string(),
    decision: z.strictObject({ do: z.string(), because: z.string() }),
    considered: listOf(considered),
    can: canList,
    last_decision: orNull(decisionRecord),
    history: z
      .array(decisionRun)
      .optional()
      .describe('With history=true: what chose it or passed it over, newest first.'),
    history_complete: z
      .boolean()
      .optional()
      .describe('False: there are older decisions that were not looked at.'),
  })
  .meta({ id: 'Why' })

export type WhyView = Told & {
  can: readonly Can[]
  /** The last stored decision of the agent. */
  last_decision: Decision | null
}

export function whyOf(view: AgentView, p: Projection, last_decision: Decision | null): WhyView {
  return { ...why(view, p), can: doings(view, p), last_decision }
}

/** What moves the item first (a stopped agent takes no message); looking is always possible. */
function doings(view: AgentView, p: Projection): Can[] {
  const [acts, starts] = [actsOn(view, p), goesOn(view, p)]
  const all = [
    ...(view.survey.stopped ? [...starts, ...acts] : [...acts, ...starts]),
    lookAt(p.item),
  ]
  return all
    .filter((one, n) => all.findIndex(({ cli }) => cli === one.cli) === n)
    .map((one) => offered(one))
}

/** On all that holds it, in the order in which it has to go. Before its pick nothing else can. */
function actsOn(view: AgentView, p: Projection): Action[] {
  const { code } = p.reason
  const first = code === 'imported' ? p.holds.slice(0, 1) : p.holds
  if (code !== 'nothing_holds_it') return first.flatMap((hold) => ends(view, p, hold))
  return activeWaitsOf(view.facts)
    .filter((wait) => wait.by === 'runtime' && wait.work_item_id === null)
    .filter((wait) => wait.wake === 'operator_input')
    .map((wait) => actOn('answer', 'answer', wait))
}

function ends(view: AgentView, { item, wait, holds }: Projection, hold: Hold): Action[] {
  switch (hold.code) {
    case 'wait':
      return actsOnWait(view, hold.wait, item, holds)
    case 'blocked_by':
      return unblocks(view, item)
    case 'needs_input':
      // Beside another wait it is asked when that has ended.
      return wait === null ? [actOn('send', 'answer', item)] : []
    case 'imported':
      return [actOn('pick', 'pick it', item)]
    case 'budget':
      return [raiseBudget(item, hold.over)]
  }
}

function actsOnWait(
  { facts }: AgentView,
  wait: Wait,
  item: WorkItem,
  holds: readonly Hold[],
): Action[] {
  switch (wait.wake) {
    case 'operator_input':
      return [actOn('answer', 'answer', wait)]
    case 'task_result': {
      const task = { agent_id: wait.agent_id, id: wait.resource ?? '' }
      const asks = heldTasks(facts).some(({ id }) => id === task.id)
      return [asks ? actOn('answer_held', 'answer', task) : seeOutput(task)]
    }
    case 'timer':
      return [actOn('unblock', 'let it go on now', item)]
    case 'external':
      // Over its budget nobody would look.
      return unreviewed(wait) || holds.some(({ code }) => code === 'budget')
        ? []
        : [actOn('trigger', 'fire it by hand', wait)]
    case 'system':
      throw new Error(`a system wait ${wait.id} on an item`)
  }
}

/** A runbook has nobody to tell; a run of its own clears the blocker and tries the step again. */
function unblocks({ agent, has_owner }: AgentView, item: WorkItem): Action[] {
  const unblock = (label: string) => actOn('unblock', label, item)
  if (agent.model !== 'runbook') {
    return [unblock('let it go on'), actOn('send', 'tell the agent', item)]
  }
  const again = 'run the step again'
  return has_owner ? [unblock(again)] : [resumeRun(again), unblock('let it go on')]
}

/** What lets its agent start turns again. With an owner it is started there, else by a run. */
function goesOn(view: AgentView, p: Projection): Action[] {
  if (p.reason.code === 'completed') return []
  const started = (label: string): Action =>
    view.has_owner ? actOn('start_agent', label, agentAs(view.agent.id)) : resumeRun(label)
  const halt = haltOf(view)
  switch (halt?.by) {
    case undefined:
      return []
    case 'stopped':
      return [started('start the agent')]
    case 'hold':
    case 'budget':
      return endsHold(view.agent, halt.wait, view.has_owner)
    case 'nobody':
      return wantsRun(view, p) ? [resumeRun('go on')] : []
  }
}

/** Whether a run has something to do, or to wait for, on this item. */
const wantsRun = ({ turn }: AgentView, p: Projection): boolean =>
  turn?.work_item_id === p.item.id ||
  p.candidate_class === 'triggered_blocked' ||
  ['runnable', 'waiting_task', 'waiting_timer'].includes(p.scheduling_state)
