import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AgentRecord } from '../../protocol/records/agent-record.ts'
import type { StateRecord } from '../../protocol/views/state-record.ts'
import { openApi } from '../../testing/http/api.ts'
import { asked } from '../../testing/http/api-scripts.ts'

type Acted = { agent: AgentRecord; said: string }
type Agents = { agents: AgentRecord[]; next_cursor: string | null }

test('an agent is made, configured, stopped, started and deleted for good', async (t) => {
  const api = await openApi(t)
  const made = await api.ask<Acted>('POST', '/agents', { id: 'ops', model: 'a/b' })
  assert.deepEqual([made.status, made.headers.get('location')], [201, '/agents/ops'])
  const changed = await api.ask<Acted>('PATCH', '/agents/ops', { fallback_model: 'c/d' })
  assert.equal(changed.body.agent.fallback_model, 'c/d')
  const stopped = await api.post<Acted>('/agents/ops/stop')
  assert.deepEqual([stopped.agent.state, stopped.agent.posture], ['stopped', 'stop'])
  const stop = stopped.agent.can.find(({ key }) => key === 'stop_agent')
  assert.deepEqual([stop?.allowed, stop?.code], [false, 'no_change'])
  const refused = await api.refused('POST', '/agents/ops/messages', { text: 'hello' })
  const send = stopped.agent.can.find(({ key }) => key === 'send')
  assert.deepEqual([refused.code, refused.detail], [send?.code, send?.why])
  assert.equal((await api.post<Acted>('/agents/ops/start')).agent.state, 'active')
  assert.equal((await api.ask('DELETE', '/agents/ops')).status, 200)
  assert.equal((await api.refused('GET', '/agents/ops')).status, 404)
  assert.equal((await api.refused('POST', '/agents', { id: 'ops' })).code, 'agent_exists')
  for (const verb of ['abort', 'start', 'stop']) {
    const problem = await api.refused('POST', `/agents/nobody/${verb}`, { run_id: 'turn_0001' })
    assert.equal(problem.code, 'agent_not_found', verb)
  }
  assert.equal((await api.refused('DELETE', '/agents/nobody')).code, 'agent_not_found')
  assert.deepEqual(api.errors, [])
})

test('agents are paged by name, newest page first, oldest first within it', async (t) => {
  const api = await openApi(t, { agents: ['a', 'b', 'c'] })
  const names = ({ agents }: Agents) => agents.map(({ id }) => id)
  const first = await api.get<Agents>('/agents?limit=2')
  assert.deepEqual(names(first), ['b', 'c'])
  const second = await api.get<Agents>(`/agents?limit=2&cursor=${first.next_cursor}`)
  assert.deepEqual([names(second), second.next_cursor], [['a'], null])
  assert.deepEqual(names(await api.get<Agents>('/agents?before=b')), ['a'])
  for (const [query, code] of [
    ['before=d', 'agent_not_found'],
    ['cursor=d', 'invalid_cursor'],
    ['befor=d', 'invalid_request'],
  ] as const) {
    assert.equal((await api.refused('GET', `/agents?${query}`)).code, code)
  }
})

test('the state has each agent beside the others: those with items and those with none', async (t) => {
  const api = await openApi(t)
  const objectives = ['first', 'second', 'third']
  for (const id of ['ada', 'bob', 'cyd', 'dan']) await api.post('/agents', { id })
  for (const agent of ['bob', 'dan']) {
    await api.box.host.act({ do: 'stop_agent', agent_id: agent })
    for (const objective of objectives) await api.post(`/agents/${agent}/work-items`, { objective })
  }
  const told = ({
    agents,
    work_items,
    counts,
    waits,
    attention,
    attention_total,
  }: StateRecord) => ({
    agents: agents.map(({ id }) => id),
    work_items: work_items.map(({ agent_id, objective }) => `${agent_id} ${objective}`),
    counts: counts.map(({ agent_id, queued_runnable }) => [agent_id, queued_runnable]),
    rest: [waits, attention, attention_total],
  })
  const whole = {
    agents: ['main', 'ada', 'bob', 'cyd', 'dan'],
    work_items: ['bob', 'dan'].flatMap((agent) => objectives.map((what) => `${agent} ${what}`)),
    counts: [
      ['main', 0],
      ['ada', 0],
      ['bob', 3],
      ['cyd', 0],
      ['dan', 3],
    ],
    rest: [[], [], 0],
  }
  // Twice: the second time it is put together from what was kept.
  assert.deepEqual(told(await api.get<StateRecord>('/state')), whole)
  assert.deepEqual(told(await api.get<StateRecord>('/state')), whole)
})

test('the state has what a first screen shows, and the seq the stream goes on from', async (t) => {
  const { api, item, wait } = await asked(t)
  for (let n = 0; n < 8; n += 1) {
    await api.box.host.act({ do: 'stop_agent', agent_id: 'main' })
    await api.post('/agents/main/work-items', { objective: `Queued ${n}` })
  }
  const state = await api.get<StateRecord>('/state')
  assert.equal(state.last_seq, (await api.home.reads.eventRange(null)).last)
  assert.deepEqual(
    state.work_items.map(({ objective }) => objective),
    [...[0, 1, 2, 3, 4].map((n) => `Queued ${n}`), item.objective],
  )
  assert.deepEqual(state.counts, [
    {
      agent_id: 'main',
      current_runnable: 0,
      triggered_blocked: 0,
      queued_runnable: 8,
      waiting_for_operator: 1,
      blocked: 0,
      completed: 0,
      active_waits: 1,
      running_tasks: 0,
      queued_messages: 0,
    },
  ])
  assert.deepEqual(
    state.agents.map(({ id, open_work_items }) => [id, open_work_items]),
    [['main', 9]],
  )
  assert.deepEqual(
    state.waits.map(({ id }) => id),
    [wait.id],
  )
  assert.deepEqual(
    state.attention.map(({ id }) => id),
    [wait.id],
  )
  assert.equal(state.attention_total, 1)
})

test('history is paged backwards: turns, briefs, decisions and messages', async (t) => {
  const { api, item, wait } = await asked(t)
  type Rows = Record<string, { id: string }[]> & { next_cursor: string | null }
  for (const [plural, count] of [
    ['turns', 1],
    ['briefs', 1],
    ['decisions', 1],
    ['messages', 1],
  ] as const) {
    const path = `/agents/main/${plural}`
    const page = await api.get<Rows>(path)
    assert.equal(page[plural]?.length, count, plural)
    const before = await api.get<Rows>(`${path}?before=${page[plural]?.[0]?.id}`)
    assert.deepEqual([before[plural], before.next_cursor], [[], null])
  }
  type Briefs = { briefs: { kind: string; wait_id: string }[] }
  const about = await api.get<Briefs>(`/agents/main/briefs?work_item_id=${item.id}&kind=question`)
  assert.deepEqual(
    about.briefs.map(({ wait_id }) => wait_id),
    [wait.id],
  )
  assert.equal((await api.refused('GET', '/agents/main/briefs?kind=letter')).status, 422)
  assert.equal((await api.refused('GET', '/agents/main/turns/turn_ffff')).status, 404)
})

test('words are accepted durably, once for one key, about an item or an answer', async (t) => {
  const { api, item, wait } = await asked(t)
  await api.box.host.close('safe_point')
  type Accepted = {
    message_id: string
    accepted_at: string
    resolved: string[]
    warnings: object[]
  }
  const key = { 'idempotency-key': 'say-1' }
  const body = { text: 'yes', wait_id: `wait_${wait.id.slice(-6)}`, work_item_id: item.id }
  const said = await api.ask<Accepted>('POST', '/agents/main/messages', body, key)
  assert.deepEqual([said.status, said.body.resolved], [202, [wait.id]])
  assert.deepEqual((await api.ask('POST', '/agents/main/messages', body, key)).body, said.body)
  const path = `/agents/main/messages/${said.body.message_id}`
  assert.equal(said.headers.get('location'), path)
  type Read = { status: string; receipt: object; body: string }
  const message = await api.get<Read>(path)
  assert.deepEqual(
    [message.status, message.body, message.receipt],
    [
      'queued',
      'yes',
      {
        accepted_at: said.body.accepted_at,
        turn_id: null,
        request_id: null,
        said: 'queued for the next turn',
      },
    ],
  )
  for (const [given, code] of [
    [{ text: '' }, 'message_empty'],
    [{ text: 'x', work_item_id: 'work_ffff' }, 'work_item_not_found'],
    [{ text: 'x', priority: 'normal' }, 'invalid_request'],
    [{ text: 'x', wait_id: wait.id }, 'wait_not_active'],
  ] as const) {
    const problem = await api.refused('POST', '/agents/main/messages', given)
    assert.equal(problem.code, code, JSON.stringify(given))
  }
})

test('an agent made from a template has its files and, unless told otherwise, its defaults', async (t) => {
  const api = await openApi(t)
  const folder = join(api.box.home, 'templates', 'reviewer')
  mkdirSync(join(folder, 'skills'), { recursive: true })
  writeFileSync(join(folder, 'AGENTS.md'), '# How to review\n')
  writeFileSync(join(folder, 'skills', 'diff.md'), 'Read it twice.\n')
  writeFileSync(join(folder, 'agent.json'), '{"model":"a/b","fallback_model":"c/d"}')
  const template = 'reviewer'
  const { agent } = await api.post<Acted>('/agents', { id: 'docs', template, model: 'x/y' })
  assert.deepEqual([agent.template, agent.model, agent.fallback_model], ['reviewer', 'x/y', 'c/d'])
  const home = join(api.box.home, 'agents', 'docs')
  assert.equal(readFileSync(join(home, 'skills', 'diff.md'), 'utf8'), 'Read it twice.\n')
  assert.equal(existsSync(join(home, 'agent.json')), false)
  const again = await api.refused('POST', '/agents', { id: 'main', template })
  assert.equal(again.code, 'agent_exists')
  assert.equal(existsSync(join(api.box.home, 'agents', 'main', 'AGENTS.md')), false)
  writeFileSync(join(folder, 'agent.json'), '{"colour":"red"}')
  const cases = [
    [{ id: 'a', template: 'nobody' }, 404, 'template_not_found'],
    [{ id: 'a', template: '../reviewer' }, 404, 'template_not_found'],
    [{ id: 'a', template }, 422, 'template_invalid'],
  ] as const
  for (const [body, status, code] of cases) {
    const problem = await api.refused('POST', '/agents', body)
    assert.deepEqual([problem.status, problem.code], [status, code])
  }
})

test('a workspace that is no folder is refused before anything is stored', async (t) => {
  const api = await openApi(t)
  const before = await api.get<AgentRecord>('/agents/main')
  const file = join(api.box.workspace, 'file')
  writeFileSync(file, '')
  for (const root of ['/nowhere/at/all', 'relative', file]) {
    const workspace = { mode: 'explicit_root', root }
    const made = await api.refused('POST', '/agents', { id: 'docs', workspace })
    const changed = await api.refused('PATCH', '/agents/main', { workspace })
    assert.deepEqual([made.code, changed.code], ['workspace_missing', 'workspace_missing'], root)
  }
  assert.deepEqual(await api.get('/agents/main'), before)
  assert.equal((await api.refused('GET', '/agents/docs')).code, 'agent_not_found')
})
