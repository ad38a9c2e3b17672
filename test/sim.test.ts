/** The simulation in small: some seeds, that a seed is the same run twice, and its own tools. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { succeeded } from '../src/domain/state/call.ts'
import { done } from '../src/domain/state/reply.ts'
import { calls } from '../src/testing/scripted-model.ts'
import { Agenda, settled } from './sim/agenda.ts'
import { becalm } from './sim/calm.ts'
import { Coverage } from './sim/coverage.ts'
import { home, SimDisk, workspace } from './sim/disk.ts'
import { commandOf, faults, planOf, type Plan } from './sim/plan.ts'
import { simulate, type Outcome } from './sim/run.ts'
import { shrink } from './sim/shrink.ts'
import { fieldTooMany, neverRuns, Witness } from './sim/witness.ts'
import { World } from './sim/world.ts'
import { SimWorktrees } from './sim/worktrees.ts'

test('the invariants hold over some seeds with every fault', async () => {
  for (let seed = 1; seed <= 16; seed += 1) {
    const { plan, violations } = await simulate(planOf(seed, 300), new Coverage())
    assert.deepEqual(violations, [], commandOf(plan))
  }
})

test('a seed is the same run twice, event for event, and another seed is another run', async () => {
  const hashOf = async (plan: Plan) => (await simulate(plan, new Coverage())).hash
  const first = await hashOf(planOf(4, 400))
  assert.equal(await hashOf(planOf(4, 400)), first)
  assert.notEqual(await hashOf(planOf(10, 400)), first)
})

test('without faults and without anything from outside a run is a host that does nothing', async () => {
  const plan: Plan = { seed: 1, steps: 50, faults: [], only: [] }
  const { violations, crashes, outside } = await simulate(plan, new Coverage())
  assert.deepEqual({ violations, crashes, outside }, { violations: [], crashes: 1, outside: [] })
})

test('a failing run is made small: its steps, its faults, and what came from outside', async () => {
  const broken = async (plan: Plan): Promise<Outcome> => {
    const outside = [3, 17, 40, 60].filter((step) => plan.only?.includes(step) ?? true)
    const isBroken =
      plan.steps >= 41 && plan.faults.includes('disk') && [17, 40].every((n) => outside.includes(n))
    return {
      plan,
      violations: isBroken ? ['26: main rests'] : [],
      at: isBroken ? 41 : null,
      outside: outside.filter((step) => step <= plan.steps),
      steps: plan.steps,
      events: 0,
      crashes: 0,
      hash: '',
    }
  }
  const { plan } = await shrink(await broken(planOf(7, 500)), broken)
  assert.deepEqual(plan, { seed: 7, steps: 41, faults: ['disk'], only: [17, 40] })
  assert.equal(commandOf(plan), 'npm run sim -- --seed 7 --steps 41 --faults disk --only 17,40')
})

test('the line that repeats a run names only what is not as always', () => {
  assert.equal(commandOf(planOf(9, 500)), 'npm run sim -- --seed 9 --steps 500')
  assert.equal(
    commandOf({ ...planOf(9, 20), faults: [], only: [] }),
    'npm run sim -- --seed 9 --steps 20 --faults none --only none',
  )
  assert.equal(new Set(faults).size, faults.length)
})

test('the witness names a call that starts and never may, and an effect without its intent', () => {
  const witness = new Witness()
  const meta = { at: '2026-01-05T09:00:00.000Z', work_item_id: null, turn_id: null } as const
  const call = { id: 'call_1', turn_id: 'turn_1', work_item_id: null } as const
  const recorded = {
    ...call,
    type: 'call_recorded',
    round: 1,
    index: 0,
    provider_call_id: `${neverRuns}1`,
    tool_name: 'ExecCommand',
    input: null,
    effect_class: 'reattachable',
  } as const
  const started = { ...call, type: 'call_started', intent: null, task_id: null } as const
  witness.landed({
    agent_id: 'main',
    expect_seq: 0,
    at: meta.at,
    events: [recorded, started].map((event, n) => ({
      event,
      meta: { ...meta, seq: n === 0 ? 1 : 3, causation_id: null },
    })),
    rows: [],
  })
  witness.begins('request turn_1:1')
  assert.deepEqual(witness.found, [
    '4: main got seq 3 after 1',
    '21: call_1 (ExecCommand) starts and was invalid',
    '18: turn_1:1 is asked and was not recorded',
    '17: turn_1:1 is asked and call_1 has no result',
  ])
})

test('the witness names a call that ran without a field that was given and tells nobody', () => {
  const witness = new Witness()
  const meta = { work_item_id: null, turn_id: null, causation_id: null } as const
  const left = { kind: 'unknown_fields', message: 'ExecCommand has no field sudo: left out.' }
  const events = (['call_1', 'call_2'] as const).flatMap((id, index) => {
    const call = { id, turn_id: 'turn_1', work_item_id: null } as const
    const result = succeeded('ExecCommand', 'It ran.', {}, index === 0 ? [left] : [])
    return [
      {
        ...call,
        type: 'call_recorded',
        round: 1,
        index,
        provider_call_id: `${fieldTooMany}${id}`,
        tool_name: 'ExecCommand',
        input: null,
        effect_class: 'reattachable',
      } as const,
      { ...call, type: 'call_started', intent: null, task_id: null } as const,
      {
        ...call,
        type: 'call_finished',
        result,
        result_hash: null,
        changed_something: true,
      } as const,
    ]
  })
  const at = '2026-01-05T09:00:00.000Z'
  witness.landed({
    ...{ agent_id: 'main', expect_seq: 0, at, rows: [] },
    events: events.map((event, n) => ({ event, meta: { ...meta, at, seq: n + 1 } })),
  })
  assert.deepEqual(witness.found, [
    '21: call_2 (ExecCommand) ran without a field, and does not say so',
  ])
})

test('a wait that would be looked at for ever is ended by the operator of the calm', async () => {
  const recheck = { wake: 'external', source: 'ci', reason: 'a build', recheck_after_ms: 60_000 }
  const answers = () => calls({ name: 'WaitFor', input: recheck })
  const world = new World(planOf(1, 0), { answers })
  const quiet = async (): Promise<void> => {
    await settled(world.agenda)
    while (world.agenda.ready.length > 0) {
      await world.agenda.take(0).run(false)
      await settled(world.agenda)
    }
  }
  try {
    world.boot()
    world.makeMain()
    await quiet()
    world.act({ do: 'send', agent_id: 'main', text: 'Wait for the build.' })
    await quiet()
    const { violations } = await becalm(world, () => 0)
    assert.deepEqual(violations, [])
    const past = (world.witness.history.get('main') ?? []).map(({ event }) => event.type)
    const many = (type: string) => past.filter((one) => one === type).length
    assert.deepEqual([many('wait_recheck_due'), many('wait_cancelled')], [3, 1])
  } finally {
    await world.store.close()
  }
})

test('the operator of the calm takes a grant back, also if the disk was full when it began', async () => {
  const once: Plan = { seed: 1377, steps: 500, faults: [...faults], only: [208, 280, 411, 494] }
  const { violations, steps } = await simulate(once, new Coverage())
  assert.deepEqual(violations, [])
  assert.ok(steps < 5_000, `at rest after ${steps} steps`)
})

test('the witness counts a check that is run again by its run, and a key that is used twice', () => {
  const witness = new Witness()
  const meta = { work_item_id: null, turn_id: null, causation_id: null } as const
  const tree = { hash: null, problem: 'nobody looked' } as const
  const check = { type: 'check_started', id: 'work_1', name: 'tests', tree } as const
  const reply = done('Done.')
  const kept = { type: 'receipt_kept', id: 'rcpt_1', request_sha256: 'x', reply } as const
  const events = [
    { ...check, n: 1, task_id: 'task_1' },
    { ...check, n: 2, task_id: 'task_2' },
    { ...check, n: 2, task_id: 'task_3' },
    kept,
    kept,
  ] as const
  const at = '2026-01-05T09:00:00.000Z'
  witness.landed({
    ...{ agent_id: 'main', expect_seq: 0, at, rows: [] },
    events: events.map((event, n) => ({ event, meta: { ...meta, at, seq: n + 1 } })),
  })
  assert.deepEqual(
    ['task_1', 'task_2', 'task_3', 'task_4'].map((task) => witness.runOf(task)),
    ['run 1 of tests of work_1', 'run 2 of tests of work_1', 'run 2 of tests of work_1', null],
  )
  assert.deepEqual(witness.found, ['2: rcpt_1 was carried out twice'])
})

test('the git of a run refuses what would be lost, and gives back what a snapshot has', async () => {
  const agenda = new Agenda()
  const disk = new SimDisk(() => '2026-01-05T09:00:00.000Z')
  const git = new SimWorktrees(disk)
  const port = git.portOf({ n: 1, ended: false }, agenda)
  const take = async <T>(asked: Promise<T>): Promise<T> => {
    await agenda.take(0).run(false)
    return asked
  }
  const path = `${home}/worktrees/task_1`
  const at = { repository: workspace, path }
  await take(port.add({ ...at, branch: 'holon/child' }))
  disk.edit(`${path}/new.txt`, 'new\n')
  const remove = { ...at, branch: 'holon/child', into: 'main', leases: () => [] }
  const codeOf = async (request: Parameters<typeof port.remove>[0]) => {
    const removed = await take(port.remove(request))
    return removed.ok ? 'gone' : removed.code
  }
  assert.equal(await codeOf(remove), 'worktree_dirty')
  assert.equal(await codeOf({ ...remove, leases: () => ['task_9'] }), 'worktree_leased')
  const { ref } = await take(port.snapshot({ ...at, key: 'task_1' }))
  disk.edit(`${path}/new.txt`, 'newer\n')
  assert.equal(await codeOf({ ...remove, discard: { snapshot: ref } }), 'snapshot_stale')
  disk.edit(`${path}/new.txt`, 'new\n')
  assert.equal(await codeOf({ ...remove, discard: { snapshot: ref } }), 'gone')
  assert.deepEqual([git.paths(), disk.below(path)], [[], []])
  await take(port.restore({ ...at, ref }))
  assert.equal(disk.text(`${path}/new.txt`), 'new\n')
})
