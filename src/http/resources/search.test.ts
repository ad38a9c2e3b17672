import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { SearchAnswer } from '../../protocol/records/search-record.ts'
import type { WorkItemRecord } from '../../protocol/records/work-item-record.ts'
import { openApi } from '../../testing/http/api.ts'
import { fakeHome, problemIn } from '../../testing/http/http-home.ts'

async function home(t: TestContext) {
  const api = await openApi(t)
  const make = async (agent: string, objective: string) => {
    const plan = `# Plan\nthe axolotl first, for ${agent}\n`
    const made = await api.post<{ work_item: WorkItemRecord }>(`/agents/${agent}/work-items`, {
      objective,
      plan,
    })
    return made.work_item.id
  }
  await api.post('/agents', { id: 'docs' })
  const [ofMain, ofDocs] = [
    await make('main', 'Feed the axolotl'),
    await make('docs', 'Describe the axolotl'),
  ]
  const folder = join(api.box.home, 'agents', 'docs', 'memory')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'a.md'), 'The axolotl lives in water.')
  const search = (query: string) => api.get<SearchAnswer>(`/search?${query}`)
  return { api, ofMain, ofDocs, search }
}

test('the operator finds records of the whole home, or of one agent, or of some kinds', async (t) => {
  const { search, ofMain, ofDocs } = await home(t)
  const all = await search('q=axolotl')
  assert.deepEqual([all.query, all.match, all.complete], ['axolotl', 'all', true])
  assert.deepEqual(
    all.results.map(({ source_ref }) => source_ref).toSorted(),
    [ofMain, `${ofMain}/plan`, ofDocs, `${ofDocs}/plan`, 'file:@docs/memory/a.md'].toSorted(),
  )
  const kinds = async (query: string) =>
    (await search(query)).results.map(({ kind, agent_id }) => `${kind} ${agent_id}`)
  assert.deepEqual((await kinds('q=axolotl&agent=main')).toSorted(), [
    'plan main',
    'work_item main',
  ])
  assert.deepEqual((await kinds('q=axolotl&kind=file,work_item&agent=docs')).toSorted(), [
    'file docs',
    'work_item docs',
  ])
  assert.equal((await kinds('q=axolotl&limit=2')).length, 2)
  const [file] = (await search('q=axolotl&kind=file')).results
  assert.equal(file?.snippet, 'The «axolotl» lives in water.')
})

test('what is wrong with a search is said by name', async (t) => {
  const { api } = await home(t)
  const table: [query: string, code: string][] = [
    ['', 'invalid_request'],
    ['?q=', 'invalid_request'],
    ['?q=x&limit=51', 'invalid_request'],
    ['?q=x&kind=plans', 'invalid_request'],
    ['?q=x&who=main', 'invalid_request'],
    [`?q=${'x'.repeat(401)}`, 'invalid_request'],
    ['?q=%22%22', 'query_empty'],
    ['?q=x&agent=nobody', 'agent_not_found'],
  ]
  for (const [query, code] of table) {
    const problem = await api.refused('GET', `/search${query}`)
    assert.equal(problem.code, code, query)
  }
})

test('a search wants the control token', async () => {
  const home = fakeHome()
  const answer = await home.ask('/search?q=x', { headers: { authorization: 'Bearer wrong' } })
  assert.deepEqual(await problemIn(answer), [401, 'unauthorized'])
})
