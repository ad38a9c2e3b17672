import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { StateRecord } from '../../protocol/views/state-record.ts'
import type { TaskRecord } from '../../protocol/records/task-record.ts'
import { openApi } from '../../testing/http/api.ts'
import { asked } from '../../testing/http/api-scripts.ts'
import type { Attention } from '../../protocol/views/attention.ts'
import { asksAbout } from '../../testing/world/held.ts'
import { calls, says, scriptedModel } from '../../testing/scripted-model.ts'

type Tasks = { tasks: TaskRecord[]; next_cursor: string | null }
type Acted = { task: TaskRecord; said: string }
type Turns = { turns: { id: string }[] }
type Output = { text: string; next_offset: number; size: number; ended: boolean }

const tasks = '/agents/main/tasks'

test('a command is started, listed, read piece by piece, and its end is kept', async (t) => {
  // The agent is told the end, in a turn of its own.
  const { api, item } = await asked(t, 'Ship it?', [() => says('It has run.')])
  const cmd = 'printf 0123456789'
  const made = await api.ask<Acted>('POST', tasks, { cmd, work_item_id: item.id })
  const { id } = made.body.task
  assert.deepEqual([made.status, made.headers.get('location')], [202, `${tasks}/${id}`])
  assert.equal(made.body.task.work_item_id, item.id)
  await api.box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.events.some(({ event }) => event.type === 'task_ended' && event.id === id),
    'the end of the command',
  )
  const task = await api.get<TaskRecord>(`${tasks}/task_${id.slice(-6)}`)
  assert.deepEqual(
    [task.status, task.exit_status, task.last_sign_of_life_at],
    ['completed', 0, null],
  )
  const piece = (query: string) => api.get<Output>(`${tasks}/${id}/output?${query}`)
  assert.deepEqual(await piece('limit=4'), {
    task_id: id,
    stream: 'stdout',
    offset: 0,
    text: '0123',
    next_offset: 4,
    size: 10,
    ended: true,
  })
  assert.equal((await piece('offset=4')).text, '456789')
  assert.deepEqual((await api.get<Tasks>(tasks)).tasks, [])
  assert.deepEqual((await api.get<Tasks>(`${tasks}?status=all`)).tasks, [task])
  assert.deepEqual((await api.get<Tasks>('/tasks?status=completed')).tasks, [task])
})

test('the failure of a command whose item is done stands under done and needs a look', async (t) => {
  const { api, item } = await asked(t, 'Ship it?', [])
  const go = join(api.box.workspace, 'go')
  const waits = `while [ -d ${api.box.workspace} ] && [ ! -e ${go} ]; do sleep 0.02; done`
  const cmd = `${waits}; exit 3`
  const made = await api.ask<Acted>('POST', tasks, { cmd, work_item_id: item.id })
  const { id } = made.body.task
  await api.post(`/agents/main/work-items/${item.id}/complete`, {})
  writeFileSync(go, '')
  await api.box.until(
    (notice) =>
      notice.kind === 'committed' && notice.events.some(({ event }) => event.type === 'task_ended'),
    'the end of the command',
  )
  const { attention, work_items } = await api.get<StateRecord>('/state')
  assert.deepEqual(
    attention.map(({ kind, work_item_id }) => [kind, work_item_id]),
    [['late_result', item.id]],
  )
  assert.match(attention[0]?.text ?? '', /ended after its item was done: .*exit status 3/)
  const done = work_items.find((one) => one.id === item.id)
  assert.match(done?.late.join('|') ?? '', new RegExp(`^${id} \\(.*\\): completed, exit status 3`))
})

test('a running command has signs of life; it takes no input, and is stopped with proof', async (t) => {
  const signs = { last_sign_of_life_at: '2026-01-05T09:00:01.000Z', gives_up_at: null }
  const seen: { id: string } = { id: '' }
  const api = await openApi(t, { liveSigns: () => [{ id: seen.id, ...signs }] })
  await api.box.host.open()
  const cmd = 'while [ -d "$PWD" ]; do sleep 0.05; done'
  const { task } = await api.post<Acted>(tasks, { cmd })
  seen.id = task.id
  const [running] = (await api.get<Tasks>('/tasks')).tasks
  assert.equal(running?.last_sign_of_life_at, signs.last_sign_of_life_at)
  const input = await api.refused('POST', `${tasks}/${task.id}/input`, { text: 'y\n' })
  assert.deepEqual([input.status, input.code], [409, 'task_takes_no_input'])
  const stopped = await api.post<Acted>(`${tasks}/${task.id}/stop`)
  assert.equal(stopped.task.status, 'cancelled')
  assert.deepEqual(
    stopped.task.can.map(({ key, allowed }) => [key, allowed]),
    [
      ['task_input', false],
      ['stop_task', false],
    ],
  )
  const late = await api.refused('POST', `${tasks}/${task.id}/input`, { text: 'y\n' })
  assert.deepEqual([late.status, late.code], [409, 'task_ended'])
})

test('an open request says when it was last heard of and when it is given up', async (t) => {
  const heard = '2026-01-05T09:00:01.000Z'
  const given_up = '2026-01-05T09:05:01.000Z'
  const seen = { id: '' }
  const signs = { last_sign_of_life_at: heard, gives_up_at: given_up }
  const { api } = await asked(t, 'Ship it?', [() => 'hang'], {
    liveSigns: () => [{ id: seen.id, ...signs }],
  })
  const [{ id: first } = { id: '' }] = (await api.get<Turns>('/agents/main/turns')).turns
  await api.post('/agents/main/messages', { text: 'And?' })
  await api.box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.events.some(({ event }) => event.type === 'request_sent' && event.turn_id !== first),
    'the request of the second turn',
  )
  const [turn] = (await api.get<Turns>('/agents/main/turns?state=open')).turns
  seen.id = turn?.id ?? ''
  type Whole = { rounds: (typeof signs & { state: string })[] }
  const { rounds } = await api.get<Whole>(`/agents/main/turns/${seen.id}`)
  const open = rounds.find(({ state }) => state === 'requested')
  assert.deepEqual([open?.last_sign_of_life_at, open?.gives_up_at], [heard, given_up])
  const run = { run_id: seen.id, stop: false }
  const stale = await api.refused('POST', '/agents/main/abort', { ...run, run_id: 'turn_stale' })
  assert.deepEqual([stale.status, stale.code], [409, 'run_stale'])
  const agent = (await api.post<{ agent: { state: string } }>('/agents/main/abort', run)).agent
  assert.equal(agent.state, 'active')
})

test('a command that reads gets what it is given, and its input can be ended', async (t) => {
  const run = { name: 'ExecCommand', input: { cmd: 'cat', accepts_input: true, yield_ms: 1 } }
  const model = scriptedModel((_request, n) => (n === 1 ? calls(run) : says('It runs.')))
  const api = await openApi(t, { models: { default: model } })
  await api.box.host.open()
  const rests = api.box.rests('main')
  await api.post('/agents/main/messages', { text: 'Start it.' })
  await rests
  const [task] = (await api.get<Tasks>(tasks)).tasks
  assert.deepEqual(
    [task?.input, task?.can.map(({ key, allowed }) => [key, allowed])],
    [
      'pipe',
      [
        ['task_input', true],
        ['stop_task', true],
      ],
    ],
  )
  const path = `${tasks}/${task?.id}/input`
  const headers = { 'idempotency-key': 'once' }
  const given = await api.ask<Acted>('POST', path, { text: 'one\n' }, headers)
  assert.deepEqual([given.status, given.body.said], [202, `4 bytes are given to ${task?.id}.`])
  await api.post(path, { text: 'one\n' }, headers)
  const ended = api.box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.events.some(({ event }) => event.type === 'task_ended' && event.id === task?.id),
    'the end of the command',
  )
  const last = await api.post<Acted>(path, { text: 'two\n', end: true })
  assert.equal(last.said, `4 bytes are given to ${task?.id}; its input is ended.`)
  await ended
  const { text } = await api.get<Output>(`${tasks}/${task?.id}/output`)
  assert.equal(text, 'one\ntwo\n')
})

test('a held command stands in the attention list and is answered with the mark it was shown with', async (t) => {
  const model = scriptedModel((_, n) =>
    n === 1 ? calls({ name: 'ExecCommand', input: { cmd: 'echo pushed' } }) : says('I asked.'),
  )
  const policy = asksAbout('pushed')
  const api = await openApi(t, { models: { default: model }, policy })
  await api.box.host.open()
  await api.post('/agents/main/messages', { text: 'Push it.' })
  await api.box.rests('main')
  const { attention } = await api.get<{ attention: Attention[] }>('/attention')
  const [entry] = attention
  assert.ok(entry)
  const { id, kind, text, choices, can, bound_hash } = entry
  const keys = ['yes', 'like_for_agent', 'no']
  assert.deepEqual(
    [kind, text.split('\n')[0], choices.map(({ key }) => key), can[0]?.cli],
    ['approval', 'May this run? echo pushed', keys, `holon answer ${id} <choice>`],
  )
  const held = await api.get<TaskRecord>(`${tasks}/${id}`)
  assert.deepEqual([held.status, held.held?.because], ['held', 'pushed asks'])
  const path = `${tasks}/${id}/answer`
  await api.refused('POST', path, { choice: 'yes', bound_hash: 'another' })
  const ended = api.box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.events.some(({ event }) => event.type === 'task_ended' && event.id === id),
    'the end of the command',
  )
  const key = { 'idempotency-key': 'once' }
  const yes = { choice: 'yes', bound_hash }
  const done = await api.ask<Acted>('POST', path, yes, key)
  assert.deepEqual([done.status, done.body.task.status], [202, 'queued'])
  await ended
  assert.equal((await api.ask('POST', path, yes, key)).status, 202)
  const problem = await api.refused('POST', path, yes)
  assert.equal(problem.code, 'already_answered')
  assert.deepEqual((await api.get<{ attention: Attention[] }>('/attention')).attention, [])
})
