// A process that has no descriptor left: what it cannot look at is not taken for gone, wrong or
// forbidden, and all of it works when there is one again. On Linux, where /proc has processes.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const skip = process.platform === 'linux' ? false : 'there is no /proc here'
const program = join(import.meta.dirname, '../src/testing/host/scarce-child.ts')

function underLimit(descriptors: number): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'holon-scarce-'))
  try {
    const limited = ['-c', `ulimit -n ${descriptors} && exec "$@"`, 'sh']
    const words = [...limited, process.execPath, program, folder]
    return JSON.parse(execFileSync('/bin/sh', words, { encoding: 'utf8' }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('without a descriptor nothing is taken for gone, and with one all goes on', { skip }, () => {
  assert.deepEqual(underLimit(64), {
    without: {
      'a file': 'FileFault scarce later',
      'a secret': 'FileFault scarce later',
      'the control token': 'FileFault scarce later',
      'a webhook': 'FileFault scarce later',
      'its own process': 'FileFault scarce later',
      'all processes': 'FileFault scarce later',
      'a command that was prepared': 'ProcessFault scarce later',
      'a new command': 'ProcessFault scarce later',
      'a spawner': 'ProcessFault scarce later',
      'a database': 'LedgerFault io later',
    },
    again: {
      'a file': 41,
      'a secret': true,
      'the control token': 'the token',
      'a webhook': 1,
      'its own process': true,
      'all processes': true,
      'a command that was prepared': 'absent',
      'a new command': 'done',
      'a spawner': 'claimed',
      'a database': 'done',
    },
  })
})
