/** The daemon's log as a person reads it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ShortIds } from '../text/short-id.ts'
import { logText } from './log-text.ts'

const zone = { now: '2026-01-02T04:00:00.000Z', utc: true }
const task = 'task_01a20081-e48b-7954-8bef-b178724091c2'
const lines: readonly [name: string, line: string, shown: string][] = [
  [
    'what happened',
    `{"level":"info","time":"2026-01-02T03:04:05.678Z","msg":"task started","task_id":"${task}","pid":7}`,
    '03:04:05 task started (task_id task_91c2, pid 7)',
  ],
  [
    'a warning',
    '{"level":"warn","time":"2026-01-02T03:04:05.678Z","msg":"the disk is nearly full"}',
    '03:04:05 warn: the disk is nearly full',
  ],
  [
    'words that a terminal would obey',
    '{"level":"info","time":"2026-01-02T03:04:05.678Z","msg":"a\\u001b[2Jb"}',
    '03:04:05 a\\x1b[2Jb',
  ],
  ['a line of another program', 'Segmentation fault', 'Segmentation fault'],
  ['a number', '7', '7'],
  ['a record of another program', '{"error":"x"}', '{"error":"x"}'],
]

for (const [name, line, shown] of lines) {
  test(`a line of the log is read by a person: ${name}`, () => {
    assert.equal(logText(line, new ShortIds(), zone), shown)
  })
}
