/**
 * The documentation, held against what is there: links and anchors lead somewhere, paths of the
 * living pages exist, and every command that a page names is one the program has.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { execPath } from 'node:process'
import { describe, test } from 'node:test'
import bodies from '../src/models/error-bodies.json' with { type: 'json' }
import { scenarios } from './crash/registry.ts'
import { channels } from './puppet/channels.ts'
import { goals } from './puppet/goals.ts'
import { anchorsOf, proseOf } from './support/anchors.ts'

const root = dirname(import.meta.dirname)
const pages = globSync(['*.md', '{docs,examples}/**/*.md'], { cwd: root })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path !== 'CLAUDE.md') // a link to AGENTS.md
  .toSorted()
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8')

/** Links of a page that lead nowhere, each with why. */
function deadLinks(page: string, text: string): string[] {
  const inline = proseOf(text).replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ' '))
  return [...inline.matchAll(/\]\(([^()\s]+)\)/g)].flatMap(([, link = '']) => {
    if (/^(https?|mailto):/.test(link)) return []
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : normalize(join(dirname(page), path)).replaceAll('\\', '/')
    if (target.startsWith('..') || !existsSync(join(root, target))) {
      return [`${page}: ${link} is not there`]
    }
    if (anchor === undefined) return []
    const there = path === '' ? text : textOf(target)
    return anchorsOf(there).has(anchor) ? [] : [`${page}: ${link} has no such heading`]
  })
}

describe('links', () => {
  for (const page of pages) {
    test(`${page}: every link and anchor leads somewhere`, () => {
      assert.deepEqual(deadLinks(page, textOf(page)), [])
    })
  }

  test('dead ones are found, and code is left alone', () => {
    const text = [
      '# Two words, `code`!',
      '[a](#two-words-code) [b](#none) [c](missing.md) [d](README.md#none) [e](https://x.y/z)',
      '`[f](gone.md)`',
      '```md',
      '[g](gone.md)',
      '```',
      '',
      '    [h](gone.md)',
    ].join('\n')
    assert.deepEqual(deadLinks('AGENTS.md', text), [
      'AGENTS.md: #none has no such heading',
      'AGENTS.md: missing.md is not there',
      'AGENTS.md: README.md#none has no such heading',
    ])
  })
})

/** Frozen pages may name what is gone. */
const living = pages.filter((page) => !page.startsWith('docs/decisions/'))

/** Recipes name files that are still to be made: docs-recipes.test.ts looks at theirs. */
const isRecipe = (page: string): boolean => page.startsWith('docs/recipes/')

/** Code spans that read as a path of the repository, but for patterns. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`((?:src|test|scripts|bin|docs|examples|\.ci)\/[^`\s]*)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => !/[<*{]/.test(path))

test('every path that a living page names exists', () => {
  const missing = living
    .filter((page) => !isRecipe(page))
    .flatMap((page) =>
      pathsIn(textOf(page))
        .filter((path) => !existsSync(join(root, path)))
        .map((path) => `${page}: ${path}`),
    )
  assert.deepEqual(missing, [])
  assert.ok(pathsIn(textOf('ARCHITECTURE.md')).length > 20, 'the table of places is empty')
})

test('the index names every concept, how-to and decision', () => {
  const index = textOf('docs/README.md')
  const unnamed = globSync('docs/{concepts,decisions,how-to}/*.md', { cwd: root })
    .map((path) => path.replaceAll('\\', '/').slice('docs/'.length))
    .filter((path) => !index.includes(`](${path})`))
  assert.deepEqual(unnamed, [])
})

test('the index of the specification names every page of it', () => {
  const index = textOf('docs/spec/README.md')
  const named = globSync('docs/spec/*.md', { cwd: root })
    .map((path) => path.replaceAll('\\', '/').slice('docs/spec/'.length))
    .filter((name) => name !== 'README.md')
  assert.ok(named.length > 15, 'the specification is not there')
  assert.deepEqual(
    named.filter((name) => !index.includes(`](${name})`)),
    [],
  )
})

/** What the program says of itself: `holon <words> --help`. */
function help(words: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(execPath, ['src/main.ts', ...words, '--help'], {
    cwd: root,
    encoding: 'utf8',
    timeout: 30_000,
  })
  assert.equal(status, 0, `holon ${words.join(' ')} --help: ${stderr}`)
  return stdout
}

/** Names of the commands in a help text: in every paragraph whose head is none of these. */
const commandsIn = (text: string): string[] =>
  text
    .split(/\n{2,}/)
    .filter((paragraph) => !/^(?:Arguments|Options|Exit|Examples):/.test(paragraph))
    .flatMap((paragraph) => [...paragraph.matchAll(/^ {2}([a-z][^\s]*)/gm)])
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help')

/**
 * `holon` and what follows it in shell blocks, indented code and code spans: words up to the first
 * argument, and the long flags. Other blocks show output.
 */
function invocationsIn(text: string): { words: string[]; flags: string[] }[] {
  const code = [
    ...text.matchAll(/^`{3,}sh\n([\s\S]*?)^`{3,}[ \t]*$/gm),
    ...text.matchAll(/(?<!`)`([^`\n]+)`(?!`)/g),
    ...text.matchAll(/^ {4}(\S[^\n]*)$/gm),
  ].map(([, found = '']) => found)
  return code.flatMap((snippet) =>
    [...snippet.matchAll(/(?:^|[\n\s(&|$])(?:npx )?holon ((?:[^\n&|;#]|\|(?=[a-z]))*)/g)].map(
      ([, rest = '']) => {
        const parts = rest.trim().split(/\s+/)
        const end = parts.findIndex((part) => !/^[a-z][a-z-]*$/.test(part))
        return {
          words: end < 0 ? parts : parts.slice(0, end),
          flags: parts
            .filter((part) => /^--[a-z]/.test(part))
            .map((part) => part.split('=')[0] ?? ''),
        }
      },
    ),
  )
}

test('every command and flag that a living page names is one the program has', () => {
  const top = help([])
  const commands = new Set(commandsIn(top))
  assert.ok(commands.has('run'), 'the help lists no commands')
  const below = new Map<string, { text: string; commands: string[] }>()
  const helpOf = (words: readonly string[]) => {
    const key = words.join(' ')
    const known = below.get(key)
    if (known) return known
    const text = help(words)
    const made = { text, commands: commandsIn(text) }
    below.set(key, made)
    return made
  }
  const wrong = living.flatMap((page) =>
    invocationsIn(textOf(page)).flatMap(({ words, flags }) => {
      const [first, ...rest] = words
      if (first === undefined) {
        return flags
          .filter((flag) => !`${top} --version`.includes(flag))
          .map((flag) => `${page}: holon ${flag}`)
      }
      if (!commands.has(first)) return [`${page}: holon ${first}`]
      const path = [first]
      for (const word of rest) {
        const { commands: subs } = helpOf(path)
        if (subs.length === 0) break
        path.push(word)
        if (!subs.includes(word)) return [`${page}: holon ${path.join(' ')}`]
      }
      const said = `${top} ${helpOf(path).text}`
      return flags
        .filter((flag) => !said.includes(flag))
        .map((flag) => `${page}: holon ${path.join(' ')} ${flag}`)
    }),
  )
  assert.deepEqual(wrong, [])
})

test('every file that the help names as an example exists', () => {
  const all = ['', ...commandsIn(help([]))].map((name) => help(name === '' ? [] : [name]))
  const named = new Set(all.flatMap((text) => text.match(/examples\/[\w./-]+/g) ?? []))
  assert.deepEqual(
    [...named].filter((path) => !existsSync(join(root, path))),
    [],
  )
})

test('a command is read as far as its words go', () => {
  const text = [
    'Run `npx holon run --resume` or `holon work unblock <item>`; `holon` alone is nothing.',
    '',
    '```sh',
    'npm ci && npx holon run examples/health.md',
    'HOLON_HOME=x holon answer wait_1 "yes" --json',
    '```',
  ].join('\n')
  assert.deepEqual(invocationsIn(text), [
    { words: ['run'], flags: [] },
    { words: ['answer'], flags: ['--json'] },
    { words: ['run'], flags: ['--resume'] },
    { words: ['work', 'unblock'], flags: [] },
  ])
})

test('what a page says is counted is what there is', () => {
  const counted: readonly (readonly [page: string, of: RegExp, there: number])[] = [
    ['docs/proof.md', /kills (\d+) scenarios/, scenarios.length],
    ['docs/proof.md', /(\d+) forbidden goals/, goals.length],
    ['docs/proof.md', /by (\d+) ways that/, Object.keys(channels).length],
    ['docs/guarantees.md', /(\d+) bodies, with kind/, bodies.length],
  ]
  for (const [page, of, there] of counted) {
    assert.equal(Number(of.exec(textOf(page))?.[1]), there, `${page}: ${String(of)}`)
  }
})

test('every test that a guarantee is shown by is there', () => {
  const files = globSync('{src,test}/**/*.test.{ts,tsx}', { cwd: root })
  const lines = [...textOf('docs/guarantees.md').matchAll(/`npm test -- ([^`]+)`/g)]
  const named = lines.flatMap(([, words = '']) => words.split(' '))
  assert.ok(named.length > 40, 'the table is empty')
  const missing = named.filter((part) => !files.some((file) => file.includes(part)))
  assert.deepEqual(missing, [])
})
