/**
 * Compaction where something goes wrong or is not as estimated: an opening that cannot be
 * stored, a provider that counts more, one that refuses the length, and a round too long for any.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { LedgerFault, type Ledger } from '../src/ledger/port.ts'
import { calls, fails, says, scriptedModel, type Script } from '../src/testing/scripted-model.ts'
import { call } from './support/scripts.ts'
import { openStage, type StageOptions } from './support/stage.ts'

/** A stage whose model reads about 1,100 tokens at each call, and never the same lines twice. */
async function reading(t: TestContext, script: Script, more: Partial<StageOptions> = {}) {
  const model = scriptedModel(script)
  const s = await openStage(t, { model, context_window: 32_000, ...more })
  const text = 'a line of text, forty characters long...\n'.repeat(100)
  writeFileSync(join(s.box.workspace, 'file.txt'), text.repeat(2))
  writeFileSync(join(s.box.workspace, 'long.txt'), text.repeat(5))
  return Object.assign(s, { model })
}

const reads = (path = 'file.txt', offset = 1) =>
  calls(call('ReadFile', { path, offset, limit: 100 }))
const isRecap = (text: string): boolean => text.includes('recap of rounds 1 to')

test('an opening that cannot be stored leaves the one before it in use', async (t) => {
  let refused = 0
  const over = (ledger: Ledger): Ledger => ({
    ...ledger,
    commit(change, ...more) {
      const texts = (change.blobs ?? []).map(({ bytes }) => new TextDecoder().decode(bytes))
      if (refused > 0 || !texts.some(isRecap)) return ledger.commit(change, ...more)
      refused += 1
      return Promise.reject(new LedgerFault('io', 'The disk did not answer.', 'later'))
    },
  })
  const s = await reading(t, (_, n) => (n < 30 ? reads('file.txt', n) : says('Enough.')), { over })
  await s.say('Read.')
  const rounds = await s.rows('rounds')
  const at = rounds.findIndex(({ recapped }) => recapped !== undefined)
  assert.equal(refused, 1)
  const [tried, made] = [rounds[at - 1]?.sent, rounds[at]?.sent]
  assert.ok((tried?.estimated ?? 0) > 32_000 * 0.85, 'the one before was due')
  assert.equal(tried?.prefix_hash, rounds[at - 2]?.sent?.hash, 'it only went on')
  assert.ok((made?.estimated ?? 0) < 32_000 * 0.6)
  await s.sound()
})

test('what the provider counts settles the estimate, and a later turn knows it', async (t) => {
  const s = await reading(t, (request, n) => {
    const estimated = JSON.stringify([request.tools, request.system, request.messages]).length / 4
    const round = n % 20 === 0 ? says('Enough for now.') : reads('file.txt', n)
    return { ...round, usage: { ...round.usage, input_tokens: Math.round(estimated * 1.5) } }
  })
  await s.say('Read.')
  const first = await s.rows('rounds')
  const factors = first.map(({ sent }) => sent?.factor ?? 0)
  assert.equal(factors[0], 1)
  assert.ok(
    factors.slice(1).every((factor) => factor > 1.3 && factor < 1.8),
    factors.join(' '),
  )
  const counted = first.map(({ usage }) => usage?.input_tokens ?? 0)
  assert.ok(Math.max(...counted.slice(1)) <= 32_000 * 0.9, Math.max(...counted).toString())
  assert.ok(first.some(({ recapped }) => recapped !== undefined))
  await s.say('And again.')
  const again = (await s.rows('rounds')).slice(first.length)
  assert.ok((again[0]?.sent?.factor ?? 0) > 1.3, 'the first request of a turn knows it')
  await s.sound()
})

test('a request that the provider finds too long is compacted and sent again', async (t) => {
  let refusals = 0
  const s = await reading(t, (request, n) => {
    if (n === 1) return reads('long.txt')
    const text = JSON.stringify(request.messages)
    if (text.length > 40_000) {
      refusals += 1
      return fails({ kind: 'refused', code: 'context_length' })
    }
    return isRecap(text) ? says('Enough.') : reads('long.txt')
  })
  await s.say('Read.')
  assert.equal(refusals, 1)
  assert.deepEqual(
    (await s.rows('turns')).map(({ outcome, reason }) => [outcome, reason]),
    [['completed', null]],
  )
  await s.sound()
})

test('a newest round too long for the window ends the turn, context_limit', async (t) => {
  const read = call('ReadFile', { path: 'long.txt' })
  const s = await reading(t, (_, n) => {
    if (n < 3) return reads()
    return n === 3 ? calls(...Array.from({ length: 8 }, () => read)) : says('Enough.')
  })
  await s.say('Read.')
  const turns = await s.rows('turns')
  assert.deepEqual([turns[0]?.outcome, turns[0]?.reason], ['completed', 'context_limit'])
  assert.equal(s.model.requests.length, 3)
  await s.sound()
})
