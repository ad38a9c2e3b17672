/**
 * Short ids at the two ends of a request: what a model is shown has them, and what it gives is
 * taken as the id that it means. In between, in rows, events and results, every id is whole.
 */
import { isWholeId, partsOfId, tableOfShort, type Short } from '../domain/state/short-id.ts'
import type { AgentId, IdOf } from '../domain/ids.ts'
import type { LedgerReads } from '../ledger/port.ts'

/** Short forms that were read; one that is not there stands for itself. They never change. */
export type KnownShort = Map<string, string>

/** Of a lane: some hundred bytes each. */
const mostKnown = 5_000

/**
 * What `render` makes with short ids. It runs again where it met ids that were not read yet, so it
 * may do nothing but return.
 */
export async function withShort<T>(
  ledger: Pick<LedgerReads, 'shortIds'>,
  agent_id: AgentId,
  known: KnownShort,
  render: (short: Short) => T,
): Promise<T> {
  if (known.size > mostKnown) known.clear()
  for (;;) {
    const met = new Set<string>()
    const made = render((id) => known.get(id) ?? (met.add(id), id))
    if (met.size === 0) return made
    const found = await ledger.shortIds(agent_id, [...met])
    for (const id of met) known.set(id, found.get(id) ?? id)
  }
}

export type Meant = { ok: true; text: string } | { ok: false; among: readonly IdOf[] }

/**
 * The whole id that an agent means by `text`, with what follows it behind a slash: the one with
 * exactly this short form, else the only one of its own that ends or begins so. What names none of
 * them is handed on as it is.
 */
export async function idMeant(
  ledger: Pick<LedgerReads, 'idOfShort' | 'idsLike'>,
  agent_id: AgentId,
  text: string,
): Promise<Meant> {
  const [given = '', ...part] = text.trim().split('/')
  const kind = partsOfId(given)?.kind
  if (kind === undefined || isWholeId(given)) return { ok: true, text }
  const whole = (id: string): Meant => ({ ok: true, text: [id, ...part].join('/') })
  const exact = await ledger.idOfShort(agent_id, given)
  if (exact !== null) return whole(exact)
  const among = await ledger.idsLike(tableOfShort[kind], given, agent_id)
  const [one, more] = among
  if (one === undefined) return { ok: true, text }
  return more === undefined ? whole(one.id) : { ok: false, among }
}
