/** What the operator's acts are carried out with. */
import type { JudgedAgain } from '../../domain/approvals/held-command.ts'
import type { AgentId } from '../../domain/ids.ts'
import type { TokenHash } from '../../domain/inbox/triggers.ts'
import type { HeldTask } from '../../domain/state/task.ts'
import type { Roots } from '../../exec/ports.ts'
import type { ChildSupervisor } from '../children/child-supervisor.ts'
import type { HostPorts } from '../ports.ts'
import type { Store } from '../store.ts'
import type { Supervisor } from '../tasks/task-supervisor.ts'

export type ActPorts = Pick<
  HostPorts,
  'home' | 'files' | 'models' | 'processes' | 'worktrees' | 'effect_seam' | 'redactor'
> & {
  store: Store
  supervisor: Supervisor
  children: ChildSupervisor
  /** What the policy says now of a command that it holds; null: no policy is in force. */
  judged: (task: HeldTask) => Promise<JudgedAgain | null>
  /** What file tools of an agent may touch. */
  roots: (agent: AgentId) => Roots
  /** Null where the secret of the home is not at hand: no trigger is minted or reset. */
  token_hash: TokenHash
}
