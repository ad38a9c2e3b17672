/**
 * The sizes a request is made of: name, number, unit, reason. Shares are parts of the model's
 * context window; the limits that rules know about are in domain/limits.ts.
 */
import { limits, type Limit } from '../domain/limits.ts'

const limit = (name: string, value: number, unit: string, reason: string): Limit => ({
  name,
  value,
  unit,
  reason,
})

export const contextLimits = {
  earlier_rounds: limit('earlier_rounds', 20, 'rounds', 'of the item, quoted when a turn starts'),
  earlier_share: limit('earlier_share', 0.3, 'of the window', 'room for the turn itself'),
  opening_share: limit('opening_share', 0.6, 'of the window', 'the rest is for the rounds'),
  instructions_share: limit('instructions_share', 0.15, 'of the window', 'all files together'),
  answer_share: limit('answer_share', 0.1, 'of the window', 'kept free for the answer'),
  answer: limit('answer', 16_000, 'tokens', 'more is not kept free in a large window'),
  result_max: limit(
    'result_max',
    4 * limits.result_tokens.value,
    'tokens',
    'what max_output_tokens may ask for; the whole output is a file',
  ),
  result_min: limit('result_min', 200, 'tokens', 'status, cut line and path need that much'),
  plan_head: limit('plan_head', 120, 'characters', 'the plan of an item in a list'),
  line: limit('line', 2_000, 'characters', 'one line of a result'),
  inline: limit('inline', 160, 'characters', 'a longer text stands in a quoted block'),
  arguments: limit('arguments', 2_000, 'characters', 'of a quoted call, shown whole'),
  glance: limit('glance', 240, 'characters', 'words or arguments in a shortened round'),
  report_head: limit('report_head', 300, 'characters', 'of a completed item in a list'),
  other_tasks: limit('other_tasks', 8, 'tasks', 'of other items, running'),
  unchanged_rounds: limit('unchanged_rounds', 20, 'rounds', 'between two reminders'),
  stale_changes: limit('stale_changes', 8, 'changes', 'with the todo list untouched'),
  itemless_rounds: limit('itemless_rounds', 6, 'rounds', 'that change things without an item'),
} as const satisfies Record<string, Limit>
