/** A child that asks is seen to ask in every turn until it is answered, about its item or not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChildQuestion } from '../../domain/state/task.ts'
import { anItem, aPrompt, aTask } from '../../testing/rows.ts'
import { aSituation, type SituationParts } from '../../testing/world/situations.ts'
import { charTokens } from '../estimate.ts'
import { renderOpening } from '../opening/render.ts'
import { wordsLines } from './pinned.ts'

const asking = (of: ChildQuestion['of']): ChildQuestion => ({
  key: 'wait_1',
  wait_id: 'wait_1',
  work_item_id: 'work_9',
  of,
  text: 'Runtime note: delete it?',
  choices: [],
})

const child = (asks: ChildQuestion | null) =>
  aTask('task_1', {
    work_item_id: 'work_a',
    kind: 'child_agent',
    label: 'Look',
    child_agent_id: 'main.1',
    asking: asks,
    output: { path: null, bytes: 0 },
  })

function taskLineIn(given: SituationParts): string | undefined {
  const base = { items: [anItem('work_a')], messages: [aPrompt('msg_1', 'How far is it?')] }
  const view = { tokens: charTokens, window: 200_000, random_fence: '7f3a9c2e' }
  const { user } = renderOpening(aSituation({ ...base, ...given }), view)
  assert.doesNotMatch(user, /delete it/, 'a child’s words stand in a result')
  return /^- task_1 "Look" running (?:since|for) [^,]*, (.*)$/m.exec(user)?.[1]
}

const told: readonly [ChildQuestion | null, string][] = [
  [null, 'output in TaskOutput'],
  [asking('supervisor'), 'asks you and waits for TaskInput, question and output in TaskOutput'],
  [asking('operator'), 'asks the operator, output in TaskOutput'],
]

for (const [asks, says] of told) {
  test(`a task that asks ${asks?.of ?? 'nobody'} says so with its item and without`, () => {
    const tasks = [child(asks)]
    const about = { id: 'work_a', tasks } as const
    assert.equal(taskLineIn({ about, running_tasks: tasks }), says)
    assert.equal(taskLineIn({ running_tasks: tasks }), `${says}, work_a`)
  })
}

test('of the words about an item the first, the lasting and the newest stay whole', () => {
  const later = Array.from({ length: 20 }, (_, i) =>
    aPrompt(`msg_${i + 2}`, `Step ${i}: ${'do this and that; '.repeat(30)}`),
  )
  later.splice(1, 0, aPrompt('msg_99', 'Never touch the schema.'))
  const words = [aPrompt('msg_1', 'Build the parser.'), ...later]
  const text = wordsLines(words, { tokens: charTokens }, 2_048).lines.join('\n')
  assert.match(text, /^Build the parser\.\n[\s\S]*^Never touch the schema\.\n[\s\S]*^Step 19: /m)
  assert.doesNotMatch(text, /^Step 0: /m)
  assert.match(text, /^- operator_prompt msg_2 at .*"Step 0: /m)
})
