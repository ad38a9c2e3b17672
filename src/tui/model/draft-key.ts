/** What a draft belongs to: it is found again there, whatever was open in between. Pure. */
import { targetKey, type PromptPurpose } from './model.ts'

export function draftKey(prompt: PromptPurpose): string {
  switch (prompt.for) {
    case 'message':
      return targetKey(prompt.target)
    case 'new_item':
      return `new ${prompt.agent_id}`
    case 'answer':
      return prompt.wait_id
    case 'refusal':
      return `no to ${prompt.task_id}`
    case 'snooze':
      return `snooze ${prompt.entry}`
    case 'focus':
      return `focus ${prompt.work_item_id}`
    case 'task_input':
      return prompt.task_id
    case 'budget':
      return `budget ${prompt.work_item_id ?? prompt.agent_id}`
    case 'model':
      return `model ${prompt.agent_id}`
    case 'objective':
      return `objective ${prompt.work_item_id}`
    case 'find':
      return 'find'
  }
}
