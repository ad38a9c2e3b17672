// What is kept of a change for a person: kind, counts and hunks of each file, within one limit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../domain/limits.ts'
import { diffsOf } from './file-diff.ts'

test('a file is added, changed or deleted, with its lines counted and its hunks kept', async () => {
  const files = [
    { path: '/w/src/a.ts', before: 'a\nb\nc\n', after: 'a\nB\nc\nd\n' },
    { path: '/w/new.ts', before: null, after: 'one\ntwo' },
    { path: '/elsewhere/old.ts', before: 'x\n', after: null },
    { path: '/w/same.ts', before: 'same\n', after: 'same\n' },
    { path: '/w/..dots', before: null, after: '' },
  ]
  assert.deepEqual(await diffsOf(files, '/w'), [
    {
      kind: 'changed',
      path: '/w/src/a.ts',
      name: 'src/a.ts',
      added: 2,
      removed: 1,
      text: '@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n',
      cut_lines: 0,
    },
    {
      kind: 'added',
      path: '/w/new.ts',
      name: 'new.ts',
      added: 2,
      removed: 0,
      text: '@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n',
      cut_lines: 0,
    },
    {
      kind: 'deleted',
      path: '/elsewhere/old.ts',
      name: '/elsewhere/old.ts',
      added: 0,
      removed: 1,
      text: '@@ -1,1 +0,0 @@\n-x\n',
      cut_lines: 0,
    },
    {
      kind: 'added',
      path: '/w/..dots',
      name: '..dots',
      added: 0,
      removed: 0,
      text: '',
      cut_lines: 0,
    },
  ])
})

test('all diffs of a call share one limit; what is beyond it is counted', async () => {
  const long = 'a line of text, forty characters long...\n'.repeat(400)
  const files = ['/w/a', '/w/b', '/w/c'].map((path) => ({ path, before: null, after: long }))
  const diffs = await diffsOf(files, '/w')
  const kept = diffs.reduce((sum, { text }) => sum + text.length, 0)
  assert.ok(kept <= limits.diff.value && kept > limits.diff.value - 50, `${kept} characters`)
  const seen = diffs.map(({ added, text, cut_lines }) => ({
    added,
    lines: text.split('\n').length - 1 + cut_lines,
    cut: cut_lines > 0,
  }))
  assert.deepEqual(seen, [
    { added: 400, lines: 401, cut: false },
    { added: 400, lines: 401, cut: true },
    { added: 400, lines: 401, cut: true },
  ])
})

test('a file with more differences than are searched for is told as replaced', async () => {
  const text = (word: string) => `${word}\n`.repeat(3_000)
  const [diff] = await diffsOf([{ path: '/w/a', before: text('a'), after: text('b') }], '/w')
  assert.deepEqual([diff?.added, diff?.removed], [3_000, 3_000])
  assert.equal((diff?.text.split('\n').length ?? 0) - 1 + (diff?.cut_lines ?? 0), 6_002)
})

test('a break that only some programs count is no end of a line', async () => {
  const [diff] = await diffsOf([{ path: '/w/a', before: null, after: 'a\u2028b\rc\n' }], '/w')
  assert.equal(diff?.text, '@@ -0,0 +1,1 @@\n+a\u2028b\rc\n')
})
