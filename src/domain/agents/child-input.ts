/**
 * What a supervisor says to its child while the child runs (docs/spec/agent.md#delegation): an
 * answer to what it asks, else one more message. Decided over both, so that the answer resolves
 * exactly the question that was asked, and the words reach a turn that is open: behind it they
 * would come too late.
 */
import { admit, resolveByAnswer, utf8Length } from '../inbox/admit.ts'
import { openTurn, type Draft, type Facts } from '../facts/facts.ts'
import type { MessageId, WorkItemId } from '../ids.ts'
import { limits } from '../limits.ts'
import type { Message } from '../state/message.ts'
import { outsideInput } from '../waits/pacing.ts'
import type { Provenance } from '../state/provenance.ts'
import { answerWords } from '../state/question.ts'
import { takeBack } from './supervise.ts'
import type { Task } from '../state/task.ts'
import { overOrEnding } from './tasks.ts'
import { no, overLimit, type Rejection } from '../rejection.ts'

export type ChildInput = {
  text: string
  provenance: Provenance
  /** The call or request that says it: the same again is the same message. */
  key: string
  /** The message that came of it before. */
  earlier: Pick<Message, 'id' | 'priority'> | null
}

/** `priority`: with which request of the child it comes. */
export type InputReceipt = {
  ok: true
  message_id: MessageId
  answered: boolean
  priority: Message['priority']
}

/** Of words that became a message before: so it was, whatever became of the child since. */
export const toldBefore = ({ id, priority }: Pick<Message, 'id' | 'priority'>): InputReceipt => ({
  ok: true,
  message_id: id,
  answered: false,
  priority,
})

/** The child's task when it can be told something, or the refusal. */
export function tellableTask(p: Draft, id: string): Task | Rejection {
  const task = p.row('tasks', id)
  if (!task || task.agent_id !== p.agent_id) {
    return no('task_not_found', `${id} is not a task of ${p.agent_id}.`)
  }
  return overOrEnding(task) ?? task
}

export function tellChild(
  p: Draft,
  c: Draft,
  id: string,
  input: ChildInput,
): InputReceipt | Rejection {
  const known = p.row('tasks', id)?.agent_id === p.agent_id
  if (known && input.earlier !== null) return toldBefore(input.earlier)
  const task = tellableTask(p, id)
  if ('ok' in task) return task
  if (input.text.trim() === '') return no('message_empty', 'The text is empty.')
  const bytes = utf8Length(input.text)
  if (bytes > limits.operator_text.value) return overLimit(limits.operator_text, bytes)
  const child = c.row('agents', c.agent_id)
  if (child?.state !== 'active') return no('agent_stopped', `${c.agent_id} is stopped.`)
  if (task.asking?.of === 'operator') {
    return no('asks_operator', `${c.agent_id} asks the operator for a permission.`)
  }
  // What was asked may be over without the parent's having been told yet.
  const asked = c.row('waits', task.asking?.wait_id ?? '')
  const wait = asked?.status === 'active' ? asked : null
  const about = c.row('work_items', task.asking?.work_item_id ?? '')
  const item = about?.state === 'open' ? about.id : null
  const message_id = c.mint('msg')
  const priority = whenRead(c, wait === null ? item : wait.work_item_id)
  admit(c, {
    id: message_id,
    provenance: input.provenance,
    priority,
    body: answerWords(wait?.question ?? null, input.text),
    dedupe_key: input.key,
    work_item_id: item,
    wait_id: wait?.id ?? null,
  })
  outsideInput(c, item, 'operator')
  const answered = wait !== null && resolveByAnswer(c, wait.id, message_id)
  if (task.asking !== null) {
    takeBack(p, task.id)
    p.emit({ type: 'task_answered', id: task.id })
  }
  return { ok: true, message_id, answered, priority }
}

/**
 * An open turn reads the words with its next request, as it reads an operator's interjection,
 * unless they answer what it is not about: that begins a turn about it.
 */
function whenRead(c: Facts, about: WorkItemId | null): 'interject' | 'next' {
  const turn = openTurn(c)
  if (turn === null) return 'next'
  return about === null || about === turn.work_item_id ? 'interject' : 'next'
}
