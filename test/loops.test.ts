/**
 * Models that go in circles, on the whole host: each is stopped by a rule that does not need its
 * help, and the operator is told.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { limits } from '../src/domain/limits.ts'
import { deliver } from '../src/testing/host/outside-events.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { creates, picks, runs } from './support/scripts.ts'
import { agent, minute, openStage, textOf, type Stage } from './support/stage.ts'

test('a model that makes the same call for ever is told, stopped, and the operator reads it', async (t) => {
  const model = scriptedModel(() => calls(runs('echo the same')))
  const s = await openStage(t, { model })
  await s.say('Do it.')
  assert.equal(model.requests.length, 1 + limits.repeats.value)
  const told = model.requests.map((request) => textOf(request).includes('call WaitFor with what'))
  // The first round repeats nothing; the third repeat is the fourth round.
  assert.equal(told.indexOf(true), 1 + limits.repeats_told.value)
  const [turn] = await s.rows('turns')
  assert.deepEqual([turn?.reason, turn?.progress], ['repeats', false])
  assert.deepEqual(await kinds(s), ['failure'])
  await s.sound()
})

test('an item whose turns are circles comes to the operator after three of them', async (t) => {
  const model = scriptedModel((_, n) =>
    n === 1 ? creates('A') : n === 2 ? picks(s.id('A')) : calls(runs('echo the same')),
  )
  const s: Stage = await openStage(t, { model })
  await s.say('Do it.')
  await s.pass(24 * 60 * minute)
  const reasons = (await s.rows('turns')).map(({ reason }) => reason)
  assert.deepEqual(reasons, ['repeats', 'repeats', 'repeats', 'repeats'])
  assert.equal((await s.wait('A')).runtime_cause, 'no_progress')
  assert.deepEqual(await kinds(s), ['failure', 'question'])
  await s.sound()
})

test('a command that posts to its agent’s own trigger starts a bounded number of turns', async (t) => {
  const poke = `node -e 'fetch(process.env.HOLON_TRIGGER_URL, { method: "POST", body: "again" })'`
  const model = scriptedModel((request) => {
    const isNew = request.messages.at(-1)?.role === 'user'
    return isNew ? calls(runs(poke)) : says('I look again.')
  })
  const { base_url, serve } = await door(t)
  const s = await openStage(t, { model, base_url })
  serve(s)
  await s.say('Begin.')
  const turns = () => s.rows('turns').then((rows) => rows.length)
  const most = limits.trigger_turns.value
  assert.equal(await turns(), 1 + most)
  assert.equal((await s.wait(null)).runtime_cause, 'trigger_turns_used')
  await s.pass(20 * minute)
  assert.equal(await turns(), 1 + most + 2)
  assert.equal((await kinds(s)).filter((kind) => kind === 'question').length, 1)
  await s.sound()
})

const kinds = async (s: Stage) => (await s.rows('briefs')).map(({ kind }) => kind)

/** A listener for the URL that commands are given: what is posted is delivered to the host. */
async function door(t: TestContext) {
  let stage: Stage | null = null
  const server = createServer((request, response) => {
    void (async () => {
      const [trigger] = (await stage?.rows('triggers')) ?? []
      assert.ok(stage && trigger && request.url?.startsWith('/callbacks/'))
      const about = { sender_id: null, source: null, resource: null, summary: null }
      const via = { kind: 'trigger', trigger_id: trigger.id } as const
      const body = { body: 'again', content_type: null }
      await deliver(stage.box.host, { agent_id: agent, via, ...about, ...body })
      response.writeHead(202).end()
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return {
    base_url: `http://127.0.0.1:${port}`,
    serve: (s: Stage) => {
      stage = s
    },
  }
}
