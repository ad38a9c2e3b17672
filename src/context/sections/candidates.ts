/**
 * The agent's other work items, by class and in rank order, one line each: at most 3 triggered,
 * 5 queued, 3 waiting or blocked, 3 completed with a report, and one count for the rest of a class.
 * Under pressure the classes give way from the last one up; their counts stay.
 */
import { candidateClasses, type CandidateClass } from '../../domain/state/decision.ts'
import { promptLimit } from '../../domain/facts/candidates.ts'
import { leftBehind } from '../../domain/facts/left.ts'
import type { Projection } from '../../domain/facts/readiness.ts'
import type { Timestamp } from '../../domain/time.ts'
import { verificationOf } from '../../domain/facts/verification.ts'
import { questionText } from '../../domain/state/question.ts'
import { waitWords, type Wait } from '../../domain/state/wait.ts'
import type { TokenEstimator } from '../estimate.ts'
import { contextLimits } from '../limits.ts'
import { counted, oneLine, quoted } from '../phrase.ts'
import { full, omitted, type Section } from '../section.ts'
import { itemInFull, type Situation } from './situation.ts'
import { subject, triggers } from './wait-line.ts'

const titles: { readonly [C in CandidateClass]: string } = {
  current_runnable: 'In focus, runnable',
  triggered_blocked: 'Triggered, to be reviewed',
  queued_runnable: 'Queued and runnable',
  waiting_for_operator: 'Waiting for the operator',
  blocked: 'Blocked or waiting',
  completed_recent: 'Completed lately',
}

/** The filter of ListWorkItems that shows the whole class. */
const filters: { readonly [C in CandidateClass]: string } = {
  current_runnable: 'current',
  triggered_blocked: 'triggered',
  queued_runnable: 'queued',
  waiting_for_operator: 'waiting_for_operator',
  blocked: 'blocked',
  completed_recent: 'completed',
}

/**
 * Classes stand in the order in which they keep their lines under pressure. `told`: items whose
 * report stands whole elsewhere.
 */
export function candidateSection(
  situation: Situation,
  told: ReadonlySet<string>,
  tokens: TokenEstimator,
  max_tokens: number,
): Section {
  const own = classOfOwn(situation)
  const classes = candidateClasses
    .map((name) => ({ name, items: itemsOf(situation, name, own) }))
    .filter(({ items }) => items.length > 0)
  if (classes.length === 0) {
    return omitted('others', 'there is none')
  }
  let left = max_tokens
  // Every class has its head line whatever happens.
  for (const { name, items } of classes) left -= tokens(headLine(name, items.length, 0)) + 1
  let gone = 0
  const parts = classes.map(({ name, items }) => {
    const lines: string[] = []
    for (const projection of items.slice(0, promptLimit[name])) {
      const line = `- ${candidateLine(projection, situation, told)}`
      if (tokens(line) + 1 > left) break
      left -= tokens(line) + 1
      lines.push(line)
    }
    // A better class that did not fit leaves nothing to those after it.
    const missing = Math.min(items.length, promptLimit[name]) - lines.length
    if (missing > 0) left = 0
    gone += missing
    return [headLine(name, items.length, lines.length), ...lines].join('\n')
  })
  const text = ['# Other work items', ...parts, ...notReady(situation)].join('\n\n')
  return gone === 0
    ? full('others', text, 'the candidates by class')
    : { section: 'others', text, form: 'compact', why: `no room for ${counted(gone, 'item')}` }
}

function headLine(name: CandidateClass, total: number, shown: number): string {
  if (shown === total) return `${titles[name]}:`
  const more = `ListWorkItems filter ${filters[name]} shows all`
  return `${titles[name]}, ${shown} of ${total} (${more})${shown === 0 ? '' : ':'}`
}

/** The class in which the item in full stands among the others; `any`: it has to be looked for. */
function classOfOwn(situation: Situation): CandidateClass | 'none' | 'any' {
  const item = itemInFull(situation)
  const { candidates } = situation
  if (item === null) return 'none'
  const { candidate_class: name, item: own } = item.projection
  // It may stand elsewhere: what it waits for fell due between the two looks.
  return candidates[name].some((one) => one.item.id === own.id) ? name : 'any'
}

/**
 * Without the turn's item; completed ones only with a report; in a queue turn only ready ones. A
 * class may have thousands, and of most turns all of them are others: those are not gone through.
 */
function itemsOf(
  situation: Situation,
  name: CandidateClass,
  classOfOwn: CandidateClass | 'none' | 'any',
): readonly Projection[] {
  const { cause } = situation.turn
  const all = situation.candidates[name]
  const own = itemInFull(situation)?.projection.item.id
  const others =
    classOfOwn === name || classOfOwn === 'any' ? all.filter(({ item }) => item.id !== own) : all
  if (name === 'completed_recent') return others.filter(({ item }) => item.result_summary !== null)
  if (name !== 'queued_runnable' || cause.kind !== 'queued_available') return others
  const ready = new Set(cause.work_item_ids)
  return others.filter(({ item }) => ready.has(item.id))
}

function notReady({ turn, candidates }: Situation): string[] {
  if (turn.cause.kind !== 'queued_available') return []
  const count = candidates.queued_runnable.length - turn.cause.work_item_ids.length
  return count > 0 ? [`Queued, but the agent backs off after turns without progress: ${count}`] : []
}

function candidateLine(p: Projection, situation: Situation, told: ReadonlySet<string>): string {
  const { item } = p
  const name = `${item.id} ${quoted(item.objective, 500)}`
  if (item.result_summary !== null && p.lifecycle === 'completed') {
    const report = told.has(item.id)
      ? 'its report stands below'
      : `report: ${quoted(item.result_summary, contextLimits.report_head.value)}`
    const left = leftBehind(item, situation.running_tasks)
    return [`${name}${checked(item)}`, ...left, report].join(', ')
  }
  const parts = [name]
  if (p.current_todo !== null) parts.push(`todo: ${oneLine(p.current_todo.text)}`)
  parts.push(...holdWords(p, situation.now))
  const head = planHead(situation.plan_texts[item.id] ?? '')
  if (head !== '') parts.push(`plan: ${quoted(head, contextLimits.plan_head.value)}`)
  return parts.join('; ')
}

/** That it is a plan is said before it. */
const planHead = (text: string): string => text.replace(/^\s*#+\s*plan\s*\n/i, '').trim()

/** All that holds it: the end of one does not lift the others. */
const holdWords = ({ holds }: Projection, now: Timestamp): string[] =>
  holds.map((hold) => {
    switch (hold.code) {
      case 'wait':
        return waitHolds(hold.wait, now)
      case 'blocked_by':
        return `blocked by: ${quoted(hold.text)}`
      case 'needs_input':
        return 'its plan needs input'
      case 'imported':
        return 'imported, to be picked by the operator'
      case 'budget':
        return 'its budget is used up'
    }
  })

/** A question with its answers: an answer may be no more than one of their names. */
function waitHolds(wait: Wait, now: Timestamp): string {
  if (wait.question !== null) return `asks: ${quoted(questionText(wait.question), 500)}`
  const news = wait.trigger_count > 0 ? [triggers(wait, now)] : []
  const parts = [wait.wake, quoted(waitWords(wait)), ...subject(wait), ...news]
  return `waits: ${parts.join(', ')}`
}

/** Nothing where no checks were asked for: every completion is a claim. */
function checked(item: Projection['item']): string {
  const { state, says } = verificationOf(item)
  switch (state) {
    case 'none':
    case 'asked':
      return ''
    case 'verified':
      return ', verified'
    case 'pending':
      return ', its checks are not all done'
    case 'failed':
    case 'unknown':
    case 'changed':
      return `, not verified (${oneLine(says)})`
  }
}
