/**
 * A fresh child that works over several turns: its handoff is in the request of each, and so is
 * what its parent said since.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { calls, says } from '../../src/testing/scripted-model.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'
import {
  call,
  create,
  happens,
  openFamily,
  pick,
  spawn,
  steps,
  tell,
  type Step,
} from '../support/parent-and-child.ts'
import { requestSnapshot } from '../support/request-text.ts'
import { textOf } from '../support/stage.ts'

const asks: Step = () =>
  calls('Which of the two?', call('WaitFor', { wake: 'operator_input', reason: 'which one' }))

const family = async (t: Parameters<typeof openFamily>[0], handoff: string) => {
  const child = steps(create('Look at x'), pick, asks, () => says('I took the first.'))
  const parent = steps(
    () => calls(spawn(handoff)),
    () => says('It works.'),
    (text) =>
      calls(
        call('TaskInput', { task_id: /task_[0-9a-f-]{4,36}/.exec(text)?.[0] ?? '', text: 'x' }),
      ),
  )
  const box = await openFamily(t, { parent, child, clock: virtualClock() })
  const ended = happens(box, 'main.1', 'turn_ended', () => child.requests.length > 3)
  await tell(box, 'Have somebody look at x.')
  await ended
  return { box, requests: child.requests }
}

test('a fresh child has its handoff in the request of every turn', async (t) => {
  const handoff = 'Look at x.js.\nTouch nothing: never write a file. Report the line.'
  const { box, requests } = await family(t, handoff)
  const turns = await box.ledger.list('turns', { agent_id: 'main.1', limit: 9 })
  assert.ok(turns.length > 1, 'it worked in one turn')
  for (const request of requests) {
    assert.equal(textOf(request).split('Touch nothing: never write a file.').length, 2)
  }
  const first = requests[0]?.messages[0]
  const later = requests[3]?.messages[0]
  const section = (text: string) => text.slice(0, text.indexOf('\n\n# ', 2))
  assert.ok(first?.role === 'user' && later?.role === 'user')
  assert.equal(section(first.content), section(later.content), 'it stays the same text')
  requestSnapshot(t, requests[3], box.home, box.workspace)
})

test('a handoff of more than 8 KiB keeps both ends, and is a file the child may read', async (t) => {
  const middle = Array.from({ length: 500 }, (_, i) => `Rule ${i}: mind what stands here.`)
  const handoff = ['Begin here.', ...middle, 'End here.'].join('\n')
  const { box, requests } = await family(t, handoff)
  const path = `${box.home}/agents/main.1/handoff.md`
  for (const request of [requests[0], requests[3]]) {
    const text = textOf(request)
    assert.match(text, /^Begin here\.$/m)
    assert.match(text, /^End here\.$/m)
    assert.ok(text.includes(`whole text: ${path}`))
    assert.doesNotMatch(text, /^Rule 250:/m)
  }
  assert.ok(existsSync(path))
  assert.equal(readFileSync(path, 'utf8'), handoff)
})
