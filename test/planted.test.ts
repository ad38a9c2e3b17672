import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

type Part = { gate: string; args: string[] }
type Planted = { files: string[]; named: string | undefined; expected: string | undefined }
type Judge = { partsNamed: (planted: Planted) => Part[]; partsOf: (planted: Planted) => Part[] }

const root = join(import.meta.dirname, '..')
const judge = (await import(join(root, 'scripts', 'judge.mjs'))) as Judge

test('each planted mistake is judged by the test beside its file and the one it names', () => {
  const paths = globSync('test/planted/*.patch', { cwd: root })
  assert.ok(paths.length > 200)
  for (const path of paths) {
    const text = readFileSync(join(root, path), 'utf8')
    const files = [...text.matchAll(/^--- a\/(\S+)$/gm)].map(([, file]) => file ?? '')
    const named = /^Test: (\S+)$/m.exec(text)?.[1]
    const planted = { files, named, expected: /^Gate: (\S+)$/m.exec(text)?.[1] }
    const beside = files
      .map((file) => file.replace(/\.ts$/, '.test.ts'))
      .filter((path) => path.endsWith('.test.ts') && existsSync(join(root, path)))
    const expected = new Set([...beside, ...(named === undefined ? [] : [named])])
    const run = judge.partsNamed(planted).flatMap(({ args }) => args.slice(2))
    assert.deepEqual(new Set(run), expected, path)
    assert.ok(run.length > 0, path)
    // With all gates it is judged by these first.
    const first = judge.partsOf(planted).slice(0, judge.partsNamed(planted).length)
    assert.deepEqual(first, judge.partsNamed(planted), path)
  }
})
