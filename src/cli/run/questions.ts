/**
 * The questions a run puts to its person: those of its agents, and those that a child asks the
 * operator past its parent (a permission that a foreign agent wants).
 */
import type { OperatorCommand } from '../../protocol/acts/operator.ts'
import { boundHash, type Agent, type Facts, type Wait } from '../../protocol/records/records.ts'
import type { RunHost } from '../command/run-ports.ts'

/** Open questions, the agent's own before its children's. */
export function questionsOf(host: RunHost, facts: Facts | null): Wait[] {
  if (facts === null) return []
  const own = [...facts.rows('waits')].filter(
    (wait) => wait.status === 'active' && wait.wake === 'operator_input',
  )
  return [...own, ...questionsOfChildren(host, facts)]
}

/** Of its children, the questions for the operator that are open now. */
export function questionsOfChildren(host: RunHost, facts: Facts): Wait[] {
  return [...facts.rows('tasks')].flatMap(({ asking, child_agent_id }) => {
    if (asking?.of !== 'operator' || asking.wait_id === null || child_agent_id === null) return []
    const wait = host.facts(child_agent_id)?.row('waits', asking.wait_id)
    return wait?.status === 'active' ? [wait] : []
  })
}

/** A child takes an answer to the very question that was shown, and nothing else. */
export function answerTo(wait: Wait, text: string, agents: readonly Agent[]): OperatorCommand {
  const { agent_id, id: wait_id } = wait
  if (agents.some(({ id }) => id === agent_id)) {
    return { do: 'send', agent_id, wait_id, text, surface: 'run_once' }
  }
  return { do: 'answer', agent_id, wait_id, text, bound_hash: boundHash(wait), surface: 'run_once' }
}
