/**
 * Every metric that is counted along the way, by name: `holon_…`, base units in the name, labels
 * with few values. One registry of our own; the library's global one stays empty. What each one
 * means to an operator: docs/reference/metrics.md.
 */
import { Counter, Histogram, type Registry } from 'prom-client'

/** Seconds, for what takes from a fraction of a millisecond to some seconds. */
const quick = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
/** Seconds, for what a model or a person takes. */
const slow = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600]

export type MetricSet = ReturnType<typeof metricSet>

export function metricSet(registry: Registry) {
  const registers = [registry]
  const counter = <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
    new Counter({ name: `holon_${name}`, help, labelNames, registers })
  const histogram = <L extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: L[] = [],
  ) => new Histogram({ name: `holon_${name}`, help, buckets, labelNames, registers })

  return {
    turns: counter('turns_total', 'Turns that ended, by outcome.', ['outcome']),
    turn_seconds: histogram('turn_seconds', 'From the start of a turn to its end.', slow),
    requests: counter('requests_total', 'Attempts to ask a model, by provider and outcome.', [
      'provider',
      'outcome',
    ]),
    request_seconds: histogram(
      'request_seconds',
      'From a committed request to its recorded answer, repetitions included.',
      slow,
      ['provider'],
    ),
    tokens: counter('tokens_total', 'Tokens as the providers counted them, by kind.', ['kind']),
    cost: counter('cost_dollars_total', 'US dollars, of the answers whose price is known.'),
    unpriced: counter('unpriced_answers_total', 'Answers whose price is not known.'),
    calls: counter('tool_calls_total', 'Tool calls that got their result.', ['tool', 'outcome']),
    tasks: counter('tasks_total', 'Tasks that ended, by final status.', ['status']),
    commits: counter('commits_total', 'Transactions that landed in the ledger.'),
    events: counter('events_total', 'Events in those transactions.'),
    commit_seconds: histogram('commit_seconds', 'Duration of one transaction.', quick),
    wakes: counter('wakes_total', 'Turns that a resting agent started, by cause.', ['cause']),
    wake_seconds: histogram(
      'wake_seconds',
      'From the commit that stirred a resting agent to the first request of its turn.',
      quick,
    ),
    deliveries: counter('deliveries_total', 'Outside events, by door and result.', [
      'via',
      'result',
    ]),
    slots: counter('schedule_slots_total', 'Due slots of schedules, by status.', ['status']),
    faults: counter('faults_total', 'Faults of the world under the runtime itself.'),
    http: counter('http_requests_total', 'Answered HTTP requests.', ['route', 'method', 'status']),
    http_seconds: histogram('http_seconds', 'From a request to its answer.', quick, ['route']),
  }
}
