/**
 * A story is a scenario written as two lists: what each agent's model answers, round by round, and
 * what the world does, act by act, each until it is acknowledged once. A round counts when it is in
 * the ledger, so a request that is sent again after a kill gets the same answer.
 */
import assert from 'node:assert/strict'
import type { OperatorAct } from '../../src/domain/operator/act.ts'
import { isTerminal } from '../../src/domain/state/task.ts'
import { nextSlotAt } from '../../src/domain/timers/schedules.ts'
import { fromMs, type Timestamp } from '../../src/domain/time.ts'
import { systemClock } from '../../src/exec/clock.ts'
import type { ModelRequest } from '../../src/models/model.ts'
import { openBox, type HostFixture, type BoxOptions } from '../../src/testing/host/host-fixture.ts'
import { deliver } from '../../src/testing/host/outside-events.ts'
import { says, scriptedModel, type Scripted } from '../../src/testing/scripted-model.ts'
import type { Killer } from '../support/killer.ts'
import { textOf } from '../support/stage.ts'
import { storyEnd } from './ending.ts'
import { Outside } from './outside.ts'
import { lived, type Scenario } from './scenario.ts'
import { leftProcesses } from '../support/processes.ts'

/** What an answer may look at: rows that are committed, and the words of its request. */
export type Seen = { box: HostFixture; agent: string; text: string; request: ModelRequest }
export type Answer = (seen: Seen) => Scripted | Promise<Scripted>

export type World = { box: HostFixture; outside: Outside; killer: Killer }
export type Act = {
  name: string
  /** When the world does it; default: when everything is calm. */
  when?: (world: World) => boolean | Promise<boolean>
  does: (world: World) => Promise<void>
}

export type Story = Omit<Scenario, 'life' | 'step'> & {
  /** Answers by agent; after the last one it has no more to say. */
  answers: Readonly<Record<string, readonly Answer[]>>
  acts: readonly Act[]
  options?: Partial<BoxOptions>
  /** What of the end nobody promises: how many turns two ticks that come at once are told in. */
  apart?: readonly string[]
  /** What else must be equal. */
  also?: (world: World) => Promise<unknown>
}

const main = 'main'

/** By the model's name in the request: a child is spawned with `test/<its agent id>`. */
const agentOf = ({ model }: ModelRequest): string => model.slice('test/'.length)

export const storyOf = ({
  answers,
  acts,
  options,
  also,
  apart = [],
  ...scenario
}: Story): Scenario => ({
  ...scenario,
  step: 5,
  async life(scope, place, killer) {
    const outside = new Outside(place)
    killer.clock = outside.clock
    const here: { box: HostFixture | null } = { box: null }
    const model = scriptedModel(async (request) => {
      const { box } = here
      assert.ok(box)
      const agent = agentOf(request)
      const rounds = await box.ledger.list('rounds', { agent_id: agent, limit: 200 })
      const said = rounds.filter(({ state }) => state === 'recorded').length
      const answer = answers[agent]?.[said]
      return answer?.({ box, agent, text: textOf(request), request }) ?? says('There is no more.')
    })
    const open = async () =>
      (here.box = await openBox(scope, {
        models: { default: model },
        home: place.home,
        workspace: place.workspace,
        clock: outside.clock,
        base_url: 'http://127.0.0.1:7777',
        ...killer.seams,
        over_index: killer.over_index,
        ...options,
      }))
    const end = await lived(killer, open, async (box) => {
      const world = { box, outside, killer }
      await happens(world, acts)
      const more = also === undefined ? {} : { also: await also(world) }
      return { ...(await storyEnd(box, place)), ...more }
    })
    if (end === null) return null
    const whole = { ...end, left: await leftProcesses(place.folder) }
    return Object.fromEntries(Object.entries(whole).filter(([name]) => !apart.includes(name)))
  },
})

async function happens(world: World, acts: readonly Act[]): Promise<void> {
  const { box, outside } = world
  await box.makeAgent(`test/${main}`, main)
  await box.host.open()
  for (const { name, when = calm, does } of acts) {
    if (outside.knows(name)) continue
    await comes(world, when, name)
    await does(world)
    outside.acknowledge(name)
  }
  await comes(world, calm, 'the end')
}

/** Looks until it is so: what other processes and agents do gives no notice to wait for. */
async function comes(
  world: World,
  is: (world: World) => boolean | Promise<boolean>,
  what: string,
): Promise<void> {
  const { box, killer, outside } = world
  while (!(await is(world))) {
    const broken = box.notices.find(({ kind }) => kind === 'fault')
    if (broken?.kind === 'fault') throw new Error(`${what}: ${broken.message}`)
    if (killer.dead) throw new Error(`${what}: dead`)
    // A command that gives way at once does so when its timer, which is due, fires.
    await outside.clock.advance(0)
    await systemClock().sleep(1)
  }
}

/** No agent has anything to do, and nothing runs. */
export async function calm(world: World): Promise<boolean> {
  const tasks = await world.box.ledger.list('tasks', { limit: 50 })
  return resting(world) && tasks.every((task) => isTerminal(task) || task.status === 'held')
}

/**
 * No agent has anything to do, and nothing that was due is still to be written; commands and
 * children may run.
 */
export function resting({ box, outside }: World): boolean {
  if (box.host.degraded() !== null) return false
  const now = fromMs(outside.clock.now())
  const isDue = (at: Timestamp | null): boolean => at !== null && at <= now
  return ['main', 'main.1'].every((id) => {
    const facts = box.host.facts(id)
    if (facts === null) return true
    if (isDue(nextSlotAt(facts))) return false
    const next = box.host.next(id)
    if (next === null || next.do === 'stop') return true
    return (next.do === 'wait' || next.do === 'sleep') && !isDue(next.until)
  })
}

/** An operator's act, known by a receipt: asked again, it is carried out once. */
export const operator = (
  name: string,
  command: (world: World) => OperatorAct | Promise<OperatorAct>,
  when: Act['when'] = calm,
): Act => ({
  name,
  when,
  async does(world) {
    const receipt = { id: `rcpt_${name}`, request_sha256: name }
    const reply = await world.box.host.act({ ...(await command(world)), receipt })
    assert.ok(reply.ok, `${name}: ${JSON.stringify(reply)}`)
  },
})

export const tells = (text: string, when?: Act['when']): Act =>
  operator(`tells ${text}`, () => ({ do: 'send', agent_id: main, text }), when)

/** Time goes on to so many milliseconds after the beginning. */
export const itIs = (ms: number, when?: Act['when']): Act => ({
  name: `it is ${ms}`,
  ...(when ? { when } : {}),
  does: ({ outside }) => outside.passTo(ms),
})

/** An event from outside, by the agent's first trigger. */
export const delivers = (sender_id: string, source: string, body: string): Act => ({
  name: `delivers ${sender_id}`,
  async does({ box }) {
    const [trigger] = await box.ledger.list('triggers', { agent_id: main, limit: 1 })
    assert.ok(trigger)
    const common = { resource: null, summary: null, content_type: null }
    const via = { kind: 'trigger', trigger_id: trigger.id } as const
    const said = { agent_id: main, via, sender_id, source, body, ...common }
    const reply = await deliver(box.host, said)
    assert.ok(reply.ok, JSON.stringify(reply))
  },
})
