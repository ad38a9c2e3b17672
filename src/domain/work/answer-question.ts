/**
 * An answer is compare and set (docs/spec/http.md): it names the question as it was shown, and
 * holds only while that very question is open. The loser of a race learns who was faster.
 */
import type { Draft } from '../facts/facts.ts'
import { admitPrompt, type Admitted } from '../inbox/admit.ts'
import type { WaitId } from '../ids.ts'
import type { Message } from '../state/message.ts'
import type { Provenance } from '../state/provenance.ts'
import { choiceLines, choiceNamed, questionText } from '../state/question.ts'
import { stableHash } from '../stable-hash.ts'
import { no, type Rejection } from '../rejection.ts'
import { waitWords, type Wait } from '../state/wait.ts'

/** The mark of a question as a client shows it: its wait, its words, when it was asked. */
export function boundHash(wait: Pick<Wait, 'id' | 'reason' | 'question' | 'created_at'>): string {
  const words = wait.question === null ? wait.reason : questionText(wait.question)
  return stableHash(JSON.stringify([wait.id, words, wait.created_at]))
}

export type Answer = {
  provenance: Provenance
  wait_id: WaitId
  text: string
  /** It has to name one of the choices; else it may. */
  is_choice: boolean
  bound_hash: string
  start: boolean
}

/** `answered_by`: the message that ended the question, where the facts have forgotten it. */
export function answerWait(
  d: Draft,
  answer: Answer,
  answered_by: Message | null,
): Admitted | Rejection {
  const wait = d.row('waits', answer.wait_id)
  if (!wait || wait.agent_id !== d.agent_id) {
    return no('wait_not_found', `${answer.wait_id} is not a wait of ${d.agent_id}.`)
  }
  if (wait.wake !== 'operator_input') {
    return no('not_a_question', `${wait.id} waits for ${wait.wake}, not for the operator.`)
  }
  if (wait.status === 'resolved') {
    return no('already_answered', whoAnswered(wait, answering(d, wait) ?? answered_by))
  }
  if (wait.status === 'cancelled') {
    return no('wait_not_active', `${wait.id} was cancelled at ${wait.cancelled_at}.`)
  }
  if (answer.bound_hash !== boundHash(wait)) {
    return no('question_changed', `${wait.id} asks something else now: "${waitWords(wait)}"`)
  }
  const { provenance, text, start } = answer
  if (answer.is_choice && choiceNamed(wait.question, text) === null) {
    const offered = choiceLines(wait.question ?? { choices: [] }).join(', ') || 'none'
    return no('choice_unknown', `"${text}" is no choice of ${wait.id}, which offers: ${offered}.`)
  }
  return admitPrompt(d, {
    provenance,
    text,
    images: [],
    start,
    wait_id: wait.id,
    work_item_id: null,
    priority: 'next',
  })
}

/** The operator's message that carries this wait, while something still carries the message. */
function answering(d: Draft, wait: Wait): Message | null {
  for (const message of d.rows('messages')) {
    if (message.wait_id !== wait.id) continue
    if (message.origin === 'operator' || message.origin === 'system') return message
  }
  return null
}

function whoAnswered(wait: Wait, message: Message | null): string {
  const at = `at ${wait.resolved_at}`
  if (message === null) return `${wait.id} was settled ${at}, not by an answer to it.`
  const where = surfaceWords[message.delivery_surface] ?? message.delivery_surface
  return `${wait.id} was answered ${where} ${at}, in ${message.id}.`
}

const surfaceWords: { [S in Provenance['delivery_surface']]?: string } = {
  cli_prompt: 'from the command line',
  run_once: 'from `holon run`',
  tui: 'from the terminal screen',
  http_control: 'through the control API',
  runtime_system: 'by the operator',
}
