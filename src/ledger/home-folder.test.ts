import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { guarded } from './sqlite/fault.ts'
import { makeHomeFolder } from './home-folder.ts'
import type { LedgerFault } from './port.ts'

function folder(t: { after: (fn: () => void) => void }): string {
  const path = mkdtempSync(join(tmpdir(), 'holon-home-folder-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}

const refusal = async (path: string): Promise<LedgerFault> => {
  try {
    await guarded('Opening', () => makeHomeFolder(path))
  } catch (error) {
    return error as LedgerFault
  }
  return assert.fail(`${path} was made`)
}

test('what is missing of a path is made, private to its user, and may be there already', (t) => {
  const path = join(folder(t), 'a', 'b', 'c')
  makeHomeFolder(path)
  makeHomeFolder(path)
  assert.deepEqual(
    [path, join(path, '..')].map((at) => statSync(at).mode & 0o777),
    [0o700, 0o700],
  )
})

test('a home that is a file, or lies in one, is named as the file it is', async (t) => {
  const file = join(folder(t), 'file')
  writeFileSync(file, '')
  for (const path of [file, join(file, 'ledger', 'blobs')]) {
    const { code, retry, message } = await refusal(path)
    const says = `${file} is a file, not a folder: choose another home with --home or HOLON_HOME`
    assert.deepEqual({ code, retry, message }, { code: 'io', retry: 'never', message: says })
  }
})

test(
  'a place that takes no folders is refused at once',
  { skip: process.platform !== 'linux' },
  async () => {
    const { code, retry, message } = await refusal('/proc/holon-of-nobody/ledger/blobs')
    const says = 'No folder can be made in /proc: choose another home with --home or HOLON_HOME'
    assert.deepEqual({ code, retry, message }, { code: 'denied', retry: 'never', message: says })
  },
)

test('a name that no folder can have is told as the system tells it', async (t) => {
  const { code, message } = await refusal(join(folder(t), 'n'.repeat(300), 'ledger'))
  assert.deepEqual([code, message.includes('ENAMETOOLONG')], ['io', true])
})

test(
  'a folder that the system refuses for its own reason is told with that reason',
  { skip: process.platform !== 'linux' },
  async () => {
    const { message } = await refusal('/sys/holon-of-nobody')
    assert.match(message, /^Opening: .*E(PERM|ACCES|ROFS)/)
  },
)

test(
  'a folder that may not be written says so before anything is opened in it',
  { skip: process.getuid?.() === 0 ? 'root may write everywhere' : false },
  async (t) => {
    const path = join(folder(t), 'shut')
    mkdirSync(path, { mode: 0o500 })
    assert.equal((await refusal(path)).code, 'denied')
  },
)
