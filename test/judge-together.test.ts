// Group testing of mistakes (scripts/judge-together.mjs), with tests that are functions of which
// changes stand in the copy.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'

type Change = { name: string; file: string; edits: { from: number; to: number }[] }
/** Says by what a test is red with these changes, or null. */
type Red = (path: string, some: Change[]) => Promise<string | null>
type JudgeTogether = {
  overlaps: (a: Change, b: Change) => boolean
  judgeTogether: (
    changes: Change[],
    by: {
      tests: string[]
      copies: Red[]
      besideOf: (change: Change) => string
      nearest: (path: string, some: Change[]) => Change[]
    },
    tell: {
      found: (change: Change, by: string) => void
      passed: (path: string) => void
      unjudged: (path: string, why: string) => void
    },
  ) => Promise<void>
}
const root = join(import.meta.dirname, '..')
const { judgeTogether, overlaps } = (await import(
  join(root, 'scripts', 'judge-together.mjs')
)) as JudgeTogether

const change = (name: string, from = 0, to = 1): Change => ({
  name,
  file: `src/${name}.ts`,
  edits: [{ from, to }],
})

/** What was told, by tests that are red where the names of what stands in the copy say so. */
async function judged(
  names: string,
  byTest: Record<string, (names: string) => boolean>,
  nearest = (_: string, some: Change[]) => some,
) {
  const told: string[] = []
  let runs = 0
  const red: Red = (path, some) => {
    runs++
    const isRed = byTest[path]?.(some.map(({ name }) => name).join('')) ?? false
    return Promise.resolve(isRed ? `${path} says so` : null)
  }
  await judgeTogether(
    names.split('').map((name) => change(name)),
    {
      tests: Object.keys(byTest),
      copies: [red],
      besideOf: ({ file }) => file.replace(/\.ts$/, '.test.ts'),
      nearest,
    },
    {
      found: ({ name }, by) => told.push(`${name}: ${by}`),
      passed: (path) => told.push(`${path} passed`),
      unjudged: (path, why) => told.push(`${path}: ${why}`),
    },
  )
  return { told, runs }
}

test('a change is found by the one test that is red with it, the others survive', async () => {
  const { told, runs } = await judged('abcdefgh', {
    'test/one.test.ts': (names) => names.includes('f'),
    'test/two.test.ts': () => false,
  })
  assert.deepEqual(told, [
    'f: test/one.test.ts says so',
    'test/one.test.ts passed',
    'test/two.test.ts passed',
  ])
  // With all, three halves, alone twice and without; once more with what is left; the second test.
  assert.equal(runs, 9)
})

test('two changes that one test finds are both found', async () => {
  const { told } = await judged('abcd', {
    'test/one.test.ts': (names) => names.includes('a') || names.includes('d'),
  })
  assert.deepEqual(told, [
    'a: test/one.test.ts says so',
    'd: test/one.test.ts says so',
    'test/one.test.ts passed',
  ])
})

test('the test beside a file judges its change before all together are judged', async () => {
  const { told } = await judged('ab', { 'src/b.test.ts': (names) => names.includes('b') })
  assert.deepEqual(told, ['b: src/b.test.ts says so', 'src/b.test.ts passed'])
})

test('a test is run on what it can notice, and not at all where that is nothing', async () => {
  const { told, runs } = await judged(
    'abcd',
    { 'test/one.test.ts': () => true, 'test/two.test.ts': (names) => names.includes('c') },
    (path, some) => (path.includes('one') ? [] : some.toReversed()),
  )
  assert.deepEqual(told, [
    'test/one.test.ts passed',
    'c: test/two.test.ts says so',
    'test/two.test.ts passed',
  ])
  assert.equal(runs, 7)
})

test('changes that are red only together are not found, and the test is no judge', async () => {
  const { told } = await judged('abcd', {
    'test/one.test.ts': (names) => names.includes('b') && names.includes('d'),
  })
  assert.deepEqual(told, [
    'test/one.test.ts: it is red with several changes and with none of them alone',
  ])
})

test('a change is found although two others are red only together', async () => {
  const { told } = await judged('abcd', {
    'test/one.test.ts': (names) => (names.includes('b') && names.includes('d')) || names === 'c',
  })
  assert.deepEqual(told, [
    'c: test/one.test.ts says so',
    'test/one.test.ts: it is red with several changes and with none of them alone',
  ])
})

test('a test that is red without any change finds nothing', async () => {
  const { told } = await judged('abcd', { 'test/one.test.ts': () => true })
  assert.deepEqual(told, ['test/one.test.ts: it is red without any change'])
})

test('a test that is red now and then finds nothing', async () => {
  let runs = 0
  const { told } = await judged('ab', { 'test/one.test.ts': () => runs++ === 0 })
  assert.deepEqual(told, ['test/one.test.ts passed'])
})

test('changes of the same characters overlap, others of the same file do not', () => {
  assert.equal(overlaps(change('a', 3, 5), change('a', 4, 9)), true)
  assert.equal(overlaps(change('a', 3, 5), change('a', 5, 9)), true)
  assert.equal(overlaps(change('a', 3, 5), change('a', 6, 9)), false)
  assert.equal(overlaps(change('a', 3, 5), change('b', 3, 5)), false)
})
