/**
 * The records that readers get, by the names of docs/spec/nouns.md#who-owns-what: what lists and
 * single reads print, on a wire and in `--json` alike. Rows of the ledger are records as they are,
 * but for the runtime's own bookkeeping in items and waits, which `itemRecord` and `waitRecord`
 * leave out.
 */
export type { Agent } from '../../domain/state/agent.ts'
export type { Brief } from '../../domain/state/brief.ts'
export type { ToolResult } from '../../domain/state/call.ts'
export type { FileDiff } from '../../domain/state/file-diff.ts'
export { isUnderWay, specOf, type Check } from '../../domain/state/check.ts'
export type { CheckGiven } from '../../domain/checks/spec.ts'
export type { Event, EventOf, Rows, StoredEvent, Table } from '../../domain/state/event.ts'
export type { IdOf } from '../../domain/ids.ts'
export { isMeantBy, tableOfNoun } from '../../domain/state/short-id.ts'
export type { Emitted, Facts } from '../../domain/facts/facts.ts'
export type { Message } from '../../domain/state/message.ts'
export type { PlanDescriptor } from '../../domain/state/plan.ts'
export type { Hold, Projection } from '../../domain/facts/readiness.ts'
export type { Next } from '../../domain/scheduler/next.ts'
export type { Task } from '../../domain/state/task.ts'
export type { Timestamp } from '../../domain/time.ts'
export { addUsage, paymentsOf, type Turn, type Usage } from '../../domain/state/turn.ts'
export type { Wait } from '../../domain/state/wait.ts'
export type { WorkItem } from '../../domain/state/work-item.ts'
export type { Worktree } from '../../domain/state/worktree.ts'

/** Bytes of a file that an item is exported to. */
export { exportLimit } from '../../domain/transfer/export-format.ts'
/** A budget, or one limit of it, with what was used, in words. */
export { spendWindows, type SpendBudget } from '../../domain/state/spend-budget.ts'
export { budgetLine, measuredWords } from '../../domain/facts/budget.ts'
export { type Measured } from '../../domain/state/meter.ts'
/**
 * How long a hold may last that `holon run` still waits for, in milliseconds (docs/spec/cli.md).
 */
export { limits } from '../../domain/limits.ts'
/** A check with its outcome in one line, and what the checks of an item come to. */
export { endLine } from '../../domain/checks/words.ts'
/** What is asked, with the answers that are offered; and what a wait says of itself. */
export {
  choiceLines,
  choiceWithWords,
  questionText,
  type Choice,
} from '../../domain/state/question.ts'
export { askedOf } from '../../domain/state/wait.ts'
export { awaitedWords, triggeredWords, waitWords } from '../../domain/state/wait.ts'
/** What keeps words from being read, and what has to be done about it. */
export { agentUnread, itemUnread, type Unread } from '../../domain/explain/unread.ts'
/** The one word of each state of an item and of an agent. */
export {
  decisionWord,
  itemStateOf,
  itemWord,
  postureOf,
  postureWord,
} from '../../domain/explain/state-name.ts'
/** The derived views of an agent's items, by name. */
export { itemFilters, passes, type ItemFilter } from '../../domain/facts/item-filter.ts'
/** The mark of a question as it was shown, which an answer sends back (docs/spec/http.md). */
export { boundHash } from '../../domain/work/answer-question.ts'
/** A held command: what is shown before an answer, and the mark that an answer sends back. */
export {
  heldChoiceLines,
  heldChoiceNamed,
  heldChoices,
  heldHash,
  heldText,
} from '../../domain/approvals/held-text.ts'
/** As a shell takes it. */
export { wordText } from '../../domain/shell/words.ts'
export { grantWords } from '../../domain/approvals/grants.ts'
export { isInForce, type Grant } from '../../domain/state/grant.ts'
export { isGoingOn, isHeld } from '../../domain/state/task.ts'
/** The depth of a JSON text, for who reads one at the door: counted as the rules count it. */
export { isShallow, jsonExcess } from '../../domain/transfer/json-depth.ts'
/** What a completed item left unfinished, and all that holds an open one. */
export { leftBehind } from '../../domain/facts/left.ts'
export { holdsOf } from '../../domain/facts/readiness.ts'
/** The one sentence about an item. */
export { clauseOf, sentenceOf } from '../../domain/explain/sentence.ts'
export { verificationOf, type VerificationState } from '../../domain/facts/verification.ts'
