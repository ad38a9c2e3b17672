/**
 * Keeps both ends of the changes of a call as blobs, within limits: what is too large, or holds a
 * secret, stays out of the home, and is named as not kept.
 */
import { limits } from '../../domain/limits.ts'
import type { KeptChange, KeptFile } from '../../domain/state/file-diff.ts'

/** What stood at a path at one end of a change. */
export type EndBytes =
  | { kind: 'none' }
  | { kind: 'file'; bytes: Uint8Array; mode: number | null }
  | { kind: 'link'; bytes: Uint8Array }

type Keeps = { keepBlob(bytes: Uint8Array): string; holdsSecret(bytes: Uint8Array): boolean }

const sizeOf = (end: EndBytes): number => (end.kind === 'none' ? 0 : end.bytes.length)

/** Null: it holds a secret, without which these were not the bytes. */
function kept(keeps: Keeps, end: EndBytes): KeptFile | null {
  if (end.kind === 'none') return end
  if (keeps.holdsSecret(end.bytes)) return null
  const kept_sha256 = keeps.keepBlob(end.bytes)
  return end.kind === 'link'
    ? { kind: 'link', kept_sha256 }
    : { kind: 'file', kept_sha256, mode: end.mode }
}

/** Of one call, whose files share their room. */
export function keeper(keeps: Keeps): (before: EndBytes, after: EndBytes) => KeptChange {
  let [files, room] = [limits.kept_files.value, limits.kept_call.value]
  return (before, after) => {
    const most = limits.kept_file.value
    if (sizeOf(before) > most || sizeOf(after) > most) return { not_kept: 'too_large' }
    files -= 1
    room -= sizeOf(before) + sizeOf(after)
    if (files < 0 || room < 0) return { not_kept: 'too_many' }
    const ends = { before: kept(keeps, before), after: kept(keeps, after) }
    if (ends.before === null || ends.after === null) return { not_kept: 'secret' }
    return { before: ends.before, after: ends.after }
  }
}
