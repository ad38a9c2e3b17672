import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cursorOf, idInCursor, pageBefore } from './page.ts'
import { listQuery, nearest, noQuery, wordsOf } from './query.ts'

const messages = (result: { error?: { issues: readonly { message: string }[] } }) =>
  result.error?.issues.map(({ message }) => message)

test('a parameter that does not exist is refused, naming the nearest one that does', () => {
  const query = listQuery({})
  assert.deepEqual(messages(query.safeParse({ limt: '3' })), [
    'there is no parameter "limt"; did you mean "limit"?',
  ])
  assert.deepEqual(messages(query.safeParse({ zzzzzzzz: '3' })), [
    'there is no parameter "zzzzzzzz"; there are: "limit", "cursor", "before"',
  ])
  assert.deepEqual(messages(noQuery.safeParse({ a: '1' })), [
    'there is no parameter "a"; this route takes none',
  ])
})

test('a limit is a whole number from 1 to 200, and 50 when none is given', () => {
  const read = (limit?: string) => listQuery({}).safeParse(limit === undefined ? {} : { limit })
  assert.equal(read().data?.limit, 50)
  assert.equal(read('200').data?.limit, 200)
  for (const wrong of ['0', '201', '-1', '1.5', '1e2', ' 5', '', '0x10']) {
    assert.equal(read(wrong).success, false, wrong)
  }
})

test('words of a list are taken once each; another is refused with the nearest', () => {
  const by = wordsOf(['agent', 'item', 'day'])
  assert.deepEqual(by.parse('day,agent,day'), ['day', 'agent'])
  assert.deepEqual(messages(by.safeParse('agent,dey')), [
    '"dey" is not one of them; did you mean day?',
  ])
  assert.equal(by.safeParse('').success, false)
})

test('the nearest name takes the fewest edits, and none is better than a far one', () => {
  for (const [word, expected] of [
    ['cursr', 'cursor'],
    ['BEFORE', 'before'],
    ['limits', 'limit'],
    ['filter', null],
    ['', null],
    // Half of its letters is near enough, one more is not; each letter counts, the last one too.
    ['befxyz', 'before'],
    ['bexxyz', null],
    ['limxy', 'limit'],
    ['limxyz', null],
    ['xxmit', 'limit'],
    ['xxxit', null],
    [`limit${'t'.repeat(60)}`, null],
  ] as const) {
    assert.equal(nearest(word, ['limit', 'cursor', 'before']), expected, word)
  }
})

test('of two names that are as near the first is meant, and a word is looked at from its start', () => {
  assert.equal(nearest('cat', ['bat', 'rat']), 'bat')
  assert.equal(nearest('cat', ['rat', 'cats', 'bat']), 'rat')
  assert.equal(nearest('cat', ['bats', 'cot', 'cat']), 'cat')
  const long = 'n'.repeat(60)
  assert.equal(nearest(`${long}${'x'.repeat(60)}`, [long]), long)
})

test('a cursor is of one list, and anything else is none', () => {
  const cursor = cursorOf('turns', 'turn_0001')
  assert.match(cursor, /^[\w-]+$/)
  assert.equal(idInCursor('turns', cursor), 'turn_0001')
  for (const wrong of [cursor.slice(1), '', 'x', 'bnVsbA', cursorOf('waits', 'wait_0001')]) {
    assert.equal(idInCursor('turns', wrong), null, wrong)
  }
})

const made = (n: number) => ({ id: `work_${n}`, created_at: `2026-01-01T00:00:0${n >> 1}.000Z` })

test('pages in memory meet, also where the entry they met at is gone', () => {
  const all = [1, 2, 3, 4, 5, 6].map(made)
  const ids = (list: readonly { id: string }[], place: number | null, limit: number) => {
    const page = pageBefore(
      'work_items',
      list as typeof all,
      place === null ? null : made(place),
      limit,
    )
    const { next_cursor } = page
    // It leads on from the oldest that is shown.
    const oldest = next_cursor === null ? null : (page.entries[0]?.id ?? null)
    assert.equal(next_cursor === null ? null : idInCursor('work_items', next_cursor), oldest)
    return [
      ...page.entries.map(({ id }) => id.slice(5)),
      page.next_cursor === null ? '.' : '+',
    ].join('')
  }
  const without = (n: number) => all.filter(({ id }) => id !== `work_${n}`)
  for (const [list, place, limit, expected] of [
    [all, null, 2, '56+'],
    [all, 5, 2, '34+'],
    [all, 3, 2, '12.'],
    [all, 1, 2, '.'],
    [all, null, 6, '123456.'],
    [without(5), 5, 2, '34+'],
    [without(3), 3, 9, '12.'],
    [without(6), 6, 9, '12345.'],
    [[], null, 2, '.'],
    [[], 3, 2, '.'],
  ] as const) {
    assert.equal(ids(list, place, limit), expected, `before ${place}, ${limit}`)
  }
})
