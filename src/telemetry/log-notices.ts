/**
 * What the host does, as log lines: turns, tasks, deliveries, holds, retries and faults. Of an
 * event only ids, names, states and numbers are taken; words of people, models and programs stay
 * in the ledger.
 */
import type { Emitted } from '../domain/facts/facts.ts'
import type { HostNotice } from '../runtime/ports.ts'
import { BoundedMap } from './bounded-map.ts'
import { lookUp, type EventTable, type EventContext } from './events.ts'
import { TIMED_AT_ONCE } from './limits.ts'
import type { LogLevel } from '../ports/daemon.ts'
import type { Log } from './log.ts'
import type { LogFields } from './log-line.ts'
import type { DeliverySeen, HttpSeen } from './observations.ts'

type Line = readonly [LogLevel, string, LogFields]

/** A subscriber of the host's notices. It never throws and keeps a bounded memory. */
export function logNotices(log: Log): (notice: HostNotice) => void {
  const lines = linesOfEvents()
  const committed = (agent_id: string, emitted: Emitted): void => {
    const line = lookUp(lines, agent_id, emitted)
    if (line === null) return
    const [level, msg, fields] = line
    const { work_item_id, turn_id } = emitted.meta
    log.write(level, msg, {
      agent_id,
      work_item_id: work_item_id ?? undefined,
      turn_id: turn_id ?? undefined,
      ...fields,
    })
  }
  return (notice) => {
    switch (notice.kind) {
      case 'committed':
        for (const emitted of notice.events) committed(notice.agent_id, emitted)
        return
      case 'retry': {
        const { agent_id, turn_id, attempt, delay_ms, message } = notice
        log.warn('request is repeated', { agent_id, turn_id, attempt, delay_ms, reason: message })
        return
      }
      case 'fault':
        log.error('fault', { agent_id: notice.agent_id, reason: notice.message })
        return
      case 'degraded_entered':
        log.error('degraded: nothing can be written', { code: notice.code })
        return
      case 'degraded_left':
        log.info('writing works again')
        return
      case 'live':
      case 'resting':
        return
    }
  }
}

/** One table per subscriber: the times at which turns, requests and tasks began are its memory. */
function linesOfEvents(): EventTable<Line> {
  const began = new BoundedMap<string, string>(TIMED_AT_ONCE)
  const begin = (id: string, { meta }: EventContext) => began.set(id, meta.at)
  const ms = (id: string, at: string): number | undefined => {
    const from = began.take(id)
    return from === undefined ? undefined : Date.parse(at) - Date.parse(from)
  }
  return { ...agentLines, ...ingressLines, ...turnLines(begin, ms), ...taskLines(begin, ms) }
}

type Begin = (id: string, seen: EventContext) => void
type Ms = (id: string, at: string) => number | undefined

const turnLines = (begin: Begin, ms: Ms): EventTable<Line> => ({
  turn_started: ({ id, cause, model }, seen) => {
    begin(id, seen)
    return ['info', 'turn started', { cause: cause.kind, model }]
  },
  turn_ended: ({ id, outcome, reason, usage, progress }, { meta }) => {
    const level = outcome === 'failed' ? 'warn' : 'info'
    const { input_tokens, output_tokens, usd } = usage
    const spent = { input_tokens, output_tokens, usd }
    const fields = { status: outcome, reason, progress, ...spent, ms: ms(id, meta.at) }
    return [level, 'turn ended', fields]
  },
  model_fell_back: ({ model }) => ['warn', 'another model is asked', { model }],
  request_sent: ({ id, n, model }, seen) => {
    begin(id, seen)
    return ['debug', 'request sent', { round: n, model }]
  },
  answer_cut: ({ usage: { input_tokens, output_tokens, usd } }) => [
    'warn',
    'an answer broke off',
    { input_tokens, output_tokens, usd },
  ],
  round_recorded: ({ id, model, finish }, { meta }) => [
    'debug',
    'answer recorded',
    { model, status: finish, ms: ms(id, meta.at) },
  ],
  call_recorded: ({ id, tool_name }, seen) => {
    begin(id, seen)
    return ['debug', 'call recorded', { call_id: id, tool: tool_name }]
  },
  call_finished: ({ id, result }, { meta }) => {
    const status = result.status === 'success' ? 'success' : result.error.kind
    const fields = { call_id: id, tool: result.tool_name, status, ms: ms(id, meta.at) }
    return ['debug', 'call finished', fields]
  },
  wait_registered: ({ id, runtime_cause }) =>
    runtime_cause === null
      ? ['debug', 'wait registered', { wait_id: id }]
      : ['warn', 'the runtime waits', { wait_id: id, cause: runtime_cause }],
  brief_delivered: ({ id, kind }) => ['debug', 'brief delivered', { brief_id: id, brief: kind }],
})

const taskLines = (begin: Begin, ms: Ms): EventTable<Line> => ({
  task_queued: ({ id, kind }, seen) => {
    begin(id, seen)
    return ['debug', 'task queued', { task_id: id, task: kind }]
  },
  // Whoever learns of a start by the end has no number of the process any more.
  task_started: ({ id, pid }) => [
    'info',
    'task started',
    { task_id: id, ...(pid === null ? {} : { pid }) },
  ],
  task_promoted: ({ id }) => ['debug', 'task goes on in the background', { task_id: id }],
  task_readopted: ({ id, pid }) => ['info', 'task is followed again', { task_id: id, pid }],
  task_cancelling: ({ id, survivors }) => [
    survivors.length > 0 ? 'warn' : 'info',
    'task is being stopped',
    { task_id: id, survivors: survivors.length },
  ],
  task_ended: ({ id, status, exit_status, output_bytes, ended_at }) => [
    status === 'interrupted' ? 'warn' : 'info',
    'task ended',
    { task_id: id, status, exit_status, output_bytes, ms: ms(id, ended_at) },
  ],
})

const agentLines: EventTable<Line> = {
  agent_created: () => ['info', 'agent created', {}],
  agent_started: ({ by }) => ['info', 'agent started', { by }],
  agent_stopped: ({ by }) => ['info', 'agent stopped', { by }],
  agent_deleted: () => ['info', 'agent deleted', {}],
  work_item_created: ({ by }) => ['debug', 'work item created', { by }],
  work_item_completed: ({ by }) => ['info', 'work item completed', { by }],
}

const ingressLines: EventTable<Line> = {
  message_admitted: ({ id, provenance, priority }) => [
    'debug',
    'message admitted',
    { message_id: id, message: provenance.kind, origin: provenance.origin, priority },
  ],
  message_dead: ({ id, reason }) => ['warn', 'message is dead', { message_id: id, reason }],
  message_dropped: ({ id, reason }) => ['warn', 'message dropped', { message_id: id, reason }],
  message_taken_back: ({ id, surface }) => [
    'info',
    'message taken back',
    { message_id: id, surface },
  ],
  delivery_accepted: ({ id, via, message_id }) => [
    'info',
    'delivery accepted',
    { delivery_id: id, via: via.kind, message_id },
  ],
  delivery_dead: ({ id, via }) => ['warn', 'delivery is dead', { delivery_id: id, via: via.kind }],
  delivery_redelivered: ({ id, message_id }) => [
    'info',
    'delivery repeated',
    { delivery_id: id, message_id },
  ],
  trigger_created: ({ id, by }) => ['info', 'trigger created', { trigger_id: id, by }],
  trigger_reset: ({ id, generation }) => ['info', 'trigger reset', { trigger_id: id, generation }],
  trigger_revoked: ({ id, by }) => ['info', 'trigger revoked', { trigger_id: id, by }],
  slot_settled: ({ schedule_id, status, late_by_ms, missed_count }) => [
    status === 'fired' ? 'debug' : 'info',
    'schedule was due',
    { schedule_id, status, late_by_ms, missed_count },
  ],
}

const reads = new Set(['GET', 'HEAD', 'OPTIONS'])

/** One answered request. Reads that succeed are many and say little: they are `debug`. */
export function logHttp(log: Log, { method, route, status, ms }: HttpSeen): void {
  const fields = { method, route: route ?? 'unmatched', status, ms: Math.round(ms * 10) / 10 }
  log.write(httpLevel(method, status), 'http', fields)
}

function httpLevel(method: string, status: number): LogLevel {
  if (status >= 500) return 'error'
  if (status === 401 || status === 403 || status === 429) return 'warn'
  return status < 400 && reads.has(method) ? 'debug' : 'info'
}

/** A delivery that left no row. */
export function logDelivery(log: Log, { via, result }: DeliverySeen): void {
  log.info(result === 'duplicate' ? 'delivery came again' : 'delivery refused', { via })
}
