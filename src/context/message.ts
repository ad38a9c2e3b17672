/** What stands before the rounds of a request: the opening, and what is known of its text. */
import type { ItemMarks } from './result-view.ts'

/** The start of every request of a turn: the stable prefix, and one projection as user text. */
export type Opening = { system: string; user: string }

/** An opening as it was projected, with what stands in it; kept together as one blob. */
export type Projected = Opening & {
  sections: readonly ManifestLine[]
  /** The items that stand in it in full, by id. */
  items: Readonly<Record<string, ItemMarks>>
  /** Where the agent works, as the turn began; a recap keeps it. */
  place: string | null
}

export type SectionForm = 'full' | 'compact' | 'omitted'

/** A file that a section is made of, or could not be: `bytes` is null where nobody read it. */
export type FileLine = { path: string; bytes: number | null; form: SectionForm; why: string }

/** One part of an opening: what was shown of it, and why not all. `why` is a phrase for people. */
export type ManifestLine = {
  section: string
  /** As estimated, before any correction. */
  tokens: number
  form: SectionForm
  why: string
  /** Of its text: the same text has the same one. */
  hash: string
  /** Of sections that are made of files. */
  files?: readonly FileLine[]
}
