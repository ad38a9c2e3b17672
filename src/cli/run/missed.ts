/**
 * What agents delivered before a run that resumes, while nobody followed them: since the last words
 * that a person said to the agent, or since its newest item where nobody ever said any, as to one
 * of runbooks. Nothing is kept of who has seen what: resumed twice, it is told twice.
 */
import type { Agent, Brief } from '../../protocol/records/records.ts'
import type { RunLine } from '../../present/lines/run-lines.ts'
import { safeLine, safeLines } from '../../present/text/safe.ts'
import { clock } from '../../present/text/span.ts'
import { reading, zoneOf, type Context } from '../command/context.ts'
import type { HomeReader } from '../command/ports.ts'

/** Of one agent, the newest; `holon briefs` has the others. */
const mostTold = 5
/** Briefs that are looked through for them: among them are progress and questions. */
const briefsRead = 200

/**
 * How each begins that is told: a question is put again, what failed is told as the state of what
 * it held up, and progress is over.
 */
const called: Readonly<Record<Brief['kind'], string | null>> = {
  progress: null,
  question: null,
  reply: 'an answer',
  result: 'the report',
  failure: null,
}

/** Read once the home is followed: what is delivered meanwhile is told twice rather than never. */
export const missedReports = (context: Context, agents: readonly Agent[]): Promise<RunLine[]> =>
  reading(context, async (reader) => {
    // A private child reports to its parent, who is told of here.
    const own = agents.filter(({ visibility }) => visibility !== 'private')
    return (await Promise.all(own.map(({ id }) => missedOf(context, reader, id)))).flat()
  })

async function missedOf(context: Context, reader: HomeReader, agent_id: string) {
  const since = await lastSaid(reader, agent_id)
  if (since === null) return []
  const all = await reader.list('briefs', { agent_id, limit: briefsRead })
  const missed = all
    .filter(({ kind, created_at }) => called[kind] !== null && created_at >= since)
    .sort((a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0))
  const told = missed.slice(-mostTold)
  const left = missed.length - told.length
  return [
    ...(left === 0 ? [] : [note(`${left} more came before: holon briefs --agent ${agent_id}`)]),
    ...told.flatMap((brief) => linesOf(context, brief)),
  ]
}

async function lastSaid(reader: HomeReader, agent_id: string): Promise<string | null> {
  const newest = { agent_id, limit: 1 }
  const [words] = await reader.list('messages', { ...newest, kind: ['operator_prompt'] })
  const [item] = words === undefined ? await reader.list('work_items', newest) : []
  return words?.created_at ?? item?.created_at ?? null
}

function linesOf(context: Context, { kind, text, work_item_id, created_at }: Brief): RunLine[] {
  const { ids } = context
  const item = work_item_id === null ? null : ids.short(work_item_id)
  const of = item === null ? '' : ` of ${item}: holon work show ${item}`
  const when = clock(created_at, zoneOf(context))
  return [
    note(`before this run, at ${when}: ${called[kind]}${of}`),
    { kind: 'words', brief: kind, text: safeLines(ids.within(text.trim())) },
  ]
}

const note = (text: string): RunLine => ({ kind: 'note', text: safeLine(text) })
