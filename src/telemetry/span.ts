/**
 * A span as plain data, whole when it is made, and its ids. Ids are functions of our own: a turn's
 * trace id is the UUID of the turn, so that what one process began and another ended is one trace,
 * and a link needs no memory of what it points to.
 */
import { createHash } from 'node:crypto'

export type Attribute = string | number | boolean | readonly string[]
export type Attributes = Readonly<Record<string, Attribute | null | undefined>>

/** `trace_id` is 32 hex digits, `span_id` 16. */
export type SpanRef = { trace_id: string; span_id: string }

export type Span = SpanRef & {
  parent_id: string | null
  name: string
  kind: 'internal' | 'client' | 'consumer'
  /** Milliseconds since 1970. */
  start: number
  end: number
  /** Null and undefined ones are left out. */
  attributes: Attributes
  links: readonly SpanRef[]
  events: readonly { name: string; at: number; attributes: Attributes }[]
  /** What went wrong, as a code; null: nothing did. */
  error: string | null
}

const uuidOf = (id: string): string | null => {
  const hex = id.slice(id.indexOf('_') + 1).replaceAll('-', '')
  return /^[0-9a-f]{32}$/.test(hex) ? hex : null
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

export const traceIdOf = (id: string): string => uuidOf(id) ?? digest(id).slice(0, 32)
export const spanIdOf = (id: string): string => digest(id).slice(0, 16)

/** The span that is the root of its own trace. */
export const rootOf = (id: string): SpanRef => ({ trace_id: traceIdOf(id), span_id: spanIdOf(id) })

/** When the id was minted, from its UUIDv7; null when it is none. */
export function mintedAt(id: string): number | null {
  const hex = uuidOf(id)
  return hex?.[12] === '7' ? Number.parseInt(hex.slice(0, 12), 16) : null
}

/** Ids of a span below a turn. */
export const childOf = (turn_id: string, id: string) => ({
  trace_id: traceIdOf(turn_id),
  span_id: spanIdOf(id),
  parent_id: spanIdOf(turn_id),
})

/** A span without links and events. */
export const plain = (
  span: Pick<Span, 'trace_id' | 'span_id' | 'parent_id' | 'name' | 'kind' | 'start' | 'end'>,
  attributes: Attributes,
  error: string | null = null,
): Span => ({ ...span, attributes, links: [], events: [], error })

/** Content as an attribute; nothing, and nothing read, unless recording it was asked for. */
export type Recorded = (read: () => unknown) => string | undefined
