/**
 * Finding what came in again: an admission by its dedupe key, a delivery by what its sender calls
 * it, because the retry of a sender gets the first; and the trigger a token opens.
 */
import type { Kysely } from 'kysely'
import type { Rows } from '../../domain/state/event.ts'
import type { AgentId } from '../../domain/ids.ts'
import type { Timestamp } from '../../domain/time.ts'
import type { Database } from '../sqlite/schema.ts'

/** The newest message with the key, unless even that was admitted before `since`. */
export async function readMessageByKey(
  db: Kysely<Database>,
  agent_id: AgentId,
  key: string,
  since: Timestamp,
): Promise<Rows['messages'] | null> {
  const found = await db
    .selectFrom('messages')
    .select('data')
    .where('agent_id', '=', agent_id)
    .where('dedupe_key', '=', key)
    .orderBy('born', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!found) return null
  const message = JSON.parse(found.data) as Rows['messages']
  return message.created_at >= since ? message : null
}

/** The oldest delivery with the sender's id received at or after `since`; null: by a webhook. */
export async function readDeliveryBySender(
  db: Kysely<Database>,
  agent_id: AgentId | null,
  source: string | null,
  sender_id: string,
  since: Timestamp,
): Promise<Rows['deliveries'] | null> {
  const found = await db
    .selectFrom('deliveries')
    .select('data')
    // Agent by agent, as the index has them.
    .where((eb) =>
      agent_id === null
        ? eb('agent_id', 'in', eb.selectFrom('agents').select('id'))
        : eb('agent_id', '=', agent_id),
    )
    .where('source', 'is', source)
    .where('sender_id', '=', sender_id)
    .orderBy('born')
    .execute()
  return (
    found
      .map(({ data }) => JSON.parse(data) as Rows['deliveries'])
      .filter(({ via }) => agent_id !== null || via.kind === 'webhook')
      .find(({ received_at }) => received_at >= since) ?? null
  )
}

/** Revoked or not: whoever asks decides what a revoked one may do. */
export async function readTriggerByToken(
  db: Kysely<Database>,
  token_sha256: string,
): Promise<Rows['triggers'] | null> {
  const found = await db
    .selectFrom('triggers')
    .select('data')
    .where('token_sha256', '=', token_sha256)
    .executeTakeFirst()
  return found ? (JSON.parse(found.data) as Rows['triggers']) : null
}
