import assert from 'node:assert/strict'
import { test } from 'node:test'
import { focusOf, item, itemRow, say, task, wait, waitCommand, World } from '../testing/domain.ts'
import { act, answer, ask, begin, run, taskEnds, turnOf } from '../testing/domain-turn.ts'
import { addReport, completedByRound, completeItem, promotion, type Promotion } from './complete.ts'
import { taskResultId, type WorkItemId } from './ids.ts'
import { updateItem } from './items.ts'
import { waitFor } from './waiting.ts'

const complete = (w: World, id: WorkItemId, report: string | null = 'Done.') =>
  w.do((d) => completeItem(d, { work_item_id: id, by: 'agent', report, turn: null }))

test('§2 the round promotes its text when it completes the item of the turn alone', () => {
  const [a, b] = ['work_a', 'work_b'] as const
  const yes: Promotion = { promoted: true }
  const no = (because: (Promotion & { promoted: false })['because']): Promotion => ({
    promoted: false,
    because,
  })
  const rows: [turn: WorkItemId | null, completes: WorkItemId[], text: string, Promotion][] = [
    [a, [a], 'All tests pass.', yes],
    [a, [a, a], 'All tests pass.', yes],
    [null, [a], 'All tests pass.', yes],
    [b, [a], 'All tests pass.', no('another_item')],
    [a, [a, b], 'All tests pass.', no('several_items')],
    [null, [a, b], 'All tests pass.', no('several_items')],
    [a, [a], '', no('not_a_report')],
    [a, [a], 'Here is the result:', no('not_a_report')],
    [a, [a], "I'll complete it now.", no('not_a_report')],
    [b, [a, b], '', no('another_item')],
  ]
  for (const [work_item_id, completes, text, expect] of rows) {
    assert.deepEqual(promotion(a, { work_item_id }, completes, text), expect)
  }
})

test('§2 the calls of the round count as recorded, whatever becomes of them', () => {
  const w = new World()
  const [a, b] = [item(w), item(w)]
  say(w)
  begin(w)
  ask(w)
  const calls = answer(w, {
    calls: [
      { tool: 'CompleteWorkItem', input: { work_item_id: a } },
      { tool: 'ReadFile', input: { work_item_id: 'not this one' } },
      { tool: 'CompleteWorkItem', input: { work_item_id: b } },
      { tool: 'CompleteWorkItem', input: {} },
    ],
  })
  assert.deepEqual(completedByRound(calls), [a, b])
})

test('§2 completion with a report: state, summary and one result brief in one commit', () => {
  const w = new World()
  const id = item(w, { focus: true })
  const before = itemRow(w, id)
  begin(w, 'continue_current')
  const turn = turnOf(w)
  const done = w.do((d) =>
    completeItem(d, { work_item_id: id, by: 'agent', report: ' Shipped. ', turn }),
  )
  assert.deepEqual(done.item, {
    ...before,
    revision: 2,
    state: 'completed',
    result_summary: 'Shipped.',
    result_brief_id: done.brief_id,
    completed_at: w.now,
    changed_seq: done.item.changed_seq,
  })
  assert.deepEqual(w.all('briefs'), [
    {
      id: done.brief_id,
      agent_id: 'main',
      kind: 'result',
      text: 'Shipped.',
      turn_id: turn.id,
      work_item_id: id,
      wait_id: null,
      message_id: null,
      task_id: null,
      warnings: [],
      created_at: w.now,
    },
  ])
  assert.deepEqual([focusOf(w), done.warnings], [null, []])
})

test('§2 completion without a report says completion_report_missing and sends no brief', () => {
  const w = new World()
  const id = item(w)
  const done = complete(w, id, '  ')
  assert.deepEqual(
    done.warnings.map((x) => x.kind),
    ['completion_report_missing'],
  )
  assert.deepEqual(
    [done.brief_id, itemRow(w, id).result_summary, w.all('briefs')],
    [null, null, []],
  )
})

test('§2 the report asked for in the completing turn is added once, and never again', () => {
  const w = new World()
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  const turn = turnOf(w)
  act(w, { tool: 'CompleteWorkItem', input: { work_item_id: id } }, (d) =>
    completeItem(d, { work_item_id: id, by: 'agent', report: null, turn }),
  )
  w.do((d) => addReport(d, id, turn, ' It is out. '))
  const [brief] = w.all('briefs')
  assert.deepEqual([brief?.kind, brief?.text, brief?.work_item_id], ['result', 'It is out.', id])
  assert.deepEqual(
    [itemRow(w, id).result_summary, itemRow(w, id).result_brief_id],
    ['It is out.', brief?.id],
  )
  assert.throws(() => w.do((d) => addReport(d, id, turn, 'Again.')), /takes no report/)
  assert.throws(() => w.do((d) => addReport(d, item(w), turn, 'Open.')), /takes no report/)
})

test('§2 unfinished todos do not stop a completion; warning and event carry the counts', () => {
  const w = new World()
  const states = [
    'completed',
    'pending',
    'in_progress',
    'pending',
    'pending',
    'pending',
    'pending',
  ] as const
  const todo_list = states.map((state, n) => ({ text: `step ${n}`, state }))
  const id = item(w, { todo_list })
  const done = complete(w, id)
  const warning = {
    kind: 'unfinished_todos',
    message: '6 of 7 todos are not finished.',
    pending_count: 5,
    in_progress_count: 1,
    sample: todo_list.slice(1, 6),
  }
  assert.deepEqual(done.warnings, [warning])
  assert.deepEqual(w.lastOf('work_item_completed'), [
    {
      type: 'work_item_completed',
      id,
      by: 'agent',
      result_summary: 'Done.',
      brief_id: done.brief_id,
      completed_with_unfinished_todos: true,
      unfinished_todo_count: 6,
      pending_todo_count: 5,
      in_progress_todo_count: 1,
    },
  ])
  assert.deepEqual(w.all('briefs')[0]?.warnings, [warning])
})

test('§2 tasks of the item that still run are listed in a warning and go on', () => {
  const w = new World()
  const id = item(w)
  const runs = task(w, { work_item_id: id })
  taskEnds(w, task(w, { work_item_id: id }))
  task(w)
  const done = complete(w, id)
  assert.deepEqual(done.warnings, [
    {
      kind: 'running_tasks',
      message: '1 tasks of the item still run; they go on.',
      tasks: [{ task_id: runs.id, label: runs.label }],
    },
  ])
  assert.equal(w.row('tasks', runs.id).status, 'running')
})

test('§2 completion cancels the wait of the item and releases focus', () => {
  const w = new World()
  const id = item(w)
  const { wait: active } = wait(w, { work_item_id: id })
  w.do((d) =>
    d.emit({
      type: 'work_item_picked',
      id: 'main',
      previous_work_item_id: null,
      current_work_item_id: id,
      reason: null,
      previous_readiness: null,
      current_readiness: 'blocked',
      switch_kind: 'explicit_pick',
      reason_required: false,
      reason_missing: false,
      wait_id: null,
    }),
  )
  complete(w, id)
  assert.deepEqual([w.row('waits', active.id).status, focusOf(w)], ['cancelled', null])
})

test('§8 completion consumes the queued results of the tasks of the item, and no others', () => {
  const w = new World()
  const [a, b] = [item(w), item(w)]
  const [ofA, ofB] = [task(w, { work_item_id: a }), task(w, { work_item_id: b })]
  taskEnds(w, ofA)
  taskEnds(w, ofB)
  complete(w, a)
  const status = (id: typeof ofA.id) => w.row('messages', taskResultId(id)).status
  assert.deepEqual([status(ofA.id), status(ofB.id)], ['consumed', 'queued'])
})

test('§2 completion is refused for an item that is completed or not the agent’s', () => {
  const w = new World()
  const id = item(w)
  complete(w, id)
  const code = (work_item_id: WorkItemId) =>
    w.refused((d) => completeItem(d, { work_item_id, by: 'agent', report: null, turn: null }))
  assert.deepEqual([code(id), code('work_none')], ['work_item_completed', 'work_item_not_found'])
})

test('§2 a completed item takes no further change: no update, no wait, no second completion', () => {
  const w = new World()
  const id = item(w)
  complete(w, id)
  assert.equal(
    w.refused((d) => updateItem(d, { work_item_id: id, by: 'operator', objective: 'x' })),
    'work_item_completed',
  )
  assert.equal(
    w.refused((d) => waitFor(d, waitCommand({ work_item_id: id }))),
    'work_item_completed',
  )
  assert.throws(
    () => w.do((d) => d.emit({ type: 'work_item_updated', id, by: 'agent', changed: {} })),
    /after the completion/,
  )
})

test('§13 the operator completes with the same command; the report then belongs to no turn', () => {
  const w = new World()
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  const done = w.do((d) =>
    completeItem(d, {
      work_item_id: id,
      by: 'operator',
      report: 'Not needed any more.',
      turn: null,
    }),
  )
  assert.equal(w.row('briefs', done.brief_id ?? '').turn_id, null)
})

test('§6 further completions of a closed round run: each item is completed without a report', () => {
  const w = new World()
  const [a, b] = [item(w, { focus: true }), item(w)]
  begin(w, 'continue_current')
  ask(w)
  const text = 'Both are done.'
  const input = (work_item_id: WorkItemId) => ({
    tool: 'CompleteWorkItem',
    input: { work_item_id },
  })
  const calls = answer(w, { text, calls: [input(a), input(b)] })
  for (const [index, id] of [a, b].entries()) {
    const call = calls[index] ?? assert.fail()
    const { promoted } = promotion(id, turnOf(w), completedByRound(calls), text)
    const report = promoted ? text : null
    run(w, call, (d) => completeItem(d, { work_item_id: id, by: 'agent', report, turn: turnOf(w) }))
  }
  assert.deepEqual(
    [a, b].map((id) => [itemRow(w, id).state, itemRow(w, id).result_brief_id]),
    [
      ['completed', null],
      ['completed', null],
    ],
  )
})
