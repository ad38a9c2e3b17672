/**
 * Everything the screen is made of: what is known of the home, where the person is, what is being
 * written, and what was read for the view that is open. A value; `input/update.ts` makes the next
 * one.
 */
import type { FirstAgent } from '../../ports/first-agent.ts'
import type { Level } from '../../present/entries/entry.ts'
import type { Presentation } from '../../present/presentation.ts'
import type { Attention } from '../../protocol/views/attention.ts'
import type { ShortIds } from '../../present/text/short-id.ts'

/**
 * An agent or an item to open, by its id or the short form of it; `words_to`: home, with a box for
 * words to that agent; null: home.
 */
export type Opens =
  | string
  | { agent_id: string; work_item_id: string }
  | { words_to: string }
  | null

export const tabs = ['thread', 'plan', 'tasks', 'why', 'spend', 'events'] as const
export type Tab = (typeof tabs)[number]

export type ScreenLocation =
  | { at: 'home' | 'board' | 'agents' | 'tasks' | 'waits' | 'events' | 'search' }
  /** `work_item_id` null: the agent itself, with all it did. */
  | { at: 'item'; agent_id: string; work_item_id: string | null; tab: Tab }
  | { at: 'task'; agent_id: string; task_id: string; stream: 'stdout' | 'stderr' }

export type View = {
  readonly place: ScreenLocation
  /** The row that is selected, by its id; null: the first. */
  readonly selected: string | null
  /** Whether a key went to it: the first one happens to be selected. */
  readonly pointed: boolean
  /** The first line of the body that is shown. */
  readonly top: number
  /** Stays at the end while it grows. */
  readonly follow: boolean
  readonly level: Level
  readonly unfolded: ReadonlySet<string>
}

export type MessageTarget = { agent_id: string; work_item_id: string | null }
export const targetKey = ({ agent_id, work_item_id }: MessageTarget): string =>
  work_item_id ?? `@${agent_id}`

/**
 * Text that is being written, with the cursor in UTF-16 units. `pastes`: long ones, each of which
 * stands in the text as one character (`pastes.ts`).
 */
export type Writing = {
  readonly text: string
  readonly cursor: number
  readonly pastes?: readonly string[]
}

export type BudgetLimit = 'max_usd' | 'max_tokens' | 'max_rounds' | 'deadline'

/** What each limit is raised by, in the words of the box and of a refusal. */
export const budgetWords: { readonly [L in BudgetLimit]: string } = {
  max_usd: 'dollars in all, like 5 or 2.50',
  max_tokens: 'tokens in all, like 200000',
  max_rounds: 'rounds in all, like 40',
  deadline: 'for how long from now, like 30m, 2h or 1d',
}

export type PromptPurpose =
  | { for: 'message'; target: MessageTarget; delivery: 'now' | 'next' }
  | { for: 'new_item'; agent_id: string }
  | { for: 'answer'; agent_id: string; wait_id: string; bound_hash: string }
  | { for: 'refusal'; agent_id: string; task_id: string; bound_hash: string }
  | { for: 'snooze'; entry: string }
  | { for: 'focus'; agent_id: string; work_item_id: string }
  /** `work_item_id` null: the budget of the agent. */
  | { for: 'budget'; agent_id: string; work_item_id: string | null; limit: BudgetLimit }
  | { for: 'model'; agent_id: string }
  | { for: 'objective'; agent_id: string; work_item_id: string }
  | { for: 'find' }
  | { for: 'task_input'; agent_id: string; task_id: string }

/** `words`: what the list is narrowed by; `at`: the line that is chosen. */
export type Aid = {
  readonly kind: 'history' | 'names'
  readonly words: string
  readonly at: number
}

export type MenuChoice = {
  readonly label: string
  readonly act: Act | null
  readonly words?: PromptPurpose
  /** Leaves for the terminal in which a model is set up. */
  readonly sets_up?: true
  /** The key that chooses it; absent: its number in the list, where no other has that as key. */
  readonly key?: string
}

export type Overlay =
  /** `top`: the first line below its head that is shown. */
  | { kind: 'help'; top: number; about: string | null }
  | { kind: 'palette'; text: string; at: number }
  | {
      kind: 'dialog'
      title: string
      lines: readonly string[]
      choices: readonly MenuChoice[]
      chosen: number | null
      /** The entry that it settles: it closes with that. Null: it is of none. */
      about: Pick<Attention, 'id' | 'bound_hash'> | null
      /** The first line of its text that is shown. */
      top: number
      /** Milliseconds: keys before it are not meant for it. */
      opened_at: number
    }

/** A request that changes something, and what is said while it is on its way. */
export type Act = {
  readonly route: string
  readonly given: Record<string, unknown>
  readonly says: string
  /** Sent once more under the key of the first time, so that it cannot be carried out twice. */
  readonly key?: string
}

/** An act of words, the outcome of which is unknown. */
export type Unsettled = { readonly text: string; readonly act: Act }

export type Detail = {
  readonly version: string
  readonly value: unknown
  readonly failure: string | null
}

export type Notice = { readonly text: string; readonly bad: boolean }

export type TuiModel = {
  readonly size: { readonly columns: number; readonly rows: number }
  readonly look: {
    readonly ascii: boolean
    readonly colour: boolean
    readonly motion: boolean
    /** The command, as hints name it. */
    readonly called: string
  }
  readonly where: { readonly url: string; readonly home: string }
  /** Null until the state was read once. */
  readonly p: Presentation | null
  /** A number that was pressed before that: what it means at home is known with the state. */
  readonly early: string | null
  /** The time of the server now, RFC 3339: as last heard, and the time since. */
  readonly now: string
  readonly utc: boolean
  readonly clocks: boolean
  readonly only_pane: boolean
  readonly views: readonly View[]
  /** The view before this one, for `-`. */
  readonly last: View | null
  readonly writing: {
    readonly prompt: PromptPurpose
    readonly text: Writing
    /** What it was before each change, the newest last. */
    readonly before?: readonly Writing[]
    /** A list over the text, which helps to write it. */
    readonly aid?: Aid
  } | null
  readonly drafts: ReadonlyMap<string, string>
  /** By the key of its draft: sent again as it stands, it is the same message. */
  readonly unsettled: ReadonlyMap<string, Unsettled>
  readonly history: readonly string[]
  readonly overlay: Overlay | null
  readonly details: ReadonlyMap<string, Detail>
  readonly notice: Notice | null
  /** Why there is no connection, and when it is tried again. */
  readonly trouble: {
    readonly message: string
    readonly tries: number
    readonly next_at: string
  } | null
  /** Set by the first `ctrl+c`. */
  readonly leaving: boolean
  /** When the last key came, in milliseconds of the program's clock. */
  readonly key_at: number
  readonly ids: ShortIds
  /** The message that was sent last from a screen without its thread, and what became of it. */
  readonly receipt: { readonly agent_id: string; readonly message_id: string } | null
  /** What the agent is made with that takes the first words. */
  readonly first: FirstAgent
  /** What is to be opened once the state is known. */
  readonly opens: Opens
}

export const viewOf = (model: TuiModel): View => {
  const view = model.views.at(-1)
  if (view === undefined) throw new Error('there is no view')
  return view
}

/** What ends with its newest is opened there; what is older is further up. */
const endsWithNewest: { readonly [A in ScreenLocation['at']]: boolean } = {
  home: false,
  board: false,
  agents: false,
  tasks: false,
  waits: false,
  search: false,
  events: true,
  item: true,
  task: true,
}

export const aView = (place: ScreenLocation, more: Partial<View> = {}): View => ({
  place,
  selected: null,
  pointed: false,
  top: 0,
  follow: endsWithNewest[place.at],
  level: 2,
  unfolded: new Set(),
  ...more,
})

/** Why there is no connection where somebody stopped who owned the home. */
export const noDaemon = 'no daemon runs'

export const isLive = ({ p }: TuiModel): boolean => p?.link.kind === 'live'

/** Cells of the preview pane; 0: there is none. */
export function previewCells({ size, only_pane }: TuiModel): number {
  if (size.columns < 110 || only_pane) return 0
  return Math.floor(size.columns * (size.columns < 160 ? 0.43 : 0.27))
}

/** Cells of the third pane, which says why; 0: there is none. */
export function whyCells(model: TuiModel): number {
  const { place } = viewOf(model)
  if (model.size.columns < 160 || model.only_pane) return 0
  const isWhy = place.at === 'item' && (place.tab === 'why' || place.work_item_id === null)
  return place.at === 'task' || isWhy ? 0 : Math.floor(model.size.columns * 0.27)
}
