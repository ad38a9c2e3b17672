import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isShared, parseRef, refSeen, type MemoryRef } from './reference.ts'

const good: [string, MemoryRef][] = [
  ['brief_0198-ab', { table: 'briefs', id: 'brief_0198-ab', part: null }],
  ['msg_1', { table: 'messages', id: 'msg_1', part: null }],
  ['work_1/plan', { table: 'work_items', id: 'work_1', part: 'plan' }],
  ['task_1/stderr', { table: 'tasks', id: 'task_1', part: 'stderr' }],
  ['turn_1/12', { table: 'turns', id: 'turn_1', part: '12' }],
  ['call_1', { table: 'calls', id: 'call_1', part: null }],
  ['file:memory/a b.md', { table: 'files', agent_id: null, path: 'memory/a b.md' }],
  ['file:@docs/notes/x/y', { table: 'files', agent_id: 'docs', path: 'notes/x/y' }],
]
for (const [text, ref] of good) {
  test(`${text} names a record`, () => assert.deepEqual(parseRef(text), ref))
}

const bad = [
  '',
  'work_',
  'work_1/stdout',
  'work_1/plan/plan',
  'turn_1',
  'turn_1/plan',
  'brief_1/2',
  'wait_1',
  "brief_1' or 1=1",
  'file:',
  'file:memory',
  'file:memory/',
  'file:memory/../../../etc/passwd',
  'file:./memory/x',
  'file:/etc/passwd',
  'file:AGENTS.md',
  'file:work-items/work_1/plan.md',
  'file:@../memory/x',
  'file:@docs/../main/memory/x',
  'file:@docs/memory/x\0y',
]
for (const text of bad) {
  test(`${JSON.stringify(text)} names none`, () => assert.equal(parseRef(text), null))
}

test("another's file is named with its agent, one's own without, and all else is the same for all", () => {
  const seen = [null, 'main', 'docs'].map((viewer) => refSeen('file:memory/x', 'docs', viewer))
  assert.deepEqual(seen, ['file:@docs/memory/x', 'file:@docs/memory/x', 'file:memory/x'])
  assert.equal(refSeen('work_1/plan', 'docs', 'main'), 'work_1/plan')
})

test('only files of the workspace are shared, whoever reads them', () => {
  const refs = ['file:.agents/memory/x.md', 'file:memory/x', 'file:@docs/notes/x', 'work_1/plan']
  assert.deepEqual(refs.map(isShared), [true, false, false, false])
})
