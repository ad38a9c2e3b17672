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
declare const limit: (name: string, value: number, unit: string, reason: string) => Limit
const limits = { plan: limit('plan', 5, 'bytes', 'ms'), pause: limit('pause', 5, 'ms', 'a pause') }
declare const AN_ORDER_BYTES: number, LIVES_MAX: number, A_START_MS: number
declare const A_CHUNK_BYTES: number, MORE_BYTES: number, PIPE_PIECES: number
declare const A_LOOK_SECONDS: number, A_HEAP_MB: number, O_WRONLY: number, X_OK: number
declare const A_WORD: string
declare function take(n: number): void
declare class Fault extends Error {}
declare const n: number, text: string | null, count: number | null
declare const list: readonly string[] | null, id: \`work_\${string}\` | null
declare const one: { n: number; text: string } | null, kind: 'a' | 'b' | null, bit: 0 | 1 | null
declare const flag: boolean | null, made_at: string | null, both: string | number | null
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
  [
    'limit',
    'n > limits.pause.value',
    ['n > (limits.pause.value * 1000)', 'n > (limits.pause.value / 1000)'],
  ],
  [
    'limit',
    'take(A_LOOK_SECONDS)',
    ['take((A_LOOK_SECONDS * 1000))', 'take((A_LOOK_SECONDS / 1000))'],
  ],
  ['limit', 'take(A_HEAP_MB)', ['take((A_HEAP_MB * 1024))', 'take((A_HEAP_MB / 1024))']],
  ['limit', 'take(O_WRONLY | X_OK)', []],
  ['limit', 'A_WORD + A_WORD', []],
  ['refusal', "if (n > 5) throw new Fault('it is over the limit')", ['']],
  ['refusal', "if (n > 5) throw new Error('that was refused long before')", []],
  ['none', "text ?? 'none'", ["text || 'none'"]],
  ['none', 'count ?? 7', ['count || 7']],
  ['none', "text ?? ''", []],
  ['none', 'list ?? []', []],
  ['none', 'id ?? 7', []],
  ['none', 'count === null', ['!count']],
  ['none', 'flag !== null', ['Boolean(flag)']],
  ['none', 'bit === null', ['!bit']],
  ['none', 'text === null', []],
  ['none', 'one === null', []],
  ['none', 'one ?? 7', []],
  ['none', 'one?.text ?? 7', ['one?.text || 7']],
  ['none', "kind ?? 'a'", []],
  ['none', 'flag ?? false', []],
  ['none', 'flag ?? true', ['flag || true']],
  ['none', "both ?? ''", ["both || ''"]],
  ['none', "made_at ?? 'never'", []],
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
