import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { thereAre } from './names.ts'

test('names in a sentence are marked, however many there are', () => {
  const said = [[], ['runbooks'], ['main', 'runbooks']].map((names) => thereAre(names))
  assert.deepEqual(said, [
    'there is none yet',
    'there is: "runbooks"',
    'there are: "main", "runbooks"',
  ])
})

test('no sentence of the sources runs names into its words', () => {
  const bare = globSync('src/**/*.ts').filter((file) =>
    /there (?:are|is) \$\{[^}]*(?:known|names|join)/.test(readFileSync(file, 'utf8')),
  )
  assert.deepEqual(bare, [])
})
