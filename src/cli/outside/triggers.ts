/**
 * `holon trigger list|create|reset|revoke`: the URLs by which the outside reaches an agent. A URL
 * is a capability: it is shown while a daemon listens, and kept nowhere.
 */
import { Holon } from '../../client/holon.ts'
import type { HomeReader } from '../command/ports.ts'
import type { Rows } from '../../protocol/records/records.ts'
import { safeLine } from '../../present/text/safe.ts'
import { since } from '../../present/text/span.ts'
import { table, type Column } from '../../present/text/table.ts'
import { act, perform, replyLines, type Accepted } from '../command/act.ts'
import { idOf, printLines, reading, viewsOf, zoneOf, type Context } from '../command/context.ts'
import { exits, usage, type Exit } from '../command/failure.ts'
import { ensureAgent } from '../command/first-agent.ts'
import { failureOf, printList, printRecord } from '../command/records.ts'

type Trigger = Rows['triggers']
type Shown = Omit<Trigger, 'token_sha256'> & { url: string | null }

/** Triggers of one agent that are shown: far above what a person makes. */
const most = 1_000
/** Those of them whose URL is asked for. */
const shownPage = 200

const columns: readonly Column[] = [
  { title: 'TRIGGER' },
  { title: 'AGENT', min: 5 },
  { title: 'LABEL', min: 8 },
  { title: 'ABOUT', min: 8 },
  { title: 'CAME', align: 'right' },
  { title: 'URL', min: 24 },
]

export async function triggers(
  context: Context,
  options: { agent?: string; all?: boolean },
): Promise<Exit> {
  if (context.flags.json === true) {
    const path = (agent: string) => `/agents/${agent}/triggers`
    const query = { status: options.all === true ? 'all' : 'active' }
    return printList(context, { plural: 'triggers', path, agent: options.agent, query })
  }
  const rows = await reading(context, async (reader, moment) => {
    const views = await viewsOf(reader, moment, options.agent)
    const lists = await Promise.all(views.map(({ agent }) => triggersOf(reader, agent.id)))
    return lists.flat().filter(({ status }) => options.all === true || status === 'active')
  })
  const urls = await urlsOf(context, new Set(rows.map(({ agent_id }) => agent_id)))
  const shown = rows.map((row) => shownOf(row, urls.get(row.id) ?? null))
  printLines(context, text(context, shown))
  return exits.done
}

const triggersOf = (reader: HomeReader, agent_id: string): Promise<Trigger[]> =>
  reader.list('triggers', { agent_id, limit: most })

function shownOf({ token_sha256: _, ...fields }: Trigger, url: string | null): Shown {
  return { ...fields, url: fields.status === 'active' ? url : null }
}

/** By id; empty without a daemon, for there is no address then. */
async function urlsOf(
  { ports, home }: Context,
  agents: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const urls = new Map<string, string>()
  const found = await ports.daemon.api(home.value)
  if (found === null) return urls
  const holon = new Holon(found.api)
  for (const agent of agents) {
    const query = { status: 'active' as const, limit: shownPage }
    const answer = await holon.ask('GET /agents/{agent}/triggers', { agent, query })
    if (!answer.ok) {
      // It was deleted meanwhile.
      if (answer.failure.status === 404) continue
      throw failureOf(answer.failure)
    }
    for (const { id, url } of answer.value.triggers) if (url !== null) urls.set(id, url)
  }
  return urls
}

function text(context: Context, shown: readonly Shown[]): string[] {
  if (shown.length === 0) return ['no trigger yet', 'do    holon trigger create <label>']
  const zone = zoneOf(context)
  const { ids } = context
  ids.know(shown.map(({ id }) => id))
  const rows = shown.map((one) =>
    [
      ids.short(one.id),
      one.agent_id,
      one.status === 'revoked' ? `${one.label} (revoked)` : one.label,
      [one.source, one.resource].filter((part) => part !== null).join(' ') || 'anything',
      one.last_delivered_at === null
        ? String(one.delivered)
        : `${one.delivered}, ${since(one.last_delivered_at, zone)} ago`,
      one.url ?? '-',
    ].map(safeLine),
  )
  const lines = table(columns, rows, { ...context.medium, wide: true })
  return shown.every(({ url }) => url === null)
    ? [...lines, 'URLs are shown while a daemon runs: holon start']
    : lines
}

export type NewTriggerOptions = {
  agent?: string
  source?: string
  resource?: string
  mode?: string
}

const modes = ['enqueue_message', 'wake_hint'] as const

export async function createTrigger(
  context: Context,
  label: string,
  options: NewTriggerOptions,
): Promise<Exit> {
  const mode = modes.find((one) => one === options.mode)
  if (options.mode !== undefined && mode === undefined) {
    throw usage('bad_mode', `--mode ${options.mode} is not known`, `it is ${modes.join(' or ')}`)
  }
  const agent_id = options.agent ?? 'main'
  await ensureAgent(context, agent_id)
  const namesake = await reading(context, async (reader) => {
    const active = (await triggersOf(reader, agent_id)).filter(({ status }) => status === 'active')
    return active.find((one) => one.label === label.trim())
  })
  const reply = await perform(context, {
    do: 'create_trigger',
    agent_id,
    label,
    ...(options.source === undefined ? {} : { source: options.source }),
    ...(options.resource === undefined ? {} : { resource: options.resource }),
    ...(mode === undefined ? {} : { delivery_mode: mode }),
  })
  const exit = await showOne(context, reply.id, reply)
  if (context.flags.json !== true && namesake !== undefined) {
    const { ids, ports } = context
    ports.err(`! ${agent_id} has another trigger of this label: ${ids.short(namesake.id)}\n`)
  }
  return exit
}

export async function changeTrigger(
  context: Context,
  verb: 'reset' | 'revoke',
  target: string,
): Promise<Exit> {
  const { id, agent_id } = await reading(context, async (reader) => {
    const found = await idOf(context, reader, target, ['trig'])
    const row = await reader.row('triggers', found)
    if (row === null) throw new Error(`no row for ${found}`)
    return row
  })
  if (verb === 'revoke') return act(context, { do: 'revoke_trigger', agent_id, trigger_id: id })
  const reply = await perform(context, { do: 'reset_trigger', agent_id, trigger_id: id })
  return showOne(context, id, reply)
}

/** What was said, and the URL, which is what the person wants. */
async function showOne(context: Context, id: string | null, reply: Accepted): Promise<Exit> {
  const row = await reading(context, (reader) =>
    id === null ? Promise.resolve(null) : reader.row('triggers', id),
  )
  if (context.flags.json === true && row !== null) {
    return printRecord(context, `/agents/${row.agent_id}/triggers/${row.id}`)
  }
  const urls = await urlsOf(context, new Set(row === null ? [] : [row.agent_id]))
  const url = id === null ? null : (urls.get(id) ?? null)
  printLines(context, [
    ...replyLines(context, reply),
    url ?? 'its URL is shown while a daemon runs: holon start, then holon trigger list',
  ])
  return exits.done
}
