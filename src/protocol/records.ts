/**
 * The records that readers get, by the names of docs/spec/nouns.md#who-owns-what: what lists and
 * single reads print, on a wire and in `--json` alike. Rows of the ledger are records as they are,
 * but for the runtime's own bookkeeping in items and waits, which `itemRecord` and `waitRecord`
 * leave out.
 */
export type { Agent } from '../domain/agent.ts'
export type { Brief } from '../domain/brief.ts'
export type { ToolResult } from '../domain/call.ts'
export { isUnderWay, specOf, type Check } from '../domain/check.ts'
export type { CheckGiven } from '../domain/check-spec.ts'
export type { Event, Rows, StoredEvent, Table } from '../domain/event.ts'
export type { IdOf } from '../domain/ids.ts'
export { isMeantBy } from '../domain/short-id.ts'
export type { Emitted, Facts } from '../domain/facts.ts'
export type { Message } from '../domain/message.ts'
export type { PlanDescriptor } from '../domain/plan.ts'
export type { Hold, Projection } from '../domain/readiness.ts'
export type { Next } from '../domain/schedule.ts'
export type { Task } from '../domain/task.ts'
export type { Timestamp } from '../domain/time.ts'
export { addUsage, type Turn, type Usage } from '../domain/turn.ts'
export type { Wait } from '../domain/wait.ts'
export type { WorkItem } from '../domain/work-item.ts'
export type { Worktree } from '../domain/worktree.ts'

/** Bytes of a file that an item is exported to. */
export { exportLimit } from '../domain/export-format.ts'
/** A budget, or one limit of it, with what was used, in words. */
export { spendWindows, type SpendBudget } from '../domain/spend-budget.ts'
export { budgetLine, measuredWords } from '../domain/budget.ts'
export { type Measured } from '../domain/meter.ts'
/**
 * How long a hold may last that `holon run` still waits for, in milliseconds (docs/spec/cli.md).
 */
export { limits } from '../domain/limits.ts'
/** A check with its outcome in one line, and what the checks of an item come to. */
export { endLine } from '../domain/check-words.ts'
/** What is asked, with the answers that are offered; and what a wait says of itself. */
export { choiceLines, questionText, type Choice } from '../domain/question.ts'
export { askedOf } from '../domain/wait.ts'
export { awaitedWords, triggeredWords, waitWords } from '../domain/wait.ts'
/** What keeps words from being read, and what has to be done about it. */
export { agentUnread, itemUnread, type Unread } from '../domain/unread.ts'
/** The one word of each state of an item and of an agent. */
export {
  decisionWord,
  itemStateOf,
  itemWord,
  postureOf,
  postureWord,
} from '../domain/state-name.ts'
/** The derived views of an agent's items, by name. */
export { itemFilters, passes, type ItemFilter } from '../domain/item-filter.ts'
/** The mark of a question as it was shown, which an answer sends back (docs/spec/http.md). */
export { boundHash } from '../domain/answers.ts'
/** The depth of a JSON text, for who reads one at the door: counted as the rules count it. */
export { isShallow } from '../domain/json-depth.ts'
/** What a completed item left unfinished, and all that holds an open one. */
export { leftBehind } from '../domain/left.ts'
export { holdsOf } from '../domain/readiness.ts'
/** The one sentence about an item. */
export { clauseOf, sentenceOf } from '../domain/why-words.ts'
export { verificationOf, type VerificationState } from '../domain/verification.ts'
