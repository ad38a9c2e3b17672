/**
 * A supervised child as its operator sees it: lists, what may be done, what is refused, words by
 * way of its task, and its worktree when it is over. Real git, real commands, the real API.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AgentRecord } from '../src/protocol/records/agent-record.ts'
import type { Attention } from '../src/protocol/views/attention.ts'
import type { DelegationRecord, WorktreeRecord } from '../src/protocol/records/delegation-record.ts'
import type { TaskRecord } from '../src/protocol/records/task-record.ts'
import { asking, committed, left } from './support/asking-child.ts'
import { git } from './support/repository.ts'

const options = { timeout: 120_000 }

const keys = ({ can }: { can: readonly { key: string; allowed: boolean }[] }) =>
  can.filter(({ allowed }) => allowed).map(({ key }) => key)

test('a child stands among the agents, with its parent and its task', options, async (t) => {
  const { api, task } = await asking(t)
  const { agents } = await api.get<{ agents: AgentRecord[] }>('/agents')
  assert.deepEqual(
    agents.map(({ id, visibility, supervisor_agent_id }) => [id, visibility, supervisor_agent_id]),
    [
      ['main', 'public', null],
      ['main.1', 'private', 'main'],
    ],
  )
  const { delegations } = await api.get<{ delegations: DelegationRecord[] }>(
    '/agents/main/delegations?state=active',
  )
  assert.deepEqual(
    delegations.map(({ child_agent_id, task_id, state }) => [child_agent_id, task_id, state]),
    [['main.1', task.id, 'active']],
  )
  assert.deepEqual(agents[0]?.delegations, delegations)
  const ended = await api.get<{ delegations: [] }>('/agents/main/delegations?state=completed')
  assert.deepEqual(ended.delegations, [])
  assert.deepEqual(
    [task.kind, task.child_agent_id, task.asking?.text],
    ['child_agent', 'main.1', 'Which of the two?'],
  )
  assert.deepEqual(keys(task), ['task_input', 'stop_task'])
})

test('what a child asks is its parent’s matter, not the operator’s', options, async (t) => {
  const { api } = await asking(t)
  const { attention } = await api.get<{ attention: Attention[] }>('/attention')
  assert.deepEqual(
    attention.filter(({ agent_id }) => agent_id === 'main.1'),
    [],
  )
})

const closed: readonly [method: string, path: string, body?: object][] = [
  ['POST', '/messages', { text: 'Hello.' }],
  ['POST', '/work-items', { objective: 'Another.' }],
  ['POST', '/tasks', { cmd: 'true' }],
  ['POST', '/triggers', { label: 'x' }],
  ['POST', '/start'],
  ['POST', '/stop'],
  ['DELETE', ''],
  ['PATCH', '', { model: 'a/other' }],
]

test('a private child is closed to the operator, whatever is asked', options, async (t) => {
  const { api, wait } = await asking(t)
  const codes: string[] = []
  for (const [method, path, body] of closed) {
    const problem = await api.refused(method, `/agents/main.1${path}`, body)
    codes.push(`${method} ${path}: ${problem.status} ${problem.code}`)
  }
  assert.deepEqual(
    codes,
    closed.map(([method, path]) => `${method} ${path}: 409 agent_private`),
  )
  const answer = { text: 'The second.', bound_hash: wait.bound_hash }
  const problem = await api.refused('POST', `/agents/main.1/waits/${wait.id}/answer`, answer)
  assert.equal(problem.code, 'agent_private')
  const agent = await api.get<AgentRecord>('/agents/main.1')
  assert.deepEqual(keys(agent), [])
})

test('an operator’s word by way of the task answers the child, once', options, async (t) => {
  const { api, task, wait } = await asking(t)
  const path = `/agents/main/tasks/${task.id}/input`
  const empty = await api.refused('POST', path, { text: '' })
  assert.deepEqual([empty.status, empty.code], [422, 'message_empty'])
  const ended = await api.refused('POST', path, { text: 'x', end: true })
  assert.deepEqual([ended.status, ended.code], [409, 'task_takes_no_input'])
  const over = committed(api, 'task_ended')
  const headers = { 'idempotency-key': 'the-answer' }
  type Told = { message_id: string; resolved: string[]; said: string }
  const told = await api.post<Told>(path, { text: 'The second.' }, headers)
  assert.deepEqual(told.resolved, [wait.id])
  assert.deepEqual(await api.post<Told>(path, { text: 'The second.' }, headers), {
    ...told,
    task: await api.get(`/agents/main/tasks/${task.id}`),
  })
  const another = await api.refused('POST', path, { text: 'The first.' }, headers)
  assert.equal(another.code, 'idempotency_mismatch')
  await over
  const late = await api.refused('POST', path, { text: 'Or the first?' })
  assert.deepEqual([late.status, late.code], [409, 'task_ended'])
  const message = await api.box.ledger.row('messages', told.message_id)
  assert.deepEqual(
    [message?.kind, message?.origin, message?.authority_class, message?.wait_id],
    ['delegation', 'agent', 'operator_instruction', wait.id],
  )
})

test('a worktree that would lose something is kept and shown', options, async (t) => {
  const { api, task, at, worktree } = await left(t)
  assert.deepEqual([worktree.state, worktree.branch], ['kept', 'holon/main.1'])
  assert.match(worktree.reason ?? '', /1 untracked/)
  assert.deepEqual(keys(worktree), ['snapshot_worktree', 'remove_worktree', 'discard_worktree'])
  const { attention } = await api.get<{ attention: Attention[] }>('/attention')
  assert.deepEqual(
    attention.map(({ kind, id, can }) => [kind, id, can[1]?.cli]),
    [['worktree_kept', task.id, `holon worktree discard ${task.id}`]],
  )
  const removed = await api.refused('POST', `${at}/remove`)
  assert.deepEqual([removed.status, removed.code], [409, 'worktree_dirty'])
  const restored = await api.refused('POST', `${at}/restore`)
  assert.deepEqual([restored.status, restored.code], [409, 'worktree_stands'])
  assert.deepEqual(await api.get(at), worktree)
})

test('what is discarded is in a snapshot, and comes back whole', options, async (t) => {
  const { api, at, worktree } = await left(t)
  const file = join(worktree.path, 'new.txt')
  type Acted = { worktree: WorktreeRecord; said: string }
  const discarded = await api.post<Acted>(`${at}/discard`)
  assert.equal(discarded.worktree.state, 'discarded')
  assert.equal(existsSync(worktree.path), false)
  const { ref } = discarded.worktree.snapshot ?? { ref: '' }
  assert.match(git(api.box.workspace, 'for-each-ref', ref), new RegExp(ref))
  assert.equal((await api.refused('POST', `${at}/discard`)).code, 'worktree_over')
  assert.equal((await api.refused('POST', `${at}/snapshot`)).code, 'worktree_over')
  type List = { worktrees: WorktreeRecord[] }
  assert.deepEqual((await api.get<List>('/worktrees')).worktrees, [])
  assert.deepEqual((await api.get<List>('/agents/main/worktrees?state=all')).worktrees, [
    discarded.worktree,
  ])
  const restored = await api.post<Acted>(`${at}/restore`)
  assert.deepEqual([restored.worktree.state, restored.worktree.path], ['kept', worktree.path])
  assert.equal(readFileSync(file, 'utf8'), 'new\n')
  assert.equal(git(worktree.path, 'branch', '--show-current'), 'holon/main.1')
})

test('a merged worktree with ignored files goes, and a snapshot has them', options, async (t) => {
  const { api, at, worktree } = await left(t)
  const as = ['-c', 'user.name=x', '-c', 'user.email=x@y']
  writeFileSync(join(worktree.path, '.gitignore'), '*.ign\n')
  git(worktree.path, 'add', '.')
  git(worktree.path, ...as, 'commit', '-q', '-m', 'new')
  git(api.box.workspace, 'merge', '-q', 'holon/main.1')
  writeFileSync(join(worktree.path, 'data.ign'), 'the only copy\n')
  type Acted = { worktree: WorktreeRecord; said: string }
  const removed = await api.post<Acted>(`${at}/remove`)
  assert.deepEqual([removed.worktree.state, existsSync(worktree.path)], ['removed', false])
  assert.match(removed.worktree.reason ?? '', /its ignored files are in refs\/holon\/snapshots\//)
  const restored = await api.post<Acted>(`${at}/restore`)
  const file = join(restored.worktree.path, 'data.ign')
  assert.equal(readFileSync(file, 'utf8'), 'the only copy\n')
})

test(
  'a result carries what its parent acts on: where the work is, and whether it merges',
  options,
  async (t) => {
    const { api, worktree } = await left(t)
    const messages = [...(await api.box.ledger.list('messages', { agent_id: 'main', limit: 50 }))]
    const body = messages.find(({ kind }) => kind === 'task_result')?.body ?? ''
    const line = `Worktree ${worktree.path}, branch holon/main.1, 0 commits ahead of main (`
    assert.ok(body.includes(line), body)
    assert.match(body, /\), 1 paths not committed\.\n/)
  },
)

test('a merged worktree is removed when it is asked for', options, async (t) => {
  const { api, at, worktree } = await left(t)
  git(worktree.path, 'add', '.')
  git(worktree.path, '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-q', '-m', 'new')
  assert.equal((await api.refused('POST', `${at}/remove`)).code, 'worktree_unmerged')
  git(api.box.workspace, 'merge', '-q', 'holon/main.1')
  const removed = await api.post<{ worktree: WorktreeRecord }>(`${at}/remove`)
  assert.equal(removed.worktree.state, 'removed')
  assert.equal((await api.refused('POST', `${at}/restore`)).code, 'worktree_no_snapshot')
  assert.deepEqual((await api.box.ledger.verify()).problems, [])
})

test('a worktree somebody works in does not go away under it', options, async (t) => {
  const { api, task } = await asking(t)
  const at = `/agents/main/worktrees/${task.id}`
  for (const verb of ['remove', 'discard']) {
    const problem = await api.refused('POST', `${at}/${verb}`)
    assert.deepEqual([problem.status, problem.code], [409, 'worktree_leased'], verb)
  }
  const kept = await api.post<{ worktree: WorktreeRecord }>(`${at}/snapshot`)
  assert.deepEqual([kept.worktree.state, kept.worktree.snapshot === null], ['ready', false])
  const nobody = await api.refused('POST', '/agents/main/worktrees/task_ffff/discard')
  assert.deepEqual([nobody.status, nobody.code], [404, 'worktree_not_found'])
})

test('a command that somebody runs in a kept worktree holds it', options, async (t) => {
  const { api, at, worktree } = await left(t)
  const cmd = 'while [ -d "$PWD" ] && { [ -e hold ] || [ ! -e go ]; }; do sleep 0.05; done'
  writeFileSync(join(worktree.path, 'hold'), '')
  const { task } = await api.post<{ task: TaskRecord }>('/agents/main/tasks', {
    cmd,
    workdir: worktree.path,
  })
  const problem = await api.refused('POST', `${at}/discard`)
  assert.equal(problem.code, 'worktree_leased')
  assert.match(problem.detail, new RegExp(task.id))
  await api.post(`/agents/main/tasks/${task.id}/stop`)
  const done = await api.post<{ worktree: WorktreeRecord }>(`${at}/discard`)
  assert.equal(done.worktree.state, 'discarded')
})
