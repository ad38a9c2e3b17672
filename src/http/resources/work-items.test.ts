import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Can } from '../../protocol/actions/action.ts'
import type { WorkItemRecord } from '../../protocol/records/work-item-record.ts'
import { openApi, type ApiBox } from '../../testing/http/api.ts'
import { asked } from '../../testing/http/api-scripts.ts'

type Acted = { work_item: WorkItemRecord; said: string; warnings: { kind: string }[] }
type Listed = { work_items: WorkItemRecord[]; next_cursor: string | null }

const items = '/agents/main/work-items'
const create = async (api: ApiBox, objective: string) =>
  (await api.post<Acted>(items, { objective })).work_item
const short = (id: string) => `${id.slice(0, id.indexOf('_') + 1)}${id.slice(-6)}`
const named = (list: readonly WorkItemRecord[]) => list.map(({ objective }) => objective)
const allowed = (can: readonly Can[]) => can.flatMap((one) => (one.allowed ? [one.key] : []))

test('a work item is made, read whole by its short id, and the plan is its file', async (t) => {
  const api = await openApi(t)
  const made = await api.ask<Acted>('POST', items, { objective: 'Port it', plan: '# Plan\n' })
  const { id } = made.body.work_item
  assert.equal(made.status, 201)
  assert.equal(made.headers.get('location'), `${items}/${id}`)
  const read = await api.ask<WorkItemRecord>('GET', `${items}/${short(id)}`)
  assert.deepEqual(read.body, made.body.work_item)
  assert.equal(read.headers.get('etag'), '"1"')
  const plan = await api.get<{ text: string; plan_artifact: unknown }>(`${items}/${id}/plan`)
  assert.deepEqual(plan, {
    work_item_id: id,
    plan_artifact: read.body.plan_artifact,
    text: '# Plan\n',
  })
  assert.deepEqual(api.errors, [])
})

test('PATCH with the revision it was read at, by header or body; a stale one is 409', async (t) => {
  const api = await openApi(t)
  const { id } = await create(api, 'A')
  const patch = (body: object, headers = {}) => api.ask('PATCH', `${items}/${id}`, body, headers)
  assert.equal((await patch({ objective: 'B' }, { 'if-match': '"1"' })).status, 200)
  assert.equal((await patch({ objective: 'C', expected_revision: 2 })).status, 200)
  for (const [body, headers, code] of [
    [{ objective: 'D' }, { 'if-match': '"2"' }, 'revision_stale'],
    [{ objective: 'D', expected_revision: 2 }, {}, 'revision_stale'],
    [{ objective: 'D' }, { 'if-match': 'W/x' }, 'invalid_request'],
    [{ objective: 'D', expected_revision: 3 }, { 'if-match': '"2"' }, 'invalid_request'],
    [{}, {}, 'nothing_to_update'],
    [{ objectve: 'D' }, {}, 'invalid_request'],
  ] as const) {
    const problem = await api.refused('PATCH', `${items}/${id}`, body, headers)
    assert.equal(problem.code, code, JSON.stringify(body))
  }
  const after = await api.get<WorkItemRecord>(`${items}/${id}`)
  assert.deepEqual([after.objective, after.revision], ['C', 3])
})

test('can says what decide says, and the act it names then gets that very answer', async (t) => {
  const api = await openApi(t)
  const { id, can } = await create(api, 'A')
  assert.deepEqual(allowed(can), ['pick', 'complete', 'update_item', 'send'])
  const unblock = can.find(({ key }) => key === 'unblock')
  assert.deepEqual(unblock, {
    key: 'unblock',
    label: 'let it go on',
    cli: `holon work unblock ${id}`,
    method: 'PATCH',
    path: `${items}/${id}`,
    allowed: false,
    code: 'no_change',
    why: `${id} may go on: nothing held it.`,
  })
  const done = await api.post<Acted>(`${items}/${id}/complete`, { report: 'It is done, twice.' })
  assert.equal(done.work_item.result_summary, 'It is done, twice.')
  const complete = done.work_item.can.find(({ key }) => key === 'complete')
  const problem = await api.refused('POST', `${items}/${id}/complete`, {})
  assert.deepEqual(
    [complete?.allowed, complete?.code, complete?.why],
    [false, problem.code, problem.detail],
  )
})

test('each derived view is a filter, and all of them together are all', async (t) => {
  const api = await openApi(t)
  const [a, b, c, d] = [
    await create(api, 'current'),
    await create(api, 'queued'),
    await create(api, 'blocked'),
    await create(api, 'completed'),
  ]
  await api.post(`${items}/${a.id}/pick`, {})
  await api.ask('PATCH', `${items}/${c.id}`, { blocked_by: 'no key' })
  await api.post(`${items}/${d.id}/complete`)
  const expected = {
    all: ['current', 'queued', 'blocked', 'completed'],
    open: ['current', 'queued', 'blocked'],
    completed: ['completed'],
    current: ['current'],
    queued: ['queued'],
    blocked: ['blocked'],
    waiting_for_operator: [],
    runnable: ['current', 'queued'],
    triggered: [],
  }
  const seen: Record<string, string[]> = {}
  for (const filter of Object.keys(expected)) {
    seen[filter] = named((await api.get<Listed>(`${items}?filter=${filter}`)).work_items)
  }
  assert.deepEqual(seen, expected)
  assert.equal(b.todo_list?.length, 0)
  const problem = await api.refused('GET', `${items}?filter=opne`)
  assert.deepEqual([problem.status, problem.code], [422, 'invalid_request'])
})

for (const filter of ['open', 'all']) {
  test(`pages of ${filter} items meet without a gap or a repeat, whatever is added`, async (t) => {
    const api = await openApi(t)
    const made: string[] = []
    for (const name of ['1', '2', '3', '4', '5']) made.push((await create(api, name)).id)
    const first = await api.get<Listed>(`${items}?filter=${filter}&limit=2`)
    await create(api, '6')
    const second = await api.get<Listed>(
      `${items}?filter=${filter}&limit=2&cursor=${first.next_cursor}`,
    )
    const third = await api.get<Listed>(
      `${items}?filter=${filter}&limit=2&cursor=${second.next_cursor}`,
    )
    assert.deepEqual(
      [first, second, third].map(({ work_items }) => named(work_items)),
      [['4', '5'], ['2', '3'], ['1']],
    )
    assert.equal(third.next_cursor, null)
    const before = await api.get<Listed>(`${items}?filter=${filter}&before=${made[2]}`)
    assert.deepEqual([named(before.work_items), before.next_cursor], [['1', '2'], null])
  })
}

test('a cursor of another list, or none at all, and an unknown place are refused', async (t) => {
  const api = await openApi(t)
  const { id } = await create(api, 'A')
  const cursor = Buffer.from(JSON.stringify(['waits', id])).toString('base64url')
  for (const [query, code] of [
    [`cursor=${cursor}`, 'invalid_cursor'],
    ['cursor=AAAA', 'invalid_cursor'],
    ['before=work_ffff', 'work_item_not_found'],
    [`before=${id}&cursor=${cursor}`, 'invalid_request'],
    ['limit=0', 'invalid_request'],
    ['limit=201', 'invalid_request'],
    ['lmit=3', 'invalid_request'],
  ] as const) {
    assert.equal((await api.refused('GET', `${items}?${query}`)).code, code, query)
  }
})

test('an end of two ids means the one it is short for; a beginning of both is 409', async (t) => {
  const api = await openApi(t, { agents: ['main', 'ops'], ids: twins() })
  const [a, b] = [await create(api, 'A'), await create(api, 'B')]
  assert.equal((await api.get<{ id: string }>(`${items}/work_beef`)).id, a.id)
  const problem = await api.refused('GET', `${items}/work_0000`)
  assert.deepEqual(
    [problem.status, problem.code, problem.detail],
    [409, 'ambiguous_id', `work_0000 means more than one: ${a.id} (main), ${b.id} (main).`],
  )
  for (const part of [b.id.slice(0, 'work_00000008'.length), b.id.slice('work_'.length)]) {
    assert.equal((await api.get<{ id: string }>(`${items}/${part}`)).id, b.id, part)
  }
  const foreign = await api.refused('GET', `/agents/ops/work-items/${a.id}`)
  assert.deepEqual([foreign.status, foreign.code], [404, 'work_item_not_found'])
  const nobody = await api.refused('GET', `/agents/nobody/work-items/${a.id}`)
  assert.deepEqual([nobody.status, nobody.code], [404, 'agent_not_found'])
})

test('the same Idempotency-Key makes one item; with another body it is 422', async (t) => {
  const api = await openApi(t)
  const key = { 'idempotency-key': 'make-1' }
  const first = await api.post<Acted>(items, { objective: 'Once' }, key)
  const again = await api.post<Acted>(items, { objective: 'Once' }, key)
  assert.deepEqual(again, first)
  const other = await api.refused('POST', items, { objective: 'Twice' }, key)
  assert.deepEqual([other.status, other.code], [422, 'idempotency_mismatch'])
  assert.deepEqual(named((await api.get<Listed>(items)).work_items), ['Once'])
})

test('why is structured, with what may be done and the decisions; reading wakes nobody', async (t) => {
  const { api, item, wait } = await asked(t)
  const seq = api.box.host.facts('main')?.seq
  type Told = {
    state: string
    can: Can[]
    sentence: string
    last_decision: unknown
    history: { at: string }[]
    history_complete: boolean
  }
  const why = await api.get<Told>(`${items}/${item.id}/why?history=true`)
  assert.equal(why.state, 'waiting_operator')
  assert.match(why.sentence, /^Release 2\.4\.0 waits for you since .*: "Ship it\?"$/)
  assert.deepEqual(
    why.can.map(({ key, method, path }) => [key, method, path]),
    [
      ['answer', 'POST', `/agents/main/waits/${wait.id}/answer`],
      ['look', 'GET', `${items}/${item.id}`],
    ],
  )
  const { decisions } = await api.get<{ decisions: object[] }>('/agents/main/decisions')
  assert.equal(why.history_complete, true)
  const run = { chosen: false, times: 1, first_at: why.history[0]?.at }
  assert.deepEqual([why.last_decision, why.history], [decisions[0], [{ ...decisions[0], ...run }]])
  await api.get(`${items}/${item.id}/trace`)
  await api.get('/state')
  assert.equal(api.box.host.facts('main')?.seq, seq)
})

test('the trace of an item has its turns with requests, the messages they showed and calls', async (t) => {
  const { api, item } = await asked(t)
  type Trace = {
    turns: { rounds: { message_ids: string[]; calls: { tool_name: string }[] }[] }[]
  }
  const { turns } = await api.get<Trace>(`${items}/${item.id}/trace`)
  const { messages } = await api.get<{
    messages: { id: string; receipt: { request_id: string; said: string } }[]
  }>('/agents/main/messages')
  const [message] = messages
  const [turn] = turns
  assert.deepEqual(turn?.rounds[0]?.message_ids, [message?.id])
  assert.match(message?.receipt.said ?? '', /^in turn turn_\S+, request 1$/)
  assert.deepEqual(
    turn?.rounds.flatMap(({ calls }) => calls.map(({ tool_name }) => tool_name)),
    ['PickWorkItem', 'WaitFor'],
  )
  assert.equal(turns.length, 1)
})

test('an unknown price is null in the item, in its spend and in the sum, never zero', async (t) => {
  const { api, item } = await asked(t)
  assert.deepEqual(item.spend, {
    turns: 1,
    input_tokens: 200,
    output_tokens: 40,
    reasoning_tokens: 0,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    usd: null,
  })
  type Spend = { spend: Record<string, unknown>[] }
  const own = await api.get<Spend>(`${items}/${item.id}/spend`)
  const all = await api.get<Spend>('/spend?by=agent,item')
  for (const { spend } of [own, all]) {
    const sums = spend.map(({ usd, known_usd }) => [usd, known_usd])
    assert.ok(sums.length > 0)
    assert.deepEqual(
      sums,
      sums.map(() => [null, null]),
    )
  }
})

/** Ids whose last characters are all the same. */
function twins() {
  let n = 0
  const next = () => (n += 1).toString(16).padStart(8, '0')
  return {
    mint: (prefix: string) => `${prefix}_${next()}-0000-7000-8000-00000000beef`,
    token: (bytes: number) => Buffer.alloc(bytes, 7).toString('base64url'),
    random: () => 0.5,
  }
}
