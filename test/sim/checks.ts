/**
 * What is asked of a run, by the numbers of docs/spec/invariants.md. `afterStep` looks at what
 * moved; `deep` at the whole home, with the proof of the ledger; `atRest` at what must be over when
 * nothing goes wrong any more.
 */
import { heldTasks } from '../../src/domain/approvals/held-command.ts'
import { AgentFacts } from '../../src/domain/facts/agent-facts.ts'
import type { StoredEvent } from '../../src/domain/state/event.ts'
import type { Facts } from '../../src/domain/facts/facts.ts'
import { familyViolations } from '../../src/domain/invariants/children.ts'
import { violations } from '../../src/domain/invariants/of-an-agent.ts'
import { next } from '../../src/domain/scheduler/next.ts'
import { unpaid } from '../../src/domain/scheduler/survey.ts'
import { isTerminal } from '../../src/domain/state/task.ts'
import { fromMs } from '../../src/domain/time.ts'
import { unreviewed } from '../../src/domain/state/wait.ts'
import { toldHistory } from '../../src/testing/scenarios/told.ts'
import type { World } from './world.ts'

const named = (facts: Facts, found: readonly string[]): string[] =>
  found.map((sentence) => `${sentence} (${facts.agent_id})`)

/** After every step: the rows of whoever moved, the stream of events, effects, bugs. */
export function afterStep(world: World): string[] {
  const found = [...world.broken.splice(0), ...world.witness.found.splice(0)]
  const { host } = world
  if (host !== null) {
    for (const id of world.moved) {
      const facts = host.facts(id)
      if (facts !== null) found.push(...named(facts, violations(facts)))
    }
  }
  world.moved.clear()
  const { starts, inputs } = world.commands
  for (const [cmd, count] of starts) if (count > 1) found.push(`19: ${cmd} began ${count} times`)
  for (const [text, count] of inputs) if (count > 1) found.push(`19: ${text} was given twice`)
  return found
}

/**
 * 26, of the lane: where nothing is under way and the clock's own hint has had its minute, `next`
 * does not say that a turn is to start. `since` remembers when it first said so.
 */
export function lostWakes(world: World, since: Map<string, number>): string[] {
  const { host } = world
  if (host === null || !host.ready() || host.degraded() !== null) return []
  const found: string[] = []
  for (const { agent_id, seq } of world.agents()) {
    const says = host.next(agent_id)
    const key = `${agent_id} ${seq}`
    if (says?.do !== 'start_turn') {
      since.delete(key)
      continue
    }
    const from = since.get(key)
    if (from === undefined) since.set(key, world.agenda.elapsed)
    else if (world.agenda.elapsed - from > 61_000) {
      found.push(`26: ${agent_id} rests and next is to start ${says.start.rule}`)
    }
  }
  return found
}

/** The home as the ledger has it: one agent's live rows, deleted agents too. */
async function stored(world: World): Promise<AgentFacts[]> {
  const all: AgentFacts[] = []
  for (const id of [...world.witness.history.keys()].toSorted()) {
    const facts = new AgentFacts(id)
    const live = await world.store.reads.live(id)
    for (const [table, row] of live?.rows ?? []) facts.include(table, row)
    facts.seq = live?.seq ?? 0
    facts.last_at = live?.last_at ?? facts.last_at
    all.push(facts)
  }
  return all
}

/** Rows of the host's memory that differ from the ledger's (15), and a `next` that does (12). */
function remembered(world: World, stored: AgentFacts): string[] {
  const facts = world.host?.facts(stored.agent_id) ?? null
  if (facts === null || facts.seq !== stored.seq) return []
  const found: string[] = []
  for (const table of compared) {
    for (const row of stored.rows(table)) {
      // That of a completed item takes nothing any more, whoever remembers it.
      const isOver = facts.row('work_items', row.id)?.state === 'completed'
      if (table === 'meters' && isOver) continue
      const known = facts.row(table, row.id)
      if (JSON.stringify(known) !== JSON.stringify(row)) {
        found.push(`15: ${row.id} is remembered otherwise than it is stored`)
      }
    }
  }
  const now = fromMs(world.agenda.now())
  const at = now > stored.last_at ? now : stored.last_at
  const [one, other] = [next(facts, at, false), next(stored, at, false)]
  if (one.do !== other.do || one.because !== other.because) {
    found.push(`12: next says "${one.because}" from memory and "${other.because}" from the rows`)
  }
  return named(facts, found)
}
const compared = [
  'agents',
  'work_items',
  'waits',
  'tasks',
  'turns',
  'rounds',
  'calls',
  'pacing',
  'meters',
] as const

/** Everything there is: rows, histories, families, the fold, what was accepted. */
export async function deep(world: World, verify: boolean): Promise<string[]> {
  const found: string[] = []
  const all = await stored(world)
  for (const facts of all) {
    const past: readonly StoredEvent[] = world.witness.history.get(facts.agent_id) ?? []
    const broken = [...violations(facts, past), ...toldHistory(past)]
    found.push(...named(facts, broken), ...remembered(world, facts))
  }
  found.push(...familyViolations(all))
  for (const { act, message_id, body } of world.accepted) {
    const row = world.store.one('select data from messages where id = ?', message_id)
    const message = row === undefined ? null : (JSON.parse(String(row['data'])) as Stored)
    if (message === null) found.push(`1: ${message_id} was accepted and is not there`)
    else if (!message.body.includes(body) && act.do !== 'redeliver') {
      found.push(`1: ${message_id} was accepted with other words`)
    }
  }
  if (verify)
    for (const problem of (await world.store.verify()).problems) found.push(`38: ${problem}`)
  return found
}
type Stored = { body: string }

/** 25, 29, 31, 42: what nobody may be left with when faults have stopped and all agents rest. */
export function atRest(world: World): string[] {
  const now = fromMs(world.agenda.now())
  const left = world.agents().flatMap((facts) => {
    const found: string[] = []
    const says = world.host?.next(facts.agent_id)
    if (says?.do === 'start_turn' || says?.do === 'noop') {
      found.push(`42: nothing moves and next is ${says.do}: ${says.because}`)
    }
    for (const wait of facts.rows('waits')) {
      if (wait.status !== 'active') continue
      if (wait.wake === 'timer' && wait.wake_at !== null && wait.wake_at <= now) {
        found.push(`29: ${wait.id} was due at ${wait.wake_at} and is active at ${now}`)
      }
      if (wait.wake === 'task_result' && !facts.row('tasks', wait.resource ?? '')) {
        found.push(`25: ${wait.id} waits for ${wait.resource}, which is over`)
      }
      const isUnpaid = unpaid(facts, now)?.waits.includes(wait) ?? false
      if (unreviewed(wait) && !isUnpaid && !isHeld(facts, wait.work_item_id)) {
        found.push(`25: ${wait.id} was triggered and never shown`)
      }
    }
    for (const task of facts.rows('tasks')) {
      // What is held waits for a person, as a question does.
      if (isTerminal(task) || task.status === 'held') continue
      if (task.kind === 'command' && !world.commands.isRunning(task.id)) {
        found.push(`31: ${task.id} is ${task.status} and its process is over`)
      }
      const child = world.host?.facts(task.child_agent_id ?? '') ?? null
      const isAsking =
        child !== null && ([...child.rows('waits')].some(isActive) || heldTasks(child).length > 0)
      if (child !== null && !isAsking && next(child, now, false).do === 'sleep') {
        found.push(`31: ${task.id} is ${task.status} and ${child.agent_id} has nothing left to do`)
      }
    }
    return named(facts, found)
  })
  return [...left, ...strays(world)]
}

/** A worktree that is there has a row that says so: none is forgotten. */
function strays(world: World): string[] {
  return world.worktrees.paths().flatMap((path) => {
    const id = path.split('/').at(-1) ?? ''
    const row = world.store.one('select data from worktrees where id = ?', id)
    const state = row && (JSON.parse(String(row['data'])) as { state: string }).state
    const stands = state !== undefined && state !== 'removed' && state !== 'discarded'
    return stands ? [] : [`32: ${path} is there, and its row is ${state ?? 'not'}`]
  })
}

const isActive = ({ status }: { status: string }): boolean => status === 'active'

/** The operator was asked about the item, or about the agent: it is theirs to bring it on. */
function isHeld(facts: Facts, item: string | null): boolean {
  if (item === null) return false
  const budget = facts.row('work_items', item)?.budget ?? null
  const draws_on = facts.row('meters', item)?.draws_on ?? null
  return budget !== null || draws_on !== null
}
