/**
 * What callbacks and webhooks have in common: the answer to an accepted delivery, and the refusals
 * of one that cannot be taken now. 202 is only said after the commit.
 */
import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { OperatorCommand } from '../../protocol/acts/operator.ts'
import type { HttpEnv } from '../request/app-env.ts'
import type { HomePort } from '../request/ports.ts'
import { refuse, type Refusal } from '../request/problem.ts'

export const accepted = z
  .strictObject({
    message_id: z.string().nullable().describe('Null: no message was made of it.'),
    delivery_id: z.string().nullable().describe('In the delivery log; null: not kept.'),
    duplicate: z.boolean().describe('It came before; the ids are of the first.'),
  })
  .openapi('AcceptedDelivery')

/** 503 while nothing can be stored: the sender is to come again. */
export function degradedRefusal(home: HomePort): Refusal | null {
  const degraded = home.degraded()
  if (degraded === null) return null
  const retry = { 'retry-after': String(degraded.retry_after_s) }
  return refuse({ code: 'degraded', message: degraded.message }, retry)
}

/** What came in, as the rules take it. */
type Incoming = Extract<OperatorCommand, { do: 'deliver' | 'dead_letter' }>

/**
 * Carries the delivery out, and answers 202 once it is durable. A sender knows its capability and
 * nothing else: an agent or trigger that is gone by now is the same 404 as one that never was.
 */
export async function take(c: Context<HttpEnv>, home: HomePort, incoming: Incoming) {
  const reply = await home.act(incoming)
  if (!reply.ok) return gone.has(reply.code) ? nothingHere() : refuse(reply)
  const duplicate = reply.warnings.some(({ kind }) => kind === 'duplicate')
  return c.json({ message_id: reply.message_id, delivery_id: reply.id, duplicate }, 202)
}

const gone = new Set(['agent_not_found', 'agent_deleted', 'trigger_not_found'])

/** The uniform 404 of every capability URL (docs/spec/http.md#capability-urls). */
export const nothingHere = (): Refusal =>
  refuse({ code: 'not_found', message: 'There is nothing here.' })

/** Without what was not given: the schema of the act knows absent fields, not null ones. */
export const given = <F extends string>(fields: Readonly<Record<F, string | null>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [name in F]?: string
  }
