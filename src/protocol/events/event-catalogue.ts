/**
 * The typed event catalogue (docs/spec/http.md#stream, docs/spec/http.md#stream): one schema for
 * each type of event that a ledger can hold. A type, or a field, that the rules have and this has
 * not (or the other way round) does not build.
 */
import { z } from 'zod'
import type { Event, EventOf, EventType } from '../../domain/state/event.ts'
import { eventFields } from './event-fields.ts'

/** A schema for each field, and none beside them. */
type FieldsOf<E> = {
  readonly [K in keyof E]-?: object extends Pick<E, K>
    ? z.ZodType<E[K] | undefined>
    : z.ZodType<E[K]>
}
const fields = eventFields satisfies {
  readonly [T in EventType]: FieldsOf<Omit<EventOf<T>, 'type'>>
}

/** `TurnStartedEvent` of `turn_started`. */
const nameOf = (type: string): string =>
  `${type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`

const schemas = Object.entries(fields).map(([type, shape]) =>
  z.strictObject({ type: z.literal(type), ...shape }).meta({ id: nameOf(type) }),
)
const [first, ...others] = schemas
if (first === undefined) throw new Error('there are no events')

/** Every type in the catalogue. */
export const eventTypes = Object.keys(fields)

export const eventSchema = z
  .discriminatedUnion('type', [first, ...others])
  .meta({ id: 'Event' }) as unknown as z.ZodType<Event>
