/**
 * The message of a command's end has what it wrote, or the last of it, and says which: around the
 * limit, on either stream, whoever saw the end.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Task } from '../src/domain/state/task.ts'
import type { TaskProcess } from '../src/exec/ports.ts'
import { calls, says } from '../src/testing/scripted-model.ts'
import { endSeen } from '../src/tools/commands/task-stopping.ts'
import type { ToolContext } from '../src/tools/tool/tool.ts'
import { scene } from './support/scene.ts'
import { runs, until } from './support/scripts.ts'

/** Bytes of each stream, or characters of both, that such a message has. */
const most = 2_000
const around = [most - 1, most, most + 1]

const says_of = (body: string): string =>
  body.includes('\nThe last of its output (TaskOutput has more):\n')
    ? 'the last'
    : body.includes('\nIts output:\n')
      ? 'whole'
      : 'neither'

const filled = (bytes: number, to = ''): string => `head -c ${bytes} /dev/zero | tr '\\0' x ${to}`

for (const to of ['', '>&2']) {
  test(`what ended by itself says whether it is whole ${to}`, async (t) => {
    const s = await scene(
      t,
      () =>
        calls(
          ...around.map((bytes) => runs(`${until('go')}; ${filled(bytes, to)}`, { yield_ms: 0 })),
        ),
      ...Array.from({ length: 9 }, () => () => says('Seen.')),
    )
    await s.act({ do: 'send', text: 'Begin.' })
    await s.hurryTo('task_promoted', around.length)
    writeFileSync(join(s.box.workspace, 'go'), '')
    await s.hurryTo('task_ended', around.length)
    const tasks = (await s.rows('tasks')).map(({ id }) => id)
    const bodies = (await s.rows('messages'))
      .flatMap(({ task_id, body }) => (task_id === null ? [] : [{ task_id, body }]))
      .toSorted((a, b) => tasks.indexOf(a.task_id) - tasks.indexOf(b.task_id))
    assert.deepEqual(
      bodies.map(({ body }) => [says_of(body), /x+$/.exec(body)?.[0].length]),
      [
        ['whole', most - 1],
        ['whole', most],
        ['the last', most],
      ],
    )
  })
}

test('what a call saw end says whether it is whole', () => {
  const ctx = { processes: { place: () => null } } as unknown as ToolContext
  const at = '2026-11-21T00:00:00.000Z'
  const task = { id: 'task_1', label: 'x', kind: 'command', status: 'running', started_at: at }
  const process = {
    state: 'ended',
    how: 'exited',
    exit_status: 0,
    signal: null,
    problem: null,
    started_at: at,
    ended_at: at,
  }
  const told = (stdout: string, stderr: string, isCut = false) => {
    const bytes = { stdout_bytes: stdout.length, stderr_bytes: stderr.length }
    const full_output = isCut ? { stdout: '/o', stderr: '/e' } : null
    const output = { stdout, stderr, bytes, full_output }
    const end = endSeen(ctx, task as Task, process as unknown as TaskProcess, output)
    return says_of(end?.body ?? '')
  }
  assert.deepEqual(
    around.map((size) => told('x'.repeat(size), '')),
    ['whole', 'whole', 'the last'],
  )
  const label = '[stderr]\n'.length
  assert.deepEqual(
    around.map((size) => told('', 'x'.repeat(size - label))),
    ['whole', 'whole', 'the last'],
  )
  assert.equal(told('x', '', true), 'the last')
})
