/**
 * The time after the faults: nothing goes wrong any more, models are diligent, processes end, and
 * the operator ends a wait that was looked at in vain, and takes back what was granted.
 * Everything must come to its end in it (25, 29, 31, 42), and a restart must find nothing to do
 * (36).
 */
import { rankingOf } from '../../src/domain/facts/ranking.ts'
import { anyDue } from '../../src/domain/waits/wait-end.ts'
import { settled } from './agenda.ts'
import { afterStep, atRest, deep } from './checks.ts'
import type { World } from './world.ts'

/** Which of so many ready effects is next: from 0. */
export type Choose = (many: number) => number

export type Calm = { violations: readonly string[]; steps: number }

/** Steps the calm may take: more is something that never comes to rest. */
const patience = 30_000
/** Looks in vain after which the operator ends a wait: alone it is looked at again for ever. */
const looksInVain = 3

/** `proof`: the ledger is folded anew at the end. */
export async function becalm(world: World, choose: Choose, proof = true): Promise<Calm> {
  world.isCalm = true
  world.disk.state.full = false
  world.disk.state.failing = 0
  world.agenda.mendClock()
  world.trace('calm')
  if (world.host === null) world.boot()
  let steps = 0
  const rests = async (): Promise<string[]> => {
    const rest = await comeToRest(world, choose)
    steps += rest.steps
    return [...rest.violations]
  }
  const found = await rests()
  if (found.length === 0) {
    settleHome(world)
    found.push(...(await rests()))
  }
  if (found.length === 0) found.push(...atRest(world), ...(await deep(world, proof)))
  if (found.length > 0) return { violations: found, steps }
  const before = world.witness.events
  world.crash()
  world.boot()
  found.push(...(await rests()))
  const after = world.witness.events - before
  if (after > 0) found.push(`36: a restart at rest committed ${after} events`)
  return { violations: found, steps }
}

/** The operator takes the schedules away, and starts everybody: that also ends a hold for setup. */
function settleHome(world: World): void {
  for (const facts of world.agents()) {
    const { agent_id } = facts
    for (const { id } of [...facts.rows('schedules')]) {
      world.act({ do: 'remove_schedule', schedule_id: id, agent_id })
    }
    world.act({ do: 'start_agent', agent_id })
  }
}

/** Runs what is ready and lets time pass, until no agent waits for a time. */
async function comeToRest(world: World, choose: Choose): Promise<Calm> {
  const { agenda } = world
  const ended = new Set<string>()
  await settled(agenda)
  for (let steps = 1; steps <= patience; steps += 1) {
    world.commands.endAll()
    // A host that is degraded refuses every act: the operator waits until it has found its room.
    if (world.host?.ready() && world.host.degraded() === null) {
      endWaitsInVain(world, ended)
      takeBackGrants(world, ended)
    }
    if (world.host === null) return { violations: ['42: the process ended in the calm'], steps }
    if (agenda.ready.length > 0) {
      const effect = agenda.take(choose(agenda.ready.length))
      world.trace(`${effect.kind} ${effect.label}`)
      await effect.run(false)
    } else if (world.host.ready() && isOver(world)) return { violations: [], steps }
    else {
      const due = agenda.nextTimer()
      if (due === null) return { violations: stuck(world), steps }
      agenda.pass(due)
    }
    await settled(agenda)
    const found = afterStep(world)
    if (found.length > 0) return { violations: found, steps }
  }
  const said = `42: nothing came to rest in ${patience} steps`
  return { violations: [said, ...stuck(world)], steps: patience }
}

/** An act that is refused is not tried again before the next look. */
function endWaitsInVain(world: World, ended: Set<string>): void {
  for (const facts of world.agents()) {
    const { agent_id } = facts
    for (const { id, status, rechecks } of [...facts.rows('waits')]) {
      const look = `${id} ${rechecks}`
      if (status !== 'active' || rechecks < looksInVain || ended.has(look)) continue
      ended.add(look)
      world.act({ do: 'cancel_wait', agent_id, wait_id: id })
    }
  }
}

/** One would end by itself, a week on. */
function takeBackGrants(world: World, ended: Set<string>): void {
  for (const facts of world.agents()) {
    const { agent_id } = facts
    for (const { id, status } of [...facts.rows('grants')]) {
      if (status !== 'active' || ended.has(id)) continue
      ended.add(id)
      world.act({ do: 'revoke_grant', agent_id, grant_id: id })
    }
  }
}

/**
 * No agent waits for a time or has anything due, and the host for nothing: room on the disk that it
 * has not found yet, or a stop that it means to try again.
 */
function isOver(world: World): boolean {
  if (world.host?.degraded() !== null || world.agenda.isAsleep(world.life)) return false
  const now = new Date(world.agenda.now()).toISOString()
  return world.agents().every((facts) => {
    const says = world.host?.next(facts.agent_id)
    if (says === undefined || says === null || says.do === 'stop') return true
    if (says.do !== 'sleep' && says.do !== 'wait') return false
    // What fell due as the clock jumped is told when the host next looks at it; while the agent is
    // held nobody does.
    const isHeld = says.do === 'wait' && says.for === 'system'
    return says.until === null && (isHeld || !anyDue(rankingOf(facts), now))
  })
}

/** No timer is left, and yet somebody waits for a time, or for the host. */
function stuck(world: World): string[] {
  if (world.host === null || !world.host.ready()) return ['42: the host never became ready']
  return world.agents().flatMap(({ agent_id }) => {
    const says = world.host?.next(agent_id)
    return says ? [`42: ${agent_id} is stuck: ${says.do}, ${says.because}`] : []
  })
}
