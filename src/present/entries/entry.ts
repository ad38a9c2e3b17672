/**
 * An entry of a thread: one noun from its beginning to its end, in the words of a screen. Its id is
 * that of the noun that began it, its place that noun's first seq; neither ever changes. Texts are
 * safe, ids in them are whole, and no time in them depends on now: what runs says since when.
 */
import type { FileDiff } from '../../protocol/records/records.ts'
import type { Mark } from '../text/marks.ts'
import type { Safe } from '../text/safe.ts'

export type EntryKind =
  | 'message'
  | 'turn'
  | 'call'
  | 'group'
  | 'text'
  | 'todos'
  | 'plan'
  | 'wait'
  | 'question'
  | 'task'
  | 'brief'
  | 'completion'
  | 'budget'
  | 'delegation'
  | 'decision'
  | 'restart'
  | 'retry'
  | 'change'
  | 'check'
  | 'gap'
  | 'folded'

/** 1 outcome, 2 steps, 3 record. */
export type Level = 1 | 2 | 3

/** What can be opened from an entry. */
export type EntrySubject = { noun: 'task' | 'wait' | 'work_item' | 'turn' | 'message'; id: string }

export type Entry = {
  readonly id: string
  readonly kind: EntryKind
  readonly seq: number
  readonly at: string
  readonly mark: Mark | null
  /** Who or what, in the first column: `you`, `turn 7`; empty for steps of a turn. */
  readonly who: Safe
  readonly title: Safe
  /** Right side, most important last. */
  readonly facts: readonly Safe[]
  readonly body: readonly Safe[]
  /** It runs since then: the reader says for how long. */
  readonly since: string | null
  /** It comes due then: the reader says when that is. */
  readonly due: string | null
  readonly children: readonly Entry[]
  /** What it did to files, for who opens it; not safe yet, `diffLines` makes it so. */
  readonly diffs: readonly FileDiff[]
  readonly subject: EntrySubject | null
  /** The same from a shell. */
  readonly cli: Safe | null
}

export const noEntry = {
  mark: null,
  who: '' as Safe,
  facts: [],
  body: [],
  since: null,
  due: null,
  children: [],
  diffs: [],
  subject: null,
  cli: null,
} as const satisfies Partial<Entry>
