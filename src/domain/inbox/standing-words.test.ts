import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNod, isStanding } from './standing-words.ts'

test('words that hold for work to come are known in each language of the table', () => {
  const words = [
    'remember: the word NOTE of the design must never be printed',
    'docs/ stays as it is',
    'From now on commit on branches.',
    'Don’t ever push.',
    'Ab jetzt alles auf Deutsch',
    'Bitte fass das Schema niemals an.',
    'Ne pousse jamais.',
    'A partir de ahora, pruebas primero',
    '以后不要推送',
    '今後は英語で',
  ]
  assert.deepEqual(
    words.filter((one) => !isStanding(one)),
    [],
  )
})

test('words of the moment are none of them', () => {
  const words = ['go on', 'Fix the total of invoice 0042', 'What about several?', 'Das ist nett']
  assert.deepEqual(words.filter(isStanding), [])
})

test('a nod is made of nods only', () => {
  const cases = [
    ['go on', true],
    ['OK, thanks!', true],
    ['Yes.', true],
    ['ok, the 2. one', true],
    ['ja, mach weiter', true],
    ['好的，继续', true],
    ['no pushes', false],
    ['go on with the parser', false],
    ['1 - sorry, that was me', false],
    ['', false],
  ] as const
  assert.deepEqual(
    cases.map(([words]) => [words, isNod(words)]),
    cases,
  )
})
