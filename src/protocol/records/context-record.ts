/**
 * What a request was made of, and what a provider could take of it from its cache: the manifest of
 * each request of a turn, from its rows and the openings they name (docs/spec/context.md). Token
 * counts of sections are the runtime's estimates; `usage` is what the provider counted.
 */
import { z } from 'zod'
import type { Rows } from './records.ts'
import { count } from '../scalar.ts'
import { sentRecord, turnWhole, usage } from './turn-record.ts'

const fileLine = z
  .strictObject({
    path: z.string(),
    bytes: count.nullable().describe('Null: nobody could count them.'),
    form: z.enum(['full', 'compact', 'omitted']),
    why: z.string(),
  })
  .meta({ id: 'ContextFile' })

const contextSection = z
  .strictObject({
    section: z.string(),
    tokens: count.nullable().describe('Estimated; null: nobody measured it.'),
    form: z.enum(['full', 'compact', 'omitted']),
    why: z.string(),
    hash: z.string().nullable().describe('Of its text; null: it is told apart by `broke`.'),
    files: z.array(fileLine).optional().describe('Of sections that are made of files.'),
  })
  .meta({ id: 'ContextSection' })
export type ContextSection = z.infer<typeof contextSection>

const brokeRecord = z
  .strictObject({
    section: z.string().describe('The first one that is not as it was in the request before.'),
    why: z.string(),
  })
  .meta({ id: 'CacheBreak' })

export const requestContext = z
  .strictObject({
    request_id: z.string(),
    turn_id: turnWhole.shape.id,
    n: count,
    model: z.string(),
    recapped: count.describe('Rounds 1 to this one stand as a recap; 0: none.'),
    sections: z.array(contextSection),
    sent: sentRecord.nullable().describe('Null while there is no answer.'),
    usage: usage.nullable().describe('Null while there is no answer.'),
    broke: brokeRecord.nullable().describe('Null: it began with all of the request before it.'),
  })
  .meta({ id: 'RequestContext' })
export type RequestContext = z.infer<typeof requestContext>

export const turnContext = z
  .strictObject({ turn_id: turnWhole.shape.id, requests: z.array(requestContext) })
  .meta({ id: 'TurnContext' })
export type TurnContext = z.infer<typeof turnContext>

const textPart = z.strictObject({ part: z.string(), text: z.string() }).meta({ id: 'RequestPart' })
export type TextPart = z.infer<typeof textPart>

export const requestText = z
  .strictObject({ request: requestContext, parts: z.array(textPart) })
  .meta({ id: 'RequestText' })
export type RequestText = z.infer<typeof requestText>

type Round = Rows['rounds']

/** The manifest of an opening by the hash of its blob; a blob that is gone has none. */
export type Openings = ReadonlyMap<string, readonly ContextSection[]>

/** The manifest in the bytes of an opening; openings of earlier versions have none. */
export function manifestIn(bytes: Uint8Array | null): ContextSection[] {
  if (bytes === null) return []
  const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
  const found = z.object({ sections: z.array(contextSection) }).safeParse(value)
  return found.success ? found.data.sections : []
}

/** Every request of a turn, in order. `before`: the agent's newest request before the turn. */
export function contextsOf(
  rounds: readonly Round[],
  openings: Openings,
  before: Round | null,
): RequestContext[] {
  const found: RequestContext[] = []
  let opening: Round | null = null
  let last: { round: Round; sections: readonly ContextSection[] } | null = before && {
    round: before,
    sections: openings.get(before.opening_sha256 ?? '') ?? [],
  }
  for (const round of rounds) {
    if (round.opening_sha256 !== null) opening = round
    const recapped = opening?.recapped ?? 0
    const fixed = openings.get(opening?.opening_sha256 ?? '') ?? []
    const sections = [...toolSection(round), ...fixed, ...tailSections(round, recapped)]
    found.push({
      request_id: round.id,
      turn_id: round.turn_id,
      n: round.n,
      model: round.model,
      recapped,
      sections,
      sent: round.sent ?? null,
      usage: round.usage,
      broke: last === null ? null : brokeAt(last, { round, sections: fixed }),
    })
    last = { round, sections: fixed }
  }
  return found
}

function toolSection({ sent }: Round): ContextSection[] {
  if (sent === undefined) return []
  const { tokens, hash } = sent.tools
  return [{ section: 'tools', tokens, form: 'full', why: 'what the agent can do', hash }]
}

function tailSections(round: Round, recapped: number): ContextSection[] {
  const { sent, n, notes } = round
  const [from, to] = [sent?.rounds.from ?? recapped + 1, sent?.rounds.to ?? n - 1]
  const none = from > to
  const tail: ContextSection = {
    section: 'rounds',
    tokens: none ? 0 : (sent?.rounds.tokens ?? null),
    form: none ? 'omitted' : 'full',
    why: none ? 'there is none yet' : `rounds ${from} to ${to} of the turn, exact`,
    hash: null,
  }
  const said: ContextSection = {
    section: 'notes before this request',
    tokens: notes.length === 0 ? 0 : (sent?.notes ?? null),
    form: notes.length === 0 ? 'omitted' : 'full',
    why: notes.length === 0 ? 'there was nothing to say' : 'what happened since the last answer',
    hash: null,
  }
  return [tail, said]
}

type Placed = { round: Round; sections: readonly ContextSection[] }

/** Where a request stopped being the one before it with something behind; null: nowhere. */
function brokeAt(before: Placed, now: Placed): RequestContext['broke'] {
  const [a, b] = [before.round, now.round]
  if (a.model !== b.model) return { section: 'model', why: `${a.model} was asked before` }
  if (a.sent && b.sent && a.sent.tools.hash !== b.sent.tools.hash) {
    return { section: 'tools', why: 'the tools are not what they were' }
  }
  if (a.turn_id === b.turn_id && b.opening_sha256 === null) {
    if (!a.sent || !b.sent || a.sent.hash === b.sent.prefix_hash) return null
    return { section: 'rounds', why: 'the rounds were put together in another way' }
  }
  const changed = now.sections.find(({ hash }, at) => hash !== before.sections[at]?.hash)
  const why =
    a.turn_id === b.turn_id ? `rounds 1 to ${b.recapped} were recapped` : 'a new turn begins'
  return { section: changed?.section ?? 'rounds', why }
}
