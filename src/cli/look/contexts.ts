/**
 * `holon context show`: what a request was made of, what of each request of a turn a provider had
 * in its cache, and with `--diff` how one request differs from another.
 */
import { createTwoFilesPatch } from 'diff'
import type { Api } from '../../client/api.ts'
import { prefixOf, resolveId } from '../../client/home-reads.ts'
import type {
  RequestContext,
  RequestText,
  TurnContext,
} from '../../protocol/records/context-record.ts'
import { safeLine, safeLines } from '../../present/text/safe.ts'
import { table, type Column, type Medium } from '../../present/text/table.ts'
import { candidateLines, printJson, printLines, reading, type Context } from '../command/context.ts'
import { exits, noHome, usage, type Exit } from '../command/failure.ts'
import { asking, failureOf } from '../command/records.ts'

export type ContextOptions = { agent?: string; text?: boolean; diff?: string }

/** A request as the words of a command name it: `turn_7f3a`, `turn_7f3a:12`, or nothing. */
type Place = { agent_id: string; turn_id: string; n: number | null }

/** A request that is named; of a turn its newest request, and what each of them cost. */
export async function contextShow(
  context: Context,
  text: string | undefined,
  options: ContextOptions,
): Promise<Exit> {
  if (options.text === true && options.diff !== undefined) {
    throw usage('bad_view', '--text and --diff are two views of a request', 'ask for one')
  }
  return withApi(context, async (api) => {
    const place = await placeOf(context, text, options)
    if (options.text === true) return showText(context, api, place)
    if (options.diff !== undefined) return showDiff(context, api, place, options.diff)
    const turn = await turnOf(api, place)
    const found = place.n === null ? turn : pick(turn.requests, place)
    if (context.flags.json === true) printJson(context, found)
    else if ('n' in found) printLines(context, manifestLines(context, found))
    else printLines(context, turnLines(context, found))
    return exits.done
  })
}

async function withApi(context: Context, use: (api: Api) => Promise<Exit>): Promise<Exit> {
  const exit = await asking(context, use)
  if (exit === null) throw noHome(context.home.value)
  return exit
}

/** The newest turn of the agent when nothing is named, and its newest request. */
function placeOf(
  context: Context,
  text: string | undefined,
  { agent = 'main' }: ContextOptions,
): Promise<Place> {
  return reading(context, async (reader) => {
    if (text === undefined) {
      const [newest] = await reader.list('turns', { agent_id: agent, limit: 1 })
      if (newest) return { agent_id: agent, turn_id: newest.id, n: null }
      throw usage('unknown_id', `${agent} has had no turn yet`, 'name another with --agent')
    }
    const [, turn = '', n] = /^(turn_[0-9a-f-]{4,36})(?::([1-9]\d{0,3}))?$/.exec(text) ?? []
    if (prefixOf(turn) !== 'turn') {
      const hint = 'turns look like turn_7f3a, requests like turn_7f3a:12'
      throw usage('bad_id', `"${text}" is no turn and no request`, hint)
    }
    const found = await resolveId(reader, turn)
    if (!found.ok) {
      const more = candidateLines(context, found.candidates)
      const said = found.code === 'unknown_id' ? 'there is no' : 'more than one is meant by'
      throw usage(found.code, `${said} ${turn}`, 'holon context show shows the newest turn', more)
    }
    const row = await reader.row('turns', found.id)
    if (row === null) throw new Error(`no row for ${found.id}`)
    return { agent_id: row.agent_id, turn_id: row.id, n: n === undefined ? null : Number(n) }
  })
}

const pathOf = ({ agent_id, turn_id }: Place): string =>
  `/agents/${encodeURIComponent(agent_id)}/turns/${turn_id}/context`

async function turnOf(api: Api, place: Place): Promise<TurnContext> {
  const answer = await api.get<TurnContext>(pathOf(place))
  if (!answer.ok) throw failureOf(answer.failure)
  return answer.value
}

async function textOf(api: Api, place: Place): Promise<RequestText> {
  const { n } = place.n === null ? pick((await turnOf(api, place)).requests, place) : place
  const answer = await api.get<RequestText>(`${pathOf(place)}/${n}`)
  if (!answer.ok) throw failureOf(answer.failure)
  return answer.value
}

function pick(requests: readonly RequestContext[], { turn_id, n }: Place): RequestContext {
  const found = n === null ? requests.at(-1) : requests.find((request) => request.n === n)
  if (found) return found
  const many = `it has ${requests.length === 0 ? 'none yet' : `1 to ${requests.length}`}`
  throw usage('unknown_id', `there is no request ${n ?? 1} of ${turn_id}`, many)
}

async function showText(context: Context, api: Api, place: Place): Promise<Exit> {
  const found = await textOf(api, place)
  if (context.flags.json === true) printJson(context, found)
  else {
    const lines = found.parts.flatMap(({ part, text }) => [`== ${part}`, ...safeLines(text), ''])
    printLines(context, lines)
  }
  return exits.done
}

async function showDiff(context: Context, api: Api, place: Place, other: string): Promise<Exit> {
  const before = await textOf(api, await placeOf(context, other, {}))
  const after = await textOf(api, place)
  if (context.flags.json === true) {
    printJson(context, { before: before.request, after: after.request })
  } else printLines(context, diffLines(context, before, after))
  return exits.done
}

const number = (n: number): string => String(n).replace(/\B(?=(?:\d{3})+$)/g, ',')
const known = (n: number | null | undefined): string =>
  n === null || n === undefined ? '?' : number(n)

function turnLines(context: Context, turn: TurnContext): string[] {
  const newest = turn.requests.at(-1)
  if (newest === undefined) return [`${context.ids.short(turn.turn_id)} has sent no request yet`]
  return [...manifestLines(context, newest), '', ...costLines(context, turn)]
}

const sectionColumns: readonly Column[] = [
  { title: 'SECTION' },
  { title: 'TOKENS', align: 'right' },
  { title: 'SHOWN' },
  { title: 'WHY', min: 12 },
]

function manifestLines(context: Context, request: RequestContext): string[] {
  const { ids, medium } = context
  const { sent, usage: used, broke } = request
  const name = `${ids.short(request.turn_id)}:${request.n}`
  const size =
    sent === null
      ? 'no answer yet'
      : `estimated ${number(Math.round(sent.estimated * sent.factor))} of ${number(sent.window)}`
  const counted =
    used === null
      ? []
      : [`counted ${known(used.input_tokens)}, ${known(used.cached_input_tokens)} from a cache`]
  const prefix =
    broke === null
      ? 'it begins with the whole request before it'
      : `it differs from the request before it from ${broke.section} on: ${broke.why}`
  const rows = request.sections.map(({ section, tokens, form, why }) =>
    [section, known(tokens), form, ids.within(why)].map(safeLine),
  )
  return [
    safeLine(`${name}  ${[request.model, size, ...counted].join(', ')}`),
    ...(sent === null || sent.factor === 1
      ? []
      : [`the provider counts ${sent.factor} for one estimated token`]),
    safeLine(prefix),
    '',
    ...table(sectionColumns, rows, medium),
    ...fileLines(request, medium),
  ]
}

const fileColumns: readonly Column[] = [
  { title: 'FILE', min: 24 },
  { title: 'BYTES', align: 'right' },
  { title: 'SHOWN' },
  { title: 'WHY', min: 12 },
]

function fileLines({ sections }: RequestContext, medium: Medium): string[] {
  const files = sections.flatMap((section) => section.files ?? [])
  if (files.length === 0) return []
  const rows = files.map(({ path, bytes, form, why }) =>
    [path, known(bytes), form, why].map(safeLine),
  )
  return ['', ...table(fileColumns, rows, medium)]
}

const costColumns: readonly Column[] = [
  { title: 'REQUEST' },
  { title: 'INPUT', align: 'right' },
  { title: 'CACHED', align: 'right' },
  { title: 'PREFIX', min: 12 },
]

function costLines(context: Context, { turn_id, requests }: TurnContext): string[] {
  const { ids, medium } = context
  const short = ids.short(turn_id)
  const rows = requests.map(({ n, usage: used, broke }) =>
    [
      `${short}:${n}`,
      known(used?.input_tokens),
      known(used?.cached_input_tokens),
      broke === null ? 'kept' : `new from ${broke.section}: ${broke.why}`,
    ].map(safeLine),
  )
  const sum = (of: 'input_tokens' | 'cached_input_tokens'): number =>
    requests.reduce((total, request) => total + (request.usage?.[of] ?? 0), 0)
  const [input, cached] = [sum('input_tokens'), sum('cached_input_tokens')]
  const share = input === 0 ? '' : ` (${Math.round((cached / input) * 100)} %)`
  const lines = table(costColumns, rows, medium)
  if (medium.columns === null) return lines
  const total = `${number(input)} tokens in, ${number(cached)} of them from a cache${share}`
  return [...lines, '', total]
}

/** Sections whose text is not the same, then the lines of the two requests. */
function diffLines(context: Context, before: RequestText, after: RequestText): string[] {
  const [a, b] = [before.request, after.request]
  const name = ({ turn_id, n }: RequestContext) => `${context.ids.short(turn_id)}:${n}`
  const changed = b.sections.filter((section) => {
    const other = a.sections.find((one) => one.section === section.section)
    return other?.hash !== section.hash || other?.form !== section.form
  })
  const texts = [whole(before), whole(after)] as const
  if (texts[0] === texts[1]) return ['every section is the same']
  const patch = createTwoFilesPatch(name(a), name(b), ...texts, '', '', { context: 2 })
  return [
    changed.length === 0
      ? 'every section is the same'
      : safeLine(`not the same: ${changed.map(({ section }) => section).join(', ')}`),
    ...safeLines(patch.trimEnd()).slice(1),
  ]
}

const whole = ({ parts }: RequestText): string =>
  parts.map(({ part, text }) => `== ${part}\n${text.endsWith('\n') ? text : `${text}\n`}`).join('')
