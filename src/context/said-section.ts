/**
 * What was said lately between the agent and whom it works for: the newest words of both sides,
 * also where they belong to no item, so that "and the first one?" has something to refer to. No
 * words of the world outside are among them.
 */
import type { WorkItemId } from '../domain/ids.ts'
import type { Timestamp } from '../domain/time.ts'
import type { Wait } from '../domain/wait.ts'
import type { TokenEstimator } from './estimate.ts'
import { block } from './fence.ts'
import { contextLimits } from './limits.ts'
import { ago, clip } from './phrase.ts'
import { fenceOf } from './rounds.ts'
import { full, omitted, type Section } from './section.ts'
import type { Said, Situation } from './situation.ts'

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

/** The newest within `max_tokens`, oldest first. `above`: messages that stand in full elsewhere. */
export function saidSection(
  { said = [], now, answered = [] }: Pick<Situation, 'said' | 'now' | 'answered'>,
  above: ReadonlySet<string>,
  tokens: TokenEstimator,
  max_tokens: number,
): SaidSection {
  if (said.length === 0) return none('nothing was said before')
  const told = new Set<string>()
  const whole = new Set<string>()
  const newest = { them: false, agent: false }
  const texts: string[] = []
  let left = max_tokens - tokens(title) - 2
  for (const one of said.slice(-contextLimits.said.value).toReversed()) {
    const { said_newest, said_older } = contextLimits
    const max = newest[one.by] ? said_older.value : said_newest.value
    newest[one.by] = true
    const place = above.has(rowOf(one).id)
      ? standsAbove
      : isAsked(one, answered)
        ? standsBelow
        : null
    const text = saidText(one, now, { max, place })
    left -= tokens(text) + 1
    if (left < 0) break
    texts.unshift(text)
    const item = reportedWhole(one, max)
    if (item !== null) told.add(item)
    if (one.by === 'agent' && (place !== null || !shortened(one, max).is_cut))
      whole.add(one.brief.id)
  }
  if (texts.length === 0) return none('no room')
  if (texts.every((text) => /^- .*: stands (?:above|below)$/.test(text))) {
    return none('all of it stands elsewhere')
  }
  const text = [title, '', ...texts].join('\n')
  const section =
    texts.length === said.length
      ? full('said', text, 'the newest words of both sides')
      : { section: 'said' as const, text, form: 'compact' as const, why: 'the newest of them' }
  return { ...section, told, whole }
}

function reportedWhole(one: Said, max: number): WorkItemId | null {
  if (one.by !== 'agent' || one.brief.kind !== 'result' || shortened(one, max).is_cut) return null
  return one.brief.work_item_id
}

/** `place`: says where it stands in full; null: here. */
type Shown = { max: number; place: string | null }

/** A question whose answer began the turn stands with that. */
const isAsked = (one: Said, answered: readonly Wait[]): boolean =>
  one.by === 'agent' &&
  one.brief.kind === 'question' &&
  answered.some(({ id }) => id === one.brief.wait_id)

function saidText(one: Said, now: Timestamp, { max, place }: Shown): string {
  const row = rowOf(one)
  const item = row.work_item_id === null ? '' : `, about ${row.work_item_id}`
  const who = one.by === 'agent' ? `you (${one.brief.kind})` : `the ${whoSaid(one)}`
  const head = `${who}, ${ago(row.created_at, now)}, ${row.id}${item}`
  if (place !== null) return `- ${head}${place}`
  const { words, is_cut } = shortened(one, max)
  return block(fenceOf(row), is_cut ? `${head}; cut, MemoryGet has all of it` : head, words)
}

const rowOf = (one: Said) => (one.by === 'agent' ? one.brief : one.message)

function whoSaid({ message }: Said & { by: 'them' }): string {
  return message.kind === 'operator_prompt' ? 'operator' : 'parent'
}

function shortened(one: Said, max: number): { words: string; is_cut: boolean } {
  const body = (one.by === 'agent' ? one.brief.text : one.message.body).trim()
  if (body.length <= max) return { words: body, is_cut: false }
  const isNewest = max === contextLimits.said_newest.value
  return { words: isNewest ? `${body.slice(0, max).trimEnd()}…` : clip(body, max), is_cut: true }
}
