/**
 * What is said beside a held command, over a real host: a message is no yes, and who sends it and
 * who reads it are told what is one; a no in the middle of a turn is read by that turn.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { heldTasks } from '../src/domain/approvals/held-command.ts'
import { heldHash } from '../src/domain/approvals/held-text.ts'
import { calls, says, scriptedModel, type Script } from '../src/testing/scripted-model.ts'
import { asksAbout } from '../src/testing/world/held.ts'
import { call } from './support/scripts.ts'
import { openStage, textOf, type Stage } from './support/stage.ts'

const exec = call('ExecCommand', { cmd: 'echo pushed >> pushed.txt # push' })

async function staged(t: TestContext, script: (stage: Stage) => Script) {
  const box: { stage: Stage | null } = { stage: null }
  const model = scriptedModel((request, n) => {
    assert.ok(box.stage)
    return script(box.stage)(request, n)
  })
  const stage = (box.stage = await openStage(t, { model, policy: asksAbout('push') }))
  return { stage, model }
}

function held({ box }: Stage) {
  const facts = box.host.facts('main')
  const [task] = facts ? heldTasks(facts) : []
  assert.ok(task, 'nothing is held')
  return task
}

const no = (stage: Stage, text: string) =>
  ({
    do: 'answer_held',
    task_id: held(stage).id,
    bound_hash: heldHash(held(stage)),
    choice: 'no',
    text,
  }) as const

const asking: Script = (_, n) => {
  switch (n) {
    case 1:
      return calls(call('CreateWorkItem', { objective: 'Push it', focus: true }))
    case 2:
      return calls(exec)
    default:
      return says('As far as I can go.')
  }
}

for (const bound of [true, false]) {
  test(`a message ${bound ? 'about' : 'without'} an item is no yes, and both sides are told what is`, async (t) => {
    const { stage, model } = await staged(t, () => asking)
    await stage.say('Push it.')
    const { id, work_item_id } = held(stage)
    const about = bound && work_item_id !== null ? { work_item_id } : {}
    const reply = await stage.does({ do: 'send', text: 'yes, push it', ...about })
    assert.deepEqual(reply.warnings, [
      {
        kind: 'held',
        message: `${id} waits for your yes, which a message is not: holon answer ${id} yes`,
      },
    ])
    const short = await stage.short(id)
    const text = textOf(model.requests.at(-1))
    assert.match(text, new RegExp(`${short} waits for the operator's yes, and a message is none`))
    assert.match(text, new RegExp(`\`holon answer ${short} yes\``))
    assert.doesNotMatch(text, /clear it with UpdateWorkItem/)
    assert.equal(held(stage).id, id)
    await stage.sound()
  })
}

test('words into the turn that asked are told so with the next request', async (t) => {
  const { stage, model } = await staged(t, (now) => async (request, n) => {
    if (n === 3) await now.act({ do: 'send', text: 'yes, push it', priority: 'interject' })
    return asking(request, n)
  })
  await stage.say('Push it.')
  const short = await stage.short(held(stage).id)
  const text = textOf(model.requests[3])
  assert.match(text, new RegExp(`Runtime note: ${short} waits for the operator's yes`))
  await stage.sound()
})

test('a message says nothing of what is held for another item', async (t) => {
  const { stage, model } = await staged(t, () => asking)
  await stage.say('Push it.')
  const made = await stage.act({ do: 'create_item', objective: 'Else' })
  const reply = await stage.does({ do: 'send', text: 'Go on.', work_item_id: made.id ?? '' })
  assert.deepEqual(reply.warnings, [])
  assert.doesNotMatch(textOf(model.requests.at(-1)), /and a message is none/)
})

test('a no in the middle of a turn refuses a completion, and the next request shows it', async (t) => {
  const { stage, model } = await staged(t, (now) => async (request, n) => {
    if (n !== 3) return asking(request, n)
    const { work_item_id } = held(now)
    await now.act(no(now, 'It was asked twice.'))
    return calls('Done.', call('CompleteWorkItem', { work_item_id }))
  })
  await stage.say('Push it.')
  const text = textOf(model.requests[3])
  assert.match(text, /stays open: a message of the operator came in that you have not read/)
  assert.match(text, /It was asked twice\./)
  const dropped = (await stage.events()).filter(({ event }) => event.type === 'message_dropped')
  assert.deepEqual(dropped, [])
  await stage.sound()
})
