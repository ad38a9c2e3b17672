/**
 * Several agents in memory, for tests of the rules that stand between a parent and its children:
 * each is a `World`, and what concerns two is one commit of both or none. What the runtime does
 * around the rules is done here without machines: relaying, stopping with proof, restarting.
 */
import assert from 'node:assert/strict'
import type { Agent } from '../../domain/state/agent.ts'
import { deleteAgent } from '../../domain/agents/lifecycle.ts'
import { tellChild, type InputReceipt } from '../../domain/agents/child-input.ts'
import { openTurn, type Draft } from '../../domain/facts/facts.ts'
import type { AgentId, Mint, TaskId } from '../../domain/ids.ts'
import { familyViolations } from '../../domain/invariants/children.ts'
import { violations } from '../../domain/invariants/of-an-agent.ts'
import { finishChild, mayEnd, relay, type Legacy } from '../../domain/agents/supervise.ts'
import { checkSpawn, handoffProvenance, spawnAgent } from '../../domain/agents/spawn.ts'
import type { Lineage, Spawn, Spawned, SpawnWish } from '../../domain/agents/spawn.ts'
import { isTerminal, type Task } from '../../domain/state/task.ts'
import { abortTurn } from '../../domain/turns/end.ts'
import { isRejection, type Rejection } from '../../domain/rejection.ts'
import { World } from './agent-world.ts'
import { taskEnds } from './turns.ts'
import { tokenHash } from './operator-inputs.ts'

/** One agent of a family: its ids are the family's, so no two agents have the same. */
class Member extends World {
  override readonly mint: Mint
  constructor(id: AgentId, born: boolean, mint: Mint) {
    super(id, born)
    this.mint = mint
  }
}

export const wish = (given: Partial<SpawnWish> = {}): SpawnWish => ({
  preset: 'private_child',
  agent_id: null,
  initial_message: 'Count the words.\nAll of them.',
  context: 'fresh',
  workspace_mode: 'inherit',
  root: null,
  ...given,
})

export class FamilyWorld {
  readonly #members = new Map<AgentId, World>()
  readonly #mint: Mint
  readonly #named = new Map<AgentId, number>()
  /** How a stop of a task goes on that was begun and not finished. */
  readonly #stops = new Map<TaskId, { by: World; because: string }>()

  constructor(root: AgentId = 'main') {
    const seed = new World(root)
    this.#mint = seed.mint
    this.#members.set(root, seed)
  }

  of(id: AgentId | null): World {
    const found = this.#members.get(id ?? '')
    assert.ok(found, `there is no agent ${id}`)
    return found
  }

  all(): World[] {
    return [...this.#members.values()]
  }

  agent(w: World): Agent {
    return w.row('agents', w.facts.agent_id)
  }

  /** Living private children, of one parent or of all. */
  children(of?: World): World[] {
    return this.all().filter((w) => {
      const { visibility, state, supervisor_agent_id } = this.agent(w)
      const mine = of === undefined || supervisor_agent_id === of.facts.agent_id
      return visibility === 'private' && state !== 'deleted' && mine
    })
  }

  parentOf(child: World): World {
    return this.of(this.agent(child).supervisor_agent_id)
  }

  taskOf(child: World): Task {
    return this.parentOf(child).row('tasks', this.agent(child).supervising_task_id ?? '')
  }

  pass(ms: number): this {
    for (const w of this.all()) w.pass(ms)
    return this
  }

  /** Every event of every agent: what was committed at all. */
  get size(): number {
    return this.all().reduce((sum, w) => sum + w.events.length, 0)
  }

  /** One commit of both, or none. */
  both<T>(p: World, c: World, decide: (p: Draft, c: Draft) => T): T {
    return p.try((dp) => c.try((dc) => decide(dp, dc)))
  }

  lineageOf(w: World): Lineage {
    let depth = 0
    for (let { lineage_parent_agent_id: above } = this.agent(w); above !== null; depth++) {
      above = this.agent(this.of(above)).lineage_parent_agent_id
    }
    const made = this.all().map((one) => this.agent(one))
    const living = made.filter(
      (one) => one.lineage_parent_agent_id === w.facts.agent_id && one.state !== 'deleted',
    )
    return { depth, living: living.length }
  }

  /** Fixes what a call would: nothing of it changes when the spawn is carried out again. */
  plan(by: World, given: Partial<SpawnWish> = {}, fixed: Partial<Spawn> = {}): Spawn {
    const asked = wish(given)
    const isChild = asked.preset === 'private_child'
    const parent = by.facts.agent_id
    const n = (this.#named.get(parent) ?? 0) + 1
    if (isChild) this.#named.set(parent, n)
    const task_id = this.#mint('task')
    return {
      agent_id: isChild ? `${parent}.${n}` : (asked.agent_id ?? ''),
      message_id: this.#mint('msg'),
      initial_message: asked.initial_message,
      provenance: handoffProvenance(by.facts),
      model: null,
      workspace: { mode: asked.workspace_mode, root: '/w' },
      template: null,
      inherited_sha256: null,
      supervision: isChild
        ? {
            task_id,
            delegation_id: this.#mint('deleg'),
            work_item_id: openTurn(by.facts)?.work_item_id ?? null,
            start_place: null,
            base_commit: null,
            unfiltered: null,
          }
        : null,
      ...fixed,
    }
  }

  /** Carries a spawn out, again where it was carried out before. */
  carryOut(by: World, spawn: Spawn): Spawned | Rejection {
    const known = this.#members.get(spawn.agent_id)
    const child = known ?? new Member(spawn.agent_id, false, this.#mint)
    child.now = by.now
    const spawned = this.both(by, child, (p, c) => spawnAgent(p, c, spawn, tokenHash))
    if (!isRejection(spawned)) this.#members.set(spawn.agent_id, child)
    return spawned
  }

  /** Whether it may be, and then the commit of both. */
  trySpawn(by: World, given: Partial<SpawnWish> = {}, fixed: Partial<Spawn> = {}) {
    const wrong = checkSpawn(by.facts, wish(given), this.lineageOf(by))
    return wrong ?? this.carryOut(by, this.plan(by, given, fixed))
  }

  /** A private child at work on what the parent's turn is about. */
  spawn(by: World = this.of('main'), fixed: Partial<Spawn> = {}): World {
    const spawned = this.trySpawn(by, {}, fixed)
    if (isRejection(spawned)) assert.fail(`refused: ${spawned.code}: ${spawned.message}`)
    return this.of(spawned.agent_id)
  }

  /** Brings a child and its parent in line, as after a commit; how many events that took. */
  relay(child: World): number {
    if (this.agent(child).state === 'deleted') return 0
    const before = this.size
    const legacy = mayEnd(child.facts, child.now) ? legacyOf(child) : null
    this.both(this.parentOf(child), child, (p, c) => relay(p, c, legacy))
    return this.size - before
  }

  /** Until nothing is owed any more. */
  relayAll(): this {
    for (let round = 0; round < 5; round++) {
      const moved = this.children().map((child) => this.relay(child))
      if (moved.every((events) => events === 0)) return this
    }
    return assert.fail('something is always owed')
  }

  tell(child: World, text: string, key: string): InputReceipt | Rejection {
    const earlier = child.all('messages').find((one) => one.dedupe_key === key) ?? null
    const provenance = handoffProvenance(this.parentOf(child).facts)
    const { id } = this.taskOf(child)
    return this.both(this.parentOf(child), child, (p, c) =>
      tellChild(p, c, id, { text, provenance, key, earlier }),
    )
  }

  /** A stop is asked for; `finishStops` proves and ends it, perhaps in another process. */
  beginStop(child: World, because = 'it is not needed'): void {
    const { id, status } = this.taskOf(child)
    const by = this.parentOf(child)
    this.#stops.set(id, { by, because })
    if (isTerminal({ status }) || status === 'cancelling') return
    by.do((d) => d.emit({ type: 'task_cancelling', id, survivors: [], because }))
  }

  finishStops(): this {
    for (const [id, { by, because }] of this.#stops) {
      const child = this.of(by.row('tasks', id).child_agent_id)
      if (!isTerminal(by.row('tasks', id))) {
        halt(child)
        const text = legacyOf(child)
          .reports.map((report) => report.text)
          .join('\n\n')
        this.both(by, child, (p, c) =>
          finishChild(p, c, id, { status: 'cancelled', reason: because, text }, null),
        )
      }
    }
    this.#stops.clear()
    return this
  }

  stop(child: World, because?: string): void {
    this.beginStop(child, because)
    this.finishStops()
  }

  /** Stops what runs of it, its children first, then deletes it; `main` is never deleted. */
  delete(w: World): void {
    for (const child of this.children(w)) this.beginStop(child, 'its parent is deleted')
    this.finishStops()
    halt(w)
    w.do(deleteAgent)
  }

  /** Every agent's facts, as a new process reads them. */
  restart(): this {
    for (const w of this.all()) w.reload()
    return this
  }

  /** All invariants of all agents; with `past` also of their histories. */
  violations(past = false): string[] {
    const each = this.all().flatMap((w) =>
      violations(past ? w.whole() : w.facts, past ? w.events : []).map(
        (one) => `${w.facts.agent_id}: ${one}`,
      ),
    )
    return [...each, ...familyViolations(this.all().map(({ facts }) => facts))]
  }
}

/** What the ledger has of a child that may be over. */
export function legacyOf(child: World): Legacy {
  const briefs = child.all('briefs')
  const words = briefs.filter(({ kind }) => kind !== 'result' && kind !== 'question')
  const turn = child.all('turns').at(-1)
  return {
    reports: briefs.filter(({ kind }) => kind === 'result'),
    said: words.toReversed(),
    last_turn: turn ? { outcome: turn.outcome, reason: turn.reason } : null,
    worktree: null,
  }
}

/** The agent stops, its run is aborted, its commands end with proof. */
function halt(w: World): void {
  const { state } = w.row('agents', w.facts.agent_id)
  if (state === 'active') {
    w.do((d) => d.emit({ type: 'agent_stopped', id: d.agent_id, by: 'runtime' }))
  }
  if (openTurn(w.facts) !== null) {
    w.do((d) => abortTurn(d, { plan: null, stop: false }))
  }
  for (const task of w.all('tasks')) {
    if (task.kind === 'command' && !isTerminal(task)) taskEnds(w, task, 'cancelled')
  }
}
