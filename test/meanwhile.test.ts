/**
 * What was looked at may not hold any more when it is decided on: files are made for an agent that
 * somebody else makes, a command is about to begin whose agent is being deleted.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Processes } from '../src/exec/ports.ts'
import { fails, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { openStage } from './support/stage.ts'

const model = () => scriptedModel(() => says('Done.'))

test('two that make one agent at once from two templates leave it the files of one', async (t) => {
  const { box } = await openStage(t, { model: model() })
  for (const name of ['one', 'two']) {
    const folder = join(box.home, 'templates', name)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, `${name}.md`), name)
  }
  const makes = (template: string) =>
    box.host.act({ do: 'create_agent', agent_id: 'new', template })
  const replies = await Promise.all([makes('one'), makes('two')])
  assert.deepEqual(
    replies.map((reply) => reply.ok || reply.code),
    [true, 'agent_exists'],
  )
  assert.equal(box.host.facts('new')?.row('agents', 'new')?.template, 'one')
  assert.deepEqual(readdirSync(join(box.home, 'agents', 'new')), ['one.md'])
})

test('a command is not begun whose agent was deleted while it was looked for', async (t) => {
  const stage = await openStage(t, { model: model() })
  const { host, ports, ledger, notices } = stage.box
  const made = await host.act({ do: 'create_agent', agent_id: 'other' })
  assert.equal(made.ok, true)
  const [looking, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  t.after(() => seen.resolve())
  const { processes } = ports
  const [observe, prepare] = [processes.observe.bind(processes), processes.prepare.bind(processes)]
  let [boots, looks, prepared] = [0, 0, 0]
  const between: Pick<Processes, 'place' | 'observe' | 'prepare'> = {
    place: () => ({ tasks: 'a mark', boot: String(++boots) }),
    async observe(id) {
      const found = await observe(id)
      if (++looks > 1) return found
      looking.resolve()
      await seen.promise
      return { ...found, state: 'running' } as typeof found
    },
    async prepare(spec) {
      prepared += 1
      return prepare(spec)
    },
  }
  Object.assign(processes, between)
  const started = await host.act({ do: 'start_task', agent_id: 'other', cmd: 'echo began' })
  assert.ok(started.ok)
  await looking.promise
  assert.equal((await host.act({ do: 'delete_agent', agent_id: 'other' })).ok, true)
  while (host.facts('other') !== null) await new Promise((again) => setImmediate(again))
  seen.resolve()
  await stage.say('And now?')
  assert.deepEqual(
    notices.filter(({ kind }) => kind === 'fault'),
    [],
  )
  assert.equal(prepared, 0)
  const task = await ledger.row('tasks', started.id ?? '')
  assert.equal(task?.status, 'interrupted')
})

test('a model that is set while another one fails is asked, and nobody is held', async (t) => {
  const kinds = [
    fails({ kind: 'setup', code: 'unauthorized', status: 401 }),
    fails({ kind: 'world', code: 'server_error', status: 500, retryable: false }),
  ]
  for (const fault of kinds) {
    const act = () => host.act({ do: 'configure_agent', agent_id: 'main', model: 'test/second' })
    const first = scriptedModel(async () => {
      assert.equal((await act()).ok, true)
      return fault
    })
    const second = model()
    const stage = await openStage(t, { models: { 'test/first': first, 'test/second': second } })
    const { host } = stage.box
    await stage.say('Go on.')
    assert.deepEqual([first.requests.length, second.requests.length], [1, 1])
    const holds = (await stage.rows('waits')).filter(({ wake }) => wake === 'system')
    assert.deepEqual(holds, [])
  }
})
