/**
 * Rules of an agent's life by the operator's word: made, configured, started, stopped, deleted
 * (docs/spec/agent.md#lifecycle). A deleted agent keeps all its rows, and its name is never used
 * again.
 */
import type { Agent, Workspace } from '../state/agent.ts'
import { changedSpending, type SpendChange } from '../budgets/change.ts'
import { giveUpChecks } from '../checks/checks.ts'
import { drawsOn, endDrawing } from '../budgets/drawers.ts'
import { activeWaits, agentOf, openTurn, type Draft } from '../facts/facts.ts'
import { isAgentId, type AgentId } from '../ids.ts'
import { limits } from '../limits.ts'
import { outsideInput } from '../waits/pacing.ts'
import { activeHold } from '../waits/hold.ts'
import { releaseHolds } from '../scheduler/park.ts'
import type { PresetName } from '../policy/rule.ts'
import type { SpendBudget } from '../state/spend-budget.ts'
import { endGrants } from '../approvals/grants.ts'
import { cancelHeld } from '../approvals/held-command.ts'
import { isTerminal } from '../state/task.ts'
import { isLiveSchedule } from '../state/schedule.ts'
import { checkLength, ensureDefaultTrigger, type TokenHash } from '../inbox/triggers.ts'
import { no, type Rejection } from '../rejection.ts'
import type { By } from '../state/work-item.ts'

export type AgentChange = {
  model?: string | undefined
  fallback_model?: string | null | undefined
  workspace?: Workspace | undefined
  budget?: SpendChange | undefined
  policy_preset?: PresetName | null | undefined
}

export type Lived = { ok: true; agent: Agent; changed: boolean }

/** The agent that is always there; it can be stopped, not deleted. */
const mainAgent = 'main'

/** Makes a public agent with its own trigger. `home` is its working folder when none is given. */
export function createAgent(
  d: Draft,
  settings: AgentChange & { template?: string | undefined },
  home: string,
  tokenHash: TokenHash,
): Lived | Rejection {
  const id = d.agent_id
  if (!isAgentId(id)) return no('agent_id_invalid', `"${id}" cannot name an agent.`)
  const before = d.row('agents', id)
  if (before?.state === 'deleted') {
    return no('agent_exists', `${id} was deleted, and its name is never used again.`)
  }
  if (before) return no('agent_exists', `There is an agent ${id} already.`)
  const wrong = checkSettings(settings)
  if (wrong) return wrong
  const workspace = settings.workspace ?? { mode: 'inherit', root: home }
  const model = settings.model ?? null
  const { fallback_model, template, policy_preset } = settings
  const shaped = template === undefined ? {} : { template }
  d.emit({ type: 'agent_created', id, model, workspace, preset: 'public_named', ...shaped })
  if (typeof fallback_model === 'string') d.emit({ type: 'agent_configured', id, fallback_model })
  if (policy_preset) d.emit({ type: 'agent_configured', id, policy_preset })
  ensureDefaultTrigger(d, tokenHash)
  return { ok: true, agent: agentOf(d), changed: true }
}

/** Stores the settings given. They hold from the next turn, and end a hold that they caused. */
export function configureAgent(d: Draft, settings: AgentChange): Lived | Rejection {
  const agent = livingAgent(d)
  if ('ok' in agent) return agent
  const wrong = closedToOperator(agent) ?? checkSettings(settings)
  if (wrong) return wrong
  if (Object.values(settings).every((value) => value === undefined)) {
    return no('nothing_to_update', `No setting of ${agent.id} is given.`)
  }
  const { budget: asked } = settings
  const set = asked === undefined ? null : changedSpending(agent.budget, asked, d.now)
  if (set !== null && !set.ok) return set
  const changed = differing(agent, settings, set === null ? agent.budget : set.budget)
  const draws = asked !== undefined && drawsOn(d) !== null
  if (Object.keys(changed).length === 0 && !draws) return { ok: true, agent, changed: false }
  if (Object.keys(changed).length > 0)
    d.emit({ type: 'agent_configured', id: agent.id, ...changed })
  // The operator's word on what it may spend: it draws on no item any more.
  if (draws) endDrawing(d)
  if ('model' in changed || 'fallback_model' in changed) releaseHeld(d, changed.model)
  return { ok: true, agent: agentOf(d), changed: true }
}

/** Ends the holds that the setting caused; a held turn goes on with the model set now. */
function releaseHeld(d: Draft, model: string | undefined): void {
  const held = activeHold(d) !== null
  const turn = openTurn(d)
  releaseHolds(d)
  if (!held || turn === null || model === undefined || model === turn.model) return
  d.emit({ type: 'model_fell_back', id: turn.id, model, cause: 'the operator set another model' })
}

/** Starts a stopped agent and ends its holds: the operator says to try again. */
export function startAgent(d: Draft): Lived | Rejection {
  const agent = livingAgent(d)
  if ('ok' in agent) return agent
  const held = activeHold(d) !== null
  const changed = held || agent.state === 'stopped'
  releaseHolds(d)
  if (agent.state === 'stopped') {
    d.emit({ type: 'agent_started', id: agent.id, by: 'operator' })
  }
  outsideInput(d, null, 'operator')
  return { ok: true, agent: agentOf(d), changed }
}

/** Nothing is lost: what comes in waits until it is started again. */
export function stopAgent(d: Draft): Lived | Rejection {
  const agent = livingAgent(d)
  if ('ok' in agent) return agent
  if (agent.state === 'stopped') return { ok: true, agent, changed: false }
  cancelHeld(d, null, 'its agent is stopped')
  endGrants(d, null, 'its agent is stopped')
  d.emit({ type: 'agent_stopped', id: agent.id, by: 'operator' })
  return { ok: true, agent: agentOf(d), changed: true }
}

/** It is never deleted by an operator: the first one, and a child, which ends with its work. */
export const isKept = ({ id, visibility }: Pick<Agent, 'id' | 'visibility'>): boolean =>
  id === mainAgent || visibility === 'private'

/**
 * Final. Asked of an agent whose run and commands have ended: what still carried something (waits,
 * triggers, schedules, queued messages) ends with it; items stay as they are, to be read.
 */
export function deleteAgent(d: Draft): Lived | Rejection {
  const agent = livingAgent(d)
  if ('ok' in agent) return agent
  if (isKept(agent)) {
    return no('agent_kept', `${agent.id} cannot be deleted.`)
  }
  const turn = openTurn(d)
  if (turn !== null) return no('turn_running', `${turn.id} is running.`)
  const running = [...d.rows('tasks')].filter((task) => !isTerminal(task))
  if (running.length > 0) {
    return no('tasks_running', `${running.map(({ id }) => id).join(', ')} still run.`)
  }
  giveUpChecks(d, 'its agent was deleted')
  endWhatWaits(d, 'operator', 'the agent was deleted')
  d.emit({ type: 'agent_deleted', id: agent.id, by: 'operator' })
  return { ok: true, agent: agentOf(d), changed: true }
}

/** What still carried something ends with its agent. */
export function endWhatWaits(d: Draft, by: By, because: string): void {
  endGrants(d, null, because)
  for (const wait of [...activeWaits(d)]) {
    d.emit({ type: 'wait_cancelled', id: wait.id, by, because })
  }
  for (const wait of [...d.rows('waits')]) {
    if (wait.status === 'resolved' && wait.released_focus && !wait.focus_settled) {
      d.emit({ type: 'wait_focus_settled', id: wait.id })
    }
  }
  for (const trigger of [...d.rows('triggers')]) {
    if (trigger.status === 'active') {
      d.emit({ type: 'trigger_revoked', id: trigger.id, by })
    }
  }
  for (const schedule of [...d.rows('schedules')]) {
    if (isLiveSchedule(schedule)) {
      d.emit({ type: 'schedule_removed', id: schedule.id, by })
    }
  }
  for (const message of [...d.rows('messages')]) {
    if (message.status === 'queued') {
      d.emit({ type: 'message_dropped', id: message.id, reason: because })
    }
  }
}

/** The agent of the draft while it is not deleted, or the refusal. */
export const livingAgent = (d: Draft): Agent | Rejection =>
  ifLiving(d.agent_id, d.row('agents', d.agent_id))

/** The same of a row, wherever it was read. */
export function ifLiving(id: AgentId, agent: Agent | null | undefined): Agent | Rejection {
  if (!agent) return no('agent_not_found', `There is no agent "${id}".`)
  return agent.state === 'deleted' ? no('agent_deleted', `${agent.id} was deleted.`) : agent
}

/**
 * The refusal of an operator's act on a private child: its parent and the runtime alone reach it
 * (docs/spec/agent.md#lifecycle).
 */
export function closedToOperator(agent: Agent): Rejection | null {
  if (agent.visibility === 'public') return null
  const { id, supervisor_agent_id, supervising_task_id } = agent
  const of = `${supervisor_agent_id}, under ${supervising_task_id}`
  return no('agent_private', `${id} is a private child of ${of}.`)
}

function checkSettings({ model, fallback_model, workspace }: AgentChange): Rejection | null {
  for (const given of [model, fallback_model]) {
    if (given === undefined || given === null) continue
    if (given.trim() === '') return no('model_unknown', 'The name of the model is empty.')
    const wrong = checkLength(limits.setting, given)
    if (wrong) return wrong
  }
  return workspace === undefined ? null : checkLength(limits.path, workspace.root)
}

type Changed = {
  model?: string
  fallback_model?: string | null
  workspace?: Workspace
  budget?: SpendBudget | null
  policy_preset?: PresetName | null
}

function differing(agent: Agent, settings: AgentChange, budget: SpendBudget | null): Changed {
  const { model, fallback_model, workspace, policy_preset } = settings
  return {
    ...(JSON.stringify(budget) === JSON.stringify(agent.budget) ? {} : { budget }),
    ...(model !== undefined && model !== agent.model ? { model } : {}),
    ...(fallback_model !== undefined && fallback_model !== agent.fallback_model
      ? { fallback_model }
      : {}),
    ...(workspace !== undefined && JSON.stringify(workspace) !== JSON.stringify(agent.workspace)
      ? { workspace }
      : {}),
    ...(policy_preset !== undefined && policy_preset !== (agent.policy_preset ?? null)
      ? { policy_preset }
      : {}),
  }
}
