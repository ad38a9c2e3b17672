import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultOf, guarded } from './fault.ts'
import { LedgerFault } from '../port.ts'

const sqlite = (errcode: number) =>
  Object.assign(new Error('said by SQLite'), { code: 'ERR_SQLITE_ERROR', errcode })
const system = (code: string) =>
  Object.assign(new Error('said by the system'), { code, syscall: 'open' })

test('what the world says becomes a fault with a code and whether to try again', () => {
  const table: [Error, string, string][] = [
    [sqlite(13), 'disk_full', 'later'],
    [sqlite(8), 'read_only', 'never'],
    [sqlite(8 + 256), 'read_only', 'never'],
    [sqlite(14), 'denied', 'never'],
    [sqlite(3), 'denied', 'never'],
    [sqlite(11), 'corrupt', 'never'],
    [sqlite(26), 'corrupt', 'never'],
    [sqlite(23), 'denied', 'never'],
    [sqlite(5), 'io', 'later'],
    [sqlite(6), 'io', 'later'],
    [sqlite(15), 'io', 'later'],
    [sqlite(5 + 512), 'io', 'later'],
    [sqlite(10), 'io', 'never'],
    [sqlite(10 + 1024), 'io', 'never'],
    [sqlite(4874), 'disk_full', 'later'],
    [sqlite(7), 'io', 'later'],
    [system('ENOSPC'), 'disk_full', 'later'],
    [system('EDQUOT'), 'disk_full', 'later'],
    [system('EROFS'), 'read_only', 'never'],
    [system('EACCES'), 'denied', 'never'],
    [system('EPERM'), 'denied', 'never'],
    [system('EMFILE'), 'io', 'later'],
    [system('ENFILE'), 'io', 'later'],
    [system('ENOMEM'), 'io', 'later'],
    [system('EIO'), 'io', 'never'],
  ]
  for (const [error, code, retry] of table) {
    const fault = faultOf(error, 'Committing')
    assert.deepEqual([fault?.code, fault?.retry, fault?.cause], [code, retry, error])
    assert.match(fault?.message ?? '', /^Committing: .*\(said by /)
  }
})

test('a refusal of the store’s own rules, and any other error, is a bug and no fault', async () => {
  const codeAlone = Object.assign(new Error('bug'), { code: 'EIO' })
  const callAlone = Object.assign(new Error('bug'), { syscall: 'open' })
  const bugs = [sqlite(19), sqlite(19 + 1792), sqlite(1), new Error('bug'), 'text']
  for (const bug of [...bugs, codeAlone, callAlone]) {
    assert.equal(faultOf(bug, 'Committing'), null)
    await assert.rejects(
      guarded('Committing', () => Promise.reject(bug)),
      (thrown) => thrown === bug,
    )
  }
})

test('a fault stays the fault it is', () => {
  const fault = new LedgerFault('fenced', 'taken over', 'never')
  assert.equal(faultOf(fault, 'Committing'), fault)
})
