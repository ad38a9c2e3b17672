/**
 * What comes from outside, killed at every point: deliveries by a trigger and a webhook, a dead
 * letter that is redelivered, a slot of a schedule, the reset of a URL and a command of the
 * operator's. Whoever got no answer asks again with the same id; nothing acknowledged is lost, and
 * nothing happens twice (reliability 4).
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { violations } from '../src/domain/invariants.ts'
import type { OperatorAct } from '../src/domain/operator-act.ts'
import { openBox, temporaryHome, type Box } from '../src/testing/box.ts'
import { says, scriptedModel } from '../src/testing/scripted-model.ts'
import { virtualClock, type VirtualClock } from '../src/testing/virtual-clock.ts'
import { Killer, pointsOf, type Point } from './support/killer.ts'

const main = 'main'
const minute = 60_000
const start = Date.UTC(2026, 0, 5, 9)

type Scene = { home: string; workspace: string; clock: VirtualClock; acknowledged: Set<string> }

const open = (t: TestContext, scene: Scene, killer: Killer) =>
  openBox(t, {
    models: { default: scriptedModel(() => says('Seen.')) },
    home: scene.home,
    workspace: scene.workspace,
    clock: scene.clock,
    base_url: 'http://127.0.0.1:7777',
    fault: killer,
    effect_seam: killer,
    is_dead: () => killer.dead,
  })

const receipt = (name: string) => ({ id: `rcpt_${name}`, request_sha256: name })

/** Everything a sender, a clock and an operator do, each thing until it is acknowledged once. */
async function everything(box: Box, scene: Scene): Promise<void> {
  const { host, ledger } = box
  const { clock, acknowledged } = scene
  await host.ensureAgent({
    id: main,
    model: 'test/model',
    workspace: { mode: 'explicit_root', root: scene.workspace },
  })
  await host.open()
  const once = async (name: string, does: () => Promise<{ ok: boolean }>) => {
    if (acknowledged.has(name)) return
    const reply = await does()
    assert.ok(reply.ok, `${name}: ${JSON.stringify(reply)}`)
    acknowledged.add(name)
  }
  const act = (name: string, command: OperatorAct) =>
    once(name, () => host.act({ ...command, receipt: receipt(name) }))
  const [trigger] = await ledger.list('triggers', { limit: 1 })
  assert.ok(trigger)
  const event = (sender_id: string, via: Parameters<typeof host.deliver>[0]['via']) => ({
    agent_id: main,
    via,
    sender_id,
    source: 'ci',
    resource: sender_id,
    summary: null,
    body: `body of ${sender_id}`,
    content_type: null,
  })
  const byTrigger = { kind: 'trigger', trigger_id: trigger.id } as const
  const byWebhook = { kind: 'webhook', webhook: 'ci' } as const
  const spec = { kind: 'once', at: new Date(start + minute).toISOString() } as const
  const schedule = { label: 'look', text: 'Look.', spec }
  await act('schedule', { do: 'create_schedule', agent_id: main, ...schedule })
  await once('one', () => host.deliver(event('one', byTrigger)))
  await once('two', () => host.deliver(event('two', byWebhook)))
  await once('dead', () => host.deadLetter(event('dead', byWebhook), 'it has no resource'))
  await act('reset', { do: 'reset_trigger', agent_id: main, trigger_id: trigger.id })
  const cmd = 'echo ran >> log.txt'
  await act('task', { do: 'start_task', agent_id: main, cmd })
  const dead = (await ledger.list('deliveries', { status: ['dead'], limit: 1 }))[0]
  if (dead) await act('again', { do: 'redeliver', agent_id: main, delivery_id: dead.id })
  if (clock.now() < start + 2 * minute) await clock.advance(start + 2 * minute - clock.now())
  await settled(box)
}

/** Resolves when the slot is settled, the command has ended and no message waits. */
async function settled(box: Box): Promise<void> {
  for (;;) {
    const from = box.notices.length
    const [slots, tasks, queued] = await Promise.all([
      box.ledger.list('slots', { limit: 10 }),
      box.ledger.list('tasks', { status: ['queued', 'running'], limit: 10 }),
      box.ledger.list('messages', { status: ['queued', 'claimed'], limit: 10 }),
    ])
    const open = await box.ledger.list('turns', { status: ['open'], limit: 1 })
    if (slots.length > 0 && tasks.length + queued.length + open.length === 0) return
    await box.until((notice) => box.notices.indexOf(notice) >= from, 'anything to happen')
  }
}

async function endOf(box: Box, { workspace }: Scene) {
  const { ledger } = box
  const many = { limit: 1_000 }
  const sorted = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).toSorted()
  const triggers = await ledger.list('triggers', many)
  const log = join(workspace, 'log.txt')
  return {
    deliveries: sorted(
      (await ledger.list('deliveries', many)).map((delivery) => ({
        from: delivery.sender_id,
        status: delivery.status,
        attempts: delivery.attempts,
      })),
    ),
    messages: sorted(
      (await ledger.list('messages', many)).map(({ kind, status, resource }) => ({
        kind,
        status,
        about: resource?.startsWith('sched_') ? 'schedule' : resource,
      })),
    ),
    slots: (await ledger.list('slots', many)).map(({ status }) => status),
    schedules: (await ledger.list('schedules', many)).map(({ status }) => status),
    triggers: triggers.map(({ generation, delivered }) => ({ generation, delivered })),
    tasks: (await ledger.list('tasks', many)).map(({ status, exit_status }) => [
      status,
      exit_status,
    ]),
    log: existsSync(log) ? readFileSync(log, 'utf8') : '',
    problems: (await ledger.verify()).problems,
  }
}

const newScene = (t: TestContext): Scene => ({
  ...temporaryHome(t),
  clock: virtualClock(start),
  acknowledged: new Set(),
})

async function killedAt(t: TestContext, points: readonly Point[]) {
  const scene = newScene(t)
  for (const point of points) {
    const killer = new Killer(point)
    try {
      const box = await open(t, scene, killer)
      const failed = box.until((notice) => notice.kind === 'fault', 'the death')
      await Promise.race([everything(box, scene), failed])
      await box.close()
    } catch (error) {
      if (!killer.dead) throw error
    }
  }
  const box = await open(t, scene, new Killer(null))
  await everything(box, scene)
  const end = await endOf(box, scene)
  const facts = box.host.facts(main)
  assert.ok(facts)
  assert.deepEqual(violations(facts, await box.ledger.events({ after: 0, limit: 10_000 })), [])
  await box.close()
  return end
}

async function undisturbed(t: TestContext) {
  const scene = newScene(t)
  const killer = new Killer(null)
  const box = await open(t, scene, killer)
  await everything(box, scene)
  const end = await endOf(box, scene)
  await box.close()
  return { end, counts: killer.counts }
}

const options = { concurrency: 4, timeout: 300_000 }

test(
  'reliability 4: killed at any point, nothing from outside is lost or doubled',
  options,
  async (t) => {
    const { end, counts } = await undisturbed(t)
    assert.deepEqual(end.slots, ['fired'])
    assert.deepEqual(end.triggers, [{ generation: 2, delivered: 1 }])
    assert.equal(end.deliveries.length, 3)
    assert.deepEqual([end.log, end.problems], ['ran\n', []])
    const points = pointsOf(counts)
    assert.ok(points.length > 40, `only ${points.length} points`)
    await Promise.all(
      points.map((point) =>
        t.test(`killed ${point.when} ${point.kind} ${point.n}`, async (t) => {
          assert.deepEqual(await killedAt(t, [point]), end)
        }),
      ),
    )
  },
)

test('reliability 4: killed again while it recovers, it ends the same', options, async (t) => {
  const { end, counts } = await undisturbed(t)
  const first = [2, 3, 5, 7, 9, 11, counts.commit].map((n) => ({
    kind: 'commit' as const,
    n,
    when: n % 2 === 0 ? ('before' as const) : ('after' as const),
  }))
  const again = (['before', 'after'] as const).flatMap((when) =>
    [1, 2].map((n) => ({ kind: 'commit' as const, n, when })),
  )
  await Promise.all(
    first.flatMap((one) =>
      again.map((two) =>
        t.test(`commit ${one.n}, then ${two.when} commit ${two.n}`, async (t) => {
          assert.deepEqual(await killedAt(t, [one, two]), end)
        }),
      ),
    ),
  )
})
