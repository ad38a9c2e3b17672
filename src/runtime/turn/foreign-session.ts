/**
 * What an agent of another maker is told in one request: it has its own instructions and remembers
 * its session, so only this turn's words are new, and, where the turn began with the answer to a
 * permission it asked for, that answer (models/acp/acp.ts).
 */
import { isForeignModel } from '../../domain/state/agent.ts'
import { agentOf } from '../../domain/facts/facts.ts'
import { messagesOf } from '../../domain/turns/shown.ts'
import type { Round, Turn } from '../../domain/state/turn.ts'
import { asksOperator } from '../../domain/state/wait.ts'
import type { AgentSession } from '../../models/model.ts'
import type { AgentPorts } from '../agent-ports.ts'

/** Null where the model is none of these, or the agent no supervised child. */
export async function foreignSession(
  env: AgentPorts,
  turn: Turn,
  round: Round,
): Promise<AgentSession | null> {
  const facts = env.facts()
  const agent = agentOf(facts)
  const task_id = agent.supervising_task_id
  if (!isForeignModel(turn.model) || task_id === null) return null
  const mine = messagesOf(facts, turn)
  let answer: AgentSession['answer'] = null
  for (const message of mine) {
    const wait = message.wait_id === null ? null : await env.load('waits', message.wait_id)
    if (wait === null || wait.resource === null || !asksOperator(agent, wait)) continue
    answer = { permission_id: wait.resource, text: message.body }
  }
  const input = mine.map((message) => message.body).join('\n\n')
  return { request_id: round.id, task_id, workdir: env.workdir(), input, answer }
}
