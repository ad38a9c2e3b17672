/**
 * The decisions, held against their form and their index: each is numbered, says in its first
 * sentence what was decided, stands under one subject, and is linked from the page of that subject.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

const docs = join(dirname(import.meta.dirname), 'docs')
const textOf = (page: string): string => readFileSync(join(docs, page), 'utf8')
const files = globSync('decisions/*.md', { cwd: docs })
  .map((path) => path.replaceAll('\\', '/'))
  .toSorted()
/** The title of a decision behind its number. */
const titleOf = (file: string): string => /^# \d{4} (.+)$/m.exec(textOf(file))?.[1] ?? ''

type Entry = { shown: string; file: string; title: string }
type Subject = { page: string; decisions: Entry[] }

/** The subjects of the index, each with the page it leads to and its decisions. */
function subjectsIn(index: string): Subject[] {
  const [, listed = ''] = index.split('\n## Decisions\n')
  return listed.split('\n### ').flatMap((group) => {
    const page = /^\[[^\]]+\]\(([^)]+)\)\n/.exec(group)?.[1]
    if (page === undefined) return []
    const lines = [...group.matchAll(/^- \[(\d{4})\]\(([^)]+)\) (.+)$/gm)]
    return [
      {
        page,
        decisions: lines.map(([, shown = '', file = '', title = '']) => ({ shown, file, title })),
      },
    ]
  })
}

const subjects = subjectsIn(textOf('README.md'))

test('decisions are numbered without a gap and have the three parts', () => {
  const wrong = files.filter((file, at) => {
    const number = String(at + 1).padStart(4, '0')
    const text = textOf(file)
    const parts = ['**Context.**', '**Decision.**', '**Consequences.**']
    const inOrder = parts.map((part) => text.indexOf(`\n${part}`))
    return (
      !file.startsWith(`decisions/${number}-`) ||
      !text.startsWith(`# ${number} `) ||
      inOrder.includes(-1) ||
      inOrder.join() !== inOrder.toSorted((a, b) => a - b).join()
    )
  })
  assert.deepEqual(wrong, [])
})

test('a decision says in one sentence under its title what was decided', () => {
  const wrong = files.filter((file) => {
    const opening = /^# [^\n]+\n\n([\s\S]*?)\n\n\*\*Context\.\*\*/.exec(textOf(file))?.[1] ?? ''
    return !/^[^\n]{20,}(\n\S[^\n]*){0,3}\.$/.test(opening) || opening.includes('. ')
  })
  assert.deepEqual(wrong, [])
})

test('each decision stands once in the index, under its title, in the order of its subject', () => {
  const entries = subjects.flatMap(({ decisions }) => decisions)
  assert.deepEqual(entries.map(({ file }) => file).toSorted(), files)
  assert.deepEqual(
    entries.filter(
      ({ shown, file, title }) =>
        !file.startsWith(`decisions/${shown}-`) || title !== titleOf(file),
    ),
    [],
  )
  for (const { page, decisions } of subjects) {
    const numbers = decisions.map(({ shown }) => shown)
    assert.ok(numbers.length > 0, `${page}: a subject without a decision`)
    assert.deepEqual(numbers, numbers.toSorted(), page)
  }
  const pages = subjects.map(({ page }) => page)
  assert.equal(new Set(pages).size, pages.length, 'two subjects lead to one page')
})

/** The decisions that the last section of a page lists, or that it names where it is generated. */
const linkedFrom = (page: string): string[] =>
  [...textOf(page).matchAll(/\]\(((?:\.\.\/)?decisions\/[^)#]+)\)/g)].map(([, link = '']) =>
    normalize(join(dirname(page), link)).replaceAll('\\', '/'),
  )

test('the page of a subject links its decisions', () => {
  const unlinked = subjects.flatMap(({ page, decisions }) => {
    const linked = linkedFrom(page)
    return decisions
      .filter(({ file }) => !linked.includes(file))
      .map(({ file }) => `${page}: ${file}`)
  })
  assert.deepEqual(unlinked, [])
})

test('where a page shows a decision by its title, it is the title it has', () => {
  const pages = globSync('{concepts,spec}/*.md', { cwd: docs }).concat('proof.md', 'benchmarks.md')
  const shown = pages.flatMap((page) =>
    [...textOf(page).matchAll(/^- \[\d{4}\]\((?:\.\.\/)?(decisions\/[^)]+)\) (.+)$/gm)].map(
      ([, file = '', title = '']) => ({ page, file, title }),
    ),
  )
  assert.ok(shown.length > 100, 'no page lists its decisions')
  assert.deepEqual(
    shown.filter(({ file, title }) => title !== titleOf(file)),
    [],
  )
})
