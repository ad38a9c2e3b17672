/**
 * FileDiff: what one call did to one file, kept with its result as evidence for a person. Bounded
 * by `limits.diff`; the counts are of the whole change.
 */
export type FileDiff = {
  kind: 'added' | 'changed' | 'deleted'
  /** Absolute and real: the file, by whatever name it was given. */
  path: string
  /** As a person reads it: below the working folder relative to it, else as `path`. */
  name: string
  /** Lines. */
  added: number
  removed: number
  /** Hunks of the unified format, without file names; what is beyond the limit is left out. */
  text: string
  /** Lines of the hunks that `text` lacks. */
  cut_lines: number
}
