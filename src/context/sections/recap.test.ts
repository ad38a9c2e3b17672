import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorResult } from '../../domain/state/call.ts'
import { aSituation } from '../../testing/world/situations.ts'
import { compact } from '../compaction/compact.ts'
import { charTokens } from '../estimate.ts'
import { wordsLines } from './pinned.ts'
import { recapSection } from './recap.ts'
import { renderOpening } from '../opening/render.ts'
import type { Situation } from './situation.ts'
import { aCall, anItem, aPlan, aPrompt, aRound, aTask, succeededWith } from '../../testing/rows.ts'

const work = 'work_01a201d1-204c-71ec-a7ba-6b1897165094'
const foreign = 'work_99999999-9999-7999-8999-999999999999'
const view = { tokens: charTokens, max_tokens: 4_000, texts_tokens: 4_000, fence: '7f3a9c2e' }

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

test('a recap names files, handles and errors, keeps own words, and masks foreign ids', () => {
  const { text, form, why } = recapSection(rounds, view)
  assert.deepEqual([form, why], ['compact', 'rounds 1 to 3 went out of the request'])
  assert.equal(
    text,
    [
      '# Earlier rounds of this turn, recapped',
      '',
      'Rounds 1 to 3 of this turn are no longer in this request: their results are gone, what you ' +
        "said stays. MemoryGet has a call's result by its id, and your words of round 3 as " +
        'turn_now/3; TaskOutput has the output of a task; a file can be read again.',
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
      `- 1: GetWorkItem: ${work} is runnable [call_0000beef]`,
      `  you said: I look, as ${foreign} told me.`,
      '- 2: EditFile: created /repo/a.ts [call_eeeepo/a]; EditFile: created /repo/b.ts [call_eeeepo/b]',
      '- 3: EditFile: created /repo/a.ts [call_eeeepo/a]; ReadFile failed: no work_… [call_bad00bad]',
      '<<7f3a9c2e end>>',
    ].join('\n'),
  )
})

test('a recap keeps to its room, the newest first, whatever there is', () => {
  const many = Array.from({ length: 400 }, (_, i) =>
    aRound(i + 1, `Words ${i + 1}.`, [edit(`/r/${i}.ts`)]),
  )
  for (const max_tokens of [400, 1_000, 4_000]) {
    const { text } = recapSection(many, { ...view, max_tokens, texts_tokens: 0 })
    assert.ok(charTokens(text) <= max_tokens, `${charTokens(text)} of ${max_tokens}`)
    assert.match(text, /\/r\/399\.ts/)
    assert.match(text, /older lines\) left out|older line/)
  }
})

test('own words stay whole, over several lines; beyond their room the oldest go', () => {
  const note = (n: number) =>
    `Incident ${n}: 96 minutes.\nDecision: ${'keep it. '.repeat(30)}end ${n}.`
  const run = (n: number) =>
    aCall(
      'ExecCommand',
      { cmd: `npm test -- ${n}` },
      succeededWith('ExecCommand', 'exit status 0'),
      {
        task_id: `task_${n}`,
      },
    )
  const many = Array.from({ length: 9 }, (_, i) => aRound(i + 1, note(i + 1), [run(i + 1)]))
  const whole = recapSection(many, view).text
  for (let n = 1; n <= 9; n++) {
    assert.ok(whole.includes(`you said: ${note(n)}`), `the words of round ${n}`)
    assert.ok(whole.includes(`- ${n}: ExecCommand "npm test -- ${n}": exit status 0 [task_${n}]`))
  }
  const { text } = recapSection(many, { ...view, texts_tokens: 300 })
  const kept = [1, 5, 6, 7, 8, 9].filter((n) => text.includes(note(n)))
  assert.deepEqual(kept, [7, 8, 9].slice(-kept.length))
  assert.ok(kept.length > 0)
  const [one] = many
  const cut = recapSection(one ? [one] : [], { ...view, texts_tokens: 40 }).text
  assert.match(cut, /you said: Incident 1: 96 minutes\.[\s\S]*… \(cut: MemoryGet turn_now\/1\)$/m)
})

test("a round's words stay where its calls have no room, and its calls where its words have none", () => {
  const of = Array.from({ length: 60 }, (_, i) => {
    const n = String(i + 1).padStart(2, '0')
    return aRound(i + 1, `Words ${n}.`, [edit(`/r/${n}.ts`)])
  })
  const shown = (more: Partial<typeof view>) => {
    const { text } = recapSection(of, { ...view, ...more })
    const all = of.map(({ round: { n } }) => String(n).padStart(2, '0'))
    const words = all.filter((n) => text.includes(`you said: Words ${n}.`))
    const done = all.filter((n) => text.includes(`: EditFile: created /r/${n}.ts`))
    return { words: words.length, done: done.length, bare: [...text.matchAll(/^- \d+:$/gm)].length }
  }
  const few = shown({ max_tokens: 1_200 })
  assert.ok(few.done > 0 && few.done < 60, `${few.done} lines`)
  assert.deepEqual(few, { words: 60, done: few.done, bare: 60 - few.done })
  assert.deepEqual(shown({ texts_tokens: 0 }), { words: 0, done: 60, bare: 0 })
})

const compacting = (
  sizes: readonly number[],
  { before = 28_000, window = 32_000, given = {}, of = rounds }: Partial<Compacting> = {},
) =>
  compact({ ...aSituation({ messages: [aPrompt('msg_1', 'Go on.')] }), ...given }, of, {
    tokens: charTokens,
    window,
    random_fence: '7f3a9c2e',
    system: { text: 'system text', lines: [] },
    tool_tokens: 5_000,
    sizes,
    before,
    notes: 0,
    to: 0.6,
    summary_tokens: 0,
  })
type Compacting = {
  before: number
  window: number
  given: Partial<Situation>
  of: typeof rounds
}

test('how many rounds go is decided by their sizes, and at least the newest stays', () => {
  assert.equal(compacting([12_000, 10_000, 2_000])?.recapped, 2)
  assert.equal(compacting([20_000, 3_000, 2_000])?.recapped, 1)
  assert.equal(compacting([1_000, 1_000, 20_000]), null)
  assert.equal(compacting([1_000, 1_000, 1_000], { before: 9_000 }), null)
  assert.deepEqual(compacting([12_000, 10_000, 2_000]), compacting([12_000, 10_000, 2_000]))
})

test('the newest rounds stay up to half the window, however much room there is', () => {
  const of = Array.from({ length: 10 }, (_, i) => aRound(i + 1, `Words ${i + 1}.`))
  const sizes = of.map(() => 10_000)
  const made = compacting(sizes, { before: 105_000, window: 120_000, of })
  assert.equal(made?.recapped, 4)
})

test('after a recap: first rounds give way, then own words, then words about the item', () => {
  const of = Array.from({ length: 6 }, (_, i) =>
    aRound(i + 1, `Note ${i + 1}: ${'x'.repeat(2_400)}`, [edit(`/r/${i}.ts`)]),
  )
  const item = anItem('work_a', { objective: 'the long one' })
  const plan = { id: 'work_a', plan: aPlan('work_a', `# Plan\n${'step '.repeat(300)}`) } as const
  const words = Array.from({ length: 4 }, (_, i) =>
    aPrompt(`msg_w${i}`, `Never ${i}. ${'y'.repeat(1_600)}`, { turn_id: 'turn_past' }),
  )
  const given = aSituation({
    items: [item],
    about: plan,
    words,
    messages: [aPrompt('msg_1', 'Go.')],
  })
  const shown = (newest: number) => {
    const sizes = [4_000, 4_000, 4_000, 2_000, 2_000, newest]
    const made = compacting(sizes, { before: 30_000, window: 30_000, of, given })
    assert.ok(made, `nothing was won with ${newest}`)
    const { user } = made.opening
    assert.match(user, /step step/, 'the plan stays')
    assert.match(user, /This turn goes on; it began because the operator wrote/)
    const rest = sizes.slice(made.recapped).reduce((sum, size) => sum + size, 0)
    assert.equal(made.after, 5_000 + charTokens('system text') + charTokens(user) + rest)
    return {
      fits: made.after <= 18_000,
      rounds: of.length - made.recapped,
      notes: user.match(/^ {2}you said: Note \d/gm)?.length ?? 0,
      words: user.match(/^Never \d\. y{1600}$/gm)?.length ?? 0,
    }
  }
  assert.deepEqual([1_000, 4_000, 8_500, 10_800].map(shown), [
    { fits: true, rounds: 2, notes: 4, words: 4 },
    { fits: true, rounds: 1, notes: 5, words: 4 },
    { fits: true, rounds: 1, notes: 3, words: 4 },
    { fits: true, rounds: 1, notes: 0, words: 2 },
  ])
})

test('what is pinned is the same at another time, under other marks and in a small window', () => {
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
    return user.slice(user.indexOf('id: work_a'), user.indexOf('last changed: '))
  }
  const one = pinned('2026-11-21T12:00:00.000Z', '7f3a9c2e', 200_000)
  assert.match(
    one,
    /^objective: the long one$[\s\S]*^blocked by: "no access"$[\s\S]*^open tasks:$/m,
  )
  assert.match(one, /^Keep the schema as it is\.$/m)
  assert.equal(pinned('2026-11-25T12:00:00.000Z', 'another0', 16_000), one)
})

test('of too many words the first and the newest stay, others are a line each, the rest a count', () => {
  const words = Array.from({ length: 60 }, (_, i) =>
    aPrompt(`msg_${i}`, `Say ${i}. ${'x'.repeat(200)}`),
  )
  const { lines, left_out } = wordsLines(words, { tokens: charTokens }, 1_000)
  const text = lines.join('\n')
  const whole = (n: number) => new RegExp(`^Say ${n}\\. x{200}$`, 'm').test(text)
  const short = (n: number) => new RegExp(`^- operator_prompt msg_${n} at .*: "Say ${n}`, 'm')
  assert.deepEqual([whole(0), whole(1), whole(40), whole(59)], [true, false, false, true])
  assert.deepEqual([short(1).test(text), short(45).test(text)], [false, true])
  assert.match(text, new RegExp(`\\(${left_out} messages left out here\\)`))
  const named = new Set(text.match(/\bmsg_\d+/g))
  assert.equal(named.size + left_out, 60)
  assert.ok(charTokens(text) <= 1_600)
})

test('the manifest names every section of an opening, with its size and why', () => {
  const { sections, system, user } = renderOpening(
    aSituation({ messages: [aPrompt('msg_1', 'Hi.')] }),
    {
      tokens: charTokens,
      window: 200_000,
      random_fence: '7f3a9c2e',
    },
  )
  const shown = sections.filter(({ form }) => form !== 'omitted').map(({ section }) => section)
  assert.deepEqual(shown, ['system', 'agent', 'anchor', 'input'])
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
