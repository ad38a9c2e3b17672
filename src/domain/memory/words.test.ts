import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { humpsOf, mostTerms, partsOf, stemsOf, termsOf, usualEnding } from './words.ts'

const term = (words: string, more: { reach?: 'beginning' | 'part'; parts?: string } = {}) => ({
  words: words.toLowerCase().split(' '),
  written: words,
  reach: more.reach ?? 'whole',
  parts: more.parts?.split(' ') ?? null,
})

const begins = { reach: 'beginning' } as const
const part = { reach: 'part' } as const
const queries: [query: string, terms: ReturnType<typeof term>[]][] = [
  ['parser bug', [term('parser', part), term('bug')]],
  ['"metadata order" parser', [term('metadata order'), term('parser', part)]],
  ['pars*', [term('pars', begins)]],
  ['par*', [term('par', begins)]],
  ['par', [term('par')]],
  ['pa*', [term('pa')]],
  ['"pars*"', [term('pars')]],
  ['snake_case', [term('snake case', begins)]],
  ['src/parser/items.ts', [term('src parser items ts')]],
  ['parseConfig', [term('parseConfig', { ...part, parts: 'parse config' })]],
  ['HTTPServer*', [term('HTTPServer', { ...begins, parts: 'http server' })]],
  ['work_7f3a', [term('work 7f3a', begins)]],
  ['a AND b OR NOT c', ['a', 'AND', 'b', 'OR', 'NOT', 'c'].map((one) => term(one))],
  ['text:secret', [term('text secret', begins)]],
  ['twice Twice twice', [term('twice', part)]],
  ['old "quote here', [term('old'), term('quote', part), term('here', part)]],
  ['', []],
  [' ** "" - () ', []],
]

for (const [query, terms] of queries) {
  test(`the terms of ${JSON.stringify(query)}`, () => {
    const bare = termsOf(query).map(({ parts, ...one }) => ({ ...one, parts: parts && [...parts] }))
    assert.deepEqual(bare, terms)
  })
}

const stems: [query: string, words: string[]][] = [
  ['refactoring', ['refactor']],
  ['tests', ['test']],
  ['test', ['test']],
  ['bug', ['bug']],
  ['"refactoring"', ['refactoring']],
  ['Rechnungen', ['rechnun']],
  ['read_files', ['read', 'file']],
  ['переименование', ['переименова']],
]
for (const [query, words] of stems) {
  test(`${query} without its ending`, () => {
    const [found] = stemsOf(termsOf(query), usualEnding)
    assert.deepEqual(found?.words, words)
    assert.equal(found.written.toLowerCase(), words.join(' '))
  })
}

test('a word is found with and without its accents, and text without spaces by its characters', () => {
  const [accented, unspaced] = termsOf('Größe 記憶')
  assert.deepEqual(accented?.words, ['große'.replace('ß', 'ß')])
  assert.deepEqual(unspaced?.parts, ['記', '憶'])
})

test('beside a text stand the parts of camelCase, short ids, and characters of unspaced scripts', () => {
  const id = 'task_0198f0aa-1111-7222-8333-44445555c1d2'
  assert.deepEqual(partsOf(`parseConfig of ${id} and HTTPServer, 記憶, plain_word`).split('\n'), [
    'parse config',
    'http server',
    '記 憶',
    'task c1d2',
  ])
})

test('a long run of letters has no humps: it is noise', () => {
  const longest = 'aB'.repeat(30)
  assert.deepEqual(humpsOf(longest), ['a', ...Array(29).fill('ba'), 'b'])
  assert.deepEqual(humpsOf(`${longest}c`), null)
})

test('whatever is typed makes terms of letters and digits only, and not too many', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (query) => {
      const terms = termsOf(query)
      assert.ok(terms.length <= mostTerms)
      for (const { written, parts } of [
        ...terms,
        ...stemsOf(terms, usualEnding),
        ...stemsOf(terms, Infinity),
      ]) {
        assert.match(written, /^[\p{L}\p{N}\p{M}]+( [\p{L}\p{N}\p{M}]+)*$/u)
        for (const part of parts ?? []) assert.match(part, /^[\p{L}\p{N}\p{M}]+$/u)
      }
    }),
  )
})
