/** Messages as entries: what was said, and its receipt in the words every screen uses. Pure. */
import type { Entry, Level } from './entry.ts'
import { entry, facts, line, lines, pictureLines, turnName, type Sight } from './parts.ts'
import type { Group } from '../history/noun-fold.ts'

export function messageEntry(group: Group, sight: Sight, level: Level): Entry | null {
  const admitted = group.heard.message_admitted?.event
  if (admitted === undefined) return null
  const { kind } = admitted.provenance
  const subject = { noun: 'message', id: group.id } as const
  const said = receiptOf(group, sight)
  const common = { subject, ...(level === 3 ? { body: record(group) } : {}) }
  switch (kind) {
    case 'operator_prompt': {
      // An answer closes the question that opened it.
      if (admitted.wait_id !== null && level < 3) return null
      const [first = '', ...rest] = admitted.body.trim().split('\n')
      const body = [...lines(rest.join('\n')), ...pictureLines(admitted), ...(common.body ?? [])]
      return entry(group, 'message', {
        ...common,
        who: line('you'),
        title: line(first),
        body,
        facts: facts(said),
        mark: group.heard.message_dead === undefined ? null : 'failed',
      })
    }
    case 'callback_event':
    case 'webhook_event': {
      const from = [admitted.source, admitted.resource].filter((part) => part !== null).join(' ')
      return entry(group, 'message', {
        ...common,
        mark: 'arrived',
        who: line('^'),
        title: line(`${from === '' ? 'an outside event' : from}: ${admitted.body}`),
        facts: facts(said),
      })
    }
    case 'task_result':
    case 'task_status':
    case 'timer_tick':
    case 'internal_followup':
    case 'delegation':
      if (level < 3) return null
      return entry(group, 'message', {
        ...common,
        who: line('-'),
        title: line(`${kind}: ${admitted.body}`),
        facts: facts(said),
      })
  }
}

/** Where a message has got to, as rows say. */
export function receiptOf({ heard }: Group, sight: Sight): string {
  if (heard.message_dead !== undefined) return `dead: ${heard.message_dead.event.reason}`
  if (heard.message_dropped !== undefined) return `dropped: ${heard.message_dropped.event.reason}`
  if (heard.message_taken_back !== undefined) return 'taken back by you'
  const interjected = heard.message_interjected
  if (interjected !== undefined) {
    const { turn_id, round } = interjected.event
    return `in ${turnName(sight, turn_id)}, seen in request ${round}`
  }
  const claimed = heard.message_claimed
  const requeued = heard.message_requeued
  const isBack = claimed !== undefined && requeued !== undefined && requeued.seq > claimed.seq
  if (claimed !== undefined && !isBack) {
    const name = turnName(sight, claimed.event.turn_id)
    return heard.message_shown === undefined ? `in ${name}` : `seen in ${name}`
  }
  if (heard.message_coalesced !== undefined) return 'taken together with others'
  const consumed = heard.message_consumed
  if (consumed !== undefined) return `needed no turn: ${consumed.event.because}`
  const priority = heard.message_admitted?.event.priority
  const waits = priority === 'interject' ? 'waits for a safe point' : 'waits for the next turn'
  return isBack ? `was cut off before it was read; ${waits}` : `accepted, ${waits}`
}

function record(group: Group) {
  const admitted = group.heard.message_admitted?.event
  if (admitted === undefined) return []
  const { origin, delivery_surface, authority_class } = admitted.provenance
  return [
    line(`${group.id}  seq ${group.seq}  ${admitted.priority}`),
    line(`from ${origin} by ${delivery_surface}, ${authority_class}`),
  ]
}
