/**
 * Why a turn runs, told once more in its middle: what began it, and not what it was told to begin.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { delegated, taskResult, taskStatus, webhookEvent } from '../../domain/state/provenance.ts'
import { anEvent, anItem, aPrompt, aTurn } from '../../testing/rows.ts'
import { aSituation, type SituationParts } from '../../testing/world/situations.ts'
import { anchorSection } from './anchor.ts'

const ready = anItem('work_a')
const about = { id: 'work_a' } as const
const of = { task_id: 'task_9' } as const
const turn = (cause: ReturnType<typeof aTurn>['cause']) => aTurn({ cause })

/** Each cause of a turn, and what is said of it after a recap. */
const causes: Readonly<Record<string, [given: SituationParts, because: string]>> = {
  'the current item': [
    {
      items: [ready],
      focus: 'work_a',
      about,
      turn: turn({ kind: 'continue_current', work_item_id: 'work_a' }),
    },
    'your current work item was runnable',
  ],
  'a review': [
    {
      items: [ready],
      about,
      turn: turn({ kind: 'review_triggered', work_item_id: 'work_a', wait_ids: [] }),
    },
    'a wait was triggered, or its recheck time had come',
  ],
  'the queue': [
    { items: [ready], turn: turn({ kind: 'queued_available', work_item_ids: ['work_a'] }) },
    'queued work was ready and nothing was in focus',
  ],
  'words about an item': [
    { items: [ready], about, messages: [aPrompt('msg_1', 'x', { work_item_id: 'work_a' })] },
    'the operator wrote about work item work_a',
  ],
  'words about none': [
    { messages: [aPrompt('msg_1', 'x')] },
    'the operator wrote, without naming a work item',
  ],
  'the end of a task': [
    { messages: [anEvent('msg_1', 'x', { ...taskResult, ...of })] },
    'task task_9 had ended',
  ],
  'the question of a child': [
    { messages: [anEvent('msg_1', 'x', { ...taskStatus, ...of })] },
    'the child that task task_9 supervises had asked something',
  ],
  'an event': [{ messages: [anEvent('msg_1', 'x')] }, 'an outside event came in'],
  'a webhook': [{ messages: [anEvent('msg_1', 'x', webhookEvent)] }, 'an outside event came in'],
  'another agent': [
    { messages: [anEvent('msg_1', 'x', delegated([]))] },
    'another agent wrote to you',
  ],
  'the runtime': [
    { messages: [anEvent('msg_1', 'x', { kind: 'internal_followup' })] },
    'the runtime left you a message',
  ],
}

/** All of it but the time, in one line. */
const said = (given: SituationParts, goes_on: boolean): string =>
  anchorSection(aSituation(given), goes_on).replace(/^# Why this turn runs\n\nIt is \S+ /, '')

test('after a recap a turn goes on: it is told what began it, and is not told to begin', () => {
  const seen = new Set<string>()
  for (const [name, [given, because]] of Object.entries(causes)) {
    const [begins, on] = [said(given, false), said(given, true)]
    assert.equal(
      on,
      `This turn goes on; it began because ${because}. What was done about it since stands in the ` +
        'recap above and in the rounds below: go on from there, and begin nothing anew.',
      name,
    )
    assert.ok(!on.includes(begins), name)
    seen.add(aSituation(given).turn.cause.kind)
  }
  assert.deepEqual(
    [...seen].toSorted(),
    ['continue_current', 'message', 'queued_available', 'review_triggered'],
    'a cause is not among them',
  )
})
