/**
 * `node test/policy/main.ts --cases 10000 --seed 1`: lines of the grammar, judged and run. Says
 * which were allowed and ran what is forbidden; that is none.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { tryLines } from './try-lines.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'holon-lines-'))
try {
  const tried = await tryLines(folder, Number(values.cases), Number(values.seed))
  for (const line of tried.wrong) console.log(`allowed, and it ran:\n${line}\n`)
  const { lines, ran, decided } = tried
  console.log(JSON.stringify({ lines, ran, ...decided, wrong: tried.wrong.length }))
  process.exitCode = tried.wrong.length === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
