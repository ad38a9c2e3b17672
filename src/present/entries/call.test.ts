/** A call as an entry of a thread: what it says of the command that it ran. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '../../protocol/records/records.ts'
import { callFinished, callRecorded, taskEnded, taskQueued } from '../../testing/events.ts'
import type { Group, Noun } from '../history/noun-fold.ts'
import { callEntry } from './call.ts'

const at = (second: number): string => new Date(Date.UTC(2026, 0, 2, 3, 0, second)).toISOString()

function group(noun: Noun, events: readonly (readonly [second: number, event: Event])[]): Group {
  const heard = events.map(([second, event], n) => [
    event.type,
    { seq: n + 1, at: at(second), event },
  ])
  return {
    id: events[0]?.[1].id ?? '',
    noun,
    agent_id: 'main',
    work_item_id: null,
    item_seq: 0,
    turn_id: 'turn_1',
    seq: 1,
    at: at(0),
    last_seq: events.length,
    heard: Object.fromEntries(heard) as Group['heard'],
    first: null,
    count: {},
    used: null,
  }
}

test('a command took as long as its runner says; without its times, as long as the call', () => {
  const result = {
    tool_name: 'ExecCommand',
    summary: 'exit status 0',
    status: 'success',
    result: { exit_status: 0, stdout: 'a\nb\n', stderr: '' },
  } as const
  const input = { cmd: 'npm test' }
  const call = group('call', [
    [0, callRecorded('turn_1', 1, 1, { id: 'call_1', tool_name: 'ExecCommand', input })],
    [1, { type: 'call_started', id: 'call_1', intent: {}, task_id: 'task_1', work_item_id: null }],
    [42, callFinished('call_1', { result })],
  ])
  const queued = [0, taskQueued({ id: 'task_1' })] as const
  const started = { type: 'task_started', id: 'task_1', pid: null, started_at: at(1) } as const
  const ended = [42, taskEnded('task_1', { ended_at: at(13) })] as const
  const facts = (task: Group | undefined) =>
    callEntry(call, { group: () => task, live: () => undefined, woken: () => undefined }, 2)?.facts

  assert.deepEqual(facts(group('task', [queued, [42, started], ended])), ['2 lines, 12 s'])
  assert.deepEqual(facts(group('task', [queued, ended])), ['2 lines, 41 s'])
  assert.deepEqual(facts(undefined), ['2 lines, 41 s'])
})

test('a command says in its row what it is known to have changed', () => {
  const file = (name: string, added: number) =>
    ({
      kind: 'changed',
      name,
      path: `/w/${name}`,
      added,
      removed: 1,
      text: '',
      cut_lines: 0,
    }) as const
  const facts = (diffs: ReturnType<typeof file>[], exit_status: number) => {
    const result = {
      tool_name: 'ExecCommand',
      summary: '',
      status: 'success',
      result: { exit_status, stdout: 'a\n', stderr: '' },
      diffs,
    } as const
    const input = { cmd: 'sed -i s/a/b/ a.ts' }
    const call = group('call', [
      [0, callRecorded('turn_1', 1, 1, { id: 'call_1', tool_name: 'ExecCommand', input })],
      [1, { type: 'call_started', id: 'call_1', intent: {}, task_id: null, work_item_id: null }],
      [2, callFinished('call_1', { result })],
    ])
    const sight = { group: () => undefined, live: () => undefined, woken: () => undefined }
    return callEntry(call, sight, 2)?.facts
  }
  assert.deepEqual(facts([], 0), ['1 line, 1.0 s'])
  assert.deepEqual(facts([file('a.ts', 1)], 0), ['1 line, +1 -1, 1.0 s'])
  assert.deepEqual(facts([file('a.ts', 1), file('b.ts', 2)], 0), ['1 line, 2 files +3 -2, 1.0 s'])
  assert.deepEqual(facts([file('a.ts', 1)], 1), ['exit 1, +1 -1, 1.0 s'])
})
