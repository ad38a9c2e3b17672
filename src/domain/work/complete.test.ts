import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  focusOf,
  item,
  itemRow,
  say,
  task,
  wait,
  waitCommand,
  World,
} from '../../testing/world/agent-world.ts'
import { act, answer, ask, begin, run, taskEnds, turnOf } from '../../testing/world/turns.ts'
import {
  addReport,
  completedByRound,
  completeItem,
  keepDraft,
  promotion,
  type Promotion,
} from './complete.ts'
import type { WorkItemId } from '../ids.ts'
import { updateItem } from './create-and-update.ts'
import { waitFor } from '../waits/wait-for.ts'
import { pickedToLook } from '../../testing/events.ts'

const complete = (w: World, id: WorkItemId, report: string | null = 'Done.') =>
  w.do((d) => completeItem(d, { work_item_id: id, by: 'agent', report, turn: null }))

const long = 'The parser keeps comments. It was run on every file of the corpus.'

test('the words of a round are the report of what it completes; short ones are asked back', () => {
  const [a, b] = ['work_a', 'work_b'] as const
  const no = { report: null, ask: false } as const
  const asks = { report: null, ask: true } as const
  const yes = (report: string) => ({ report, ask: false }) as const
  const rows: [turn: WorkItemId | null, completes: WorkItemId[], text: string, Promotion][] = [
    [a, [a], long, yes(long)],
    [null, [a], long, yes(long)],
    [b, [a], long, yes(long)],
    [a, [a, b], long, yes(long)],
    [null, [a, b], long, yes(long)],
    // A short text: only about the turn's own item, and only where it is alone.
    [a, [a], 'All tests pass.', asks],
    [a, [a, b], 'All tests pass.', yes('All tests pass.')],
    [b, [a], 'All tests pass.', yes('All tests pass.')],
    [null, [a], 'All tests pass.', yes('All tests pass.')],
    // No report of itself.
    [a, [a], '', asks],
    [a, [a], 'Here is the result:', asks],
    [a, [a], "I'll complete it now.", asks],
    [b, [a], '', no],
    [b, [a], 'Here is the result:', no],
    [b, [a], "I'll complete it now.", no],
    [null, [a], "I'll complete it now.", no],
  ]
  for (const [work_item_id, completes, text, expect] of rows) {
    const turn = { work_item_id, model: 'a/model' }
    assert.deepEqual(promotion({ id: a, report_draft: null }, turn, completes, text), expect, text)
  }
})

test('a runbook is asked for nothing; the text of a refused round is the report of a bare one', () => {
  const id = 'work_a'
  const none = { id, report_draft: null } as const
  const runbook = { work_item_id: id, model: 'runbook' } as const
  const rows: [Parameters<typeof promotion>[0], string, Promotion][] = [
    [none, 'Done.', { report: 'Done.', ask: false }],
    [none, 'The steps:', { report: 'The steps:', ask: false }],
    [none, '', { report: null, ask: false }],
  ]
  for (const [item, text, expect] of rows) {
    assert.deepEqual(promotion(item, runbook, [id], text), expect, text)
  }
  const turn = { work_item_id: id, model: 'a/model' } as const
  const draft = { id, report_draft: 'It was refused.' } as const
  assert.deepEqual(promotion(draft, turn, [id], ''), { report: 'It was refused.', ask: false })
  assert.deepEqual(promotion(draft, turn, [id], long), { report: long, ask: false })
})

test('the calls of the round count as recorded, whatever becomes of them', () => {
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

test('completion with a report: state, summary and one result brief in one commit', () => {
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

test('completion without a report says completion_report_missing and sends no brief', () => {
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

test('the report asked for in the completing turn is added once, and never again', () => {
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

test('unfinished todos do not stop a completion; warning and event carry the counts', () => {
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

test('tasks of the item that still run are listed in a warning and go on', () => {
  const w = new World()
  const id = item(w)
  const runs = task(w, { work_item_id: id })
  taskEnds(w, task(w, { work_item_id: id }))
  task(w)
  const done = complete(w, id)
  assert.deepEqual(done.warnings, [
    {
      kind: 'running_tasks',
      message: 'A task of the item still runs; it goes on, and its result comes late.',
      tasks: [{ task_id: runs.id, label: runs.label }],
    },
  ])
  assert.equal(w.row('tasks', runs.id).status, 'running')
})

test('what speaks against a report stands in its text, each of it, also where it comes later', () => {
  const w = new World()
  const todo_list = [{ text: 'one', state: 'pending' }] as const
  const messages = [
    '1 of 1 todos are not finished.',
    'A task of the item still runs; it goes on, and its result comes late.',
  ]
  const warned = messages.map((message) => `Warning: ${message}`).join('\n')
  const [now, later] = [item(w, { todo_list }), item(w, { todo_list })]
  for (const id of [now, later]) task(w, { work_item_id: id })
  complete(w, now)
  complete(w, later, null)
  item(w, { focus: true })
  begin(w, 'continue_current')
  w.do((d) => addReport(d, later, turnOf(w), 'It is out.'))
  assert.deepEqual(
    w.all('briefs').map(({ text }) => text),
    [`Done.\n\n${warned}`, `It is out.\n\n${warned}`],
  )
  assert.deepEqual(
    [now, later].map((id) => itemRow(w, id).result_summary),
    ['Done.', 'It is out.'],
  )
})

test('completion cancels the wait of the item and releases focus', () => {
  const w = new World()
  const id = item(w)
  const { wait: active } = wait(w, { work_item_id: id })
  w.do((d) => d.emit(pickedToLook(id)))
  complete(w, id)
  assert.deepEqual([w.row('waits', active.id).status, focusOf(w)], ['cancelled', null])
})

test('completion is refused for an item that is completed or not the agent’s', () => {
  const w = new World()
  const id = item(w)
  complete(w, id)
  const code = (work_item_id: WorkItemId) =>
    w.refused((d) => completeItem(d, { work_item_id, by: 'agent', report: null, turn: null }))
  assert.deepEqual([code(id), code('work_none')], ['work_item_completed', 'work_item_not_found'])
})

test('a completed item takes no further change: no update, no wait, no second completion', () => {
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

test('the operator completes with the same command; the report then belongs to no turn', () => {
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

test('the words beside two completions are the report of both, and each brief names the other', () => {
  const w = new World()
  const [a, b] = [item(w, { focus: true, objective: 'A' }), item(w, { objective: 'B' })]
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
    const named = completedByRound(calls)
    const { report } = promotion(itemRow(w, id), turnOf(w), named, text)
    const shared = named.filter((other) => other !== id)
    run(w, call, (d) =>
      completeItem(d, { work_item_id: id, by: 'agent', report, turn: turnOf(w), shared }),
    )
  }
  const both = (other: string) => `${text}\n\nWarning: The same report was written for ${other}.`
  const briefs = w.all('briefs')
  assert.deepEqual(
    briefs.map((brief) => [brief.work_item_id, brief.text, brief.warnings[0]?.message]),
    [
      [a, both(`${b} ("B")`), `The same report was written for ${b} ("B").`],
      [b, both(`${a} ("A")`), `The same report was written for ${a} ("A").`],
    ],
  )
})

test('the words of a refused completion are kept, and change nothing else of the item', () => {
  const w = new World()
  const id = item(w)
  const before = itemRow(w, id)
  w.do((d) => keepDraft(d, id, ` ${long} `))
  assert.deepEqual(itemRow(w, id), { ...before, report_draft: long })
  w.do((d) => keepDraft(d, id, 'Let me complete it.'))
  w.do((d) => keepDraft(d, id, ''))
  assert.equal(itemRow(w, id).report_draft, long)
})
