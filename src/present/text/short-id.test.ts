import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ShortIds } from './short-id.ts'

const uuid = (end: string) => `01a2053f-c541-7ad8-891e-${end.padStart(12, '0')}`
const nouns = 'msg turn call work wait task brief dec evt deleg trig dlv sched'.split(' ')

test('an id of each noun is its prefix and its last four characters', () => {
  const ids = new ShortIds()
  assert.deepEqual(
    nouns.map((noun) => ids.short(`${noun}_${uuid('76ce00b6')}`)),
    nouns.map((noun) => `${noun}_00b6`),
  )
  assert.equal(ids.short(`rcpt_${'ab'.repeat(32)}`), 'rcpt_abab')
})

test('of two that end alike both are longer, from the moment both are known', () => {
  const ids = new ShortIds()
  const [one, other] = [`work_${uuid('a1100b6')}`, `work_${uuid('b2100b6')}`]
  assert.equal(ids.short(one), 'work_00b6')
  ids.know([other])
  assert.deepEqual([ids.short(one), ids.short(other)], ['work_1100b6', 'work_2100b6'])
})

test('what is no id stays whole: the name of an agent, an id with more behind it', () => {
  const ids = new ShortIds()
  const turn = `turn_${uuid('76ce00b6')}`
  for (const text of ['review', 'review.1', 'my_long_name', '', 'work_', `${turn}:1`]) {
    assert.equal(ids.short(text), text)
  }
  assert.equal(ids.within(`${turn}:1 of review_12345`), 'turn_00b6:1 of review_12345')
})
