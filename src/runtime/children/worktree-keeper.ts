/**
 * What becomes of the worktrees of children whose task is over: removed when nothing in them would
 * be lost, kept and shown otherwise, brought back when that was begun
 * (docs/spec/agent.md#worktrees). Looked at when a child ends, when a turn of the parent ends while
 * one is kept, and once after a start.
 */
import { callsOf, openTurn, type Emitted, type Facts } from '../../domain/facts/facts.ts'
import type { AgentId } from '../../domain/ids.ts'
import { isRejection } from '../../domain/rejection.ts'
import { isTerminal } from '../../domain/state/task.ts'
import {
  isGone,
  isRestoring,
  type Worktree,
  type WorktreeSnapshot,
} from '../../domain/state/worktree.ts'
import { GitFault } from '../../exec/git/git-fault.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import type { HostPorts } from '../ports.ts'
import type { Store } from '../store.ts'
import type { Snapshot } from '../../exec/worktrees/port.ts'
import { ignoredWords, mergeTarget, takeAway } from './worktree-removal.ts'
import { bringBack } from './worktree-return.ts'

export type KeeperPorts = {
  ports: Pick<HostPorts, 'worktrees' | 'effect_seam'>
  store: Store
  /** Told what a look failed with that nobody waited for. */
  failed: (agent: AgentId, error: unknown) => void
}

export class WorktreeKeeper {
  readonly #with: KeeperPorts
  /** One look at a time for each parent. */
  readonly #lines = new Map<AgentId, Promise<void>>()
  /** The look that has not begun yet: it sees all that whoever asks for one now could see. */
  readonly #next = new Map<AgentId, Promise<void>>()

  constructor(ports: KeeperPorts) {
    this.#with = ports
  }

  /** After each commit. Merged meanwhile, perhaps: until what was kept may go, its row says so. */
  committed(agent: AgentId, events: readonly Emitted[]): void {
    for (const { event } of events) {
      if (event.type === 'turn_ended') this.#begin(agent, 'settle')
      if (/^(?:task_ended|worktree_restored)$/.test(event.type)) this.#begin(agent, 'look')
    }
  }

  /** Of every agent in memory. Nobody waits for it. */
  settleAll(): void {
    for (const { agent_id } of this.#with.store.all()) this.#begin(agent_id, 'settle')
  }

  #begin(agent: AgentId, act: 'settle' | 'look'): void {
    const facts = this.#with.store.facts(agent)
    if (facts === null || overOnes(facts).length === 0) return
    this[act](agent).catch((error: unknown) => this.#with.failed(agent, error))
  }

  /** Removes what may go of the agent's children that are over. */
  settle(agent: AgentId): Promise<void> {
    const next = this.#next.get(agent)
    if (next !== undefined) return next
    const before = this.#lines.get(agent) ?? Promise.resolve()
    const mine = before.then(() => {
      this.#next.delete(agent)
      return this.#settle(agent)
    })
    this.#next.set(agent, mine)
    const rest = mine.catch(() => undefined)
    this.#lines.set(agent, rest)
    return mine
  }

  /**
   * Says anew of those that are kept what would be lost with them: a command may just have merged
   * one. None goes while the turn runs; the parent may still want to look into it.
   */
  look(agent: AgentId): Promise<void> {
    const before = this.#lines.get(agent) ?? Promise.resolve()
    const mine = before.then(() => this.#look(agent))
    const rest = mine.catch(() => undefined)
    this.#lines.set(agent, rest)
    return mine
  }

  async #look(agent: AgentId): Promise<void> {
    const { store } = this.#with
    const facts = await store.loaded(agent)
    if (facts === null) return
    for (const worktree of overOnes(facts)) {
      if (worktree.state === 'kept') await this.#sayWhy(agent, worktree)
    }
  }

  async #sayWhy(agent: AgentId, worktree: Worktree): Promise<void> {
    const { id } = worktree
    const reason = await this.#objection(worktree)
    await this.#with.store.transact(agent, id, (d) => {
      const now = d.row('worktrees', id)
      if (now?.state !== 'ready' && (now?.state !== 'kept' || now.reason === reason)) return
      d.emit({ type: 'worktree_kept', id, reason })
    })
  }

  async #objection(worktree: Worktree): Promise<string> {
    const { worktrees } = this.#with.ports
    try {
      const into = await mergeTarget({ worktrees }, worktree)
      if (isRejection(into)) return into.message
      const { repository, path, branch } = worktree
      const no = await worktrees.objection({ repository, path, branch, into })
      return no === null || no.code === 'worktree_ignored' ? goesSoon : no.message
    } catch (error) {
      if (error instanceof GitFault || error instanceof FileFault) return error.message
      throw error
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#lines.values())
  }

  async #settle(agent: AgentId): Promise<void> {
    const facts = await this.#with.store.loaded(agent)
    if (facts === null) return
    for (const worktree of overOnes(facts)) {
      if (isRestoring(worktree)) await this.#goOn(worktree)
      else if (isInHand(facts, worktree)) await this.#sayWhy(agent, worktree)
      else await this.#tryRemove(facts, worktree)
    }
  }

  /** What it died of bringing back. A fault that may pass leaves it planned for the next look. */
  async #goOn(worktree: Worktree & { snapshot: WorktreeSnapshot }): Promise<void> {
    const { ports, store } = this.#with
    try {
      await bringBack({ ...ports, store }, worktree, worktree.snapshot)
    } catch (error) {
      if (!(error instanceof GitFault || error instanceof FileFault)) throw error
    }
  }

  async #tryRemove(facts: Facts, worktree: Worktree): Promise<void> {
    const { agent_id } = facts
    const { id } = worktree
    const removed = await this.#remove(facts, worktree)
    // The parent took it in hand while git looked: it stays until the turn ends, and says so.
    if (!removed.ok && this.#isInHand(facts, worktree)) return this.#sayWhy(agent_id, worktree)
    await this.#with.store.transact(agent_id, id, (d) => {
      const now = d.row('worktrees', id)
      if (!now || isGone(now)) return
      if (removed.ok && removed.was_gone && now.snapshot !== null) {
        // Whoever took it away did not come to say so: nobody saw here that it was merged.
        const reason = `it was gone already; ${now.snapshot.ref} keeps what was in it`
        d.emit({ type: 'worktree_discarded', id, by: 'runtime', reason })
      } else if (removed.ok) {
        const merged = `clean and merged${ignoredWords(removed.kept)}`
        const reason = now.state === 'planned' ? 'it was never used' : merged
        d.emit({ type: 'worktree_removed', id, by: 'runtime', reason })
      } else if (
        now.state === 'ready' ||
        (now.state === 'kept' && now.reason !== removed.message)
      ) {
        d.emit({ type: 'worktree_kept', id, reason: removed.message })
      }
    })
  }

  /** As it is now, not as it was when `facts` were read. */
  #isInHand(facts: Facts, worktree: Worktree): boolean {
    return isInHand(this.#with.store.facts(facts.agent_id) ?? facts, worktree)
  }

  /** What the world does wrong keeps it, as the reason says. */
  async #remove(facts: Facts, worktree: Worktree): Promise<Gone | { ok: false; message: string }> {
    const { store, ports } = this.#with
    try {
      const inHand = () => (this.#isInHand(facts, worktree) ? [facts.agent_id] : [])
      const was_gone = worktree.snapshot !== null && !(await this.#isThere(worktree))
      const taken = await takeAway({ ...ports, store }, worktree, null, inHand)
      return taken.ok ? { ok: true, kept: taken.kept, was_gone } : taken
    } catch (error) {
      if (error instanceof GitFault || error instanceof FileFault) {
        return { ok: false, message: error.message }
      }
      throw error
    }
  }

  async #isThere(worktree: Worktree): Promise<boolean> {
    const { worktrees } = this.#with.ports
    const into = await mergeTarget({ worktrees }, worktree)
    if (isRejection(into)) return true
    const { repository, path } = worktree
    return (await worktrees.status({ repository, path, into })).kind === 'present'
  }
}

/** `was_gone`: nothing of it was there to look at, and a snapshot had been taken. */
type Gone = { ok: true; kept: Snapshot | null; was_gone: boolean }

/** The parent is at work, or is about to read what the child left: it may want to look into it. */
function isInHand(facts: Facts, { id, state }: Worktree): boolean {
  if (state === 'planned') return false
  if (openTurn(facts) !== null) return true
  for (const { task_id, status } of facts.rows('messages')) {
    if (task_id === id && (status === 'queued' || status === 'claimed')) return true
  }
  return false
}

/** Why one is still there that nothing would be lost with. */
const goesSoon = 'nothing: it is merged, and goes when the turn ends'

/** Live worktrees whose child is over, or never came to be. */
function overOnes(facts: Facts): Worktree[] {
  const turn = openTurn(facts)
  const spawning =
    turn !== null &&
    callsOf(facts, turn).some((call) => call.state === 'started' && call.tool_name === 'SpawnAgent')
  return [...facts.rows('worktrees')].filter((worktree) => {
    if (isGone(worktree)) return false
    const task = facts.row('tasks', worktree.id)
    if (task) return isTerminal(task)
    // Without a task it is over, or its spawn is still on the way.
    return worktree.state !== 'planned' || !spawning
  })
}
