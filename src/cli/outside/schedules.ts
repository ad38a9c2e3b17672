/**
 * `holon schedule add|list|pause|resume|remove|slots`: what an agent is told later, or regularly.
 */
import type { Rows } from '../../protocol/records/records.ts'
import { safeLine } from '../../present/text/safe.ts'
import { clock, due, took } from '../../present/text/span.ts'
import { table, type Column } from '../../present/text/table.ts'
import { act, named } from '../command/act.ts'
import { idOf, printLines, reading, viewsOf, zoneOf, type Context } from '../command/context.ts'
import { exits, usage, type Exit } from '../command/failure.ts'
import { ensureAgent } from '../command/first-agent.ts'
import { momentOf, spanOf } from '../command/moment.ts'
import { printList } from '../command/records.ts'

type Schedule = Rows['schedules']

/** Schedules of one agent, and slots of one schedule, that are shown. */
const most = 1_000
const usualSlots = 20

export type AddOptions = {
  agent?: string
  label?: string
  at?: string
  in?: string
  cron?: string
  zone?: string
  workItem?: string
  missed?: string
  overlap?: string
}

const missedPolicies = ['once', 'skip', 'all'] as const
const overlapPolicies = ['skip', 'queue', 'coalesce'] as const

export async function addSchedule(
  context: Context,
  text: string,
  options: AddOptions,
): Promise<Exit> {
  if (text.trim() === '') {
    throw usage('message_empty', 'there is nothing to say', 'holon schedule add "<text>" --in 30m')
  }
  const spec = specOf(context, options)
  const missed = oneOf('--missed', options.missed, missedPolicies)
  const overlap = oneOf('--overlap', options.overlap, overlapPolicies)
  const item =
    options.workItem === undefined ? null : await named(context, options.workItem, ['work'])
  const agent_id = item?.agent_id ?? options.agent ?? 'main'
  await ensureAgent(context, agent_id)
  return act(context, {
    do: 'create_schedule',
    agent_id,
    label: options.label ?? labelOf(text),
    text,
    spec,
    ...(item === null ? {} : { work_item_id: item.id }),
    ...(missed === undefined ? {} : { missed }),
    ...(overlap === undefined ? {} : { overlap }),
  })
}

/** Characters of a label made from the text. */
const labelLength = 60

function labelOf(text: string): string {
  const [line = ''] = text.trim().split('\n')
  return line.length <= labelLength ? line : `${line.slice(0, labelLength - 1)}…`
}

function oneOf<T extends string>(
  flag: string,
  text: string | undefined,
  known: readonly T[],
): T | undefined {
  if (text === undefined) return undefined
  const found = known.find((one) => one === text)
  if (found !== undefined) return found
  throw usage('bad_policy', `${flag} ${text} is not known`, `it is ${known.join(', ')}`)
}

/** Exactly one of `--at`, `--in` and `--cron`. */
function specOf(context: Context, { at, in: after, cron, zone }: AddOptions): Schedule['spec'] {
  const given = [at, after, cron].filter((one) => one !== undefined)
  if (given.length !== 1) {
    const hint =
      '--at 2030-12-01T09:00:00+01:00, --in 30m, or --cron "0 9 * * 1-5" --zone Europe/Rome'
    throw usage('which_time', 'say when, in one way', hint)
  }
  if (cron !== undefined) {
    return { kind: 'cron', expression: cron, time_zone: zone ?? localZone() }
  }
  if (zone !== undefined) {
    throw usage('zone_without_cron', '--zone belongs to --cron', 'a moment of --at has its own')
  }
  const now = () => context.ports.clock.now()
  return {
    kind: 'once',
    at: new Date(
      at === undefined ? now() + spanOf('--in', after ?? '') : momentOf('--at', at),
    ).toISOString(),
  }
}

const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

const columns: readonly Column[] = [
  { title: 'SCHEDULE' },
  { title: 'AGENT', min: 5 },
  { title: 'LABEL', min: 12 },
  { title: 'WHEN', min: 12 },
  { title: 'NEXT', min: 10 },
]

export function schedules(
  context: Context,
  options: { agent?: string; all?: boolean },
): Promise<Exit> {
  if (context.flags.json === true) {
    const path = (agent: string) => `/agents/${agent}/schedules`
    const query = { status: options.all === true ? 'all' : 'live' }
    return printList(context, { plural: 'schedules', path, agent: options.agent, query })
  }
  return reading(context, async (reader, moment) => {
    const views = await viewsOf(reader, moment, options.agent)
    const lists = await Promise.all(
      views.map(({ agent }) => reader.list('schedules', { agent_id: agent.id, limit: most })),
    )
    const live = (one: Schedule) => one.status === 'active' || one.status === 'paused'
    const found = lists.flat().filter((one) => options.all === true || live(one))
    if (found.length === 0) {
      printLines(context, ['nothing is scheduled', 'do    holon schedule add "<text>" --in 30m'])
      return exits.done
    }
    const zone = zoneOf(context)
    const { ids } = context
    ids.know(found.map(({ id }) => id))
    const rows = found.map((one) =>
      [
        ids.short(one.id),
        one.agent_id,
        one.label,
        one.spec.kind === 'once'
          ? clock(one.spec.at, zone)
          : `${one.spec.expression} ${one.spec.time_zone}`,
        one.next_at === null ? one.status : due(one.next_at, zone),
      ].map(safeLine),
    )
    printLines(context, table(columns, rows, context.medium))
    return exits.done
  })
}

async function scheduleOf(context: Context, target: string): Promise<Schedule> {
  return reading(context, async (reader) => {
    const id = await idOf(context, reader, target, ['sched'])
    const row = await reader.row('schedules', id)
    if (row === null) throw new Error(`no row for ${id}`)
    return row
  })
}

export async function changeSchedule(
  context: Context,
  verb: 'pause' | 'resume' | 'remove',
  target: string,
): Promise<Exit> {
  const { id, agent_id } = await scheduleOf(context, target)
  return act(context, { do: `${verb}_schedule`, agent_id, schedule_id: id })
}

const slotColumns: readonly Column[] = [
  { title: 'DUE' },
  { title: 'BECAME' },
  { title: 'LATE', align: 'right' },
  { title: 'MESSAGE' },
]

/** Each moment it was due, and what became of it; newest last. */
export async function slots(
  context: Context,
  target: string,
  options: { limit?: string },
): Promise<Exit> {
  const { limit = String(usualSlots) } = options
  if (!/^\d{1,4}$/.test(limit)) {
    throw usage('bad_number', `--limit ${limit} is not a count`, 'give a number')
  }
  const schedule = await scheduleOf(context, target)
  if (context.flags.json === true) {
    const { id, agent_id: agent } = schedule
    const path = (one: string) => `/agents/${one}/schedules/${id}/slots`
    return printList(context, { plural: 'slots', path, agent, limit: Number(limit) })
  }
  const found = await reading(context, (reader) =>
    reader.list('slots', {
      agent_id: schedule.agent_id,
      schedule_id: schedule.id,
      limit: Number(limit),
    }),
  )
  if (found.length === 0) {
    printLines(context, ['it was never due yet'])
    return exits.done
  }
  const zone = zoneOf(context)
  const rows = found.map((slot) =>
    [
      clock(slot.due_at, zone),
      slot.missed_count === 0 ? slot.status : `${slot.status}, for ${slot.missed_count} missed`,
      slot.late_by_ms < 1_000 ? '-' : took(slot.late_by_ms),
      slot.message_id === null ? '-' : context.ids.short(slot.message_id),
    ].map(safeLine),
  )
  printLines(context, table(slotColumns, rows, context.medium))
  return exits.done
}
