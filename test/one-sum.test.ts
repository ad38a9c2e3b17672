/**
 * What an item has used is one sum, whatever is asked: the record, the lists, the report, what the
 * terminal prints; for two agents, while a turn runs that worked on more than the item, and when it
 * has ended.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StateRecord } from '../src/protocol/views/state-record.ts'
import type { SpendRow } from '../src/protocol/records/spend-record.ts'
import type { WorkItemRecord } from '../src/protocol/records/work-item-record.ts'
import { spent } from '../src/present/lines/state-cell.ts'
import { openApi, type ApiBox } from '../src/testing/http/api.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { call } from './support/scripts.ts'
import { printed } from './support/typed-command.ts'
import { textOf } from './support/stage.ts'

const agents = ['ada', 'bob'] as const
type Sum = { requests?: number; input_tokens: number | null; usd: number | null }
const sumOf = ({ input_tokens, usd }: Sum) => [input_tokens, usd === null ? null : usd.toFixed(4)]

/** A model that makes and picks an item, works, waits for the gate, and completes it. */
function worker(waitsAt: number, look: () => Promise<unknown>) {
  const asked = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const model = scriptedModel(async (request, n) => {
    const [id = ''] = textOf(request).match(/work_[0-9a-f-]{4,36}/) ?? []
    if (n === 1) return calls(call('CreateWorkItem', { objective: 'Look', plan: '# Look' }))
    if (n === 2) return calls(call('PickWorkItem', { work_item_id: id }))
    if (n === 3) {
      await look()
      return calls(call('ListTasks'))
    }
    if (n === waitsAt) {
      asked.resolve()
      await gate.promise
    }
    return n === 4 ? calls(call('CompleteWorkItem', { work_item_id: id })) : says('It is done.')
  })
  return { model, asked: asked.promise, goOn: gate.resolve }
}

/** The same item, as each surface tells what it has used. */
async function surfaces(api: ApiBox, agent: string, id: string): Promise<Record<string, unknown>> {
  type Spend = { spend: SpendRow[] }
  const path = `/agents/${agent}/work-items`
  const one = await api.get<WorkItemRecord>(`${path}/${id}`)
  const { work_items } = await api.get<{ work_items: WorkItemRecord[] }>(path)
  const state = await api.get<StateRecord>('/state')
  const tab = await api.get<Spend>(`${path}/${id}/spend`)
  const all = await api.get<Spend>('/spend?by=item')
  const ofAgent = await api.get<Spend>(`/spend?by=item&agent=${agent}`)
  const { home } = api.box
  const list = JSON.parse(await output(home, ['work', 'list', '--all', '--json'])) as {
    work_items: WorkItemRecord[]
  }
  const show = JSON.parse(await output(home, ['work', 'show', id, '--json'])) as WorkItemRecord
  const ours = (rows: readonly SpendRow[]) => rows.find(({ work_item_id }) => work_item_id === id)
  const of = (found: Sum | null | undefined) => found && sumOf(found)
  // What is completed stands in no list of what is open.
  const inList = work_items.find((item) => item.id === id)
  const inState = state.work_items.find((item) => item.id === id)
  return {
    record: of(one.spend),
    ...(inList === undefined ? {} : { list: of(inList.spend) }),
    ...(inState === undefined ? {} : { state: of(inState.spend) }),
    tab: of(tab.spend[0]),
    all: of(ours(all.spend)),
    ofAgent: of(ours(ofAgent.spend)),
    'work list --json': of(list.work_items.find((item) => item.id === id)?.spend),
    'work show --json': of(show.spend),
  }
}

const turnEnded = (api: ApiBox, agent: string) =>
  api.box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.agent_id === agent &&
      notice.events.some(({ event }) => event.type === 'turn_ended'),
  )

const output = async (home: string, words: readonly string[]): Promise<string> => {
  const [, ...rest] = (await printed(home, words, { terminal: false, colour: false })).split('\n')
  return rest.join('\n')
}

for (const [when, waitsAt] of [
  ['while its turn runs', 4],
  ['when its turn has ended', 99],
] as const) {
  test(`every surface tells the same sum of an item ${when}`, { timeout: 30_000 }, async (t) => {
    const workers = new Map(agents.map((name) => [name, worker(waitsAt, () => api.get('/state'))]))
    const models = Object.fromEntries(
      [...workers].map(([name, { model }]) => [`test/${name}`, model]),
    )
    const price = ({ input_tokens }: { input_tokens: number | null }) => (input_tokens ?? 0) / 1_000
    const api = await openApi(t, { models, price: (_, usage) => price(usage) })
    await api.box.host.open()
    for (const name of agents) {
      const made = { id: name, model: `test/${name}` }
      assert.ok((await api.box.host.ensureAgent(made)).ok)
      await api.post(`/agents/${name}/messages`, { text: 'Work.' })
      if (waitsAt === 4) await workers.get(name)?.asked
      else await turnEnded(api, name)
    }
    for (const name of agents) {
      const rows = await api.box.ledger.list('work_items', { agent_id: name, limit: 9 })
      const id = rows[0]?.id ?? assert.fail('no item')
      const told = await surfaces(api, name, id)
      const [first] = Object.values(told)
      assert.ok(Array.isArray(first) && Number(first[0]) > 0, JSON.stringify(told))
      assert.deepEqual(told, Object.fromEntries(Object.keys(told).map((key) => [key, first])))
      // The sum is of requests: the one before the item was made is about none.
      const rounds = await api.box.ledger.list('rounds', { agent_id: name, limit: 99 })
      const about = rounds.filter(({ work_item_id, usage }) => work_item_id === id && usage)
      if (waitsAt === 4) assert.ok(about.length > 0 && about.length < rounds.length)
      const line = await output(api.box.home, ['work', 'list', '--all'])
      const record = await api.get<WorkItemRecord>(`/agents/${name}/work-items/${id}`)
      assert.ok(line.includes(spent(record.spend)), line)
      const show = await output(api.box.home, ['work', 'show', id])
      assert.ok(show.includes(`spent ${spent(record.spend)}`), show)
    }
    for (const { goOn } of workers.values()) goOn()
    for (const name of agents) await turnEnded(api, name)
  })
}
