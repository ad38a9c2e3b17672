/** What the operator's own acts say back when they do less, or more, than one may think. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { OperatorReply } from '../src/protocol/acts/operator.ts'
import { openBox } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { completes, creates, picks, waitsFor } from './support/scripts.ts'
import { report, scene } from './support/scene.ts'

const kinds = (reply: OperatorReply): string[] =>
  reply.ok ? reply.warnings.map(({ kind }) => kind) : [reply.code]

test('a message about a completed item is taken in and says that it reopens nothing', async (t) => {
  const s = await scene(
    t,
    () => creates('A'),
    (s) => picks(s.id('A')),
    (s) => completes(s.id('A'), report('A')),
    () => calls('Noted.'),
  )
  await s.say('Do A.')
  const reply = await s.try({ do: 'send', text: 'And more.', work_item_id: s.id('A') })
  assert.deepEqual(kinds(reply), ['item_completed'])
  await s.rest()
  const [item] = await s.rows('work_items')
  assert.equal(item?.state, 'completed')
})

test('unblocking an item that asks a question says that the question is gone', async (t) => {
  const s = await scene(
    t,
    () => creates('A'),
    (s) => picks(s.id('A')),
    () => calls(waitsFor('operator_input', { reason: 'Which one?' })),
    () => calls('I go on.'),
  )
  await s.say('Do A.')
  const reply = await s.try({ do: 'unblock', work_item_id: s.id('A') })
  assert.deepEqual(kinds(reply), ['question_cancelled'])
})

for (const place of ['work-items', 'a folder of the agent itself']) {
  test(`an item whose plan would be made through a link is refused: ${place}`, async (t) => {
    const box = await openBox(t, { models: { default: scriptedModel(() => says('Seen.')) } })
    await box.makeAgent('test/one')
    const folder = join(box.home, 'agents', 'main')
    mkdirSync(folder, { recursive: true })
    symlinkSync(place === 'work-items' ? box.workspace : folder, join(folder, 'work-items'))
    const reply = await box.host.act({ do: 'create_item', agent_id: 'main', objective: 'Paint' })
    assert.equal(!reply.ok && reply.code, 'plan_folder_linked')
    assert.deepEqual(await box.ledger.list('work_items', { limit: 1 }), [])
    assert.deepEqual(readdirSync(box.workspace), [])
  })
}

test('an item whose plan its agent cannot run is not made, and another agent takes it', async (t) => {
  const box = await openBox(t, { models: { default: scriptedModel(() => says('Seen.')) } })
  await box.makeAgent('test/one')
  const agent = { do: 'create_agent', agent_id: 'night', model: 'runbook' } as const
  assert.equal((await box.host.act(agent)).ok, true)
  assert.equal((await box.host.act({ do: 'stop_agent', agent_id: 'night' })).ok, true)
  const make = (agent_id: string, plan?: string) =>
    box.host.act({
      do: 'create_item',
      agent_id,
      objective: 'Sum up the week',
      ...(plan === undefined ? {} : { plan }),
    })
  const told = (reply: OperatorReply) => (reply.ok ? 'made' : `${reply.code}: ${reply.message}`)

  const why = /^plan_no_runbook: night runs runbooks, and the plan is none \(line 1: No objective: /
  assert.match(told(await make('night')), why)
  assert.match(told(await make('night', 'By Friday.\n')), why)
  assert.deepEqual(await box.ledger.list('work_items', { limit: 9 }), [])
  assert.equal(told(await make('night', '# Sum\n\n## Count\n\n```sh\nls | wc -l\n```\n')), 'made')
  assert.equal(told(await make('main')), 'made')
})
