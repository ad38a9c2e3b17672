// Which mistakes the classes of scripts/mutators.mjs make of a line of source.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { API } from 'typescript/unstable/sync'

type Edits = { from: number; to: number; text: string }[]
type Mutators = {
  mistakesIn: (file: unknown, checker: unknown) => { class: string; edits: Edits }[]
  edited: (text: string, edits: Edits) => string
}
const root = join(import.meta.dirname, '..')
const { mistakesIn, edited } = (await import(join(root, 'scripts', 'mutators.mjs'))) as Mutators

const before = `
type Limit = { value: number }
declare const limits: { plan: Limit }
declare const AN_ORDER_BYTES: number, LIVES_MAX: number, A_START_MS: number
declare const A_CHUNK_BYTES: number, MORE_BYTES: number, PIPE_PIECES: number
declare function take(n: number): void
declare const n: number, text: string | null, count: number | null
declare const list: readonly string[] | null, id: \`work_\${string}\` | null
`
const rows: [kind: string, line: string, mistakes: string[]][] = [
  [
    'limit',
    'n > limits.plan.value',
    ['n > (limits.plan.value + 1)', 'n > (limits.plan.value - 1)'],
  ],
  ['limit', 'n > AN_ORDER_BYTES', ['n > (AN_ORDER_BYTES + 1)', 'n > (AN_ORDER_BYTES - 1)']],
  ['limit', 'n >= LIVES_MAX', ['n >= (LIVES_MAX + 1)', 'n >= (LIVES_MAX - 1)']],
  ['limit', 'take(A_START_MS)', ['take((A_START_MS * 1000))', 'take((A_START_MS / 1000))']],
  [
    'limit',
    'take(A_CHUNK_BYTES)',
    ['take((A_CHUNK_BYTES * 1024))', 'take((A_CHUNK_BYTES / 1024))'],
  ],
  ['limit', 'take(MORE_BYTES)', ['take((MORE_BYTES * 1024))', 'take((MORE_BYTES / 1024))']],
  ['limit', 'n < PIPE_PIECES', ['n < (PIPE_PIECES * 1024)', 'n < (PIPE_PIECES / 1024)']],
  ['none', "text ?? 'none'", ["text || 'none'"]],
  ['none', 'count ?? 7', ['count || 7']],
  ['none', "text ?? ''", []],
  ['none', 'list ?? []', []],
  ['none', 'id ?? 7', []],
]

const files = new Map([
  ['/rows/tsconfig.json', '{"compilerOptions":{"strict":true},"include":["*.ts"]}'],
  ...rows.map(([, line], n) => [`/rows/row-${n}.ts`, `export {}${before}${line}\n`] as const),
])
const api = new API({
  cwd: '/rows',
  fs: {
    readFile: (path) => files.get(path),
    fileExists: (path) => files.has(path) || undefined,
    directoryExists: (path) => path === '/rows' || undefined,
    getAccessibleEntries: (path) =>
      path === '/rows'
        ? { files: [...files.keys()].map((file) => file.slice('/rows/'.length)), directories: [] }
        : undefined,
  },
})
after(() => api.close())
const [project] = api.updateSnapshot({ openProject: '/rows/tsconfig.json' }).getProjects()

for (const [n, [kind, line, mistakes]] of rows.entries()) {
  test(`${kind}: of \`${line}\` is made ${mistakes.join(' and ') || 'nothing'}`, () => {
    const path = `/rows/row-${n}.ts`
    const text = files.get(path) ?? ''
    const file = project?.program.getSourceFile(path)
    assert.ok(file, `there is no ${path}`)
    const made = mistakesIn(file, project?.checker)
      .filter((one) => one.class === kind)
      .map(({ edits }) =>
        edited(text, edits)
          .slice(text.length - line.length - 1)
          .trimEnd(),
      )
    assert.deepEqual(made, mistakes)
  })
}
