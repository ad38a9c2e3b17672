/**
 * Delivers a brief: text for the operator, as one event of the decision in the making.
 */
import type { BriefEvent } from '../state/brief.ts'
import type { Draft } from './facts.ts'

/** What the brief is not about is left out. */
export function deliverBrief(
  d: Draft,
  brief: Pick<BriefEvent, 'kind' | 'text'> & Partial<Omit<BriefEvent, 'type'>>,
): void {
  const { id = d.mint('brief'), turn_id = null, work_item_id = null, wait_id = null } = brief
  const { kind, text, message_id = null, task_id = null, warnings = [] } = brief
  const about = { turn_id, work_item_id, wait_id, message_id, task_id }
  d.emit({ type: 'brief_delivered', id, kind, text, ...about, warnings })
}
