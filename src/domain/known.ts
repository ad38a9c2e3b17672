/**
 * What the decision of an operator's act knows beside the facts: read or made before it by who
 * carries the act out. Everything here is a value or a pure function, so an act can be decided
 * again on fresh facts, or in a dry run.
 */
import type { Carried } from './export-format.ts'
import type { DeliveryId, MessageId, WaitId, WorkItemId } from './ids.ts'
import type { Message } from './message.ts'
import type { UseSoFar } from './metering.ts'
import type { Timetable } from './schedules.ts'
import type { TokenHash } from './triggers.ts'
import type { PlanStored } from './work-item.ts'

export type Known = {
  timetable: Timetable
  token_hash: TokenHash
  /** `create_agent`: the working folder of an agent that is given none. */
  home: string
  /** `create_item`, `import_item`: the id and the plan file made for it. */
  new_item: { id: WorkItemId; plan: PlanStored } | null
  /** `import_item`: what was read in the file, and the blob it is kept in. */
  imported: { carried: Carried; file_sha256: string } | null
  /** `update_item` to needs_input without a question: the text of its plan. */
  plan_text: string | null
  /** A budget is set: what was used so far, and the model of the agent if it has no price. */
  budget: { so_far: UseSoFar; unpriced: string | null } | null
  /** `deliver`, `dead_letter`: the blob of the raw body. */
  body_sha256: string | null
  /** `redeliver`: the text of that blob. */
  body: string | null
  /** `deliver`, `dead_letter`: what the sender sent before under this id; its row is a fact. */
  earlier_delivery: DeliveryId | null
  /** `trigger`: the message of the same delivery id. */
  earlier_message: MessageId | null
  /** `answer`: the message that ended the question, where it is not among the facts any more. */
  answered_by: Message | null
  /** `take_back`: the wait that ended by the message though the message does not name it. */
  answered_wait: WaitId | null
}
