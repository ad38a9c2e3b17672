/** Two processes over one search index: who was overtaken writes nothing. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { searchIndexIn } from './search-index.ts'
import { termsOf } from '../../domain/memory/words.ts'
import type { IndexEntry } from './port.ts'

function emptyHome(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), 'holon-index-'))
  mkdirSync(join(home, 'ledger'), { mode: 0o700 })
  t.after(() => rmSync(home, { recursive: true, force: true }))
  return home
}

const entry = (ref: string): IndexEntry => ({
  agent_id: 'main',
  ref,
  kind: 'brief',
  at: '2026-03-02T09:00:00.000Z',
  seen_by: null,
  text: `words of ${ref}`,
  parts: '',
  stamp: null,
})

test('a batch that was made before somebody else wrote is refused whole', async (t) => {
  const home = emptyHome(t)
  const [mine, theirs] = [searchIndexIn(home), searchIndexIn(home)]
  const refs = async () => (await mine.walk(0, 10)).map(({ ref }) => ref)
  const batch = (ref: string, expected: string | null, state: string) => ({
    put: [entry(ref)],
    remove: [],
    expected,
    state,
  })
  const told = [
    await mine.write(batch('brief_1', null, 'at 1')),
    await theirs.write(batch('brief_2', 'at 1', 'at 2')),
    await mine.write({ ...batch('brief_3', 'at 1', 'at 3'), remove: [entry('brief_2')] }),
    await theirs.write(batch('brief_4', null, 'at 4')),
  ]
  assert.deepEqual(told, ['written', 'written', 'conflict', 'conflict'])
  assert.deepEqual([await mine.state(), await refs()], ['at 2', ['brief_1', 'brief_2']])
  assert.equal(await mine.write(batch('brief_3', 'at 2', 'at 3')), 'written')
  assert.deepEqual(
    [await theirs.state(), await refs()],
    ['at 3', ['brief_1', 'brief_2', 'brief_3']],
  )
  await mine.close()
  await theirs.close()
})

test('so many words are looked through for a part, and no more are kept', async (t) => {
  const index = searchIndexIn(emptyHome(t))
  t.after(() => index.close())
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const word = (n: number): string =>
    [n % 26, Math.floor(n / 26) % 26, Math.floor(n / 676) % 26, Math.floor(n / 17_576)]
      .map((at) => letters.charAt(at))
      .join('')
  const many = Array.from({ length: 199_999 }, (_, n) => `q${word(n)}`).join(' ')
  const found = async (query: string) => {
    const scope = { viewer: null, workspace: null, agent_id: null, kinds: null, limit: 9 }
    const all = await index.find({ terms: termsOf(query), match: 'all', ...scope })
    return all.map(({ ref }) => ref)
  }
  const put = (ref: string, text: string, expected: string | null) =>
    index.write({ put: [{ ...entry(ref), text }], remove: [], expected, state: ref })
  await put('many', many, null)
  await put('within', 'zebrarust', 'many')
  await put('beyond', 'swordrust', 'within')
  assert.deepEqual(await found('rust'), ['within'])
  assert.deepEqual(await found('sword'), ['beyond'])
})
