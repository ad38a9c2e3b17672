import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { earlierRecords, writeExport, type ExportParts } from './export-file.ts'
import type { SliceRecord } from './export-format.ts'
import { readExport } from './import-file.ts'
import { limits } from '../limits.ts'

const hash = (text: string) => createHash('sha256').update(text).digest('hex')
const same = <T>(value: T): T => value
const id = 'work_01a20300-d9da-7935-9953-8f635d522f17'
const at = '2026-03-02T09:00:00.000Z'

const item = (more: object = {}): SliceRecord => ({
  record: 'item',
  generation: 0,
  item: { id, objective: 'Port it', plan_status: 'ready', todo_list: [], budget: null, ...more },
})
const plan = (text: string): SliceRecord => ({ record: 'plan', generation: 0, text })
const event = (seq: number, more: object = {}): SliceRecord => ({
  record: 'event',
  generation: 0,
  seq,
  at,
  turn_id: null,
  causation_id: null,
  event: { type: 'work_item_created', ...more },
})
const parts = (slice: readonly SliceRecord[], earlier: string | null = null): ExportParts => ({
  exported_at: at,
  program: '1.0.0',
  agent_id: 'main',
  work_item_id: id,
  slice,
  earlier,
})
const written = (slice: readonly SliceRecord[], earlier: string | null = null) =>
  writeExport(parts(slice, earlier), same, hash)

/** The lines of a whole file with its sum made right again. */
function summed(lines: readonly string[]): string {
  const body = lines.map((line) => `${line}\n`).join('')
  return `${body}${JSON.stringify({ record: 'end', sha256: hash(body) })}\n`
}
const good = written([item(), plan('# Plan\n'), event(2), event(1)]).file
const lines = good.trimEnd().split('\n').slice(0, -1)
const head = JSON.parse(lines[0] ?? '') as object
const headed = (more: object) => summed([JSON.stringify({ ...head, ...more }), ...lines.slice(1)])
/** The file with one line more, or another in the place of line `n`. */
const withLine = (line: string) =>
  summed([JSON.stringify({ ...head, records: lines.length }), ...lines.slice(1), line])
const instead = (n: number, line: string) => summed(lines.with(n - 1, line))
const record = (value: object) => withLine(JSON.stringify(value))
const itself = (more: object) => instead(2, JSON.stringify(item(more)))
const deep = `{"record":"blob","generation":0,"sha256":"x","text":${'['.repeat(99)}${']'.repeat(99)}}`

const refused: [what: string, file: string, says: RegExp][] = [
  ['an empty file', '', /^import_invalid Line 1 .*not JSON/],
  ['a file of another kind', '{"a":1}\n', /^import_invalid Line 1 .*no export/],
  ['what is no JSON', 'hello\n', /^import_invalid Line 1 .*not JSON/],
  ['a list', '[]\n', /^import_invalid Line 1 .*not an object/],
  ['a file cut inside a line', good.slice(0, -30), /^import_invalid .*breaks off/],
  ['a file cut between lines', `${lines.join('\n')}\n`, /^import_invalid .*was cut off/],
  ['a changed word', good.replace('Port it', 'Sell it'), /^import_invalid .*was changed/],
  ['a newer version', headed({ version: 2 }), /^import_newer .*version 2/],
  ['an older version', headed({ version: 0 }), /^import_invalid Line 1 .*head/],
  ['a head with one field more', headed({ more: 1 }), /^import_invalid Line 1 .*head/],
  ['an agent that is a path', headed({ agent_id: '../main' }), /^import_invalid Line 1 .*head/],
  ['an item that is a path', headed({ work_item_id: '../../x' }), /^import_invalid Line 1 .*head/],
  ['a time that is none', headed({ exported_at: 'now' }), /^import_invalid Line 1 .*head/],
  ['another number of records', headed({ records: 9 }), /^import_invalid Line 1 .*9 records/],
  ['an item of another name', itself({ id: 'work_other' }), /^import_invalid .*head names/],
  ['an item without words', itself({ objective: 7 }), /^import_invalid .*no objective/],
  ['an unknown plan status', itself({ plan_status: 'done' }), /^import_invalid .*no objective/],
  ['todos of another form', itself({ todo_list: [{ text: 1 }] }), /^import_invalid .*todo list/],
  ['no item', instead(2, JSON.stringify(event(9))), /^import_invalid .*no item/],
  ['two items', record(item()), /^import_invalid Line 6 .*stands in the file already/],
  ['an event twice', record(event(2)), /^import_invalid Line 6 .*stands in the file already/],
  ['an event without a place', record({ ...event(2), seq: -1 }), /Line 6 .*no record/],
  ['an unknown kind', record({ record: 'key', generation: 0 }), /Line 6 .*no record/],
  [
    'an unknown table',
    record({ record: 'row', generation: 0, table: 'agents', row: { id } }),
    /Line 6/,
  ],
  [
    'a row whose id is a path',
    record({ record: 'row', generation: 0, table: 'turns', row: { id: '../../etc/passwd' } }),
    /Line 6 .*no record/,
  ],
  [
    'a blob whose name is a path',
    record({ record: 'blob', generation: 0, sha256: '../../../x', text: '' }),
    /Line 6 .*no record/,
  ],
  ['a generation too old', record({ ...plan('x'), generation: 4 }), /Line 6 .*no record/],
  [
    'a key that stands twice',
    withLine('{"record":"plan","record":"plan"}'),
    /Line 6 .*not written/,
  ],
  ['spaces between', withLine('{ "record": "plan" }'), /Line 6 .*not written/],
  ['what is nested too deep', withLine(deep), /Line 6 .*nested too deep/],
  [
    'a plan larger than a plan file',
    instead(3, JSON.stringify(plan('x'.repeat(limits.plan_file.value + 1)))),
    /^over_limit plan_file/,
  ],
  ['too many lines', '\n'.repeat(limits.export_records.value + 3), /^over_limit export_records/],
  ['too many bytes', 'x'.repeat(limits.export_file.value + 1), /^over_limit export_file/],
]
for (const [what, file, says] of refused) {
  test(`${what} is refused, with the line and what is wrong`, () => {
    const read = readExport(file, hash)
    assert.ok(!read.ok)
    assert.match(`${read.code} ${read.message}`, says)
  })
}

const records: SliceRecord[] = [
  item(),
  plan('# Plan\n'),
  event(9),
  { record: 'row', generation: 0, table: 'turns', row: { id: 'turn_9' } },
  { record: 'blob', generation: 0, sha256: hash('x'), text: 'x' },
]
for (const one of records) {
  const kept = one.record === 'item' || one.record === 'plan' ? { ...one, generation: 1 } : one
  test(`a record of kind ${one.record} is taken with all of its fields, and without any of them refused`, () => {
    assert.equal(readExport(record(kept), hash).ok, true)
    for (const name of Object.keys(kept)) {
      const fields = Object.entries(kept).map(([key, value]) => [key === name ? 'x' : key, value])
      const read = readExport(record(Object.fromEntries(fields)), hash)
      assert.ok(!read.ok, `${name} is missing`)
      assert.match(read.message, /^Line 6 of the file: it is no record/, name)
    }
  })
}

test('what an item is made of is read, and checks and budgets stay behind', () => {
  const todo_list = [{ text: 'look', state: 'in_progress' }]
  const budget = { max_tokens: 1 }
  const more = { todo_list, budget, checks: [{ name: 'tests' }], plan_status: 'needs_input' }
  assert.deepEqual(readExport(written([item(more), plan('# Plan\n')]).file, hash), {
    ok: true,
    records: 2,
    carried: {
      agent_id: 'main',
      work_item_id: id,
      exported_at: at,
      objective: 'Port it',
      plan_status: 'draft',
      todo_list,
      plan: '# Plan\n',
      not_taken: ['budget', 'checks'],
    },
  })
})

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.constant('\ud800"\\\n\0'))
const anySlice = fc
  .record({
    objective: anyText,
    todos: fc.array(fc.record({ text: anyText, state: fc.constantFrom('pending', 'completed') })),
    plan: anyText,
    events: fc.array(fc.jsonValue({ maxDepth: 4 }), { maxLength: 8 }),
    blobs: fc.uniqueArray(anyText, { maxLength: 4 }),
  })
  .map((made): SliceRecord[] => [
    item({ objective: made.objective, todo_list: made.todos }),
    plan(made.plan),
    ...made.events.map((value, n) => event(made.events.length - n, { value })),
    ...made.blobs.map((text): SliceRecord => {
      return { record: 'blob', generation: 0, sha256: hash(JSON.stringify(text)), text }
    }),
  ])

test('a file is read as it was written, and a second journey loses nothing of the first', () => {
  fc.assert(
    fc.property(anySlice, (slice) => {
      const first = written(slice)
      const read = readExport(first.file, hash)
      assert.ok(read.ok, JSON.stringify(read))
      assert.deepEqual([read.records, first.cut], [slice.length, {}])
      const again = written([item(), plan('x')], first.file)
      const second = readExport(again.file, hash)
      assert.ok(second.ok, JSON.stringify(second))
      const older = [...earlierRecords(first.file)].map((one) => JSON.stringify(one))
      const stands = again.file.split('\n').filter((line) => line.includes('"generation":1'))
      assert.deepEqual(stands, older)
    }),
    { numRuns: 200 },
  )
})

test('no file with one character changed, added or lost is taken', () => {
  const edit = fc.record({
    at: fc.nat(good.length - 1),
    with: fc.constantFrom('', '0', ' ', '\n', '"', '{', 'x'),
    lost: fc.nat(3),
  })
  fc.assert(
    fc.property(edit, (one) => {
      const changed = good.slice(0, one.at) + one.with + good.slice(one.at + one.lost)
      fc.pre(changed !== good)
      assert.equal(readExport(changed, hash).ok, false)
    }),
    { numRuns: 1_000 },
  )
})

test('a slice with more than a file holds keeps the newest, and says what is missing', () => {
  const events = Array.from({ length: 200 }, (_, n) => event(200 - n, { text: 'y'.repeat(60_000) }))
  const huge = event(201, { text: 'z'.repeat(limits.export_record.value) })
  const { file, cut, records } = written([item(), plan('p'), huge, ...events])
  const read = readExport(file, hash)
  assert.ok(read.ok)
  assert.equal(read.records, records)
  assert.ok(Buffer.byteLength(file) <= limits.export_file.value)
  const seqs = [...file.matchAll(/"seq":(\d+)/g)].map(([, seq]) => Number(seq))
  const kept = seqs.length
  assert.ok(kept > 50)
  assert.deepEqual(
    seqs,
    Array.from({ length: kept }, (_, n) => 200 - kept + 1 + n),
  )
  assert.deepEqual(cut, { event: 201 - kept })
})

test('what came through too many homes in turn is left out, oldest first', () => {
  let file: string | null = null
  for (let n = 0; n <= limits.import_generations.value; n++) {
    file = written([item(), plan(`${n}`)], file).file
  }
  const texts = [...(file ?? '').matchAll(/"record":"plan","generation":(\d),"text":"(\d)"/g)]
  assert.deepEqual(
    texts.map(([, generation, text]) => `${generation} ${text}`),
    ['0 4', '1 3', '2 2', '3 1'],
  )
  assert.equal(readExport(file ?? '', hash).ok, true)
})
