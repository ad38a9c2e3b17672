/**
 * What every command gets: the ports, the flags that all commands take, the home they settle, and
 * how its output is drawn. Made once per start.
 */
import {
  prefixOf,
  readAgents,
  resolveId,
  type Moment,
  type Reader,
} from '../../client/home-reads.ts'
import type { IdOf } from '../../protocol/records/records.ts'
import type { AgentView } from '../../protocol/agent-view.ts'
import type { Ink } from '../../present/text/marks.ts'
import { safeJson, safeLine } from '../../present/text/safe.ts'
import { looksLikeId, ShortIds } from '../../present/text/short-id.ts'
import type { Zone } from '../../present/text/span.ts'
import type { Medium } from '../../present/text/table.ts'
import { noAgent, usage } from './failure.ts'
import type { CliPorts, HomeReader } from './ports.ts'
import { homeSetting, type GlobalFlags, type Setting } from './settings.ts'

export type Context = {
  ports: CliPorts
  flags: GlobalFlags
  home: Setting<string>
  /** How stdout is drawn. */
  medium: Medium
  ink: Ink
  ids: ShortIds
}

/** Cells of a screen whose width is not known. */
const usualColumns = 100

export function makeContext(ports: CliPorts, flags: GlobalFlags): Context {
  const { terminal } = ports
  return {
    ports,
    flags,
    home: homeSetting(ports, flags.home),
    medium: {
      columns: terminal.stdout && flags.plain !== true ? terminal.columns() || usualColumns : null,
      wide: flags.wide === true,
    },
    ink: { colour: wantsColour(ports, flags, terminal.stdout), ascii: wantsAscii(ports, flags) },
    ids: new ShortIds(),
  }
}

export function wantsColour(ports: CliPorts, flags: GlobalFlags, terminal: boolean): boolean {
  const { no_color, force_color, term } = ports.environment
  if (flags.color === false || flags.plain === true || flags.json === true) return false
  if (no_color !== undefined && no_color !== '') return false
  if (force_color !== undefined && force_color !== '') return force_color !== '0'
  return terminal && term !== 'dumb'
}

/** Glyphs beyond ASCII need a locale in UTF-8; box glyphs are two cells wide in some East Asian. */
function wantsAscii(ports: CliPorts, flags: GlobalFlags): boolean {
  if (flags.ascii !== undefined) return flags.ascii
  const { locale } = ports.environment
  if (locale === undefined || locale === '') return false
  return /^(zh|ja|ko)/.test(locale) || /^(C|POSIX)$/.test(locale)
}

export const zoneOf = (context: Context): Zone => ({
  now: new Date(context.ports.clock.now()).toISOString(),
  utc: context.flags.utc === true,
})

export function printLines(context: Context, lines: readonly string[]): void {
  if (lines.length > 0) context.ports.out(`${lines.join('\n')}\n`)
}

export function printJson(context: Context, value: unknown): void {
  const text = safeJson(value, context.ports.terminal.stdout ? 2 : undefined)
  context.ports.out(`${text}\n`)
}

/** A home in which nothing ever ran answers every read with nothing. */
const nothing: HomeReader = {
  agents: () => Promise.resolve([]),
  live: () => Promise.resolve(null),
  row: () => Promise.resolve(null),
  idsLike: () => Promise.resolve([]),
  list: () => Promise.resolve([]),
  spend: () => Promise.resolve([]),
  events: () => Promise.resolve([]),
  lastGlobalSeq: () => Promise.resolve(0),
  command: () => Promise.resolve(null),
  plan: () => Promise.reject(new Error('there is no item in an empty home')),
  verify: () => Promise.resolve({ ok: true, events: 0, rows: 0, problems: [] }),
  replay: () => Promise.reject(new Error('there is no turn in an empty home')),
  invariants: () => Promise.resolve([]),
  stats: () => Promise.resolve({ schema: 0, events: 0, bytes: 0 }),
  close: () => Promise.resolve(),
}

/** Opens the home for reading, and closes it whatever the command does. */
export async function reading<T>(
  context: Context,
  use: (reader: HomeReader, moment: Moment) => Promise<T>,
): Promise<T> {
  const { ports, home } = context
  const reader = (await ports.open_reader(home.value)) ?? nothing
  try {
    const owner = await ports.owner(home.value)
    return await use(reader, { now: zoneOf(context).now, has_owner: owner !== null })
  } finally {
    await reader.close()
  }
}

/** Every agent's view, or only the one named by a flag; an unknown name is an error. */
export async function viewsOf(
  reader: Reader,
  moment: Moment,
  agent: string | undefined,
): Promise<AgentView[]> {
  const views = await readAgents(reader, moment, agent ?? null)
  if (agent === undefined || views.length > 0) return views
  const there = (await reader.agents()).filter(({ state }) => state !== 'deleted')
  const names = there.map(({ id }) => id)
  throw noAgent(agent, names)
}

export type Prefix = 'work' | 'wait' | 'task' | 'msg' | 'trig' | 'dlv' | 'sched' | 'grant'

const nouns: Readonly<Record<string, string>> = {
  work: 'work item',
  wait: 'wait',
  task: 'task',
  msg: 'message',
  trig: 'trigger',
  dlv: 'delivery',
  sched: 'schedule',
}

/**
 * The whole id that `text` means, by its beginning or its end; it must be of one of the nouns with
 * these prefixes.
 */
export async function idOf(
  context: Context,
  reader: Reader,
  text: string,
  prefixes: readonly Prefix[],
): Promise<string> {
  const names = prefixes.map((prefix) => nouns[prefix]).join(' or ')
  const example = prefixes.map((prefix) => `${prefix}_7f3a`).join(' or ')
  if (!prefixes.some((prefix) => looksLikeId(text, prefix))) {
    if (/^[a-z]+_[0-9a-f]{0,3}$/.test(text) && prefixes.some((it) => text.startsWith(`${it}_`))) {
      const hint = `give four characters of it or more, like ${example}`
      throw usage('bad_id', `"${text}" is too short for an id`, hint)
    }
    throw usage('bad_id', `"${text}" is no id of a ${names}`, `ids look like ${example}`)
  }
  const found = await resolveId(reader, text, prefixes)
  if (found.ok) return found.id
  const prefix = prefixOf(text)
  const list = listOf[prefix === '' ? (prefixes[0] ?? '') : prefix] ?? 'holon work list'
  if (found.code === 'unknown_id') {
    const noun = prefix === '' ? names : nouns[prefix]
    throw usage('unknown_id', `there is no ${noun} ${text}`, `${list} shows them`)
  }
  const more = candidateLines(context, found.candidates)
  throw usage('ambiguous_id', `${text} means more than one`, 'use one of these ids', more)
}

/** Each with whose it is. */
export function candidateLines({ ids }: Context, candidates: readonly IdOf[]): string[] {
  ids.know(candidates.map(({ id }) => id))
  const lines = candidates.map(({ id, agent_id }) => [ids.short(id), agent_id, id].map(safeLine))
  return lines.map((cells) => `  ${cells.join('  ')}`)
}

const listOf: Readonly<Record<string, string>> = {
  work: 'holon work list --all',
  wait: 'holon waits',
  task: 'holon tasks --all',
  msg: 'holon events',
  trig: 'holon trigger list --all',
  dlv: 'holon webhook deliveries',
  sched: 'holon schedule list --all',
}
