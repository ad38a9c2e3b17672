/** Waits that the rules set up by themselves, where nothing can speak against one. */
import type { Draft } from '../facts/facts.ts'
import type { Wait } from '../state/wait.ts'
import { waitFor, type WaitCommand } from './wait-for.ts'

type Needed = 'by' | 'runtime_cause' | 'wake' | 'reason' | 'work_item_id' | 'question'
const usual = {
  resource: null,
  source: null,
  condition: null,
  wake_at: null,
  recheck_at: null,
  delivery_mode: 'enqueue_message',
  task: null,
  has_listener: true,
} as const

/** A refusal is a bug: the rules wait only where a wait may stand. */
export function mustWait(d: Draft, wanted: Pick<WaitCommand, Needed> & Partial<WaitCommand>): Wait {
  const waiting = waitFor(d, { ...usual, ...wanted })
  if (waiting.ok) return waiting.wait
  const of = wanted.resource ?? wanted.work_item_id ?? d.agent_id
  throw new Error(`the wait ${wanted.wake} of ${of} was refused: ${waiting.message}`)
}

/**
 * A question that the runtime puts to the operator, for itself or for an item whose agent left it
 * unasked: a wait for their word that nothing else ends.
 */
export const askOperator = (
  d: Draft,
  asked: Pick<WaitCommand, Exclude<Needed, 'wake'> | 'held_focus'>,
): Wait => mustWait(d, { wake: 'operator_input', ...asked })
