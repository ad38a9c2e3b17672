/**
 * An agent of another maker as a supervised child, end to end: the example agent of the published
 * SDK, a real driver process, the operator's answer to its permission, and no process left.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { boundHash } from '../src/domain/work/answer-question.ts'
import { AcpSessions } from '../src/exec/acp/session.ts'
import { systemClock } from '../src/exec/clock.ts'
import { acpModel } from '../src/models/acp/acp.ts'
import type { Model, ModelRequest } from '../src/models/model.ts'
import { openBox, temporaryHome, type HostFixture } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { happens } from './support/parent-and-child.ts'
import { call, inOrder } from './support/scripts.ts'

const example = join(import.meta.dirname, '../node_modules/acp-example/dist/examples/agent.js')

const idsIn = (request: ModelRequest, prefix: string): string[] => [
  ...new Set(
    JSON.stringify(request.messages).match(new RegExp(`${prefix}_[0-9a-f-]{4,36}`, 'g')) ?? [],
  ),
]

test('a foreign agent works under a task, asks the operator, and its end is the task’s', async (t) => {
  const box = await openForeign(t, [example], (task) =>
    inOrder(
      calls(call('SpawnAgent', { initial_message: 'Change the file.', model: 'acp/example' })),
      (request) =>
        calls(call('WaitFor', { wake: 'task_result', resource: task(request), reason: 'its end' })),
      says('It is done.'),
    ),
  )
  const { host, ledger } = box
  const asked = box.until(
    (notice) =>
      notice.kind === 'committed' && notice.events.some(({ event }) => event.type === 'task_asked'),
    'the permission is asked for',
  )
  const over = box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.agent_id === 'main' &&
      notice.events.some(({ event }) => event.type === 'brief_delivered'),
    'the parent has the end',
  )
  await host.open()
  await host.ensureAgent({ id: 'main', model: 'a/parent' })
  assert.equal((await host.act({ do: 'send', agent_id: 'main', text: 'Begin.' })).ok, true)
  await asked
  const [task] = await ledger.list('tasks', { limit: 1 })
  assert.deepEqual([task?.status, task?.asking?.of], ['running', 'operator'])
  const wait = await ledger.row('waits', task?.asking?.wait_id ?? '')
  assert.ok(wait)
  assert.match(wait.reason, /Modifying critical configuration file/)
  const refused = await host.act({
    do: 'send',
    agent_id: 'main.1',
    text: 'Hello',
    wait_id: wait.id,
  })
  assert.deepEqual([refused.ok, refused.ok ? '' : refused.code], [false, 'agent_private'])
  const answered = await host.act({
    do: 'answer',
    agent_id: 'main.1',
    wait_id: wait.id,
    bound_hash: boundHash(wait),
    text: '1',
  })
  assert.equal(answered.ok, true)
  await over
  const [ended] = await ledger.list('tasks', { limit: 1 })
  assert.deepEqual([ended?.status, ended?.asking], ['completed', null])
  assert.equal((await ledger.row('agents', 'main.1'))?.state, 'deleted')
  await box.close()
  const stopped = await box.ports.processes.observe(task?.id ?? '')
  assert.notEqual(stopped.state, 'running')
  assert.deepEqual(
    (await ledgerOrigins(box.home)).filter((origin) => origin !== 'agent' && origin !== 'system'),
    [],
  )
})

test('a foreign agent is told what its parent says when it has answered, in the same turn', async (t) => {
  const { workspace, home } = temporaryHome(t)
  const [log, go] = [join(workspace, 'log'), join(workspace, 'go')]
  writeFileSync(log, '')
  const isAtWork = async () => {
    while (!readFileSync(log, 'utf8').includes('waits')) await new Promise(setImmediate)
  }
  const handoff = `until ${go}\nsay first`
  const box = await openForeign(
    t,
    [join(import.meta.dirname, '../src/testing/acp-agent.ts'), log],
    (task) =>
      inOrder(
        calls(call('SpawnAgent', { initial_message: handoff, model: 'acp/example' })),
        async (request) => {
          await isAtWork()
          return calls(call('TaskInput', { task_id: task(request), text: 'say second' }))
        },
        () => {
          writeFileSync(go, '')
          return says('It is told.')
        },
      ),
    { workspace, home },
  )
  const over = happens(box, 'main.1', 'agent_deleted')
  await box.host.open()
  await box.host.ensureAgent({ id: 'main', model: 'a/parent' })
  assert.equal((await box.host.act({ do: 'send', agent_id: 'main', text: 'Begin.' })).ok, true)
  await over
  const lines = readFileSync(log, 'utf8').split('\n')
  const prompts = lines.filter((line) => line.startsWith('prompt'))
  assert.equal(prompts.length, 2)
  assert.match(prompts[1] ?? '', /Your parent wrote while you worked.*\\nsay second\\n/)
  assert.equal(prompts[1]?.includes('say first'), false, 'what it knows is not said again')
  assert.deepEqual(
    lines.filter((line) => line.startsWith('cancel')),
    [],
  )
  const turns = await box.ledger.list('turns', { agent_id: 'main.1', limit: 5 })
  assert.equal(turns.length, 1)
  const briefs = await box.ledger.list('briefs', { agent_id: 'main.1', limit: 5 })
  assert.deepEqual(
    briefs.map(({ text }) => text),
    ['first', 'second'],
  )
})

/** A parent whose children with the model `acp/example` are the agent of this program. */
async function openForeign(
  t: TestContext,
  args: string[],
  parent: (task: (request: ModelRequest) => string) => Parameters<typeof scriptedModel>[0],
  places = temporaryHome(t),
): Promise<HostFixture> {
  let box: HostFixture | null = null
  let sessions: AcpSessions | null = null
  const common = { tasks_folder: join(places.home, 'tasks'), clock: systemClock() }
  const made = () => {
    if (box === null) throw new Error('no box yet')
    sessions ??= new AcpSessions({
      ...common,
      parent_env: process.env,
      processes: box.ports.processes,
    })
    return sessions
  }
  const program = { command: process.execPath, args, env: { pass: [], set: {} } }
  const foreign: Model = {
    request: (...of) => acpModel('example', program, made()).request(...of),
  }
  const model = scriptedModel(parent((request) => idsIn(request, 'task')[0] ?? ''))
  box = await openBox(t, {
    ...places,
    models: { 'a/parent': model, 'acp/example': foreign },
    foreign_agents: { stop: (...of) => made().stop(...of) },
  })
  return box
}

async function ledgerOrigins(home: string): Promise<string[]> {
  const { openReader } = await import('../src/ledger/store/open.ts')
  const reader = await openReader(home)
  const messages = await reader.list('messages', { agent_id: 'main.1', limit: 50 })
  await reader.close()
  return messages.map(({ origin }) => origin)
}
