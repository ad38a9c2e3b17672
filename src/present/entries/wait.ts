/** Waits and questions as entries: one from the moment it begins to what ended it. Pure. */
import type { Entry, Level } from './entry.ts'
import { entry, facts, line, lines, msBetween, pictureLines, type Sight } from './parts.ts'
import { endOfWait } from './turn.ts'
import type { Group } from '../history/noun-fold.ts'
import { oneCommand } from '../lines/call-line.ts'
import { span } from '../text/span.ts'
import { cut } from '../text/width.ts'
import { questionText, triggeredWords } from '../../protocol/records/records.ts'

/** Cells of a command's name inside a sentence. */
const labelCells = 40

export function waitEntry(group: Group, sight: Sight, level: Level): Entry | null {
  const registered = group.heard.wait_registered
  if (registered === undefined) return null
  const record = level === 3 ? recordOf(group) : []
  const { wake, reason, wake_at } = registered.event
  if (wake === 'operator_input') return questionEntry(group, sight, record)
  const end = group.heard.wait_resolved ?? group.heard.wait_cancelled
  const what = whatFor(group, sight)
  const subject = { noun: 'wait', id: group.id } as const
  const came = group.heard.wait_triggered
  const count = came?.event.count ?? 0
  const reviewed = (group.heard.wait_reviewed?.seq ?? 0) > (came?.seq ?? 0)
  const seen = { trigger_count: count, reviewed_trigger_count: reviewed ? count : 0 }
  const triggered = triggeredWords(seen) ?? ''
  const common = { subject, body: [...(level > 1 ? lines(reason) : []), ...record] }
  if (end === undefined) {
    const isHeld = wake === 'system'
    return entry(group, 'wait', {
      ...common,
      mark: isHeld && wake_at === null ? 'failed' : count > 0 && !reviewed ? 'arrived' : 'waiting',
      who: line('~'),
      title: line(`waits for ${what}`),
      facts: facts(triggered, 'no cost'),
      since: registered.at,
      due: wake_at,
    })
  }
  // One that ended in the commit that began it never was a wait.
  if (end.at === registered.at && level < 3) return null
  const long = span(msBetween(registered.at, end.at))
  const cancelled = group.heard.wait_cancelled?.event
  const how =
    cancelled === undefined
      ? `waited ${long} for ${what}`
      : `waited ${long} for ${what}; given up: ${cancelled.because}`
  return entry(group, 'wait', {
    ...common,
    mark: 'waiting',
    who: line('~'),
    title: line(how),
    body: record,
    facts: facts(triggered, 'no cost'),
  })
}

function whatFor({ heard }: Group, sight: Sight): string {
  const event = heard.wait_registered?.event
  if (event === undefined) return ''
  switch (event.wake) {
    case 'task_result': {
      const task = event.resource === null ? undefined : sight.group(event.resource)
      const label = task?.heard.task_queued?.event.label
      const name = label === undefined ? '' : `: ${cut(line(oneCommand(label)), labelCells)}`
      return `${event.resource}${name}`
    }
    case 'timer':
      return 'its time'
    case 'external': {
      const name = [event.source, event.resource].filter((part) => part !== null).join(' ')
      return name === '' ? 'an outside event' : name
    }
    case 'operator_input':
      return 'you'
    case 'system':
      return `a hold to end: ${event.reason}`
  }
}

type Registered = NonNullable<Group['heard']['wait_registered']>['event']

/** All that was asked, with the answers that were offered below it. */
const asked = (event: Registered | undefined): string =>
  event?.question ? questionText(event.question) : (event?.reason ?? '')

function questionEntry(group: Group, sight: Sight, record: Entry['body']): Entry {
  const { wait_registered, wait_resolved, wait_cancelled, brief_delivered: _ } = group.heard
  const event = wait_registered?.event
  const [first = '', ...rest] = asked(event).trim().split('\n')
  const given = {
    who: line('?'),
    title: line(first),
    subject: { noun: 'wait', id: group.id },
    cli: line(`holon answer ${group.id} <text>`),
  } as const
  const body = lines(rest.join('\n'))
  if (wait_cancelled !== undefined) {
    const why = facts(`withdrawn: ${wait_cancelled.event.because}`)
    return entry(group, 'question', { ...given, body: [...body, ...record], facts: why })
  }
  if (wait_resolved === undefined) {
    return entry(group, 'question', {
      ...given,
      body: [...body, ...record],
      mark: 'needs_me',
      since: wait_registered?.at ?? group.at,
    })
  }
  const { by } = wait_resolved.event
  const message = by.kind === 'operator' ? sight.group(by.message_id) : undefined
  const admitted = message?.heard.message_admitted?.event
  const surface = admitted?.provenance.delivery_surface
  const where = surface === undefined ? '' : ` (${surface.replaceAll('_', ' ')})`
  const answer =
    admitted === undefined ? [] : [...lines(`you: ${admitted.body}`), ...pictureLines(admitted)]
  const long = span(msBetween(wait_registered?.at ?? group.at, wait_resolved.at))
  return entry(group, 'question', {
    ...given,
    mark: 'done',
    body: [...body, ...answer, ...record],
    facts: facts(`${endOfWait(by)}${where} after ${long}`),
  })
}

const recordOf = (group: Group) => {
  const event = group.heard.wait_registered?.event
  return [
    line(`${group.id}  seq ${group.seq}  ${event?.wake} by ${event?.by}`),
    ...(event === undefined || event.condition === null ? [] : [line(`until ${event.condition}`)]),
  ]
}
