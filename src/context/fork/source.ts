/**
 * What a fork is derived from, as plain rows of the parent, and what its parts look like. Nothing
 * here is of the child or of the moment: two children made from the same state get the same.
 */
import type { AgentId } from '../../domain/ids.ts'
import type { Task } from '../../domain/state/task.ts'
import type { Wait } from '../../domain/state/wait.ts'
import type { WorkItem } from '../../domain/state/work-item.ts'
import { stableHash } from '../../domain/stable-hash.ts'
import type { NoteEvent } from '../process-notes.ts'
import type { EarlierRound } from '../sections/situation.ts'

export type OtherItem = { item: WorkItem; wait: Wait | null }

export type ForkSource = {
  parent: AgentId
  /** The spawning turn's item, its active wait, its plan file whole (null: unreadable). */
  item: (OtherItem & { plan_text: string | null }) | null
  /** The task the item's wait is on; null without one. */
  waited_task: Pick<Task, 'id' | 'work_item_id'> | null
  /**
   * The newest rounds about the item, also those of the open turn, oldest first; without an item
   * the rounds of the open turn.
   */
  rounds: readonly EarlierRound[]
  /** The parent's tasks that have not ended. */
  running: readonly Task[]
  /** The newest events of the item, or the parent's; those of other items are left out here. */
  events: readonly NoteEvent[]
  /** Every other item the parent knows, open or completed lately, with its active wait. */
  others: readonly OtherItem[]
  /** The short forms of their ids, as they were fixed. */
  short_forms: ReadonlyMap<string, string>
  /** The plans of the items `enteringItems` names: where a line cuts one, it says so. */
  plan_texts: Readonly<Record<string, string>>
  /** The newest events of the items `finishedLately` gives. */
  finished_events: Readonly<Record<string, readonly NoteEvent[]>>
  /** The text the parent gives to the child: `initial_message`. */
  handoff: string
}

export const forkSections = [
  'head',
  'item',
  'plan',
  'others',
  'episodes',
  'notes',
  'state',
  'tail',
  'named',
  'siblings',
  'handoff',
] as const
export type ForkSection = (typeof forkSections)[number]

/** A part as it was rendered. `omitted` parts have no text; `why` is a phrase for people. */
export type ForkPart = {
  section: ForkSection
  text: string
  form: 'full' | 'cut' | 'omitted'
  why: string
}

export const omitted = (section: ForkSection, why: string): ForkPart => ({
  section,
  text: '',
  form: 'omitted',
  why,
})

/**
 * The seed of a part's block marks: of its own text, so that a part that did not change has the
 * same marks in the next fork. That the text does not hold them is checked where they are written.
 */
export const partSeed = (section: ForkSection, text: string): string =>
  stableHash(`${section}\n${text}`)
