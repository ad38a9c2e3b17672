/**
 * The smallest shapes of the wire: times, ids, lists. Records are built from these, strictly: a
 * field that is not in the schema is a mistake of ours, and a test finds it.
 */
import { z } from 'zod'

/** RFC 3339, UTC, with milliseconds: sorts as text (docs/spec/nouns.md#time). */
export const timestamp = z.iso.datetime()

/** A whole id of the noun with this prefix. */
export const idOf = <P extends string>(prefix: P) =>
  z.string().regex(new RegExp(`^${prefix}_`)) as unknown as z.ZodType<`${P}_${string}`>

export const agentId = z.string()
export const workItemId = idOf('work')
export const waitId = idOf('wait')
export const taskId = idOf('task')
export const messageId = idOf('msg')
export const turnId = idOf('turn')
export const briefId = idOf('brief')
export const callId = idOf('call')
export const decisionId = idOf('dec')

/** Hex sha256. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** A list that nobody who reads it changes. */
export const listOf = <T>(schema: z.ZodType<T>) =>
  z.array(schema) as unknown as z.ZodType<readonly T[]>

/** A whole number from zero on. */
export const count = z.int().min(0)

/** A named schema or null. Its own `nullable` would get lost, or stick to the name, in OpenAPI. */
export const orNull = <S extends z.ZodType>(schema: S) => z.union([schema, z.null()])
