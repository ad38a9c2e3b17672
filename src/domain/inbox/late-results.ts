/**
 * Late results: the end of a task whose item is completed. It is shown to the agent in its next
 * turn and starts none; until then it stands with what is done
 * (docs/spec/message.md#used-up-when-shown).
 */
import type { Facts } from '../facts/facts.ts'
import type { Message } from '../state/message.ts'
import type { Task } from '../state/task.ts'

/** Whether the message is a result that came, or was still queued, when its item was over. */
export const isLate = (
  facts: Pick<Facts, 'row'>,
  { kind, work_item_id }: Pick<Message, 'kind' | 'work_item_id'>,
): boolean =>
  kind === 'task_result' &&
  work_item_id !== null &&
  // A completed one may be too old to be among the facts; one that is open never is.
  facts.row('work_items', work_item_id)?.state !== 'open'

/** Late results that no turn has shown yet, oldest first. */
export const lateResults = (facts: Pick<Facts, 'row' | 'rows'>): Message[] =>
  [...facts.rows('messages')]
    .filter((message) => message.status === 'queued' && isLate(facts, message))
    .sort((a, b) => a.inbox_seq - b.inbox_seq)

/**
 * Whether a person should look at how the task of a late result ended: what a child reports, what
 * went wrong without being stopped, and what nobody knows.
 */
export function wantsLook({ kind, status, exit_status }: Task): boolean {
  switch (status) {
    case 'completed':
      return kind === 'child_agent' || exit_status !== 0
    case 'failed':
    case 'interrupted':
      return true
    case 'cancelled':
    case 'held':
    case 'queued':
    case 'running':
    case 'cancelling':
      return false
  }
}
