import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  isMeantBy,
  partsOfId,
  shortTail,
  tailsOf,
  withShortIds,
  type ShortKind,
} from './short-id.ts'

const id = (end: string, kind: ShortKind = 'work') =>
  `${kind}_01a204c3-f203-7535-8f6b-${end.padStart(12, '0')}`

/** The short forms of ids that are minted one after the other. */
function minted(ids: readonly string[]): Map<string, string> {
  const short = new Map<string, string>()
  for (const one of ids) {
    const isTaken = (tail: string) => [...short.values()].includes(tail)
    short.set(one, shortTail(one, isTaken))
  }
  return short
}

test('a short form is the shortest tail that no earlier id has', () => {
  const ids = ['17f3a', '27f3a', '127f3a', '41b4', '7f3a', '227f3a'].map((end) => id(end))
  assert.deepEqual(
    [...minted(ids).values()],
    ['7f3a', '27f3a', '127f3a', '41b4', '07f3a', '227f3a'],
  )
})

test('whatever ids are minted, a short form never changes and means its id', () => {
  // Few digits, so that ends meet.
  const digits = fc.array(fc.constantFrom('0', '1', 'a'), { minLength: 12, maxLength: 12 })
  const ends = fc.uniqueArray(
    digits.map((all) => all.join('')),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(ends, (all) => {
      const ids = all.map((end) => id(end))
      const last = minted(ids)
      assert.equal(new Set(last.values()).size, ids.length)
      for (const [n, one] of ids.entries()) {
        const tail = last.get(one) ?? ''
        assert.equal(minted(ids.slice(0, n + 1)).get(one), tail)
        assert.ok(one.endsWith(tail) && tail.length >= 4)
        const before = new Set(ids.slice(0, n).map((other) => last.get(other)))
        const shorter = tailsOf(one).filter((other) => other.length < tail.length)
        assert.ok(shorter.every((other) => before.has(other)))
        const meant = ids.filter((other) => last.get(other) === tail)
        assert.deepEqual(meant, [one])
      }
    }),
  )
})

test('the tails of an id begin with four characters and end with all', () => {
  const tails = tailsOf(id('7f3a'))
  assert.deepEqual([tails.length, tails[0], tails.at(-1)], [33, '7f3a', id('7f3a').slice(5)])
  assert.deepEqual(tailsOf('work_1'), ['1'])
  assert.equal(partsOfId('sched_7f3a'), null)
  assert.equal(partsOfId('7f3a'), null)
})

test('a person means an id by any beginning or end of it, of four characters or more', () => {
  const one = id('7f3a')
  const means = [one, 'work_01a2', 'work_01a204c3', 'work_7f3a', '7f3a', 'b-000000007f3a', '01a2']
  assert.deepEqual(
    means.filter((text) => !isMeantBy(one, text)),
    [],
  )
  const not = [
    'work_f3a',
    'f3a',
    'work_',
    '',
    'wait_7f3a',
    'wait_01a2',
    '1a20',
    'work_7f3b',
    'work',
  ]
  assert.deepEqual(
    not.filter((text) => isMeantBy(one, text)),
    [],
  )
})

test('ids in a text of ours are shown short, alone or as the name of a record', () => {
  const short = (whole: string) => `${whole.slice(0, whole.indexOf('_'))}_${whole.slice(-4)}`
  const [one, two] = [id('7f3a'), id('41b4', 'task')]
  const texts: [string, string][] = [
    [`${one} is in focus, for ${two}.`, 'work_7f3a is in focus, for task_41b4.'],
    [`MemoryGet ${one}/plan, ${two}/stdout`, 'MemoryGet work_7f3a/plan, task_41b4/stdout'],
    [`[${id('aaaa', 'turn')}/3]`, '[turn_aaaa/3]'],
  ]
  for (const [text, shown] of texts) assert.equal(withShortIds(text, short), shown)
  // A step of a path, a name of a file or of something else, an id of another kind.
  const kept = [
    `/h/tasks/${two}/stdout`,
    `${two}/output.txt`,
    `${one}.md`,
    `my${one}`,
    `${one}-old`,
    `sched_${one.slice(5)}`,
    'work_7f3a',
  ]
  for (const text of kept) assert.equal(withShortIds(text, short), text)
})
