/**
 * The house rules, checked over every source file; and the rules themselves, checked over planted
 * faults, so that a rule that stops finding anything fails here.
 */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { anchorsOf } from './support/anchors.ts'
import { floors } from './tidy-rooms.ts'
import {
  crowdedFolders,
  deadCitations,
  importCircles,
  importedBy,
  machinePaths,
  repeatedTypes,
  violations,
} from './tidy-rules.ts'
import { codeOf } from './tidy-source.ts'

const root = dirname(import.meta.dirname)
const filesIn = (patterns: string[]): string[] =>
  patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted()
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')

const sources = filesIn(['{src,test,bench,examples}/**/*.ts', '{scripts,bin}/**/*.mjs'])
const texts = filesIn([
  '*.{md,json}',
  '.ci/*',
  '{src,docs,examples,bench}/**/*.{md,sql,json,snapshot}',
])

test('every source file is tidy', () => {
  assert.ok(sources.includes('test/tidy.test.ts'), 'the search for sources finds nothing')
  assert.deepEqual(
    sources.flatMap((path) => violations(path, read(path))),
    [],
  )
})

test('no folder shows more files than an eye takes in', () => {
  const shown = filesIn(['{src,test,bench}/**/*.*']).filter((path) => /\.\w+$/.test(path))
  assert.ok(shown.includes('src/tools/registry.ts'), 'the search for files finds nothing')
  assert.deepEqual(crowdedFolders(shown), [])
})

test('every sub-room that the ladder names is there', () => {
  const named = Object.entries(floors).flatMap(([room, names]) =>
    names.flatMap((floor) => floor.split(' ')).map((sub) => `src/${room}/${sub}`),
  )
  assert.deepEqual(
    named.filter((folder) => !existsSync(`${root}/${folder}`)),
    [],
  )
})

test('no file imports itself by way of others', () => {
  const imported = sources
    .filter((path) => path.startsWith('src/') && !path.endsWith('.test.ts'))
    .map((path) => [path, importedBy(path, read(path))] as const)
  assert.deepEqual(importCircles(new Map(imported)), [])
})

test('no two files export a type of the same name', () => {
  const exporting = sources
    .filter((path) => path.startsWith('src/') && !path.endsWith('.test.ts'))
    .map((path) => [path, read(path)] as const)
  assert.deepEqual(repeatedTypes(new Map(exporting)), [])
})

test('no file names a folder of the machine it was written on', () => {
  assert.deepEqual(
    [...sources, ...texts].flatMap((path) => machinePaths(path, read(path), root)),
    [],
  )
})

/** The anchors of a page, or undefined where there is none. Each page is read once. */
const pages = new Map<string, ReadonlySet<string> | undefined>()
const headings = (page: string): ReadonlySet<string> | undefined => {
  if (!pages.has(page)) {
    pages.set(page, existsSync(`${root}/${page}`) ? anchorsOf(read(page)) : undefined)
  }
  return pages.get(page)
}

test('every page and section that the code cites is there', () => {
  const cited = sources.filter((path) => read(path).includes('docs/spec/'))
  assert.ok(cited.length > 150, 'the code cites no specification')
  assert.deepEqual(
    sources
      .filter((path) => !/^test\/(tidy|docs)/.test(path))
      .flatMap((path) => deadCitations(path, read(path), headings)),
    [],
  )
})

test('a citation that leads nowhere is found, and one that does not is left alone', () => {
  const there = (page: string) => (page === 'docs/spec/wait.md' ? new Set(['triggers']) : undefined)
  const source = [
    '// docs/spec/wait.md and docs/spec/wait.md#triggers, as docs/spec/wait.md#triggers.',
    '// docs/spec/wait.md#no-lost-race',
    '// docs/spec/gone.md#triggers',
  ].join('\n')
  assert.deepEqual(deadCitations('src/a.ts', source, there), [
    'src/a.ts:2 links docs/spec/wait.md#no-lost-race, which has no such heading',
    'src/a.ts:3 links docs/spec/gone.md#triggers, which is not there',
  ])
})

const wide = 'x'.repeat(101)
/** A path, what is planted in it after the opening comment, and all that must be said of it. */
const planted: [path: string, text: string, said: string[]][] = [
  ['src/domain/wait.ts', `import { z } from '../exec/clock.ts'`, ['2 domain may not import exec']],
  ['src/domain/wait.ts', `export * from '../protocol/a.ts'`, ['2 domain may not import protocol']],
  ['src/cli/run.ts', `await import('../runtime/turn.ts')`, ['2 cli may not import runtime']],
  ['src/runtime/turn.ts', `import '../testing/given.ts'`, ['2 runtime may not import testing']],
  ['src/runtime/turn.ts', `import '../main.ts'`, ['2 runtime may not import main']],
  ['src/main.ts', `import './testing/a.ts'`, ['2 main may not import testing']],
  ['src/cli/run.ts', `import '../../scripts/a.mjs'`, ['2 cli may not import scripts/a.mjs']],
  ['src/domain/state/wait.ts', `import '../../tools/a.ts'`, ['2 domain may not import tools']],
  [
    'src/domain/waits/focus.ts',
    `import type { A } from '../inbox/admit.ts'`,
    ['2 domain/waits may not import domain/inbox'],
  ],
  ['src/domain/ids.ts', `export * from './state/a.ts'`, ['2 domain/. may not import domain/state']],
  ['src/exec/acp/a.ts', `import('../daemon/a.ts')`, ['2 exec/acp may not import exec/daemon']],
  ['src/domain/deep/wait.ts', '', ['1 is in no sub-room: domain/deep']],
  ['src/domain/state/deep/wait.test.ts', '', ['1 is in no sub-room: domain/state/deep']],
  [
    'src/context/a.ts',
    `import { a } from '../ports/json.ts'`,
    ['2 context may import only types from ports'],
  ],
  [
    'src/domain/a.ts',
    `import type { Json } from '../ports/json.ts'`,
    ['2 domain may not import ports'],
  ],
  [
    'src/ports/a.ts',
    `export const limit = 1`,
    ['2 ports has types only: export const limit belongs to a room'],
  ],
  ['src/misc/a.ts', '', ['1 is in no room of the ladder']],
  ['src/stray.ts', '', ['1 is in no room of the ladder']],
  [
    'src/models/a.ts',
    `import {\n  type Model,\n  check,\n} from '../domain/agent.ts'`,
    ['5 models may import only types from domain'],
  ],
  [
    'src/tools/a.ts',
    `import { run } from '../exec/a.ts'`,
    ['2 tools may import only types from exec'],
  ],
  ['src/domain/a.ts', `import { z } from 'zod'`, ['2 domain may not import zod']],
  ['src/context/a.ts', `import 'node:path'`, ['2 context may not import node:path']],
  ['src/present/a.ts', `console.log(1)`, ['2 present is pure: console does not belong here']],
  ['src/domain/a.ts', `process.exit(1)`, ['2 domain is pure: process does not belong here']],
  ['src/protocol/a.ts', `await fetch(url)`, ['2 protocol is pure: fetch does not belong here']],
  ['src/domain/a.ts', `const t = Date.now()`, ['2 the clock comes through a port (Date.now)']],
  ['src/domain/a.ts', 'f(`${`}` + Date.now()}`)', ['2 the clock comes through a port (Date.now)']],
  ['src/models/a.ts', `const t = new Date()`, ['2 the clock comes through a port (new Date())']],
  ['src/models/a.ts', `setTimeout(f, 1)`, ['2 a timer comes through a port (setTimeout)']],
  [
    'src/http/a.ts',
    `AbortSignal.timeout(1)`,
    ['2 a timer comes through a port (AbortSignal.timeout)'],
  ],
  [
    'src/tools/a.ts',
    `// contracts\u{20}9`,
    [`2 cites contracts\u{20}9, which is not here: say it, or link docs/spec`],
  ],
  [
    'src/tools/a.test.ts',
    `test('\u00a79 a')`,
    [`2 cites \u00a79, which is not here: say it, or link docs/spec`],
  ],
  ['src/tools/a.ts', `Math.random()`, ['2 randomness comes through a port (Math.random)']],
  [
    'src/runtime/a.ts',
    `crypto.randomUUIDv7()`,
    ['2 randomness comes through a port (randomUUIDv7)'],
  ],
  ['src/cli/a.ts', `process.env.HOME`, ['2 the environment comes through a port (process.env)']],
  ['src/tools/a.ts', `import 'node:fs/promises'`, ['2 node:fs/promises comes through a port']],
  [
    'src/runtime/a.ts',
    `process.getBuiltinModule('node:child_process')`,
    ['2 node:child_process comes through a port'],
  ],
  ['src/runtime/a.ts', `import { sql } from 'kysely'`, ['2 kysely belongs to ledger']],
  ['src/tools/a.ts', `import '@ai-sdk/openai'`, ['2 @ai-sdk/openai belongs to models']],
  [
    'src/exec/a.test.ts',
    `await new Promise((done) => setTimeout(done, 50))`,
    ['2 a test does not sleep: await the event'],
  ],
  [
    'test/a.test.ts',
    `import { setTimeout } from 'node:timers/promises'`,
    ['2 a test does not sleep: await the event'],
  ],
  ['src/exec/index.ts', '', ['1 is a barrel: import the file that has the thing']],
  ['src/exec/runTask.ts', '', ['1 is not kebab-case']],
  ['src/exec/task-manager.ts', '', ['1 is named manager: name a noun']],
  ['src/exec/utils/a.ts', '', ['1 is in no sub-room: exec/utils', '1 is named utils: name a noun']],
  ['src/exec/a.ts', `// ${wide}`, ['2 is 104 characters wide (100)']],
]

describe('the house rules find what is planted', () => {
  for (const [path, text, said] of planted) {
    test(`${path}: ${text.slice(0, 60).replaceAll('\n', ' ') || 'an empty file'}`, () => {
      const expected = said.map((line) => `${path}:${line}`)
      assert.deepEqual(violations(path, `// What it is.\n${text}\n`), expected)
    })
  }

  test('a source without an opening comment', () => {
    const said = ['src/exec/a.ts:1 opens without saying what it is and what it promises']
    assert.deepEqual(violations('src/exec/a.ts', 'export const a = 1\n'), said)
  })

  test('a folder that shows too much', () => {
    const paths = (folder: string, count: number) =>
      Array.from({ length: count }, (_, at) => `${folder}/file-${at}.ts`)
    const shown = [
      ...paths('src/exec', 26),
      ...paths('src/domain/state', 30),
      ...paths('test/planted', 99),
      ...paths('src/http', 25),
      'src/http/file-1.test.ts',
      'src/http/file-1.test.ts.snapshot',
    ]
    assert.deepEqual(crowdedFolders(shown), ['src/exec shows 26 files (25): make a sub-room'])
  })

  test('a file that imports itself by way of others', () => {
    const graph = new Map(
      Object.entries({
        'src/a.ts': `import type { B } from './b.ts'\nimport './d.ts'`,
        'src/b.ts': `export * from './deep/c.ts'`,
        'src/deep/c.ts': `await import('../a.ts')`,
        'src/d.ts': `import 'node:fs' // import './a.ts'`,
      }).map(([path, source]) => [path, importedBy(path, source)]),
    )
    assert.deepEqual(importCircles(graph), ['src/a.ts → src/b.ts → src/deep/c.ts → src/a.ts'])
  })

  test('a type that two files export under one name', () => {
    const sources = new Map(
      Object.entries({
        'src/a.ts': `export type Step = 1\ntype Own = 2\nexport const Own = 3`,
        'src/b.ts': `export interface Step {}\n// export type Other = 1`,
        'src/c.ts': `export class Other {}\ntype Own = 4\nexport type { Step } from './a.ts'`,
      }),
    )
    assert.deepEqual(repeatedTypes(sources), [
      'src/a.ts and src/b.ts export Step: where they are one thing keep one, in ports if ' +
        'neither room may import the other; else name each for what it is',
    ])
  })

  test('a folder of a machine', () => {
    const home = ['', 'home', 'jane', 'notes'].join('/')
    const text = `safe: /home/you/x\nunsafe: ${home}\nhere: /checkout/src\n`
    assert.deepEqual(machinePaths('a.md', text, '/checkout'), [
      'a.md:2 names a folder of a machine',
      'a.md:3 names a folder of a machine',
    ])
  })
})

/** What the house allows, some of which looks like what it forbids. */
const allowed: [path: string, text: string][] = [
  ['src/runtime/a.ts', `import { next } from '../domain/rank.ts'`],
  ['src/models/a.ts', `import type { Model } from '../domain/agent.ts'`],
  ['src/client/a.ts', `import type { RowFilter } from '../ports/ledger-filters.ts'`],
  ['src/ports/a.ts', `import type { Timestamp } from '../domain/time.ts'\nexport type A = 1`],
  ['src/models/a.ts', `import { limits } from '../domain/limits.ts'`],
  ['src/models/a.ts', `const http = process.getBuiltinModule('node:http')`],
  ['src/models/a.ts', `socket.setTimeout(1)`],
  ['src/domain/a.test.ts', `import { given } from '../testing/given.ts'\nDate.now()`],
  ['src/domain/waits/a.test.ts', `import { admit } from '../inbox/admit.ts'`],
  ['src/domain/inbox/a.ts', `import { focus } from '../waits/focus.ts'\nimport './claim.ts'`],
  ['src/http/app.ts', `import './gate/gate.ts'`],
  ['src/main.ts', `import './main/commands/ports.ts'`],
  ['src/testing/a.ts', `import { main } from '../main.ts'\nsetTimeout(f)`],
  ['src/main.ts', `import './runtime/a.ts'\nprocess.env`],
  ['src/exec/a.ts', `import 'node:fs'\nDate.now()\nprocess.env\nMath.random()`],
  [
    'src/domain/a.ts',
    `const says = 'Date.now, process.env, fetch, import "node:fs"' // Date.now()`,
  ],
  ['src/domain/a.ts', `const at = new Date(millis)\nconst { process } = task\nprocess.group`],
  ['src/domain/a.ts', 'const says = `import x from "zod" ${a ? `Date.now` : "}"} fetch()`'],
  ['src/domain/a.ts', `const quote = /['"\`]Date.now/.test(text) ? 4 / 2 : 1`],
  ['src/tools/generated.ts', `export const a = '${wide}'`],
  ['scripts/a.mjs', `import 'node:fs'\nDate.now()`],
]

describe('the house rules leave alone', () => {
  for (const [path, text] of allowed) {
    test(`${path}: ${text.slice(0, 60).replaceAll('\n', ' ')}`, () => {
      assert.deepEqual(violations(path, `// What it is.\n${text}\n`), [])
    })
  }
})

test('what is not code is blanked in place', () => {
  const table: [source: string, code: string][] = [
    [`a('b') // c`, `a(' ')     `],
    [`/* a\nb */ c`, `    \n     c`],
    [`'it\\'s' + "a"`, `'     ' + " "`],
    ['`a${b}c${`d${e}`}` + f', '` ${b} ${` ${e}`}` + f'],
    ['`${{ a: 1 }.a}b`', '`${{ a: 1 }.a} `'],
    [`x = /[/'"]/g; y = a / b / c`, `x = /      g; y = a / b / c`],
    [`return /'/`, `return / /`],
  ]
  assert.deepEqual(
    table.map(([source]) => [source, codeOf(source)]),
    table,
  )
})
