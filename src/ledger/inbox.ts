/**
 * Finding an admission again by its dedupe key: the retry of a sender gets the first message.
 */
import type { Kysely } from 'kysely'
import type { Rows } from '../domain/event.ts'
import type { AgentId } from '../domain/ids.ts'
import type { Timestamp } from '../domain/time.ts'
import type { Database } from './schema.ts'

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
