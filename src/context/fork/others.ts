/**
 * Which of the parent's other items enter a fork, and their lines (docs/spec/agent.md#fork): those
 * the item itself names or waits on, whose constraints the child must obey; and those the handoff
 * names. Every other item stays out.
 */
import { waitWords } from '../../domain/state/wait.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { currentTodo, schedulingState } from '../../domain/facts/readiness.ts'
import type { TokenEstimator } from '../estimate.ts'
import {
  omitted,
  partSeed,
  type ForkPart,
  type ForkSection,
  type ForkSource,
  type OtherItem,
} from './source.ts'
import type { WorkItem } from '../../domain/state/work-item.ts'
import { block } from '../fence.ts'
import { contextLimits } from '../limits.ts'
import { clip, counted, oneLine, quoted } from '../phrase.ts'
import { noteLines, processNotes, type NoteEvent } from '../process-notes.ts'

export type Entering = {
  /** By the item's own words, or by its wait: part of the prefix. */
  bound: readonly WorkItemId[]
  /** By the handoff: after the prefix. */
  named: readonly WorkItemId[]
}

/**
 * The items that enter, by id in each list, without the spawning turn's own. An item is named by
 * its id, by the short form of it, by another end of it that fits one item only, and in the handoff
 * also by its whole objective.
 */
export function enteringItems(source: Pick<ForkSource, EnteringKey>): Entering {
  const { item, others, waited_task, handoff, short_forms } = source
  const rest = others.filter((other) => other.item.id !== item?.item.id)
  const waited = item?.wait?.wake === 'task_result' ? (waited_task?.work_item_id ?? null) : null
  const own = item === null ? '' : wordsOf(item)
  const inWords = idsIn(own, rest, short_forms)
  const inHandoff = idsIn(handoff, rest, short_forms)
  const handed = oneSpaced(handoff)
  const ids = (test: (other: OtherItem) => boolean): WorkItemId[] =>
    rest
      .filter(test)
      .map((other) => other.item.id)
      .sort()
  const bound = ids(({ item: { id } }) => id === waited || inWords.has(id))
  const named = ids(
    ({ item: { id, objective } }) => inHandoff.has(id) || isSaid(oneSpaced(objective), handed),
  )
  return { bound, named: named.filter((id) => !bound.includes(id)) }
}

type EnteringKey = 'item' | 'others' | 'waited_task' | 'handoff' | 'short_forms'

/** What an item says of itself: where the id of another one is a reference. */
const wordsOf = ({ item, wait, plan_text }: NonNullable<ForkSource['item']>): string =>
  [
    item.objective,
    plan_text ?? '',
    item.blocked_by ?? '',
    wait === null ? '' : waitWords(wait),
    wait?.condition ?? '',
    wait?.resource ?? '',
  ].join('\n')

/** The items whose id, whole or short, stands in `text`. */
function idsIn(
  text: string,
  others: readonly OtherItem[],
  short_forms: ForkSource['short_forms'],
): ReadonlySet<WorkItemId> {
  const found = new Set<WorkItemId>()
  const ids = others.map(({ item }) => item.id)
  for (const [word] of text.matchAll(/\bwork_[0-9A-Za-z]+(?:-[0-9A-Za-z]+)*/g)) {
    const end = word.slice('work_'.length)
    const exact = ids.find((id) => id === word || short_forms.get(id) === word)
    const like = exact === undefined && end.length >= 4 ? ids.filter((id) => id.endsWith(end)) : []
    const only = exact ?? (like.length === 1 ? like[0] : undefined)
    if (only !== undefined) found.add(only)
  }
  return found
}

const oneSpaced = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Whether `objective` stands in `text` as words of its own. */
function isSaid(objective: string, text: string): boolean {
  if (objective.length < contextLimits.fork_objective.value) return false
  const at = text.indexOf(objective)
  if (at < 0) return false
  const beside = [text[at - 1] ?? ' ', text[at + objective.length] ?? ' ']
  return beside.every((char) => !/[\p{L}\p{N}_]/u.test(char))
}

/** The section of `ids`, one line each within `max_tokens`, the rest counted. */
export function othersPart(
  section: Extract<ForkSection, 'others' | 'named'>,
  ids: readonly WorkItemId[],
  source: ForkSource,
  tokens: TokenEstimator,
  max_tokens: number,
): ForkPart {
  if (ids.length === 0) return omitted(section, 'no other item is referred to')
  const title = titles[section]
  const lines: string[] = []
  let left = max_tokens - tokens(title) - countTokens
  for (const id of ids.slice(0, contextLimits.fork_items.value)) {
    const other = source.others.find(({ item }) => item.id === id)
    if (other === undefined) continue
    const line = `- ${otherLine(other, source.plan_texts[id] ?? '')}`
    left -= tokens(line) + 1
    if (left < 0) break
    lines.push(line)
  }
  if (lines.length === 0) return omitted(section, 'no room')
  const more = ids.length - lines.length
  const text = [title, '', ...lines, ...(more > 0 ? [`- and ${counted(more, 'more item')}`] : [])]
  return {
    section,
    text: text.join('\n'),
    form: more > 0 ? 'cut' : 'full',
    why:
      section === 'others' ? 'named by the item, or its wait needs them' : 'named by the handoff',
  }
}

/** What was finished lately and enters as an episode: the newest first. */
export const finishedLately = (
  { others }: Pick<ForkSource, 'others'>,
  entering: readonly WorkItemId[],
): WorkItem[] =>
  others
    .map(({ item }) => item)
    .filter((item) => item.result_summary !== null && !entering.includes(item.id))
    .toSorted((a, b) => b.changed_seq - a.changed_seq)
    .slice(0, contextLimits.fork_episode_items.value)

/**
 * What was finished lately, each with its report and the way it went: newest first, so that the
 * oldest is cut. Reports come before ways, so that one long way takes no report's room.
 */
export function episodesPart(
  source: Pick<ForkSource, 'others' | 'finished_events'>,
  entering: readonly WorkItemId[],
  tokens: TokenEstimator,
  max_tokens: number,
): ForkPart {
  const finished = finishedLately(source, entering)
  if (finished.length === 0) return omitted('episodes', 'nothing was finished lately')
  const title = '## Finished lately'
  const lines: string[] = []
  let left = max_tokens - tokens(title) - countTokens
  for (const { id, objective, result_summary } of finished) {
    const report = quoted(result_summary ?? '', contextLimits.fork_episode.value)
    const line = `- ${id} ${quoted(objective, 500)}, report: ${report}`
    left -= tokens(line) + 1
    if (left < 0) break
    lines.push(line)
  }
  if (lines.length === 0) return omitted('episodes', 'no room')
  const ways = finished.slice(0, lines.length).map(({ id }) => {
    const way = wayOf(id, source.finished_events[id] ?? [], tokens, left)
    if (way !== null) left -= tokens(way) + 1
    return way
  })
  const form = lines.length < finished.length ? 'cut' : 'full'
  const shown = lines.flatMap((line, i) => [line, ...(ways[i] ? [ways[i]] : [])])
  const text = [title, '', ...shown].join('\n')
  return { section: 'episodes', text, form, why: 'what its parent finished before' }
}

/** The process notes of a finished item, the newest; null: none, or no room for any. */
function wayOf(
  id: WorkItemId,
  events: readonly NoteEvent[],
  tokens: TokenEstimator,
  left: number,
): string | null {
  const { fork_episode_notes, fork_episode_note } = contextLimits
  const found = processNotes(events, fork_episode_notes.value)
  const label = `process notes of ${id}, oldest first`
  const room = Math.min(left, fork_episode_note.value) - tokens(label) - markTokens
  const { text } = noteLines(found, tokens, room)
  return text === '' ? null : block(partSeed('episodes', text), label, text)
}

/** The marks of a block. */
const markTokens = 30

const countTokens = 12

const titles = {
  others: '## Work items it refers to',
  named: '## Work items the handoff names',
} as const

function otherLine({ item, wait }: OtherItem, plan_head: string): string {
  const todo = item.state === 'open' ? currentTodo(item) : null
  const blocker = item.blocked_by ?? (wait === null ? null : waitWords(wait))
  return [
    `${item.id} ${quoted(item.objective, 500)}`,
    schedulingState(item, wait).state,
    ...(todo === null ? [] : [`todo: ${oneLine(todo.text)}`]),
    ...(blocker === null ? [] : [`held by: ${clip(blocker, 200)}`]),
    ...(item.result_summary === null
      ? []
      : [`report: ${quoted(item.result_summary, contextLimits.report_head.value)}`]),
    ...(plan_head === '' ? [] : [`plan: ${quoted(plan_head, contextLimits.plan_head.value)}`]),
  ].join('; ')
}
