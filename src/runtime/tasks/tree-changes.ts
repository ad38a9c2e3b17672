/**
 * What commands did to files, where no call tells it: after the end of one that went to the
 * background, or whose call came to nothing, the tree is looked at and the difference recorded with
 * its task. Ended by a kill before that, a start does it.
 */
import type { Emitted } from '../../domain/facts/facts.ts'
import type { AgentId, TaskId } from '../../domain/ids.ts'
import { isTerminal } from '../../domain/state/task.ts'
import type { Roots, Trees } from '../../exec/ports.ts'
import type { NewBlob } from '../../ledger/port.ts'
import { treeDiffs } from '../../tools/files/tree-diffs.ts'
import type { Store } from '../store.ts'

export type TreeChangePorts = {
  trees: Trees | undefined
  store: Store
  roots: (agent: AgentId) => Roots
  failed: (agent: AgentId, error: unknown) => void
}

export class TreeChangeRecorder {
  readonly #ports: TreeChangePorts
  readonly #under_way = new Map<TaskId, Promise<void>>()

  constructor(ports: TreeChangePorts) {
    this.#ports = ports
  }

  /** Ends that an earlier process saw and did not look behind. */
  async open(): Promise<void> {
    const { trees, store } = this.#ports
    for (const id of (await trees?.pending()) ?? []) {
      const task = await store.ledger.row('tasks', id)
      if (task === null) await trees?.forget(id)
      else if (isTerminal(task)) this.#begin(task.agent_id, task.id)
    }
  }

  committed(agent: AgentId, events: readonly Emitted[]): void {
    for (const { event } of events) {
      if (event.type === 'task_ended' && !this.#isTold(agent, event.id, events)) {
        this.#begin(agent, event.id)
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#under_way.values())
  }

  /** Whether the call of the command says it, in the same commit. */
  #isTold(agent: AgentId, id: TaskId, events: readonly Emitted[]): boolean {
    const { trees, store } = this.#ports
    const told = events.some(({ event }) => {
      if (event.type !== 'call_finished' || event.result.status !== 'success') return false
      if (event.result.diffs === undefined && event.result.unseen === undefined) return false
      return store.facts(agent)?.row('calls', event.id)?.task_id === id
    })
    if (told) void trees?.forget(id)
    return told
  }

  #begin(agent: AgentId, id: TaskId): void {
    if (this.#ports.trees === undefined || this.#under_way.has(id)) return
    const recording = this.#record(agent, id)
      .catch((error: unknown) => this.#ports.failed(agent, error))
      .finally(() => this.#under_way.delete(id))
    this.#under_way.set(id, recording)
  }

  async #record(agent: AgentId, id: TaskId): Promise<void> {
    const { trees, store, roots } = this.#ports
    if (trees === undefined || (await store.loaded(agent)) === null) return
    const seen = await trees.changes(id, roots(agent))
    if (seen === null) return
    const blobs: NewBlob[] = []
    const workdir = store.facts(agent)?.row('agents', agent)?.workspace.root ?? '/'
    const keepBlob = (bytes: Uint8Array) => store.keep(blobs, bytes)
    const holdsSecret = (bytes: Uint8Array) => store.holdsSecret(bytes)
    const changes = await treeDiffs({ keepBlob, holdsSecret, workdir }, seen)
    await store.transact(
      agent,
      id,
      (d) => {
        const task = d.row('tasks', id)
        if (task && task.changes === undefined) d.emit({ type: 'task_changes_seen', id, changes })
      },
      { needs: [['tasks', id]], blobs },
    )
    await trees.forget(id)
  }
}
