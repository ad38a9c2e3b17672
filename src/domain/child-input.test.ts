/** What a parent tells its child: an answer resolves the question that was asked, and no other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, task, waitOf, type World } from '../testing/domain.ts'
import { answer, ask, begin, end } from '../testing/domain-turn.ts'
import { Family } from '../testing/family.ts'
import { changes, handedOver, makes, reports, waits } from '../testing/family-turn.ts'
import { tellableTask, tellChild, type ChildInput } from './child-input.ts'
import { limits } from './limits.ts'
import { delegated } from './provenance.ts'

/** A child that asks, and a parent that was told. */
function asked(reason = 'All words?') {
  const made = handedOver()
  const id = makes(made.child)
  waits(made.child, { work_item_id: id, wake: 'operator_input', reason })
  made.family.relay(made.child)
  return { ...made, id, wait_id: waitOf(made.child, id).id }
}

const codeOf = (told: object) => ('code' in told ? told.code : 'was not refused')
const input = (given: Partial<ChildInput> = {}): ChildInput => ({
  text: 'All of them.',
  provenance: delegated([]),
  key: 'call_1',
  earlier: null,
  ...given,
})

test('§9 an answer resolves the question, gives focus back, and is a message of the parent', () => {
  const { family, main, child, id, wait_id } = asked()
  const told = family.tell(child, 'All of them.', 'call_1')
  assert.deepEqual(told, { ok: true, message_id: 'msg_0003', answered: true })
  const message = child.row('messages', 'msg_0003')
  assert.deepEqual(message, {
    ...message,
    kind: 'delegation',
    origin: 'agent',
    priority: 'next',
    body: 'All of them.',
    dedupe_key: 'call_1',
    work_item_id: id,
    wait_id,
    status: 'queued',
  })
  assert.deepEqual(
    child.lastOf('wait_resolved').map(({ by }) => by),
    [{ kind: 'operator', message_id: 'msg_0003' }],
  )
  assert.equal(family.taskOf(child).asking, null)
  assert.equal(main.all('messages')[0]?.status, 'consumed', 'the question is not to be read')
  assert.equal(family.relay(child), 0)
  assert.deepEqual(family.violations(true), [])
})

test('§9 an item that nothing can wake is told about, and asked again if that changed nothing', () => {
  const { family, child } = handedOver()
  const id = makes(child)
  changes(child, id, { blocked_by: 'no key' })
  ask(child)
  answer(child)
  end(child)
  family.relay(child)
  assert.equal(family.taskOf(child).asking?.wait_id, null)
  const told = family.tell(child, 'Go on without.', 'call_1')
  assert.deepEqual(told, { ok: true, message_id: 'msg_0003', answered: false })
  assert.equal(child.row('messages', 'msg_0003').work_item_id, id)
  begin(child, 'message')
  family.relay(child)
  assert.equal(family.taskOf(child).asking, null)
  ask(child)
  answer(child)
  end(child)
  family.relay(child)
  assert.equal(family.taskOf(child).asking?.work_item_id, id)
})

test('§9 a word that nobody asked for is one more message, about nothing', () => {
  const { family, child } = handedOver()
  assert.deepEqual(family.tell(child, 'Also the titles.', 'call_1'), {
    ok: true,
    message_id: 'msg_0002',
    answered: false,
  })
  const { work_item_id, wait_id, status } = child.row('messages', 'msg_0002')
  assert.deepEqual([work_item_id, wait_id, status], [null, null, 'queued'])
})

test('§9 an answer to a question that is over resolves nothing, and not the one after it', () => {
  const { family, child, id, wait_id } = asked()
  child.do((d) => d.emit({ type: 'wait_cancelled', id: wait_id, by: 'agent', because: 'x' }))
  begin(child)
  ask(child)
  answer(child)
  waits(child, { work_item_id: id, wake: 'operator_input', reason: 'Delete them?' })
  const told = family.tell(child, 'Yes.', 'call_1')
  assert.equal(told.ok && told.answered, false)
  assert.equal(waitOf(child, id).reason, 'Delete them?')
  assert.equal(child.all('messages').at(-1)?.wait_id, null)
  family.relay(child)
  assert.equal(family.taskOf(child).asking?.text, 'Delete them?')
})

test('§9 an answer about an item that is completed meanwhile is about nothing', () => {
  const { family, child, id, wait_id } = asked()
  child.do((d) => d.emit({ type: 'wait_cancelled', id: wait_id, by: 'agent', because: 'x' }))
  begin(child)
  reports(child, id, 'There are 42 words.')
  family.tell(child, 'Yes.', 'call_1')
  assert.equal(child.all('messages').at(-1)?.work_item_id, null)
})

test('§9 the same word again is the same message, whatever became of the child', () => {
  const { family, child } = asked()
  const first = family.tell(child, 'All of them.', 'call_1')
  const size = family.size
  const again = { ...first, answered: false }
  assert.deepEqual(family.tell(child, 'All of them.', 'call_1'), again)
  assert.equal(family.size, size)
  family.stop(child)
  assert.deepEqual(family.tell(child, 'All of them.', 'call_1'), again)
})

/** Each is refused for its first reason, and leaves no event. */
const refused: [what: string, code: string, given: Partial<ChildInput>, (of: Asked) => void][] = [
  ['a task that ended', 'task_ended', { text: '' }, ({ family, child }) => family.stop(child)],
  ['a task being stopped', 'task_ended', {}, ({ family, child }) => family.beginStop(child)],
  ['no text', 'message_empty', { text: ' \n' }, ({ child }) => stops(child)],
  [
    'a text that is a book',
    'over_limit',
    { text: 'x'.repeat(limits.operator_text.value + 1) },
    ({ child }) => stops(child),
  ],
  ['a child that is stopped', 'agent_stopped', {}, ({ child }) => stops(child)],
]
type Asked = ReturnType<typeof asked>
const stops = (w: World) =>
  w.do((d) => d.emit({ type: 'agent_stopped', id: d.agent_id, by: 'runtime' }))

for (const [what, code, given, prepare] of refused) {
  test(`§9 ${what} is refused with ${code}`, () => {
    const of = asked()
    const { id } = of.family.taskOf(of.child)
    prepare(of)
    const { size } = of.family
    const told = of.family.both(of.main, of.child, (p, c) => tellChild(p, c, id, input(given)))
    assert.deepEqual([codeOf(told), of.family.size], [code, size])
  })
}

test('§9 a task that is not there, or of another agent, is not found', () => {
  const { family, main, child } = asked()
  const told = family.both(main, child, (p, c) =>
    tellChild(p, c, 'task_none', input({ earlier: 'msg_0001' })),
  )
  assert.equal(codeOf(told), 'task_not_found')
  const command = task(child)
  assert.equal(
    main.refused((d) => tellableTask(d, command.id)),
    'task_not_found',
  )
})

test('§9 the permission that another maker’s agent asks for is not its parent’s to give', () => {
  const family = new Family()
  const main = family.of('main')
  item(main, { focus: true })
  const child = family.spawn(main, { model: 'acp/other' })
  const id = makes(child)
  waits(child, { work_item_id: id, wake: 'operator_input', source: 'permission', reason: 'rm?' })
  family.relay(child)
  assert.equal(codeOf(family.tell(child, 'Yes.', 'call_1')), 'asks_operator')
  assert.equal(waitOf(child, id).status, 'active')
})
