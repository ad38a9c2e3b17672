/**
 * Changes of files that can be recognised after a crash: the intent keeps, per file, the hash
 * before and the hash after. A file at its `before` hash is still to be written, one at its `after`
 * hash is done, and any other is somebody else's work, which is never overwritten.
 */
import type { FileDiff } from '../../domain/state/file-diff.ts'
import type { ToolResult } from '../../domain/state/call.ts'
import { isFileFault } from '../tool/faults.ts'
import { diffsOf, type FileVersions } from './file-diff.ts'
import {
  noText,
  readToChange,
  ToolRefusal,
  type FileContext,
  type TextFile,
} from './file-access.ts'
import { keeper, type EndBytes } from './kept-file.ts'
import { sha256 } from '../tool/sha256.ts'
import { failed, type ToolContext } from '../tool/tool.ts'

/** Null: no file. Paths are absolute and real. */
export type PlannedFile = {
  path: string
  before_sha256: string | null
  after_sha256: string | null
}

/**
 * `diffs`: the change as the intent saw it, for a person or a model to compare; absent in an intent
 * of an earlier version.
 */
export type ChangeIntent = { files: readonly PlannedFile[]; diffs?: readonly FileDiff[] }

export const hashOf = (text: string | null): string | null => (text === null ? null : sha256(text))

/** `mode` is of the file before. Both ends of each change are kept, for whoever takes it back. */
export async function planChange(
  ctx: ToolContext,
  files: readonly (FileVersions & { mode: number | null })[],
): Promise<ChangeIntent> {
  const keep = keeper(ctx)
  const ends = new Map(
    files.map(({ path, before, after, mode }) => {
      return [path, keep(endOf(before, mode), endOf(after, mode))]
    }),
  )
  const diffs = await diffsOf(files, ctx.workdir)
  return {
    files: files.map(({ path, before, after }) => ({
      path,
      before_sha256: hashOf(before),
      after_sha256: hashOf(after),
    })),
    diffs: diffs.map((diff) => {
      const kept = ends.get(diff.path)
      return kept === undefined ? diff : { ...diff, ends: kept }
    }),
  }
}

/** A write keeps the mode of what it replaces; a new file has whatever the system gives it. */
const endOf = (text: string | null, mode: number | null): EndBytes =>
  text === null ? { kind: 'none' } : { kind: 'file', bytes: new TextEncoder().encode(text), mode }

/** A result of a change that was made, with its diffs as evidence. */
export const made = (result: ToolResult, { diffs = [] }: ChangeIntent): ToolResult =>
  result.status === 'success' && diffs.length > 0 ? { ...result, diffs } : result

export type FileState = PlannedFile & { now: TextFile; is: 'before' | 'after' | 'other' }

/** Where each planned file stands now. A file that is not text any more is `other`. */
export async function statesOf(
  tool_name: string,
  ctx: FileContext,
  files: readonly PlannedFile[],
): Promise<FileState[]> {
  const states: FileState[] = []
  for (const file of files) {
    const now = await readOrOther(tool_name, ctx, file.path)
    const at = now?.sha256
    const is = at === file.before_sha256 ? 'before' : at === file.after_sha256 ? 'after' : 'other'
    states.push({ ...file, now: now ?? noText(file.path), is })
  }
  return states
}

async function readOrOther(tool_name: string, ctx: FileContext, path: string) {
  try {
    return await readToChange(tool_name, ctx, path)
  } catch (error) {
    if (error instanceof ToolRefusal) return null
    if (isFileFault(error) && ['is_folder', 'not_regular', 'too_large'].includes(error.code)) {
      return null
    }
    throw error
  }
}

/** Neither before nor after: what was meant, what is there, and the advice to look. */
export function unknownChange(
  tool_name: string,
  intent: ChangeIntent,
  states: readonly FileState[],
) {
  const others = states.filter(({ is }) => is === 'other').map(({ path }) => path)
  const message =
    `Whether the change was made is unknown: ${others.join(', ')} ` +
    'is neither as it was before it nor as it would be after it.'
  const hint = 'Read the file and compare it with the diff; make only what is missing.'
  const files = states.map(({ path, is }) => ({ path, is }))
  const detail = { files, intended_diff: wholeDiff(intent) }
  return failed(tool_name, 'outcome_unknown', 'file_changed_meanwhile', message, hint, { detail })
}

const wholeDiff = ({ diffs = [] }: ChangeIntent): string =>
  diffs.map(({ path, text }) => `--- ${path}\n+++ ${path}\n${text}`).join('')

/**
 * What a person is asked to say yes to: each file with its lines; null where not all are there.
 */
export function shownChange({ diffs = [] }: ChangeIntent): string | null {
  if (diffs.some(({ cut_lines }) => cut_lines > 0)) return null
  const files = diffs.map(({ kind, name, added, removed, text }) =>
    `${kind} ${name}, +${added} −${removed}\n${text}`.trimEnd(),
  )
  return files.length === 0 ? 'no file would change' : files.join('\n')
}

/** The files were changed between the intent and the write; nothing was written. */
export function changedMeanwhile(tool_name: string, paths: readonly string[]) {
  const message = `${paths.join(', ')} changed since the edit was worked out; nothing was written.`
  const hint = 'Read it again and repeat the edit.'
  return failed(tool_name, 'rejected', 'file_changed', message, hint, { retryable: true })
}

/**
 * Writes every file atomically, new and changed ones before deletions. When one fails the ones
 * before it are put back; the fault is thrown, or, if they cannot all be put back, a refusal that
 * names them.
 */
export async function writeAll(
  tool_name: string,
  ctx: FileContext,
  replacements: readonly FileVersions[],
): Promise<void> {
  const deletesLast = [...replacements].sort(
    (a, b) => Number(a.after === null) - Number(b.after === null),
  )
  const done: FileVersions[] = []
  for (const one of deletesLast) {
    try {
      await put(ctx, one.path, one.after)
      done.push(one)
    } catch (error) {
      if (!isFileFault(error)) throw error
      const stuck = await putBack(ctx, done)
      if (stuck.length === 0) throw error
      const message = `${error.message}; and these could not be put back: ${stuck.join(', ')}.`
      const hint = 'Read each of them before you go on.'
      throw new ToolRefusal(failed(tool_name, 'outcome_unknown', 'partly_written', message, hint))
    }
  }
}

async function putBack(ctx: FileContext, done: readonly FileVersions[]): Promise<string[]> {
  const stuck: string[] = []
  for (const { path, before } of done.toReversed()) {
    try {
      await put(ctx, path, before)
    } catch (error) {
      if (!isFileFault(error)) throw error
      stuck.push(path)
    }
  }
  return stuck
}

async function put(ctx: FileContext, path: string, text: string | null): Promise<void> {
  const opened = await ctx.open(path, 'write')
  try {
    if (text === null) await opened.remove()
    else await opened.replace(text)
  } finally {
    await opened.close()
  }
}
