/**
 * Compaction: a request that would come near the window starts again from a fresh opening that has
 * the older rounds of the turn as a recap, with an exact tail of the newest rounds behind it. Pure:
 * which rounds go is a function of sizes, what is said of them of the rows.
 */
import type { Limit } from '../../domain/limits.ts'
import { contextLimits } from '../limits.ts'
import type { Projected } from '../message.ts'
import { itemsIn, userSections, wordsRoom, type OpeningView } from '../opening/render.ts'
import { recapSection, textsTokens } from '../sections/recap.ts'
import { joined, manifestOf, type Section } from '../section.ts'
import type { RoundView, Situation } from '../sections/situation.ts'

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
  /** Tokens of the request as it will be. */
  after: number
  /** The user text by section, for whoever adds to the recap. */
  sections: readonly Section[]
}

/**
 * Null when that would not make the request smaller by enough to be worth a broken prefix: the
 * projection before stays in use. `rounds` are all recorded ones of the turn, in order; at least
 * the newest one stays whole. What gives way for the aim, first to last: the newest rounds down to
 * one, the agent's own texts, what was said about the item.
 */
export function compact(
  situation: Situation,
  rounds: readonly RoundView[],
  view: CompactionView,
): Compacted | null {
  if (rounds.length < 2) return null
  const made = smallest(situation, rounds, view)
  if (view.before - made.after < view.window * contextLimits.compact_gain.value) return null
  const items = itemsIn(situation, made.sections)
  const place = situation.place ?? null
  return { opening: openingOf(view, made.sections, { items, place }), ...made }
}

type Made = Omit<Compacted, 'opening'>

/** What the parts that give way last may take. */
type Give = { texts: number; words: number }

/** The first that keeps to the aim; where none does, the last. */
function smallest(situation: Situation, rounds: readonly RoundView[], view: CompactionView): Made {
  const share = (of: Limit) => Math.floor(view.window * of.value)
  const texts = Math.min(
    share(contextLimits.recap_texts),
    textsTokens(rounds.slice(0, -1), view.tokens),
  )
  const words = wordsRoom(view.window)
  const over = (made: Made) => Math.max(0, made.after - share({ ...aim, value: view.to }))
  const whole = make(situation, rounds, view, { texts, words })
  if (over(whole) === 0) return whole
  let made = make(situation, rounds, view, { texts: Math.max(0, texts - over(whole)), words })
  for (let room = words / 2; over(made) > 0 && room >= leastWords; room /= 2) {
    made = make(situation, rounds, view, { texts: 0, words: Math.floor(room) })
  }
  return made
}

/** Tokens with which the first message still says what it is about. */
const leastWords = 100

const aim = contextLimits.compact_to

function make(
  situation: Situation,
  rounds: readonly RoundView[],
  view: CompactionView,
  { texts, words }: Give,
): Made {
  const { window, tokens, sizes } = view
  const most = rounds.length - 1
  const beside = view.tool_tokens + tokens(view.system.text)
  const lines = Math.min(
    contextLimits.recap.value,
    Math.floor(window * contextLimits.recap_share.value),
  )
  const room = Math.floor(window * view.to) - beside - view.notes - view.summary_tokens
  const left = Math.max(0, room - (sizes[most] ?? 0))
  const sections = userSections(situation, view, {
    beside,
    left,
    recap_tokens: lines,
    words_tokens: words,
  })
  const rest = room - tokens(joined(sections)) - lines - texts
  const tail = Math.min(rest, Math.floor(window * contextLimits.compact_tail.value))
  const recapped = tailFrom(sizes, most, tail)
  const recap = recapSection(rounds.slice(0, recapped), {
    tokens,
    max_tokens: lines,
    texts_tokens: texts,
    fence: view.random_fence,
    ...(view.short === undefined ? {} : { short: view.short }),
  })
  const whole = sections.map((one) => (one.section === 'recap' ? recap : one))
  const kept = sizes.slice(recapped).reduce((sum, size) => sum + size, 0)
  const after = beside + tokens(joined(whole)) + kept + view.notes + view.summary_tokens
  return { sections: whole, recapped, after }
}

/** The opening of these sections of user text, behind the system text as it was. */
export function openingOf(
  { system, tokens }: Pick<CompactionView, 'system' | 'tokens'>,
  sections: readonly Section[],
  { items, place }: Pick<Projected, 'items' | 'place'>,
): Projected {
  const lines = [...system.lines, ...manifestOf(sections, tokens)]
  return { system: system.text, user: joined(sections), sections: lines, items, place }
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
