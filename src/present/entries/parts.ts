/**
 * What the entries of every noun are made with: lookups of other nouns, safe texts, and the few
 * words that several of them say. Pure.
 */
import { imageWords, type ImageHead } from '../../protocol/records/image-record.ts'
import type { Entry, EntryKind } from './entry.ts'
import { noEntry } from './entry.ts'
import type { Group } from '../history/noun-fold.ts'
import { safeLine, safeLines, type Safe } from '../text/safe.ts'

/** What an entry may look at beside its own group. What is asked for is what it depends on. */
export type Sight = {
  group(id: string): Group | undefined
  /** What the model is saying in this round, before it is recorded. */
  live(id: string): string | undefined
  /** What ended the wait before this turn, where that is why it began. */
  woken(turn_id: string): string | undefined
}

/** An entry of this group; everything not given is empty. */
export const entry = (group: Group, kind: EntryKind, given: Partial<Entry>): Entry => ({
  ...noEntry,
  id: group.id,
  kind,
  seq: group.seq,
  at: group.at,
  title: line(''),
  ...given,
})

export const line = (text: string): Safe => safeLine(text)

/** Lines of a body, without empty ones at its end. */
export const lines = (text: string): Safe[] => (text.trim() === '' ? [] : safeLines(text.trimEnd()))

/** What a message brought beside its words. */
export const pictureLines = ({ images = [] }: { images?: readonly ImageHead[] }): Safe[] =>
  images.map((image) => line(`with ${imageWords(image)}`))

/** Facts that say nothing are left out. */
export const facts = (...texts: (string | null | undefined)[]): Safe[] =>
  texts.flatMap((text) => (text === null || text === undefined || text === '' ? [] : [line(text)]))

/** `turn 7`, or `a turn` while its number has not been heard. */
export function turnName(sight: Sight, turn_id: string | null): string {
  const paced = turn_id === null ? undefined : sight.group(turn_id)?.heard.agent_paced
  return paced === undefined ? 'a turn' : `turn ${paced.event.pacing.turn_count}`
}

export const msBetween = (from: string, to: string): number => Date.parse(to) - Date.parse(from)
