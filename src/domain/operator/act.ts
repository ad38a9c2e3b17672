/**
 * Everything an operator may ask for, as it crosses every wire (docs/spec/http.md#acts): ids are
 * texts here and become what they name when a rule finds their row. `protocol/acts/operator.ts` is
 * the schema.
 */
import type { BudgetChange, SpendChange } from '../budgets/change.ts'
import type { CheckGiven } from '../checks/spec.ts'
import type { PresetName } from '../policy/rule.ts'
import type { Via } from '../state/delivery.ts'
import type { ReceiptKey } from './receipts.ts'
import type { MissedPolicy, OverlapPolicy, ScheduleSpec } from '../state/schedule.ts'
import type { Workspace } from '../state/agent.ts'
import type { DeliveryMode } from '../state/wait.ts'
import type { PlanStatus, Todo } from '../state/work-item.ts'

/** Through which of the operator's own doors it came; the default is the command line. */
export type Surface = 'cli_prompt' | 'run_once' | 'tui' | 'http_control'

/** A field that may be left out; the schema says the same of an explicit undefined. */
type Maybe<T> = { [K in keyof T]?: T[K] | undefined }

type ItemAct =
  | ({ do: 'create_item'; objective: string } & Maybe<{
      plan: string
      plan_status: PlanStatus
      /** What its plan needs to know: with plan_status needs_input. */
      question: string
      todo_list: Todo[]
      blocked_by: string
      budget: BudgetChange
      checks: CheckGiven[]
    }>)
  /** `file` is the text of an export; `again` makes one more of a file that was imported. */
  | ({ do: 'import_item'; file: string } & Maybe<{ again: boolean }>)
  | ({ do: 'update_item'; work_item_id: string } & Maybe<{
      /** Refused when the item is at another revision. */
      expected_revision: number
      objective: string
      plan_status: PlanStatus
      /** What its plan needs to know: with plan_status needs_input. */
      question: string
      todo_list: Todo[]
      blocked_by: string | null
      budget: BudgetChange
      /** In the place of all there were. */
      checks: CheckGiven[]
    }>)
  | ({ do: 'pick'; work_item_id: string } & Maybe<{ reason: string }>)
  | ({ do: 'complete'; work_item_id: string } & Maybe<{ report: string }>)
  | { do: 'unblock'; work_item_id: string }
  /** Of a completed item; without names all of its checks. */
  | ({ do: 'run_checks'; work_item_id: string } & Maybe<{ names: string[] }>)
  /** Of a check by a person. `run` is the number of the run as it was shown. */
  | ({
      do: 'answer_check'
      work_item_id: string
      name: string
      run: number
      passed: boolean
    } & Maybe<{ words: string }>)

/** The bytes of an image as they cross a wire. */
export type ImageGiven = { base64: string }

type MessageAct =
  | ({ do: 'send'; text: string } & Maybe<{
      images: ImageGiven[]
      work_item_id: string
      wait_id: string
      priority: 'interject' | 'next'
      start: boolean
      surface: Surface
    }>)
  /** Exactly one of `choice` and `text`; `bound_hash` is the mark of the question as shown. */
  | ({ do: 'answer'; wait_id: string; bound_hash: string } & Maybe<{
      choice: string
      text: string
      start: boolean
      surface: Surface
    }>)
  /** Of a held command; `bound_hash` is the mark of what was shown, `text` what is said with it. */
  | ({ do: 'answer_held'; task_id: string; bound_hash: string; choice: string } & Maybe<{
      text: string
      surface: Surface
    }>)
  /** Of the operator's own words, while no turn has claimed them. */
  | ({ do: 'take_back'; message_id: string } & Maybe<{ surface: Surface }>)
  | { do: 'cancel_wait'; wait_id: string }
  /** Fires one external wait by hand, or delivers an event by what it is about. */
  | ({ do: 'trigger'; body: string } & Maybe<{
      wait_id: string
      source: string
      resource: string
      delivery_id: string
    }>)

type ReceivedFields = Maybe<{
  /** What the sender calls it. */
  sender_id: string
  /** Of what a webhook brings: sources of other webhooks that the same secret signs for. */
  also_from: string[]
  source: string
  resource: string
  summary: string
  content_type: string
}>

type DeliveryAct =
  | ({ do: 'deliver'; via: ViaText; body: string } & ReceivedFields)
  | ({ do: 'dead_letter'; via: ViaText; body: string; reason: string } & ReceivedFields)
  /** With what the mapping says now, where it says something else than before. */
  | ({ do: 'redeliver'; delivery_id: string } & Maybe<{
      source: string
      resource: string
      summary: string
    }>)

/** `Via` with its id as text. */
export type ViaText =
  | Extract<Via, { kind: 'webhook' }>
  | (Omit<Extract<Via, { kind: 'trigger' }>, 'trigger_id'> & { trigger_id: string })

type TriggerAct =
  | ({ do: 'create_trigger'; label: string } & Maybe<{
      source: string
      resource: string
      delivery_mode: DeliveryMode
    }>)
  | { do: 'reset_trigger' | 'revoke_trigger'; trigger_id: string }

/** A grant is made by an answer to a held command alone. */
type GrantAct = { do: 'revoke_grant'; grant_id: string }

type ScheduleAct =
  | ({ do: 'create_schedule'; label: string; text: string; spec: ScheduleSpec } & Maybe<{
      work_item_id: string
      missed: MissedPolicy
      overlap: OverlapPolicy
    }>)
  | ({ do: 'change_schedule'; schedule_id: string } & Maybe<{
      label: string
      text: string
      work_item_id: string | null
      spec: ScheduleSpec
      missed: MissedPolicy
      overlap: OverlapPolicy
    }>)
  | { do: 'pause_schedule' | 'resume_schedule' | 'remove_schedule'; schedule_id: string }

type AgentAct =
  | ({ do: 'create_agent' } & Maybe<{
      model: string
      fallback_model: string
      workspace: Workspace
      /** A folder of `templates/`: what is not given comes from its defaults. */
      template: string
      policy_preset: PresetName
    }>)
  | ({ do: 'configure_agent' } & Maybe<{
      model: string
      fallback_model: string | null
      workspace: Workspace
      budget: SpendChange
      /** Null: what the home says. */
      policy_preset: PresetName | null
    }>)
  | { do: 'start_agent' | 'stop_agent' | 'delete_agent' }

type AttentionAct =
  | { do: 'snooze'; attention_id: string; fingerprint: string; until: string }
  | { do: 'dismiss'; attention_id: string; fingerprint: string }

/** What is done to a worktree, which has the id of the task that owns it. */
export type WorktreeVerb =
  | 'snapshot_worktree'
  | 'restore_worktree'
  | 'discard_worktree'
  | 'remove_worktree'

/** Acts on the machine, which the rules alone do not carry out. */
type MachineAct =
  | ({ do: 'start_task'; cmd: string } & Maybe<{ workdir: string; work_item_id: string }>)
  | { do: 'stop_task'; task_id: string }
  /** To a command's input, with `end` ended behind it; to a child, as one more message. */
  | ({ do: 'task_input'; task_id: string; text: string } & Maybe<{ end: boolean }>)
  | { do: WorktreeVerb; worktree_id: string }
  /** Without files all that the item changed. `undo`: what earlier ones replaced comes back. */
  | ({ do: 'revert_files'; work_item_id: string } & Maybe<{ files: string[]; undo: boolean }>)
  /** Ends the open turn `run_id`, and stops the agent unless `stop` is false. */
  | ({ do: 'abort'; run_id: string } & Maybe<{ stop: boolean }>)

type Common = { agent_id: string; receipt?: ReceiptKey | undefined }

/** An act that the rules decide, whole, from facts. */
export type DecidedAct = (
  | ItemAct
  | MessageAct
  | DeliveryAct
  | TriggerAct
  | GrantAct
  | ScheduleAct
  | AgentAct
  | AttentionAct
) &
  Common

export type OperatorAct = DecidedAct | (MachineAct & Common)
