/** `holon work show <item> --trace`: its process notes, then its turns with what each did. */
import type { Api } from '../../client/api.ts'
import type { ToolResult } from '../../protocol/records/records.ts'
import type { TurnTrace, TurnWhole, RoundRecord } from '../../protocol/records/turn-record.ts'
import { callLine, callSubject, counted } from '../../present/lines/call-line.ts'
import { diffName } from '../../present/lines/diff-lines.ts'
import { glyph, painted } from '../../present/text/marks.ts'
import { safeLine } from '../../present/text/safe.ts'
import { clock, took } from '../../present/text/span.ts'
import { spent } from '../../present/lines/state-cell.ts'
import { idOf, printJson, printLines, reading, zoneOf, type Context } from '../command/context.ts'
import { exits, type Exit } from '../command/failure.ts'
import { asking, failureOf } from '../command/records.ts'

/** Turns that are shown: the newest. */
const most = 20
/** Characters of what was said, in a line. */
const longest = 160

export async function workTrace(context: Context, text: string): Promise<Exit> {
  const { id, agent_id } = await reading(context, async (reader) => {
    const found = await reader.row('work_items', await idOf(context, reader, text, ['work']))
    if (found === null) throw new Error(`no row for ${text}`)
    return found
  })
  const path = `/agents/${encodeURIComponent(agent_id)}/work-items/${id}/trace`
  const trace = await asking(context, (api) => readTrace(api, path))
  if (trace === null) throw new Error(`${id} was there a moment ago`)
  if (context.flags.json === true) printJson(context, trace)
  else printLines(context, traceLines(context, trace))
  return exits.done
}

async function readTrace(api: Api, path: string): Promise<TurnTrace> {
  const answer = await api.get<TurnTrace>(path, { limit: most })
  if (!answer.ok) throw failureOf(answer.failure)
  return answer.value
}

function traceLines(context: Context, trace: TurnTrace): string[] {
  const { ids } = context
  const short = ids.short(trace.work_item_id)
  const older = trace.older_notes === 0 ? '' : `, ${trace.older_notes} older left out`
  const notes = trace.notes.map(({ kind, text, handle, times }) => {
    const often = times > 1 ? ` (${counted(times, 'time')})` : ''
    return safeLine(`  ${kind}: ${ids.within(text)}${often}  ${ids.within(handle)}`)
  })
  return [
    ...(notes.length === 0
      ? []
      : [`notes, oldest first${older}`, ...notes.map((n) => `  ${n}`), '']),
    ...(trace.turns.length === 0 ? ['no turn was about it yet'] : []),
    ...trace.turns.flatMap((turn) => turnLines(context, turn)),
    ...(trace.next_cursor === null ? [] : [`older turns: holon work show ${short} --trace --json`]),
  ]
}

function turnLines(context: Context, turn: TurnWhole): string[] {
  const { ids, ink } = context
  const zone = zoneOf(context)
  const end = turn.ended_at ?? zone.now
  const mark = turn.state === 'open' ? 'working' : turn.outcome === 'failed' ? 'failed' : 'done'
  const why = turn.reason === null ? '' : `, ${turn.reason}`
  const state = turn.state === 'open' ? 'open' : `${turn.outcome ?? 'ended'}${why}`
  const ms = Date.parse(end) - Date.parse(turn.started_at)
  const head =
    `${ids.short(turn.id)}  ${clock(turn.started_at, zone)}  ${turn.because}; ${state}, ` +
    `${counted(turn.rounds.length, 'request')}, ${took(ms)}, ${spent(turn.usage)}`
  return [
    painted(`${glyph(mark, ink)} ${safeLine(ids.within(head))}`, mark, ink),
    ...turn.rounds.flatMap((round) => roundLines(context, round)),
    '',
  ]
}

function roundLines(context: Context, round: RoundRecord): string[] {
  const { ids, ink } = context
  const at = `${round.n}`.padStart(5)
  const words = round.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ')
  const said = words.trim() === '' ? [] : [`${at}  ${cutAt(safeLine(ids.within(words)))}`]
  const recapped =
    round.recapped === undefined ? [] : [`${at}  rounds 1 to ${round.recapped} were recapped`]
  const calls = round.calls.flatMap(({ tool_name, input, result }) => {
    const line = result === null ? null : callLine(tool_name, input, result as ToolResult)
    const left = line?.left ?? result?.summary ?? callSubject(tool_name, input)
    const right = line === null || line.right === '' ? '' : `  ${line.right}`
    const mark = line?.mark ?? (result === null ? 'working' : 'done')
    const text = cutAt(safeLine(ids.within(`${left}${right}`)))
    const diffs = result?.status === 'success' ? (result.diffs ?? []) : []
    const names = diffs.length > 1 ? diffs.map((diff) => `${at}      ${diffName(diff)}`) : []
    return [`${at}  ${painted(`${glyph(mark, ink)} ${text}`, mark, ink)}`, ...names]
  })
  return [...recapped, ...said, ...calls]
}

const cutAt = (text: string): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1).trimEnd()}…`
