/**
 * What a person sees of the context: the sections of a request, what broke a prefix, how
 * two requests differ, and the trace of an item, through the real command on a home at rest.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { RequestContext, TurnContext } from '../src/protocol/records/context-record.ts'
import { openBox, temporaryHome } from '../src/testing/host/host-fixture.ts'
import { holon } from './support/command-line.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { call, creates } from './support/scripts.ts'

/** A home in which an agent made an item and read a long file until it was compacted. */
async function worked(t: TestContext) {
  const places = temporaryHome(t)
  const long = 'a line of text, forty characters long...\n'.repeat(500)
  writeFileSync(join(places.workspace, 'long.txt'), long)
  const model = scriptedModel((request, n) => {
    if (n === 1) return creates('Read it all')
    const id = /work_[0-9a-f-]{4,36}/.exec(JSON.stringify(request.messages))?.[0] ?? ''
    if (n === 2) return calls('I take it up.', call('PickWorkItem', { work_item_id: id }))
    return n < 7 ? calls(call('ReadFile', { path: 'long.txt' })) : says('Read.')
  })
  const box = await openBox(t, { ...places, models: { default: model }, context_window: 32_000 })
  await box.makeAgent('test/reader')
  await box.host.open()
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Read it all.' })
  await box.until(
    (notice) =>
      notice.kind === 'committed' && notice.events.some(({ event }) => event.type === 'turn_ended'),
    'the end of the turn',
  )
  const rounds = await box.ledger.list('rounds', { limit: 100 })
  const [item] = await box.ledger.list('work_items', { limit: 1 })
  await box.close()
  const turn = rounds.filter((round) => round.turn_id === rounds[0]?.turn_id)
  const compacted = turn.find(({ recapped }) => recapped !== undefined)
  assert.ok(compacted && item)
  return { home: places.home, turn, compacted, item: item.id }
}

test('holon context shows, prices and compares requests', { timeout: 60_000 }, async (t) => {
  const { home, turn, compacted } = await worked(t)
  const { n, turn_id } = compacted
  const cost = JSON.parse(await holon(home, 'context', 'show', turn_id, '--json')) as TurnContext
  assert.deepEqual(
    cost.requests.map(({ broke }) => broke?.why ?? null),
    turn.map((round) =>
      round.recapped === undefined ? null : `rounds 1 to ${round.recapped} were recapped`,
    ),
  )
  const one = `${turn_id}:${n}`
  const shown = JSON.parse(await holon(home, 'context', 'show', one, '--json')) as RequestContext
  const form = (name: string) => shown.sections.find(({ section }) => section === name)?.form
  assert.deepEqual([form('tools'), form('recap'), form('rounds')], ['full', 'compact', 'full'])
  const lines = await holon(home, 'context', 'show', one)
  assert.match(lines, /^recap\t[\d,]+\tcompact\trounds 1 to \d+ went out of the request$/m)
  assert.match(await holon(home, 'context', 'show', turn_id), /new from \w+: rounds 1 to \d+ were/)
  assert.match(await holon(home, 'context', 'show', one, '--text'), /^== opening\n/m)
  const diff = await holon(home, 'context', 'show', one, '--diff', `${turn_id}:${n - 1}`)
  assert.match(diff, /^not the same: .*recap/)
  assert.match(diff, /^\+# Earlier rounds of this turn, recapped$/m)
  assert.match(diff, /^-== round 1$/m)
})

test('the trace of an item is its notes, then its turns', { timeout: 60_000 }, async (t) => {
  const { home, item } = await worked(t)
  const trace = await holon(home, 'work', 'show', item, '--trace')
  assert.match(trace, /^notes, oldest first\n {2}decision: reply "Read\."/)
  assert.match(trace, /turn_\w{4} .* 7 requests/)
  assert.match(trace, /^ {4}2 {2}I take it up\.$/m)
  assert.match(trace, /^ +\d {2}rounds 1 to \d were recapped$/m)
})
