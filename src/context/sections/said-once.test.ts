/** An opening says each thing once, defaults not at all, and of what holds an item all of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Brief } from '../../domain/state/brief.ts'
import { plainQuestion } from '../../domain/state/question.ts'
import { taskResult } from '../../domain/state/provenance.ts'
import { aSituation, type SituationParts } from '../../testing/world/situations.ts'
import { charTokens } from '../estimate.ts'
import { renderOpening } from '../opening/render.ts'
import { anEvent, anItem, aPlan, aPrompt, aTask, aWait, before } from '../../testing/rows.ts'

const opening = (given: SituationParts) => {
  const situation = aSituation({ messages: [aPrompt('msg_1', 'Go on.')], ...given })
  const view = { tokens: charTokens, window: 200_000, random_fence: '7f3a9c2e' }
  return renderOpening(situation, view).user
}

const own = { id: 'work_a' } as const
const times = (text: string, what: string | RegExp): number => text.split(what).length - 1

test('a runnable item in focus has no line of state, todos or sizes', () => {
  const plan = aPlan('work_a', 'Look.\n')
  const user = opening({
    items: [anItem('work_a', { updated_at: before(1) })],
    focus: 'work_a',
    about: { ...own, plan },
  })
  assert.doesNotMatch(user, /state:|todos|revision|bytes|changed/)
  assert.match(user, /^# Current work item$/m)
})

test('what the turn woke for stands in its reason and input, and not with the item again', () => {
  const ended = aTask('task_1', { status: 'completed', exit_status: 0, ended_at: before(1) })
  const older = aTask('task_2', { status: 'completed', exit_status: 0, ended_at: before(2) })
  const wait = aWait('wait_1', {
    work_item_id: 'work_a',
    wake: 'task_result',
    resource: 'task_1',
    status: 'resolved',
    resolved_at: before(1),
  })
  const user = opening({
    items: [anItem('work_a')],
    focus: 'work_a',
    about: { ...own, waits: [wait], tasks: [ended, older] },
    woken_by: [wait],
    messages: [
      anEvent('msg_1', 'task_1 (npm test): completed', { ...taskResult, task_id: 'task_1' }),
    ],
  })
  assert.doesNotMatch(user, /ended waits/)
  assert.equal(times(user, /^- task_1 /m), 0)
  assert.equal(times(user, /^- task_2 /m), 1)
  assert.match(user, /^- Task task_1, waited for/m)
  assert.match(user, /^task_1 \(npm test\): completed$/m)
})

test("an item that waits shows its own blocker and the wait's words, subject and condition", () => {
  const wait = aWait('wait_b', {
    work_item_id: 'work_b',
    wake: 'external',
    reason: 'the review',
    resource: 'pr/12',
    condition: 'both have approved',
  })
  const user = opening({
    items: [anItem('work_b', { blocked_by: 'legal must agree' })],
    waits: [wait],
  })
  assert.match(user, /; waits: external, "the review", resource "pr\/12", condition "both have/)
  assert.match(user, /^- work_b [^\n]* approved"; blocked by: "legal must agree"$/m)
})

test('a question of an item stands once, with its answers, where the message names no item', () => {
  const question = {
    ...plainQuestion('Which colour?'),
    choices: [
      { key: '1', label: 'red' },
      { key: '2', label: 'blue' },
    ],
  }
  const wait = aWait('wait_b', { work_item_id: 'work_b', wake: 'operator_input', question })
  const user = opening({
    items: [anItem('work_b')],
    waits: [wait],
    messages: [aPrompt('msg_1', '1')],
  })
  assert.equal(times(user, 'Which colour?'), 1)
  assert.match(user, /^- work_b [^\n]*; asks: "Which colour\? 1: red 2: blue"$/m)
  assert.match(user, /work_b waits for the operator, and the message ends no wait by itself/)
})

test('a report stands whole once: with what was said lately, or in a line of its item', () => {
  const items = [
    anItem('work_b', {
      state: 'completed',
      completed_at: before(5),
      result_summary: 'The clock is mended.',
    }),
  ]
  const brief: Brief = {
    turn_id: 'turn_past',
    wait_id: null,
    message_id: null,
    task_id: null,
    warnings: [],
    id: 'brief_1',
    agent_id: 'main',
    kind: 'result',
    text: 'The clock is mended.',
    work_item_id: 'work_b',
    created_at: before(5),
  }
  const said = opening({ items, said: [{ by: 'agent', brief }] })
  assert.equal(times(said, 'The clock is mended.'), 1)
  assert.match(said, /^- work_b "[^"]*", its report stands below$/m)
  const unsaid = opening({ items })
  assert.match(unsaid, /^- work_b "[^"]*", report: "The clock is mended\."$/m)
})

test('a question stands with its answer, and is only named in what was said lately', () => {
  const question = plainQuestion('Which colour?')
  const wait = aWait('wait_b', { work_item_id: 'work_b', wake: 'operator_input', question })
  const brief: Brief = {
    id: 'brief_1',
    agent_id: 'main',
    kind: 'question',
    text: 'Which colour?',
    turn_id: 'turn_past',
    work_item_id: 'work_b',
    wait_id: 'wait_b',
    message_id: null,
    task_id: null,
    warnings: [],
    created_at: before(5),
  }
  const words = aPrompt('msg_0', 'Paint it.')
  const user = opening({
    items: [anItem('work_b')],
    answered: [wait],
    said: [
      { by: 'them', message: words },
      { by: 'agent', brief },
    ],
    messages: [aPrompt('msg_1', 'Red.', { wait_id: 'wait_b' })],
  })
  assert.equal(times(user, 'Which colour?'), 1)
  assert.match(user, /^- you \(question\), 5 min ago, brief_1, about work_b: stands below$/m)
})
