/**
 * The turn's work item in full: its pinned block, and behind it what changes with every look and
 * may go under pressure: its state, the preview of its plan, earlier waits, ended tasks, a report.
 */
import { budgetLine } from '../../domain/facts/budget.ts'
import type { Hold, Projection } from '../../domain/facts/readiness.ts'
import { isTerminal, type Task } from '../../domain/state/task.ts'
import { between, hour, type Timestamp } from '../../domain/time.ts'
import type { Short } from '../../domain/state/short-id.ts'
import { verificationOf } from '../../domain/facts/verification.ts'
import type { Message } from '../../domain/state/message.ts'
import type { PlanDescriptor } from '../../domain/state/plan.ts'
import type { TokenEstimator } from '../estimate.ts'
import { block } from '../fence.ts'
import { ago, clip, counted, oneLine, quoted, span } from '../phrase.ts'
import { pinnedLines, placeOf, saysWhere, wordsLines } from './pinned.ts'
import { full, omitted, type Section } from '../section.ts'
import type { QuotedImages } from '../sent-images.ts'
import type { ItemView } from './situation.ts'
import { waitLine } from './wait-line.ts'

/** `short`: ids as they stand in texts of ours that are quoted. */
export type SectionView = {
  now: Timestamp
  fence: string
  tokens: TokenEstimator
  short: Short
} & QuotedImages

export type ItemRoom = {
  /** What all of it may take where that is possible without dropping what is pinned. */
  max_tokens: number
  /** What the operator's words may take. */
  words_tokens: number
  /** A preview of the plan up to that size stays whatever the room. */
  plan_tokens: number
}

const titles = {
  current: '# Current work item',
  queued: "# This turn's work item (not in focus)",
  none: "# This turn's work item (not in focus)",
  offered: '# Queued work item (not yet taken up)',
} as const

export function itemSection(
  item: ItemView | null,
  words: readonly Message[],
  view: SectionView,
  room: ItemRoom,
  whose: 'own' | 'offered' = 'own',
): Section {
  const said = wordsLines(words, view, room.words_tokens)
  if (item === null) {
    if (said.lines.length === 0) return omitted('item', 'the turn has none')
    const text = ['# Work item', '', 'This turn has no work item.', ...said.lines].join('\n')
    return full('item', text, 'the turn has none')
  }
  const title = titles[whose === 'offered' ? whose : item.projection.focus]
  const pinned = [title, '', ...pinnedLines(item), ...said.lines]
  const { plan, projection } = item
  const preview = plan.preview === '' ? [] : [previewBlock(plan, view.fence)]
  const ended = [...earlierWaits(item, view), ...endedTasks(item, view)]
  const { result_summary } = projection.item
  const report = result_summary === null ? [] : [block(view.fence, 'report', result_summary)]
  const state = [...stateLines(item, view.now, whose), ...budgetWords(projection)]
  const text = (...groups: readonly string[][]) => [...pinned, ...groups.flat()].join('\n')
  // From all of it down to what holds the item, the first that fits.
  const tries = [
    text(state, preview, ended, report),
    text(state, preview, report),
    ...(view.tokens(preview.join('')) <= room.plan_tokens
      ? []
      : [text(state, left('plan preview', preview), report)]),
  ]
  const at = tries.findIndex((t) => view.tokens(t) <= room.max_tokens)
  const shown = tries.at(at) ?? ''
  if (at === 0 && said.left_out === 0) return full('item', shown, 'the item of the turn')
  const gone = [
    ...(at === 0 ? [] : ['ended waits and tasks']),
    ...(at === 0 || at === 1 ? [] : ['plan preview']),
    ...(said.left_out === 0 ? [] : [counted(said.left_out, 'older message')]),
  ]
  return { section: 'item', text: shown, form: 'compact', why: `no room for ${gone.join(', ')}` }
}

/** How it stands, where neither the title nor a blocker or wait above says it. */
function stateLines(item: ItemView, now: Timestamp, whose: 'own' | 'offered'): string[] {
  const { projection: p } = item
  const lines = stateWords(p, whose).map((words) => `state: ${words}`)
  const is_old = between(p.item.updated_at, now) >= hour
  return is_old ? [...lines, `last changed: ${ago(p.item.updated_at, now)}`] : lines
}

function stateWords(p: Projection, whose: 'own' | 'offered'): string[] {
  switch (p.reason.code) {
    case 'completed': {
      if (p.item.checks.length === 0) return ['completed']
      const { state, says } = verificationOf(p.item)
      return [`completed, ${state === 'verified' ? state : `not verified (${oneLine(says)})`}`]
    }
    case 'nothing_holds_it':
      return p.focus === 'current' || whose === 'offered' ? [] : [p.scheduling_state]
    case 'wait':
    case 'blocked_by':
    case 'needs_input':
    case 'imported':
    case 'budget': {
      const held = p.holds.flatMap(heldWords)
      return held.length === 0 ? [] : [`${p.scheduling_state}, ${held.join(', ')}`]
    }
  }
}

/** Blocker and wait stand above. */
function heldWords({ code }: Hold): string[] {
  switch (code) {
    case 'wait':
    case 'blocked_by':
      return []
    case 'needs_input':
      return ['its plan needs input']
    case 'imported':
      return ['imported, to be picked by the operator']
    case 'budget':
      return ['its budget is used up']
  }
}

const budgetWords = ({ item, budget }: Projection): string[] =>
  budget !== null && budget.draws_on !== null
    ? [`budget: it draws on that of ${budget.draws_on}`]
    : item.budget === null || budget === null
      ? []
      : [`budget, as far as it is used: ${budgetLine(item.budget, budget)}`]

/** What it waited for before this; older ones tell nothing of how it stands. */
const waitsShown = 2

/** The active one is pinned. */
function earlierWaits({ waits }: ItemView, { now }: SectionView): string[] {
  const ended = waits.filter(({ status }) => status !== 'active').slice(-waitsShown)
  return ended.length === 0
    ? []
    : ['ended waits:', ...ended.map((wait) => `- ${waitLine(wait, now)}`)]
}

function endedTasks({ tasks }: ItemView, { now }: SectionView): string[] {
  const ended = tasks.filter(isTerminal)
  return ended.length === 0 ? [] : ['ended tasks:', ...ended.map((t) => `- ${taskLine(t, now)}`)]
}

const previewBlock = (plan: PlanDescriptor, fence: string): string =>
  block(
    fence,
    plan.preview_complete ? 'plan' : 'plan, beginning; read the file for the rest',
    plan.preview,
  )

const left = (what: string, of: readonly string[]): string[] =>
  of.length === 0 ? [] : [`(${what} left out for lack of room: read the file)`]

/**
 * `task_… "label" running for 3 min, output in /path`, or how it ended, with the bytes: the row
 * knows them from the end on.
 */
export function taskLine(task: Task, now: Timestamp): string {
  const name = `${task.id} ${quoted(task.label)}`
  if (!isTerminal(task)) {
    const since = task.started_at ?? task.created_at
    return `${name} ${task.status} for ${span(between(since, now))}, ${saysWhere(task)}`
  }
  const output = `output ${counted(task.output.bytes, 'byte')} in ${placeOf(task)}`
  const exit = task.exit_status === null ? '' : ` with exit status ${task.exit_status}`
  const why = task.reason === null ? '' : ` (${clip(task.reason, 200)})`
  return `${name} ${task.status}${exit}${why} ${ago(task.ended_at ?? now, now)}, ${output}`
}
