/**
 * Feeds the metrics from what the host tells: committed events, repeated requests, rests, faults.
 * What lies between two notices (a request and its answer) is timed on the monotonic clock and
 * remembered in bounded maps.
 */
import type { Emitted } from '../domain/facts/facts.ts'
import type { AgentId, TurnId } from '../domain/ids.ts'
import type { Usage } from '../domain/state/turn.ts'
import type { Clock } from '../exec/ports.ts'
import type { HostNotice } from '../runtime/ports.ts'
import { BoundedMap } from './bounded-map.ts'
import { lookUp, type EventTable } from './events.ts'
import { firstLabels, knownLabel, providerOf } from './label.ts'
import { TIMED_AT_ONCE } from './limits.ts'
import type { MetricSet } from './metric-set.ts'

/** A subscriber of the host's notices. `tool_names`: what may stand in the label `tool`. */
export function meterNotices(
  metrics: MetricSet,
  clock: Pick<Clock, 'monotonic'>,
  tool_names: Iterable<string>,
): (notice: HostNotice) => void {
  const requests = requestMeter(metrics, clock)
  const wakes = wakeMeter(metrics, clock)
  const counts = counted(metrics, knownLabel(tool_names))
  const tables = [wakes.events, requests.events, counts, turnMeter(metrics, clock)]
  return (notice) => {
    switch (notice.kind) {
      case 'committed':
        metrics.events.inc(notice.events.length)
        wakes.stirred(notice.agent_id)
        for (const emitted of notice.events) tell(tables, notice.agent_id, emitted)
        return
      case 'retry':
        requests.failed(notice.turn_id)
        return
      case 'resting':
        wakes.rests(notice.agent_id)
        return
      case 'fault':
        metrics.faults.inc()
        return
      case 'live':
      case 'degraded_entered':
      case 'degraded_left':
        return
    }
  }
}

function tell(tables: readonly EventTable<void>[], agent: AgentId, emitted: Emitted): void {
  for (const table of tables) lookUp(table, agent, emitted)
}

const seconds = (from: number, to: number): number => Math.max(0, to - from) / 1_000

/** What is counted once where it happens. */
function counted(metrics: MetricSet, tool: (name: string) => string): EventTable<void> {
  return {
    answer_cut: ({ usage }) => spend(metrics, usage),
    round_recorded: ({ usage }) => spend(metrics, usage),
    call_finished: ({ result }) => {
      const outcome = result.status === 'success' ? 'success' : result.error.kind
      metrics.calls.inc({ tool: tool(result.tool_name), outcome })
    },
    task_ended: ({ status }) => metrics.tasks.inc({ status }),
    delivery_accepted: ({ via }) => metrics.deliveries.inc({ via: via.kind, result: 'accepted' }),
    delivery_dead: ({ via }) => metrics.deliveries.inc({ via: via.kind, result: 'dead' }),
    delivery_redelivered: () => metrics.deliveries.inc({ via: 'operator', result: 'redelivered' }),
    slot_settled: ({ status }) => metrics.slots.inc({ status }),
  }
}

function spend(metrics: MetricSet, usage: Usage): void {
  const kinds = {
    input: usage.input_tokens,
    output: usage.output_tokens,
    reasoning: usage.reasoning_tokens,
    cached_input: usage.cached_input_tokens,
    cache_write: usage.cache_write_tokens,
  }
  for (const [kind, tokens] of Object.entries(kinds)) {
    if (tokens !== null) metrics.tokens.inc({ kind }, tokens)
  }
  // A price that is not known is not zero: it is counted apart. Where no token was used, as by a
  // runbook, there is none to know.
  const isFree = usage.input_tokens === 0 && usage.output_tokens === 0
  if (usage.usd !== null) metrics.cost.inc(usage.usd)
  else if (!isFree) metrics.unpriced.inc()
}

function turnMeter(metrics: MetricSet, clock: Pick<Clock, 'monotonic'>): EventTable<void> {
  const began = new BoundedMap<TurnId, number>(TIMED_AT_ONCE)
  return {
    turn_started: ({ id }) => began.set(id, clock.monotonic()),
    turn_ended: ({ id, outcome }) => {
      metrics.turns.inc({ outcome })
      const from = began.take(id)
      if (from !== undefined) metrics.turn_seconds.observe(seconds(from, clock.monotonic()))
    },
  }
}

/** Requests: each attempt ends `answered`, `repeated`, `fell_back`, `held` or `left`. */
function requestMeter(metrics: MetricSet, clock: Pick<Clock, 'monotonic'>) {
  const open = new BoundedMap<TurnId, { provider: string; from: number }>(TIMED_AT_ONCE)
  const provider = firstLabels()
  const begin = (turn_id: TurnId, model: string) =>
    open.set(turn_id, { provider: provider(providerOf(model)), from: clock.monotonic() })
  const end = (turn_id: TurnId | null, outcome: string) => {
    const request = turn_id === null ? undefined : open.take(turn_id)
    if (request) metrics.requests.inc({ provider: request.provider, outcome })
    return request
  }
  const events: EventTable<void> = {
    request_sent: ({ turn_id, model }) => begin(turn_id, model),
    round_recorded: ({ model }, { meta }) => {
      const request = end(meta.turn_id, 'answered')
      if (request) {
        const took = seconds(request.from, clock.monotonic())
        metrics.request_seconds.observe({ provider: request.provider }, took)
      } else {
        // It was sent by an earlier process, or after a hold.
        metrics.requests.inc({ provider: provider(providerOf(model)), outcome: 'answered' })
      }
    },
    model_fell_back: ({ id, model }) => {
      if (end(id, 'fell_back')) begin(id, model)
    },
    wait_registered: ({ runtime_cause }, { meta }) => {
      const isHold = runtime_cause === 'provider_world' || runtime_cause === 'provider_setup'
      if (isHold) end(meta.turn_id, 'held')
    },
    turn_ended: ({ id }) => void end(id, 'left'),
  }
  return {
    events,
    /** The attempt failed; the same request is sent again. */
    failed(turn_id: TurnId) {
      const request = open.get(turn_id)
      if (request) metrics.requests.inc({ provider: request.provider, outcome: 'repeated' })
    },
  }
}

/**
 * Wakes: an agent that rests is stirred by the first commit after its rest; the turn that follows
 * is the wake, and its first request the end of the latency.
 */
function wakeMeter(metrics: MetricSet, clock: Pick<Clock, 'monotonic'>) {
  /** Since when each agent is stirred; null: it rests, nothing happened yet. */
  const resting = new BoundedMap<AgentId, number | null>(TIMED_AT_ONCE)
  const woken = new BoundedMap<TurnId, number>(TIMED_AT_ONCE)
  const events: EventTable<void> = {
    turn_started: ({ id, cause }, { agent_id }) => {
      const since = resting.take(agent_id)
      if (since === undefined) return
      metrics.wakes.inc({ cause: cause.kind })
      woken.set(id, since ?? clock.monotonic())
    },
    request_sent: ({ turn_id }) => {
      const since = woken.take(turn_id)
      if (since !== undefined) metrics.wake_seconds.observe(seconds(since, clock.monotonic()))
    },
  }
  return {
    events,
    stirred(agent_id: AgentId) {
      if (resting.get(agent_id) === null) resting.set(agent_id, clock.monotonic())
    },
    rests(agent_id: AgentId) {
      resting.set(agent_id, null)
    },
  }
}
