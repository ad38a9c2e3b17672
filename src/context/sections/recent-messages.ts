/**
 * What was said lately between the agent and whom it works for: the newest words of both sides,
 * also where they belong to no item, so that "and the first one?" has something to refer to. No
 * words of the world outside are among them.
 */
import type { Timestamp } from '../../domain/time.ts'
import type { Wait } from '../../domain/state/wait.ts'
import { isNod, isStanding } from '../../domain/inbox/standing-words.ts'
import { revertWords } from '../../domain/work/revert.ts'
import type { TokenEstimator } from '../estimate.ts'
import { block } from '../fence.ts'
import type { Limit } from '../../domain/limits.ts'
import { contextLimits } from '../limits.ts'
import { ago, clip } from '../phrase.ts'
import { fenceOf } from './rounds.ts'
import { full, omitted, type Section } from '../section.ts'
import { wordsWithImages, type QuotedImages } from '../sent-images.ts'
import type { Utterance, Situation } from './situation.ts'

const title = '# Lately said'
const standsAbove = ': stands above'
const standsBelow = ': stands below'

/** `told`: the items whose report is in it whole; `whole`: the briefs that are. */
export type SaidSection = Section & { told: ReadonlySet<string>; whole: ReadonlySet<string> }

const none = (why: string): SaidSection => ({
  ...omitted('said', why),
  told: new Set(),
  whole: new Set(),
})

/**
 * What fits into `max_tokens`, oldest first. `above`: messages that stand in full elsewhere. What
 * gives way is decided by `giving`: the agent's own older texts before any word of the others.
 */
export function saidSection(
  { said = [], now, answered = [] }: Pick<Situation, 'said' | 'now' | 'answered'>,
  above: ReadonlySet<string>,
  { tokens, ...images }: { tokens: TokenEstimator } & QuotedImages,
  max_tokens: number,
): SaidSection {
  if (said.length === 0) return none('nothing was said before')
  const lines = linesOf(said, (one) =>
    above.has(rowOf(one).id) ? standsAbove : isAsked(one, answered) ? standsBelow : null,
  )
  const texts = new Map(lines.map((line) => [line, [utteranceText(line, now, images)]]))
  const written = () => [title, '', ...lines.flatMap((line) => texts.get(line) ?? [])].join('\n')
  let text = written()
  for (const { line, max } of giving(lines)) {
    if (tokens(text) <= max_tokens) break
    line.max = max
    texts.set(line, max === 0 ? [] : [utteranceText(line, now, images)])
    text = written()
  }
  const shown = lines.filter(({ max }) => max > 0)
  if (shown.length === 0) return none('no room')
  if (shown.every(({ place }) => place !== null)) return none('all of it stands elsewhere')
  const section =
    shown.length === said.length
      ? full('said', text, 'the newest words of both sides')
      : { section: 'said' as const, text, form: 'compact' as const, why: 'the newest of them' }
  return { ...section, ...wholeIn(shown) }
}

/** `place`: where it stands in full, null: here; `max`: room for its words, 0: it is left out. */
type Line = { one: Utterance; place: string | null; max: number }

/**
 * The newest of each kind, in time; what stands elsewhere takes nobody's place, and words that were
 * said again stand once, where they were said last.
 */
function linesOf(said: readonly Utterance[], placeOf: (one: Utterance) => string | null): Line[] {
  const max = contextLimits.said_newest.value
  const last = new Map(said.map((one) => [kindOf(one) + wordsOf(one), one]))
  const all = said
    .filter((one) => last.get(kindOf(one) + wordsOf(one)) === one)
    .map((one): Line => ({ one, place: placeOf(one), max }))
  const kept = [true, false].flatMap((isHere) =>
    kinds.flatMap((kind) =>
      all
        .filter(({ one, place }) => kindOf(one) === kind && (place === null) === isHere)
        .slice(-places[kind].value),
    ),
  )
  return all.filter((line) => kept.includes(line))
}

/**
 * What of the two sides takes whose place: texts of the agent; acts of the operator; words that
 * nod or answer a question; words that may hold for work to come; other words.
 */
const kinds = ['own', 'act', 'small', 'words', 'standing'] as const
type Kind = (typeof kinds)[number]

const places: { readonly [K in Kind]: Limit } = {
  own: contextLimits.said,
  act: contextLimits.said,
  small: contextLimits.said_small,
  words: contextLimits.said,
  standing: contextLimits.said,
}

function kindOf(one: Utterance): Kind {
  switch (one.by) {
    case 'agent':
      return 'own'
    case 'operator_act':
      return 'act'
    case 'them': {
      const { body, wait_id, images } = one.message
      if (isStanding(body)) return 'standing'
      if (images !== undefined) return 'words'
      const isAnswer = wait_id !== null && body.length <= contextLimits.word_head.value
      return isAnswer || isNod(body) ? 'small' : 'words'
    }
  }
}

/** What makes it the same as one said before; a picture or an act is always another. */
function wordsOf(one: Utterance): string {
  switch (one.by) {
    case 'agent':
      return one.brief.id
    case 'operator_act':
      return one.act.id
    case 'them': {
      const { id, body, images } = one.message
      return images === undefined ? body.trim() : id
    }
  }
}

/**
 * What gives way, first to last, each time the oldest first: names of what stands elsewhere; the
 * agent's own older texts, which are shortened and then go; small words and acts of the others;
 * their older words, shortened and then gone; of those at last the ones that may hold for work to
 * come; at the very last the newest of each side.
 */
function giving(lines: readonly Line[]): { line: Line; max: number }[] {
  const here = lines.filter(({ place }) => place === null)
  const theirs = here.filter(({ one }) => one.by !== 'agent')
  const own = here.filter(({ one }) => one.by === 'agent')
  const to = (max: number) => (line: Line) => ({ line, max })
  const shorter = to(contextLimits.said_older.value)
  const gone = to(0)
  const older = theirs.slice(0, -1)
  const of = (...some: Kind[]) => older.filter(({ one }) => some.includes(kindOf(one)))
  const inTurn = [own.slice(0, -1), of('small', 'act'), of('words'), of('standing')]
  const newest = [...own.slice(-1), ...theirs.slice(-1)]
  return [
    ...lines.filter(({ place }) => place !== null).map(gone),
    ...[...inTurn, newest].flatMap((some) => [...some.map(shorter), ...some.map(gone)]),
  ]
}

/** Of what is shown: the items whose report is whole, and the briefs that need not stand again. */
function wholeIn(shown: readonly Line[]): { told: Set<string>; whole: Set<string> } {
  const told = new Set<string>()
  const whole = new Set<string>()
  for (const { one, place, max } of shown) {
    if (one.by !== 'agent') continue
    const { id, kind, work_item_id } = one.brief
    const isCut = shortened(one, max).is_cut
    if (!isCut && kind === 'result' && work_item_id !== null) told.add(work_item_id)
    if (!isCut || place !== null) whole.add(id)
  }
  return { told, whole }
}

/** A question whose answer began the turn stands with that. */
const isAsked = (one: Utterance, answered: readonly Wait[]): boolean =>
  one.by === 'agent' &&
  one.brief.kind === 'question' &&
  answered.some(({ id }) => id === one.brief.wait_id)

function utteranceText({ one, place, max }: Line, now: Timestamp, images: QuotedImages): string {
  const row = rowOf(one)
  const item = row.work_item_id === null ? '' : `, about ${row.work_item_id}`
  if (one.by === 'operator_act') {
    const told = clip(revertWords(one.act.record), max)
    return `- the operator, ${ago(row.created_at, now)}${item}: ${told}`
  }
  const who = one.by === 'agent' ? `you (${one.brief.kind})` : `the ${whoSaid(one)}`
  const head = `${who}, ${ago(row.created_at, now)}, ${row.id}${item}`
  if (place !== null) return `- ${head}${place}`
  const { words, is_cut } = shortened(one, max, images)
  return block(fenceOf(row), is_cut ? `${head}; cut, MemoryGet has all of it` : head, words)
}

function rowOf(one: Utterance) {
  switch (one.by) {
    case 'agent':
      return one.brief
    case 'them':
      return one.message
    case 'operator_act':
      return one.act
  }
}

function whoSaid({ message }: Utterance & { by: 'them' }): string {
  return message.kind === 'operator_prompt' ? 'operator' : 'parent'
}

function shortened(
  one: Exclude<Utterance, { by: 'operator_act' }>,
  max: number,
  { image_path, sees_images }: QuotedImages = {},
): { words: string; is_cut: boolean } {
  const body = (
    one.by === 'agent' ? one.brief.text : wordsWithImages(one.message, image_path, sees_images)
  ).trim()
  if (body.length <= max) return { words: body, is_cut: false }
  const isNewest = max === contextLimits.said_newest.value
  return { words: isNewest ? `${body.slice(0, max).trimEnd()}…` : clip(body, max), is_cut: true }
}
