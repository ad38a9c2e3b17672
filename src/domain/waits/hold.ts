/**
 * Hold: an agent that may not act now, as one system wait of the agent itself
 * (docs/spec/scheduler.md). Why, until when and what is told of it, each kind of hold says for
 * itself; here is that it is one.
 */
import type { Draft, Facts } from '../facts/facts.ts'
import type { WaitId } from '../ids.ts'
import { rankingOf } from '../facts/ranking.ts'
import type { RuntimeCause, Wait } from '../state/wait.ts'

export type HoldCause = Extract<
  RuntimeCause,
  'provider_world' | 'provider_setup' | 'disk_full' | 'budget' | 'spending'
>

export type NewHold = Pick<Wait, 'reason' | 'resource' | 'source' | 'wake_at'> & {
  runtime_cause: HoldCause
}

/** The hold of the agent, of one cause or of any; null: none is active. */
export function activeHold(facts: Facts, cause: HoldCause | null = null): Wait | null {
  for (const wait of rankingOf(facts).agentWaits()) {
    if (wait.wake !== 'system' || wait.status !== 'active') continue
    if (cause === null || wait.runtime_cause === cause) return wait
  }
  return null
}

/** Holds the agent. Null: it is held already, whatever for. */
export function registerHold(d: Draft, hold: NewHold): WaitId | null {
  if (activeHold(d) !== null) return null
  const { runtime_cause, reason, resource, source, wake_at } = hold
  const id = d.mint('wait')
  d.emit({
    type: 'wait_registered',
    id,
    work_item_id: null,
    wake: 'system',
    by: 'runtime',
    runtime_cause,
    reason,
    question: null,
    resource,
    source,
    condition: null,
    delivery_mode: 'wake_hint',
    since_seq: d.base.seq,
    wake_at,
    recheck_at: null,
    released_focus: false,
  })
  return id
}
