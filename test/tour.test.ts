/**
 * The tour of docs/tour.md, held against the code: what it names is there, imports lead from step
 * to step, and a run of the three walks enters the functions in the order of the page and commits
 * what the page says.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { env, execPath } from 'node:process'
import { before, describe, test } from 'node:test'
import { bodiesOf } from './support/tour/definitions.ts'
import { promisesOf, walksOf, type Step } from './support/tour/page.ts'
import type { Mark, Noted } from './support/tour/story.ts'

const root = dirname(import.meta.dirname)
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const page = read('docs/tour.md')
const walks = walksOf(page)
const steps = walks.flatMap((walk) => walk.steps)
const filesOf = (of: readonly Step[]): string[] => [...new Set(of.map(({ file }) => file))]

type Judge = { importGraph: () => ReadonlyMap<string, readonly string[]> }
const judge = (await import(join(root, 'scripts', 'judge.mjs'))) as Judge
const graph = judge.importGraph()
/** What a file imports, types too. */
const importsOf = (file: string): readonly string[] => graph.get(file) ?? []
const sources = [...graph.keys()].filter((path) =>
  /^src\/(?!testing\/).*(?<!\.test)\.ts$/.test(path),
)

/** Whether a file imports the type, or has it itself. */
const knows = (file: string, type: string): boolean => {
  const named = String.raw`import (?:type )?\{[^}]*\b${type}\b[^}]*\} from`
  const own = String.raw`export (?:type|interface) ${type}\b`
  return new RegExp(`${named}|${own}`).test(read(file))
}

/** Whether there is a way from one of the files to that of the step, with one between at most. */
function isReached(from: readonly string[], { file, way }: Step): boolean {
  if (from.includes(file)) return true
  switch (way.by) {
    case 'import':
      return from.some((one) =>
        [one, ...importsOf(one)].some((passed) => importsOf(passed).includes(file)),
      )
    case 'port': {
      const has = (one: string) => knows(one, way.type)
      const isPlugged = sources.some((one) => importsOf(one).includes(file) && has(one))
      return from.some(has)
        ? has(file) || isPlugged
        : has(file) && from.some((one) => importsOf(one).some(has))
    }
    case 'wire': {
      const names = (one: string) => read(one).includes(`'${way.path}'`)
      return from.some(names) && [file, ...importsOf(file)].some(names)
    }
  }
}

describe('the page', () => {
  test('has three walks, each with as many files and commits as its table says', () => {
    const counted = walks.map(({ name, steps: of }) => ({
      name,
      files: filesOf(of).length,
      commits: of.filter(({ commit }) => commit !== null).length,
    }))
    const promised = promisesOf(page)
    assert.equal(walks.length, 3)
    assert.deepEqual(
      counted,
      promised.map(({ name, files, commits }) => ({ name, files, commits })),
    )
    assert.deepEqual(
      promised.filter(({ files, most }) => files > most),
      [],
    )
  })

  test('names files that are there, and functions that they define', () => {
    const missing = steps.flatMap(({ place, file, functions }) =>
      !existsSync(join(root, file))
        ? [`${place}: ${file}`]
        : functions
            .filter((name) => bodiesOf(read(file), name).length === 0)
            .map((name) => `${place}: ${file} has no ${name}`),
    )
    assert.deepEqual(missing, [])
  })

  test('goes only where an import leads, by one file at most that it does not name', () => {
    const lost = steps.filter((step, i) => i > 0 && !isReached(filesOf(steps.slice(0, i)), step))
    assert.deepEqual(
      lost.map(({ place, file }) => `${place}: ${file}`),
      [],
    )
  })
})

test('a function is found by its body, a call and a value are none', () => {
  const source = [
    'export async function a<T>(b: { c: string }): Promise<{ ok: T }> {',
    '  return b(1)',
    '}',
    'const b = (x: number): number => x + 1',
    'const c = { b: 1, a: 2 }',
    'const d = {',
    '  e: (x: number) => x,',
    '  async f(x: number) {',
    '    await a(x)',
    '  },',
    '}',
    'class G {',
    '  async #h(',
    '    x: number,',
    '  ): Promise<void> {',
    '    this.#i(x)',
    '  }',
    '}',
    "app.post('/a', async (c) => c.text(''))",
  ].join('\n')
  const names = ['a', 'b', 'c', 'd', 'e', 'f', '#h', '#i', 'app.post', 'app.get']
  const found = names.map((name) => [
    name,
    bodiesOf(source, name).map((at) => source.slice(0, at).split('\n').length),
  ])
  assert.deepEqual(Object.fromEntries(found), {
    a: [1],
    b: [4],
    c: [],
    d: [],
    e: [7],
    f: [8],
    '#h': [15],
    '#i': [],
    'app.post': [19],
    'app.get': [],
  })
})

test('a step leads on by an import, a port or a wire, and not by more than one file between', () => {
  const [operator, port, ledger] = [
    'src/client/operator.ts',
    'HomePort',
    'src/ledger/store/commit-queue.ts',
  ]
  const to = (file: string, way: Step['way']): Step => {
    return { place: '', file, functions: ['a'], way, commit: null }
  }
  const lane = ['src/runtime/turn/lane.ts']
  assert.deepEqual(
    [
      isReached(lane, to('src/domain/scheduler/next.ts', { by: 'import' })),
      isReached(lane, to('src/domain/waits/pacing.ts', { by: 'import' })),
      isReached(lane, to(ledger, { by: 'import' })),
      isReached(lane, to(ledger, { by: 'port', type: port })),
      isReached(['src/runtime/store.ts'], to(ledger, { by: 'port', type: 'Ledger' })),
      isReached([operator], to('src/http/app.ts', { by: 'wire', path: '/operator' })),
      isReached([operator], to('src/http/app.ts', { by: 'wire', path: '/healthz' })),
    ],
    [true, true, false, false, true, true, false],
  )
})

/** From where to where the story is a walk. */
const spans: readonly (readonly [from: Mark, to: Mark])[] = [
  ['sent', 'asked'],
  ['asked', 'asked again'],
  ['webhook', 'looked at'],
]

describe('a run', () => {
  let noted: Noted[] = []

  before(() => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'holon-tour-')))
    try {
      const asked = steps.flatMap(({ file, functions }) =>
        functions.map((name) => `${file} ${name}`),
      )
      const { status, stdout, stderr } = spawnSync(
        execPath,
        [join(root, 'test/support/tour/story.ts')],
        {
          input: JSON.stringify([...new Set(asked)]),
          env: { PATH: env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8' },
          encoding: 'utf8',
          maxBuffer: 2 ** 26,
          timeout: 120_000,
        },
      )
      assert.equal(status, 0, stderr)
      noted = JSON.parse(stdout) as Noted[]
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  })

  const between = (from: Mark, to: Mark): Noted[] => {
    const at = (mark: Mark) => noted.findIndex((one) => 'mark' in one && one.mark === mark)
    assert.ok(at(from) >= 0 && at(from) < at(to), `the story never came from ${from} to ${to}`)
    return noted.slice(at(from), at(to))
  }

  for (const [i, [from, to]] of spans.entries()) {
    const { name = '', steps: of = [] } = walks[i] ?? {}

    test(`${name}: every function is entered, in the order of the page`, () => {
      const entered = between(from, to).flatMap((one) => ('entered' in one ? one.entered : []))
      let left = entered
      for (const { place, file, functions } of of) {
        for (const function_name of functions) {
          const next = left.indexOf(`${file} ${function_name}`)
          assert.ok(next >= 0, `${place}: ${function_name} is not entered after the steps before`)
          left = left.slice(next + 1)
        }
      }
    })

    test(`${name}: its commits have the events that the page says, and there is no other`, () => {
      const committed = between(from, to).flatMap((one) =>
        'committed' in one ? [one.committed] : [],
      )
      assert.deepEqual(
        committed,
        of.flatMap(({ commit }) => (commit === null ? [] : [commit])),
      )
    })
  }
})
