/**
 * Making another agent (docs/spec/agent.md#delegation). What may be made is decided on the parent;
 * what then happens is one commit of both: the child with its first message, and on the parent's
 * side the task that supervises it and the delegation. All or nothing, and at most once for one
 * call.
 */
import { livingAgent } from './lifecycle.ts'
import type { Workspace } from '../state/agent.ts'
import { drawsOn, startDrawing } from '../budgets/drawers.ts'
import { openTurn, type Draft, type Facts } from '../facts/facts.ts'
import type { AgentId, DelegationId, MessageId, TaskId, WorkItemId } from '../ids.ts'
import { isAgentId } from '../ids.ts'
import { admit, utf8Length } from '../inbox/admit.ts'
import { limits } from '../limits.ts'
import { noUse } from '../state/meter.ts'
import { alignBudgets } from '../budgets/settle.ts'
import { chargedItem, payerOf } from '../facts/payer.ts'
import { delegated, type Provenance } from '../state/provenance.ts'
import { messagesOf } from '../turns/shown.ts'
import type { StartPlace } from '../start-place.ts'
import { isGoingOn } from '../state/task.ts'
import { labelOf } from './tasks.ts'
import { ensureDefaultTrigger, type TokenHash } from '../inbox/triggers.ts'
import { no, overLimit, type Rejection } from '../rejection.ts'
import type { Unfiltered } from '../state/worktree.ts'

export type SpawnWish = {
  preset: 'private_child' | 'public_named'
  agent_id: string | null
  initial_message: string | null
  context: 'fresh' | 'fork'
  workspace_mode: Workspace['mode']
  root: string | null
}

/** What the parent's own facts do not say. */
export type Lineage = {
  /** Agents between the parent and the one that has no parent, that one not counted. */
  depth: number
  /** Agents the parent made that are not deleted. */
  living: number
}

/** Whether such an agent may be made at all, told in this order. */
export function checkSpawn(facts: Facts, wish: SpawnWish, lineage: Lineage): Rejection | null {
  const parent = facts.row('agents', facts.agent_id)
  if (parent?.visibility !== 'public') {
    return no('spawn_private', `${facts.agent_id} is a private child; it makes no agents.`)
  }
  return (
    checkName(wish) ??
    checkHandoff(wish) ??
    checkWorkspace(wish) ??
    checkCounts(facts, wish, lineage)
  )
}

function checkName({ preset, agent_id, context }: SpawnWish): Rejection | null {
  if (preset === 'private_child') {
    if (agent_id === null) return null
    return no('agent_id_not_wanted', `A private child is not named by agent_id ("${agent_id}").`)
  }
  if (agent_id === null) return no('agent_id_wanted', 'A public agent needs a name.')
  if (!isAgentId(agent_id)) return no('agent_id_invalid', `"${agent_id}" cannot name an agent.`)
  return context === 'fork' ? no('fork_wants_child', 'Only a private child can be a fork.') : null
}

function checkHandoff({ preset, initial_message }: SpawnWish): Rejection | null {
  if (initial_message === null && preset === 'public_named') return null
  if (initial_message === null || initial_message.trim() === '') {
    return no('handoff_empty', 'initial_message is empty: the child would have nothing to do.')
  }
  const bytes = utf8Length(initial_message)
  return bytes > limits.operator_text.value ? overLimit(limits.operator_text, bytes) : null
}

function checkWorkspace({ workspace_mode, root }: SpawnWish): Rejection | null {
  if (workspace_mode === 'explicit_root') {
    return root === null ? no('root_wanted', 'explicit_root needs a root.') : null
  }
  return root === null ? null : no('root_not_wanted', `${workspace_mode} takes no root.`)
}

function checkCounts(facts: Facts, { preset }: SpawnWish, lineage: Lineage): Rejection | null {
  const { depth, live_children, running_tasks } = limits
  if (lineage.depth + 1 > depth.value) {
    return no(
      'spawn_too_deep',
      `${facts.agent_id} is ${lineage.depth} deep already; the limit is ${depth.value}.`,
    )
  }
  const running = [...facts.rows('tasks')].filter(isGoingOn)
  const children = running.filter((task) => task.kind === 'child_agent').length
  const living = Math.max(lineage.living, children)
  if (living >= live_children.value) {
    const limit = live_children.value
    return no('children_limit', `${living} agents of it are alive; the limit is ${limit}.`)
  }
  if (preset === 'private_child' && running.length >= running_tasks.value) {
    return overLimit(running_tasks, running.length + 1)
  }
  return null
}

/** Everything that is fixed before the spawn is carried out, ids included. */
export type Spawn = {
  agent_id: AgentId
  message_id: MessageId
  initial_message: string | null
  provenance: Provenance
  model: string | null
  workspace: Workspace
  template: string | null
  inherited_sha256: string | null
  /** Of a private child: its supervision. Null: a public agent. */
  supervision: {
    task_id: TaskId
    delegation_id: DelegationId
    work_item_id: WorkItemId | null
    /** Known when it is carried out. */
    start_place: StartPlace | null
    /** The commit its worktree begins at; null: it has none. */
    base_commit: string | null
    unfiltered: Unfiltered | null
  } | null
}

/** What the messages of the spawning turn allow a child to be told with. */
export function handoffProvenance(facts: Facts): Provenance {
  const turn = openTurn(facts)
  return delegated(turn === null ? [] : messagesOf(facts, turn))
}

export type Spawned = { ok: true; agent_id: AgentId; task_id: TaskId | null; made: boolean }

/**
 * Makes the child. `c` has the facts of an agent that is not there yet; where it is, and is this
 * very child, it was made before and nothing is done.
 */
export function spawnAgent(
  p: Draft,
  c: Draft,
  spawn: Spawn,
  tokenHash: TokenHash,
): Spawned | Rejection {
  const task_id = spawn.supervision?.task_id ?? null
  const known = c.row('agents', spawn.agent_id)
  if (known) {
    const same =
      known.lineage_parent_agent_id === p.agent_id && known.supervising_task_id === task_id
    if (same) return { ok: true, agent_id: known.id, task_id, made: false }
    return no('agent_exists', `There is, or was, an agent ${known.id} already.`)
  }
  const parent = livingAgent(p)
  if ('ok' in parent) return parent
  const turn = openTurn(p)
  const own = turn === null ? null : payerOf(p, chargedItem(p, turn))
  const payer = own ?? drawsOn(p)
  c.emit({
    type: 'agent_created',
    id: spawn.agent_id,
    model: spawn.model ?? parent.model,
    workspace: spawn.workspace,
    preset: spawn.supervision === null ? 'public_named' : 'private_child',
    lineage_parent_agent_id: parent.id,
    ...(spawn.supervision === null
      ? {}
      : { supervisor_agent_id: parent.id, supervising_task_id: spawn.supervision.task_id }),
    ...(spawn.template === null ? {} : { template: spawn.template }),
    ...(payer === null ? {} : { draws_on: payer }),
    ...(spawn.inherited_sha256 === null ? {} : { inherited_sha256: spawn.inherited_sha256 }),
  })
  if (parent.fallback_model !== null && spawn.model === null) {
    const { fallback_model } = parent
    c.emit({ type: 'agent_configured', id: spawn.agent_id, fallback_model })
  }
  if (payer !== null && (own === null || spawn.supervision === null)) startDrawing(p, c, payer)
  if (spawn.supervision === null) ensureDefaultTrigger(c, tokenHash)
  else {
    supervise(p, spawn, spawn.supervision)
    // From its first request on it draws on the item, and knows what it may use.
    const { delegation_id: id, work_item_id } = spawn.supervision
    alignBudgets(p, c, { id, work_item_id }, noUse)
  }
  if (spawn.initial_message !== null) {
    admit(c, {
      id: spawn.message_id,
      provenance: spawn.provenance,
      priority: 'next',
      body: spawn.initial_message,
      correlation_id: spawn.supervision?.delegation_id ?? null,
    })
  }
  return { ok: true, agent_id: spawn.agent_id, task_id, made: true }
}

/** The parent's side: the task, which runs from now on, and the delegation. */
function supervise(p: Draft, spawn: Spawn, by: NonNullable<Spawn['supervision']>): void {
  const { task_id: id, work_item_id } = by
  p.emit({
    type: 'task_queued',
    id,
    work_item_id,
    kind: 'child_agent',
    label: labelOf(spawn.initial_message ?? spawn.agent_id),
    cmd: null,
    child_agent_id: spawn.agent_id,
    workdir: spawn.workspace.root,
    timeout_ms: null,
    start_place: by.start_place,
    output_path: null,
  })
  p.emit({ type: 'task_started', id, pid: null, started_at: p.now })
  p.emit({ type: 'task_promoted', id })
  p.emit({
    type: 'delegation_made',
    id: by.delegation_id,
    work_item_id,
    child_agent_id: spawn.agent_id,
    task_id: id,
  })
  if (by.base_commit !== null && p.row('worktrees', id)?.state === 'planned') {
    p.emit({ type: 'worktree_made', id, base_commit: by.base_commit, unfiltered: by.unfiltered })
  }
}
