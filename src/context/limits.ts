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

/**
 * What a child inherits of its parent. `fork_prefix`, `fork_named` and `fork_handoff` together are
 * `fork`; inside the prefix what gives way first is the tail, then notes, other items, the plan.
 */
const forkLimits = {
  fork: limit('fork', 24_000, 'tokens', 'stands in every request of the child'),
  fork_prefix: limit('fork_prefix', 18_000, 'tokens', 'whatever the handoff says, so caches hold'),
  fork_named: limit('fork_named', 2_000, 'tokens', 'what the handoff names, and siblings'),
  fork_handoff: limit('fork_handoff', 4_000, 'tokens', 'the message itself has it whole'),
  fork_state: limit('fork_state', 4_000, 'tokens', 'todos, blocker, wait and running commands'),
  fork_plan: limit('fork_plan', 8_000, 'tokens', 'half a plan argument; a plan is read whole'),
  fork_others: limit('fork_others', 1_500, 'tokens', 'items the own item names or waits on'),
  fork_episodes: limit('fork_episodes', 1_500, 'tokens', 'reports of what was finished lately'),
  fork_episode: limit('fork_episode', 600, 'characters', 'of one report'),
  fork_episode_note: limit('fork_episode_note', 250, 'tokens', 'process notes of one'),
  fork_episode_notes: limit('fork_episode_notes', 8, 'notes', 'the newest of one'),
  fork_episode_items: limit('fork_episode_items', 5, 'items', 'the newest'),
  fork_notes: limit('fork_notes', 2_000, 'tokens', 'the way of the item so far'),
  fork_tail: limit('fork_tail', 6_000, 'tokens', 'the last rounds; the plan is the anchor'),
  fork_tail_rounds: limit('fork_tail_rounds', 6, 'rounds', 'never a copy of the transcript'),
  fork_result: limit('fork_result', 1_000, 'tokens', 'of one result or message in the tail'),
  fork_items: limit('fork_items', 8, 'items', 'others in one list'),
  fork_tasks: limit('fork_tasks', 8, 'tasks', 'running ones in one list'),
  fork_least: limit('fork_least', 150, 'tokens', 'a part with less room is left out'),
  fork_objective: limit('fork_objective', 12, 'characters', 'a shorter one is no name of an item'),
} as const satisfies Record<string, Limit>

/** Files that say how work is done: instructions whole, of skills only the catalogue. */
const instructionLimits = {
  instructions_share: limit('instructions_share', 0.15, 'of the window', 'all files together'),
  instruction_file: limit('instruction_file', 262_144, 'bytes', 'a longer one is no instruction'),
  instruction_folders: limit('instruction_folders', 32, 'folders', 'up to the top of a repository'),
  skills_share: limit('skills_share', 0.03, 'of the window', 'the catalogue, not the skills'),
  skills_tokens: limit('skills_tokens', 4_000, 'tokens', 'the catalogue in a large window'),
  skill_line: limit('skill_line', 400, 'characters', 'of a description, where there is room'),
  skill_short: limit('skill_short', 100, 'characters', 'of a description, where there is little'),
  skill_name: limit('skill_name', 64, 'characters', 'as the published format has it'),
  skill_file: limit('skill_file', 262_144, 'bytes', 'a longer one is no page to be read'),
  skill_folders: limit('skill_folders', 200, 'folders', 'looked at when a turn begins'),
  frontmatter: limit('frontmatter', 16_384, 'characters', 'the keys at the head of a file'),
  unusable_files: limit('unusable_files', 8, 'files', 'named in one section of a request'),
} as const satisfies Record<string, Limit>

export const contextLimits = {
  earlier_rounds: limit('earlier_rounds', 20, 'rounds', 'of the item, quoted when a turn starts'),
  earlier_share: limit('earlier_share', 0.3, 'of the window', 'room for the turn itself'),
  history_result: limit('history_result', 1_024, 'tokens', 'of a result in a later turn'),
  opening_share: limit('opening_share', 0.6, 'of the window', 'the rest is for the rounds'),
  inherited_share: limit('inherited_share', 0.25, 'of the window', 'a fork in a small window'),
  answer_share: limit('answer_share', 0.1, 'of the window', 'kept free for the answer'),
  answer: limit('answer', 16_000, 'tokens', 'more is not kept free in a large window'),
  result_max: limit(
    'result_max',
    4 * limits.result_tokens.value,
    'tokens',
    'what max_output_tokens may ask for; the whole output is a file',
  ),
  result_min: limit('result_min', 200, 'tokens', 'status, cut line and path need that much'),
  plan_share: limit('plan_share', 0.1, 'of the window', 'the preview that a compaction keeps'),
  plan_head: limit('plan_head', 120, 'characters', 'the plan of an item in a list'),
  line: limit('line', 2_000, 'characters', 'one line of a result'),
  inline: limit('inline', 160, 'characters', 'a longer text stands in a quoted block'),
  arguments: limit('arguments', 2_000, 'characters', 'of a quoted call, shown whole'),
  glance: limit('glance', 240, 'characters', 'words or arguments in a shortened round'),
  report_head: limit('report_head', 120, 'characters', 'of a completed item in a list'),
  other_tasks: limit('other_tasks', 8, 'tasks', 'of other items, running'),
  unchanged_rounds: limit('unchanged_rounds', 20, 'rounds', 'between two reminders'),
  stale_changes: limit('stale_changes', 8, 'changes', 'with the todo list untouched'),
  itemless_rounds: limit('itemless_rounds', 6, 'rounds', 'that change things without an item'),
  compact_at: limit('compact_at', 0.85, 'of the window', 'room for one more round and an answer'),
  compact_to: limit('compact_to', 0.6, 'of the window', 'one big step, so the prefix then holds'),
  compact_tail: limit('compact_tail', 0.5, 'of the window', 'the newest rounds, whole'),
  compact_warn: limit('compact_warn', 0.7, 'of the window', 'told, so that findings are noted'),
  compact_hard: limit('compact_hard', 0.35, 'of the window', 'when a provider said: too long'),
  compact_gain: limit('compact_gain', 0.15, 'of the window', 'less room won is not worth a step'),
  recap_share: limit('recap_share', 0.1, 'of the window', 'of rounds that went out of the request'),
  recap: limit('recap', 4_000, 'tokens', 'in a large window'),
  recap_texts: limit('recap_texts', 0.15, 'of the window', 'own words of rounds that went'),
  summary: limit('summary', 1_500, 'tokens', 'beneath a recap, in a large window'),
  summary_share: limit('summary_share', 0.04, 'of the window', 'beneath a recap'),
  summary_source: limit('summary_source', 40_000, 'tokens', 'of the rounds, the newest kept'),
  summary_part: limit('summary_part', 800, 'tokens', 'of one result that is summarised'),
  summary_output: limit('summary_output', 6_000, 'tokens', 'a summary and the thinking before it'),
  recap_paths: limit('recap_paths', 60, 'files', 'changed ones, the last changed kept'),
  recap_errors: limit('recap_errors', 12, 'errors', 'the newest'),
  recap_handles: limit('recap_handles', 60, 'handles', 'of records that calls made or touched'),
  words: limit('words', 100, 'messages', 'about one item, the first and the newest'),
  input_share: limit('input_share', 0.15, 'of the window', 'the input of a compacted turn'),
  words_share: limit('words_share', 0.1, 'of the window', 'what was said about the item'),
  words_tokens: limit('words_tokens', 2_048, 'tokens', '8 KiB of what was said about the item'),
  word: limit('word', 2_000, 'tokens', 'one earlier message about the item'),
  word_head: limit('word_head', 120, 'characters', 'of a message that is named in one line'),
  handoff_tokens: limit('handoff_tokens', 2_048, 'tokens', '8 KiB; a longer one is a file too'),
  said: limit('said', 8, 'messages', 'lately said, by each side'),
  said_tokens: limit('said_tokens', 1_024, 'tokens', '4 KiB in every opening'),
  said_share: limit('said_share', 0.05, 'of the window', 'lately said, in a small window'),
  said_newest: limit('said_newest', 1_500, 'characters', 'the newest words of each side'),
  said_older: limit('said_older', 300, 'characters', 'older words where not all have room'),
  place: limit('place', 200, 'ms', 'a look at machine and git; a turn does not wait for it'),
  notes_share: limit('notes_share', 0.05, 'of the window', 'process notes of the item'),
  notes_tokens: limit('notes_tokens', 2_000, 'tokens', 'process notes in a large window'),
  notes: limit('notes', 40, 'notes', 'the way of one item, newest kept'),
  note_events: limit('note_events', 500, 'events', 'of the item, read for its notes'),
  ...instructionLimits,
  ...forkLimits,
} as const satisfies Record<string, Limit>
