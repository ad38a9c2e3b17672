/**
 * Who may find what: an agent its own records and those of the agents it made (docs/spec/agent.md,
 * `lineage_parent_agent_id`). A private child makes none, so it finds its own and nothing else.
 */
import type { Agent } from '../../domain/state/agent.ts'
import type { LedgerReads } from '../../ledger/port.ts'

type Known = { parent: string | null; workspace: string; deleted: boolean }

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
    for (const row of await this.#ledger.agents()) this.#known.set(row.id, knownOf(row))
    this.#loaded = true
  }

  async changed(agent_id: string): Promise<void> {
    const row = await this.#ledger.row('agents', agent_id)
    if (row !== null) this.#known.set(agent_id, knownOf(row))
  }

  parentOf(agent_id: string): string | null {
    return this.#known.get(agent_id)?.parent ?? null
  }

  /** The folder an agent works in; null: there is no such agent. */
  workspaceOf(agent_id: string): string | null {
    return this.#known.get(agent_id)?.workspace ?? null
  }

  /** Whether anybody who is still there works in the folder. */
  isWorkedIn(folder: string): boolean {
    for (const { workspace, deleted } of this.#known.values()) {
      if (workspace === folder && !deleted) return true
    }
    return false
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

const knownOf = ({ lineage_parent_agent_id, workspace, state }: Agent): Known => ({
  parent: lineage_parent_agent_id,
  workspace: workspace.root,
  deleted: state === 'deleted',
})
