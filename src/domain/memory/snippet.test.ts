import assert from 'node:assert/strict'
import { test } from 'node:test'
import { snippetLength, snippetOf } from './snippet.ts'
import { termsOf } from './words.ts'

const of = (text: string, query: string) => snippetOf(text, termsOf(query))
const far = 'nothing of interest here and there '.repeat(20)

const table: [what: string, text: string, query: string, snippet: string][] = [
  ['a short text is whole', 'The parser has a bug.', 'bug', 'The parser has a «bug».'],
  ['a phrase is one hit', 'in the metadata order', '"metadata order"', 'in the «metadata order»'],
  ['a prefix', 'parsing parsers', 'pars*', '«parsing» «parsers»'],
  ['a part of a word', 'the database of rebased', 'base', 'the «database» of «rebased»'],
  ['no part of a phrase', 'the database', '"base"', 'the database'],
  ['a path', 'see src/parser/items.ts there', 'parser/items', 'see src/«parser/items».ts there'],
  ['a part of camelCase', 'calls parseConfigFile now', 'config', 'calls «parseConfigFile» now'],
  ['humps of the query', 'calls parseConfigFile now', 'parseConfig', 'calls «parseConfigFile» now'],
  [
    'only some humps of the query',
    'has parseFile, readConfig',
    'parseConfig',
    'has parseFile, readConfig',
  ],
  ['its humps in another order', 'calls configParse now', 'parseConfig', 'calls configParse now'],
  ['accents', 'Die Größe zählt', 'zahlt', 'Die Größe «zählt»'],
  ['lines become one', 'one\n\ttwo  three', 'two', 'one «two» three'],
  ['no hit shows the start', 'one two', 'zebra', 'one two'],
]

for (const [what, text, query, snippet] of table) {
  test(`a snippet: ${what}`, () => assert.equal(of(text, query), snippet))
}

test('a snippet of a long text is cut around the place with the most words', () => {
  const found = of(`${far} only alpha ${far} alpha and beta ${far}`, 'alpha beta')
  assert.ok(found.length < snippetLength + 20, `${found.length} characters`)
  assert.match(found, /^….*«alpha» and «beta».*…$/)
})

test('a snippet ends at no half of a character', () => {
  for (let n = 0; n < 4; n++) {
    const found = of(`${'😀'.repeat(90)}${'x'.repeat(n)} needle ${'😀'.repeat(200)}`, 'needle')
    assert.equal(found.isWellFormed(), true)
  }
})
