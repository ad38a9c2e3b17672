/**
 * Parameters that many routes share, each schema once: the name in the document is the name in the
 * path or the query. Ids are taken by any beginning or end (docs/spec/nouns.md#short-ids).
 */
import { z } from '@hono/zod-openapi'
import { httpLimits } from './limits.ts'

/** The name of an agent. */
export const agentName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'is not the name of an agent')
  .openapi({ description: 'The name of the agent.', example: 'main' })

/** An id, or its beginning or end: at least four characters, with its noun or without. */
export const idText = (noun: string) =>
  z
    .string()
    .regex(
      new RegExp(`^(?:${noun}_[0-9A-Za-z@:.-]{4,128}|[0-9a-f-]{4,36})$`),
      `is not the id of a ${noun}`,
    )
    .openapi({ description: 'The id, or its beginning or end.', example: `${noun}_7f3a` })

export const agentParams = z.object({ agent: agentName })

/** Params of a route below an agent: `agent`, and one id under its own name. */
export const agentAnd = <N extends string>(name: N, noun: string) =>
  z.object({ agent: agentName, [name]: idText(noun) } as {
    agent: typeof agentName
  } & Record<N, ReturnType<typeof idText>>)

const wholeNumber = /^(0|[1-9]\d{0,15})$/

/** How many events a page has at most. */
export const limit = z
  .string()
  .regex(wholeNumber, 'is not a whole number')
  .transform(Number)
  .pipe(z.number().min(1).max(httpLimits.page.value))
  .default(httpLimits.page_default.value)
  .openapi({
    type: 'integer',
    minimum: 1,
    maximum: httpLimits.page.value,
    default: httpLimits.page_default.value,
    description: 'Entries of the page, at most.',
  })

/** The name of a check within its item. */
export const checkName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'is not the name of a check')
  .openapi({ description: 'The name of the check.', example: 'tests' })
