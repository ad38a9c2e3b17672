/**
 * A rejection is a value: a code from this one catalogue and a sentence that serves the model, the
 * CLI and the API alike. Nothing in the domain throws for a refusal.
 */
import type { Limit } from './limits.ts'

/** Every way to be told no, with the HTTP status it maps to and what to do about it. */
export const rejections = {
  agent_not_found: { status: 404, hint: 'List agents with `holon agents`.' },
  agent_stopped: { status: 409, hint: 'Start it, or send the message with `start: true`.' },
  agent_id_invalid: {
    status: 422,
    hint: 'Use lower-case letters, digits, dot, dash and underscore, at most 64.',
  },
  agent_exists: { status: 409, hint: 'Configure it, or take a name nobody had before.' },
  agent_deleted: { status: 409, hint: 'Make a new agent; a name is never used again.' },
  agent_kept: { status: 409, hint: 'Stop it instead.' },
  tasks_of_item_running: {
    status: 409,
    hint:
      'Wait for them (WaitFor task_result), stop them (TaskStop), or complete it with ' +
      'leave_running true: they go on, and what comes of them comes late.',
  },
  words_unread: {
    status: 409,
    hint: 'It comes with the next request: read it, then complete the item if it is still done.',
  },
  tasks_running: { status: 409, hint: 'Stop its tasks first: `holon tasks stop <id>`.' },
  task_held: { status: 409, hint: 'It has not begun: answer it with `holon answer <id>`.' },
  agent_private: { status: 409, hint: 'Talk to its parent, or use `holon tasks` on its task.' },
  agent_not_visible: { status: 404, hint: 'AgentGet shows yourself and the agents you made.' },
  agent_id_wanted: { status: 422, hint: 'Give the public agent a name in agent_id.' },
  agent_id_not_wanted: { status: 422, hint: 'Leave agent_id out: a private child gets a name.' },
  asks_operator: { status: 409, hint: 'Only the operator can answer it: `holon answer`.' },
  handoff_empty: { status: 422, hint: 'Say in initial_message what the child is to do.' },
  spawn_private: { status: 409, hint: 'Do the work yourself, or say in your report what is left.' },
  spawn_too_deep: { status: 409, hint: 'Let an agent nearer to the root make it.' },
  children_limit: { status: 409, hint: 'Wait for a child to end, or stop one with TaskStop.' },
  root_wanted: { status: 422, hint: 'Give the folder in `root`, or another workspace_mode.' },
  root_not_wanted: { status: 422, hint: 'Leave `root` out, or use explicit_root.' },
  root_outside: { status: 422, hint: 'Name a folder inside your own workspace.' },
  fork_wants_child: { status: 422, hint: 'Use context fresh for a public agent.' },
  external_wait_private: {
    status: 409,
    hint: 'Wait for a task or a timer, or report to the parent what must happen.',
  },
  template_invalid: { status: 422, hint: 'Only model and fallback_model may stand there.' },
  no_repository: { status: 409, hint: 'Use workspace_mode inherit, or git init and commit.' },
  template_not_found: { status: 404, hint: 'Templates are folders in `templates/` of the home.' },
  grant_not_found: { status: 404, hint: '`holon grants --all` shows what there is.' },
  grant_ended: { status: 409, hint: 'Make the call again: it is asked about.' },
  worktree_not_found: { status: 404, hint: '`holon worktree list` shows what there is.' },
  worktree_over: {
    status: 409,
    hint: '`holon worktree restore` brings it back, if it has a snapshot.',
  },
  worktree_stands: { status: 409, hint: 'It is there already: work in its folder.' },
  worktree_no_snapshot: { status: 409, hint: 'Nothing of it was kept: it was merged.' },
  worktree_leased: { status: 409, hint: 'Stop what works in it first: `holon tasks stop <id>`.' },
  worktree_in_use: {
    status: 409,
    hint: 'End the processes that are in its folder, then try again.',
  },
  worktree_locked: { status: 409, hint: 'Unlock it: `git worktree unlock <folder>`.' },
  worktree_dirty: { status: 409, hint: 'Commit and merge it, or `holon worktree discard` it.' },
  worktree_unmerged: { status: 409, hint: 'Merge its branch, or `holon worktree discard` it.' },
  worktree_missing: {
    status: 409,
    hint: '`holon worktree discard` keeps what git still knows of it.',
  },
  worktree_changed: { status: 409, hint: 'Something wrote to it meanwhile: look, then try again.' },
  snapshot_stale: { status: 409, hint: 'It changed after its snapshot: try again.' },
  git_refused: {
    status: 409,
    hint: 'The sentence says what git met; settle that, then try again.',
  },
  plan_no_runbook: {
    status: 422,
    hint: 'Give it to an agent with a language model, or write its plan as a runbook.',
  },
  plan_folder_linked: {
    status: 409,
    hint: "Put a folder in the place of the link in the agent's folder, then try again.",
  },
  workspace_missing: { status: 422, hint: 'Name an existing folder by its absolute path.' },
  work_item_not_found: { status: 404, hint: 'ListWorkItems shows the ids of this agent.' },
  work_item_completed: { status: 409, hint: 'Create a new work item for further work.' },
  item_not_adopted: {
    status: 409,
    hint: 'Look at it: `holon work show`; then pick it: `holon work pick`.',
  },
  already_imported: { status: 409, hint: 'Import it once more with `--again` (`again: true`).' },
  import_invalid: { status: 422, hint: 'Export it again where it came from.' },
  import_newer: { status: 422, hint: 'Use a newer holon to import it.' },
  revision_stale: { status: 409, hint: 'Read the item again and decide on what it is now.' },
  objective_empty: { status: 422, hint: 'Say in one sentence what is to be achieved.' },
  blocker_empty: { status: 422, hint: 'Give a reason to block, or null to clear the blocker.' },
  file_not_changed: { status: 404, hint: '`holon work diff <item>` shows what it changed.' },
  nothing_to_update: { status: 422, hint: 'Name at least one field to change.' },
  reason_empty: { status: 422, hint: 'Say in one sentence what is waited for.' },
  wait_not_found: { status: 404, hint: 'List waits with `holon waits`.' },
  wait_not_active: { status: 409, hint: 'It already ended; read the item for what holds now.' },
  not_a_question: { status: 409, hint: 'Only a wait for the operator can be answered.' },
  already_answered: { status: 409, hint: 'Read the answer; send a message to add to it.' },
  question_changed: { status: 409, hint: 'Read the question again; the answer was for another.' },
  question_not_wanted: {
    status: 422,
    hint: 'Give it with plan_status needs_input, or ask with WaitFor.',
  },
  question_empty: { status: 422, hint: 'Ask one question, in words that stand by themselves.' },
  choice_empty: { status: 422, hint: 'Give each choice a label: the answer it stands for.' },
  choices_alike: { status: 422, hint: 'Give each choice a key and a label of its own.' },
  choice_unknown: {
    status: 422,
    hint: 'Name a choice by its key or label. A question takes a text, too; a no, words behind it.',
  },
  answer_wants_one: { status: 422, hint: 'Give exactly one of choice and text.' },
  focus_needs_input: {
    status: 422,
    hint: 'Create it without focus; or decide yourself, and leave plan_status out.',
  },
  timer_wants_one_time: { status: 422, hint: 'Give exactly one of wait_ms and wake_at.' },
  time_invalid: { status: 422, hint: 'Use RFC 3339, for example 2026-01-31T09:00:00Z.' },
  time_too_far: { status: 422, hint: 'A wait may last at most 366 days.' },
  cmd_invalid: { status: 422, hint: 'Give a command line, without NUL characters.' },
  task_wanted: { status: 422, hint: 'Put the id of the task into `resource`.' },
  task_not_found: { status: 404, hint: 'ListTasks shows the tasks of this agent.' },
  task_ended: { status: 409, hint: 'TaskOutput shows how it ended.' },
  input_refused: { status: 409, hint: 'It does not read; nothing was given to it.' },
  input_partly_taken: { status: 409, hint: 'Give it the rest when it reads again.' },
  task_takes_no_input: { status: 409, hint: 'Start the command with accepts_input: true.' },
  argument_not_for_wake: { status: 422, hint: 'Leave the argument out, or use another wake.' },
  message_empty: { status: 422, hint: 'Write what you want to say.' },
  image_unreadable: { status: 422, hint: 'Give the bytes of the file as base64.' },
  image_unknown: { status: 422, hint: 'Send a PNG, JPEG, GIF or WebP.' },
  image_secret: { status: 422, hint: 'Send a copy without its comments and other data.' },
  image_size: { status: 422, hint: 'Send a smaller copy.' },
  message_not_found: { status: 404, hint: 'The inbox of the agent has the ids of its messages.' },
  message_not_yours: { status: 409, hint: 'Only what you said yourself can be taken back.' },
  message_in_turn: { status: 409, hint: 'Say otherwise in another message, or abort the turn.' },
  message_is_answer: { status: 409, hint: 'Its question is over; say otherwise in a message.' },
  message_over: { status: 409, hint: 'No turn will read it any more.' },
  message_not_admitted: { status: 422, hint: 'This combination of provenance has no route.' },
  trigger_not_found: { status: 404, hint: 'List triggers with `holon trigger list`.' },
  trigger_default: { status: 409, hint: 'Reset it: the old URL is worthless then.' },
  trigger_secret_missing: { status: 503, hint: '`holon doctor` says what ails trigger-secret.' },
  delivery_not_found: { status: 404, hint: 'The delivery log has the ids of this agent.' },
  delivery_body_missing: { status: 409, hint: 'Ask the sender to send it again.' },
  schedule_not_found: { status: 404, hint: 'List schedules with `holon schedule list`.' },
  schedule_over: { status: 409, hint: 'Make a new one.' },
  schedule_invalid: { status: 422, hint: 'Five fields of cron and an IANA time zone.' },
  schedule_never: { status: 422, hint: 'Name a moment that is still to come.' },
  budget_invalid: {
    status: 422,
    hint: 'Limits are above zero, tokens and rounds whole; a deadline is RFC 3339 and ahead.',
  },
  check_invalid: { status: 422, hint: 'The sentence says what is wrong with the check.' },
  check_not_found: { status: 404, hint: '`holon work check list <item>` shows its checks.' },
  check_not_owed: { status: 409, hint: '`holon work complete <item>` completes it.' },
  check_no_question: { status: 409, hint: 'Only a check by a person can be answered.' },
  check_answered: { status: 409, hint: 'Read the answer; `holon work check run` asks again.' },
  checks_failed: { status: 409, hint: 'Mend what failed, then complete it again.' },
  checks_running: { status: 409, hint: 'Wait until its checks have ended, then run them again.' },
  call_under_way: { status: 409, hint: 'Its end will be a message.' },
  check_of_operator: { status: 409, hint: 'It ends by itself; only the operator stops it.' },
  label_invalid: { status: 422, hint: 'Give a label in one line.' },
  idempotency_mismatch: { status: 422, hint: 'Use a new Idempotency-Key for another request.' },
  attention_not_found: { status: 404, hint: '`holon inbox` lists what needs a person now.' },
  trigger_no_match: { status: 404, hint: 'Name an active external wait.' },
  queue_full: { status: 429, hint: 'Retry later; the agent works through its queue.' },
  turn_running: { status: 409, hint: 'Retry when the turn has ended, or abort it.' },
  run_stale: { status: 409, hint: 'Look again: the run you mean is not the open one.' },
  over_limit: { status: 422, hint: 'Stay within the limit named.' },
  query_empty: { status: 422, hint: 'Give a word, a "phrase" or a prefix*.' },
  source_ref_invalid: {
    status: 422,
    hint: 'Use a source_ref that MemorySearch gave, like brief_…, work_…/plan or file:memory/x.md.',
  },
  source_not_found: { status: 404, hint: 'MemorySearch finds what there is, with its source_ref.' },
  model_unknown: { status: 422, hint: 'Models are written provider/model.' },
} as const satisfies Record<string, { status: number; hint: string }>

export type RejectionCode = keyof typeof rejections

export type Rejection = { ok: false; code: RejectionCode; message: string; hint: string }

/** A refusal: the code, and the sentence that says what is wrong and where. */
export const no = (code: RejectionCode, message: string, hint?: string): Rejection => ({
  ok: false,
  code,
  message,
  hint: hint ?? rejections[code].hint,
})

/** The one refusal over a limit: its name, the value, and the remedy. */
export const overLimit = (what: Limit, value: number): Rejection =>
  no(
    'over_limit',
    `${what.name} is ${value} ${what.unit}; the limit is ${what.value}.`,
    `Keep ${what.name} within ${what.value} ${what.unit} (${what.reason}).`,
  )

export const isRejection = (value: unknown): value is Rejection =>
  typeof value === 'object' && value !== null && 'ok' in value && value.ok === false
