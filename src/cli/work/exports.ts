/**
 * `holon export` and `holon import`: one item out of a home as a file, and into one. What comes in
 * is looked at and picked by the operator before anything begins.
 */
import type { ExportedItem } from '../../protocol/records/export-record.ts'
import { exportLimit } from '../../protocol/records/records.ts'
import { problemOf } from '../../protocol/problem.ts'
import { counted } from '../../present/lines/call-line.ts'
import { safeLine, safeLines } from '../../present/text/safe.ts'
import { act, mustExist, named } from '../command/act.ts'
import { printJson, type Context } from '../command/context.ts'
import { CliFailure, exits, noHome, usage, type Exit } from '../command/failure.ts'
import { asking, failureOf } from '../command/records.ts'
import { expand } from '../command/settings.ts'
import { unreadable } from '../command/unreadable.ts'

/** Milliseconds for reading the whole slice of a long item. */
const patience_ms = 120_000

export async function exportItem(
  context: Context,
  text: string,
  { to }: { to?: string },
): Promise<Exit> {
  const { id, agent_id } = await named(context, text, ['work'])
  const path = `/agents/${agent_id}/work-items/${id}/export`
  const exported = await asking(context, async (api) => {
    const answer = await api.call<ExportedItem>({ method: 'GET', path, patience_ms })
    if (!answer.ok) throw failureOf(answer.failure)
    return answer.value
  })
  if (exported === null) throw noHome(context.home.value)
  const { file, records, cut } = exported
  if (to === undefined) {
    // A file is the text as it is; a terminal would obey what is in it.
    context.ports.out(context.ports.terminal.stdout ? safeLines(file).join('\n') : file)
    return exits.done
  }
  const place = context.ports.absolute(expand(context.ports, to))
  if (!(await context.ports.write_new(place, file))) {
    const found = `${to} is there already, and an export replaces nothing`
    throw new CliFailure(exits.failed, problemOf('file_exists', found, 'name another file', 409))
  }
  if (context.flags.json === true) printJson(context, { path: place, records, cut })
  else if (context.flags.quiet !== true) {
    const left = Object.values(cut).reduce<number>((sum, n) => sum + (n ?? 0), 0)
    const rest = left === 0 ? '' : `, and no room for ${left} older ones`
    context.ports.err(`${safeLine(place)}: ${counted(records, 'record')}${rest}\n`)
  }
  return exits.done
}

export type ImportOptions = { agent?: string; again?: boolean }

export async function importItem(
  context: Context,
  file: string,
  { agent = 'main', again }: ImportOptions,
): Promise<Exit> {
  const { ports } = context
  const read =
    file === '-'
      ? await ports.read_stdin(exportLimit)
      : await ports.read_text(expand(ports, file), exportLimit)
  if (!read.ok) throw unread(file, read.why)
  await mustExist(context, agent)
  const more = again === true ? { again } : {}
  return act(context, { do: 'import_item', agent_id: agent, file: read.text, ...more })
}

const tooLarge = `it has more than ${exportLimit} bytes, the most an export has`

const unread = (file: string, why: Parameters<typeof unreadable>[0]): CliFailure =>
  usage(
    'import_unreadable',
    `${file} is not imported: ${unreadable(why, tooLarge)}`,
    'name a file of `holon export`',
  )
