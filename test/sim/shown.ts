/**
 * 43, at the other side of the wire: what a request is said to carry stands in it. The rows say
 * which messages its answer will use up; the text says what the model was shown.
 */
import type { Facts } from '../../src/domain/facts/facts.ts'
import { openTurn } from '../../src/domain/facts/facts.ts'
import type { Message } from '../../src/domain/state/message.ts'
import { messagesOf } from '../../src/domain/turns/shown.ts'
import { roundId } from '../../src/domain/state/turn.ts'
import type { ModelRequest } from '../../src/models/model.ts'

/** One sentence for each message that the answer to this request would use up unseen. */
export function notShown(facts: Facts, round: string, request: ModelRequest): string[] {
  const turn = openTurn(facts)
  if (turn === null) return []
  const carried = messagesOf(facts, turn).filter(
    ({ status, round: n }) => status === 'claimed' && n !== null && roundId(turn.id, n) === round,
  )
  if (carried.length === 0) return []
  const text = JSON.stringify([request.system, request.messages])
  return carried.flatMap((message) =>
    standsIn(facts, message, text) ? [] : [`43: ${round} carries ${message.id} and shows nothing`],
  )
}

/** A message stands in a request under its id; the end of a task that a call read, under that. */
function standsIn(facts: Facts, message: Message, text: string): boolean {
  if (message.to_coalesce) return /older events? of the same waits/.test(text)
  if (isNamed(message.id, text)) return true
  const { task_id } = message
  if (task_id === null) return false
  return isNamed(task_id, text) || text.includes(facts.row('tasks', task_id)?.cmd ?? task_id)
}

/** Whole, or in a short form: its kind and its end. */
const isNamed = (id: string, text: string): boolean => {
  const cut = id.indexOf('_') + 1
  const named = text.matchAll(new RegExp(`\\b${id.slice(0, cut)}([0-9a-f-]{4,})`, 'g'))
  for (const [, end = ''] of named) if (id.slice(cut).endsWith(end)) return true
  return false
}
