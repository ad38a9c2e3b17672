/**
 * An agent of another maker as a supervised child, end to end: the example agent of the published
 * SDK, a real driver process, the operator's answer to its permission, and no process left.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { boundHash } from '../src/domain/answers.ts'
import { AcpSessions } from '../src/exec/acp-session.ts'
import { systemClock } from '../src/exec/clock.ts'
import { acpModel } from '../src/models/acp.ts'
import type { Model, ModelRequest } from '../src/models/model.ts'
import { openBox, temporaryHome, type Box } from '../src/testing/box.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { call, inOrder } from './support/scripts.ts'

const example = join(import.meta.dirname, '../node_modules/acp-example/dist/examples/agent.js')

const idsIn = (request: ModelRequest, prefix: string): string[] => [
  ...new Set(
    JSON.stringify(request.messages).match(new RegExp(`${prefix}_[0-9a-f-]{4,36}`, 'g')) ?? [],
  ),
]

test('§9 a foreign agent works under a task, asks the operator, and its end is the task’s', async (t) => {
  const places = temporaryHome(t)
  let box: Box | null = null
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
  const program = { command: process.execPath, args: [example], env: { pass: [], set: {} } }
  const foreign: Model = {
    request: (...of) => acpModel('example', program, made()).request(...of),
  }
  const parent = scriptedModel(
    inOrder(
      calls(call('SpawnAgent', { initial_message: 'Change the file.', model: 'acp/example' })),
      (request) =>
        calls(
          call('WaitFor', {
            wake: 'task_result',
            resource: idsIn(request, 'task')[0] ?? '',
            reason: 'its end',
          }),
        ),
      says('It is done.'),
    ),
  )
  box = await openBox(t, {
    ...places,
    models: { 'a/parent': parent, 'acp/example': foreign },
    foreign_agents: { stop: (...of) => made().stop(...of) },
  })
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
    (await ledgerOrigins(places.home)).filter(
      (origin) => origin !== 'agent' && origin !== 'system',
    ),
    [],
  )
})

async function ledgerOrigins(home: string): Promise<string[]> {
  const { openReader } = await import('../src/ledger/open.ts')
  const reader = await openReader(home)
  const messages = await reader.list('messages', { agent_id: 'main.1', limit: 50 })
  await reader.close()
  return messages.map(({ origin }) => origin)
}
