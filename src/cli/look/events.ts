/** `holon events`: the events of a home in order, once or as they come; `--json`: JSON lines. */
import type { Reader } from '../../client/home-reads.ts'
import type { StoredEvent } from '../../protocol/records/records.ts'
import { safeLine, safeJson } from '../../present/text/safe.ts'
import { clockSeconds } from '../../present/text/span.ts'
import { table } from '../../present/text/table.ts'
import { idOf, printLines, reading, viewsOf, zoneOf, type Context } from '../command/context.ts'
import { exits, usage, type Exit } from '../command/failure.ts'

export type EventOptions = {
  follow?: boolean
  after?: string
  agent?: string
  workItem?: string
  limit?: string
}

const page = 500
const usualLimit = 100
/** Milliseconds between two looks while following. */
const lookEvery = 250

type Filter = { agent_id?: string; work_item_id?: string }

export function events(context: Context, options: EventOptions): Promise<Exit> {
  return reading(context, async (reader, moment) => {
    if (options.agent !== undefined) await viewsOf(reader, moment, options.agent)
    const item =
      options.workItem === undefined
        ? undefined
        : await idOf(context, reader, options.workItem, ['work'])
    const filter: Filter = {
      ...(options.agent === undefined ? {} : { agent_id: options.agent }),
      ...(item === undefined ? {} : { work_item_id: item }),
    }
    const given = options.after === undefined ? null : numberOf('--after', options.after)
    const limit = options.limit === undefined ? null : numberOf('--limit', options.limit)
    const last = await reader.lastGlobalSeq()
    // Without a place to begin, the newest; when following, from now on and the newest before it.
    const after = given ?? (await newest(reader, filter, last, limit ?? usualLimit))
    const seen = await printFrom(context, reader, filter, after, given === null ? null : limit)
    if (options.follow === true) await follow(context, reader, filter, seen)
    return exits.done
  })
}

function numberOf(flag: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const hint = flag === '--after' ? 'give a sequence number' : 'give a count'
  throw usage('bad_number', `${flag} ${text} is not a whole number from 0 on`, hint)
}

/** The place behind which about `count` matching events stand. */
async function newest(reader: Reader, filter: Filter, last: number, count: number) {
  if (Object.keys(filter).length === 0) return Math.max(0, last - count)
  const found: number[] = []
  for (let after = 0; ;) {
    const some = await reader.events({ after, limit: page, ...filter })
    for (const { global_seq } of some) found.push(global_seq)
    const end = some.at(-1)
    if (end === undefined || some.length < page) break
    after = end.global_seq
  }
  return (found.at(-count) ?? 1) - 1
}

/** Prints everything behind `after`, at most `limit`, and returns the last place it reached. */
async function printFrom(
  context: Context,
  reader: Reader,
  filter: Filter,
  after: number,
  limit: number | null,
): Promise<number> {
  let at = after
  for (let left = limit ?? Number.MAX_SAFE_INTEGER; left > 0;) {
    const some = await reader.events({ after: at, limit: Math.min(page, left), ...filter })
    print(context, some)
    const end = some.at(-1)
    if (end === undefined) break
    at = end.global_seq
    left -= some.length
  }
  return at
}

function print(context: Context, some: readonly StoredEvent[]): void {
  if (some.length === 0) return
  if (context.flags.json === true) {
    context.ports.out(some.map((event) => `${safeJson(event)}\n`).join(''))
    return
  }
  const zone = zoneOf(context)
  const { ids, medium } = context
  const rows = some.map(({ global_seq, at, agent_id, event }) =>
    [
      String(global_seq),
      clockSeconds(at, zone),
      agent_id,
      event.type,
      ids.within(event.id),
      details(event, (text) => ids.within(text)),
    ].map(safeLine),
  )
  const columns = [
    { title: 'SEQ', align: 'right' as const },
    { title: 'AT' },
    { title: 'AGENT', min: 6 },
    { title: 'EVENT' },
    { title: 'OF' },
    { title: 'WHAT', min: 10 },
  ]
  printLines(context, table(columns, rows, medium).slice(1))
}

/** The event's short fields, in their order: enough to read along, `--json` has the rest. */
function details(event: StoredEvent['event'], within: (text: string) => string): string {
  const { type: _, id: __, ...fields } = event
  return within(
    Object.entries(fields)
      .filter(([, value]) => value !== null && typeof value !== 'object' && value !== '')
      .map(([name, value]) => `${name}=${String(value)}`)
      .join(' '),
  )
}

/** Looks again and again until it is interrupted: a read beside the owner costs it nothing. */
async function follow(context: Context, reader: Reader, filter: Filter, from: number) {
  const { ports } = context
  const stopped = new AbortController()
  const stop = ports.on_interrupt(() => stopped.abort())
  for (let at = from; !stopped.signal.aborted;) {
    at = await printFrom(context, reader, filter, at, null)
    const paused = Promise.withResolvers<void>()
    const cancel = ports.clock.after(lookEvery, paused.resolve)
    const wake = () => {
      cancel()
      paused.resolve()
    }
    stopped.signal.addEventListener('abort', wake, { once: true })
    await paused.promise
    stopped.signal.removeEventListener('abort', wake)
  }
  stop()
}
