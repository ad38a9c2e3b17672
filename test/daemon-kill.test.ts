/**
 * A short soak: a real daemon is killed at random moments while senders deliver all the time. The
 * long one, by hand, is `node bench/soaks/daemon-soak.ts`; it is the same code with more of
 * everything.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { soak } from './soak/soak.ts'

const main = join(import.meta.dirname, '..', 'src', 'main.ts')
const kills = 5

test('what was acknowledged before kill -9 is there once, and comes to its end', async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-kill-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  // Any moments will do; a failure names those it had.
  const seed = process.pid
  const [pace, longest_life] = [40, 500]
  const moments = `--kills ${kills} --seed ${seed} --pace ${pace} --life ${longest_life}`
  const again = `node bench/soaks/daemon-soak.ts ${moments} --items 0 --agents 2 --sources`
  const done = await soak({
    seed,
    kills,
    folder,
    program: [process.execPath, main],
    agents: ['agent-0', 'agent-1'],
    model: 'openai-compatible/soak',
    pace,
    longest_life,
  })
  assert.deepEqual(done.problems, [], again)
  // Senders that sent nothing would prove nothing.
  for (const [kind, count] of Object.entries(done.acknowledged)) {
    if (kind !== 'schedule') assert.ok(count > 2, `only ${count} of ${kind} were acknowledged`)
  }
  assert.ok(done.turns > 2, `only ${done.turns} turns`)
  assert.equal(done.ready_ms.length + done.killed_before_ready, kills)
})
