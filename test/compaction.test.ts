/**
 * Long work against a model with a small window (docs/spec/context.md#compaction): what goes out of
 * a request is recapped, what is pinned stays byte for byte, no request is over its window, and
 * nearly all of each request is what was sent before.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { charTokens } from '../src/context/estimate.ts'
import { answerTokens, messageTokens } from '../src/context/opening/fits.ts'
import type { Table } from '../src/domain/state/event.ts'
import type { ModelRequest } from '../src/models/model.ts'
import { toolTokens } from '../src/runtime/turn/tool-specs.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { call, completes, picks } from './support/scripts.ts'
import { openStage, type Stage } from './support/stage.ts'

const window = 32_000
const most = window - answerTokens(window)

const tokensOf = ({ system, messages }: ModelRequest): number =>
  toolTokens() +
  charTokens(system) +
  messages.reduce((sum, message) => sum + messageTokens(message, charTokens), 0)

const openingOf = (request: ModelRequest | undefined): string => {
  const [first] = request?.messages ?? []
  assert.equal(first?.role, 'user')
  return first.content
}

/** The pinned lines of an opening, without what the operator said. */
const pinnedOf = (request: ModelRequest | undefined): string =>
  /^id: [\s\S]*?(?=^(?:state: |last changed: |what was said|<<|$))/m.exec(
    openingOf(request),
  )?.[0] ?? 'none'

/** Tokens of a request that stood at the start of the one before it. */
function shared(before: ModelRequest, request: ModelRequest): number {
  if (before.system !== request.system) return toolTokens()
  let tokens = toolTokens() + charTokens(request.system)
  for (const [at, message] of request.messages.entries()) {
    if (JSON.stringify(message) !== JSON.stringify(before.messages[at])) break
    tokens += messageTokens(message, charTokens)
  }
  return tokens
}

const tableOf: Readonly<Record<string, Table>> = {
  work: 'work_items',
  wait: 'waits',
  task: 'tasks',
  turn: 'turns',
  msg: 'messages',
  brief: 'briefs',
  call: 'calls',
}

/** Ids that the recaps name and no row has, but for one that the agent said itself. */
async function unknownIds(s: Stage, requests: readonly ModelRequest[]): Promise<string[]> {
  const recap = /^# Earlier rounds of this turn, recapped[\s\S]*?(?=^# Why this turn runs)/m
  const texts = new Set(requests.map((request) => recap.exec(openingOf(request))?.[0] ?? ''))
  const named = new RegExp(`\\b(?:${Object.keys(tableOf).join('|')})_[0-9a-f-]{4,}`, 'g')
  const ids = new Set([...texts].flatMap((text) => text.match(named) ?? []))
  assert.ok(ids.size > 0, 'no recap names an id')
  const unknown: string[] = []
  for (const id of ids) {
    if (id === lie) continue
    const table = tableOf[id.slice(0, id.indexOf('_'))]
    const whole = await s.box.ledger.idOfShort('main', id)
    if (!table || !whole || !(await s.box.ledger.row(table, whole))) unknown.push(id)
  }
  return unknown
}

const everyResultHasItsCall = ({ messages }: ModelRequest): boolean =>
  messages.every((message, at) => {
    if (message.role !== 'tool') return true
    const before = messages[at - 1]
    const asked = before?.role === 'assistant' ? before.parts : []
    return message.results.every(({ provider_call_id }) =>
      asked.some((p) => p.type === 'tool_call' && p.provider_call_id === provider_call_id),
    )
  })

const todos = [
  { text: 'Look', state: 'completed' },
  { text: 'Do it', state: 'in_progress' },
  { text: 'Check it', state: 'pending' },
]
const words = (n: number) => `Correction ${n}: keep the number ${n * 7919}.`
/** Requests of each turn of the item below. */
const answersOfTurn = 8
const lie = 'work_00000000-0000-7000-8000-000000000000'

test(
  'a turn of 400 rounds stays within a window of 32,000 tokens',
  { timeout: 300_000 },
  async (t) => {
    let item = ''
    const model = scriptedModel((request, n) => {
      if (n === 1)
        return calls(call('CreateWorkItem', { objective: 'The long way', plan: '# Plan\n' }))
      if (n === 2) {
        item = /work_[0-9a-f-]{4,36}/.exec(JSON.stringify(request.messages.slice(1)))?.[0] ?? ''
        return picks(item)
      }
      if (n === 3) return calls(call('UpdateWorkItem', { work_item_id: item, todo_list: todos }))
      if (n === 400) return completes(item, 'All of it is done. I checked it twice.')
      const path = n % 50 === 0 ? 'missing.txt' : n % 7 === 0 ? 'made.txt' : 'long.txt'
      const said = `Step ${n}, as ${lie} says.`
      if (path !== 'made.txt') return calls(said, call('ReadFile', { path }))
      return calls(said, call('EditFile', { path: `made-${n}.txt`, new_text: `${n}\n` }))
    })
    const s = await openStage(t, { model, context_window: window })
    writeFileSync(
      join(s.box.workspace, 'long.txt'),
      'a line of text, forty characters long...\n'.repeat(40),
    )
    await s.act({ do: 'send', text: 'Do the long work.' })
    while (model.requests.length < 100) await s.clock.advance(0)
    await s.act({ do: 'send', text: 'Never touch the schema.', priority: 'interject' })
    await s.rest()
    const { requests } = model
    const turns = await s.rows('turns')
    assert.deepEqual(
      [requests.length, turns.map(({ outcome, reason }) => [outcome, reason])],
      [400, [['completed', 'work_item_completed']]],
    )
    assert.ok(Math.max(...requests.map(tokensOf)) <= most)
    assert.ok(requests.every(everyResultHasItsCall))

    const rounds = await s.rows('rounds')
    const compacted = rounds.flatMap(({ n, recapped }) => (recapped === undefined ? [] : [n]))
    assert.ok(compacted.length >= 5, `${compacted.length} compactions`)
    const openings = compacted.map((n) => requests[n - 1])
    const pinned = new Set(openings.map(pinnedOf))
    assert.equal(pinned.size, 1, 'the pinned block changed')
    assert.match([...pinned][0] ?? '', /^objective: The long way$[\s\S]*^\[>\] Do it$/m)
    for (const request of openings) assert.match(openingOf(request), /^Do the long work\.$/m)
    for (const request of requests.slice(110)) {
      assert.match(JSON.stringify(request.messages), /Never touch the schema\./)
    }
    assert.deepEqual(
      await unknownIds(
        s,
        openings.filter((one) => one !== undefined),
      ),
      [],
    )
    assert.ok(openingOf(openings.at(-1)).includes(`as ${lie} says.`), 'own words stay as they were')
    assert.match(openingOf(openings.at(-1)), /made-\d+\.txt \(EditFile \+1 −0 in round \d+\)/)
    assert.match(openingOf(openings.at(-1)), /round 350, ReadFile: .*not_found/)

    const pairs = requests.slice(1).map((request, at) => {
      const before = requests[at]
      return { kept: before ? shared(before, request) : 0, all: tokensOf(request) }
    })
    const sum = (of: 'kept' | 'all') => pairs.reduce((total, pair) => total + pair[of], 0)
    const share = sum('kept') / sum('all')
    assert.ok(share >= 0.9, `${(share * 100).toFixed(1)} % were sent before`)
    t.diagnostic(`${compacted.length} compactions, ${(share * 100).toFixed(1)} % sent before`)
    const sent = rounds.map((round) => round.sent)
    const broken = sent.flatMap((one, at) =>
      at > 0 && one?.prefix_hash !== sent[at - 1]?.hash ? [at + 1] : [],
    )
    assert.deepEqual(
      broken,
      compacted,
      'the prefix breaks where it was compacted, and nowhere else',
    )
    await s.sound()
  },
)

test(
  'an item of 50 turns with 50 compactions keeps what is pinned',
  { timeout: 300_000 },
  async (t) => {
    let item = ''
    let turn = 0
    let step = 0
    const model = scriptedModel((request) => {
      step += 1
      if (turn === 0) {
        if (step === 1)
          return calls(call('CreateWorkItem', { objective: 'Fifty turns', plan: '# P\n' }))
        item = /work_[0-9a-f-]{4,36}/.exec(JSON.stringify(request.messages.slice(1)))?.[0] ?? ''
        const wait = { work_item_id: item, wake: 'external', source: 'ci', reason: 'the build' }
        if (step === 2) {
          const given = { work_item_id: item, todo_list: todos, blocked_by: 'The build is red.' }
          return calls(call('UpdateWorkItem', given))
        }
        return step === 3 ? calls(call('WaitFor', wait)) : says('I wait.')
      }
      return step <= 7
        ? calls(`Again ${step}.`, call('ReadFile', { path: 'big.txt' }))
        : says(`Turn ${turn}.`)
    })
    const s = await openStage(t, { model, context_window: window })
    writeFileSync(
      join(s.box.workspace, 'big.txt'),
      'a line of text, forty characters long...\n'.repeat(500),
    )
    await s.say('Begin the fifty turns.')
    const first = model.requests.length
    const work_item_id = (await s.box.ledger.idOfShort('main', item)) ?? item
    for (turn = 1; turn <= 50; turn += 1) {
      step = 0
      await s.say(words(turn), { work_item_id })
    }
    const requests = model.requests.slice(first)
    const rounds = (await s.rows('rounds')).slice(first)
    const compactions = rounds.filter(({ recapped }) => recapped !== undefined).length
    assert.ok(compactions >= 50, `${compactions} compactions`)
    assert.ok(Math.max(...requests.map(tokensOf)) <= most)
    const pinned = [...new Set(requests.map(pinnedOf))]
    assert.equal(pinned.length, 1, pinned.join('\n---\n'))
    for (const line of [
      'Fifty turns',
      '[>] Do it',
      'blocked by: "The build',
      ' external, "the build"',
    ]) {
      assert.ok(pinned[0]?.includes(line), line)
    }
    const lost = requests.flatMap((request, at) => {
      const text = JSON.stringify(request.messages)
      const said = Array.from({ length: Math.floor(at / answersOfTurn) + 1 }, (_, i) =>
        words(i + 1),
      )
      return said.filter((one) => !text.includes(one)).map((one) => `request ${at}: ${one}`)
    })
    assert.deepEqual(lost.slice(0, 5), [])
    assert.deepEqual(
      await unknownIds(
        s,
        requests.filter((_, at) => rounds[at]?.recapped),
      ),
      [],
    )
    await s.sound()
  },
)
