/**
 * `holon work diff <item> [file]`: what an item changed in files, by file with counts; with
 * `--stat` the counts alone. On a terminal a long one goes through the person's pager.
 */
import type { Api } from '../../client/api.ts'
import type { ChangedFile, ItemChanges } from '../../protocol/records/changes-record.ts'
import {
  diffTotal,
  fileLine,
  hunkLines,
  inkedDiff,
  type DiffLine,
} from '../../present/lines/diff-lines.ts'
import { counted } from '../../present/lines/call-line.ts'
import { safeLine } from '../../present/text/safe.ts'
import { clock } from '../../present/text/span.ts'
import { idOf, printJson, printLines, reading, zoneOf, type Context } from '../command/context.ts'
import { exits, usage, type Exit } from '../command/failure.ts'
import { asking, failureOf } from '../command/records.ts'

export type DiffOptions = { stat?: boolean }

export async function workDiff(
  context: Context,
  text: string,
  name: string | undefined,
  { stat }: DiffOptions,
): Promise<Exit> {
  const { id, agent_id } = await reading(context, async (reader) => {
    const found = await reader.row('work_items', await idOf(context, reader, text, ['work']))
    if (found === null) throw new Error(`no row for ${text}`)
    return found
  })
  const path = `/agents/${encodeURIComponent(agent_id)}/work-items/${id}/changes`
  const read = await asking(context, (api) => readChanges(api, path))
  if (read === null) throw new Error(`${id} was there a moment ago`)
  const changes = name === undefined ? read : onlyOf(context, read, name)
  if (context.flags.json === true) {
    printJson(context, changes)
    return exits.done
  }
  const lines = linesOf(context, changes, stat === true)
  if (stat === true || !(await paged(context, lines))) printLines(context, lines)
  return exits.done
}

async function readChanges(api: Api, path: string): Promise<ItemChanges> {
  const answer = await api.get<ItemChanges>(path)
  if (!answer.ok) throw failureOf(answer.failure)
  return answer.value
}

/** The one file of this name, or whose path is this one from where the command was typed. */
function onlyOf({ ports }: Context, changes: ItemChanges, name: string): ItemChanges {
  const path = ports.absolute(name)
  const found =
    changes.files.find((file) => file.name === name || file.path === name) ??
    changes.files.find((file) => file.path === path)
  if (found !== undefined) return { ...changes, files: [found] }
  const near = ports.nearest(
    name,
    changes.files.map((file) => file.name),
  )
  const hint = near === null ? 'without a file all of them are shown' : `did you mean ${near}?`
  throw usage('unknown_file', `it changed no file ${name}`, hint)
}

/** False: nobody reads along, or there is no pager. */
async function paged({ ports, medium }: Context, lines: readonly string[]): Promise<boolean> {
  return medium.columns !== null && (await ports.page(`${lines.join('\n')}\n`))
}

function linesOf(context: Context, changes: ItemChanges, stat: boolean): string[] {
  const { ink } = context
  const { files } = changes
  const told = files.flatMap((file) => (stat ? [fileLine(file)] : fileLines(context, file)))
  const total = diffTotal(files)
  const sum = files.length === 1 ? [] : [`${total.what}, ${total.counts}`]
  return [
    ...told.map((line) => inkedDiff(line, ink)),
    ...(files.length === 0 ? ['it is not known to have changed a file'] : sum),
    ...notes(changes),
  ]
}

function fileLines(context: Context, file: ChangedFile): DiffLine[] {
  const edits = file.edits.flatMap((edit, n): DiffLine[] => {
    const at = clock(edit.at, zoneOf(context))
    const by = edit.task_id === null ? '' : `, while ${context.ids.short(edit.task_id)} ran`
    const which = safeLine(`edit ${n + 1} of ${file.edits.length}, ${at}${by}`)
    const isSaid = file.edits.length > 1 || by !== ''
    const head: DiffLine[] = isSaid ? [{ kind: 'note', text: which }] : []
    return [...head, ...hunkLines(edit)]
  })
  return [fileLine(file), ...edits, { kind: 'context', text: safeLine('') }]
}

/** What the diffs do not have. */
function notes({ commands, unseen, unknown, complete }: ItemChanges): string[] {
  const ran = counted(commands, 'command')
  return [
    ...(commands === 0 ? [] : [`${ran} ran too; what it did to files is not known`]),
    ...unseen.map((why) => safeLine(`of a command: ${why}`)),
    ...(unknown === 0
      ? []
      : [`of ${counted(unknown, 'more edit')} it is not known whether they were made`]),
    ...(complete ? [] : ['older calls are left out']),
  ]
}
