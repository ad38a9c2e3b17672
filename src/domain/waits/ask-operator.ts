/**
 * A question that the runtime puts to the operator, for itself or for an item whose agent left it
 * unasked: a wait for their word that nothing else ends.
 */
import type { Draft } from '../facts/facts.ts'
import type { Wait } from '../state/wait.ts'
import { waitFor, type WaitCommand } from './wait-for.ts'

/** A refusal is a bug: the rules ask only where a question may stand. */
export function askOperator(
  d: Draft,
  asked: Pick<
    WaitCommand,
    'by' | 'runtime_cause' | 'reason' | 'work_item_id' | 'question' | 'held_focus'
  >,
): Wait {
  const waiting = waitFor(d, {
    wake: 'operator_input',
    resource: null,
    source: null,
    condition: null,
    wake_at: null,
    recheck_at: null,
    delivery_mode: 'enqueue_message',
    task: null,
    has_listener: true,
    ...asked,
  })
  if (waiting.ok) return waiting.wait
  const who = asked.work_item_id ?? d.agent_id
  throw new Error(`the question of ${who} was refused: ${waiting.message}`)
}
