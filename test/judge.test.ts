// The judge of planted mistakes and of mutants (scripts/judge.mjs), on a place with no checkout.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

type Ran = { green: boolean; late: boolean; said: string }
type Judge = { run: (place: string, args: string[], limit: number) => Promise<Ran> }

const root = join(import.meta.dirname, '..')
const { run } = (await import(join(root, 'scripts', 'judge.mjs'))) as Judge

test('runs in one copy follow each other, since each ends what was left there', async (t) => {
  const place = await mkdtemp(join(tmpdir(), 'holon-judge-'))
  t.after(() => rm(place, { recursive: true, force: true }))
  const log = join(place, 'log')
  // Says that it begins, takes as long as a start of Node does, and says that it ends.
  const program = `
    const { appendFileSync } = require('node:fs')
    appendFileSync(${JSON.stringify(log)}, 'begins ')
    require('node:child_process').spawnSync(process.execPath, ['-e', '0'])
    appendFileSync(${JSON.stringify(log)}, 'ends ')
    process.exit(Number(process.argv[1]))`
  const ran = await Promise.all(
    ['0', '1', '0'].map((code) => run(place, ['-e', program, code, place], 60)),
  )
  assert.deepEqual(
    ran.map(({ green }) => green),
    [true, false, true],
  )
  assert.equal(await readFile(log, 'utf8'), 'begins ends '.repeat(3))
})
