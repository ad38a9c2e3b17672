/**
 * Every limit of the runtime: name, number, unit, reason. A rule that needs a number takes it
 * from here; a rejection over a limit names it, the value and the remedy (contracts 15).
 */
import { day, hour, minute } from './time.ts'

export type Limit = { name: string; value: number; unit: string; reason: string }

const limit = (name: string, value: number, unit: string, reason: string): Limit => ({
  name,
  value,
  unit,
  reason,
})

export const limits = {
  objective: limit('objective', 500, 'characters', 'a target, not a plan; detail is in plan.md'),
  reason: limit('reason', 2_000, 'characters', 'read in lists and prompts'),
  todo_text: limit('todo_text', 300, 'characters', 'one step in one line'),
  todos: limit('todos', 100, 'entries', 'the list stands whole in every prompt'),
  plan: limit('plan', 65_536, 'bytes', 'the plan argument; the file itself may grow'),
  plan_file: limit('plan_file', 1_048_576, 'bytes', 'snapshots are kept by hash'),
  export_file: limit('export_file', 4 * 1_048_576, 'bytes', 'one item, taken in at once'),
  export_record: limit('export_record', 262_144, 'bytes', 'of one line; a larger one is left out'),
  export_records: limit('export_records', 20_000, 'lines', 'of one file, looked at before any'),
  export_depth: limit('export_depth', 64, 'levels', 'no honest record is deeper; parsers recurse'),
  import_generations: limit('import_generations', 4, 'files', 'that one item came through in turn'),
  plan_preview: limit('plan_preview', 2_000, 'characters', 'stands in every read'),
  operator_text: limit('operator_text', 65_536, 'bytes', 'a message, not an upload'),
  calls_per_round: limit('calls_per_round', 32, 'calls', 'more is a model gone astray'),
  rounds_per_turn: limit('rounds_per_turn', 500, 'rounds', 'the item goes on in a new turn'),
  failing_rounds: limit('failing_rounds', 10, 'rounds', 'ten in a row that fail in every call'),
  running_tasks: limit('running_tasks', 32, 'tasks', 'processes of one agent'),
  live_children: limit('live_children', 8, 'agents', 'alive at a time, made by one agent'),
  depth: limit('depth', 2, 'agents', 'between an agent and the one that has no parent'),
  child_hold: limit('child_hold', 24 * hour, 'ms', 'a held child is given up, and its task fails'),
  result_summary: limit('result_summary', 2_000, 'characters', 'of a delegation; then cut'),
  open_items: limit('open_items', 10_000, 'items', 'open items of one agent'),
  queued_events: limit('queued_events', 10_000, 'messages', 'queued external messages'),
  agent_waits: limit('agent_waits', 8, 'waits', 'agent-level waits at a time'),
  claimed_messages: limit('claimed_messages', 20, 'messages', 'one turn can attend to'),
  claimed_bytes: limit('claimed_bytes', 65_536, 'bytes', 'message bodies of one turn'),
  message_attempts: limit('message_attempts', 3, 'turns', 'turns that died before a request'),
  no_progress_turns: limit('no_progress_turns', 3, 'turns', 'in a row, then the operator'),
  self_started_turns: limit('self_started_turns', 50, 'turns', 'without outside input'),
  bucket: limit('bucket', 500, 'turns', 'self-started turns of one agent'),
  bucket_refill: limit('bucket_refill', 10 * minute, 'ms', 'one self-started turn comes back'),
  passed_over: limit('passed_over', 10, 'turns', 'then a message goes before the current item'),
  review_pause: limit('review_pause', minute, 'ms', 'between two reviews of one wait'),
  outside_input: limit('outside_input', minute, 'ms', 'a wait this long counts as outside input'),
  dedupe: limit('dedupe', 8 * day, 'ms', 'a delivery id is remembered'),
  prompt_triggered: limit('prompt_triggered', 3, 'items', 'triggered candidates in a prompt'),
  prompt_queued: limit('prompt_queued', 5, 'items', 'queued candidates in a prompt'),
  prompt_blocked: limit('prompt_blocked', 3, 'items', 'blocked candidates in a prompt'),
  prompt_completed: limit('prompt_completed', 3, 'items', 'completed items in a prompt'),
  seen_results: limit('seen_results', 500, 'hashes', 'command results remembered per item'),
  yield: limit('yield', 10_000, 'ms', 'a command in the foreground before it is promoted'),
  yield_max: limit('yield_max', 10 * minute, 'ms', 'a foreground wait asked for'),
  stop_grace: limit('stop_grace', 5_000, 'ms', 'between TERM and KILL'),
  hold_wait: limit('hold_wait', 5 * minute, 'ms', 'a hold that `run` still waits for'),
  budget_notice: limit('budget_notice', 80, '% of a limit', 'used, then the model is told'),
  reserved_answer: limit('reserved_answer', 1_000, 'tokens', 'of an answer not yet seen'),
  summary_time: limit('summary_time', minute, 'ms', 'the turn stands still meanwhile'),
  result_tokens: limit('result_tokens', 8_000, 'tokens', 'of one tool result in a prompt'),
  agent_triggers: limit('agent_triggers', 100, 'triggers', 'capabilities of one agent'),
  agent_schedules: limit('agent_schedules', 1_000, 'schedules', 'that can still be due'),
  checks: limit('checks', 20, 'checks', 'of one item, run one after the other'),
  check_cmd: limit('check_cmd', 4_000, 'characters', 'a command; a longer one is a script'),
  check_usual: limit('check_usual', 10 * minute, 'ms', 'a check command that names no limit'),
  check_time: limit('check_time', hour, 'ms', 'a check command; those behind it wait'),
  check_url: limit('check_url', 2_000, 'characters', 'what common servers take'),
  check_get: limit('check_get', 30_000, 'ms', 'one answer of a server, body included'),
  check_body: limit('check_body', 65_536, 'bytes', 'of an answer; the rest is not read'),
  check_tail: limit('check_tail', 2_000, 'characters', 'the last of an output, on the item'),
  label: limit('label', 100, 'characters', 'a name in a list'),
  event_name: limit('event_name', 500, 'characters', 'what an event is about, matched whole'),
  summary: limit('summary', 300, 'characters', 'one line; what is longer is cut'),
  delivery_body: limit('delivery_body', 262_144, 'bytes', 'one event; its blob has it whole'),
  delivery_text: limit('delivery_text', 65_536, 'bytes', 'of a body the agent reads; then cut'),
  missed_slots: limit('missed_slots', 100, 'slots', 'made up for, or counted, after a downtime'),
  slot_grace: limit('slot_grace', minute, 'ms', 'a slot settled this late was not missed'),
  queued_ticks: limit('queued_ticks', 100, 'messages', 'of one schedule that wait to be read'),
  schedule_ahead: limit('schedule_ahead', 3_660 * day, 'ms', 'a schedule ahead'),
  idempotency: limit('idempotency', day, 'ms', 'an idempotency key is remembered'),
  fingerprint: limit('fingerprint', 64, 'characters', 'the mark of an attention entry'),
  search_query: limit('search_query', 400, 'characters', 'some words, not a text'),
  search_results: limit('search_results', 50, 'records', 'what one answer shows'),
  setting: limit('setting', 200, 'characters', 'a model is provider/model'),
  path: limit('path', 4_096, 'characters', 'the longest path of common systems'),
  wait_max: limit('wait_max', 366 * day, 'ms', 'a timer or recheck ahead'),
} as const satisfies Record<string, Limit>

/** Back-off after one and after two self-started turns without progress (the third parks). */
export const backOffMs: readonly number[] = [0, minute, 5 * minute]

/** How long the agent is held after each failure of the provider in a row; then the last. */
export const holdMs: readonly number[] = [minute, 5 * minute, 15 * minute, hour]
