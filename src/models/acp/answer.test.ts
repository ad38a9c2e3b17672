import assert from 'node:assert/strict'
import { test } from 'node:test'
import { optionNamed, questionText } from './answer.ts'
import type { AcpOption } from '../../ports/acp.ts'

const options: AcpOption[] = [
  { option_id: 'a', name: 'Allow this change', kind: 'allow_once' },
  { option_id: 'A-always', name: 'Allow for ever', kind: 'allow_always' },
  { option_id: 'r', name: 'Skip', kind: 'reject_once' },
]

test('an option is chosen by its number, id or name, and by a plain yes or no', () => {
  const answers: [string, number | null][] = [
    ['1', 1],
    [' 2. ', 2],
    ['0', null],
    ['3', 3],
    ['4', null],
    ['a', 1],
    ['a-ALWAYS', 2],
    ['"Skip"', 3],
    ['allow  this\nchange.', 1],
    ['Yes', 1],
    ['allow', 1],
    ['no!', 3],
    ['deny', 3],
    ['', null],
    ['yes, but not in src', null],
    ['allow for', null],
    ['always', null],
  ]
  assert.deepEqual(
    answers.map(([said]) => [said, optionNamed(said, options)]),
    answers,
  )
})

test('a yes that fits two options, or none, allows nothing', () => {
  const second: AcpOption = { option_id: 'b', name: 'Allow that', kind: 'allow_once' }
  const always = options.slice(1, 2)
  assert.deepEqual(
    [[...options, second], always, [], [...options, { ...second, name: 'Skip' }]].flatMap(
      (given) => [optionNamed('yes', given), optionNamed('Skip', given)],
    ),
    [null, 3, null, null, null, null, null, null],
  )
})

test('a question fits the reason of a wait, however much an agent offers', () => {
  const title = 'Delete the database'
  assert.equal(
    questionText({ permission_id: 'perm_1', title, options }),
    [
      'Permission asked: Delete the database',
      'Options:',
      '1 Allow this change (allow_once)',
      '2 Allow for ever (allow_always)',
      '3 Skip (reject_once)',
    ].join('\n'),
  )
  const many = Array.from({ length: 50 }, () => ({
    ...(options[0] as AcpOption),
    name: 'x'.repeat(500),
  }))
  const long = questionText({ permission_id: 'perm_1', title: 't'.repeat(500), options: many })
  assert(long.length <= 2_000, `${long.length}`)
  assert.match(long, /\nand 48 more$/)
})

test('an option is shown while all of the question is at most 1,900 characters', () => {
  const head = 'Permission asked: \nOptions:\n1 Skip (reject_once)'.length
  const asked = (n: number) => {
    const title = 'x'.repeat(n - head)
    return questionText({ permission_id: 'perm_1', title, options: options.slice(2) })
  }
  assert.deepEqual(
    [1_899, 1_900, 1_901].map((n) => asked(n).split('\n').at(-1)),
    ['1 Skip (reject_once)', '1 Skip (reject_once)', 'and 1 more'],
  )
})
