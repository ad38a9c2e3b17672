/**
 * Outside events through the whole host: the capability URL of an agent, what a delivery does, what
 * a repetition gets, and what is left when the secret of the home is not what it was
 * (docs/spec/wait.md#deliveries).
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { limits } from '../src/domain/limits.ts'
import type { Ledger } from '../src/ledger/port.ts'
import type { ModelRequest } from '../src/models/model.ts'
import { temporaryHome } from '../src/testing/host/host-fixture.ts'
import { deadLetter, deliver, type OutsideDelivery } from '../src/testing/host/outside-events.ts'
import { calls, says, scriptedModel, type Scripted } from '../src/testing/scripted-model.ts'
import { virtualClock } from '../src/testing/virtual-clock.ts'
import { call, creates, picks, runs, waitsFor } from './support/scripts.ts'
import { agent, openStage, resultsOf, textOf, type Stage } from './support/stage.ts'

const base_url = 'http://127.0.0.1:7777'

/** An agent whose item `Deploy` is blocked and waits for build 7; more answers are the test's. */
async function waitingFor7(
  t: TestContext,
  ...then: (Scripted | ((request: ModelRequest) => Scripted))[]
) {
  const answers: ((request: ModelRequest) => Scripted)[] = [
    () => creates('Deploy'),
    () => picks(stage.id('Deploy')),
    () => calls(call('UpdateWorkItem', blocked(stage)), waitsFor('external', build7)),
  ]
  const model = scriptedModel((request, n) => {
    const answer = answers[n - 1] ?? then.shift() ?? says('Nothing more.')
    return typeof answer === 'function' ? answer(request) : answer
  })
  const stage: Stage = await openStage(t, { model, base_url })
  await stage.say('Deploy when build 7 is green.')
  return { stage, model }
}

const build7 = { source: 'ci', resource: 'build-7' }
const blocked = (stage: Stage) => ({
  work_item_id: stage.id('Deploy'),
  blocked_by: 'build 7 is not green',
})

async function ownTrigger(stage: Stage) {
  const [trigger] = await stage.rows('triggers')
  assert.ok(trigger, 'the agent has no trigger')
  return trigger
}

async function green(stage: Stage, more: Partial<OutsideDelivery> = {}): Promise<OutsideDelivery> {
  const { id } = await ownTrigger(stage)
  return {
    agent_id: agent,
    via: { kind: 'trigger', trigger_id: id },
    sender_id: 'run-1',
    source: 'ci',
    resource: 'build-7',
    summary: null,
    body: '{"state":"green"}',
    content_type: 'application/json',
    ...more,
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const tokenOf = (url: string | null): string => url?.split('/callbacks/')[1] ?? 'no url'

test('a delivery wakes the item that waits for it and clears no blocker', async (t) => {
  const { stage, model } = await waitingFor7(t, says('Build 7 is green; I look into it.'))
  const before = model.requests.length
  const reply = await deliver(stage.box.host, await green(stage))
  await stage.rest()

  const [delivery] = await stage.rows('deliveries')
  const wait = await stage.wait('Deploy')
  assert.deepEqual(reply, {
    ok: true,
    delivery_id: delivery?.id,
    message_id: delivery?.message_id,
    duplicate: false,
  })
  assert.equal(model.requests.length, before + 1)
  assert.match(textOf(model.requests.at(-1)), /\{"state":"green"\}/)
  assert.deepEqual([wait.status, wait.trigger_count], ['active', 1])
  assert.equal(stage.item('Deploy').blocked_by, 'build 7 is not green')
  const message = (await stage.rows('messages')).find(({ id }) => id === delivery?.message_id)
  assert.deepEqual(
    [message?.authority_class, message?.delivery_surface, message?.work_item_id],
    ['integration_signal', 'http_callback', stage.id('Deploy')],
  )
  assert.equal((await ownTrigger(stage)).delivered, 1)
  const body = await stage.box.ledger.blob(delivery?.body_sha256 ?? '')
  assert.equal(new TextDecoder().decode(body ?? new Uint8Array()), '{"state":"green"}')
  await stage.sound()
})

test('the same delivery again, also at once, is answered with the first', async (t) => {
  const { stage } = await waitingFor7(t)
  const delivery = await green(stage)
  const { host, ledger } = stage.box
  const replies = await Promise.all([delivery, delivery, delivery].map((one) => deliver(host, one)))
  await stage.rest()
  const seq = await ledger.lastGlobalSeq()
  replies.push(await deliver(host, { ...delivery, body: 'another body' }))

  const first = replies.find((reply) => reply.ok && !reply.duplicate)
  assert.ok(first?.ok)
  const repeated = { ...first, duplicate: true }
  assert.deepEqual(
    replies.filter((reply) => reply !== first),
    [repeated, repeated, repeated],
  )
  assert.equal(await ledger.lastGlobalSeq(), seq, 'a repetition stores nothing')
  assert.equal((await stage.wait('Deploy')).trigger_count, 1)

  await stage.clock.advance(limits.dedupe.value + 1)
  const late = await deliver(host, delivery)
  assert.ok(late.ok && !late.duplicate, 'after eight days it is another one')
})

test('senders without a source are told apart by the door they use', async (t) => {
  const { stage } = await waitingFor7(t)
  const made = await stage.act({ do: 'create_trigger', label: 'second' })
  const unnamed = await green(stage, { source: null, resource: null })
  const second = { kind: 'trigger', trigger_id: made.id ?? '' } as const
  const replies = [
    await deliver(stage.box.host, unnamed),
    await deliver(stage.box.host, { ...unnamed, via: second }),
    await deliver(stage.box.host, { ...unnamed, via: second }),
    await deliver(stage.box.host, unnamed),
  ]
  assert.deepEqual(
    replies.map((reply) => reply.ok && reply.duplicate),
    [false, false, true, true],
  )
})

test('the agent has its URL in its context and in the environment of its commands', async (t) => {
  const model = scriptedModel((_, n) =>
    n === 1 ? calls(runs('echo "url=$HOLON_TRIGGER_URL"')) : says('Seen.'),
  )
  const stage = await openStage(t, { model, base_url })
  await stage.say('What is your URL?')
  const url = stage.box.host.triggerUrl(await ownTrigger(stage))
  assert.ok(url)
  assert.match(url, /^http:\/\/127\.0\.0\.1:7777\/callbacks\/[\w-]{43}$/)
  assert.ok(textOf(model.requests[0]).includes(url), 'the context names the URL')
  assert.match(resultsOf(model.requests[1])[0]?.text ?? '', /url=http:.*callbacks/)

  const token = tokenOf(url)
  const { token_sha256 } = await ownTrigger(stage)
  assert.equal(token_sha256, sha256(token))
  const found = await stage.box.ledger.triggerByToken(sha256(token))
  assert.deepEqual([found?.agent_id, found?.label], [agent, 'default'])
  const round = (await stage.rows('rounds'))[0]
  const opening = await stage.box.ledger.blob(round?.opening_sha256 ?? '')
  assert.ok(opening && !new TextDecoder().decode(opening).includes(token), 'not in what is stored')
  assert.equal(statSync(join(stage.box.home, 'trigger-secret')).mode & 0o777, 0o600)
})

test('a turn that goes on after a restart reads the URL of now, of before where nobody listens', async (t) => {
  const elsewhere = 'http://127.0.0.1:7788'
  const read: (string | undefined)[] = []
  for (const now of [base_url, elsewhere, null]) {
    const places = temporaryHome(t)
    const clock = virtualClock()
    const model = scriptedModel(() => 'hang')
    const first = await openStage(t, { model, base_url, clock, ...places })
    await first.act({ do: 'send', text: 'Think long.' })
    await first.box.until((notice) => notice.kind === 'committed' && asked(notice.events))
    await first.box.close()
    const then = scriptedModel(() => says('Thought.'))
    const listens = now === null ? {} : { base_url: now }
    const again = await openStage(t, { model: then, clock, ...places, ...listens })
    const url = again.box.host.triggerUrl(await ownTrigger(again))
    const told = /^trigger: (.*)$/m.exec(then.requests[0]?.system ?? '')?.[1]
    if (now !== null) assert.equal(told, url)
    read.push(told?.split('/callbacks/')[0])
  }
  assert.deepEqual(read, [base_url, elsewhere, base_url])
})

const asked = (events: readonly { event: { type: string } }[]) =>
  events.some(({ event }) => event.type === 'request_sent')

test('without a listener there is no URL, and an external wait says so', async (t) => {
  const model = scriptedModel((_, n) =>
    n === 1 ? calls(waitsFor('external', build7)) : says('I wait.'),
  )
  const stage = await openStage(t, { model })
  await stage.say('Wait for build 7.')
  assert.equal(stage.box.host.triggerUrl(await ownTrigger(stage)), null)
  assert.doesNotMatch(textOf(model.requests[0]), /callbacks/)
  const results = (await stage.rows('calls')).map(({ result }) => JSON.stringify(result?.warnings))
  assert.match(results[0] ?? '', /no_listener/)
})

test('reset makes the old URL worthless at once, revoke every URL', async (t) => {
  const { stage } = await waitingFor7(t)
  const { host, ledger } = stage.box
  const own = await ownTrigger(stage)
  const old = host.triggerUrl(own)
  await stage.act({ do: 'reset_trigger', trigger_id: own.id })
  const fresh = host.triggerUrl(await ownTrigger(stage))
  assert.notEqual(fresh, old)
  assert.equal(await ledger.triggerByToken(sha256(tokenOf(old))), null)
  assert.equal((await ledger.triggerByToken(sha256(tokenOf(fresh))))?.id, own.id)

  const made = await stage.act({ do: 'create_trigger', label: 'ci', source: 'ci', resource: 'x' })
  const via = { kind: 'trigger', trigger_id: made.id ?? '' } as const
  const fixed = await deliver(host, await green(stage, { via, source: 'liar' }))
  assert.ok(fixed.ok)
  const delivery = (await stage.rows('deliveries')).at(-1)
  assert.deepEqual([delivery?.source, delivery?.resource], ['ci', 'x'])
  await stage.act({ do: 'revoke_trigger', trigger_id: via.trigger_id })
  const refused = await deliver(host, await green(stage, { via, sender_id: 'run-2' }))
  assert.deepEqual([refused.ok, !refused.ok && refused.code], [false, 'trigger_not_found'])
})

test('a wake hint is kept as evidence and shown to nobody', async (t) => {
  const { stage, model } = await waitingFor7(t)
  const made = await stage.act({
    do: 'create_trigger',
    label: 'hint',
    delivery_mode: 'wake_hint',
  })
  const via = { kind: 'trigger', trigger_id: made.id ?? '' } as const
  const hint = await green(stage, { via, body: 'the body of a hint' })
  const before = model.requests.length
  const reply = await deliver(stage.box.host, hint)
  await stage.rest()
  assert.ok(reply.ok)
  const message = await stage.box.ledger.row('messages', reply.message_id ?? '')
  assert.deepEqual([message?.status, message?.body], ['consumed', 'the body of a hint'])
  assert.equal(model.requests.length, before + 1, 'the item is reviewed')
  assert.doesNotMatch(textOf(model.requests.at(-1)), /the body of a hint/)
})

test('a dead letter is kept whole and makes a message when it is redelivered', async (t) => {
  const { stage, model } = await waitingFor7(t, says('Seen at last.'))
  const webhook = { kind: 'webhook', webhook: 'ci' } as const
  const dead = await green(stage, { via: webhook, body: '{"odd":1}' })
  const kept = await deadLetter(stage.box.host, dead, 'it has no resource')
  assert.ok(kept.ok)
  assert.equal(kept.message_id, null)
  const again = await stage.act({ do: 'redeliver', delivery_id: kept.delivery_id })
  await stage.rest()
  const [delivery] = await stage.rows('deliveries')
  assert.deepEqual(
    [delivery?.status, delivery?.reason, delivery?.message_id, delivery?.attempts],
    ['accepted', null, again.message_id, 2],
  )
  assert.match(textOf(model.requests.at(-1)), /\{"odd":1\}/)
  await stage.sound()
})

test('a dead letter that retention takes while it is redelivered was not there', async (t) => {
  const taking = { now: false }
  const over = (ledger: Ledger): Ledger => ({
    ...ledger,
    async commit(...changes) {
      const redelivers = changes.some(({ events }) =>
        events.some(({ event }) => event.type === 'delivery_redelivered'),
      )
      if (redelivers && taking.now) {
        taking.now = false
        await ledger.retain({ before: '2099-01-01T00:00:00.000Z', dry_run: false })
      }
      return ledger.commit(...changes)
    },
  })
  const stage = await openStage(t, { model: scriptedModel(() => says('Seen.')), base_url, over })
  const webhook = { kind: 'webhook', webhook: 'ci' } as const
  const dead = await green(stage, { via: webhook, body: '{"odd":1}' })
  const kept = await deadLetter(stage.box.host, { ...dead, sender_id: null }, 'it has no resource')
  assert.ok(kept.ok)
  await stage.say('Go on.')
  taking.now = true
  const again = await stage.try({ do: 'redeliver', delivery_id: kept.delivery_id })
  assert.deepEqual([again.ok, !again.ok && again.code], [false, 'delivery_not_found'])
  assert.deepEqual([taking.now, await stage.rows('deliveries')], [false, []])
  assert.deepEqual((await stage.box.ledger.verify()).problems, [])
})

/** Reads the file of older events that the request names. */
const readsEvents = (request: ModelRequest): Scripted => {
  const path = /\S+\/outputs\/\S+\.txt/.exec(textOf(request))?.[0] ?? 'no path'
  return calls(call('ReadFile', { path }))
}

test('of many events of one wait a turn shows its cause and the newest; a file has the others', async (t) => {
  const { stage, model } = await waitingFor7(t, readsEvents, says('I look into it.'))
  const before = model.requests.length
  await stage.does({ do: 'stop_agent' })
  const shown = limits.claimed_messages.value
  for (let n = 1; n <= shown + 3; n += 1) {
    const body = `{"run":${n}}`
    assert.ok(
      (await deliver(stage.box.host, await green(stage, { sender_id: `run-${n}`, body }))).ok,
    )
  }
  await stage.does({ do: 'start_agent' })

  assert.equal(model.requests.length, before + 2)
  const [turn] = (await stage.rows('turns')).toReversed()
  const events = (await stage.rows('messages')).filter(({ origin }) => origin === 'callback')
  assert.deepEqual(
    events.map(({ body, status, turn_id }) => [body, status, turn_id]),
    events.map((_, n) => [`{"run":${n + 1}}`, n > 0 && n < 4 ? 'coalesced' : 'consumed', turn?.id]),
  )
  const text = textOf(model.requests[before])
  const kept = resultsOf(model.requests.at(-1))[0]?.text ?? ''
  const runs = (of: string) => [...of.matchAll(/\{"run":(\d+)\}/g)].map(([, n]) => Number(n))
  assert.deepEqual(runs(kept), [2, 3, 4])
  const newest = Array.from({ length: shown - 1 }, (_, n) => n + 5)
  assert.deepEqual(
    runs(text).toSorted((a, b) => a - b),
    [1, ...newest],
  )
  assert.equal((await stage.wait('Deploy')).trigger_count, shown + 3)
  await stage.sound()
})

test('a stopped agent takes deliveries and starts nothing; a deleted one takes none', async (t) => {
  const { stage, model } = await waitingFor7(t)
  const { host } = stage.box
  await stage.does({ do: 'stop_agent' })
  const before = model.requests.length
  const reply = await deliver(host, await green(stage))
  await stage.rest()
  assert.ok(reply.ok)
  assert.equal((await stage.box.ledger.row('messages', reply.message_id ?? ''))?.status, 'queued')
  assert.equal(model.requests.length, before)

  const id = 'other'
  assert.ok((await host.act({ do: 'create_agent', agent_id: id, model: 'test/first' })).ok)
  const own = (await stage.rows('triggers')).find((trigger) => trigger.agent_id === id)
  const via = { kind: 'trigger', trigger_id: own?.id ?? '' } as const
  assert.ok((await deliver(host, await green(stage, { agent_id: id, via }))).ok)
  assert.ok((await host.act({ do: 'delete_agent', agent_id: id })).ok)
  const gone = await deliver(host, await green(stage, { agent_id: id, via, sender_id: 'run-9' }))
  assert.deepEqual([gone.ok, !gone.ok && gone.code], [false, 'agent_deleted'])
  assert.equal(host.facts(id), null)
})

test('a secret that others can read mints nothing and shows nothing', async (t) => {
  const places = temporaryHome(t)
  writeFileSync(join(places.home, 'trigger-secret'), `${'A'.repeat(43)}\n`, { mode: 0o644 })
  chmodSync(join(places.home, 'trigger-secret'), 0o644)
  const stage = await openStage(t, { model: scriptedModel(() => says('.')), base_url, ...places })
  assert.deepEqual(await stage.rows('triggers'), [])
  assert.match(stage.box.host.triggerProblem() ?? '', /can be read by others: chmod 600/)
  const refused = await stage.try({ do: 'create_trigger', label: 'x' })
  assert.deepEqual([refused.ok, !refused.ok && refused.code], [false, 'trigger_secret_missing'])
})

test('under another secret old URLs go on, and a reset makes one to show', async (t) => {
  const places = temporaryHome(t)
  const clock = virtualClock()
  const model = scriptedModel(() => says('.'))
  const first = await openStage(t, { model, base_url, clock, ...places })
  const own = await ownTrigger(first)
  const url = first.box.host.triggerUrl(own)
  await first.box.close()
  writeFileSync(join(places.home, 'trigger-secret'), `${'B'.repeat(43)}\n`, { mode: 0o600 })
  const stage = await openStage(t, { model, base_url, clock, ...places })
  assert.equal(stage.box.host.triggerUrl(await ownTrigger(stage)), null)
  assert.equal((await stage.box.ledger.triggerByToken(sha256(tokenOf(url))))?.id, own.id)
  await stage.act({ do: 'reset_trigger', trigger_id: own.id })
  assert.notEqual(stage.box.host.triggerUrl(await ownTrigger(stage)), null)
  const stored = readdirSync(places.home).sort()
  assert.deepEqual(stored.includes('room-check'), false)
  assert.equal(readFileSync(join(places.home, 'trigger-secret'), 'utf8').trim(), 'B'.repeat(43))
})

const signed = (agent_id: string, webhook: string, more: object = {}) => ({
  do: 'deliver' as const,
  agent_id,
  via: { kind: 'webhook' as const, webhook },
  source: webhook,
  sender_id: `sha256:${'a'.repeat(64)}`,
  body: '{}',
  ...more,
})

test('what was signed once is taken once, whichever agent and webhook it is sent to', async (t) => {
  const stage = await openStage(t, { model: scriptedModel(() => says('Seen.')) })
  const { host, ledger } = stage.box
  await host.ensureAgent({
    id: 'other',
    model: 'test/first',
    workspace: { mode: 'explicit_root', root: stage.box.workspace },
  })
  const both = [signed(agent, 'github'), signed('other', 'github')]
  const replies = await Promise.all(both.map((one) => host.act(one)))
  const again = { also_from: ['github'] }
  replies.push(await host.act(signed('other', 'hub', again)))
  replies.push(await host.act(signed(agent, 'hub', again)))
  replies.push(await host.act({ ...signed('other', 'hub', again), do: 'dead_letter', reason: 'x' }))
  const [first, ...rest] = replies
  assert.ok(first?.ok)
  const { id, message_id } = first
  for (const reply of rest) {
    assert.ok(reply.ok)
    const { warnings } = reply
    assert.deepEqual(
      [reply.id, reply.message_id, warnings.map(({ kind }) => kind)],
      [id, message_id, ['duplicate']],
    )
  }
  assert.equal((await ledger.list('deliveries', { limit: 10 })).length, 1)

  // Another sender, and what came by an address that anybody may know, are others.
  const stranger = await host.act(signed('other', 'gitlab'))
  assert.deepEqual(stranger.ok && stranger.warnings, [])
  await stage.clock.advance(limits.dedupe.value + 1)
  const late = await host.act(signed('other', 'github'))
  assert.deepEqual(late.ok && late.warnings, [])
})

test('an address that is a capability keeps nobody’s signed delivery out', async (t) => {
  const stage = await openStage(t, { model: scriptedModel(() => says('Seen.')), base_url })
  const { host } = stage.box
  await host.ensureAgent({
    id: 'other',
    model: 'test/first',
    workspace: { mode: 'explicit_root', root: stage.box.workspace },
  })
  const { sender_id } = signed(agent, 'github')
  const known = await deliver(host, await green(stage, { sender_id, source: 'github' }))
  assert.ok(known.ok && !known.duplicate)
  const reply = await host.act(signed('other', 'github'))
  assert.deepEqual(reply.ok && reply.warnings, [])
})
