/** The control token: what is valid, and that nothing is where there is none. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAgainst } from './token.ts'

const token = 'a'.repeat(43)

test('only the token of the home is valid, and nothing where it is missing, empty or short', async () => {
  const table: [stored: string | null, given: string, valid: boolean][] = [
    [token, token, true],
    [token, `${token}a`, false],
    [token, token.slice(1), false],
    [token, '', false],
    [null, '', false],
    [null, 'null', false],
    [null, token, false],
    ['', '', false],
    ['short', 'short', false],
  ]
  const found = []
  for (const [stored, given] of table) {
    found.push([stored, given, await checkAgainst(async () => stored)(given)])
  }
  assert.deepEqual(found, table)
})

test('the token is read anew at each look, so that a new one holds at once', async () => {
  let stored: string | null = token
  const isValid = checkAgainst(async () => stored)
  const before = await isValid(token)
  stored = 'b'.repeat(43)
  assert.deepEqual([before, await isValid(token), await isValid(stored)], [true, false, true])
})
