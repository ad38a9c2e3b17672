import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JournalFold } from './fold.ts'
import { type AcpRecord, parseJournal } from './journal.ts'
import { parseOrder } from './orders.ts'

const at = '2026-01-01T00:00:00.000Z'
const text = (said: string): AcpRecord => ({ type: 'text', text: said })
const received = (request_id: string): AcpRecord => ({ type: 'prompt_received', request_id })
const prompted = (request_id: string): AcpRecord => ({
  type: 'prompted',
  request_id,
  session_id: 's',
})
const ended = (request_id: string): AcpRecord => ({
  type: 'prompt_ended',
  request_id,
  stop: 'end_turn',
})
const asked = (permission_id: string): AcpRecord => ({
  type: 'permission_asked',
  permission_id,
  title: permission_id,
  options: [],
})
const answered = (permission_id: string, request_id: string | null): AcpRecord => ({
  type: 'permission_answered',
  permission_id,
  option_id: null,
  request_id,
})

/** Each leg as its texts and its end; and the question that is open. */
function folded(records: readonly AcpRecord[], ...ids: string[]) {
  const fold = new JournalFold()
  for (const record of records) fold.take({ at, ...record })
  const legs = ids.map((id) => {
    const leg = fold.leg(id)
    if (leg === null) return null
    const said = fold.updates.slice(leg.from, leg.to ?? fold.updates.length)
    const words = said.flatMap((update) => (update.type === 'text' ? [update.text] : []))
    return [...words, leg.now.state === 'asked' ? leg.now.question.title : leg.now.state].join(' ')
  })
  return [...legs, fold.question?.permission_id ?? null]
}

test('legs follow each other without gaps: what was said while a question stood is in the next', () => {
  const records = [
    received('r1'),
    prompted('r1'),
    text('a'),
    asked('p1'),
    text('b'),
    answered('p1', 'r2'),
    text('c'),
  ]
  assert.deepEqual(folded(records, 'r1', 'r2', 'r3'), ['a p1', 'b c running', null, null])
  assert.deepEqual(folded([...records, ended('r1')], 'r1', 'r2'), ['a p1', 'b c ended', null])
})

test('of two questions at once the second follows the answer to the first', () => {
  const records = [received('r1'), prompted('r1'), asked('p1'), asked('p2'), answered('p1', 'r2')]
  assert.deepEqual(folded(records, 'r1', 'r2'), ['p1', 'p2', 'p2'])
  const last = [...records, answered('p2', 'r3'), text('z'), ended('r1')]
  assert.deepEqual(folded(last, 'r1', 'r2', 'r3'), ['p1', 'p2', 'z ended', null])
})

test('a prompt that takes the place of another is not ended with it', () => {
  const records = [
    ...[received('r1'), prompted('r1'), text('a'), received('r2'), answered('p1', null)],
    { ...ended('r1'), stop: 'cancelled' } as AcpRecord,
  ]
  assert.deepEqual(folded(records, 'r1', 'r2'), ['a ended', 'running', null])
  const on = [...records, text('late'), prompted('r2'), text('b'), ended('r2')]
  assert.deepEqual(folded(on, 'r1', 'r2'), ['a ended', 'late b ended', null])
})

test('a torn line and one that is no JSON are left out, and the rest of a line waits for its end', () => {
  const line = JSON.stringify({ at, ...text('a') })
  const bytes = Buffer.from(`${line}\n{"at":"x\n${line}\n{"type":`)
  const parsed = parseJournal(bytes)
  assert.deepEqual(parsed.lines, [JSON.parse(line), JSON.parse(line)])
  assert.equal(bytes.subarray(parsed.bytes).toString(), '{"type":')
})

test('only whole orders with ids that can name a file are orders', () => {
  const lines: [string, boolean][] = [
    ['{"order":"prompt","request_id":"r.1"}', true],
    ['{"order":"cancel","request_id":"c"}', true],
    ['{"order":"answer","request_id":"r","permission_id":"p","option":null}', true],
    ['{"order":"end"}', true],
    ['{"order":"prompt","request_id":"../r"}', false],
    ['{"order":"prompt"}', false],
    ['{"order":"answer","request_id":"r","permission_id":"p","option":"1"}', false],
    ['{"order":"dance","request_id":"r"}', false],
    ['"prompt"', false],
    ['{"order":"pro{"order":"end"}', false],
  ]
  assert.deepEqual(
    lines.map(([line]) => [line, parseOrder(line) !== null]),
    lines,
  )
})
