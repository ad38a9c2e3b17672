/**
 * The end of a child: an agent stops its child, or is deleted, while the child has a running
 * command and a file in no commit. No process is left, the file is where it was, and the rows say
 * so.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { violations } from '../../src/domain/invariants/of-an-agent.ts'
import { isTerminal } from '../../src/domain/state/task.ts'
import { systemClock } from '../../src/exec/clock.ts'
import { openBox, type HostFixture } from '../../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel } from '../../src/testing/scripted-model.ts'
import { textOf } from '../../src/testing/scenarios/three-children.ts'
import { call, idsIn, spawn } from '../support/parent-and-child.ts'
import { makeRepository } from '../support/repository.ts'
import { lived, type Scenario } from './scenario.ts'
import { leftProcesses } from '../support/processes.ts'

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

async function run(box: HostFixture, how: Ending): Promise<void> {
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
  // A deletion that was not acknowledged has stopped it already: it is asked for again.
  const rests = () => ['sleep', 'stop'].includes(host.next('boss')?.do ?? '')
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
async function comes(box: HostFixture, is: () => Promise<boolean>): Promise<void> {
  while (!(await is())) {
    const broken = box.notices.find(({ kind }) => kind === 'fault')
    assert.equal(broken, undefined)
    await systemClock().sleep(20)
  }
}

/** Said unless it was said before the last death. */
async function once(box: HostFixture, text: string): Promise<void> {
  const said = await box.ledger.list('messages', { agent_id: 'boss', limit: 20 })
  if (said.some(({ body }) => body === text)) return
  const sent = await box.host.act({ do: 'send', agent_id: 'boss', text })
  assert.equal(sent.ok, true, JSON.stringify(sent))
}

async function endOf({ ledger, host, home }: HostFixture) {
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

export const childEndScenario = (how: Ending): Scenario<Awaited<ReturnType<typeof endOf>>> => ({
  name: `end of a child by ${how}`,
  covers: ['child spawned', 'task finished', 'lifecycle', 'worktree'],
  step: 15,
  furnish: ({ workspace }) => makeRepository(workspace),
  async life(scope, { home, workspace, folder }, killer) {
    const open = () =>
      openBox(scope, {
        models: { default: model() },
        home,
        workspace,
        ...killer.seams,
      })
    const end = await lived(killer, open, async (box) => {
      await run(box, how)
      return endOf(box)
    })
    if (end === null) return null
    return { ...end, problems: [...end.problems, ...(await leftProcesses(folder))] }
  },
})
