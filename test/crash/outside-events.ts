/**
 * What comes from outside: deliveries by a trigger and a webhook, a dead letter that is
 * redelivered, a slot of a schedule, the reset of a URL and a command of the operator's. Whoever
 * got no answer asks again with the same id.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { violations } from '../../src/domain/invariants/of-an-agent.ts'
import type { OperatorAct } from '../../src/domain/operator/act.ts'
import { openBox, type HostFixture } from '../../src/testing/host/host-fixture.ts'
import { deadLetter, deliver, type OutsideDelivery } from '../../src/testing/host/outside-events.ts'
import { says, scriptedModel } from '../../src/testing/scripted-model.ts'
import { begin, Outside } from './outside.ts'
import { lived, type Scenario } from './scenario.ts'

const main = 'main'
const minute = 60_000

const receipt = (name: string) => ({ id: `rcpt_${name}`, request_sha256: name })

/** Everything a sender, a clock and an operator do, each thing until it is acknowledged once. */
async function everything(box: HostFixture, outside: Outside): Promise<void> {
  const { host, ledger } = box
  await host.ensureAgent({
    id: main,
    model: 'test/model',
    workspace: { mode: 'explicit_root', root: box.workspace },
  })
  await host.open()
  const once = async (name: string, does: () => Promise<{ ok: boolean }>) => {
    if (outside.knows(name)) return
    const reply = await does()
    assert.ok(reply.ok, `${name}: ${JSON.stringify(reply)}`)
    outside.acknowledge(name)
  }
  const act = (name: string, command: OperatorAct) =>
    once(name, () => host.act({ ...command, receipt: receipt(name) }))
  const [trigger] = await ledger.list('triggers', { limit: 1 })
  assert.ok(trigger)
  const event = (sender_id: string, via: OutsideDelivery['via']) => ({
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
  const spec = { kind: 'once', at: new Date(begin + minute).toISOString() } as const
  const schedule = { label: 'look', text: 'Look.', spec }
  await act('schedule', { do: 'create_schedule', agent_id: main, ...schedule })
  await once('one', () => deliver(host, event('one', byTrigger)))
  await once('two', () => deliver(host, event('two', byWebhook)))
  await once('dead', () => deadLetter(host, event('dead', byWebhook), 'it has no resource'))
  await act('reset', { do: 'reset_trigger', agent_id: main, trigger_id: trigger.id })
  const cmd = 'echo ran >> log.txt'
  await act('task', { do: 'start_task', agent_id: main, cmd })
  const dead = (await ledger.list('deliveries', { status: ['dead'], limit: 1 }))[0]
  if (dead) await act('again', { do: 'redeliver', agent_id: main, delivery_id: dead.id })
  await outside.passTo(2 * minute)
  await settled(box)
}

/** Resolves when the slot is settled, the command has ended and no message waits. */
async function settled(box: HostFixture): Promise<void> {
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

async function endOf({ ledger, workspace }: HostFixture) {
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

/** Like `endOf`, with what must not be. */
async function endWithProblems(box: HostFixture) {
  const end = await endOf(box)
  const facts = box.host.facts(main)
  assert.ok(facts)
  const broken = violations(facts, await box.ledger.events({ after: 0, limit: 10_000 }))
  return { ...end, problems: [...end.problems, ...broken] }
}

export const outsideScenario: Scenario<Awaited<ReturnType<typeof endOf>>> = {
  name: 'events from outside',
  covers: ['ingress', 'delivery', 'dead letter', 'redelivery', 'timer', 'task spawned'],
  step: 7,
  life(scope, place, killer) {
    const outside = new Outside(place)
    killer.clock = outside.clock
    const open = () =>
      openBox(scope, {
        models: { default: scriptedModel(() => says('Seen.')) },
        home: place.home,
        workspace: place.workspace,
        clock: outside.clock,
        base_url: 'http://127.0.0.1:7777',
        ...killer.seams,
      })
    return lived(killer, open, async (box) => {
      // A death beside what is awaited here says so by a notice, which rejects.
      const failed = box.until(({ kind }) => kind === 'fault', 'the death')
      await Promise.race([everything(box, outside), failed])
      return endWithProblems(box)
    })
  },
}
