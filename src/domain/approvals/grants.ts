/**
 * Grants (docs/spec/task.md#grants): a yes to a held command that stands for longer than once. It
 * answers only what a rule asks, never what one denies, and is looked at in the very commit in
 * which a command is queued by it, so its uses are those that began. It ends with its item, its
 * agent, its date, and when a person takes it back.
 */
import type { Draft } from '../facts/facts.ts'
import type { GrantId, TaskId, WorkItemId } from '../ids.ts'
import { limits } from '../limits.ts'
import type { ActionBody, ActionCommand } from '../policy/action.ts'
import type { ActionPart } from '../policy/part.ts'
import { wordText } from '../shell/words.ts'
import { no, overLimit, type Rejection } from '../rejection.ts'
import {
  isInForce,
  type Grant,
  type Grantable,
  type GrantScope,
  type LikeCommand,
} from '../state/grant.ts'
import type { DeliverySurface } from '../state/provenance.ts'
import type { Choice } from '../state/question.ts'
import { done, type Done } from '../state/reply.ts'
import type { HeldCall } from '../state/task.ts'
import { plus, type Timestamp } from '../time.ts'
import { covers } from './scope.ts'

type Facts = Pick<Draft, 'rows'>

/** What is asked about, as far as a grant may answer for it; `lifts` null: none may. */
export type Coverable = { action: ActionBody; lifts: readonly ActionPart[] | null }

/** The grant by which it needs no question now, the oldest first; null: there is none. */
export function coveredBy(
  facts: Facts,
  { action, lifts }: Coverable,
  item: WorkItemId | null,
  now: Timestamp,
): Grant | null {
  for (const grant of facts.rows('grants')) {
    if (grant.work_item_id !== null && grant.work_item_id !== item) continue
    if (isInForce(grant, now) && covers(grant.scope, action, lifts)) return grant
  }
  return null
}

/**
 * Decided once more in the commit that queues the command, which counts it: the refusal where none
 * holds by now.
 */
export function grantFor(d: Draft, asked: Coverable, item: WorkItemId | null): Grant | Rejection {
  const grant = coveredBy(d, asked, item, d.now)
  if (grant === null) {
    const message = 'What the operator allowed has just ended; nothing ran.'
    return no('grant_ended', message)
  }
  return grant
}

export type GrantGiven = {
  task_id: TaskId
  work_item_id: WorkItemId | null
  scope: GrantScope
  surface: DeliverySurface
}

export function makeGrant(d: Draft, given: GrantGiven): Rejection | null {
  const count = [...d.rows('grants')].filter((grant) => isInForce(grant, d.now)).length
  if (count >= limits.grants.value) return overLimit(limits.grants, count + 1)
  const isOfAgent = given.scope.kind === 'like_for_agent'
  d.emit({
    type: 'grant_made',
    id: d.mint('grant'),
    ...given,
    work_item_id: isOfAgent ? null : given.work_item_id,
    until: isOfAgent ? plus(d.now, limits.grant_lasts.value) : null,
  })
  return null
}

/** What a choice stands for; null: it is none of those that were offered. */
export function scopeOf(
  key: string,
  { action, grantable }: Pick<HeldCall, 'action' | 'grantable'>,
): GrantScope | null {
  if (grantable === null) return null
  const { like } = grantable
  switch (key) {
    case 'same_for_item':
      return { kind: key, action }
    case 'like_for_item':
    case 'like_for_agent':
      return like === null ? null : { kind: key, like }
    default:
      return null
  }
}

const days = limits.grant_lasts.value / 86_400_000

/** From narrow to broad, each with what it would allow and what it would not. */
export function grantChoices(
  grantable: Grantable | null,
  item: WorkItemId | null,
): readonly Choice[] {
  if (grantable === null) return []
  const { like } = grantable
  const ofItem = item !== null
  const same = 'exactly this for this item: word for word in this folder, not with a word more'
  const narrow = ofItem ? [{ key: 'same_for_item', label: same }] : []
  if (like === null) return narrow
  const begins = beginning(like)
  const examples = `also ${begins} another, not ${otherwise(like)}`
  const alike = `\`${begins} …\` for this item: ${examples}`
  const lasting = `\`${begins} …\` for all that this agent does, for ${days} days: ${examples}`
  return [
    ...narrow,
    ...(ofItem ? [{ key: 'like_for_item', label: alike }] : []),
    { key: 'like_for_agent', label: lasting },
  ]
}

const beginning = ({ name, words, flags }: LikeCommand): string =>
  [name, ...words, ...flags].join(' ')

/** Of what begins another way. */
const otherwise = ({ name, words }: LikeCommand): string =>
  [name, ...words.slice(0, -1), 'other'].join(' ')

const lineOf = ({ argv }: ActionCommand): string => argv.map(wordText).join(' ')

/** What a grant allows, in a line. */
export function grantWords({ scope }: Pick<Grant, 'scope'>): string {
  switch (scope.kind) {
    case 'same_for_item':
      return `exactly: ${scope.action.commands.map(lineOf).join('; ')}`
    case 'like_for_item':
    case 'like_for_agent':
      return `${beginning(scope.like)} … in ${scope.like.cwd}`
  }
}

/** The operator takes it back: the next such command is asked about again. */
export function revokeGrant(d: Draft, id: string): Done | Rejection {
  const grant = d.row('grants', id)
  if (!grant || grant.agent_id !== d.agent_id) {
    return no('grant_not_found', `${id} is not a grant of ${d.agent_id}.`)
  }
  if (grant.status === 'ended') return done(`${id} ended before: ${grant.because}.`, { id })
  end(d, grant, 'operator', 'the operator took it back')
  return done(`${id} is revoked; what it allowed is asked about again.`, { id })
}

/** With the end of what they are for: an item, or the agent where none is given. */
export function endGrants(d: Draft, item: WorkItemId | null, because: string): void {
  for (const grant of active(d)) {
    if (item === null || grant.work_item_id === item) end(d, grant, 'runtime', because)
  }
}

/** Those whose date has come. */
export function lapseGrants(d: Draft): void {
  for (const grant of active(d)) {
    if (!isInForce(grant, d.now)) end(d, grant, 'runtime', 'its date has come')
  }
}

const active = (facts: Facts): Grant[] =>
  [...facts.rows('grants')].filter(({ status }) => status === 'active')

function end(d: Draft, { id }: { id: GrantId }, by: 'operator' | 'runtime', because: string): void {
  d.emit({ type: 'grant_ended', id, by, because })
}
