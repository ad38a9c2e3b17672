/**
 * Compaction: a request that would come near the window starts again from a fresh opening that has
 * the older rounds of the turn as a recap, with an exact tail of the newest rounds behind it
 * (contracts 10). Pure: which rounds go is a function of sizes, what is said of them of the rows.
 */
import { contextLimits } from './limits.ts'
import type { Projected } from './message.ts'
import { userSections, type OpeningView } from './render.ts'
import { recapSection } from './recap.ts'
import { joined, manifestOf, type Section } from './section.ts'
import type { RoundView, Situation } from './situation.ts'

export type CompactionView = OpeningView & {
  /** The system text as the turn began with it: it stays, so that caches of it hold. */
  system: { text: string; lines: Projected['sections'] }
  tool_tokens: number
  /** Tokens of each recorded round as messages, the first one's first. */
  sizes: readonly number[]
  /** Tokens of the request as it is now, and of the notes in front of the new answer. */
  before: number
  notes: number
  /** Share of the window that is aimed at. */
  to: number
  /** Kept free for a summary beneath the recap; 0 where none is asked. */
  summary_tokens: number
}

export type Compacted = {
  opening: Projected
  /** Rounds 1 to this one are in the recap. */
  recapped: number
  /** The user text by section, for whoever adds to the recap. */
  sections: readonly Section[]
}

/**
 * Null when that would not make the request smaller by enough to be worth a broken prefix: the
 * projection before stays in use. `rounds` are all recorded ones of the turn, in order; at least
 * the newest one stays whole.
 */
export function compact(
  situation: Situation,
  rounds: readonly RoundView[],
  view: CompactionView,
): Compacted | null {
  const { window, tokens, sizes } = view
  const most = rounds.length - 1
  if (most < 1) return null
  const beside = view.tool_tokens + tokens(view.system.text)
  const share = Math.floor(window * contextLimits.recap_share.value)
  const max_tokens = Math.min(contextLimits.recap.value, share)
  const aim = Math.floor(window * view.to)
  const tail = Math.max(sizes[most] ?? 0, Math.floor(window * contextLimits.compact_gain.value))
  const left = Math.max(0, aim - beside - tail - view.notes)
  const sections = userSections(situation, view, { beside, left, recap_tokens: max_tokens })
  const fixed = tokens(joined(sections)) + max_tokens + view.summary_tokens
  const recapped = tailFrom(sizes, most, left + tail - fixed)
  const fence = view.random_fence
  const recap = recapSection(rounds.slice(0, recapped), { tokens, max_tokens, fence })
  const whole = sections.map((one) => (one.section === 'recap' ? recap : one))
  const user = joined(whole)
  const rest = sizes.slice(recapped).reduce((sum, size) => sum + size, 0)
  const after = beside + tokens(user) + rest + view.notes + view.summary_tokens
  if (view.before - after < window * contextLimits.compact_gain.value) return null
  return { opening: openingOf(view, whole), recapped, sections: whole }
}

/** The opening of these sections of user text, behind the system text as it was. */
export function openingOf(
  { system, tokens }: Pick<CompactionView, 'system' | 'tokens'>,
  sections: readonly Section[],
): Projected {
  const lines = [...system.lines, ...manifestOf(sections, tokens)]
  return { system: system.text, user: joined(sections), sections: lines }
}

/** How many rounds must go for the rest to fit into `room`. */
function tailFrom(sizes: readonly number[], most: number, room: number): number {
  let left = room
  let from = sizes.length
  while (from > 1 && left >= (sizes[from - 1] ?? 0)) {
    from -= 1
    left -= sizes[from] ?? 0
  }
  return Math.min(most, from)
}
