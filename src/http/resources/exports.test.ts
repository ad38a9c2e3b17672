import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRedactor } from '../../domain/secrets/redact.ts'
import type { ExportedItem } from '../../protocol/records/export-record.ts'
import type { WorkItemRecord } from '../../protocol/records/work-item-record.ts'
import { openApi, type ApiBox } from '../../testing/http/api.ts'
import { asked, call } from '../../testing/http/api-scripts.ts'

type Acted = { work_item: WorkItemRecord; said: string; warnings: { kind: string }[] }
type Lined = { record: string; generation?: number; [field: string]: unknown }

const items = '/agents/main/work-items'
const secret = 'sk-export-0123456789abcdef'
const linesOf = ({ file }: ExportedItem): Lined[] =>
  file
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Lined)
const exportOf = (api: ApiBox, id: string) => api.get<ExportedItem>(`${items}/${id}/export`)
const into = (api: ApiBox, body: object) => api.ask<Acted>('POST', '/agents/main/imports', body)
/** What is on the disk of the home beyond its database. */
const filesOf = (api: ApiBox) =>
  ['agents/main/work-items', 'ledger/blobs'].flatMap((folder) => {
    const path = join(api.box.home, folder)
    return existsSync(path) ? readdirSync(path, { recursive: true }).map(String) : []
  })

test('an item leaves with plan, turns, questions and texts, and without secrets and places', async (t) => {
  const { redactor } = createRedactor()
  const run = () => call('ExecCommand', { cmd: `echo ${secret}; pwd` })
  const { api, item } = await asked(t, 'Ship it?', [run], { redactor })
  // Known as a secret only after it was written.
  await api.ask('PATCH', `${items}/${item.id}`, { objective: `Release with ${secret}` })
  redactor.register('provider', secret)
  const exported = await exportOf(api, item.id)
  const lines = linesOf(exported)
  const kinds = [...new Set(lines.map(({ record }) => record))]
  assert.deepEqual(kinds, ['export', 'item', 'plan', 'row', 'event', 'blob', 'end'])
  const tables = [...new Set(lines.flatMap((one) => ('table' in one ? [one['table']] : [])))]
  assert.deepEqual(tables.toSorted(), ['briefs', 'turns', 'waits'])
  assert.ok(!exported.file.includes(secret))
  assert.ok(exported.file.includes('Release with {{secret:provider}}'))
  assert.ok(!exported.file.includes(api.box.home))
  assert.ok(exported.file.includes('$HOLON_HOME/agents/main/work-items'))
  assert.deepEqual([exported.records, exported.cut], [lines.length - 2, {}])
})

test('what comes in is a new item that nobody acts on; picked, it goes out again whole', async (t) => {
  const from = await asked(t)
  const first = await exportOf(from.api, from.item.id)
  const api = await openApi(t)
  const made = await into(api, { file: first.file })
  assert.equal(made.status, 201)
  const came = made.body.work_item
  assert.equal(made.headers.get('location'), `${items}/${came.id}`)
  assert.notEqual(came.id, from.item.id)
  const { objective, scheduling_state, candidate_class, imported, can } = came
  assert.deepEqual(
    { objective, scheduling_state, candidate_class, adopted: imported?.adopted_at },
    {
      objective: 'Release 2.4.0',
      scheduling_state: 'waiting_operator',
      candidate_class: 'waiting_for_operator',
      adopted: null,
    },
  )
  assert.equal(imported?.work_item_id, from.item.id)
  assert.deepEqual(
    can.flatMap((one) => (one.allowed ? [one.key] : [])),
    ['pick', 'complete', 'update_item'],
  )
  const { attention } = await api.get<{ attention: { kind: string; id: string }[] }>('/attention')
  assert.deepEqual(
    attention.map(({ kind, id }) => [kind, id]),
    [['imported', came.id]],
  )
  const plan = await api.get<{ text: string }>(`${items}/${came.id}/plan`)
  assert.equal(plan.text, '# Plan\nbuild, then ship\n')
  const picked = await api.post<Acted>(`${items}/${came.id}/pick`, {})
  assert.equal(picked.work_item.candidate_class, 'current_runnable')

  const second = linesOf(await exportOf(api, came.id))
  const older = second.filter(({ generation }) => generation === 1)
  assert.deepEqual(
    older.map((line) => ({ ...line, generation: 0 })),
    linesOf(first).filter(({ generation }) => generation === 0),
  )
  assert.deepEqual(
    second.filter(({ record, generation }) => record === 'plan' && generation === 0),
    [{ record: 'plan', generation: 0, text: plan.text }],
  )
  assert.deepEqual([from.api.errors, api.errors], [[], []])
})

test('the same file is one item, by key, again, or on purpose two', async (t) => {
  const from = await openApi(t)
  const { work_item } = await from.post<Acted>(items, { objective: 'A', plan: 'x' })
  const { file } = await exportOf(from, work_item.id)
  const api = await openApi(t)
  const key = { 'idempotency-key': 'import-1' }
  const one = await api.ask<Acted>('POST', '/agents/main/imports', { file }, key)
  const same = await api.ask<Acted>('POST', '/agents/main/imports', { file }, key)
  assert.equal(same.body.work_item.id, one.body.work_item.id)
  const again = await api.refused('POST', '/agents/main/imports', { file })
  assert.deepEqual([again.code, again.status], ['already_imported', 409])
  const two = await into(api, { file, again: true })
  assert.equal(two.status, 201)
  assert.notEqual(two.body.work_item.id, one.body.work_item.id)
})

const bad: [what: string, change: (file: string) => string, code: string][] = [
  ['is cut off', (file) => file.slice(0, -40), 'import_invalid'],
  ['was changed', (file) => file.replace('Port it', 'Drop it'), 'import_invalid'],
  ['is newer', (file) => file.replace('"version":1', '"version":2'), 'import_newer'],
  ['is something else', () => 'hello', 'import_invalid'],
  ['is too large', (file) => file.padEnd(4 * 1024 * 1024 + 1, 'x'), 'invalid_request'],
]
for (const [what, change, code] of bad) {
  test(`of a file that ${what} nothing is written`, async (t) => {
    const from = await openApi(t)
    const { work_item } = await from.post<Acted>(items, { objective: 'Port it', plan: 'x' })
    const { file } = await exportOf(from, work_item.id)
    const api = await openApi(t)
    const [events, before] = [await api.box.ledger.lastGlobalSeq(), filesOf(api)]
    const problem = await api.refused('POST', '/agents/main/imports', { file: change(file) })
    assert.equal(problem.code, code, problem.detail)
    assert.deepEqual([await api.box.ledger.lastGlobalSeq(), filesOf(api)], [events, before])
  })
}

test('a file that is imported is kept without what is a secret here', async (t) => {
  const from = await openApi(t)
  const { work_item } = await from.post<Acted>(items, { objective: `Use ${secret}` })
  const { file } = await exportOf(from, work_item.id)
  const { redactor } = createRedactor([{ name: 'own', value: secret }])
  const api = await openApi(t, { redactor })
  const { body } = await into(api, { file })
  assert.equal(body.work_item.objective, 'Use {{secret:own}}')
  const kept = await api.box.ledger.blob(body.work_item.imported?.file_sha256 ?? '')
  const text = new TextDecoder().decode(kept ?? new Uint8Array())
  assert.ok(text.includes('Use {{secret:own}}') && !text.includes(secret))
})
