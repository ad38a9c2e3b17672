/**
 * Schedules through the whole host: slots that fall due while it runs, while it is down, on a
 * stopped agent and beside a clock that jumps; one timer for all, none for nothing
 * (docs/spec/budget.md, docs/spec/recovery.md#timers).
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { temporaryHome } from '../src/testing/host/host-fixture.ts'
import { says, scriptedModel } from '../src/testing/scripted-model.ts'
import { virtualClock } from '../src/testing/virtual-clock.ts'
import { agent, hour, minute, openStage, textOf, type Stage } from './support/stage.ts'

const hourly = { kind: 'cron', expression: '30 * * * *', time_zone: 'UTC' } as const
const model = () => scriptedModel(() => says('Looked.'))

const slots = async (stage: Stage) =>
  (await stage.rows('slots')).map(({ due_at, status, missed_count, late_by_ms }) => ({
    due_at: due_at.slice(11, 16),
    status,
    missed_count,
    late_by_ms,
  }))

const onTime = (due_at: string) => ({ due_at, status: 'fired', missed_count: 0, late_by_ms: 0 })

/** Lets time pass and everything that it starts come to rest. */
async function passes(stage: Stage, ms: number): Promise<void> {
  const from = stage.box.notices.length
  await stage.clock.advance(ms)
  const woken = stage.box.notices.slice(from).some((notice) => notice.kind === 'committed')
  if (woken) await stage.rest(from)
}

test('each slot is one commit with its message, and wakes the agent', async (t) => {
  const thinking = model()
  const stage = await openStage(t, { model: thinking })
  const made = await stage.act({
    do: 'create_schedule',
    label: 'look',
    text: 'Look at the queue.',
    spec: hourly,
  })
  assert.equal(thinking.requests.length, 0)
  await passes(stage, 30 * minute)
  await passes(stage, hour)

  assert.deepEqual(await slots(stage), [onTime('09:30'), onTime('10:30')])
  assert.equal(thinking.requests.length, 2)
  assert.match(textOf(thinking.requests[0]), /Look at the queue\./)
  const ticks = (await stage.rows('messages')).filter(({ kind }) => kind === 'timer_tick')
  assert.deepEqual(
    ticks.map(({ origin, delivery_surface, authority_class, status, dedupe_key }) => ({
      origin,
      delivery_surface,
      authority_class,
      status,
      of: dedupe_key?.split('@')[0],
    })),
    [1, 2].map(() => ({
      origin: 'timer',
      delivery_surface: 'timer_scheduler',
      authority_class: 'runtime_instruction',
      status: 'consumed',
      of: made.id,
    })),
  )
  const events = await stage.events()
  const settled = events.filter(({ event }) => event.type === 'slot_settled')
  for (const { at, seq } of settled) {
    const commit = events.filter((one) => one.at === at && Math.abs(one.seq - seq) <= 3)
    const types = new Set(commit.map(({ event }) => event.type))
    assert.ok(types.has('message_admitted') && types.has('schedule_advanced'))
  }
  await stage.sound()
})

/** A stage closed at 09:00 and opened again after `down` milliseconds, with one schedule. */
async function afterDowntime(
  t: TestContext,
  down: number,
  policy: { missed?: 'once' | 'skip' | 'all'; overlap?: 'queue' },
  before: (stage: Stage) => Promise<unknown> = async () => {},
) {
  const places = temporaryHome(t)
  const clock = virtualClock()
  const first = await openStage(t, { model: model(), clock, ...places })
  await first.act({ do: 'create_schedule', label: 'look', text: 'Look.', spec: hourly, ...policy })
  await before(first)
  await first.box.close()
  await clock.advance(down)
  const thinking = model()
  const stage = await openStage(t, { model: thinking, clock, ...places })
  return { stage, thinking }
}

test('slots missed in a downtime come once, with their count', async (t) => {
  const { stage, thinking } = await afterDowntime(t, 3 * hour, {})
  await stage.box.until(
    (notice) =>
      notice.kind === 'committed' && notice.events.some(({ event }) => event.type === 'turn_ended'),
    'the turn of the tick',
  )
  await stage.rest()
  assert.deepEqual(await slots(stage), [
    { due_at: '09:30', status: 'missed', missed_count: 0, late_by_ms: 2.5 * hour },
    { due_at: '10:30', status: 'missed', missed_count: 0, late_by_ms: 1.5 * hour },
    { due_at: '11:30', status: 'fired', missed_count: 2, late_by_ms: 0.5 * hour },
  ])
  assert.equal(thinking.requests.length, 1)
  assert.match(textOf(thinking.requests[0]), /2 earlier slots were missed/)
  await stage.sound()
})

const policies = [
  ['skip', ['missed', 'missed'], 0],
  ['once', ['missed', 'fired'], 1],
  ['all', ['fired', 'fired'], 2],
] as const
for (const [missed, statuses, messages] of policies) {
  test(`two slots missed under \`${missed}\` make ${messages} messages`, async (t) => {
    const { stage } = await afterDowntime(t, 2 * hour, { missed, overlap: 'queue' })
    // An agent may rest before the first look at its schedules is in the ledger.
    await stage.hurryTo('slot_settled', 2)
    await stage.rest()
    assert.deepEqual(
      (await stage.rows('slots')).map(({ status }) => status),
      statuses,
    )
    assert.equal((await stage.rows('messages')).length, messages)
    assert.equal((await stage.rows('schedules'))[0]?.next_at?.slice(11, 16), '11:30')
    await stage.sound()
  })
}

test('a slot of a stopped agent is settled, and its message waits', async (t) => {
  const thinking = model()
  const stage = await openStage(t, { model: thinking })
  await stage.act({ do: 'create_schedule', label: 'look', text: 'Look.', spec: hourly })
  await stage.does({ do: 'stop_agent' })
  await passes(stage, hour)
  assert.deepEqual(await slots(stage), [onTime('09:30')])
  assert.deepEqual(
    (await stage.rows('messages')).map(({ status }) => status),
    ['queued'],
  )
  assert.equal(thinking.requests.length, 0)
  await stage.does({ do: 'start_agent' })
  assert.equal(thinking.requests.length, 1)
})

test('one schedule is due once, and another time counts from its change', async (t) => {
  const stage = await openStage(t, { model: model() })
  const at = '2026-01-05T09:10:00.000Z'
  await stage.act({ do: 'create_schedule', label: 'a', text: 'A.', spec: { kind: 'once', at } })
  const other = await stage.act({ do: 'create_schedule', label: 'b', text: 'B.', spec: hourly })
  const schedule_id = other.id ?? ''
  await stage.act({
    do: 'change_schedule',
    schedule_id,
    spec: { kind: 'once', at: '2026-01-05T09:05:00.000Z' },
  })
  await passes(stage, 5 * minute)
  await passes(stage, 5 * minute)
  await passes(stage, 3 * hour)
  assert.deepEqual(await slots(stage), [onTime('09:05'), onTime('09:10')])
  assert.deepEqual(
    (await stage.rows('schedules')).map(({ status }) => status),
    ['ended', 'ended'],
  )
})

test('a paused schedule is not due; resumed it goes on from then', async (t) => {
  const stage = await openStage(t, { model: model() })
  const made = await stage.act({ do: 'create_schedule', label: 'a', text: 'A.', spec: hourly })
  const schedule_id = made.id ?? ''
  await stage.act({ do: 'pause_schedule', schedule_id })
  assert.equal(stage.clock.nextDue(), null, 'a paused schedule holds no timer')
  await passes(stage, 2 * hour)
  await stage.act({ do: 'resume_schedule', schedule_id })
  await passes(stage, hour)
  assert.deepEqual(await slots(stage), [onTime('11:30')])
})

test("a due time beyond the wall clock's jump is seen within a minute", async (t) => {
  const stage = await openStage(t, { model: model() })
  await stage.act({ do: 'create_schedule', label: 'a', text: 'A.', spec: hourly })
  assert.ok((stage.clock.nextDue() ?? 0) <= minute, 'the timer is a hint of at most a minute')
  stage.clock.setWallClock(stage.now + 25 * minute)
  await passes(stage, 5 * minute)
  assert.deepEqual(await slots(stage), [onTime('09:30')])
})

test('schedules far ahead cost nothing but one timer', async (t) => {
  const stage = await openStage(t, { model: model() })
  assert.equal(stage.clock.nextDue(), null, 'no schedule, no timer')
  const yearly = { kind: 'cron', expression: '0 0 1 6 *', time_zone: 'Europe/Berlin' } as const
  for (let n = 0; n < 50; n += 1) {
    await stage.act({ do: 'create_schedule', label: `s${n}`, text: 'Later.', spec: yearly })
  }
  await stage.rest()
  const before = [await stage.box.ledger.lastGlobalSeq(), stage.box.notices.length]
  await stage.clock.advance(24 * hour)
  assert.deepEqual([await stage.box.ledger.lastGlobalSeq(), stage.box.notices.length], before)
  assert.equal((await stage.rows('slots')).length, 0)
  assert.equal(stage.box.host.facts(agent)?.row('agents', agent)?.state, 'active')
})
