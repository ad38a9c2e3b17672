/**
 * Acts of the operator as routes: the command goes to the owner, a rejection becomes a problem, and
 * a creating POST carries its receipt, so that the same request again is the same answer.
 */
import type { Context } from 'hono'
import type { OperatorCommand, OperatorReply } from '../../protocol/acts/operator.ts'
import type { HttpEnv } from './app-env.ts'
import { receiptOf } from './idempotency.ts'
import type { Rows } from '../../protocol/records/records.ts'
import { rowNamed, type Lookup, type OwnedTable } from './named.ts'
import type { HomePort } from './ports.ts'
import { refuse } from './problem.ts'

type Done = OperatorReply & { ok: true }

/** Durable when it says `ok`. */
export async function acted(home: HomePort, command: OperatorCommand): Promise<Lookup<Done>> {
  const reply = await home.act(command)
  return reply.ok ? { ok: true, value: reply } : { ok: false, refusal: refuse(reply) }
}

/** The act on the row that is meant, and the row as it is then. */
export async function actedOn<T extends OwnedTable>(
  home: HomePort,
  table: T,
  { agent, text }: { agent: string; text: string },
  commandOn: (id: string) => OperatorCommand,
): Promise<Lookup<{ row: Rows[T]; done: Done }>> {
  const found = await rowNamed(home, table, agent, text)
  if (!found.ok) return found
  const { id } = found.value
  const done = await acted(home, commandOn(id))
  if (!done.ok) return done
  const now = await rowNamed(home, table, agent, id)
  return now.ok ? { ok: true, value: { row: now.value, done: done.value } } : now
}

/** The same for a POST that makes something. `route` is its pattern. */
export async function created(
  c: Context<HttpEnv>,
  home: HomePort,
  route: string,
  command: OperatorCommand,
): Promise<Lookup<Done>> {
  const key = receiptOf(c, command.agent_id, `POST ${route}`)
  if (!key.ok) return key
  return acted(home, key.receipt === undefined ? command : { ...command, receipt: key.receipt })
}

/** What an act made, by its id: the rules promise to name it. */
export function madeBy({ id, said }: Done): string {
  if (id === null) throw new Error(`an act made nothing: ${said}`)
  return id
}

/** The body of a request and its content, as every route with one declares it. */
export const bodyOf = <S>(schema: S, required = true) => ({
  body: { required, content: { 'application/json': { schema } } },
})

export const answerOf = <S>(description: string, schema: S) => ({
  description,
  content: { 'application/json': { schema } },
})
