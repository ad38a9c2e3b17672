/**
 * FileDiff: what one call did to one file, kept with its result as evidence for a person. Bounded
 * by `limits.diff`; the counts are of the whole change. Beside it stand both ends of the change,
 * whose bytes are blobs: by them it can be taken back.
 */

/**
 * What stood at a path. `mode` has the permission bits; null: as the system made them, which
 * nobody looked at. The bytes of a link are the path that it leads to.
 */
export type KeptFile =
  | { kind: 'none' }
  | { kind: 'file'; kept_sha256: string; mode: number | null }
  | { kind: 'link'; kept_sha256: string }

/** Why the ends of a change are not kept. */
export type NotKept = 'secret' | 'too_large' | 'too_many' | 'unreadable'

export type KeptChange = { before: KeptFile; after: KeptFile } | { not_kept: NotKept }

/** `src/a.ts +3 −1`: a change in few words. */
export const diffWords = ({ name, kind, added, removed }: DiffCounts): string =>
  `${name} ${kind === 'changed' ? '' : `${kind}, `}+${added} −${removed}`

export type DiffCounts = Pick<FileDiff, 'name' | 'kind' | 'added' | 'removed'>

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
  /** Absent: an earlier version made the change, and kept nothing. */
  ends?: KeptChange
}
