/**
 * The recipes, followed: what a page adds is added to a copy of the repository, which then compiles
 * and passes the tests that the page names. A page whose files or lines are not there any more fails
 * here, before somebody follows it.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { env, execPath } from 'node:process'
import { after, before, describe, test } from 'node:test'
import packageJson from '../package.json' with { type: 'json' }
import { apply, StaleRecipe, stepsOf, type Step } from './support/recipe.ts'
import { violations } from './tidy-rules.ts'

const root = dirname(import.meta.dirname)
const recipes = globSync('docs/recipes/*.md', { cwd: root })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !path.endsWith('/README.md'))
const { scripts } = packageJson
const read = (path: string, under = root): string => readFileSync(join(under, path), 'utf8')

const writes = (steps: readonly Step[]) =>
  steps.flatMap((step) => (step.do === 'run' ? [] : [step]))

type Listed = { path: string; how: 'make' | 'change' | 'written' }

/** The files in the table of a page: made, changed, or written by a command. */
const filesOf = (page: string): Listed[] =>
  [...read(page).matchAll(/^\| `([^`]+)` \| (new|written)?/gm)].map(([, path = '', how]) => ({
    path,
    how: how === 'new' ? 'make' : how === 'written' ? 'written' : 'change',
  }))

test('the files that a recipe names are there, or the folder of one that it makes', () => {
  const missing = recipes.flatMap((page) => {
    const listed = filesOf(page)
    const made = new Set(listed.flatMap(({ path, how }) => (how === 'make' ? [path] : [])))
    const named = [...read(page).matchAll(/`((?:src|test|docs)\/[^`\s]*)`/g)].map(
      ([, path = '']) => path,
    )
    assert.ok(made.size >= 2 && listed.length > made.size, `${page} names no files`)
    return named
      .filter((path) => !existsSync(join(root, made.has(path) ? dirname(path) : path)))
      .map((path) => `${page}: ${path}`)
  })
  assert.deepEqual(missing, [])
})

test('the index says of each recipe how many files it makes and changes', () => {
  const lines = read('docs/recipes/README.md').matchAll(
    /^\| \[[^\]]+\]\(([^)]+)\) \| [^|]+ \| (\d+) \| (\d+) \|$/gm,
  )
  const said = [...lines].map(([, page, made, changed]) => [
    `docs/recipes/${page}`,
    Number(made),
    Number(changed),
  ])
  const counted = recipes.map((page) => {
    const many = (how: Listed['how']) => filesOf(page).filter((file) => file.how === how).length
    return [page, many('make'), many('change')]
  })
  assert.deepEqual(said.toSorted(), counted.toSorted())
})

test('a diff is a step whose lines stand in their file exactly once', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holon-step-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const page = [
    '```ts src/a.ts',
    'one',
    'two',
    '```',
    '',
    '```diff src/a.ts',
    ' one',
    '-two',
    '+three',
    '@@',
    ' three',
    '+four',
    '```',
    '',
    '```ts',
    'only shown',
    '```',
    '',
    '```sh',
    'npm run generate',
    '```',
    '',
  ].join('\n')
  const steps = stepsOf(page)
  assert.deepEqual(steps, [
    { do: 'make', path: 'src/a.ts', text: 'one\ntwo\n' },
    {
      do: 'change',
      path: 'src/a.ts',
      hunks: [
        { from: 'one\ntwo\n', to: 'one\nthree\n' },
        { from: 'three\n', to: 'three\nfour\n' },
      ],
    },
    { do: 'run', command: 'npm run generate' },
  ])
  for (const step of writes(steps)) apply(folder, step)
  assert.equal(readFileSync(join(folder, 'src/a.ts'), 'utf8'), 'one\nthree\nfour\n')
  for (const step of writes(steps)) assert.throws(() => apply(folder, step), StaleRecipe)
})

/** The pages that are followed, one after the other in one copy. */
const followed = ['docs/recipes/tool.md', 'docs/recipes/provider.md']

describe('followed in a copy of the repository', () => {
  const steps = followed.flatMap((page) => stepsOf(read(page)))
  let copy = ''
  before(() => {
    copy = mkdtempSync(join(tmpdir(), 'holon-recipe-'))
    for (const part of ['src', 'test', 'docs', 'scripts', 'package.json', 'tsconfig.json']) {
      cpSync(join(root, part), join(copy, part), { recursive: true })
    }
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    for (const step of writes(steps)) apply(copy, step)
  })
  after(() => rmSync(copy, { recursive: true, force: true }))

  // Inside a test the test runner would speak to this one instead of to a person.
  const { NODE_TEST_CONTEXT: _, ...outside } = env

  /** A program of Node in the copy; what it said fails the test with it. */
  const node = (...args: string[]): void => {
    const options = { cwd: copy, env: outside, encoding: 'utf8' } as const
    const { status, stdout, stderr } = spawnSync(execPath, args, options)
    assert.equal(status, 0, `${args.join(' ')}\n${stdout.slice(-4_000)}\n${stderr}`)
  }

  test('what they write is tidy', () => {
    const sources = writes(steps).filter(({ path }) => path.endsWith('.ts'))
    assert.deepEqual(
      sources.flatMap(({ path }) => violations(path, read(path, copy))),
      [],
    )
  })

  test('their commands pass: texts are generated, the tests of the rooms hold', () => {
    const commands = new Set(steps.flatMap((step) => (step.do === 'run' ? [step.command] : [])))
    for (const command of commands) {
      const [, name = '', more = ''] = /^npm (?:run )?(\w+)(?: -- (.*))?$/.exec(command) ?? []
      const program = new Map(Object.entries(scripts)).get(name)?.split(' ') ?? []
      assert.equal(program[0], 'node', `${command} is no script of the repository`)
      const words = more.match(/'[^']*'|\S+/g) ?? []
      node(...program.slice(1), ...words.map((word) => word.replaceAll("'", '')))
    }
    assert.ok(commands.size >= 2, 'no page names a command')
  })

  test('it compiles', () => {
    const sources = writes(steps).filter(({ path }) => /^src\/.*\.ts$/.test(path))
    const files = sources.map(({ path }) => path)
    const config = { extends: './tsconfig.json', include: ['src/**/*.d.ts'], files }
    writeFileSync(join(copy, 'recipe.json'), JSON.stringify(config))
    node('node_modules/typescript/bin/tsc', '--project', 'recipe.json')
  })

  for (const page of followed) {
    test(`${page}: its table has what was made, changed and written, and nothing else`, () => {
      const steps = writes(stepsOf(read(page))).map(({ do: how, path }) => ({ path, how }))
      const written = filesOf(page).filter(({ how }) => how === 'written')
      const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1)
      assert.deepEqual(filesOf(page).toSorted(byPath), [...steps, ...written].toSorted(byPath))
      for (const { path } of written) assert.ok(read(path, copy) !== read(path), path)
    })
  }
})
