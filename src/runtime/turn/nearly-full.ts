/**
 * The note before a recap: told in the first request of a turn that fills so much of the window
 * that the next ones may lose their older results. Of rows alone, so that a rebuilt request has it
 * too.
 */
import { charTokens } from '../../context/estimate.ts'
import { messageTokens } from '../../context/opening/fits.ts'
import { contextLimits } from '../../context/limits.ts'
import { nearlyFullNote } from '../../context/sections/notes.ts'
import { renderRound } from '../../context/sections/rounds.ts'
import type { Call } from '../../domain/state/call.ts'
import { callsOf, roundsOf, type Facts } from '../../domain/facts/facts.ts'
import { messagesOf, sentImages } from '../../domain/turns/shown.ts'
import type { Round, Turn } from '../../domain/state/turn.ts'
import { compactedAt } from './conversation.ts'

/** Whether results stand between the recap and the newest round: those go, and it stays. */
export function mayLose(
  rounds: readonly Pick<Round, 'n' | 'recapped'>[],
  looks: (n: number) => boolean,
): boolean {
  const gone = Math.max(0, ...rounds.map(({ recapped = 0 }) => recapped))
  return rounds.slice(0, -1).some(({ n }) => n > gone && looks(n))
}

/** What it did itself the model knows from its calls: they stay. */
const isLook = ({ effect_class, result }: Call): boolean =>
  result?.status === 'success' && (effect_class === 'pure' || effect_class === 'reattachable')

export function nearlyFull(facts: Facts, turn: Turn): string[] {
  const round = roundsOf(facts, turn).at(-1)
  const sent = round?.sent
  if (round === undefined || sent === undefined) return []
  const looks = (n: number) => callsOf(facts, turn, n).some(isLook)
  if (!mayLose(roundsOf(facts, turn), looks)) return []
  const { estimated, notes, factor, window } = sent
  const { compact_warn, compact_at } = contextLimits
  if (estimated * factor >= window * compact_warn.value) return []
  const calls = callsOf(facts, turn, round.n)
  const compacted = compactedAt(roundsOf(facts, turn))
  const view = {
    model: turn.model,
    full_path: () => null,
    items: new Map(),
    compacted,
    // Whether the model takes images no row says: rather told too early.
    image: () => 'shown' as const,
    sent: sentImages(messagesOf(facts, turn)),
  }
  const added = renderRound({ round, calls }, view)
  const more = added.reduce((sum, message) => sum + messageTokens(message, charTokens), 0)
  // Its notes were counted with the request and come back with the round.
  const now = (estimated - notes + more) * factor
  if (now < window * compact_warn.value || now > window * compact_at.value) return []
  return [nearlyFullNote(window * compact_at.value - now)]
}
