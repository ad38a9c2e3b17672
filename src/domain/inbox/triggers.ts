/**
 * Rules of triggers: the operator mints, resets and revokes them, the runtime gives each public
 * agent its own (docs/spec/wait.md#triggers). A token never comes in here: only the function that
 * hashes it.
 */
import { agentOf, type Draft } from '../facts/facts.ts'
import type { TriggerId } from '../ids.ts'
import { limits, type Limit } from '../limits.ts'
import type { Trigger } from '../state/trigger.ts'
import { no, overLimit, type Rejection } from '../rejection.ts'
import type { DeliveryMode } from '../state/wait.ts'

/** The agent's own trigger, made with the agent. */
export const defaultLabel = 'default'

/**
 * Hex SHA-256 of the token of a trigger's generation. Null where the secret of the home cannot be
 * read: nothing is minted then.
 */
export type TokenHash = ((id: TriggerId, generation: number) => string) | null

export type NewTrigger = {
  label: string
  by: Trigger['by']
  source: string | null
  resource: string | null
  delivery_mode: DeliveryMode | null
}

export type Triggered = { ok: true; trigger: Trigger }

export function createTrigger(
  d: Draft,
  given: NewTrigger,
  tokenHash: TokenHash,
): Triggered | Rejection {
  if (agentOf(d).visibility === 'private') {
    return no('trigger_not_found', `${d.agent_id} is private; it has no triggers.`)
  }
  const label = given.label.trim()
  const wrong =
    checkLabel(label) ??
    checkLength(limits.event_name, given.source) ??
    checkLength(limits.event_name, given.resource)
  if (wrong) return wrong
  let active = 0
  for (const trigger of d.rows('triggers')) if (trigger.status === 'active') active += 1
  if (active >= limits.agent_triggers.value) return overLimit(limits.agent_triggers, active + 1)
  if (tokenHash === null) return secretMissing()
  const id = d.mint('trig')
  const generation = 1
  const token_sha256 = tokenHash(id, generation)
  d.emit({ type: 'trigger_created', id, ...given, label, generation, token_sha256 })
  return { ok: true, trigger: mustTrigger(d, id) }
}

/** Gives a public agent its own trigger where it has none yet. Says whether it made one. */
export function ensureDefaultTrigger(d: Draft, tokenHash: TokenHash): boolean {
  const agent = agentOf(d)
  if (agent.visibility === 'private' || agent.state === 'deleted' || tokenHash === null) {
    return false
  }
  for (const trigger of d.rows('triggers')) if (isDefault(trigger)) return false
  const given = { source: null, resource: null, delivery_mode: null }
  const made = createTrigger(d, { label: defaultLabel, by: 'runtime', ...given }, tokenHash)
  return made.ok
}

export const isDefault = (trigger: Trigger): boolean =>
  trigger.by === 'runtime' && trigger.status === 'active'

/** The next generation: what was handed out before opens nothing any more. */
export function resetTrigger(d: Draft, id: TriggerId, tokenHash: TokenHash): Triggered | Rejection {
  const trigger = activeTrigger(d, id)
  if ('ok' in trigger) return trigger
  if (tokenHash === null) return secretMissing()
  const generation = trigger.generation + 1
  d.emit({ type: 'trigger_reset', id, generation, token_sha256: tokenHash(id, generation) })
  return { ok: true, trigger: mustTrigger(d, id) }
}

/** Final. The agent's own trigger stays: it is reset instead. */
export function revokeTrigger(d: Draft, id: TriggerId): Triggered | Rejection {
  const trigger = activeTrigger(d, id)
  if ('ok' in trigger) return trigger
  if (isDefault(trigger)) {
    return no('trigger_default', `${id} is the agent's own trigger and cannot be revoked.`)
  }
  d.emit({ type: 'trigger_revoked', id, by: 'operator' })
  return { ok: true, trigger: mustTrigger(d, id) }
}

/** A trigger of this agent that still opens something, or the refusal. */
export function activeTrigger(d: Draft, id: string): Trigger | Rejection {
  const trigger = d.row('triggers', id)
  if (!trigger || trigger.agent_id !== d.agent_id) {
    return no('trigger_not_found', `${id} is not a trigger of ${d.agent_id}.`)
  }
  if (trigger.status === 'revoked') return no('trigger_not_found', `${id} was revoked.`)
  return trigger
}

const secretMissing = (): Rejection =>
  no('trigger_secret_missing', 'The secret that tokens are derived from cannot be read.')

function mustTrigger(d: Draft, id: TriggerId): Trigger {
  const trigger = d.row('triggers', id)
  if (!trigger) throw new Error(`no row for ${id}`)
  return trigger
}

/** A name that stands in a list: one line, not empty. */
export function checkLabel(label: string): Rejection | null {
  if (label === '') return no('label_invalid', 'The label is empty.')
  if (/[\r\n]/.test(label)) return no('label_invalid', 'The label has more than one line.')
  return checkLength(limits.label, label)
}

export const checkLength = (limit: Limit, text: string | null): Rejection | null =>
  text !== null && text.length > limit.value ? overLimit(limit, text.length) : null
