/**
 * A section of an opening: one part of the projection with what became of it under its budget. The
 * manifest is the list of them without their texts: what a request was made of, and why not more.
 */
import { stableHash } from '../domain/stable-hash.ts'
import type { TokenEstimator } from './estimate.ts'
import type { FileLine, ManifestLine, SectionForm } from './message.ts'

/** In the order in which they stand in a request: what rarely changes comes first. */
export const sectionNames = [
  'system',
  'agent',
  'instructions',
  'skills',
  'inherited',
  'handoff',
  'item',
  'notes',
  'others',
  'said',
  'tasks',
  'budget',
  'history',
  'recap',
  'place',
  'anchor',
  'input',
] as const
export type SectionName = (typeof sectionNames)[number]

/** `text` is '' where it was omitted. */
export type Section = {
  section: SectionName
  text: string
  form: SectionForm
  why: string
  /** What it was made of, where that is files. */
  files?: readonly FileLine[]
}

export const full = (section: SectionName, text: string, why: string): Section => ({
  section,
  text,
  form: 'full',
  why,
})

export const omitted = (section: SectionName, why: string): Section => ({
  section,
  text: '',
  form: 'omitted',
  why,
})

/** What a person is told of the sections, in their order. */
export const manifestOf = (sections: readonly Section[], tokens: TokenEstimator): ManifestLine[] =>
  sections.map(({ section, text, form, why, files }) => ({
    section,
    tokens: text === '' ? 0 : tokens(text),
    form,
    why,
    hash: stableHash(text),
    ...(files === undefined || files.length === 0 ? {} : { files }),
  }))

/** The texts of the sections that have one, with an empty line between. */
export const joined = (sections: readonly Section[]): string =>
  sections
    .filter(({ text }) => text !== '')
    .map(({ text }) => text)
    .join('\n\n')
