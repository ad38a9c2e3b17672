/** By which presets a child is judged: what was set for its parent holds for it too, from then on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallJudged } from '../src/runtime/ports.ts'
import { openBox } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'

test('a child is judged by what was set for its parent, as it stands at the call', async (t) => {
  const judged: Pick<CallJudged, 'agent' | 'presets'>[] = []
  const child = Promise.withResolvers<void>()
  const policy = {
    judge: ({ agent, presets }: CallJudged) => {
      judged.push({ agent, presets })
      if (agent === 'main.1') child.resolve()
      return Promise.resolve(null)
    },
  }
  const exec = { name: 'ExecCommand', input: { cmd: 'true' } }
  const model = scriptedModel((request) => {
    const [opening] = request.messages
    const isChild = opening?.role === 'user' && opening.content.includes('Count the words.')
    const isFirst = request.messages.length === 1
    if (!isFirst) return says('That is all.')
    const spawn = { name: 'SpawnAgent', input: { initial_message: 'Count the words.' } }
    return isChild ? calls(exec) : calls(exec, spawn)
  })
  const box = await openBox(t, { models: { default: model }, policy })
  await box.makeAgent('test/scripted')
  await box.host.open()
  const set = { do: 'configure_agent', agent_id: 'main', policy_preset: 'alone' } as const
  assert.ok((await box.host.act(set)).ok)
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Go.' })
  await child.promise
  const by = new Map(judged.map(({ agent, presets }) => [agent, presets]))
  assert.deepEqual([by.get('main'), by.get('main.1')], [['alone'], [null, 'alone']])
})
