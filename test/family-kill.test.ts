/**
 * A short soak of supervised children: a real daemon is killed at random moments while a parent and
 * its three children work in a real repository. The long one, by hand, is
 * `node bench/soaks/family-soak.ts`; it is the same code with more kills.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { familySoak } from './soak/family.ts'

const main = join(import.meta.dirname, '..', 'src', 'main.ts')
const kills = 5

test('after kill -9 of the daemon every part is merged, and nothing is left or lost', async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-family-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  // Any moments will do; a failure names those it had.
  const [seed, longest_life] = [process.pid, 900]
  const again = `node bench/soaks/family-soak.ts --kills ${kills} --seed ${seed} --life ${longest_life}`
  const program = [process.execPath, main]
  const done = await familySoak({ seed, kills, folder, program, longest_life })
  assert.deepEqual(done.problems, [], again)
  assert.ok(done.ships > 0 && done.requests > 20, `${done.requests} requests were made`)
})
