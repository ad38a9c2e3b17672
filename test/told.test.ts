/**
 * Words for a person are delivered once, whatever calls stand beside them and whatever becomes of
 * those calls: as a report, beside a question, or as progress when the wait ends the turn.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Json } from '../src/ports/json.ts'
import type { Wake } from '../src/domain/state/wait.ts'
import { calls, says, type ScriptedCall } from '../src/testing/scripted-model.ts'
import { scene } from './support/scene.ts'
import { call, creates, until, waitsFor, type Answer } from './support/scripts.ts'
import { textOf, type Stage } from './support/stage.ts'

const words = 'The parser keeps comments now. It was run on every file of the corpus.'
const nowhere = 'work_00000000-0000-7000-8000-000000000000'

const completion = (id: string, more: Json = {}): ScriptedCall =>
  call('CompleteWorkItem', { work_item_id: id, ...(more as object) })

/** Calls beside the words, before the one that ends the turn; `as`: the kind of what is told. */
const beside: Readonly<
  Record<
    string,
    { before?: (s: Stage) => ScriptedCall[]; after?: (s: Stage) => ScriptedCall[]; as?: string }
  >
> = {
  'no other call': {},
  'a completion': { before: (s) => [completion(s.id('B'))], as: 'result' },
  'a completion of what is completed': { before: (s) => [completion(s.id('C'))] },
  'a completion of nothing there': { before: () => [completion(nowhere)] },
  'a completion that a running command refuses': { before: (s) => [completion(s.id('D'))] },
  'a completion that is not valid': { before: () => [call('CompleteWorkItem', { item: 'B' })] },
  'a completion behind it': { after: (s) => [completion(s.id('B'))], as: 'result' },
  'a completion of what is completed behind it': { after: (s) => [completion(s.id('C'))] },
  'a completion of nothing there behind it': { after: () => [completion(nowhere)] },
  'a question about another item': {
    before: (s) => [waitsFor('operator_input', { work_item_id: s.id('B'), question: 'Which?' })],
    as: 'reply',
  },
  'a question that is refused': {
    before: () => [waitsFor('operator_input', { work_item_id: nowhere, question: 'Which?' })],
  },
  'a wait of another item': {
    before: (s) => [waitsFor('timer', { work_item_id: s.id('B'), wait_ms: 3_600_000 })],
  },
}

const running = ({ box }: Stage): string => {
  const [task] = [...(box.host.facts('main')?.rows('tasks') ?? [])]
  assert.ok(task)
  return task.id
}

/** What ends the turn, by what it waits for. */
const ends: Readonly<Record<Wake, (s: Stage) => Readonly<Record<string, Json>>>> = {
  timer: () => ({ wait_ms: 3_600_000 }),
  external: () => ({ source: 'ci' }),
  operator_input: () => ({ question: 'Shall I go on?' }),
  task_result: (s) => ({ resource: running(s) }),
}

/**
 * `C` is completed with the same words, a command of `D` runs, and the turn is about `A`; then what
 * is given.
 */
async function staged(t: TestContext, ...then: ((s: Stage) => Answer)[]): Promise<Stage> {
  const s = await scene(
    t,
    () => creates('A', 'B', 'C', 'D'),
    (s) => calls(words, completion(s.id('C'))),
    (s) => calls(call('PickWorkItem', { work_item_id: s.id('D') })),
    () => calls(call('ExecCommand', { cmd: until('over'), yield_ms: 0 })),
    (s) => calls(call('PickWorkItem', { work_item_id: s.id('A'), reason: 'it is next' })),
    ...then,
    ...Array.from({ length: 12 }, () => () => says('')),
  )
  await s.act({ do: 'send', text: 'Begin.' })
  await s.hurry('turn_ended')
  await s.rest()
  return s
}

/** As what the words went to the operator, after the report of `C`. */
async function told(s: Stage): Promise<string[]> {
  const all = await s.rows('briefs')
  const [first, ...kinds] = all.flatMap(({ kind, text }) => (text.includes(words) ? [kind] : []))
  assert.equal(first, 'result')
  return kinds
}

/** A wait for the operator without a question of its own: the words are the question. */
test('words that are the question of a wait are told as that, whatever stands beside them', async (t) => {
  for (const [which, { before, after, as }] of Object.entries(beside)) {
    const s = await staged(t, (s) =>
      calls(words, ...(before?.(s) ?? []), waitsFor('operator_input'), ...(after?.(s) ?? [])),
    )
    const claimed = after !== undefined
    assert.deepEqual(await told(s), [as ?? (claimed ? 'reply' : 'question')], which)
    await s.sound()
  }
})

test('who ends with nothing is told which words beside calls nobody got', async (t) => {
  const asked = async (...answers: ((s: Stage) => Answer)[]): Promise<string | undefined> => {
    const s = await scene(
      t,
      ...answers,
      () => says(''),
      () => says('Here.'),
    )
    await s.say('Begin.')
    await s.sound()
    return /answer was empty\. (.*)Go on:/.exec(textOf(s.model.requests.at(-1)))?.[1]
  }
  const looks = call('ListTasks')
  const unsaid = (text: string) =>
    `What you wrote beside calls in this turn was delivered to nobody, the last of it «${text}». `
  const told = [
    await asked(() => calls(looks)),
    await asked(
      () => calls('One.', looks),
      () => calls('The other\nthing.', looks),
    ),
    await asked(
      () => creates('A'),
      (s) => calls(words, completion(s.id('A'))),
    ),
    await asked(
      () => creates('A'),
      (s) => calls('One.', completion(nowhere), completion(s.id('A'))),
    ),
    await asked(() => calls('One.', completion(nowhere))),
  ]
  assert.deepEqual(told, ['', unsaid('The other thing.'), '', '', unsaid('One.')])
})

test('an answer that was cut and went on is told whole, in front of a wait and of a completion', async (t) => {
  const [head, rest] = [words.slice(0, 25), words.slice(25)]
  const ways: Readonly<Record<string, (s: Stage) => ScriptedCall>> = {
    progress: () => waitsFor('timer', { wait_ms: 3_600_000 }),
    question: () => waitsFor('operator_input'),
    result: (s) => completion(s.id('A')),
  }
  for (const [kind, ends] of Object.entries(ways)) {
    const s = await staged(
      t,
      () => says(head, { finish: 'length' }),
      (s) => calls(rest, ends(s)),
    )
    assert.deepEqual(await told(s), [kind])
    await s.sound()
  }
})

for (const [which, { before, after, as }] of Object.entries(beside)) {
  for (const [wake, given] of Object.entries(ends)) {
    test(`words beside ${which} and a wait for ${wake} are told once`, async (t) => {
      const s = await staged(t, (s) =>
        calls(words, ...(before?.(s) ?? []), waitsFor(wake, given(s)), ...(after?.(s) ?? [])),
      )
      assert.deepEqual(await told(s), [as ?? (wake === 'operator_input' ? 'reply' : 'progress')])
      await s.sound()
    })
  }
}
