/**
 * A wait in one line: as it stands, for the item and the lists; and as what woke the agent, for
 * the anchor of a turn. Reasons and names of things are quoted, never lines of their own.
 */
import type { TurnId } from '../../domain/ids.ts'
import { between, second, type Timestamp } from '../../domain/time.ts'
import { recheckDue, triggeredWords, waitWords, type Wait } from '../../domain/state/wait.ts'
import { ago, clip, clock, quoted, span } from '../phrase.ts'
import type { Situation } from './situation.ts'

/** `wait_… external, "reason", …`: what it waits for, what has come, and what ends it. */
export function waitLine(wait: Wait, now: Timestamp): string {
  const parts = [`${wait.id} ${wait.wake}`, quoted(waitWords(wait)), ...subject(wait)]
  switch (wait.status) {
    case 'active':
      parts.push(...standing(wait, now))
      break
    case 'resolved':
      parts.push(`resolved ${ago(wait.resolved_at ?? now, now)}`)
      break
    case 'cancelled':
      parts.push(`cancelled ${ago(wait.cancelled_at ?? now, now)}`)
      break
  }
  return parts.join(', ')
}

export function subject(wait: Wait): string[] {
  const parts: string[] = []
  if (wait.wake === 'task_result' && wait.resource !== null) parts.push(clip(wait.resource, 200))
  else if (wait.resource !== null) parts.push(`resource ${quoted(wait.resource)}`)
  if (wait.source !== null) parts.push(`source ${quoted(wait.source)}`)
  if (wait.condition !== null) parts.push(`condition ${quoted(wait.condition, 500)}`)
  return parts
}

function standing(wait: Wait, now: Timestamp): string[] {
  const parts = [`since ${ago(wait.created_at, now)}`]
  if (wait.wake_at !== null) parts.push(due('wakes', wait.wake_at, now))
  if (wait.wake === 'external') parts.push(triggers(wait, now))
  if (wait.recheck_at !== null) parts.push(due('recheck', wait.recheck_at, now))
  return parts
}

export const due = (word: string, at: Timestamp, now: Timestamp): string => {
  const ms = between(now, at)
  return ms > 0 ? `${word} at ${clock(at)}, in ${span(ms)}` : `${word} due since ${clock(at)}`
}

/** `not triggered yet`, or how often, how much of it is new, and when it last was. */
export function triggers(
  wait: Pick<Wait, 'trigger_count' | 'reviewed_trigger_count' | 'last_triggered_at'>,
  now: Timestamp,
): string {
  const last = wait.last_triggered_at
  const when = last === null ? '' : `, last ${ago(last, now)}`
  return `${triggeredWords(wait) ?? 'not triggered yet'}${when}`
}

/**
 * What a wait says now that it woke the agent: the sentence the anchor of a turn is made of. The
 * turn's own review has marked everything as seen; `turn` tells that apart from earlier ones.
 */
export function wokenLine(
  wait: Wait,
  turn: TurnId,
  now: Timestamp,
  hints: NonNullable<Situation['hints']> = [],
): string {
  const said = quoted(waitWords(wait), 500)
  const looks = recheckWords(wait, turn, now)
  switch (wait.wake) {
    case 'timer':
      return timerLine(wait, said, now)
    case 'task_result':
      return `Task ${clip(wait.resource ?? '', 200)}, waited for (${said}), has ended.`
    case 'operator_input':
      return wait.status === 'active'
        ? `What you asked (${said}) is not answered yet; it waits on.${looks}`
        : `What was asked (${said}) is answered.`
    case 'external':
      return externalLine(wait, said, turn, now) + hintWords(hints)
    case 'system':
      return `The runtime's hold (${said}) is over.`
  }
}

/** Hints of one wait that are named; of the others how many there are. */
const hintsNamed = 5

/** A hint has no words that are shown: it is where it came from. */
function hintWords(hints: NonNullable<Situation['hints']>): string {
  if (hints.length === 0) return ''
  const named = hints.slice(0, hintsNamed).map(({ source, resource, count }) => {
    const of = [
      source === null ? 'no source' : `source ${quoted(source)}`,
      ...(resource === null ? [] : [`resource ${quoted(resource)}`]),
    ].join(', ')
    return count === 1 ? of : `${of} (${count} times)`
  })
  const more = hints.length - named.length
  return ` Hints came of ${named.join('; ')}${more > 0 ? `; and ${more} others` : ''}.`
}

function timerLine(wait: Wait, said: string, now: Timestamp): string {
  if (wait.wake_at === null) return `The timer waited for (${said}) has ended.`
  const late = between(wait.wake_at, wait.resolved_at ?? now)
  const how =
    late < second
      ? 'on time'
      : `${span(late)} late (late_by_ms ${late}): what it was for may have moved on`
  return `The timer waited for (${said}), due at ${clock(wait.wake_at)}, has fired, ${how}.`
}

function externalLine(wait: Wait, said: string, turn: TurnId, now: Timestamp): string {
  const seen = seenBy(wait, turn)
  const about = subject(wait).join(', ')
  const of = `Wait ${wait.id} (${said}${about === '' ? '' : `, ${about}`})`
  return `${of}: ${triggers(seen, now)}.${recheckWords(wait, turn, now)}`
}

function recheckWords(wait: Wait, turn: TurnId, now: Timestamp): string {
  const seen = seenBy(wait, turn)
  return recheckDue(seen, now) ? ` Its recheck time ${clock(seen.recheck_at ?? now)} has come.` : ''
}

/** As it was before the turn's own review. */
const seenBy = (wait: Wait, turn: TurnId): Wait =>
  wait.last_review?.turn_id === turn ? { ...wait, ...wait.last_review.before } : wait
