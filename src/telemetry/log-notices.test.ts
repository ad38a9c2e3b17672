/** What a turn leaves in the log: ids, states and times, and never a word that somebody wrote. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '../domain/state/event.ts'
import { systemClock } from '../exec/clock.ts'
import type { HostNotice } from '../runtime/ports.ts'
import { canary, observedTurn } from '../testing/host/observed-turn.ts'
import type { LogLevel } from '../ports/daemon.ts'
import { createLog, type Log } from './log.ts'
import { logDelivery, logHttp, logNotices } from './log-notices.ts'

function memoryLog(level: LogLevel): { log: Log; lines: string[]; said: () => unknown[] } {
  const lines: string[] = []
  const clock = systemClock()
  const log = createLog({
    clock,
    level,
    redact: (text) => text,
    write: (line) => void lines.push(line),
  })
  return { log, lines, said: () => lines.map((line) => JSON.parse(line) as unknown) }
}

/** The fields of a line without what differs from run to run. */
function steady(line: string): Record<string, unknown> {
  const {
    time,
    agent_id,
    work_item_id,
    turn_id,
    ms,
    delay_ms,
    pid: _,
    task_id,
    trigger_id,
    ...rest
  } = JSON.parse(line)
  assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.ok(ms === undefined || (Number.isFinite(ms) && ms >= 0), `ms: ${ms}`)
  assert.ok(delay_ms === undefined || delay_ms > 0, `delay_ms: ${delay_ms}`)
  const has = { agent_id, work_item_id, turn_id, task_id, trigger_id }
  return {
    ...rest,
    has: Object.entries(has).flatMap(([name, id]) => (id === undefined ? [] : [name])),
  }
}

test('a turn is its start, its tasks, what it completed and its end; repeated requests are warned of', async (t) => {
  const { log, lines } = memoryLog('info')
  await observedTurn(t, logNotices(log))
  const turn = ['agent_id', 'turn_id']
  const item = ['agent_id', 'work_item_id', 'turn_id']
  const task = [...item, 'task_id']
  assert.deepEqual(lines.map(steady), [
    { level: 'info', msg: 'agent created', has: ['agent_id'] },
    { level: 'info', by: 'runtime', msg: 'trigger created', has: ['agent_id', 'trigger_id'] },
    { level: 'info', cause: 'message', model: 'acme/thinker-1', msg: 'turn started', has: turn },
    {
      level: 'warn',
      attempt: 1,
      reason: 'The provider failed: overloaded.',
      msg: 'request is repeated',
      has: turn,
    },
    { level: 'info', msg: 'task started', has: task },
    {
      level: 'info',
      status: 'completed',
      exit_status: 0,
      output_bytes: 12,
      msg: 'task ended',
      has: task,
    },
    { level: 'info', by: 'agent', msg: 'work item completed', has: item },
    {
      level: 'info',
      status: 'completed',
      reason: 'work_item_completed',
      progress: true,
      input_tokens: 400,
      output_tokens: 80,
      usd: null,
      msg: 'turn ended',
      has: item,
    },
  ])
})

test('no line, at any level, holds words of a person, a model or a program', async (t) => {
  const { log, lines } = memoryLog('debug')
  await observedTurn(t, logNotices(log))
  const named = lines.filter((line) => line.includes(canary))
  // The name of a tool is shown as the model called it: it is how one finds out what it wanted.
  const ofTools = named.filter((line) => line.includes(`"tool":"Invented-${canary}"`))
  assert.deepEqual(named, ofTools)
  assert.equal(named.join('').replaceAll(`Invented-${canary}`, '').includes(canary), false)
})

const committed = (event: Event): HostNotice => ({
  kind: 'committed',
  agent_id: 'main',
  events: [
    {
      event,
      meta: {
        seq: 1,
        at: '2026-01-05T09:00:00.000Z',
        work_item_id: null,
        turn_id: null,
        causation_id: null,
      },
    },
  ],
})

const received = {
  sender_id: `sender ${canary}`,
  source: `source ${canary}`,
  resource: `resource ${canary}`,
  summary: `summary ${canary}`,
  body_sha256: 'f'.repeat(64),
  content_type: 'application/json',
} as const

test('a delivery is logged with its door and its ids, never with what it says', () => {
  const { log, lines, said } = memoryLog('info')
  const tell = logNotices(log)
  const via = { kind: 'trigger', trigger_id: 'trig_1' } as const
  tell(committed({ type: 'delivery_accepted', id: 'dlv_1', message_id: 'msg_1', via, ...received }))
  const hook = { kind: 'webhook', webhook: 'github' } as const
  tell(committed({ type: 'delivery_dead', id: 'dlv_2', reason: canary, via: hook, ...received }))
  const about = { source: null, resource: null, summary: null }
  tell(committed({ type: 'delivery_redelivered', id: 'dlv_2', message_id: 'msg_2', ...about }))
  logDelivery(log, { via: 'webhook', result: 'refused' })
  logDelivery(log, { via: 'trigger', result: 'duplicate' })
  assert.equal(lines.join('').includes(canary), false)
  assert.deepEqual(
    said().map((line) => ({ ...(line as object), time: undefined })),
    [
      {
        level: 'info',
        agent_id: 'main',
        delivery_id: 'dlv_1',
        via: 'trigger',
        message_id: 'msg_1',
        msg: 'delivery accepted',
      },
      {
        level: 'warn',
        agent_id: 'main',
        delivery_id: 'dlv_2',
        via: 'webhook',
        msg: 'delivery is dead',
      },
      {
        level: 'info',
        agent_id: 'main',
        delivery_id: 'dlv_2',
        message_id: 'msg_2',
        msg: 'delivery repeated',
      },
      { level: 'info', via: 'webhook', msg: 'delivery refused' },
      { level: 'info', via: 'trigger', msg: 'delivery came again' },
    ].map((line) => ({ ...line, time: undefined })),
  )
})

for (const [what, survivors, level] of [
  ['nobody', [], 'info'],
  ['one process', [7], 'warn'],
] as const) {
  test(`a stop that ${what} outlives so far is a line of level ${level}`, () => {
    const { log, said } = memoryLog('debug')
    const because = 'the operator stopped it'
    logNotices(log)(committed({ type: 'task_cancelling', id: 'task_1', survivors, because }))
    assert.deepEqual(
      said().map((line) => ({ ...(line as object), time: undefined })),
      [
        {
          level,
          time: undefined,
          agent_id: 'main',
          task_id: 'task_1',
          survivors: survivors.length,
          msg: 'task is being stopped',
        },
      ],
    )
  })
}

const answered: readonly [string, string | null, number, LogLevel][] = [
  ['GET', '/state', 200, 'debug'],
  ['GET', '/agents/{agent_id}', 404, 'info'],
  ['POST', '/callbacks/{token}', 202, 'info'],
  ['POST', '/callbacks/{token}', 429, 'warn'],
  ['GET', '/state', 401, 'warn'],
  ['GET', null, 403, 'warn'],
  ['POST', '/agents', 503, 'error'],
]
for (const [method, route, status, level] of answered) {
  test(`${method} ${route ?? 'of no route'} answered ${status} is a line of level ${level}`, () => {
    const { log, said } = memoryLog('debug')
    logHttp(log, { method, route, status, ms: 1.2345 })
    const [line] = said() as { time: string }[]
    assert.deepEqual(line, {
      level,
      time: line?.time,
      method,
      route: route ?? 'unmatched',
      status,
      ms: 1.2,
      msg: 'http',
    })
  })
}

test('a fault and the way into degraded mode and out of it are lines', () => {
  const { log, said } = memoryLog('info')
  const tell = logNotices(log)
  tell({ kind: 'fault', agent_id: 'main', message: 'The disk is gone.' })
  tell({ kind: 'degraded_entered', code: 'disk_full', message: 'The disk is full.' })
  tell({ kind: 'degraded_left' })
  assert.deepEqual(
    said().map((line) => {
      const { level, msg, reason, code } = line as Record<string, unknown>
      return [level, msg, reason ?? code]
    }),
    [
      ['error', 'fault', 'The disk is gone.'],
      ['error', 'degraded: nothing can be written', 'disk_full'],
      ['info', 'writing works again', undefined],
    ],
  )
})
