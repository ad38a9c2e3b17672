/**
 * `holon search`: records of every agent by their words, the best first. A daemon is asked; without
 * one the same search runs here, over the home as it is.
 */
import { memoryKinds, type SearchAnswer } from '../../protocol/records/search-record.ts'
import { unfoundLines } from '../../present/lines/search-lines.ts'
import { safeLine } from '../../present/text/safe.ts'
import { clock } from '../../present/text/span.ts'
import { table, type Column } from '../../present/text/table.ts'
import { printJson, printLines, zoneOf, type Context } from '../command/context.ts'
import { exits, noHome, usage, type Exit } from '../command/failure.ts'
import { asking, failureOf } from '../command/records.ts'

export type SearchOptions = { agent?: string; kind?: string; limit?: string }

type Result = SearchAnswer['results'][number]

const columns: readonly Column[] = [
  { title: 'KIND' },
  { title: 'FOUND', min: 20 },
  { title: 'WHERE', min: 14 },
  { title: 'AGENT', min: 6 },
  { title: 'WRITTEN' },
]

/** Finding nothing is a success: the answer says so. */
export async function search(
  context: Context,
  words: readonly string[],
  { agent, kind, limit }: SearchOptions,
): Promise<Exit> {
  const q = words.join(' ')
  const odd = kind?.split(',').find((name) => !memoryKinds.some((one) => one === name))
  if (odd !== undefined) {
    throw usage('bad_kind', `--kind ${odd} is none`, `they are ${memoryKinds.join(', ')}`)
  }
  if (limit !== undefined && !/^[1-9]\d{0,3}$/.test(limit)) {
    throw usage('bad_number', `--limit ${limit} is not a whole number from 1 on`, 'give a count')
  }
  const answer = await asking(context, async (api) => {
    const found = await api.get<SearchAnswer>('/search', { q, agent, kind, limit })
    if (!found.ok) throw failureOf(found.failure)
    return found.value
  })
  if (answer === null) throw noHome(context.home.value)
  if (context.flags.json === true) printJson(context, answer)
  else printLines(context, linesOf(context, answer, kind?.split(',') ?? null))
  return exits.done
}

function linesOf(
  context: Context,
  answer: SearchAnswer,
  kinds: readonly string[] | null,
): string[] {
  const { query, results, match, incomplete_because } = answer
  const isNothing = results.length === 0
  // Only an agent that works in a workspace finds what is remembered of it: who misses a file asks.
  const isMissed = kinds === null ? isNothing : kinds.includes('file')
  const notes = [
    ...(match === 'any' && !isNothing
      ? ['nothing has all of these words; these have some of them']
      : []),
    ...(isMissed ? ['the memory of workspaces is not searched'] : []),
    ...(incomplete_because === null ? [] : [`not everything was searched: ${incomplete_because}`]),
  ]
  if (isNothing) {
    const searched = memoryKinds.filter((one) => kinds?.includes(one) ?? true)
    return ['nothing found', ...unfoundLines(query, searched), ...notes]
  }
  const zone = zoneOf(context)
  const rows = results.map((one) =>
    [
      one.kind.replaceAll('_', ' '),
      one.words === 'own' ? one.snippet : `${one.words}: ${one.snippet}`,
      whereOf(context, one),
      one.agent_id,
      clock(one.at, zone),
    ].map(safeLine),
  )
  const count = results.length === 1 ? '1 found' : `${results.length} found`
  return [...table(columns, rows, context.medium), [count, ...notes].join('; ')]
}

/** A file by its path; all else by its own id, and its item where that is another. */
function whereOf(context: Context, { source_ref, work_item_id, kind }: Result): string {
  const { ids } = context
  if (kind === 'file') return source_ref.replace(/^file:@[^/]+\//, '')
  const [id = '', part] = source_ref.split('/')
  ids.know([id, ...(work_item_id === null ? [] : [work_item_id])])
  const self = part === undefined ? ids.short(id) : `${ids.short(id)}/${part}`
  return work_item_id === null || work_item_id === id ? self : `${self} ${ids.short(work_item_id)}`
}
