/**
 * What one agent reads of another, or of itself (AgentGet, docs/spec/agent.md#reading-an-agent):
 * the owner of a context, with what the scheduler says of it now. An agent sees itself and the
 * agents it made.
 */
import { activeWaits, agentOf, type Facts } from '../../domain/facts/facts.ts'
import type { AgentId } from '../../domain/ids.ts'
import { seenByAgent } from '../../domain/facts/imported.ts'
import { allowanceNow } from '../../domain/facts/payer.ts'
import { candidates } from '../../domain/facts/candidates.ts'
import { waitRecord } from '../../domain/work/item-record.ts'
import { postureOf } from '../../domain/explain/state-name.ts'
import type { Next } from '../../domain/scheduler/next.ts'
import { isRejection, no, type Rejection } from '../../domain/rejection.ts'
import { isTerminal } from '../../domain/state/task.ts'
import type { AgentDescription } from '../../tools/tool/children-port.ts'
import type { Store } from '../store.ts'

/** Items and waits listed at most, the first by rank. */
const listed = 20

export async function seeAgent(
  store: Store,
  viewer: AgentId,
  agent_id: string | null,
  next: (agent: AgentId) => Next | null,
): Promise<{ ok: true; agent: AgentDescription } | Rejection> {
  const facts = await visible(store, viewer, agent_id ?? viewer)
  if (isRejection(facts)) return facts
  const agent = agentOf(facts)
  const now = store.now()
  const posture = agent.state === 'deleted' ? null : next(agent.id)
  const made = (await store.ledger.agents()).filter(
    (other) => other.lineage_parent_agent_id === agent.id && other.state !== 'deleted',
  )
  return {
    ok: true,
    agent: {
      agent_id: agent.id,
      preset: agent.preset,
      visibility: agent.visibility,
      ownership: agent.ownership,
      lineage_parent_agent_id: agent.lineage_parent_agent_id,
      supervisor_agent_id: agent.supervisor_agent_id,
      supervising_task_id: agent.supervising_task_id,
      state: agent.state,
      posture: posture === null ? 'deleted' : postureOf(posture),
      because: posture?.because ?? 'it was deleted',
      model: agent.model,
      workspace: agent.workspace,
      current_work_item_id: agent.current_work_item_id,
      open_work_items: openOnes(facts, now),
      waits: [...activeWaits(facts)].slice(0, listed).map(waitRecord),
      running_tasks: [...facts.rows('tasks')].filter((task) => !isTerminal(task)).length,
      agents: made.map(({ id, visibility, state }) => ({ agent_id: id, visibility, state })),
      allowance: allowanceNow(facts, now),
      created_at: agent.created_at,
    },
  }
}

async function visible(store: Store, viewer: AgentId, id: string): Promise<Facts | Rejection> {
  const facts = await store.loaded(id)
  if (facts === null) return no('agent_not_visible', `There is no agent "${id}" that you made.`)
  const agent = agentOf(facts)
  if (id === viewer || agent.lineage_parent_agent_id === viewer) return facts
  return no('agent_not_visible', `There is no agent "${id}" that you made.`)
}

function openOnes(facts: Facts, now: string): readonly Record<string, unknown>[] {
  const { completed_recent: _, ...open } = seenByAgent(candidates(facts, now))
  return Object.values(open)
    .flatMap((items) => items.slice(0, listed))
    .slice(0, listed)
    .map(({ item, scheduling_state }) => ({
      work_item_id: item.id,
      objective: item.objective,
      scheduling_state,
    }))
}
