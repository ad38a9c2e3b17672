/**
 * The invariants of a home as it stands (docs/spec/invariants.md, those marked V), for `holon
 * doctor`: each agent's own, and what takes two agents. The owner may commit between two reads of
 * ours, so what is found is looked for once more: only what is there both times is told.
 */
import { violations } from '../../domain/invariants/of-an-agent.ts'
import { familyViolations } from '../../domain/invariants/children.ts'
import type { StoredEvent } from '../../domain/state/event.ts'
import type { AgentId } from '../../domain/ids.ts'
import type { LedgerReads } from '../../ledger/port.ts'
import { factsOf } from '../../protocol/agent-view.ts'

/** Events of one read. */
const page = 2_000

/** `history`: the events too, of agents of which none were taken. One sentence each. */
export async function brokenInvariants(
  reader: LedgerReads,
  { history }: { history: boolean },
): Promise<string[]> {
  const first = await found(reader, history)
  if (first.length === 0) return []
  const again = new Set(await found(reader, history))
  return first.filter((sentence) => again.has(sentence))
}

async function found(reader: LedgerReads, history: boolean): Promise<string[]> {
  const all = []
  const sentences: string[] = []
  for (const { id } of await reader.agents()) {
    const live = await reader.live(id)
    if (live === null) continue
    const facts = factsOf(id, live)
    const events = history ? await historyOf(reader, id, live.seq) : []
    sentences.push(...violations(facts, events).map((sentence) => `${id}: invariant ${sentence}`))
    all.push(facts)
  }
  return [...sentences, ...familyViolations(all).map((sentence) => `invariant ${sentence}`)]
}

/** All events up to the rows that were read; none where retention took the beginning. */
async function historyOf(
  reader: LedgerReads,
  agent_id: AgentId,
  until: number,
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for (;;) {
    const after = events.at(-1)?.seq ?? 0
    const more = await reader.eventPage({ agent_id, after, limit: page })
    if (after === 0 && more[0]?.seq !== 1) return []
    events.push(...more.filter(({ seq }) => seq <= until))
    if (more.length < page || (more.at(-1)?.seq ?? 0) >= until) return events
  }
}
