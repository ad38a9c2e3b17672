/** The operator's acts as they are decided: items, answers, receipts, entries put away. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, T0, wait, waitOf, World } from '../../testing/world/agent-world.ts'
import { begin, turn } from '../../testing/world/turns.ts'
import { does, prepared, refusal, whole, type Bare } from '../../testing/world/operator-inputs.ts'
import { AgentFacts } from '../facts/agent-facts.ts'
import { boundHash } from '../work/answer-question.ts'
import { Draft } from '../facts/facts.ts'
import { queuedWords } from '../state/message.ts'
import { isSnoozed, fingerprint } from '../state/snooze.ts'
import { operate, rowsNeeded } from './decide.ts'
import { day, hour, plus } from '../time.ts'
import { isRejection } from '../rejection.ts'

test('the operator makes an item with the same rules as the agent', () => {
  const w = new World()
  const reply = does(w, { do: 'create_item', objective: ' Ship it ', plan_status: 'ready' })
  assert.deepEqual([reply.id, reply.said], ['work_made', 'work_made is created.'])
  const { objective, plan_status, blocked_by } = w.row('work_items', 'work_made')
  assert.deepEqual([objective, plan_status, blocked_by], ['Ship it', 'ready', null])
  assert.equal(w.row('agents', 'main').current_work_item_id, null)
  assert.equal(refusal(w, { do: 'create_item', objective: ' ' }), 'objective_empty')
})

test('an item that is made blocked is made and blocked in one commit, or not at all', () => {
  const w = new World()
  const create = { do: 'create_item', objective: 'x' } as const
  assert.equal(refusal(w, { ...create, blocked_by: ' ' }), 'blocker_empty')
  assert.deepEqual(w.all('work_items'), [])
  const { warnings } = does(w, { ...create, blocked_by: 'the key is missing' })
  assert.deepEqual(w.row('work_items', 'work_made').blocked_by, 'the key is missing')
  assert.deepEqual(
    warnings.map(({ kind }) => kind),
    ['no_wake'],
  )
})

test('a change that was meant for another revision is refused', () => {
  const w = new World()
  const work_item_id = item(w)
  const change = { do: 'update_item', work_item_id, objective: 'Other' } as const
  does(w, { ...change, expected_revision: 1 })
  const late = { ...change, objective: 'Mine', expected_revision: 1 }
  assert.equal(refusal(w, late), 'revision_stale')
  assert.equal(does(w, { ...late, expected_revision: 2 }).said, `${work_item_id} is changed.`)
  assert.equal(does(w, { ...change, objective: 'Mine' }).said, `${work_item_id} was so already.`)
})

test('pick is refused while a turn is open, and says when nothing moved', () => {
  const w = new World()
  const work_item_id = item(w)
  assert.equal(does(w, { do: 'pick', work_item_id }).said, `${work_item_id} is in focus.`)
  const again = does(w, { do: 'pick', work_item_id })
  assert.equal(again.said, `${work_item_id} was in focus already.`)
  begin(w)
  assert.equal(refusal(w, { do: 'pick', work_item_id }), 'turn_running')
})

test('words say when they are read where a turn is open: by its next request, or after it', () => {
  const w = new World()
  const said = (act: Partial<Extract<Bare, { do: 'send' }>>) =>
    does(w, { do: 'send', text: 'Make it blue.', ...act }).said.replace(/msg_\w+/, 'msg_1')
  assert.equal(said({}), 'Accepted as msg_1.')
  begin(w)
  assert.equal(said({}), 'Accepted as msg_1; it is read after the open turn, by the next.')
  const now = 'Accepted as msg_1; the next request of the open turn shows it.'
  assert.equal(said({ priority: 'interject' }), now)
  const queued = w.all('messages').map((message) => queuedWords(message))
  assert.deepEqual(queued.slice(-2), ['queued for the next turn', 'queued for the next request'])
})

/** An item that waits for the operator, and the answer to its question. */
function asked() {
  const w = new World()
  const id = item(w)
  wait(w, {
    work_item_id: id,
    wake: 'operator_input',
    reason: 'the colour',
    question: {
      text: 'Which colour?',
      choices: [
        { key: 'r', label: 'red' },
        { key: 'b', label: 'blue' },
      ],
      settles: null,
    },
  })
  const question = waitOf(w, id)
  const answer = { do: 'answer', wait_id: question.id, bound_hash: boundHash(question) } as const
  return { w, id, question, answer }
}

test('an answer ends the question it was given to', () => {
  const { w, question, answer } = asked()
  const reply = does(w, { ...answer, choice: 'red', surface: 'http_control' })
  assert.deepEqual(reply.resolved, [question.id])
  const { body, wait_id, admission_context } = w.row('messages', reply.message_id ?? '')
  assert.deepEqual(
    [body, wait_id, admission_context],
    ['red', question.id, 'control_authenticated'],
  )
})

test('the second answer loses, and learns who was faster, from where and when', () => {
  const { w, question, answer } = asked()
  does(w.pass(1000), { ...answer, text: 'red', surface: 'http_control' })
  const lost = (given = {}) =>
    w.try((d) => operate(d, prepared(w, { ...answer, text: 'blue' }, given)))
  const expected = `${question.id} was answered through the control API at ${w.now}, in msg_0001.`
  const first = lost()
  assert.deepEqual(isRejection(first) && [first.code, first.message], [
    'already_answered',
    expected,
  ])
  // When nothing carries the first answer any more, its message is handed in.
  turn(w, { rule: 'message' })
  w.reload().facts.include('waits', w.row('waits', question.id))
  const later = lost({ answered_by: w.row('messages', 'msg_0001') })
  assert.deepEqual(isRejection(later) && later.message, expected)
  const unknown = lost()
  const settled = `${question.id} was settled at ${plus(T0, 1000)}, not by an answer to it.`
  assert.deepEqual(isRejection(unknown) && unknown.message, settled)
})

const misses: [what: string, code: string, (o: ReturnType<typeof asked>) => Bare][] = [
  [
    'to other words',
    'question_changed',
    ({ answer }) => ({ ...answer, bound_hash: '0', text: 'x' }),
  ],
  [
    'of no choice that was offered',
    'choice_unknown',
    ({ answer }) => ({ ...answer, choice: 'green' }),
  ],
  ['of nothing', 'answer_wants_one', ({ answer }) => answer],
  ['of two things', 'answer_wants_one', ({ answer }) => ({ ...answer, text: 'a', choice: 'b' })],
  ['of no words', 'message_empty', ({ answer }) => ({ ...answer, text: ' ' })],
  ['to no wait', 'wait_not_found', ({ answer }) => ({ ...answer, wait_id: 'wait_9', text: 'x' })],
  [
    'to a question that was cancelled',
    'wait_not_active',
    ({ w, answer }) => {
      does(w, { do: 'cancel_wait', wait_id: answer.wait_id })
      return { ...answer, text: 'x' }
    },
  ],
  [
    'to a wait that asks nobody',
    'not_a_question',
    ({ w, answer }) => {
      const { id } = wait(w, { work_item_id: item(w), source: 'ci' }).wait
      return { ...answer, wait_id: id, text: 'x' }
    },
  ],
  [
    'to a stopped agent',
    'agent_stopped',
    ({ w, answer }) => {
      does(w, { do: 'stop_agent' })
      return { ...answer, text: 'x' }
    },
  ],
]
for (const [what, code, of] of misses) {
  test(`an answer ${what} is refused with ${code}`, () => {
    const o = asked()
    const act = of(o)
    assert.equal(refusal(o.w, act), code)
  })
}

test('a stopped agent is started by an answer that says so', () => {
  const { w, answer } = asked()
  does(w, { do: 'stop_agent' })
  does(w, { ...answer, text: 'red', start: true })
  assert.equal(w.row('agents', 'main').state, 'active')
})

const receipt = { id: 'rcpt_1', request_sha256: 'aa' }
const create = { do: 'create_trigger', label: 'ci', receipt } as const

test('an act with a receipt is carried out once, and answered alike', () => {
  const w = new World()
  const first = does(w, create)
  assert.deepEqual(
    w.last.map(({ type }) => type),
    ['trigger_created', 'receipt_kept'],
  )
  w.facts.include('receipts', w.row('receipts', 'rcpt_1'))
  const again = does(w, create)
  assert.deepEqual([w.last, again], [[], first])
  assert.deepEqual(w.row('receipts', 'rcpt_1'), {
    id: 'rcpt_1',
    agent_id: 'main',
    request_sha256: 'aa',
    reply: first,
    created_at: T0,
  })
})

test('a receipt is not for another request, and not for ever', () => {
  const w = new World()
  does(w, create)
  w.facts.include('receipts', w.row('receipts', 'rcpt_1'))
  const other = { ...create, receipt: { ...receipt, request_sha256: 'bb' } }
  assert.equal(refusal(w, other), 'idempotency_mismatch')
  w.pass(day)
  assert.equal(does(w, other).id, 'trig_0002')
  assert.equal(w.row('receipts', 'rcpt_1').request_sha256, 'bb')
})

test('a refused act keeps no receipt: what was wrong may be put right under the same key', () => {
  const w = new World()
  assert.equal(refusal(w, { ...create, label: '' }), 'label_invalid')
  assert.deepEqual(w.all('receipts'), [])
})

test('an entry that was put away stands there again when it changes, or in time', () => {
  const w = new World()
  const entry = { kind: 'question', text: 'Red or blue?', since: T0 }
  const put = { attention_id: 'wait_1', fingerprint: fingerprint(entry) }
  const hidden = (changed: Partial<typeof entry> = {}) =>
    isSnoozed(w.facts.row('snoozes', 'wait_1'), { ...entry, ...changed }, w.now)
  assert.equal(hidden(), false)
  does(w, { do: 'snooze', ...put, until: plus(T0, hour) })
  const shown = [hidden(), hidden({ text: 'Green?' }), hidden({ kind: 'blocked' })]
  assert.deepEqual(shown, [true, false, false])
  w.pass(hour)
  assert.equal(hidden(), false)
  does(w, { do: 'dismiss', ...put })
  w.pass(day).reload()
  assert.deepEqual([hidden(), hidden({ since: w.now })], [true, false])
})

const untils: [until: string, code: string][] = [
  ['soon', 'time_invalid'],
  [T0, 'time_invalid'],
  [plus(T0, 367 * day), 'time_too_far'],
]
for (const [until, code] of untils) {
  test(`an entry is not put away until ${until}: ${code}`, () => {
    const put = { do: 'snooze', attention_id: 'a', fingerprint: 'f', until } as const
    assert.equal(refusal(new World(), put), code)
  })
}

test('an act on an agent that is not there is refused', () => {
  const w = new World()
  const d = new Draft(new AgentFacts('none'), { now: w.now, mint: w.mint })
  const told = operate(d, { do: 'stop_agent', agent_id: 'none' })
  assert.equal(isRejection(told) && told.code, 'agent_not_found')
  assert.deepEqual(d.emitted, [])
})

test('the rows an act needs are those it names', () => {
  const w = new World()
  const rows = rowsNeeded({
    ...whole(w, { do: 'send', text: 'x', work_item_id: 'work_1', wait_id: 'wait_1' }),
    receipt,
  })
  assert.deepEqual(rows, [
    ['receipts', 'rcpt_1'],
    ['work_items', 'work_1'],
    ['waits', 'wait_1'],
  ])
  const via = { kind: 'trigger', trigger_id: 'trig_1' } as const
  assert.deepEqual(rowsNeeded(whole(w, { do: 'deliver', via, body: '' })), [['triggers', 'trig_1']])
  assert.deepEqual(rowsNeeded(whole(w, { do: 'redeliver', delivery_id: 'dlv_1' })), [
    ['deliveries', 'dlv_1'],
  ])
})
