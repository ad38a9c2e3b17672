/**
 * What whole requests look like, under snapshot, as the host sends them: each shape a turn can
 * have, with ids, times and marks by their first appearance, so that only a change of shape shows.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ModelMessage } from '../src/ports/model-message.ts'
import type { ModelRequest } from '../src/models/model.ts'
import { openBox, temporaryHome } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { virtualClock } from '../src/testing/virtual-clock.ts'
import { Killer } from './support/killer.ts'
import { requestSnapshot as snapshot } from './support/request-text.ts'
import { onA, waiting } from './support/scene.ts'
import { call, creates, runs } from './support/scripts.ts'
import { minute, type Stage } from './support/stage.ts'

const titles = /^# .*$/gm

const placesOf = (s: Stage) => [s.box.home, s.box.workspace]

test('request shape: a fresh turn, and the same after tools', async (t) => {
  const s = await onA(
    t,
    (s) => {
      const todo_list = [{ text: 'Look', state: 'in_progress' }]
      return calls('Let us see.', call('UpdateWorkItem', { work_item_id: s.id('A'), todo_list }))
    },
    waiting('operator_input'),
  )
  await s.say('Begin with A.')
  snapshot(t, s.model.requests[0], ...placesOf(s))
  const last = s.model.requests.at(-1)
  assert.deepEqual(last?.messages[0], s.model.requests[0]?.messages[0])
  snapshot(t, last, ...placesOf(s))
})

test('every request of an agent has the cache key of that agent, in whatever turn', async (t) => {
  const s = await onA(t, waiting('operator_input'), waiting('operator_input'))
  await s.say('Begin with A.')
  await s.say('And again.')
  assert.equal((await s.rows('turns')).length, 2)
  const keys = new Set(s.model.requests.map(({ cache_key }) => cache_key))
  assert.ok(s.model.requests.length > 1)
  assert.equal(keys.size, 1)
  assert.match([...keys][0] ?? '', /^holon-[0-9a-f]{16}$/)
})

test('request shape: the review of a triggered wait', async (t) => {
  const s = await onA(t, waiting('external', { source: 'ci', resource: 'build' }), () =>
    says('Not yet.'),
  )
  await s.say('Wait for the build.')
  const [wait] = await s.rows('waits')
  const given = { wait_id: wait?.id ?? '', delivery_id: 'd1' }
  await s.does({ do: 'trigger', ...given, body: '{"state":"red"}' })
  snapshot(t, s.model.requests.at(-1), ...placesOf(s))
})

test('request shape: a wait was resolved', async (t) => {
  const s = await onA(t, waiting('timer', { wait_ms: minute }), () => says('It fired.'))
  await s.say('Wait a minute.')
  await s.passOn()
  snapshot(t, s.model.requests.at(-1), ...placesOf(s))
})

test('request shape: the follow-up of a completion without a report', async (t) => {
  const s = await onA(
    t,
    (s) => calls(call('CompleteWorkItem', { work_item_id: s.id('A') })),
    () => says('A is done: looked at twice.'),
  )
  await s.say('Do A.')
  snapshot(t, s.model.requests.at(-1), ...placesOf(s))
})

test('request shape: before and after a compaction', async (t) => {
  const places = temporaryHome(t)
  writeFileSync(
    join(places.workspace, 'long.txt'),
    'a line of text, forty characters long...\n'.repeat(500),
  )
  const model = scriptedModel((_, n) =>
    n === 1
      ? creates('A')
      : n <= 5
        ? calls(`Again ${n}.`, call('ReadFile', { path: 'long.txt' }))
        : says('Enough.'),
  )
  const box = await openBox(t, {
    ...places,
    models: { default: model },
    clock: virtualClock(),
    context_window: 32_000,
  })
  await box.makeAgent('test/reader')
  await box.host.open()
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Read it all.' })
  await box.until((notice) => notice.kind === 'resting' && box.notices.some(ended), 'the end')
  const rounds = await box.ledger.list('rounds', { limit: 20 })
  const at = rounds.findIndex(({ recapped }) => recapped !== undefined)
  assert.ok(at > 0, 'it was compacted')
  const headings = (request: ModelRequest | undefined) =>
    JSON.parse(JSON.stringify(request?.messages[0])).content.match(titles)
  const added = headings(model.requests[at]).filter(
    (title: string) => !headings(model.requests[at - 1]).includes(title),
  )
  assert.deepEqual(added, [
    '# Other work items',
    '# Earlier rounds of this turn, recapped',
    '# Input this turn began with',
  ])
  const cut = (request: ModelRequest | undefined): ModelRequest | undefined =>
    request && { ...request, messages: request.messages.map(shortResults) }
  snapshot(t, cut(model.requests[at - 1]), places.home, places.workspace)
  snapshot(t, cut(model.requests[at]), places.home, places.workspace)
})

const ended = (notice: { kind: string; events?: readonly { event: { type: string } }[] }) =>
  notice.kind === 'committed' &&
  (notice.events ?? []).some(({ event }) => event.type === 'turn_ended')

/** What was read is long and the same each time. */
const shortResults = (message: ModelMessage): ModelMessage =>
  message.role === 'tool'
    ? {
        ...message,
        results: message.results.map((r) => ({
          ...r,
          text: r.text.replace(/(?:^.*forty characters.*\n)+/gm, '(lines)\n'),
        })),
      }
    : message

test('request shape: after a crash', async (t) => {
  const places = temporaryHome(t)
  const model = () =>
    scriptedModel((request) =>
      request.messages.length < 3 ? calls('First.', runs('echo one')) : says('After it.'),
    )
  const run = async (killer: Killer) => {
    const used = model()
    const box = await openBox(t, {
      ...places,
      models: { default: used },
      clock: virtualClock(),
      ...killer.seams,
    })
    await box.makeAgent('test/any')
    const asked = await box.ledger.list('messages', { limit: 1 })
    if (asked.length === 0) await box.host.act({ do: 'send', agent_id: 'main', text: 'Go.' })
    await box.host.open()
    const dying = (error: unknown) => {
      if (!killer.dead) throw error
    }
    await box
      .until((notice) => notice.kind === 'resting' && box.notices.some(ended), 'the end')
      .catch(dying)
    await box.close().catch(dying)
    return used
  }
  // The second effect is the command: killed when it has run and nobody wrote that down.
  await run(new Killer({ kind: 'effect', n: 2, when: 'after' }))
  const recovered = await run(new Killer(null))
  snapshot(t, recovered.requests[0], places.home, places.workspace)
})

test('request shape: the first request of a forked child', async (t) => {
  const parent = scriptedModel((request, n) => {
    const id = /work_[0-9a-f-]{4,36}/.exec(JSON.stringify(request.messages.slice(1)))?.[0] ?? ''
    if (n === 1) return creates('The whole')
    if (n === 2) return calls(call('PickWorkItem', { work_item_id: id }))
    const initial_message = 'Count the words.'
    return n === 3
      ? calls(call('SpawnAgent', { initial_message, model: 'a/child', context: 'fork' }))
      : calls(call('WaitFor', { wake: 'operator_input', reason: 'what next' }))
  })
  const child = scriptedModel(() => says('There are 42 words.'))
  const box = await openBox(t, {
    models: { 'a/parent': parent, 'a/child': child },
  })
  await box.makeAgent('a/parent')
  await box.host.open()
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Do the whole.' })
  await box.until(
    (notice) => ended(notice) && notice.kind === 'committed' && notice.agent_id === 'main.1',
    'the turn of the child',
  )
  snapshot(t, child.requests[0], box.home, box.workspace)
})
