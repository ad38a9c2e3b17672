/**
 * Completing with checks, killed before and after each commit and effect, in process: the next
 * owner ends where the undisturbed one does, and no command of a check begins twice.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { CheckGiven } from '../src/domain/checks/spec.ts'
import { isUnderWay } from '../src/domain/state/check.ts'
import { agentOf } from '../src/domain/facts/facts.ts'
import { violations } from '../src/domain/invariants/of-an-agent.ts'
import { verificationOf } from '../src/domain/facts/verification.ts'
import { openBox, temporaryHome, type HostFixture } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel, type Scripted } from '../src/testing/scripted-model.ts'
import { Killer, pointsOf, type Point } from './support/killer.ts'
import { call } from './support/scripts.ts'

type Places = { home: string; workspace: string }

/** One of each kind that the runtime runs, and one that fails, so that it is told, too. */
const checks: CheckGiven[] = [
  { kind: 'command', name: 'good', cmd: 'echo good >> begun' },
  { kind: 'file', name: 'file', path: 'begun', expect: { contains: 'good' } },
  { kind: 'http', name: 'page', url: 'http://127.0.0.1/', status: 200 },
  { kind: 'command', name: 'bad', cmd: 'echo bad >> begun; exit 1' },
]

const inspect = {
  get: async () => ({ ok: true, status: 200, text: 'here' }) as const,
  tree: async () => ({ hash: 'a', problem: null }) as const,
  machine: async () => null,
  repository: async () => null,
}

const open = (t: TestContext, places: Places, killer: Killer) =>
  openBox(t, {
    models: { default: scriptedModel(() => says('Understood.')) },
    ...places,
    inspect,
    ...killer.seams,
  })

/** From nothing, or from whatever is there, to the end of the turn about the failure. */
async function run(box: HostFixture): Promise<void> {
  const agent_id = 'main'
  await box.makeAgent('test/quiet', agent_id)
  const known = (await box.ledger.list('work_items', { limit: 1 }))[0]?.id
  const made = known
    ? null
    : await box.host.act({ do: 'create_item', agent_id, objective: 'x', checks })
  const work_item_id = known ?? (made?.ok ? made.id : null)
  assert.ok(work_item_id)
  if ((await box.ledger.row('work_items', work_item_id))?.state === 'open') {
    await box.host.act({ do: 'complete', agent_id, work_item_id, report: 'All pass.' })
  }
  await box.host.open()
  const over = () => {
    const item = box.host.facts(agent_id)?.row('work_items', work_item_id)
    const running = item?.checks.some(isUnderWay) ?? true
    return !running && box.host.next(agent_id)?.do === 'sleep'
  }
  await box.until((notice) => notice.kind === 'resting' && over(), 'the end')
}

async function endOf({ ledger, workspace }: HostFixture) {
  const [item] = await ledger.list('work_items', { limit: 10 })
  assert.ok(item)
  const begun = join(workspace, 'begun')
  const by = (a: string, b: string) => (a < b ? -1 : 1)
  return {
    state: verificationOf(item).state,
    runs: item.checks.map(({ name, run }) =>
      run?.state === 'finished' ? [name, run.n, run.outcome, run.exit_status] : [name, run?.state],
    ),
    begun: existsSync(begun) ? readFileSync(begun, 'utf8').split('\n') : [],
    tasks: (await ledger.list('tasks', { limit: 10 })).map(({ label, status }) => [label, status]),
    messages: (await ledger.list('messages', { limit: 10 })).map(({ kind, status }) => [
      kind,
      status,
    ]),
    briefs: (await ledger.list('briefs', { limit: 10 })).map(({ kind }) => kind).sort(by),
    problems: (await ledger.verify()).problems,
  }
}

async function runKilled(
  t: TestContext,
  places: Places,
  killer: Killer,
  make: typeof open,
  goes: typeof run,
): Promise<void> {
  try {
    const box = await make(t, places, killer)
    const unlessDead = (error: unknown) => {
      if (!killer.dead) throw error
    }
    await goes(box).catch(unlessDead)
    await box.close().catch(unlessDead)
  } catch (error) {
    if (!killer.dead) throw error
  }
}

async function whole(
  t: TestContext,
  places: Places,
  killer: Killer,
  make: typeof open,
  goes: typeof run,
) {
  const box = await make(t, places, killer)
  await goes(box)
  const end = await endOf(box)
  const facts = box.host.facts('main')
  assert.ok(facts)
  assert.deepEqual(violations(facts, await box.ledger.events({ after: 0, limit: 10_000 })), [])
  await box.close()
  return end
}

test(
  'checks killed at any commit, blob or effect end as the undisturbed ones, begun once',
  { concurrency: 4, timeout: 600_000 },
  async (t) => {
    const counting = new Killer(null)
    const end = await whole(t, temporaryHome(t), counting, open, run)
    assert.equal(end.state, 'failed')
    assert.deepEqual(end.begun, ['good', 'bad', ''])
    assert.deepEqual(end.messages, [['internal_followup', 'consumed']])
    const points = pointsOf(counting.counts)
    assert.ok(points.length > 30, `only ${points.length} points`)
    await Promise.all(
      points.map((point: Point) =>
        t.test(`killed ${point.when} ${point.kind} ${point.n}`, async (t) => {
          const places = temporaryHome(t)
          await runKilled(t, places, new Killer(point), open, run)
          assert.deepEqual(await whole(t, places, new Killer(null), open, run), end)
        }),
      ),
    )
  },
)

const report = 'The sum is right now; the tests pass, and nothing is left open in this work.'

/** An agent that completes; what it does follows from what stands, whoever died before. */
async function claiming(t: TestContext, places: Places, killer: Killer): Promise<HostFixture> {
  const host: { box: HostFixture | null } = { box: null }
  const script = (): Scripted => {
    const facts = host.box?.host.facts('main')
    const [item] = [...(facts?.rows('work_items') ?? [])]
    if (!facts || !item || item.state === 'completed') return says('')
    const { current_work_item_id } = agentOf(facts)
    if (current_work_item_id !== item.id) return calls(call('PickWorkItem', itemIs(item.id)))
    const isRight = existsSync(join(places.workspace, 'right'))
    return (item.claim?.refused ?? 0) > 0 && !isRight
      ? calls(call('ExecCommand', { cmd: 'touch right' }))
      : calls(report, call('CompleteWorkItem', itemIs(item.id)))
  }
  const models = { default: scriptedModel(script) }
  return (host.box = await openBox(t, { models, ...places, inspect, ...killer.seams }))
}

async function claim(box: HostFixture): Promise<void> {
  const agent_id = 'main'
  await box.makeAgent('test/quiet', agent_id)
  if ((await box.ledger.list('work_items', { limit: 1 })).length === 0) {
    const cmd = 'echo run >> begun; [ -e right ]'
    const tests: CheckGiven = { kind: 'command', name: 'tests', cmd }
    await box.host.act({ do: 'create_item', agent_id, objective: 'x', checks: [tests] })
  }
  await box.host.open()
  const over = () => {
    const [item] = [...(box.host.facts(agent_id)?.rows('work_items') ?? [])]
    return item?.state === 'completed' && box.host.next(agent_id)?.do === 'sleep'
  }
  await box.until((notice) => notice.kind === 'resting' && over(), 'the end')
}

const itemIs = (work_item_id: string) => ({ work_item_id })

test(
  '17.25 a claim killed at any commit, blob or effect ends as the undisturbed one, checked twice',
  { concurrency: 4, timeout: 600_000 },
  async (t) => {
    const counting = new Killer(null)
    const end = await whole(t, temporaryHome(t), counting, claiming, claim)
    assert.equal(end.state, 'verified')
    assert.deepEqual(end.begun, ['run', 'run', ''])
    assert.deepEqual(end.briefs, ['result'])
    const points = pointsOf(counting.counts)
    assert.ok(points.length > 40, `only ${points.length} points`)
    await Promise.all(
      points.map((point: Point) =>
        t.test(`killed ${point.when} ${point.kind} ${point.n}`, async (t) => {
          const places = temporaryHome(t)
          await runKilled(t, places, new Killer(point), claiming, claim)
          const killed = await whole(t, places, new Killer(null), claiming, claim)
          const { tasks: _, ...after } = killed
          const { tasks: __, ...undisturbed } = end
          assert.deepEqual(after, undisturbed)
        }),
      ),
    )
  },
)
