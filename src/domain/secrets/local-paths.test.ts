import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutPlaces } from './local-paths.ts'

const cleaned = withoutPlaces({ home: '/u/ann/.local/holon', user_home: '/u/ann' })

const rows: [given: string, made: string][] = [
  ['/u/ann', '~'],
  ['see /u/ann/src and /u/ann/.local/holon/agents', 'see ~/src and $HOLON_HOME/agents'],
  ['/u/anna/src', '/u/anna/src'],
  ['/mnt/u/ann/src', '/mnt/u/ann/src'],
  ['cd "/u/ann"; ls', 'cd "~"; ls'],
  ['/u/ann/.local/holon2', '~/.local/holon2'],
  ['nothing', 'nothing'],
]
for (const [given, made] of rows) {
  test(`of ${given} there is told ${made}`, () => assert.equal(cleaned(given), made))
}

test('places leave texts and keys at any depth, and what has none is the same object', () => {
  assert.deepEqual(cleaned({ a: [{ '/u/ann/x': '/u/ann' }], n: 1, none: null }), {
    a: [{ '~/x': '~' }],
    n: 1,
    none: null,
  })
  const same = { a: ['b', { c: 1 }] }
  assert.equal(cleaned(same), same)
})

test('the root as a home folder replaces nothing', () => {
  assert.equal(withoutPlaces({ home: '/', user_home: '/' })('/usr/bin'), '/usr/bin')
})
