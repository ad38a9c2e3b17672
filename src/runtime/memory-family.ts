/**
 * Who may find what: an agent its own records and those of the agents it made (contracts 9,
 * `lineage_parent_agent_id`). A private child makes none, so it finds its own and nothing else.
 */
import type { LedgerReads } from '../ledger/port.ts'

type Known = { parent: string | null; deleted: boolean }

/** Who made whom; what was once made stays so. */
export class Family {
  readonly #ledger: LedgerReads
  readonly #known = new Map<string, Known>()
  #loaded = false

  constructor(ledger: LedgerReads) {
    this.#ledger = ledger
  }

  /** Reads every agent once; later ones are told by `changed`. */
  async load(): Promise<void> {
    if (this.#loaded) return
    for (const { id, lineage_parent_agent_id, state } of await this.#ledger.agents()) {
      this.#known.set(id, { parent: lineage_parent_agent_id, deleted: state === 'deleted' })
    }
    this.#loaded = true
  }

  async changed(agent_id: string): Promise<void> {
    const row = await this.#ledger.row('agents', agent_id)
    if (row === null) return
    const { lineage_parent_agent_id: parent, state } = row
    this.#known.set(agent_id, { parent, deleted: state === 'deleted' })
  }

  parentOf(agent_id: string): string | null {
    return this.#known.get(agent_id)?.parent ?? null
  }

  /** Null stands for the operator, who sees the whole home. */
  maySee(viewer: string | null, agent_id: string): boolean {
    if (viewer === null) return this.#known.has(agent_id)
    return agent_id === viewer || this.parentOf(agent_id) === viewer
  }

  isDeleted(agent_id: string): boolean {
    return this.#known.get(agent_id)?.deleted ?? false
  }

  /** Everyone `viewer` may see, itself first. */
  seenBy(viewer: string | null): string[] {
    const all = [...this.#known.keys()].filter((id) => this.maySee(viewer, id))
    return all.toSorted((a, b) => Number(b === viewer) - Number(a === viewer))
  }
}
