/**
 * Records for `--json`: what the HTTP API says, unchanged. With a daemon it is asked, without one
 * the same application is asked in memory, so there is one shape for every client.
 */
import { failureSentence, pages, type Api, type ApiFailure, type Query } from '../../client/api.ts'
import { problemOf } from '../../protocol/problem.ts'
import { printJson, type Context } from './context.ts'
import { CliFailure, exitOf, exits, inShell, noAgent, noHome, type Exit } from './failure.ts'

/** Entries a page may have. */
const page = 200
const all = Number.POSITIVE_INFINITY

/** Calls `use` with the API; null when there is no home yet. */
export async function asking<T>(
  { ports, home }: Context,
  use: (api: Api) => Promise<T>,
): Promise<T | null> {
  const found = await ports.daemon.reading_api(home.value)
  if (found === null) return null
  try {
    return await use(found.api)
  } finally {
    await found.close()
  }
}

/** One record as it is. */
export async function printRecord(
  context: Context,
  path: string,
  query: Query = {},
): Promise<Exit> {
  const record = await asking(context, async (api) => {
    const answer = await api.get<object>(path, query)
    if (!answer.ok) throw failureOf(answer.failure)
    return answer.value
  })
  if (record === null) throw noHome(context.home.value)
  printJson(context, record)
  return exits.done
}

export type ListOf = {
  /** The plural under which the records stand. */
  plural: string
  /** Of the home; or of one agent, and then each agent's is read when none is named. */
  path: string | ((agent: string) => string)
  agent?: string | undefined
  query?: Query
  /** The newest so many, over all agents; default: all. */
  limit?: number
  /** The first page has what comes first, not what is newest. */
  forward?: boolean
  /** The field by which lists of several agents are merged; without it, agent after agent. */
  by?: string
}

export async function printList(context: Context, of: ListOf): Promise<Exit> {
  const { plural, path, agent, query = {}, limit = all, by, forward = false } = of
  const found = await asking(context, async (api) => {
    const wanted = { plural, query, limit, forward }
    if (typeof path === 'string') return listOf(api, { ...wanted, path })
    const agents = agent === undefined ? await agentNames(api) : [agent]
    const lists: object[][] = []
    for (const one of agents) {
      lists.push(await listOf(api, { ...wanted, path: path(encodeURIComponent(one)) }))
    }
    return merged(lists, by, limit)
  })
  if (found === null && agent !== undefined) {
    throw noAgent(agent, [])
  }
  printJson(context, { [plural]: found ?? [] })
  return exits.done
}

function merged(lists: readonly object[][], by: string | undefined, limit: number): object[] {
  const found = lists.flat()
  const at = (one: object): string => String((one as Record<string, unknown>)[by ?? ''])
  if (by !== undefined && lists.length > 1) found.sort((a, b) => (at(a) < at(b) ? -1 : 1))
  return limit === all ? found : found.slice(-limit)
}

async function agentNames(api: Api): Promise<string[]> {
  const agents = await listOf(api, {
    path: '/agents',
    plural: 'agents',
    query: {},
    limit: all,
    forward: false,
  })
  return agents.map((agent) => (agent as { id: string }).id)
}

type Wanted = { path: string; plural: string; query: Query; limit: number; forward: boolean }

/** Unless `forward`, each page is older than the one before it, and oldest first in itself. */
export async function listOf(
  api: Api,
  { path, plural, query, limit, forward }: Wanted,
): Promise<object[]> {
  const found: object[][] = []
  let count = 0
  const asked = { ...query, limit: Math.min(limit, page) }
  type OnePage = { next_cursor: string | null } & Record<string, unknown>
  for await (const answer of pages<OnePage>(api, path, asked)) {
    if (!answer.ok) throw failureOf(answer.failure)
    const records = answer.value[plural] as object[]
    if (forward) found.push(records)
    else found.unshift(records)
    count += records.length
    if (count >= limit) break
  }
  return found.flat()
}

/** A refusal of the API as one of ours: what was asked for wrongly is usage, the rest failed. */
export function failureOf(failure: ApiFailure): CliFailure {
  if (failure.kind !== 'problem') {
    const detail = `the daemon could not be asked: ${failureSentence(failure)}`
    return new CliFailure(exits.failed, problemOf('unreachable', detail, 'holon status', 503))
  }
  return new CliFailure(exitOf(failure.problem), inShell(failure.problem))
}
