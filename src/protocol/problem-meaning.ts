/**
 * What each problem means, in a sentence or two: the page of its type in `docs/reference/problems`
 * is generated from here, and a code without a meaning does not build.
 */
import type { RejectionCode } from '../domain/verdict.ts'
import type { HttpProblemCode } from './problem.ts'

const ofAgents = {
  agent_not_found: 'No agent has this name, or had it when it was deleted.',
  agent_stopped: 'The agent is stopped: it takes no message until it is started.',
  agent_id_invalid: 'The text cannot be the name of an agent.',
  agent_exists: 'An agent of this name exists already.',
  agent_deleted: 'The agent of this name was deleted. Its history stays readable.',
  agent_kept: 'This agent cannot be deleted.',
  agent_private: 'The agent is a private child: its parent and the runtime alone reach it.',
  agent_not_visible: 'The agent is not one that may be looked at from there.',
  agent_id_wanted: 'A public agent was to be made without a name.',
  agent_id_not_wanted: 'A private child is named by the runtime.',
  handoff_empty: 'A child was to be made without anything to do.',
  spawn_private: 'A private child makes no agents.',
  spawn_too_deep: 'The agent is as far from the root as one may be; it makes no further one.',
  children_limit: 'As many agents that this one made are alive as may be.',
  root_wanted: 'An explicit root was asked for and not named.',
  root_not_wanted: 'A root was named for a workspace that has its own.',
  root_outside: 'The folder is not inside the workspace of the agent that makes the child.',
  fork_wants_child: 'Only a private child inherits a context.',
  template_not_found: 'No template has this name.',
  template_invalid: 'The defaults of the template cannot be read.',
  no_repository: 'A worktree was asked for where there is no git repository with a commit.',
  worktree_not_found: 'No worktree has this id.',
  worktree_over: 'The worktree was removed or discarded before.',
  worktree_stands: 'The worktree is there: there is nothing to restore.',
  worktree_no_snapshot: 'No snapshot of the worktree was kept that it could be restored from.',
  worktree_leased: 'A task works in the worktree, or will: it cannot go away under it.',
  worktree_in_use: 'Processes have their folder or an open file in the worktree.',
  worktree_locked: 'Somebody locked the worktree with git.',
  worktree_dirty: 'The worktree holds changes that are in no commit.',
  worktree_unmerged: 'The worktree holds commits that are not merged.',
  worktree_missing: 'The folder of the worktree is gone, so nothing in it can be kept.',
  worktree_changed: 'The worktree changed while it was being removed.',
  snapshot_stale: 'The worktree changed after its snapshot was taken.',
  git_refused: 'Git could not do it; the detail says why, and nothing was lost.',
  workspace_missing: 'The workspace is no folder that exists.',
  tasks_running: 'The agent still has commands that run, so it cannot be deleted.',
  turn_running: 'A turn of the agent is open, and the act would change what it works on.',
  run_stale: 'The turn that was named is not the open one: it ended, or another began.',
  query_empty: 'A search has no word in it.',
  source_ref_invalid: 'The text cannot be the reference of a record.',
  source_not_found: 'There is no such record, or it is not one that may be read from there.',
  model_unknown: 'The name is not that of a model the configuration knows.',
} as const

const ofItems = {
  work_item_not_found: 'No work item of this agent has the id.',
  work_item_completed: 'The work item is completed, and what is completed does not change.',
  item_not_adopted: 'The item was imported, and nothing is done about it before you pick it.',
  already_imported: 'The agent has an item that was imported from the very same file.',
  import_invalid: 'The file is no export of a work item, or it was cut off or changed.',
  import_newer: 'The file was written by a newer version, in a format this one does not know.',
  revision_stale: 'The item has changed since the revision that was expected.',
  objective_empty: 'A work item was to be made, or changed, without an objective.',
  blocker_empty: 'An item was to be blocked without a reason.',
  nothing_to_update: 'The request names no field to change.',
} as const

const ofWaits = {
  external_wait_private: 'No outside event reaches a private child, so it cannot wait for one.',
  asks_operator: 'The question is for the operator, not for the parent.',
  reason_empty: 'A wait was to be registered without saying what is waited for.',
  wait_not_found: 'No wait of this agent has the id.',
  wait_not_active: 'The wait was resolved or cancelled before.',
  not_a_question: 'The wait is not for the operator, so it has no answer.',
  already_answered: 'Somebody answered first; the detail names who. Nothing of this answer holds.',
  question_changed: 'The question was replaced after it was shown, so this answers another one.',
  answer_wants_one: 'An answer is either one of the choices or a text, and not both.',
  timer_wants_one_time: 'A timer needs a duration or a moment, and not both.',
  time_invalid: 'The text is not a moment with a zone.',
  time_too_far: 'The moment is further ahead than a wait may last.',
  task_wanted: 'A wait for a task needs the id of one.',
  argument_not_for_wake: 'The argument means nothing for this kind of wait.',
  trigger_no_match: 'No active external wait of the agent fits what was fired by hand.',
} as const

const ofTasks = {
  task_not_found: 'No task of this agent has the id.',
  task_ended: 'The task has ended.',
  input_refused: 'The command does not read its input, so nothing was given to it.',
  input_partly_taken: 'The command took a part of the input; the detail says how much.',
  task_takes_no_input: 'The command was started without an input.',
} as const

const ofInputs = {
  message_empty: 'The message has no text.',
  message_not_admitted: 'A message of this origin cannot come in this way.',
  queue_full: 'The agent has as many unread events as it may; none is dropped for a new one.',
  over_limit: 'A value is over its limit; the detail names limit and value.',
  idempotency_mismatch: 'The same `Idempotency-Key` came before with another request.',
  trigger_not_found: 'No active trigger of this agent has the id.',
  trigger_default: "The agent's own trigger cannot be revoked.",
  trigger_secret_missing: 'The secret of the home that tokens are derived from cannot be read.',
  delivery_not_found: 'No delivery of this agent has the id.',
  delivery_body_missing: 'The body of the delivery is not kept any more.',
  budget_invalid: 'A limit of the budget is not above zero, or its deadline is no time ahead.',
  check_invalid: 'A check names nothing that could be run, or a place outside the workspace.',
  check_not_found: 'The item has no check of this name, or none at all.',
  check_not_owed: 'The item is open: its checks are run when it is completed.',
  check_no_question: 'The check is run by the runtime; there is nothing to answer.',
  check_answered: 'Somebody answered it before, or it was asked again since it was shown.',
  checks_running: 'Checks of the item are still to be run, or wait for a person already.',
  check_of_operator: 'The task runs a check of the operator; the agent may not stop it.',
  label_invalid: 'The label is empty or has more than one line.',
  attention_not_found: 'Nothing of this id needs a person now, or it has changed since.',
} as const

const ofSchedules = {
  schedule_not_found: 'No schedule of this agent has the id.',
  schedule_over: 'The schedule has ended or was removed.',
  schedule_invalid: 'The expression or the time zone cannot be read.',
  schedule_never: 'The schedule has no moment that is still to come.',
} as const

const ofRequests = {
  bad_request: 'The bytes are no request that can be understood.',
  not_json: 'The body is not one JSON value in UTF-8.',
  too_deep: 'Objects and arrays of the body are nested more than 64 deep.',
  invalid_cursor: 'The cursor or seq is not one that an earlier answer gave.',
  invalid_idempotency_key: 'The key that names the request is empty, too long or not ASCII.',
  unauthorized: 'The request needs the control token of the home, and has none or a wrong one.',
  signature_invalid: 'The webhook is not signed with its secret, or was signed too long ago.',
  foreign_origin: 'The request came from a web page that is not of this server.',
  not_found: 'Nothing is there; the same is said of every capability that is not valid.',
  ambiguous_id: 'The short id fits several; the detail names them.',
  method_not_allowed: 'The route exists, with other methods.',
  body_timeout: 'The body did not arrive in time.',
  upkeep_running: 'A backup or a retention runs already; nothing of this one was begun.',
  backup_failed: 'The backup could not be made; the detail says why. Nothing of it is left.',
  events_gone: 'The events after the cursor are not there: retention took them, or it is ahead.',
  too_large: 'The body has more bytes than the route takes: 1 MiB, deliveries 256 KiB.',
  unsupported_media_type: 'The content type or encoding is not one that the route takes.',
  wrong_host: 'The `Host` header is none of the names of this server.',
  headers_too_large: 'The address and the headers are too long together.',
  invalid_request: 'The request does not fit its schema; `errors` names each field.',
  horizon_invalid: 'The time up to which history may go is missing, given twice, or to come.',
  path_invalid: 'The path is not absolute, is in the home, or is no folder.',
  rate_limited: 'More requests came with this capability than its bucket held.',
  locked_out: 'Ten wrong tokens came from this address within a minute.',
} as const

const ofServer = {
  internal: 'Something failed that should not; nothing more is said outside the log.',
  fault: 'The world failed under the daemon: the file system, or the ledger.',
  not_ready: 'The daemon has started and is still recovering what was open.',
  degraded: 'There is no room on the disk, or no descriptor. It ends by itself.',
  too_many_streams: 'As many event streams are open as may be, or the server is closing.',
} as const

export const problemMeanings: Readonly<Record<RejectionCode | HttpProblemCode, string>> = {
  ...ofAgents,
  ...ofItems,
  ...ofWaits,
  ...ofTasks,
  ...ofInputs,
  ...ofSchedules,
  ...ofRequests,
  ...ofServer,
}
