/**
 * What a work item changed in files, as far as its calls and commands say: by file, each with its
 * edits in the order in which they were made. Of a command that is what became of the git working
 * tree while it ran, whoever did it; in no repository nothing is known of it.
 */
import { z } from 'zod'
import { limits } from '../../domain/limits.ts'
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

type Made = Pick<FileEdit, 'call_id' | 'task_id' | 'at'> & { diffs: readonly FileDiff[] }

/** `calls` and `tasks`: oldest first; `complete`: there are none before them. */
export function changesOf(
  work_item_id: Rows['work_items']['id'],
  { calls, tasks }: { calls: readonly Rows['calls'][]; tasks: readonly Rows['tasks'][] },
  complete: boolean,
): ItemChanges {
  const files = new Map<string, ChangedFile>()
  let room = limits.changes_text.value
  const made = [...calls.flatMap(madeByCall), ...tasks.flatMap(madeByTask)]
  for (const { diffs, ...by } of made.toSorted((a, b) => (a.at < b.at ? -1 : 1))) {
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
  const why = [...calls.map(unseenOfCall), ...tasks.map(unseenOfTask)].filter((one) => one !== null)
  return {
    work_item_id,
    files: [...files.values()].toSorted(byName),
    commands: ran.filter(({ task_id }) => task_id !== null && !told.has(task_id)).length,
    unseen: [...new Set(why)],
    unknown: calls.filter(isUnknown).length,
    complete,
  }
}

function madeByCall({ id, task_id, result, finished_at }: Rows['calls']): Made[] {
  if (result?.status !== 'success' || finished_at === null || !result.diffs) return []
  return [{ call_id: id, task_id, at: finished_at, diffs: result.diffs }]
}

function madeByTask({ id, changes, ended_at }: Rows['tasks']): Made[] {
  if (changes === undefined || !('diffs' in changes) || ended_at === null) return []
  return [{ call_id: null, task_id: id, at: ended_at, diffs: changes.diffs }]
}

const unseenOfCall = ({ result }: Rows['calls']): string | null =>
  result?.status === 'success' ? (result.unseen ?? null) : null

const unseenOfTask = ({ changes }: Rows['tasks']): string | null => changes?.unseen ?? null

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
