/**
 * Commands that run are taken over after each kill -9 of who started them: right exit statuses,
 * whole output, nothing left over (docs/spec/task.md). The full figure: `node
 * bench/studies/readopt.ts`.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readopt } from '../src/testing/host/readopt.ts'

test('sixty commands are re-adopted over five kills, whole and with their statuses', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holon-readopt-'))
  try {
    const options = { folder, commands: 60, kills: 5, pause_s: 0.2, seed: 1 }
    const { wrong, running_at_kills } = await readopt(options)
    assert.deepEqual(wrong, [])
    assert.deepEqual(running_at_kills.slice(-2), [60, 60])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
