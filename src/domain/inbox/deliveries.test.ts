import assert from 'node:assert/strict'
import { test } from 'node:test'
import { begin, end, turn } from '../../testing/world/turns.ts'
import { item, wait, waitOf, World } from '../../testing/world/agent-world.ts'
import { does, refusal, type Bare } from '../../testing/world/operator-inputs.ts'
import { deliveryKey } from './deliveries.ts'
import { admitEvent } from './admit.ts'
import type { TriggerId } from '../ids.ts'
import { violations } from '../invariants/of-an-agent.ts'
import { updateItem } from '../work/create-and-update.ts'
import { limits } from '../limits.ts'
import { callbackEvent, webhookEvent } from '../state/provenance.ts'
import { minute, plus } from '../time.ts'
import type { DeliveryMode } from '../state/wait.ts'
import { messageAdmitted } from '../../testing/events.ts'

/** A trigger of the operator, and a delivery through it. */
function opened(fixed: { source?: string; resource?: string; delivery_mode?: DeliveryMode } = {}) {
  const w = new World()
  const trigger_id = does(w, { do: 'create_trigger', label: 'ci', ...fixed }).id as TriggerId
  const through = (body = 'green', more: Partial<Extract<Bare, { do: 'deliver' }>> = {}): Bare => ({
    do: 'deliver',
    via: { kind: 'trigger', trigger_id },
    body,
    ...more,
  })
  return { w, trigger_id, through }
}

test('a delivery, its message, its trigger’s count and the waits it meets are one commit', () => {
  const { w, trigger_id, through } = opened()
  const id = item(w)
  wait(w, { work_item_id: id, source: 'ci' })
  const more = {
    source: 'ci',
    sender_id: 'run-7',
    summary: 'main is\n green',
    content_type: 'text/plain',
  }
  const reply = does(w, through('{"ok":true}', more), { body_sha256: 'ab12' })
  assert.deepEqual(
    w.last.map(({ type }) => type),
    ['message_admitted', 'wait_triggered', 'delivery_accepted', 'trigger_delivered'],
  )
  assert.deepEqual(reply, {
    ok: true,
    message_id: 'msg_0001',
    resolved: [],
    triggered: [waitOf(w, id).id],
    id: 'dlv_0001',
    said: `Delivered as msg_0001; ${waitOf(w, id).id} is triggered.`,
    warnings: [],
  })
  assert.deepEqual(w.row('deliveries', 'dlv_0001'), {
    id: 'dlv_0001',
    agent_id: 'main',
    via: { kind: 'trigger', trigger_id },
    sender_id: 'run-7',
    source: 'ci',
    resource: null,
    summary: 'main is green',
    body_sha256: 'ab12',
    content_type: 'text/plain',
    status: 'accepted',
    reason: null,
    message_id: 'msg_0001',
    attempts: 1,
    received_at: w.now,
  })
  const { delivered, last_delivered_at } = w.row('triggers', trigger_id)
  assert.deepEqual([delivered, last_delivered_at], [1, w.now])
  const { body, kind, work_item_id, dedupe_key } = w.row('messages', 'msg_0001')
  assert.deepEqual(
    { body, kind, work_item_id, dedupe_key },
    {
      body: 'main is green\n\n{"ok":true}',
      kind: callbackEvent.kind,
      work_item_id: id,
      dedupe_key: 'ci\nrun-7',
    },
  )
  assert.deepEqual(violations(w.whole(), w.events), [])
})

test('what an operator fixed at a trigger wins over what a delivery names', () => {
  const { w, through } = opened({ source: 'ci', resource: 'main' })
  does(w, through('x', { source: 'forged', resource: 'other' }))
  const { source, resource } = w.row('deliveries', 'dlv_0001')
  assert.deepEqual({ source, resource }, { source: 'ci', resource: 'main' })
})

// The mode of the trigger, that of the wait it meets (null: none), what becomes of the message.
const modes: [DeliveryMode | undefined, DeliveryMode | null, 'queued' | 'consumed'][] = [
  [undefined, 'enqueue_message', 'queued'],
  [undefined, 'wake_hint', 'consumed'],
  [undefined, null, 'queued'],
  ['enqueue_message', 'wake_hint', 'queued'],
  ['wake_hint', 'enqueue_message', 'consumed'],
  ['wake_hint', null, 'consumed'],
]
for (const [fixed, ofWait, status] of modes) {
  test(`a trigger of mode ${fixed} meets a wait of mode ${ofWait}: ${status}`, () => {
    const { w, through } = opened(fixed === undefined ? {} : { delivery_mode: fixed })
    if (ofWait !== null) wait(w, { work_item_id: item(w), delivery_mode: ofWait })
    const reply = does(w, through())
    assert.equal(w.row('messages', reply.message_id ?? '').status, status)
    assert.equal(reply.triggered.length, ofWait === null ? 0 : 1)
  })
}

/** A hint through the trigger: what its sender is told, and what the agent will be. */
function hinted() {
  const { w, through } = opened({ delivery_mode: 'wake_hint' })
  const hint = (source: string) => does(w, through('the body', { source, resource: 'main' }))
  const told = () =>
    w
      .all('messages')
      .flatMap(({ priority, body, came, status }) =>
        priority === 'background' ? [[body, came, status]] : [],
      )
  return { w, hint, told }
}

test('a hint that meets no wait is told when nothing else is to do, and its body is not', () => {
  const { w, hint, told } = hinted()
  const { message_id } = hint('ci')
  const { status, body } = w.row('messages', message_id ?? '')
  assert.deepEqual([status, body], ['consumed', 'the body'])
  assert.deepEqual(told(), [['A hint of ci, main came and met no wait.', 1, 'queued']])
  const id = item(w, { focus: true })
  assert.equal(begin(w, 'continue_current').work_item_id, id)
  end(w)
  w.do((d) => updateItem(d, { work_item_id: id, by: 'agent', blocked_by: 'a while' }))
  begin(w, 'message')
})

test('hints of one source and resource are told once an hour and counted, and none is lost', () => {
  const { w, hint, told } = hinted()
  for (const source of ['ci', 'mail', 'ci', 'ci']) hint(source)
  const [ci, mail] = [
    'A hint of ci, main came and met no wait.',
    'A hint of mail, main came and met no wait.',
  ]
  assert.deepEqual(told(), [
    [ci, 3, 'queued'],
    [mail, 1, 'queued'],
  ])
  turn(w, { rule: 'message' })
  const [first] = w.all('messages').filter(({ priority }) => priority === 'background')
  assert.ok(first)
  for (const pause of [minute, minute]) {
    w.facts.include('messages', w.row('messages', first.id))
    w.pass(pause)
    hint('ci')
  }
  assert.deepEqual(told().slice(2), [[ci, 2, 'queued']])
  const next = w.next()
  const due_at = plus(first.created_at, limits.hint_pause.value)
  assert.deepEqual([next.do, next.do === 'sleep' && next.until], ['sleep', due_at])
  assert.deepEqual(violations(w.facts), [])
  turn(w.pass(58 * minute), { rule: 'message' })
  assert.equal(w.next().do, 'sleep')
})

test('a hint that came before its wait is made meets it once', () => {
  const { w, hint } = hinted()
  const id = item(w, { focus: true })
  begin(w)
  hint('ci')
  wait(w, { work_item_id: id, source: 'ci', resource: 'main' })
  assert.equal(waitOf(w, id).trigger_count, 1)
})

test('a webhook delivers with the provenance of a verified signature', () => {
  const w = new World()
  does(w, {
    do: 'deliver',
    via: { kind: 'webhook', webhook: 'github' },
    body: '{}',
    source: 'github',
  })
  const { kind, origin, admission_context } = w.row('messages', 'msg_0001')
  assert.deepEqual(
    [kind, origin, admission_context],
    [webhookEvent.kind, webhookEvent.origin, webhookEvent.admission_context],
  )
})

test('the same delivery again is answered with the first and stores nothing', () => {
  const { w, through } = opened()
  const first = does(w, through('a', { sender_id: 'x1' }))
  // The log is not among the live facts: who looked it up puts the row there.
  w.facts.include('deliveries', w.row('deliveries', 'dlv_0001'))
  const told = does(w, through('a', { sender_id: 'x1' }), { earlier_delivery: 'dlv_0001' })
  assert.deepEqual(w.last, [])
  assert.deepEqual([told.id, told.message_id], [first.id, first.message_id])
  assert.deepEqual(
    told.warnings.map(({ kind }) => kind),
    ['duplicate'],
  )
})

test('a repetition mends a delivery that was dead', () => {
  const { w, through } = opened()
  const via = { kind: 'webhook', webhook: 'ci' } as const
  does(w, { do: 'dead_letter', via, body: '<', sender_id: 'x1', reason: 'not JSON' })
  assert.deepEqual(
    w.row('deliveries', 'dlv_0001').status + ': ' + w.row('deliveries', 'dlv_0001').reason,
    'dead: not JSON',
  )
  w.facts.include('deliveries', w.row('deliveries', 'dlv_0001'))
  const reply = does(w, { ...through('now'), via, sender_id: 'x1' } as Bare, {
    earlier_delivery: 'dlv_0001',
  })
  const { status, reason, message_id, attempts } = w.row('deliveries', 'dlv_0001')
  assert.deepEqual(
    { status, reason, message_id, attempts },
    { status: 'accepted', reason: null, message_id: reply.message_id, attempts: 2 },
  )
  assert.deepEqual(violations(w.whole(), w.events), [])
})

test('a redelivery makes a new message of the kept body, and says when there is none', () => {
  const { w, through } = opened()
  does(w, through('first'), { body_sha256: 'aa' })
  w.facts.include('deliveries', w.row('deliveries', 'dlv_0001'))
  const redeliver = { do: 'redeliver', delivery_id: 'dlv_0001' } as const
  assert.equal(refusal(w, redeliver), 'delivery_body_missing')
  w.facts.include('deliveries', w.row('deliveries', 'dlv_0001'))
  const reply = does(w, redeliver, { body: 'first' })
  assert.equal(w.row('messages', reply.message_id ?? '').body, 'first')
  assert.equal(w.row('deliveries', 'dlv_0001').message_id, reply.message_id)
  assert.equal(refusal(w, { do: 'redeliver', delivery_id: 'dlv_9' }), 'delivery_not_found')
})

test('a dead letter is delivered again with what the mended mapping says', () => {
  const w = new World()
  const via = { kind: 'webhook', webhook: 'hook' } as const
  does(w, { do: 'dead_letter', via, body: '{}', source: 'hook', reason: 'no /id' })
  const { id: waiting } = wait(w, { work_item_id: item(w), source: 'hook', resource: 'pr 7' }).wait
  w.facts.include('deliveries', w.row('deliveries', 'dlv_0001'))
  const again = {
    do: 'redeliver',
    delivery_id: 'dlv_0001',
    resource: 'pr 7',
    summary: 'opened',
  } as const
  assert.deepEqual(does(w, again, { body: '{}' }).triggered, [waiting])
  const { source, resource, summary, status, attempts } = w.row('deliveries', 'dlv_0001')
  assert.deepEqual(
    { source, resource, summary, status, attempts },
    { source: 'hook', resource: 'pr 7', summary: 'opened', status: 'accepted', attempts: 2 },
  )
})

// Each row is a delivery that is refused, and leaves nothing.
const refused: [what: string, code: string, (o: ReturnType<typeof opened>) => Bare][] = [
  [
    'a trigger that is not there',
    'trigger_not_found',
    ({ through }) => ({ ...through(), via: { kind: 'trigger', trigger_id: 'trig_9' } }) as Bare,
  ],
  [
    'a revoked trigger',
    'trigger_not_found',
    ({ w, trigger_id, through }) => {
      does(w, { do: 'revoke_trigger', trigger_id })
      return through()
    },
  ],
  [
    'a body over the limit',
    'over_limit',
    ({ through }) => through('x'.repeat(limits.delivery_body.value + 1)),
  ],
  [
    'a source over the limit',
    'over_limit',
    ({ through }) => through('x', { source: 'x'.repeat(501) }),
  ],
  [
    'a full queue',
    'queue_full',
    ({ w, through }) => {
      w.do((d) => {
        for (let n = 0; n < limits.queued_events.value; n++) {
          const event = { provenance: callbackEvent, priority: 'normal' } as const
          d.emit(messageAdmitted({ id: d.mint('msg'), ...event }))
        }
      })
      return through()
    },
  ],
]
for (const [what, code, of] of refused) {
  test(`${what} is refused with ${code}`, () => {
    const o = opened()
    const act = of(o)
    assert.equal(refusal(o.w, act), code)
    assert.deepEqual(o.w.all('deliveries'), [])
  })
}

test('of a long body the agent reads the beginning, and is told where the rest is', () => {
  const { w, through } = opened()
  const body = 'ä'.repeat(limits.delivery_text.value)
  does(w, through(body, { summary: 's'.repeat(400) }))
  const { body: read } = w.row('messages', 'msg_0001')
  const tail = `\n\n(Cut here. The body has ${2 * body.length} bytes; dlv_0001 keeps it whole.)`
  assert.ok(read.startsWith(`${'s'.repeat(299)}…\n\nää`))
  assert.ok(read.endsWith(`ä${tail}`))
  const bytes = new TextEncoder().encode(read).length
  assert.ok(
    bytes <= limits.delivery_text.value && bytes > limits.delivery_text.value - 4,
    `${bytes}`,
  )
})

const keys: [Parameters<typeof deliveryKey>[0], string | null][] = [
  [{ via: { kind: 'webhook', webhook: 'gh' }, sender_id: null, source: 'a' }, null],
  [{ via: { kind: 'webhook', webhook: 'gh' }, sender_id: '1', source: 'a' }, 'a\n1'],
  [{ via: { kind: 'trigger', trigger_id: 'trig_1' }, sender_id: '1', source: 'a' }, 'a\n1'],
  [{ via: { kind: 'trigger', trigger_id: 'trig_1' }, sender_id: '1', source: null }, 'trig_1\n1'],
  [{ via: { kind: 'webhook', webhook: 'gh' }, sender_id: '1', source: null }, 'gh\n1'],
]
for (const [received, key] of keys) {
  const from = `${received.source ?? received.via.kind}, ${received.sender_id}`
  test(`deliveries are told apart by source and sender’s id: ${from}`, () => {
    assert.equal(deliveryKey(received), key)
  })
}

test('a delivery for an agent that is stopped is admitted and waits', () => {
  const { w, through } = opened()
  does(w, { do: 'stop_agent' })
  does(w, through())
  assert.equal(w.row('messages', 'msg_0001').status, 'queued')
  assert.equal(w.next().do, 'stop')
})

test('an event by hand with a delivery id seen before is answered with the first', () => {
  const w = new World()
  const first = w.do((d) =>
    admitEvent(d, {
      provenance: callbackEvent,
      source: null,
      resource: null,
      body: 'x',
      dedupe_key: '\n1',
      wait_id: null,
    }),
  )
  const again = does(
    w,
    { do: 'trigger', body: 'x', delivery_id: '1' },
    { earlier_message: first.message_id },
  )
  assert.deepEqual([w.last, again.message_id], [[], first.message_id])
})
