/** What a line of the daemon's log looks like, and what can never be on one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRedactor } from '../domain/secrets/redact.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { LOG_LINE_BYTES } from './limits.ts'
import type { LogLevel } from '../ports/daemon.ts'
import { createLog } from './log.ts'
import type { Redact } from './log-line.ts'

const secret = 'canary-"\\\n7f3a9c'
const start = Date.UTC(2026, 0, 5, 9)

function logOf(level: LogLevel = 'debug', redact: Redact = (text) => text) {
  const lines: string[] = []
  const clock = virtualClock(start)
  const log = createLog({ clock, level, redact, write: (line) => void lines.push(line) })
  return { log, lines, clock }
}

test('a line is one JSON object with level, UTC time, fields as given and the message last', () => {
  const { log, lines } = logOf()
  log.info('turn ended', {
    agent_id: 'main',
    status: 'completed',
    ms: 1.5,
    reason: null,
    turn_id: undefined,
  })
  assert.deepEqual(lines, [
    '{"level":"info","time":"2026-01-05T09:00:00.000Z","agent_id":"main","status":"completed",' +
      '"ms":1.5,"reason":null,"msg":"turn ended"}\n',
  ])
})

test('each level lets its own lines and the more important ones through', () => {
  const written = (level: LogLevel) => {
    const { log, lines } = logOf(level)
    for (const at of ['debug', 'info', 'warn', 'error'] as const) log[at](at)
    return lines.map((line) => (JSON.parse(line) as { level: string }).level)
  }
  assert.deepEqual(written('debug'), ['debug', 'info', 'warn', 'error'])
  assert.deepEqual(written('info'), ['info', 'warn', 'error'])
  assert.deepEqual(written('warn'), ['warn', 'error'])
  assert.deepEqual(written('error'), ['error'])
})

test('a secret is replaced in the message, in values and in names, whatever JSON makes of it', () => {
  const { redactor } = createRedactor([{ name: 'canary', value: secret }])
  const { log, lines } = logOf('debug', (text) => redactor.text(text))
  log.warn(`the key ${secret}`, { reason: `about ${secret} here`, [secret]: 1 })
  const [line = ''] = lines
  assert.equal(line.includes('7f3a9c'), false, line)
  assert.deepEqual(JSON.parse(line), {
    level: 'warn',
    time: '2026-01-05T09:00:00.000Z',
    reason: 'about {{secret:canary}} here',
    '{{secret:canary}}': 1,
    msg: 'the key {{secret:canary}}',
  })
})

test('a redactor that breaks the JSON of a line costs the line, not the log', () => {
  const { log, lines } = logOf('debug', (text) => text.replaceAll('"status":"done"', '[gone]'))
  log.info('task ended', { status: 'done' })
  log.info('next')
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { msg: string }).msg),
    ['a line was withheld: it could not be redacted', 'next'],
  )
})

const long: readonly [string, string, Record<string, string>][] = [
  ['a long text', 'm', { reason: 'x'.repeat(100_000) }],
  ['a long message', 'x'.repeat(100_000), {}],
  ['characters that JSON writes as six', 'm', { reason: '\u0001'.repeat(5_000) }],
  ['characters of four bytes', 'm', { reason: '😀'.repeat(5_000) }],
  [
    'many fields',
    'm',
    Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`f${n}`, 'x'.repeat(99)])),
  ],
]
for (const [what, msg, fields] of long) {
  test(`${what}: no line is longer than 8 KiB, and each says that it was cut`, () => {
    const { log, lines } = logOf()
    log.info(msg, fields)
    const [line = ''] = lines
    assert.ok(Buffer.byteLength(line) <= LOG_LINE_BYTES, `${Buffer.byteLength(line)} bytes`)
    assert.equal(line.indexOf('\n'), line.length - 1)
    const { level, time, is_cut } = JSON.parse(line) as Record<string, unknown>
    assert.deepEqual([level, time, is_cut], ['info', '2026-01-05T09:00:00.000Z', true])
  })
}

const hostile = 'a\u009b31m\u202e\u200b\u0085\ufeff\u001b[2J\u00ad\u2028z'

for (const [what, msg, fields] of [
  ...long.map(([what, msg, fields]) => [what, `${hostile}${msg}`, fields] as const),
  ['a long path of a stranger', 'refused', { agent_id: hostile.repeat(900) }] as const,
  [
    'many hostile fields',
    'x',
    Object.fromEntries(long.keys().map((n) => [`${n}${hostile}`, hostile.repeat(400)])),
  ] as const,
]) {
  test(`${what}: what a terminal would obey or hide is escaped in a line that is cut, too`, () => {
    const { log, lines } = logOf()
    log.warn(msg, fields)
    const [line = ''] = lines
    assert.equal(/[\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\ufeff]/.test(line), false)
    assert.ok(Buffer.byteLength(line) <= LOG_LINE_BYTES, `${Buffer.byteLength(line)} bytes`)
    assert.equal((JSON.parse(line) as Record<string, unknown>)['is_cut'], true)
  })
}

test('no line has a character that a terminal would obey or hide, and each says the same', () => {
  const { log, lines } = logOf()
  log.warn(hostile, { agent_id: hostile, [`x${hostile}`]: hostile })
  const [line = ''] = lines
  assert.equal(/[^\x20-\x7e\n]/.test(line), false)
  const { msg, agent_id } = JSON.parse(line) as Record<string, string>
  assert.deepEqual([msg, agent_id], [hostile, hostile])
})
