/**
 * What the screen hears and what comes of it: a message, the next model, and the effects, which the
 * session carries out. Types only; `input/update.ts` makes the steps.
 */
import type { Input } from '../../present/history/input.ts'
import type { StateRecord } from '../../protocol/views/state-record.ts'
import type {
  Act,
  TuiModel,
  Overlay,
  Notice,
  ScreenLocation,
  PromptPurpose,
  MessageTarget,
} from './model.ts'

export type PromptText = { readonly prompt: PromptPurpose; readonly text: string }

export type Effect =
  | {
      do: 'act'
      act: Act
      /** Makes the agent that it is for, before it. */
      makes?: Act
      sent?: { key: string; text: string; agent_id: string; work_item_id: string | null }
      /** The box whose words it carries. */
      box?: PromptText
      /** The body of the message in the answer returns to where it was written. */
      returns_to?: MessageTarget
    }
  /** Sends the runbook that came with the program. */
  | { do: 'try_example'; makes: Act | null }
  | { do: 'keep_drafts' }
  | { do: 'copy'; text: string; what: string }
  | { do: 'page'; text: string }
  | { do: 'edit'; text: string }
  | { do: 'suspend' }
  | { do: 'reconnect' }
  | { do: 'redraw' }
  | { do: 'leave'; end: 'left' | 'set_up' }

export type TuiMessage =
  | { kind: 'key'; key: string; text: string; at: number }
  | { kind: 'paste'; text: string }
  | { kind: 'size'; columns: number; rows: number }
  | { kind: 'input'; input: Input }
  | { kind: 'state'; state: StateRecord; url: string }
  | { kind: 'time'; now: string }
  | { kind: 'read'; key: string; version: string; value: unknown; failure: string | null }
  | { kind: 'acted'; says: string; failure: string | null }
  /** `unsettled`: whether it was carried out is not known; what sends it again. */
  | { kind: 'undone'; box: PromptText; failure: string; unsettled: Act | null }
  | { kind: 'taken_back'; target: MessageTarget; text: string }
  | { kind: 'trouble'; trouble: TuiModel['trouble'] }
  /** Goes there without a key: what a line that was typed asks for. */
  | { kind: 'place'; place: ScreenLocation }
  /** What an editor left of the text; null: it is as it was. */
  | { kind: 'edited'; text: string | null }
  | { kind: 'drafts'; drafts: Readonly<Record<string, string>> }
  | { kind: 'notice'; notice: Notice | null }

/** What a key on a row comes to. */
export type Reply =
  | { do: 'act'; act: Act }
  | { do: 'open'; overlay: Overlay }
  | { do: 'write'; prompt: PromptPurpose }
  | { do: 'refuse'; why: string }

export type Transition = readonly [TuiModel, readonly Effect[]]
