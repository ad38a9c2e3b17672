/**
 * `holon webhook list|test|deliveries|redeliver`: the signed endpoints of the configuration, a
 * delivery signed and sent as their sender would, and the log of what came.
 */
import type { Rows } from '../../protocol/records/records.ts'
import { problemOf } from '../../protocol/problem.ts'
import { safeLine } from '../../present/text/safe.ts'
import { since } from '../../present/text/span.ts'
import { table, type Column } from '../../present/text/table.ts'
import { thereAre } from '../../present/text/names.ts'
import { act } from '../command/act.ts'
import { readConfig } from '../command/config-file.ts'
import {
  idOf,
  printJson,
  printLines,
  reading,
  viewsOf,
  zoneOf,
  type Context,
} from '../command/context.ts'
import { CliFailure, exits, usage, type Exit } from '../command/failure.ts'
import { printList } from '../command/records.ts'

export async function webhooks(context: Context): Promise<Exit> {
  const { ports, home } = context
  const { config } = await readConfig(ports, home.value)
  const found = await ports.daemon.api(home.value)
  const base = found?.address.url ?? null
  const list = Object.entries(config.webhooks ?? {}).map(([name, { scheme, agents, source }]) => ({
    name,
    scheme,
    agents: agents ?? null,
    source: source ?? name,
    url: base === null ? null : `${base}/webhooks/${agents?.[0] ?? '<agent>'}/${name}`,
  }))
  if (context.flags.json === true) {
    printJson(context, { webhooks: list })
    return exits.done
  }
  if (list.length === 0) {
    printLines(context, [
      'no webhook is configured',
      'do    add one under "webhooks" in config.json; holon config path says where that is',
    ])
    return exits.done
  }
  const columns: Column[] = [
    { title: 'WEBHOOK' },
    { title: 'SIGNED BY' },
    { title: 'AGENTS', min: 6 },
    { title: 'URL', min: 20 },
  ]
  const rows = list.map(({ name, scheme, agents, url }) =>
    [name, scheme, agents?.join(', ') ?? 'every public one', url ?? '-'].map(safeLine),
  )
  printLines(context, table(columns, rows, { ...context.medium, wide: true }))
  return exits.done
}

export type TestOptions = { agent?: string; body?: string; event?: string }

/** Sends what its sender would, through the door its sender uses. */
export async function testWebhook(
  context: Context,
  name: string,
  options: TestOptions,
): Promise<Exit> {
  const { ports, home } = context
  const { config } = await readConfig(ports, home.value)
  const webhook = config.webhooks?.[name]
  if (webhook === undefined) {
    const names = Object.keys(config.webhooks ?? {})
    const detail = `no webhook "${name}" is configured`
    const hint =
      names.length === 0
        ? 'add it under "webhooks" in config.json; holon config path says where that is'
        : thereAre(names)
    throw usage('unknown_webhook', detail, hint)
  }
  const found = await ports.daemon.api(home.value)
  if (found === null) throw notServed()
  const agent = options.agent ?? webhook.agents?.[0] ?? 'main'
  const body = options.body ?? '{"type":"test","message":"A test of this webhook."}'
  const headers = await ports.daemon.sign(webhook, body, options.event ?? 'test')
  if (!headers.ok) throw new CliFailure(exits.failed, problemOf('no_secret', headers.message))
  const path = `/webhooks/${encodeURIComponent(agent)}/${name}`
  const answer = await found.api.signed<object>(path, body, headers.headers)
  if (!answer.ok) {
    const { failure } = answer
    if (failure.kind === 'problem') throw new CliFailure(exits.failed, failure.problem)
    throw notServed()
  }
  if (context.flags.json === true) printJson(context, answer.value)
  else {
    const { message_id, duplicate } = answer.value as {
      message_id: string | null
      duplicate: boolean
    }
    const became =
      message_id === null ? 'no message was made of it' : `it is ${context.ids.short(message_id)}`
    printLines(context, [
      `${name} took it for ${agent}: ${duplicate ? 'it came before' : became}`,
      ...(message_id === null ? ['see    holon webhook deliveries'] : []),
    ])
  }
  return exits.done
}

const notServed = (): CliFailure =>
  new CliFailure(
    exits.failed,
    problemOf('not_served', 'no daemon serves this home', 'holon start begins one', 503),
  )

export type DeliveryOptions = { agent?: string; dead?: boolean; limit?: string }

const columns: readonly Column[] = [
  { title: 'DELIVERY' },
  { title: 'AGENT', min: 5 },
  { title: 'VIA', min: 8 },
  { title: 'ABOUT', min: 12 },
  { title: 'BECAME', min: 12 },
  { title: 'AGO', align: 'right' },
]

/** Newest last: those of triggers too, for they share a log. */
export function deliveries(context: Context, options: DeliveryOptions): Promise<Exit> {
  const { limit = '50' } = options
  if (!/^\d{1,4}$/.test(limit)) {
    throw usage('bad_number', `--limit ${limit} is not a count`, 'give a number')
  }
  if (context.flags.json === true) {
    return printList(context, {
      plural: 'deliveries',
      path: (agent) => `/agents/${agent}/deliveries`,
      agent: options.agent,
      query: options.dead === true ? { status: 'dead' } : {},
      limit: Number(limit),
      by: 'received_at',
    })
  }
  return reading(context, async (reader, moment) => {
    const views = await viewsOf(reader, moment, options.agent)
    const lists = await Promise.all(
      views.map(({ agent }) =>
        reader.list('deliveries', {
          agent_id: agent.id,
          ...(options.dead === true ? { status: ['dead'] } : {}),
          limit: Number(limit),
        }),
      ),
    )
    const found = lists
      .flat()
      .sort((a, b) => (a.received_at < b.received_at ? -1 : 1))
      .slice(-Number(limit))
    printLines(context, deliveryLines(context, found))
    return exits.done
  })
}

function deliveryLines(context: Context, found: readonly Rows['deliveries'][]): string[] {
  if (found.length === 0) return ['nothing was delivered yet']
  const zone = zoneOf(context)
  const { ids } = context
  ids.know(found.map(({ id }) => id))
  const rows = found.map((one) =>
    [
      ids.short(one.id),
      one.agent_id,
      one.via.kind === 'trigger' ? ids.short(one.via.trigger_id) : one.via.webhook,
      one.summary ?? ([one.source, one.resource].filter((it) => it !== null).join(' ') || '-'),
      one.status === 'dead'
        ? `dead: ${one.reason ?? ''}`
        : one.message_id === null
          ? 'accepted'
          : ids.short(one.message_id),
      since(one.received_at, zone),
    ].map(safeLine),
  )
  return table(columns, rows, context.medium)
}

export async function redeliver(context: Context, target: string): Promise<Exit> {
  const row = await reading(context, async (reader) => {
    const id = await idOf(context, reader, target, ['dlv'])
    return reader.row('deliveries', id)
  })
  if (row === null) throw new Error(`no row for ${target}`)
  return act(context, { do: 'redeliver', agent_id: row.agent_id, delivery_id: row.id })
}
