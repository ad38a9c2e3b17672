/** Why a turn began, in the same words in a run and on a screen. Pure. */
import type { Message } from '../../protocol/records/records.ts'

export const queuedWords = (count: number): string =>
  count === 1 ? 'an item is ready' : `${count} items are ready`

/** By the message it claimed. `answered`: of an answer; `because`: as the decision said it. */
export function messageWords(
  message: Pick<Message, 'kind' | 'wait_id' | 'task_id' | 'source'>,
  { answered, because }: { answered: string; because: string },
): string {
  switch (message.kind) {
    case 'operator_prompt':
      return message.wait_id === null ? 'you asked' : answered
    case 'task_result':
    case 'task_status':
      return `${message.task_id} ended`
    case 'callback_event':
    case 'webhook_event':
      return `${message.source ?? 'an outside event'} came`
    case 'timer_tick':
    case 'internal_followup':
    case 'delegation':
      return because
  }
}
