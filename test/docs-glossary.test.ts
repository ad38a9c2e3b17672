/**
 * The glossary, held against the code: every stored noun has an entry, and each entry leads to a
 * page that explains the word and to a file in which the word is used.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { tables } from '../src/domain/state/event.ts'

const root = dirname(import.meta.dirname)
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

type Entry = { word: string; section: string; cells: string[]; links: string[] }

/** The entries of a glossary: a line of a table that begins with a word in bold. */
const entriesOf = (text: string): Entry[] =>
  text.split('\n## ').flatMap((part) => {
    const section = part.split('\n', 1)[0] ?? ''
    return part.split('\n').flatMap((line): Entry[] => {
      const word = /^\| \*\*([^*]+)\*\* \|/.exec(line)?.[1]
      if (word === undefined) return []
      const cells = line.split('|').slice(2, -1)
      const links = [...line.matchAll(/\]\(([^)#]+)/g)].map(([, link = '']) =>
        normalize(join('docs', link)).replaceAll('\\', '/'),
      )
      return [{ word, section, cells: cells.map((cell) => cell.trim()), links }]
    })
  })

const entries = entriesOf(read('docs/glossary.md'))
const words = entries.map(({ word }) => word)
/** A word however it is written: `work item`, `WorkItem`, `work_items`. */
const plain = (text: string): string => text.toLowerCase().replaceAll(/[\s_-]/g, '')

test('an entry has the term of the field, a sentence or three, a page and a file', () => {
  const poor = entries.filter(({ cells, links }) => {
    const [term = '', meaning = ''] = cells
    const sentences = meaning.match(/[.!?](?=\s|$)/g) ?? []
    return (
      cells.length !== 3 ||
      term === '' ||
      !meaning.endsWith('.') ||
      sentences.length > 3 ||
      !links.some((link) => /^docs\/(spec|concepts)\//.test(link)) ||
      !links.some((link) => /^(src|test)\//.test(link))
    )
  })
  assert.deepEqual(poor, [])
  assert.equal(new Set(words).size, words.length, 'a word has two entries')
})

test('each file that an entry names is there and uses the word', () => {
  const stale = entries.flatMap(({ word, links }) =>
    links
      .filter((link) => /^(src|test)\//.test(link))
      .filter((file) => !existsSync(join(root, file)) || !plain(read(file)).includes(plain(word)))
      .map((file) => `${word}: ${file}`),
  )
  assert.deepEqual(stale, [])
})

/** English plurals as far as tables need them. */
const plurals = (word: string): string[] => [word, `${word}s`, word.replace(/y$/, 'ies')]

test('the words for what is stored are the kinds of rows, one each', () => {
  const stored = entries.filter(({ section }) => section === 'What is stored')
  const known = new Set(stored.flatMap(({ word }) => plurals(plain(word))))
  assert.deepEqual(
    tables.filter((table) => !known.has(plain(table))),
    [],
  )
  assert.equal(stored.length, tables.length)
})

test('every noun of the specification is in the glossary', () => {
  const [, owned = ''] = read('docs/spec/nouns.md').split('## Who owns what')
  const nouns = [...owned.matchAll(/^\| ([A-Z]\w+) \|/gm)].map(([, noun = '']) => noun)
  assert.ok(nouns.includes('WorkItem'), 'the table of nouns is not there')
  const known = new Set(words.map(plain))
  assert.deepEqual(
    nouns.filter((noun) => !known.has(plain(noun))),
    [],
  )
})

test('the words of a section stand in the order of the alphabet', () => {
  const sections = Map.groupBy(entries, ({ section }) => section)
  for (const [section, listed] of sections) {
    const there = listed.map(({ word }) => word)
    assert.deepEqual(there, there.toSorted(), section)
  }
})
