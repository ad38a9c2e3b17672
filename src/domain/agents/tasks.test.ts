/** What an operator may do with commands and runs, and with which words it is refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, say, task, World } from '../../testing/world/agent-world.ts'
import { begin, end, taskEnds } from '../../testing/world/turns.ts'
import { limits } from '../limits.ts'
import {
  abortableRun,
  inputTask,
  labelOf,
  overOrEnding,
  queueTask,
  stoppableTask,
  type InputGiven,
  type NewTask,
} from './tasks.ts'
import { isRejection } from '../rejection.ts'
import type { Task } from '../state/task.ts'

const newTask = (given: Partial<NewTask> = {}): NewTask => ({
  id: 'task_new',
  cmd: 'make all\nmake test',
  workdir: '/w',
  work_item_id: null,
  output_path: '/h/tasks/task_new/stdout.log',
  start_place: { boot: 'boot', tasks: 'tasks' },
  ...given,
})

const said = (result: object) =>
  isRejection(result) ? [result.code, result.message, result.hint] : 'accepted'
const whole = (result: object) => (isRejection(result) ? [result.code, result.message] : 'accepted')

test('a command of the operator is queued whole, with its first line as its label', () => {
  const w = new World()
  const id = item(w)
  const made = w.do((d) => queueTask(d, newTask({ work_item_id: id })))
  assert.deepEqual(made, { ok: true, task_id: 'task_new' })
  assert.deepEqual(w.last, [
    {
      type: 'task_queued',
      id: 'task_new',
      work_item_id: id,
      kind: 'command',
      label: 'make all',
      cmd: 'make all\nmake test',
      child_agent_id: null,
      workdir: '/w',
      timeout_ms: null,
      start_place: { boot: 'boot', tasks: 'tasks' },
      output_path: '/h/tasks/task_new/stdout.log',
    },
  ])
})

test('a command that is none, or for what is not there, is refused', () => {
  const rows: [Partial<NewTask>, unknown][] = [
    [{}, 'accepted'],
    [{ cmd: ' \n' }, ['cmd_invalid', 'The command is empty, or has a NUL character.']],
    [{ cmd: 'a\0b' }, ['cmd_invalid', 'The command is empty, or has a NUL character.']],
    [
      { work_item_id: 'work_none' },
      ['work_item_not_found', 'work_none is not a work item of main.'],
    ],
  ]
  for (const [given, expect] of rows) {
    const w = new World()
    const result = w.try((d) => queueTask(d, newTask(given)))
    assert.deepEqual(whole(result), expect)
    assert.equal(w.last.length, expect === 'accepted' ? 1 : 0)
  }
})

test('so many commands run at a time; one that ended makes room', () => {
  const w = new World()
  const limit = limits.running_tasks.value
  const tasks = Array.from({ length: limit }, () => task(w))
  const result = w.try((d) => queueTask(d, newTask()))
  assert.deepEqual(said(result), [
    'over_limit',
    `running_tasks is ${limit} ${limits.running_tasks.unit}; the limit is ${limit}.`,
    'Stop a task, or wait for one to end, then try again.',
  ])
  taskEnds(w, tasks[0] ?? assert.fail())
  assert.equal(said(w.try((d) => queueTask(d, newTask()))), 'accepted')
})

test('a label is the first line of a command, and no longer than its limit', () => {
  const most = limits.label.value
  const rows: [string, string][] = [
    ['', ''],
    ['\n  make all \nmake test', 'make all '],
    ['x'.repeat(most), 'x'.repeat(most)],
    ['x'.repeat(most + 1), `${'x'.repeat(most - 1)}…`],
  ]
  for (const [cmd, label] of rows) assert.equal(labelOf(cmd), label)
})

test('a stop is for a task of this agent', () => {
  const w = new World()
  const { id } = task(w)
  assert.deepEqual(stoppableTask(w.facts, id), { ok: true, task: w.row('tasks', id) })
  const none = ['task_not_found', 'task_none is not a task of main.']
  assert.deepEqual(whole(stoppableTask(w.facts, 'task_none')), none)
  w.facts.include('tasks', { ...w.row('tasks', id), agent_id: 'other' })
  const other = ['task_not_found', `${id} is not a task of main.`]
  assert.deepEqual(whole(stoppableTask(w.facts, id)), other)
})

test('input is for a task that goes on and reads, and an end of it for a command', () => {
  const asking = {
    of: 'operator',
    wait_id: 'wait_7',
    text: 'May I?',
  } as unknown as Task['asking']
  const rows: [what: string, Partial<Task>, Partial<InputGiven>, expect: unknown][] = [
    ['words', {}, {}, 'accepted'],
    ['an end', {}, { text: '', end: true }, 'accepted'],
    ['nothing', {}, { text: '' }, ['message_empty', 'There is nothing to give.']],
    [
      'no input',
      { input: 'none' },
      {},
      ['task_takes_no_input', 'task_t001 was started without an input.'],
    ],
    ['one that ended', { status: 'failed' }, {}, ['task_ended', 'task_t001 has ended: failed.']],
    [
      'one that is stopped',
      { status: 'cancelling' },
      {},
      ['task_ended', 'task_t001 is being stopped.'],
    ],
    [
      'one that asks',
      { asking, child_agent_id: 'kid' },
      {},
      ['asks_operator', 'kid asks you for a permission: May I?'],
    ],
    ['a child', { kind: 'child_agent', input: 'none' }, {}, 'accepted'],
    [
      'the end of a child',
      { kind: 'child_agent' },
      { end: true },
      ['task_takes_no_input', 'task_t001 is a child agent, whose input has no end.'],
    ],
  ]
  for (const [what, row, given, expect] of rows) {
    const w = new World()
    const { id } = task(w)
    const changed: Task = { ...w.row('tasks', id), input: 'pipe', ...row }
    w.facts.include('tasks', changed)
    const result = inputTask(w.facts, { task_id: id, text: 'yes', end: false, ...given })
    assert.deepEqual(whole(result), expect, what)
    if (!isRejection(result)) assert.deepEqual(result, { ok: true, task: changed }, what)
  }
  const w = new World()
  const { id } = task(w)
  w.facts.include('tasks', { ...w.row('tasks', id), asking })
  const asks = inputTask(w.facts, { task_id: id, text: 'yes', end: false })
  assert.equal(isRejection(asks) && asks.hint, 'Answer it: `holon answer wait_7 <text>`.')
  const none = inputTask(w.facts, { task_id: 'task_none', text: 'yes', end: false })
  assert.deepEqual(whole(none), ['task_not_found', 'task_none is not a task of main.'])
})

test('what goes on is neither over nor ending', () => {
  const w = new World()
  assert.equal(overOrEnding(task(w)), null)
})

test('an abort is for the open turn and no other', () => {
  const w = new World()
  assert.deepEqual(whole(abortableRun(w.facts, 'turn_0001')), [
    'run_stale',
    'turn_0001 is not open: no turn is open.',
  ])
  say(w)
  begin(w, 'message')
  const turn = w.row('turns', 'turn_0001')
  assert.deepEqual(abortableRun(w.facts, 'turn_0001'), { ok: true, turn })
  assert.deepEqual(whole(abortableRun(w.facts, 'turn_0002')), [
    'run_stale',
    'turn_0002 is not open: turn_0001 is the open one.',
  ])
  end(w)
  assert.equal(isRejection(abortableRun(w.facts, 'turn_0001')), true)
})

test('what a private child runs is not the operator’s', () => {
  const w = new World()
  const { id } = task(w)
  const agent = w.row('agents', 'main')
  w.facts.include('agents', {
    ...agent,
    visibility: 'private',
    preset: 'private_child',
    supervisor_agent_id: 'above',
  })
  const codes = [
    inputTask(w.facts, { task_id: id, text: 'yes', end: false }),
    abortableRun(w.facts, 'turn_0001'),
    w.try((d) => queueTask(d, newTask())),
  ].map((one) => (isRejection(one) ? one.code : 'accepted'))
  assert.equal(new Set(codes).size, 1)
  assert.notEqual(codes[0], 'accepted')
})
