/**
 * Held commands, as entries of the attention list (`attention.ts`): of every agent, a private
 * child's too, since what may run is asked of the person alone. Its answer closes an entry. Pure.
 */
import { heldTasks } from '../../domain/approvals/held-command.ts'
import { heldChoices, heldHash, heldText } from '../../domain/approvals/held-text.ts'
import type { HeldTask } from '../../domain/state/task.ts'
import { actOn, type Action } from '../actions/action.ts'
import type { AgentView } from '../agent-view.ts'

type ApprovalEntry = {
  id: string
  kind: 'approval'
  agent_id: string
  work_item_id: HeldTask['work_item_id']
  text: string
  choices: ReturnType<typeof heldChoices>
  since: string
  bound_hash: string
  acts: () => readonly Action[]
}

export const approvals = ({ facts, agent }: AgentView): ApprovalEntry[] =>
  heldTasks(facts).map((task) => ({
    id: task.id,
    kind: 'approval',
    agent_id: agent.id,
    work_item_id: task.work_item_id,
    text: heldText(task),
    choices: heldChoices(task),
    since: task.held.asked_at,
    bound_hash: heldHash(task),
    acts: () => [actOn('answer_held', 'answer', task)],
  }))
