/**
 * The life of a supervised child beside the happy one (docs/spec/task.md, docs/spec/agent.md):
 * stopped, deleted with its parent, stopped and started with it, refused by its provider, held for
 * too long. Real processes and a real repository where they matter.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { violations } from '../src/domain/invariants/of-an-agent.ts'
import { temporaryHome, type HostFixture } from '../src/testing/host/host-fixture.ts'
import type { ModelRequest } from '../src/models/model.ts'
import { calls, fails, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { textOf } from '../src/testing/scenarios/three-children.ts'
import { virtualClock, type VirtualClock } from '../src/testing/virtual-clock.ts'
import {
  call,
  create,
  happens,
  idsIn,
  lastId,
  openFamily,
  pick,
  spawn,
  steps,
  tell,
  told,
  type Step,
} from './support/parent-and-child.ts'
import { git, makeRepository } from './support/repository.ts'
import { leftProcesses, processesOf } from './support/processes.ts'

/** Leaves a file that is in no commit, and something that runs. */
const leavesThingsBehind: Step[] = [
  () => calls(call('ExecCommand', { cmd: 'echo precious > precious.txt' })),
  () => calls(call('ExecCommand', { cmd: 'exec sleep 60', yield_ms: 1 })),
  () => says('It runs.'),
]

const row = async (box: HostFixture, table: 'tasks' | 'delegations' | 'worktrees', of: string) => {
  const rows = await box.ledger.list(table, { agent_id: of, limit: 10 })
  assert.equal(rows.length, 1, `${rows.length} ${table} of ${of}`)
  return rows[0] as unknown as Record<string, unknown>
}

const picked = (from: Record<string, unknown>, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, from[name]]))

async function soundness(box: HostFixture, ...agents: string[]): Promise<string[]> {
  const events = await box.ledger.events({ after: 0, limit: 10_000 })
  const broken = agents.flatMap((id) => {
    const facts = box.host.facts(id)
    return facts === null
      ? []
      : violations(
          facts,
          events.filter((one) => one.agent_id === id),
        )
  })
  return [...(await box.ledger.verify()).problems, ...broken.map(String)]
}

/** A command that was promoted may still be starting: nothing tells of its first process. */
async function anyProcessOf(folder: string): Promise<void> {
  while (processesOf(folder).length === 0) await new Promise(setImmediate)
}

test('a stopped child leaves no process, and its worktree with what was never committed', async (t) => {
  const places = temporaryHome(t)
  makeRepository(places.workspace)
  const parent = steps(
    create('the whole'),
    pick,
    () => calls(spawn('Leave things.', { workspace_mode: 'worktree' })),
    // With nothing to wait for it would go on by itself, and stop the child before its time.
    () => calls(call('WaitFor', { wake: 'operator_input', reason: 'when to stop it' })),
    (text) => calls(call('TaskStop', { task_id: lastId(text, 'task') })),
    () => says('It is stopped.'),
  )
  const box = await openFamily(t, { parent, child: steps(...leavesThingsBehind), ...places })
  await tell(box, 'Begin.')
  await happens(box, 'main.1', 'task_promoted')
  const worktree = await row(box, 'worktrees', 'main')
  const folder = String(worktree['path'])
  await anyProcessOf(folder)
  await happens(box, 'main', 'turn_ended')
  const task_id = String((await row(box, 'tasks', 'main'))['id'])
  await tell(box, `Stop ${task_id}.`)
  await happens(box, 'main', 'worktree_kept')
  // The stop tells of itself in a commit of its own.
  await box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.events.some(
        ({ event }) => event.type === 'call_finished' && event.result.tool_name === 'TaskStop',
      ),
    'the result of the stop',
  )
  assert.deepEqual(processesOf(folder), [])
  assert.deepEqual(picked(await row(box, 'tasks', 'main'), 'status', 'reason', 'survivors'), {
    status: 'cancelled',
    reason: 'stopped by the agent',
    survivors: [],
  })
  assert.equal((await row(box, 'delegations', 'main'))['state'], 'cancelled')
  assert.equal((await box.ledger.row('agents', 'main.1'))?.state, 'deleted')
  const { state, reason } = await row(box, 'worktrees', 'main')
  assert.equal(state, 'kept')
  assert.match(String(reason), /untracked/)
  assert.equal(readFileSync(join(folder, 'precious.txt'), 'utf8'), 'precious\n')
  assert.match((await told(box, 'main')).at(-1) ?? '', /^TaskStop: task_\S+: cancelled/)
  assert.deepEqual(await soundness(box, 'main'), [])
})

test('a deleted agent takes its children and their processes with it, not their work', async (t) => {
  const places = temporaryHome(t)
  makeRepository(places.workspace)
  const parent = steps(
    () => calls(spawn('Leave things.', { workspace_mode: 'worktree' })),
    () => says('It is at work.'),
  )
  const child = steps(...leavesThingsBehind)
  const box = await openFamily(t, { parent, child, agent: 'boss', ...places })
  await tell(box, 'Begin.', 'boss')
  await happens(box, 'boss.1', 'task_promoted')
  const folder = String((await row(box, 'worktrees', 'boss'))['path'])
  const deleted = await box.host.act({ do: 'delete_agent', agent_id: 'boss' })
  assert.equal(deleted.ok, true, JSON.stringify(deleted))
  assert.deepEqual(processesOf(folder), [])
  const agents = (await box.ledger.agents()).map(({ id, state }) => `${id} ${state}`)
  assert.deepEqual(agents.toSorted(), ['boss deleted', 'boss.1 deleted'])
  assert.equal((await row(box, 'tasks', 'boss'))['status'], 'cancelled')
  assert.equal((await row(box, 'delegations', 'boss'))['state'], 'cancelled')
  assert.equal((await row(box, 'worktrees', 'boss'))['state'], 'kept')
  assert.equal(readFileSync(join(folder, 'precious.txt'), 'utf8'), 'precious\n')
  assert.equal(git(places.workspace, 'branch', '--list', 'holon/*').trim(), '+ holon/boss.1')
  assert.deepEqual((await box.ledger.verify()).problems, [])
  await box.close()
  assert.deepEqual(await leftProcesses(places.home), [])
})

test('children stop and start with their parent, and go on where they were', async (t) => {
  const parent = steps(
    create('the whole'),
    pick,
    () => calls(spawn('Do a part.')),
    (text) => {
      const input = { wake: 'task_result', resource: lastId(text, 'task'), reason: 'its part' }
      return calls(call('WaitFor', input))
    },
    (text) => {
      return calls(
        'All is done. It was looked at.',
        call('CompleteWorkItem', { work_item_id: idsIn(text, 'work')[0] ?? '' }),
      )
    },
  )
  const thinks = Promise.withResolvers<void>()
  const child = steps(
    create('a part'),
    pick,
    () =>
      calls(
        call('ExecCommand', {
          cmd: 'until [ -e go ] || [ ! -d "$PWD" ]; do sleep 0.05; done',
          yield_ms: 1,
        }),
      ),
    () => {
      thinks.resolve()
      return 'hang'
    },
    (text) =>
      calls(
        'The part. It is whole.',
        call('CompleteWorkItem', {
          work_item_id: idsIn(text, 'work')[0] ?? '',
          leave_running: true,
        }),
      ),
  )
  const box = await openFamily(t, { parent, child })
  await tell(box, 'Begin.')
  await thinks.promise
  await happens(box, 'main', 'turn_ended')
  assert.equal((await box.host.act({ do: 'stop_agent', agent_id: 'main' })).ok, true)
  await happens(box, 'main.1', 'agent_stopped')
  await happens(box, 'main.1', 'turn_ended', ({ outcome }) => outcome === 'aborted')
  const running = await box.ledger.list('tasks', { agent_id: 'main.1', limit: 5 })
  assert.deepEqual(
    running.map(({ status }) => status),
    ['running'],
  )
  assert.equal((await box.ledger.row('agents', 'main.1'))?.state, 'stopped')
  assert.equal((await row(box, 'tasks', 'main'))['status'], 'running')
  assert.equal((await box.host.act({ do: 'start_agent', agent_id: 'main' })).ok, true)
  await happens(box, 'main.1', 'agent_started')
  await happens(box, 'main.1', 'work_item_completed')
  writeFileSync(join(box.workspace, 'go'), '')
  await happens(box, 'main', 'work_item_completed')
  assert.equal(
    (await row(box, 'delegations', 'main'))['result_summary'],
    'The part. It is whole.\n\n' +
      'Warning: A task of the item still runs; it goes on, and its result comes late.',
  )
  assert.deepEqual(await soundness(box, 'main'), [])
})

test('children that made no item yet are stopped and started with their parent, and go on', async (t) => {
  const parent = steps(
    create('the whole'),
    pick,
    () => calls(spawn('Do the left part.'), spawn('Do the right part.')),
    () => calls(call('WaitFor', { wake: 'operator_input', reason: 'which part is first' })),
  )
  const asked: string[] = []
  const child = scriptedModel((request) => {
    const text = textOf(request)
    const part = /Do the (\w+) part/.exec(text)?.[1] ?? 'no handoff'
    asked.push(part)
    // Asked once before the stop, and once after the start.
    return asked.filter((one) => one === part).length === 1 ? 'hang' : says(`The ${part} part.`)
  })
  const box = await openFamily(t, { parent, child })
  await tell(box, 'Begin.')
  await happens(box, 'main.1', 'request_sent')
  await happens(box, 'main.2', 'request_sent')
  assert.equal((await box.host.act({ do: 'stop_agent', agent_id: 'main' })).ok, true)
  const isAborted = ({ reason }: Record<string, unknown>) => reason === 'operator_aborted'
  await happens(box, 'main.1', 'turn_ended', isAborted)
  await happens(box, 'main.2', 'turn_ended', isAborted)
  assert.equal((await box.host.act({ do: 'start_agent', agent_id: 'main' })).ok, true)
  await happens(box, 'main.1', 'agent_deleted')
  await happens(box, 'main.2', 'agent_deleted')
  const delegations = await box.ledger.list('delegations', { agent_id: 'main', limit: 10 })
  assert.deepEqual(
    delegations.map(({ state, result_summary }) => `${state}: ${result_summary}`).toSorted(),
    ['completed: The left part.', 'completed: The right part.'],
  )
  assert.deepEqual(asked.toSorted(), ['left', 'left', 'right', 'right'])
  assert.deepEqual(await soundness(box, 'main'), [])
})

test('a child whose provider refuses is over, and its parent reads why', async (t) => {
  const parent = steps(
    create('the whole'),
    pick,
    () => calls(spawn('Ask too much.')),
    () => says('It is at work.'),
    () => says('So be it.'),
  )
  const child = steps(() => fails({ kind: 'refused', code: 'bad_request', message: 'Too much.' }))
  const box = await openFamily(t, { parent, child })
  await tell(box, 'Begin.')
  await happens(box, 'main', 'task_ended')
  const task = await row(box, 'tasks', 'main')
  assert.deepEqual(picked(task, 'status', 'reason'), {
    status: 'failed',
    reason: 'its turn failed: bad_request',
  })
  const [message] = await box.ledger.list('messages', {
    agent_id: 'main',
    limit: 1,
    kind: ['task_result'],
  })
  assert.equal(message?.work_item_id, task['work_item_id'])
  assert.equal(
    message?.body.replaceAll(String(task['id']), 'task'),
    'main.1 (task, Ask too much.): failed (its turn failed: bad_request)\n' +
      'The provider refused the request: Too much.',
  )
  assert.equal((await row(box, 'delegations', 'main'))['state'], 'failed')
  assert.equal((await box.ledger.row('agents', 'main.1'))?.state, 'deleted')
  assert.deepEqual(await soundness(box, 'main'), [])
})

test('a child that is held for 24 hours is given up', async (t) => {
  const clock = virtualClock()
  const parent = steps(
    create('the whole'),
    pick,
    () => calls(spawn('Ask again and again.')),
    (text) => {
      const input = { wake: 'task_result', resource: lastId(text, 'task'), reason: 'its part' }
      return calls(call('WaitFor', input))
    },
    (text) => calls(call('TaskOutput', { task_id: lastId(text, 'task') })),
    () => says('So be it.'),
  )
  const down = fails({ kind: 'world', code: 'network' })
  const child = steps(...Array.from({ length: 1_000 }, () => () => down))
  const box = await openFamily(t, { parent, child, clock })
  await tell(box, 'Begin.')
  await during(clock, 1_000, happens(box, 'main.1', 'wait_registered'))
  await happens(box, 'main', 'turn_ended')
  const [hold] = await box.ledger.list('waits', { agent_id: 'main.1', limit: 1 })
  assert.equal(hold?.wake, 'system')
  const day = 86_400_000
  await clock.advance(day - 3_600_000)
  assert.equal((await row(box, 'tasks', 'main'))['status'], 'running')
  await during(clock, 60_000, happens(box, 'main', 'task_ended'))
  const task = await row(box, 'tasks', 'main')
  assert.deepEqual(picked(task, 'status', 'reason'), {
    status: 'failed',
    reason: `it was held for 24 hours: ${hold.reason.replace(/\.$/, '')}`,
  })
  // What the parent reads of the end, in whichever way, says nothing that is over with it.
  const isLook = ({ result }: Record<string, unknown>) =>
    (result as { tool_name?: string }).tool_name === 'TaskOutput'
  await during(clock, 1_000, happens(box, 'main', 'call_finished', isLook))
  const [look] = await box.ledger.list('calls', { agent_id: 'main', limit: 1 })
  assert.match(
    JSON.stringify(look?.result),
    /"status":"failed","reason":"it was held.*"briefs":\[\]/,
  )
  const messages = await box.ledger.list('messages', { agent_id: 'main', limit: 10 })
  const ended = messages.find(({ kind }) => kind === 'task_result')
  assert.match(ended?.body ?? '', /: failed \(it was held for 24 hours: .*\)\. It left no words\.$/)
  // From its last answer on, here from the start of the turn: each try is a hold of its own.
  const [turn] = await box.ledger.list('turns', { agent_id: 'main.1', limit: 1 })
  const lasted = Date.parse(String(task['ended_at'])) - Date.parse(turn?.started_at ?? '')
  assert.ok(lasted >= day, `only ${lasted} ms`)
  assert.equal((await box.ledger.row('agents', 'main.1'))?.state, 'deleted')
})

/** Moves time on by `ms` again and again, each after the machine had its turn, until it happens. */
async function during(clock: VirtualClock, ms: number, it: Promise<void>): Promise<void> {
  const going = new AbortController()
  const over = it.finally(() => going.abort())
  while (!going.signal.aborted) {
    await clock.advance(ms)
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
  }
  await over
}

test('what a parent says comes with the next request of its child’s open turn, and its call says so', async (t) => {
  const isTold = Promise.withResolvers<void>()
  const answers: string[] = []
  const seen: Record<string, boolean[]> = { left: [], right: [] }
  const parent = steps(
    () => calls(spawn('Translate the left.'), spawn('Translate the right.')),
    async (text, request) => {
      await atWork.promise
      const of = /main\.1.*?(task_[0-9a-f-]{4,36})/s.exec(resultsIn(request)) ?? []
      return calls(call('TaskInput', { task_id: of[1] ?? text, text: 'Not the titles.' }))
    },
    (text) => {
      answers.push(/^.*gets it.*$/m.exec(text)?.[0] ?? '')
      isTold.resolve()
      return says('It is told.')
    },
  )
  const atWork = Promise.withResolvers<void>()
  let asked = 0
  const child = scriptedModel(async (request) => {
    const text = textOf(request)
    const side = text.includes('Translate the left.') ? 'left' : 'right'
    const mine = (seen[side] ??= [])
    mine.push(text.includes('Your parent wrote while you worked'))
    asked += 1
    if (asked === 2) atWork.resolve()
    if (mine.length > 1) return says(`The ${side} is done.`)
    await isTold.promise
    return calls(call('ListTasks', {}))
  })
  const box = await openFamily(t, { parent, child })
  await tell(box, 'Begin.')
  await happens(box, 'main.1', 'agent_deleted')
  await happens(box, 'main.2', 'agent_deleted')
  assert.deepEqual(seen, { left: [false, true], right: [false, false] })
  assert.match(answers[0] ?? '', /main\.1 gets it with its next request\.$/)
  assert.deepEqual(await soundness(box, 'main'), [])
})

/** What the calls of the newest round brought. */
const resultsIn = ({ messages }: ModelRequest): string => JSON.stringify(messages.at(-1))
