/**
 * All messages of a request from its opening, rounds and notes, as a turn makes them one by one.
 */
import type { ModelMessage } from '../ports/model-message.ts'
import type { Opening, Projected } from '../context/message.ts'
import { renderNotes, renderRound, type RoundsView } from '../context/sections/rounds.ts'
import type { RoundView } from '../context/sections/situation.ts'

/** The messages of a whole request; `next_notes` are its own notes, stored with its round. */
export function toMessages(
  opening: Opening & Pick<Projected, 'items'>,
  rounds: readonly RoundView[],
  next_notes: readonly string[],
  view: Omit<RoundsView, 'items'>,
): ModelMessage[] {
  const items = new Map(Object.entries(opening.items))
  return [
    { role: 'user', content: opening.user },
    ...renderRounds(rounds, { ...view, items }),
    ...renderNotes({ n: rounds.length + 1 }, next_notes, view),
  ]
}

export const renderRounds = (rounds: readonly RoundView[], view: RoundsView): ModelMessage[] =>
  rounds.flatMap((round) => renderRound(round, view))
