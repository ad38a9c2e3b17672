import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorResult } from '../domain/call.ts'
import {
  aCall,
  aPrompt,
  aRound,
  aSituation,
  aTask,
  anItem,
  succeededWith,
} from '../testing/situations.ts'
import { compact } from './compact.ts'
import { charTokens } from './estimate.ts'
import { wordsLines } from './pinned.ts'
import { recapSection } from './recap.ts'
import { renderOpening } from './render.ts'

const work = 'work_01a201d1-204c-71ec-a7ba-6b1897165094'
const foreign = 'work_99999999-9999-7999-8999-999999999999'
const view = { tokens: charTokens, max_tokens: 4_000, fence: '7f3a9c2e' }

const edit = (path: string) =>
  aCall('EditFile', { path }, succeededWith('EditFile', `created ${path}`, { path }), {
    effect_class: 'content_checked',
    changed_something: true,
    suffix: path.slice(-8, -3).padStart(8, 'e'),
  })
const rounds = [
  aRound(1, `I look, as ${foreign} told me.`, [
    aCall(
      'GetWorkItem',
      {},
      succeededWith('GetWorkItem', `${work} is runnable`, { item: { id: work } }),
    ),
  ]),
  aRound(2, '', [edit('/repo/a.ts'), edit('/repo/b.ts')], { message_ids: ['msg_1'] }),
  aRound(3, '', [
    edit('/repo/a.ts'),
    aCall('ReadFile', {}, errorResult('ReadFile', 'rejected', 'file_not_found', `no ${foreign}`), {
      suffix: 'bad00bad',
    }),
  ]),
]

test('§10 a recap names changed files, handles and errors, and masks ids nobody knows', () => {
  const { text, form, why } = recapSection(rounds, view)
  assert.deepEqual([form, why], ['compact', 'rounds 1 to 3 went out of the request'])
  assert.equal(
    text,
    [
      '# Earlier rounds of this turn, recapped',
      '',
      '<<7f3a9c2e recap of rounds 1 to 3>>',
      '3 rounds with 5 calls: EditFile 3, GetWorkItem 1, ReadFile 1; 1 failed.',
      'Changed files, the last change last:',
      '- /repo/b.ts (EditFile in round 2)',
      '- /repo/a.ts (EditFile, 2 times, last in round 3)',
      'Handles:',
      `- ${work} (GetWorkItem, round 1)`,
      '- msg_1 (came, round 2)',
      'What failed:',
      '- round 3, ReadFile: rejected, file_not_found. no work_… [call_bad00bad]',
      'Round by round:',
      `- 1: you said "I look, as work_… told me."; GetWorkItem: ${work} is runnable`,
      '- 2: EditFile: created /repo/a.ts [call_eeeepo/a]; EditFile: created /repo/b.ts [call_eeeepo/b]',
      '- 3: EditFile: created /repo/a.ts [call_eeeepo/a]; ReadFile failed: no work_… [call_bad00bad]',
      '<<7f3a9c2e end>>',
    ].join('\n'),
  )
})

test('§10 a recap keeps to its room, the newest first, whatever there is', () => {
  const many = Array.from({ length: 400 }, (_, i) =>
    aRound(i + 1, `Words ${i + 1}.`, [edit(`/r/${i}.ts`)]),
  )
  for (const max_tokens of [400, 1_000, 4_000]) {
    const { text } = recapSection(many, { ...view, max_tokens })
    assert.ok(charTokens(text) <= max_tokens, `${charTokens(text)} of ${max_tokens}`)
    assert.match(text, /\/r\/399\.ts/)
    assert.match(text, /older lines\) left out|older line/)
  }
})

const compacting = (sizes: readonly number[], before: number, window = 32_000) =>
  compact(aSituation({ messages: [aPrompt('msg_1', 'Go on.')] }), rounds, {
    tokens: charTokens,
    window,
    random_fence: '7f3a9c2e',
    system: { text: 'system text', lines: [] },
    tool_tokens: 5_000,
    sizes,
    before,
    notes: 0,
    to: 0.5,
    summary_tokens: 0,
  })

test('§10 how many rounds go is decided by their sizes, and at least the newest stays', () => {
  assert.equal(compacting([10_000, 10_000, 2_000], 28_000)?.recapped, 2)
  assert.equal(compacting([20_000, 3_000, 2_000], 28_000)?.recapped, 1)
  assert.equal(compacting([1_000, 1_000, 20_000], 28_000), null)
  assert.equal(compacting([1_000, 1_000, 1_000], 9_000), null)
  assert.deepEqual(
    compacting([10_000, 10_000, 2_000], 28_000),
    compacting([10_000, 10_000, 2_000], 28_000),
  )
})

test('§10 what is pinned is the same at another time, under other marks and in a small window', () => {
  const given = {
    items: [anItem('work_a', { blocked_by: 'no access', objective: 'the long one' })],
    about: { id: 'work_a', tasks: [aTask('task_1', { work_item_id: 'work_a' })] } as const,
    messages: [aPrompt('msg_1', 'Go on.')],
    words: [aPrompt('msg_0', 'Keep the schema as it is.', { turn_id: 'turn_past' })],
  }
  const pinned = (at: string, random_fence: string, window: number) => {
    const { user } = renderOpening(
      { ...aSituation(given), now: at },
      { tokens: charTokens, window, random_fence },
    )
    return user.slice(user.indexOf('id: work_a'), user.indexOf('state: '))
  }
  const one = pinned('2026-11-21T12:00:00.000Z', '7f3a9c2e', 200_000)
  assert.match(
    one,
    /^objective: the long one$[\s\S]*^blocked by: "no access"$[\s\S]*^open tasks:$/m,
  )
  assert.match(one, /^Keep the schema as it is\.$/m)
  assert.equal(pinned('2026-11-25T12:00:00.000Z', 'another0', 16_000), one)
})

test('§10 of too many words the first and the newest stay', () => {
  const words = Array.from({ length: 30 }, (_, i) =>
    aPrompt(`msg_${i}`, `Say ${i}. ${'x'.repeat(200)}`),
  )
  const { lines, left_out } = wordsLines(words, charTokens, 1_000)
  const text = lines.join('\n')
  assert.deepEqual(
    [/Say 0\./, /Say 1\./, /Say 29\./].map((one) => one.test(text)),
    [true, false, true],
  )
  assert.match(text, new RegExp(`\\(${left_out} messages left out here\\)`))
  assert.ok(charTokens(text) <= 1_100)
})

test('§10 the manifest names every section of an opening, with its size and why', () => {
  const { sections, system, user } = renderOpening(
    aSituation({ messages: [aPrompt('msg_1', 'Hi.')] }),
    {
      tokens: charTokens,
      window: 200_000,
      random_fence: '7f3a9c2e',
    },
  )
  const shown = sections.filter(({ form }) => form !== 'omitted').map(({ section }) => section)
  assert.deepEqual(shown, ['system', 'agent', 'item', 'others', 'anchor', 'input'])
  const sum = sections.reduce((total, { tokens }) => total + tokens, 0)
  assert.ok(Math.abs(sum - charTokens(system) - charTokens(user)) < 20)
  assert.deepEqual(
    sections.find(({ section }) => section === 'notes'),
    {
      section: 'notes',
      tokens: 0,
      form: 'omitted',
      why: 'the turn has no item',
      hash: sections[3]?.hash,
    },
  )
})
