/**
 * What happens to an agent in the situations of `why`, each one commit; and the agent as a reader
 * sees it then.
 */
import type { WorkItemId } from '../../domain/ids.ts'
import { updateItem } from '../../domain/work/create-and-update.ts'
import { paceAgent } from '../../domain/waits/pacing.ts'
import { holdAgent } from '../../domain/scheduler/park.ts'
import { decideNext } from '../../domain/scheduler/next.ts'
import { survey } from '../../domain/scheduler/survey.ts'
import { agentView, type AgentView } from '../../protocol/agent-view.ts'
import { deliver, wait, type World } from '../world/agent-world.ts'

/** Who works on the home: a process at rest, one that is in the open turn, or nobody. */
export type Presence = 'at_rest' | 'in_turn' | 'nobody'

/** One situation: what is prepared, and all that must be said then, with clock times. */
export type WhyRow = [
  name: string,
  prepare: (w: World, id: WorkItemId) => Presence | void,
  state_and_class: string,
  sentence: string,
  next: string,
  when: string | null,
]

export const minute = 60_000

/** The agent as a reader sees it; at rest, an open turn is one that was interrupted. */
export function viewOf(w: World, presence: Presence): AgentView {
  const view = agentView(w.facts, w.now, presence !== 'nobody')
  if (presence === 'in_turn') return view
  const s = survey(w.facts, w.now, false)
  return { ...view, survey: s, next: decideNext(s) }
}

export const stop = (w: World): void =>
  w.do((d) => d.emit({ type: 'agent_stopped', id: 'main', by: 'operator' }))

export const hold = (w: World, cause: 'provider_world' | 'provider_setup' = 'provider_world') =>
  w.do((d) => holdAgent(d, { cause, message: 'The provider answers 503.', until: null }))

export const update = (
  w: World,
  id: WorkItemId,
  fields: Omit<Parameters<typeof updateItem>[1], 'work_item_id' | 'by'>,
) => w.do((d) => updateItem(d, { work_item_id: id, by: 'agent', ...fields }))

export const asRunbook = (w: World): void =>
  w.do((d) => {
    d.emit({ type: 'agent_configured', id: 'main', model: 'runbook' })
  })

export const emptyBucket = (w: World): void =>
  w.do((d) => paceAgent(d, { bucket: 0, bucket_at: d.now }))

/** A wait for `ci`, which came so often. */
export function hinted(w: World, id: WorkItemId, came = 1): void {
  wait(w, { work_item_id: id, source: 'ci', delivery_mode: 'wake_hint' })
  for (let n = 0; n < came; n++) deliver(w, { source: 'ci' })
}
