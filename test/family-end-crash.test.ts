/**
 * The end of a child, killed: an agent stops its child, or is deleted, while the child has a running
 * command and a file in no commit; the run dies before or after commits and effects, and is opened
 * again. No process is left, the file is where it was, and the rows say so.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { violations } from '../src/domain/invariants.ts'
import { isTerminal } from '../src/domain/task.ts'
import { systemClock } from '../src/exec/clock.ts'
import { openBox, temporaryHome, type Box } from '../src/testing/box.ts'
import type { FamilyPlaces } from '../src/testing/family-end.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { textOf } from '../src/testing/three-children.ts'
import { leftProcesses } from './support/family.ts'
import { Killer, pointsOf, type Point } from './support/killer.ts'
import { call, idsIn, spawn } from './support/parent-and-child.ts'
import { makeRepository } from './support/repository.ts'

/** Answers from the text of the request alone: what it said is what it did. */
const model = () =>
  scriptedModel((request) => {
    const text = textOf(request)
    const tail = text.slice(text.lastIndexOf('# Why this turn runs'))
    if (text.includes('(private_child)')) {
      if (!tail.includes('First, a file.')) {
        return calls('First, a file.', call('ExecCommand', { cmd: 'echo precious > precious.txt' }))
      }
      if (tail.includes('Then what lasts.')) return says('It runs.')
      return calls('Then what lasts.', call('ExecCommand', { cmd: 'exec sleep 60', yield_ms: 1 }))
    }
    if (tail.includes('\nBegin.')) {
      if (tail.includes('One child.')) return says('It is at work.')
      return calls(
        'One child.',
        spawn('Leave things.', { workspace_mode: 'worktree', model: 'x/y' }),
      )
    }
    if (!tail.includes('\nStop ') || tail.includes('I stop it.')) return says('It is over.')
    const [task_id = ''] = idsIn(tail, 'task')
    return calls('I stop it.', call('TaskStop', { task_id }))
  })

type Ending = 'stop' | 'delete'

async function run(box: Box, how: Ending): Promise<void> {
  const { host, ledger } = box
  const root = box.workspace
  if ((await ledger.row('agents', 'boss'))?.state !== 'deleted') {
    const agent = { id: 'boss', model: 'x/y', workspace: { mode: 'explicit_root', root } } as const
    assert.equal((await host.ensureAgent(agent)).ok, true)
    await once(box, 'Begin.')
  }
  await host.open()
  const tasksOf = (agent_id: string) => ledger.list('tasks', { agent_id, limit: 5 })
  const isOver = async () => (await tasksOf('boss')).some(isTerminal)
  const rests = () => host.next('boss')?.do === 'sleep'
  if ((await ledger.row('agents', 'boss'))?.state !== 'deleted') {
    const leaves = async () => (await tasksOf('boss.1')).some((one) => one.promoted) && rests()
    await comes(box, async () => (await leaves()) || (await isOver()))
    if (how === 'delete') {
      const deleted = await host.act({ do: 'delete_agent', agent_id: 'boss' })
      assert.equal(deleted.ok, true, JSON.stringify(deleted))
    } else await once(box, `Stop ${(await tasksOf('boss'))[0]?.id}.`)
  }
  await comes(box, async () => {
    const [worktree] = await ledger.list('worktrees', { agent_id: 'boss', limit: 1 })
    return worktree?.state === 'kept' && (how === 'delete' || rests())
  })
}

/** Rows of an agent that is gone have no notices: they are looked at until they say so. */
async function comes(box: Box, is: () => Promise<boolean>): Promise<void> {
  while (!(await is())) {
    const broken = box.notices.find(({ kind }) => kind === 'fault')
    assert.equal(broken, undefined)
    await systemClock().sleep(20)
  }
}

/** Said unless it was said before the last death. */
async function once(box: Box, text: string): Promise<void> {
  const said = await box.ledger.list('messages', { agent_id: 'boss', limit: 20 })
  if (said.some(({ body }) => body === text)) return
  const sent = await box.host.act({ do: 'send', agent_id: 'boss', text })
  assert.equal(sent.ok, true, JSON.stringify(sent))
}

async function endOf({ ledger, host, home }: Box) {
  const list = { limit: 20 }
  const tasks = await ledger.list('tasks', list)
  const [worktree] = await ledger.list('worktrees', list)
  const events = await ledger.events({ after: 0, limit: 10_000 })
  const broken = ['boss', 'boss.1'].flatMap((id) => {
    const facts = host.facts(id)
    return facts === null
      ? []
      : violations(
          facts,
          events.filter((one) => one.agent_id === id),
        )
  })
  const turns = await ledger.list('turns', { ...list, status: ['open'] })
  return {
    agents: (await ledger.agents()).map(({ id, state }) => `${id} ${state}`).toSorted(),
    tasks: tasks
      .map(({ agent_id, label, status, reason }) => `${agent_id} ${label}: ${status}, ${reason}`)
      .toSorted(),
    delegations: (await ledger.list('delegations', list)).map(({ state }) => state),
    worktree: worktree?.state,
    is_there: existsSync(join(home, 'worktrees', worktree?.id ?? '', 'precious.txt')),
    open_turns: turns.length,
    problems: [...(await ledger.verify()).problems, ...broken.map(String)],
  }
}

type End = Awaited<ReturnType<typeof endOf>>

async function lived(t: TestContext, places: FamilyPlaces, killer: Killer, how: Ending) {
  const box = await openBox(t, {
    models: { default: model() },
    ...places,
    fault: killer,
    effect_seam: killer,
    is_dead: () => killer.dead,
  })
  await run(box, how).catch(async (error: unknown) => {
    if (!killer.dead) throw error
  })
  const end = killer.dead ? null : await endOf(box)
  await box.close().catch((error: unknown) => {
    if (!killer.dead) throw error
  })
  return end
}

async function killedAt(t: TestContext, how: Ending, point: Point | null) {
  const places = temporaryHome(t)
  makeRepository(places.workspace)
  const killer = new Killer(point)
  // The seams throw also while the box opens.
  const first = await lived(t, places, killer, how).catch((error: unknown) => {
    if (!killer.dead) throw error
    return null
  })
  const end: End | null = first ?? (await lived(t, places, new Killer(null), how))
  const left = await leftProcesses(dirname(places.home))
  assert.ok(end)
  return { end: { ...end, problems: [...end.problems, ...left] }, counts: killer.counts }
}

const all = process.env['HOLON_ALL_POINTS'] === '1'
const options = { concurrency: 4, timeout: 1_200_000 }

for (const how of ['stop', 'delete'] as const) {
  test(`§9 killed anywhere, a child’s end by ${how} is the undisturbed one`, options, async (t) => {
    const { end, counts } = await killedAt(t, how, null)
    assert.deepEqual(
      { ...end, tasks: end.tasks.length },
      {
        agents: [how === 'stop' ? 'boss active' : 'boss deleted', 'boss.1 deleted'],
        tasks: 3,
        delegations: ['cancelled'],
        worktree: 'kept',
        is_there: true,
        open_turns: 0,
        problems: [],
      },
    )
    const points = pointsOf(counts)
    t.diagnostic(`${points.length} points: ${JSON.stringify(counts)}`)
    const chosen = points.filter((_, i) => all || i % 15 === 0)
    await Promise.all(
      chosen.map((point) =>
        t.test(`killed ${point.when} ${point.kind} ${point.n}`, { timeout: 90_000 }, async (t) => {
          assert.deepEqual((await killedAt(t, how, point)).end, end)
        }),
      ),
    )
  })
}
