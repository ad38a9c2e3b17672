/**
 * What the commands of an agent may touch where commands are confined
 * (docs/spec/security.md#sandbox): the folders of its file tools, and for a child in a worktree the
 * repository that its commits go to.
 */
import { agentOf } from '../../domain/facts/facts.ts'
import type { Confine } from '../../exec/ports.ts'
import type { AgentPorts } from '../agent-ports.ts'

export async function confineOf(env: AgentPorts): Promise<Confine | 'unconfined'> {
  const { agent_id } = env
  const { workspace, supervising_task_id } = agentOf(env.facts())
  if ((await env.confined()) === null) return 'unconfined'
  // Before the ledger is asked: the agent may be gone then.
  const roots = env.roots()
  // The row is the parent's; what is in the folder itself is the agent's own word.
  const worktree =
    workspace.mode === 'worktree' && supervising_task_id !== null
      ? await env.store.ledger.row('worktrees', supervising_task_id)
      : null
  return { agent_id, roots, repository: worktree?.repository ?? null }
}
