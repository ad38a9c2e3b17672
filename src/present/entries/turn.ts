/** Turns, what the model said in them, and decisions, as entries. Pure. */
import { counted } from '../lines/call-line.ts'
import { messageWords, queuedWords } from '../lines/cause-words.ts'
import type { Entry, Level } from './entry.ts'
import { entry, facts, line, lines, msBetween, turnName, type Sight } from './parts.ts'
import type { Group } from '../history/noun-fold.ts'
import { decisionWord, type Event } from '../../protocol/records/records.ts'
import { clockSpan, span } from '../text/span.ts'
import { dollars, thousandths } from '../lines/state-cell.ts'

/** From this on a timer counts as late, in milliseconds. */
const lateFrom = 60_000

export function turnEntry(group: Group, sight: Sight, level: Level): Entry | null {
  const started = group.heard.turn_started
  if (started === undefined) return null
  const ended = group.heard.turn_ended
  const calls = group.count.call_recorded ?? 0
  const who = line(turnName(sight, group.id))
  const subject = { noun: 'turn', id: group.id } as const
  const because = `because ${sight.woken(group.id) ?? becauseOf(started.event, sight)}`
  const price = priceOf(group)
  const body = level === 3 ? record(group) : []
  if (ended === undefined) {
    const given = { who, subject, body, mark: 'working', since: started.at } as const
    return entry(group, 'turn', { ...given, title: line(because), facts: facts(price) })
  }
  const { outcome, reason } = ended.event
  const how = outcomeWords(outcome, reason)
  const took = clockSpan(msBetween(started.at, ended.at))
  return entry(group, 'turn', {
    who,
    subject,
    body,
    mark: outcome === 'failed' ? 'failed' : null,
    title: line(how === '' ? because : `${because}; ${how}`),
    facts: facts(calls === 0 ? '' : counted(calls, 'call'), took, price),
  })
}

/** How a turn ended, where that is news. */
function outcomeWords(outcome: string, reason: string | null): string {
  const why = reason === null ? '' : `: ${reason.replaceAll('_', ' ')}`
  switch (outcome) {
    case 'failed':
      return `failed${why}`
    case 'aborted':
      return `was stopped${why}`
    case 'interrupted':
      return `was cut off before it began${why}`
    case 'completed':
      return /limit|errors/.test(reason ?? '') ? `ended early${why}` : ''
  }
  return ''
}

/** `$0.31`, or tokens where no price is known; a sum that is not known is left out. */
export function priceOf(group: Group): string {
  const used = group.heard.turn_ended?.event.usage ?? group.used
  if (used === null || used === undefined) return ''
  if (used.usd !== null && used.usd > 0) return dollars(used.usd)
  const { input_tokens, output_tokens } = used
  if (input_tokens === null || output_tokens === null) return ''
  const tokens = input_tokens + output_tokens
  return tokens === 0 ? '' : `${thousandths(tokens)} tokens`
}

export function becauseOf(event: Extract<Event, { type: 'turn_started' }>, sight: Sight): string {
  const { cause } = event
  switch (cause.kind) {
    case 'continue_current':
    case 'review_triggered':
      return event.because
    case 'queued_available':
      return queuedWords(cause.work_item_ids.length)
    case 'message':
      break
  }
  const message = sight.group(cause.message_id)?.heard.message_admitted?.event
  if (message === undefined) return event.because
  const answered = `you answered "${message.body}"`
  const claimed = { ...message, kind: message.provenance.kind }
  return messageWords(claimed, { answered, because: event.because })
}

/** What ended a wait, as a reason for what came next. */
export function endOfWait(by: Extract<Event, { type: 'wait_resolved' }>['by']): string {
  switch (by.kind) {
    case 'task':
      return `${by.task_id} ended`
    case 'timer':
      return by.late_by_ms < lateFrom ? 'the time came' : `the time came ${span(by.late_by_ms)} ago`
    case 'operator':
      return 'you answered'
    case 'runtime':
      return 'it is settled'
  }
}

function record(group: Group) {
  const started = group.heard.turn_started?.event
  if (started === undefined) return []
  const fell = group.heard.model_fell_back?.event
  return [
    line(`${group.id}  seq ${group.seq}  ${started.model}`),
    line(`runtime: ${started.because}`),
    ...(fell === undefined ? [] : [line(`went on with ${fell.model}: ${fell.cause}`)]),
  ]
}

/** What the model said: live text has the place and the id that its record takes over. */
export function roundEntry(group: Group, sight: Sight, level: Level): Entry | null {
  const sent = group.heard.request_sent?.event
  if (sent === undefined) return null
  const recorded = group.heard.round_recorded?.event
  const text =
    recorded === undefined
      ? (sight.live(group.id) ?? '')
      : recorded.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const recap =
    sent.recapped === undefined ? '' : `compacted: rounds 1 to ${sent.recapped} stand as a recap`
  const cut = cutWords(group.heard.answer_cut?.event)
  const aside = [recap, cut].filter((part) => part !== '').join('; ')
  if (level < 3) {
    const title = level === 1 ? '' : aside
    const nothing = text.trim() === '' && title === ''
    return nothing ? null : entry(group, 'text', { title: line(title), body: lines(text) })
  }
  const title = [`request ${sent.n}, ${sent.kind}`, aside].filter((part) => part !== '').join('; ')
  const given = { title: line(title), body: lines(text) }
  if (recorded === undefined) return entry(group, 'text', { ...given, mark: 'working' })
  const { input_tokens: into, output_tokens: out, cached_input_tokens: cached } = recorded.usage
  const share = into === null || cached === null || into === 0 ? null : (cached / into) * 100
  return entry(group, 'text', {
    ...given,
    facts: facts(
      into === null ? '' : `${thousandths(into)} in`,
      share === null ? '' : `${Math.round(share)} % cached`,
      out === null ? '' : `${thousandths(out)} out`,
    ),
  })
}

/** Answers that broke off are paid for, though nothing of them is shown. */
function cutWords(event: Extract<Event, { type: 'answer_cut' }> | undefined): string {
  if (event === undefined) return ''
  return event.answers === 1
    ? 'an answer broke off, and was asked for again'
    : `${event.answers} answers broke off, and were asked for again`
}

/** A stored decision with the verdict on each candidate: of the record only. */
export function decisionEntry(group: Group, _sight: Sight, level: Level): Entry | null {
  const made = group.heard.decision_made?.event
  if (made === undefined || level < 3) return null
  const considered = made.considered.map((one) =>
    'more' in one
      ? `${one.candidate_class}: ${one.more} more`
      : `${one.work_item_id}  ${one.candidate_class}  ${one.verdict}`,
  )
  return entry(group, 'decision', {
    who: line('-'),
    title: line(`decided, ${decisionWord(made.decision)}: ${made.because}`),
    body: [line(`${group.id}  seq ${group.seq}`), ...considered.map(line)],
  })
}
