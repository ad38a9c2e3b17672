/**
 * What a work item changed in files, as far as its calls and commands say: by file, each with its
 * edits in the order in which they were made. Of a command that is what became of the git working
 * tree while it ran, whoever did it, but what the item is told to have done meanwhile; in no
 * repository nothing is known of it.
 */
import { z } from 'zod'
import { limits } from '../../domain/limits.ts'
import { changesMade } from '../../domain/work/recorded-changes.ts'
import { callId, count, listOf, taskId, timestamp, workItemId } from '../scalar.ts'
import type { FileDiff, Rows } from './records.ts'
import { diffShape, fileDiffKind } from './turn-record.ts'

const { text, cut_lines, added, removed, path, name } = diffShape

const fileEdit = z
  .strictObject({
    call_id: callId.nullable().describe('Null: a command did it whose call had been answered.'),
    task_id: taskId
      .nullable()
      .describe('The command that ran meanwhile; null: a file tool did it.'),
    ...{ at: timestamp, kind: fileDiffKind },
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
    commands: count.describe('Commands that ran and of which it is not known what they did.'),
    unseen: listOf(z.string()).describe(
      'Why not, or not all, where a look at the folder did not do.',
    ),
    unknown: count.describe('Edits of which nobody knows whether they were made.'),
    complete: z.boolean().describe('False: there are older calls, which were not looked at.'),
  })
  .meta({ id: 'WorkItemChanges' })
export type ItemChanges = z.infer<typeof itemChanges>

/** `calls` and `tasks`: oldest first; `complete`: there are none before them. */
export function changesOf(
  work_item_id: Rows['work_items']['id'],
  { calls, tasks }: { calls: readonly Rows['calls'][]; tasks: readonly Rows['tasks'][] },
  complete: boolean,
): ItemChanges {
  const files = new Map<string, ChangedFile>()
  let room = limits.changes_text.value
  const { made, unseen } = changesMade({ calls, tasks })
  for (const { diffs, ...by } of made) {
    for (const diff of diffs) {
      const edit = editOf(diff, room)
      room -= edit.text.length
      const before = files.get(diff.path)
      files.set(diff.path, withEdit(before, diff, { ...by, ...edit }))
    }
  }
  const byName = (a: ChangedFile, b: ChangedFile) => (a.name < b.name ? -1 : 1)
  const told = new Set(made.flatMap(({ task_id }) => task_id ?? []))
  const ran = calls.filter(({ tool_name, task_id }) => tool_name === 'ExecCommand' && task_id)
  return {
    work_item_id,
    files: [...files.values()].toSorted(byName),
    commands: ran.filter(({ task_id }) => task_id !== null && !told.has(task_id)).length,
    unseen: [...new Set(unseen)],
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
