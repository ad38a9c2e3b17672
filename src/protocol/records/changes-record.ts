/**
 * What a work item changed in files, as far as its calls say: by file, each with its edits in the
 * order in which they were made. What commands did to files stands in no call.
 */
import { z } from 'zod'
import { limits } from '../../domain/limits.ts'
import { callId, count, listOf, timestamp, workItemId } from '../scalar.ts'
import type { FileDiff, Rows } from './records.ts'
import { diffShape, fileDiffKind } from './turn-record.ts'

const { text, cut_lines, added, removed, path, name } = diffShape

const fileEdit = z
  .strictObject({
    ...{ call_id: callId, at: timestamp, kind: fileDiffKind },
    ...{ added, removed, text, cut_lines },
  })
  .meta({ id: 'FileEdit' })
export type FileEdit = z.infer<typeof fileEdit>

const changedFile = z
  .strictObject({
    ...{ path, name },
    kind: fileDiffKind.describe('What its edits come to.'),
    added: added.describe('Lines, as `removed`: the sum over its edits.'),
    removed,
    edits: listOf(fileEdit),
  })
  .meta({ id: 'ChangedFile' })
export type ChangedFile = z.infer<typeof changedFile>

export const itemChanges = z
  .strictObject({
    work_item_id: workItemId,
    files: listOf(changedFile).describe('By name.'),
    commands: count.describe('Commands that ran: what they did to files is not told here.'),
    unknown: count.describe('Edits of which nobody knows whether they were made.'),
    complete: z.boolean().describe('False: there are older calls, which were not looked at.'),
  })
  .meta({ id: 'WorkItemChanges' })
export type ItemChanges = z.infer<typeof itemChanges>

/** `calls`: oldest first; `complete`: there are none before them. */
export function changesOf(
  work_item_id: Rows['work_items']['id'],
  calls: readonly Rows['calls'][],
  complete: boolean,
): ItemChanges {
  const files = new Map<string, ChangedFile>()
  let room = limits.changes_text.value
  for (const { id, result, finished_at } of calls) {
    if (result?.status !== 'success' || finished_at === null) continue
    for (const diff of result.diffs ?? []) {
      const edit = editOf(diff, room)
      room -= edit.text.length
      const before = files.get(diff.path)
      files.set(diff.path, withEdit(before, diff, { call_id: id, at: finished_at, ...edit }))
    }
  }
  const byName = (a: ChangedFile, b: ChangedFile) => (a.name < b.name ? -1 : 1)
  return {
    work_item_id,
    files: [...files.values()].toSorted(byName),
    commands: calls.filter((call) => call.tool_name === 'ExecCommand' && call.task_id).length,
    unknown: calls.filter(isUnknown).length,
    complete,
  }
}

const isUnknown = ({ effect_class, result }: Rows['calls']): boolean =>
  effect_class === 'content_checked' &&
  result?.status === 'error' &&
  result.error.kind === 'outcome_unknown'

/** Without its text where there is no room for it. */
function editOf({ kind, added, removed, text, cut_lines }: FileDiff, room: number) {
  if (text.length <= room) return { kind, added, removed, text, cut_lines }
  const lines = text.split('\n').length - 1
  return { kind, added, removed, text: '', cut_lines: cut_lines + lines }
}

function withEdit(file: ChangedFile | undefined, diff: FileDiff, edit: FileEdit): ChangedFile {
  const { path, name, kind, added, removed } = diff
  if (file === undefined) return { path, name, kind, added, removed, edits: [edit] }
  return {
    path,
    name,
    kind: comesTo(file, kind),
    added: file.added + added,
    removed: file.removed + removed,
    edits: [...file.edits, edit],
  }
}

/** One that was there before is changed, also where it was deleted and made anew. */
const comesTo = ({ edits }: ChangedFile, kind: FileDiff['kind']): FileDiff['kind'] =>
  kind === 'deleted' ? 'deleted' : edits[0]?.kind === 'added' ? 'added' : 'changed'
