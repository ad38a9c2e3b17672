/**
 * What an act of the operator is decided on beside the facts, by act: read or made before it by
 * whoever carries the act out. Everything here is a value or a pure function, so an act can be
 * decided again on fresh facts, or in a dry run.
 */
import type { JudgedAgain } from '../approvals/held-command.ts'
import type { StartPlace } from '../start-place.ts'
import type { Carried } from '../transfer/export-format.ts'
import type { DeliveryId, MessageId, WaitId, WorkItemId } from '../ids.ts'
import type { Image } from '../image.ts'
import type { Message } from '../state/message.ts'
import type { UseSoFar } from '../budgets/settle.ts'
import type { DecidedAct } from './act.ts'
import type { Timetable } from '../timers/schedules.ts'
import type { TokenHash } from '../inbox/triggers.ts'
import type { PlanStored } from '../state/work-item.ts'

/** The id and the plan file made for an item. */
export type NewItem = { id: WorkItemId; plan: PlanStored }

/** Where a budget is set, else null: the use so far, and the agent's model if it has no price. */
type SetBudget = { so_far: UseSoFar; unpriced: string | null } | null

/** The blob of the raw body, and what the sender sent before under this id; its row is a fact. */
type Sent = { body_sha256: string; earlier_delivery: DeliveryId | null }

type Hashing = { token_hash: TokenHash }
type Timed = { timetable: Timetable }

/** Acts that are not named here are decided on the facts alone. */
export type ActInputs = {
  create_item: { new_item: NewItem; budget: SetBudget }
  /** What was read in the file, and the blob it is kept in. */
  import_item: { new_item: NewItem; carried: Carried; file_sha256: string }
  /**
   * Kept as blobs by the commit of the message. `unseen_by`: the agent's model, where it is not
   * known to take images.
   */
  send: { images: readonly Image[]; unseen_by: string | null }
  /** `plan_text`: to needs_input without a question, what its plan says. */
  update_item: { plan_text: string | null; budget: SetBudget }
  /** The message that ended the question, where it is not among the facts any more. */
  answer: { answered_by: Message | null }
  /** As it is judged now; null: there is no command. `start_place`: of a start after a yes. */
  answer_held: { again: JudgedAgain | null; start_place: StartPlace }
  /** The wait that ended by the message though the message does not name it. */
  take_back: { answered_wait: WaitId | null }
  /** The message of the same delivery id. */
  trigger: { earlier_message: MessageId | null }
  deliver: Sent
  dead_letter: Sent
  /** The text of its body; null where that is not kept. */
  redeliver: { body: string | null }
  create_trigger: Hashing
  reset_trigger: Hashing
  revoke_trigger: Hashing
  create_schedule: Timed
  change_schedule: Timed
  pause_schedule: Timed
  resume_schedule: Timed
  remove_schedule: Timed
  /** `home`: the working folder of an agent that is given none. */
  create_agent: Hashing & { home: string }
}

const inputs: { readonly [K in keyof ActInputs]: true } = {
  create_item: true,
  import_item: true,
  send: true,
  update_item: true,
  answer: true,
  answer_held: true,
  take_back: true,
  trigger: true,
  deliver: true,
  dead_letter: true,
  redeliver: true,
  create_trigger: true,
  reset_trigger: true,
  revoke_trigger: true,
  create_schedule: true,
  change_schedule: true,
  pause_schedule: true,
  resume_schedule: true,
  remove_schedule: true,
  create_agent: true,
}

export const hasInputs = (act: DecidedAct): act is DecidedAct & { do: keyof ActInputs } =>
  act.do in inputs

type InputsOf<K> = K extends keyof ActInputs ? { inputs: ActInputs[K] } : unknown
type WithInputs<A> = A extends DecidedAct ? A & InputsOf<A['do']> : never

/** An act with all that it is decided on beside the facts. */
export type PreparedAct = WithInputs<DecidedAct>
/** The one of this verb. */
export type Prepared<K extends DecidedAct['do']> = Extract<PreparedAct, { do: K }>
