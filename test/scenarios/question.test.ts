/**
 * A question, and its answer later: whoever reads the answer has the question and the choices beside
 * it, however short the answer is and whether or not it names what it answers.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { calls, says } from '../../src/testing/scripted-model.ts'
import {
  call,
  create,
  lastId,
  openFamily,
  pick,
  spawn,
  steps,
  tell,
} from '../support/parent-and-child.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'
import { requestSnapshot } from '../support/request-text.ts'
import { onA } from '../support/scene.ts'
import { waitsFor } from '../support/scripts.ts'
import { minute, textOf, type Stage } from '../support/stage.ts'

const placesOf = (s: Stage) => [s.box.home, s.box.workspace]

const question = "Shall I write 'Copyright (c) 2026 the unitly authors'? I would."
const choices = [{ label: 'Yes' }, { label: 'Leave the line out' }]
const asks = () =>
  calls(waitsFor('operator_input', { question, choices, reason: 'the copyright line' }))

test('"Yes.", minutes after the question about an item: the question stands beside it, once', async (t) => {
  const s = await onA(
    t,
    asks,
    () => says('I write it.'),
    () => says(''),
    () => says(''),
  )
  await s.say('Add a licence.')
  await s.pass(3 * minute)
  await s.say('Yes.', { work_item_id: s.id('A') })
  const request = s.model.requests[3]
  const [opening = ''] = (request?.messages ?? []).map((message) =>
    message.role === 'user' ? message.content : '',
  )
  const input = opening.slice(opening.indexOf('# Why this turn runs'))
  assert.equal(input.split(question).length, 2)
  assert.match(input, /^2: Leave the line out$/m)
  assert.match(input, /^The operator answered:\n<<\S+ operator_prompt>>\nYes\.\n/m)
  requestSnapshot(t, request, ...placesOf(s))
  await s.sound()
})

test('"1", without naming an item: what waits for the operator stands with its choices', async (t) => {
  const s = await onA(t, asks, () => says('I take it for the licence.'))
  await s.say('Add a licence.')
  await s.pass(3 * minute)
  await s.say('1')
  const request = s.model.requests.at(-1)
  assert.ok(textOf(request).includes(`asks: "${question} 1: Yes 2: Leave the line out"`))
  requestSnapshot(t, request, ...placesOf(s))
  await s.sound()
})

test("a child's question reaches its parent whole, and the answer is the parent's", async (t) => {
  const part = 'How does a contributor propose a change?'
  const child = steps(
    create('Write CONTRIBUTING'),
    pick,
    () =>
      calls(
        call('WaitFor', {
          wake: 'operator_input',
          reason: 'one thing is open',
          question: part,
          choices: [{ label: 'pull request' }, { label: 'mail' }],
        }),
      ),
    () => says('I write it for pull requests.'),
  )
  const parent = steps(
    () => calls(spawn('Write CONTRIBUTING.')),
    () => says('It works.'),
    (text) => calls(call('TaskInput', { task_id: lastId(text, 'task'), text: '1' })),
  )
  const box = await openFamily(t, { parent, child, clock: virtualClock() })
  await tell(box, 'Have CONTRIBUTING written.')
  await box.until(() => child.requests.length > 3 && parent.requests.length > 3, 'the answer')
  const [asked, answered] = [parent.requests[2], child.requests[3]]
  assert.ok(textOf(asked).includes(part))
  assert.match(textOf(asked), /^1: pull request\n2: mail$/m)
  assert.match(textOf(answered), /^main answered:\n<<\S+ delegation>>\npull request\n/m)
  assert.doesNotMatch(textOf(answered).slice(textOf(answered).indexOf('# Why')), /operator/i)
  requestSnapshot(t, asked, box.home, box.workspace)
  requestSnapshot(t, answered, box.home, box.workspace)
})

/** The item waits for the nightly build; asked about it meanwhile, the agent asks back. */
const waitsThenAsks = (t: TestContext) =>
  onA(
    t,
    () => calls(waitsFor('timer', { wait_ms: 30 * minute, reason: 'the nightly build' })),
    asks,
    ...[1, 2, 3].map(() => () => says('')),
  )

test('a question that took the place of a timer: the answer says what is waited for no more', async (t) => {
  const s = await waitsThenAsks(t)
  await s.say('Watch the build.')
  await s.say('And add a licence.', { work_item_id: s.id('A') })
  await s.pass(10 * minute)
  await s.say('Yes.', { work_item_id: s.id('A') })
  const request = s.model.requests[4]
  assert.match(
    textOf(request),
    /^It took the place of a wait of yours, which is over: timer, "the nightly build", would/m,
  )
  requestSnapshot(t, request, ...placesOf(s))
  await s.sound()
})

test('a question that nobody answers does not silence the timer whose place it took', async (t) => {
  const s = await waitsThenAsks(t)
  await s.say('Watch the build.')
  await s.say('And add a licence.', { work_item_id: s.id('A') })
  const before = s.model.requests.length
  await s.pass(29 * minute)
  assert.equal(s.model.requests.length, before)
  await s.pass(2 * minute)
  assert.equal(s.model.requests.length, before + 1)
  const request = s.model.requests.at(-1)
  assert.match(textOf(request), /is not answered yet; it waits on\. Its recheck time \S+ has come/)
  requestSnapshot(t, request, ...placesOf(s))
  await s.sound()
})
