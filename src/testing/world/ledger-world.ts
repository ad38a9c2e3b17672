/**
 * One agent over a real ledger, for tests: decisions go through the domain's Draft and become
 * commits, and what was committed is kept, so that a test can say what the ledger must hold.
 */
import { createHash } from 'node:crypto'
import { AgentFacts } from '../../domain/facts/agent-facts.ts'
import type { Event, Rows, Table } from '../../domain/state/event.ts'
import { Draft } from '../../domain/facts/facts.ts'
import type { AgentId } from '../../domain/ids.ts'
import { fromMs } from '../../domain/time.ts'
import type { Change, Committed, Ledger, NewBlob } from '../../ledger/port.ts'
import { agentCreated, freshMint } from '../events.ts'

/** The first moment of every test; each decision is a second later. */
const start = Date.parse('2026-01-02T03:04:05.000Z')

/** A blob of a text, or of bytes. */
export function newBlob(given: string | Uint8Array): NewBlob {
  const bytes = typeof given === 'string' ? new TextEncoder().encode(given) : given
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes }
}

export class LedgerWorld {
  ledger: Ledger
  readonly agent_id: AgentId
  /** The live rows, as the host would keep them. */
  readonly facts: AgentFacts
  /** Every row ever committed, as it is now: the fold. */
  readonly rows = new Map<string, readonly [Table, Rows[Table]]>()
  #decisions = 0
  #blobs: NewBlob[] = []

  constructor(ledger: Ledger, agent_id: AgentId = 'main') {
    this.ledger = ledger
    this.agent_id = agent_id
    this.facts = new AgentFacts(agent_id)
  }

  /** The hash of a blob that comes with the next change, which has to name it. */
  blob(given: string | Uint8Array): string {
    const blob = newBlob(given)
    this.#blobs.push(blob)
    return blob.sha256
  }

  /** The change a decision would be, without committing it. */
  change(...events: readonly Event[]): Change {
    const now = fromMs(start + 1_000 * ++this.#decisions)
    const draft = new Draft(this.facts, { now, mint: freshMint, causation_id: 'test' })
    for (const event of events) draft.emit(event)
    const blobs = this.#blobs
    this.#blobs = []
    return {
      ...(blobs.length === 0 ? {} : { blobs }),
      agent_id: this.agent_id,
      expect_seq: this.facts.seq,
      at: draft.now,
      events: draft.emitted,
      rows: [...draft.changed()],
    }
  }

  async commit(change: Change): Promise<Committed> {
    const committed = await this.ledger.commit(change)
    if (!committed.ok) return committed
    for (const [table, row] of change.rows) this.rows.set(`${table} ${row.id}`, [table, row])
    this.facts.apply(change.rows, committed.seq, change.at)
    return committed
  }

  /** Decides and commits; a conflict is the test's mistake. */
  async emit(...events: readonly Event[]): Promise<Change> {
    const change = this.change(...events)
    const committed = await this.commit(change)
    if (!committed.ok) throw new Error(`conflict: the agent is at seq ${committed.seq}`)
    return change
  }

  row<T extends Table>(table: T, id: string): Rows[T] {
    const found = this.rows.get(`${table} ${id}`)
    if (!found) throw new Error(`no ${table} ${id}`)
    return found[1] as Rows[T]
  }

  all<T extends Table>(table: T): Rows[T][] {
    return [...this.rows.values()].flatMap(([of, row]) => (of === table ? [row as Rows[T]] : []))
  }
}

/** A lane whose agent exists. */
export async function laneOf(ledger: Ledger, agent_id: AgentId = 'main'): Promise<LedgerWorld> {
  const lane = new LedgerWorld(ledger, agent_id)
  await lane.emit(agentCreated(agent_id))
  return lane
}
