/** The exposition: Prometheus can parse it, it counts what happened, and its labels stay few. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import { register as globalRegistry } from 'prom-client'
import { AgentFacts } from '../domain/facts/agent-facts.ts'
import { evolve, tableOf, type Event, type Rows, type Table } from '../domain/state/event.ts'
import type { Usage } from '../domain/state/turn.ts'
import { systemClock } from '../exec/clock.ts'
import type { Clock } from '../exec/ports.ts'
import { canary, observedTurn } from '../testing/host/observed-turn.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { countLive, type LiveCounts } from './live-counts.ts'
import { createMetrics, type Metrics, type MetricsPorts } from './metrics.ts'
import {
  agentCreated,
  itemCompleted,
  itemCreated,
  messageAdmitted,
  requestSent,
  roundRecorded,
  taskQueued,
  turnStarted,
  waitRegistered,
} from '../testing/events.ts'

const nothing: LiveCounts = {
  agents: 0,
  turns_open: 0,
  tasks_running: 0,
  messages_queued: 0,
  work_items_open: 0,
  waits_active: 0,
}

function metricsOf(clock: Clock = systemClock(), more: Partial<MetricsPorts> = {}): Metrics {
  return createMetrics({
    clock,
    version: '1.2.3',
    tool_names: ['CreateWorkItem', 'PickWorkItem', 'ExecCommand', 'CompleteWorkItem'],
    process: {
      started_at: 1_700_000_000_000,
      cpu: () => ({ user: 1_500_000, system: 500_000 }),
      memory: () => ({ rss: 4_000, heapUsed: 2_000, heapTotal: 3_000, external: 1_000 }),
      loop_active: () => 2_500,
      open_files: () => Promise.resolve(7),
    },
    counts: () => nothing,
    stream_clients: () => 0,
    is_degraded: () => false,
    log_lines_lost: () => 0,
    ...more,
  })
}

type Family = { type: string; help: string; samples: Map<string, number> }

/** Reads the text format 0.0.4 strictly: any line that it does not know fails the test. */
function parse(text: string): Map<string, Family> {
  const families = new Map<string, Family>()
  assert.ok(text.endsWith('\n'), 'the last line has no end')
  const blocks = text.trim().split(/\n(?=# HELP )/)
  for (const block of blocks) {
    const [head = '', kind = '', ...lines] = block.split('\n').filter((line) => line !== '')
    const [, name = '', help = ''] = /^# HELP ([a-z_:][a-z0-9_:]*) (.+)$/.exec(head) ?? []
    assert.notEqual(name, '', head)
    const [, typed, type = ''] = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(kind) ?? []
    assert.equal(typed, name, kind)
    assert.equal(families.has(name), false, `${name} comes twice`)
    const samples = new Map<string, number>()
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
    for (const line of lines) {
      const [, of = '', labels = '', value = ''] = sampleLine.exec(line) ?? []
      assert.ok(suffixes.includes(of.slice(name.length)), `no sample of ${name}: ${line}`)
      assert.match(value, /^(-?\d+(\.\d+)?(e[+-]\d+)?|[+-]Inf|Nan)$/i, line)
      assert.equal(of.startsWith(name) && !samples.has(of + labels), true, line)
      samples.set(of + labels, Number(value.replace('Inf', 'Infinity')))
    }
    families.set(name, { type, help, samples })
  }
  return families
}

const sampleLine = /^([a-z_:][a-z0-9_:]*)((?:\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+\})?) (\S+)$/

/** Samples of one metric by their labels, without zeros and buckets. */
function samples(families: Map<string, Family>, name: string): Record<string, number> {
  const found = families.get(name)
  assert.ok(found, `there is no ${name}`)
  return Object.fromEntries(
    [...found.samples].flatMap(([sample, value]) =>
      sample.includes('_bucket') || value === 0 ? [] : [[sample.slice(name.length), value]],
    ),
  )
}

const observed = async (t: TestContext) => {
  const metrics = metricsOf()
  const box = await observedTurn(t, (notice) => metrics.notice(notice))
  return { metrics, box, families: parse(await metrics.text()) }
}

test('a turn is counted: its requests, tokens, calls, task and wake', async (t) => {
  const { families } = await observed(t)
  const counters = [
    'holon_turns_total',
    'holon_requests_total',
    'holon_tokens_total',
    'holon_cost_dollars_total',
    'holon_unpriced_answers_total',
    'holon_tool_calls_total',
    'holon_tasks_total',
    'holon_wakes_total',
    'holon_faults_total',
  ]
  assert.deepEqual(Object.fromEntries(counters.map((name) => [name, samples(families, name)])), {
    holon_turns_total: { '{outcome="completed"}': 1 },
    holon_requests_total: {
      '{provider="acme",outcome="repeated"}': 1,
      '{provider="acme",outcome="answered"}': 4,
    },
    holon_tokens_total: { '{kind="input"}': 400, '{kind="output"}': 80 },
    holon_cost_dollars_total: {},
    holon_unpriced_answers_total: { '': 4 },
    holon_tool_calls_total: {
      '{tool="CreateWorkItem",outcome="success"}': 1,
      '{tool="other",outcome="invalid_input"}': 1,
      '{tool="PickWorkItem",outcome="success"}': 1,
      '{tool="ExecCommand",outcome="success"}': 1,
      '{tool="CompleteWorkItem",outcome="success"}': 1,
    },
    holon_tasks_total: { '{status="completed"}': 1 },
    holon_wakes_total: { '{cause="message"}': 1 },
    holon_faults_total: {},
  })
  for (const [name, count] of [
    ['holon_turn_seconds', 1],
    ['holon_request_seconds', 4],
    ['holon_wake_seconds', 1],
  ] as const) {
    const found = Object.entries(samples(families, name)).find(([sample]) =>
      sample.startsWith('_count'),
    )
    assert.equal(found?.[1], count, name)
  }
})

const spent: readonly [string, Partial<Usage>, Record<string, number>, Record<string, number>][] = [
  ['of a known price', { usd: 0.25 }, { '': 0.25 }, {}],
  ['of an unknown price', { usd: null }, {}, { '': 1 }],
  ['without any token', { usd: null, input_tokens: 0, output_tokens: 0 }, {}, {}],
  ['with tokens in only', { usd: null, input_tokens: 5, output_tokens: 0 }, {}, { '': 1 }],
  ['with tokens out only', { usd: null, input_tokens: 0, output_tokens: 5 }, {}, { '': 1 }],
  [
    'whose tokens nobody counted',
    { usd: null, input_tokens: null, output_tokens: null },
    {},
    { '': 1 },
  ],
]
for (const [what, used, cost, unpriced] of spent) {
  test(`an answer ${what} adds to the cost only what is known`, async () => {
    const metrics = metricsOf()
    const event = roundRecorded('turn_1:1')
    const usage = { ...event.usage, ...used }
    const meta = { seq: 1, at, work_item_id: null, turn_id: null, causation_id: null }
    metrics.notice({
      kind: 'committed',
      agent_id: 'main',
      events: [{ event: { ...event, usage }, meta }],
    })
    const families = parse(await metrics.text())
    assert.deepEqual(samples(families, 'holon_cost_dollars_total'), cost)
    assert.deepEqual(samples(families, 'holon_unpriced_answers_total'), unpriced)
  })
}

test('every name starts with holon_, process_ or nodejs_, has its unit, and counters end in _total', async (t) => {
  const { families } = await observed(t)
  for (const [name, { type, help }] of families) {
    assert.match(name, /^(holon|process|nodejs)_[a-z0-9_]+$/)
    assert.match(help, /\S/)
    assert.equal(name.endsWith('_total'), type === 'counter', name)
    if (type === 'histogram') assert.match(name, /_seconds$/)
  }
})

test('no label holds an id, a token, a path or a word of a person or a model', async (t) => {
  const { metrics } = await observed(t)
  metrics.http({ method: 'POST', route: '/callbacks/{token}', status: 202, ms: 1 })
  metrics.http({ method: `BREW-${canary}`, route: null, status: 777, ms: 1 })
  const text = await metrics.text()
  assert.equal(text.includes(canary), false)
  assert.doesNotMatch(text, /(msg|turn|call|work|wait|task|brief|dec|trig|dlv|sched)_[0-9a-f]{8}/)
  assert.match(
    text,
    /holon_http_requests_total\{route="unmatched",method="other",status="other"\} 1/,
  )
  assert.match(
    text,
    /holon_http_requests_total\{route="\/callbacks\/\{token\}",method="POST",status="2xx"\} 1/,
  )
})

test('however many providers and routes there are, a label has at most 101 values', async () => {
  const metrics = metricsOf()
  const meta = { seq: 1, at: '', work_item_id: null, turn_id: null, causation_id: null }
  for (let n = 0; n < 500; n += 1) {
    metrics.http({ method: 'GET', route: `/made-up/${n}`, status: 200, ms: 1 })
    const turn_id = `turn_${n}` as const
    const sent = requestSent(turn_id, 1, { model: `provider-${n}/model` })
    metrics.notice({ kind: 'committed', agent_id: 'main', events: [{ event: sent, meta }] })
    metrics.notice({
      kind: 'retry',
      agent_id: 'main',
      turn_id,
      message: '',
      delay_ms: 1,
      attempt: 1,
    })
  }
  const families = parse(await metrics.text())
  const http = samples(families, 'holon_http_requests_total')
  const requests = samples(families, 'holon_requests_total')
  assert.deepEqual([Object.keys(http).length, Object.keys(requests).length], [101, 101])
  assert.equal(http['{route="other",method="GET",status="2xx"}'], 400)
  assert.equal(requests['{provider="other",outcome="repeated"}'], 400)
})

test('a commit is counted and timed by the clock it is given; one that did not land is not', async () => {
  const clock = virtualClock()
  const metrics = metricsOf(clock)
  const commit = metrics.timed(async ({ ok }: { ok: boolean }) => {
    await clock.advance(2)
    return { ok }
  })
  assert.deepEqual(
    [await commit({ ok: true }), await commit({ ok: false })],
    [{ ok: true }, { ok: false }],
  )
  const text = metrics.text()
  await clock.advance(0)
  const families = parse(await text)
  assert.deepEqual(samples(families, 'holon_commits_total'), { '': 1 })
  assert.deepEqual(samples(families, 'holon_commit_seconds'), { _sum: 0.002, _count: 1 })
})

test('what there is now is read at each scrape', async () => {
  let now: LiveCounts = { ...nothing, agents: 2, work_items_open: 10_000, waits_active: 9_999 }
  let clients = 3
  let isDegraded = true
  const metrics = metricsOf(systemClock(), {
    counts: () => now,
    stream_clients: () => clients,
    is_degraded: () => isDegraded,
    log_lines_lost: () => 4,
  })
  const gauges = async () => {
    const families = parse(await metrics.text())
    const named = ['agents', 'work_items_open', 'waits_active', 'stream_clients', 'degraded']
    return named.map((name) => families.get(`holon_${name}`)?.samples.get(`holon_${name}`))
  }
  assert.deepEqual(await gauges(), [2, 10_000, 9_999, 3, 1])
  now = { ...nothing, agents: 1 }
  clients = 0
  isDegraded = false
  assert.deepEqual(await gauges(), [1, 0, 0, 0, 0])
  const families = parse(await metrics.text())
  assert.deepEqual(samples(families, 'holon_log_lines_lost_total'), { '': 4 })
  assert.deepEqual(samples(families, 'process_cpu_seconds_total'), { '': 2 })
  assert.deepEqual(samples(families, 'process_open_fds'), { '': 7 })
  assert.deepEqual(samples(families, 'holon_event_loop_active_seconds_total'), { '': 2.5 })
  assert.deepEqual(samples(families, 'holon_build_info'), { '{version="1.2.3"}': 1 })
})

test('live rows are counted as they are: what has ended is not, and a deleted agent is none', () => {
  const one = factsOf(
    [agentCreated('main')],
    [turnStarted()],
    [messageAdmitted()],
    [messageAdmitted()],
    [messageAdmitted({ consumed_because: 'no model is needed' })],
    [itemCreated()],
    [itemCreated({ id: 'work_done' }), itemCompleted('work_done')],
    [waitRegistered()],
    [taskQueued()],
    [
      { ...taskQueued(), id: 'task_runs' },
      { type: 'task_started', id: 'task_runs', pid: 7, started_at: at },
    ],
  )
  const gone = factsOf([
    agentCreated('main'),
    { type: 'agent_deleted', id: 'main', by: 'operator' },
  ])
  assert.deepEqual(countLive([one, gone]), {
    agents: 1,
    turns_open: 1,
    tasks_running: 1,
    messages_queued: 2,
    work_items_open: 1,
    waits_active: 1,
  })
})

const at = '2026-01-05T09:00:00.000Z'

/** Facts of the agent `main` with the row that each list of events makes. */
function factsOf(...histories: readonly (readonly Event[])[]): AgentFacts {
  const facts = new AgentFacts('main')
  for (const events of histories) {
    let row: Rows[Table] | null = null
    for (const event of events) row = evolve(row, event, { at, seq: 1, agent_id: 'main' })
    const [first] = events
    if (first && row) facts.include(tableOf[first.type], row)
  }
  return facts
}

test('the registry is our own: the global one of the library stays empty', async () => {
  metricsOf()
  assert.equal(await globalRegistry.metrics(), '\n')
})

test('the reference page names every metric that is exposed, and no other', async () => {
  const families = parse(await metricsOf().text())
  const page = readFileSync(new URL('../../docs/reference/metrics.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (counter|gauge|histogram) \|/gm)]
  const documented = Object.fromEntries(rows.map(([, name, type]) => [name, type]))
  const exposed = Object.fromEntries([...families].map(([name, { type }]) => [name, type]))
  assert.deepEqual(documented, exposed)
})
