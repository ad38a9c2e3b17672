/** A question has its choices told apart, and an answer names one of them or is in words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answerWords,
  choiceNamed,
  choicesOf,
  choiceWithWords,
  plainQuestion,
  questionOf,
} from './question.ts'
import { questionText, type GivenChoice, type Question } from './question.ts'
import { isRejection } from '../rejection.ts'

function question(...choices: GivenChoice[]): Question {
  const made = questionOf('Which?', choices)
  assert.ok(made.ok)
  return made.question
}

test('a choice without a key has its place in the list as its key', () => {
  const { choices } = question({ label: ' red ' }, { label: 'blue', key: 'b' }, { label: 'green' })
  assert.deepEqual(choices, [
    { key: '1', label: 'red' },
    { key: 'b', label: 'blue' },
    { key: '3', label: 'green' },
  ])
})

test('choices that could be taken for each other are refused', () => {
  const nine = Array.from({ length: 9 }, (_, n) => ({ label: `choice ${n}` }))
  const rows: [given: GivenChoice[], code: string | null][] = [
    [[{ label: 'red' }, { label: 'Red ' }], 'choices_alike'],
    [
      [
        { label: 'red', key: 'x' },
        { label: 'blue', key: 'X' },
      ],
      'choices_alike',
    ],
    [[{ label: '2' }, { label: '5' }], 'choices_alike'],
    [[{ label: '1' }, { label: '2' }], null],
    [[{ label: ' ' }], 'choice_empty'],
    [[{ label: 'x'.repeat(201) }], 'over_limit'],
    [[{ label: 'x', key: 'y'.repeat(21) }], 'over_limit'],
    [nine, null],
    [[...nine, { label: 'the tenth' }], 'over_limit'],
    [[], null],
  ]
  for (const [given, code] of rows) {
    const made = choicesOf(given)
    assert.equal(isRejection(made) ? made.code : null, code, JSON.stringify(given))
  }
})

test('an answer begins with its choice, whatever mark stands behind it', () => {
  const rows: [said: string, choice: string, words: string][] = [
    ['no', 'no', ''],
    [' no use a\n branch ', 'no', 'use a branch'],
    ['no, use a branch', 'no', 'use a branch'],
    ['no,use a branch', 'no', 'use a branch'],
    ['no.', 'no', ''],
    ['No! Never.', 'No', 'Never.'],
    ['no: v2, not v1', 'no', 'v2, not v1'],
    ['no - use a branch', 'no', 'use a branch'],
    ['no — use a branch', 'no', 'use a branch'],
    ['no– use a branch', 'no', 'use a branch'],
    ['no… later', 'no', 'later'],
    ['like_for_item; thanks', 'like_for_item', 'thanks'],
    ['2. it may', '2', 'it may'],
    ['1.5', '1.5', ''],
    ['yes?', 'yes?', ''],
    ['yes? what is it', 'yes?', 'what is it'],
    ['no-one may', 'no-one', 'may'],
    ['"no" it is', '"no"', 'it is'],
    ['use a branch…', 'use', 'a branch…'],
    ['', '', ''],
  ]
  for (const [said, choice, words] of rows) {
    assert.deepEqual(choiceWithWords(said), { choice, words }, said)
  }
})

test('a question of no words is refused, and one that is too long', () => {
  const codes = [' \n', 'x'.repeat(8_001)].map((text) => {
    const made = questionOf(text, [])
    return isRejection(made) && made.code
  })
  assert.deepEqual(codes, ['question_empty', 'over_limit'])
})

test('an answer by the key or the label of a choice says the label; any other says its own words', () => {
  const asked = question({ label: 'red', key: 'r' }, { label: 'Light blue' })
  const rows: [said: string, words: string][] = [
    ['r', 'red'],
    [' R ', 'red'],
    ['RED', 'red'],
    ['2', 'Light blue'],
    ['light blue\n', 'Light blue'],
    ['red, but darker', 'red, but darker'],
    ['1', '1'],
    ['', ''],
  ]
  for (const [said, words] of rows) assert.equal(answerWords(asked, said), words)
  assert.equal(answerWords(plainQuestion('Which?'), 'r'), 'r')
  assert.equal(answerWords(null, 'r'), 'r')
  assert.equal(choiceNamed(asked, 'green'), null)
})

test('the text of a question ends with what is offered', () => {
  const asked = question({ label: 'red', key: 'r' }, { label: 'two', key: 'two' })
  assert.equal(questionText(asked), 'Which?\nr: red\ntwo')
})
