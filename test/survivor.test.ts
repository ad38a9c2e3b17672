/** A process that survives its stop: the task stays `cancelling`, and ends when it has gone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calls, says, type Scripted } from '../src/testing/scripted-model.ts'
import type { Seen } from './sim/adversary.ts'
import { settled } from './sim/agenda.ts'
import { planOf } from './sim/plan.ts'
import { World } from './sim/world.ts'

/** Does what is ready, first come first served. */
async function quiet({ agenda }: World): Promise<void> {
  await settled(agenda)
  while (agenda.ready.length > 0) {
    await agenda.take(0).run(false)
    await settled(agenda)
  }
}

/** An agent that was told to go, as far as it comes. */
async function begun(world: World): Promise<void> {
  world.boot()
  world.makeMain()
  await quiet(world)
  world.act({ do: 'send', agent_id: 'main', text: 'Go.' })
  await quiet(world)
}

test('a survivor of a stop is looked for again: when it has gone, the task ends cancelled', async () => {
  let asked = 0
  const answers = ({ facts }: Seen): Scripted => {
    asked += 1
    const [task] = [...facts.rows('tasks')]
    if (asked === 1) return calls({ name: 'ExecCommand', input: { cmd: 'endless', yield_ms: 0 } })
    if (asked > 2 || !task) return says('It does not stop.')
    world.commands.holdsOut(task.id)
    return calls({ name: 'TaskStop', input: { task_id: task.id } })
  }
  const world = new World(planOf(1, 0), { answers })
  try {
    await begun(world)
    const [before] = await world.store.reads.list('tasks', { limit: 5 })
    assert.deepEqual([before?.status, before?.survivors.length], ['cancelling', 1])
    const events = world.witness.events
    world.agenda.pass(6_000)
    await quiet(world)
    assert.equal(world.witness.events, events, 'the same survivors are no news')

    world.commands.endAll()
    world.agenda.pass(60_000)
    await quiet(world)

    const [task] = await world.store.reads.list('tasks', { limit: 5 })
    assert.deepEqual([task?.status, task?.reason], ['cancelled', 'stopped by the agent'])
    const results = await world.store.reads.list('messages', { kind: ['task_result'], limit: 5 })
    assert.deepEqual(
      results.map(({ task_id }) => task_id),
      [task?.id],
    )
    assert.deepEqual(world.broken, [])
  } finally {
    await world.store.close()
  }
})

test('a survivor of a stop by the operator is named in the task', async () => {
  const answers = ({ facts }: Seen): Scripted =>
    [...facts.rows('tasks')].length > 0
      ? says('It runs.')
      : calls({ name: 'ExecCommand', input: { cmd: 'endless', yield_ms: 0 } })
  const world = new World(planOf(1, 0), { answers })
  try {
    await begun(world)
    const { reads } = world.store
    const [task] = await reads.list('tasks', { limit: 5 })
    assert.ok(task)
    world.commands.holdsOut(task.id)
    world.act({ do: 'stop_task', agent_id: 'main', task_id: task.id })
    await quiet(world)
    const stopped = await reads.row('tasks', task.id)
    assert.deepEqual([stopped?.status, stopped?.survivors], ['cancelling', [1_001]])
  } finally {
    await world.store.close()
  }
})

test('a child whose command survives its stop ends when that has gone, without a restart', async () => {
  const asked = new Map<string, number>()
  const answers = ({ facts }: Seen): Scripted => {
    const n = (asked.get(facts.agent_id) ?? 0) + 1
    asked.set(facts.agent_id, n)
    const tasks = [...facts.rows('tasks')]
    if (facts.agent_id !== 'main') {
      if (n > 1) return says('It runs.')
      return calls({ name: 'ExecCommand', input: { cmd: 'endless', yield_ms: 0 } })
    }
    if (n === 1) return calls({ name: 'SpawnAgent', input: { initial_message: 'Run it.' } })
    return n === 2 || tasks.length === 0 ? says('It is at work.') : says('It does not stop.')
  }
  const world = new World(planOf(1, 0), { answers })
  try {
    await begun(world)
    const { reads } = world.store
    const [command] = await reads.list('tasks', { agent_id: 'main.1', limit: 5 })
    const [child] = await reads.list('tasks', { agent_id: 'main', limit: 5 })
    assert.ok(command && child)
    world.commands.holdsOut(command.id)
    world.act({ do: 'stop_task', agent_id: 'main', task_id: child.id })
    await quiet(world)
    assert.equal((await reads.row('tasks', child.id))?.status, 'cancelling')

    world.commands.endAll()
    world.agenda.pass(60_000)
    await quiet(world)

    assert.equal((await reads.row('tasks', child.id))?.status, 'cancelled')
    assert.equal((await reads.row('agents', 'main.1'))?.state, 'deleted')
    assert.deepEqual(world.broken, [])
  } finally {
    await world.store.close()
  }
})
