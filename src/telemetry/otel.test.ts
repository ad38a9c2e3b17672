/** Traces of a real turn at a real collector, and what a collector that is dead can not do. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../exec/clock.ts'
import type { Clock } from '../exec/ports.ts'
import type { HostNotice } from '../runtime/ports.ts'
import type { HostFixture } from '../testing/host/host-fixture.ts'
import { openCollector, type CollectedSpan, type Collector } from '../testing/http/collector.ts'
import { canary, observedTurn } from '../testing/host/observed-turn.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { FLUSH_MS } from './limits.ts'
import { mintedAt, traceIdOf } from './span.ts'
import type { Environment, Tracing } from './tracing-settings.ts'
import { startTracing } from './tracing.ts'

const capture = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' }

/** Each span is a batch and sent at once. */
const atOnce = { OTEL_BSP_SCHEDULE_DELAY: '0', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' }

/** How long the exporter goes on with a batch: also how long it outlives the test. */
const patience = (ms: number): Environment => ({ OTEL_EXPORTER_OTLP_TIMEOUT: String(ms) })

async function tracing(
  endpoint: string,
  more: Environment = {},
  clock: Clock = systemClock(),
): Promise<{ tracing: Tracing; problems: (string | null)[] }> {
  const problems: (string | null)[] = []
  const started = await startTracing(
    { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...more },
    {
      clock,
      redact: (text) => text.replaceAll('is done', '[secret]'),
      version: '1.2.3',
      problem_changed: (problem) => void problems.push(problem),
    },
  )
  assert.ok(started, 'tracing is off')
  return { tracing: started, problems }
}

/** A turn, all of its spans, and the box it ran in. */
async function traced(
  t: TestContext,
  more: Environment = {},
): Promise<{ collector: Collector; box: HostFixture; problems: (string | null)[] }> {
  const collector = await openCollector(t)
  const { tracing: on, problems } = await tracing(collector.url, more)
  const box = await observedTurn(t, (notice) => on.notice(notice))
  await on.close()
  return { collector, box, problems }
}

const one = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
  const found = spans.filter((span) => span.name === name)
  assert.equal(
    found.length,
    1,
    `${found.length} spans ${name}: ${spans.map((span) => span.name).join()}`,
  )
  return found[0] as CollectedSpan
}

test('the collector gets one trace of the turn with its requests, calls and task, linked to its message', async (t) => {
  const { collector, box, problems } = await traced(t)
  const { spans } = collector
  assert.deepEqual(problems, [])
  assert.deepEqual(new Set(collector.requests), new Set(['/v1/traces application/json']))
  const turn = one(spans, 'invoke_agent main')
  const message = one(spans, 'deliver operator_prompt')
  const [row] = await box.ledger.list('turns', { limit: 10 })
  assert.ok(row)
  const parents = Object.groupBy(spans, (span) => {
    if (span.traceId !== turn.traceId) return 'elsewhere'
    const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
    return parent?.name ?? 'nobody'
  })
  const names = Object.fromEntries(
    Object.entries(parents).map(([parent, below = []]) => [
      parent,
      below.map(({ name }) => name).toSorted(),
    ]),
  )
  assert.deepEqual(names, {
    nobody: ['invoke_agent main'],
    elsewhere: ['deliver operator_prompt'],
    'invoke_agent main': [
      ...Array.from({ length: 4 }, () => 'chat thinker-1'),
      'execute_tool CompleteWorkItem',
      'execute_tool CreateWorkItem',
      'execute_tool ExecCommand',
      `execute_tool Invented-${canary}`,
      'execute_tool PickWorkItem',
    ],
    'execute_tool ExecCommand': ['task'],
  })
  assert.equal(turn.traceId, traceIdOf(row.id))
  assert.deepEqual(
    turn.links.map(({ traceId, spanId }) => ({ traceId, spanId })),
    [{ traceId: message.traceId, spanId: message.spanId }],
  )
  assert.equal(BigInt(turn.startTimeUnixNano), BigInt(Date.parse(row.started_at)) * 1_000_000n)
  assert.equal(BigInt(turn.endTimeUnixNano), BigInt(Date.parse(row.ended_at ?? '')) * 1_000_000n)
})

test('spans carry the names of the conventions for generative AI, and states of our own', async (t) => {
  const { collector, box } = await traced(t)
  const { spans } = collector
  const [turn] = await box.ledger.list('turns', { limit: 10 })
  const [item] = await box.ledger.list('work_items', { limit: 10 })
  assert.deepEqual(one(spans, 'invoke_agent main').attributes, {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'main',
    'gen_ai.conversation.id': item?.id,
    'gen_ai.request.model': 'acme/thinker-1',
    'gen_ai.usage.input_tokens': 400,
    'gen_ai.usage.output_tokens': 80,
    'holon.turn.id': turn?.id,
    'holon.turn.cause': 'message',
    'holon.turn.outcome': 'completed',
    'holon.turn.reason': 'work_item_completed',
    'holon.turn.progress': true,
    'holon.work_item.id': item?.id,
  })
  const [first] = spans.filter(({ attributes }) => attributes['holon.round'] === 1)
  assert.ok(first)
  const { 'gen_ai.response.time_to_first_chunk': toFirst, ...attributes } = first.attributes
  assert.equal(typeof toFirst, 'number')
  assert.deepEqual(attributes, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'acme',
    'gen_ai.request.model': 'thinker-1',
    'gen_ai.response.model': 'thinker-1',
    'gen_ai.response.finish_reasons': ['tool_calls'],
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.output_tokens': 20,
    'gen_ai.agent.name': 'main',
    'holon.turn.id': turn?.id,
    'holon.round': 1,
  })
  assert.deepEqual([first.kind, first.events.map(({ name }) => name)], [3, ['repeated']])
  const invented = one(spans, `execute_tool Invented-${canary}`)
  assert.deepEqual(
    [invented.status.code, invented.attributes['holon.tool.error_kind']],
    [2, 'invalid_input'],
  )
  assert.equal(one(spans, 'task').attributes['process.exit.code'], 0)
  assert.equal(collector.resource['service.name'], 'holon')
  assert.equal(collector.resource['service.version'], '1.2.3')
})

test('content is recorded only when it is asked for, and redacted then', async (t) => {
  const names = new RegExp(`Invented-${canary}`, 'g')
  const without = await traced(t)
  assert.equal(without.collector.bodies.join('').replace(names, '').includes(canary), false)
  const { collector } = await traced(t, capture)
  const command = one(collector.spans, 'execute_tool ExecCommand').attributes
  assert.equal(command['gen_ai.tool.call.arguments'], JSON.stringify({ cmd: `echo ${canary}` }))
  assert.match(String(command['gen_ai.tool.call.result']), new RegExp(canary))
  const last = collector.spans.find(({ attributes }) => attributes['holon.round'] === 4)
  assert.match(
    String(last?.attributes['gen_ai.output.messages']),
    new RegExp(`All of ${canary} \\[secret\\]`),
  )
  assert.equal(one(collector.spans, 'task').attributes['process.command_line'], `echo ${canary}`)
})

test('a collector that accepts and never answers does not hold up a turn, nor the stop for long', async (t) => {
  const collector = await openCollector(t, 'hangs')
  const clock = virtualClock()
  const { tracing: on } = await tracing(collector.url, { ...atOnce, ...patience(3_000) }, clock)
  // The turn ends while the first span is still on its way: nothing here ever answers it.
  const box = await observedTurn(t, (notice) => on.notice(notice))
  await collector.reached
  const [turn] = await box.ledger.list('turns', { limit: 10 })
  assert.deepEqual([turn?.outcome, collector.spans.length], ['completed', 0])
  let isClosed = false
  const closing = on.close().then(() => (isClosed = true))
  await clock.advance(FLUSH_MS - 1)
  assert.equal(isClosed, false)
  await clock.advance(1)
  assert.equal(isClosed, true)
  await closing
})

test('a collector that nobody listens at costs the spans and nothing else', async (t) => {
  const clock = virtualClock()
  const { tracing: on } = await tracing(
    'http://127.0.0.1:9',
    { ...atOnce, ...patience(100) },
    clock,
  )
  const box = await observedTurn(t, (notice) => on.notice(notice))
  const [turn] = await box.ledger.list('turns', { limit: 10 })
  assert.equal(turn?.outcome, 'completed')
  const closing = on.close()
  await clock.advance(FLUSH_MS)
  await closing
})

const refusals = [
  ['refuses', 'Bad Request'],
  ['refuses_wordless', 'no connection'],
] as const
for (const [how, why] of refusals) {
  test(`a collector that ${how} is told of once, not once a batch`, async (t) => {
    const collector = await openCollector(t, how)
    const { tracing: on, problems } = await tracing(collector.url, atOnce)
    await observedTurn(t, (notice) => on.notice(notice))
    await on.close()
    assert.ok(collector.requests.length > 1, 'one batch only: nothing is shown')
    assert.deepEqual(problems, [`Spans do not reach the collector: ${why}`])
  })
}

test('a turn that one process began and another ended is one span, from start to end', async (t) => {
  const collector = await openCollector(t)
  const { tracing: first } = await tracing(collector.url)
  const notices: HostNotice[] = []
  const box = await observedTurn(t, (notice) => void notices.push(notice))
  const events = notices.flatMap((notice) => (notice.kind === 'committed' ? notice.events : []))
  const middle = events.findIndex(({ event }) => event.type === 'call_finished')
  const seen = (part: typeof events): HostNotice => ({
    kind: 'committed',
    agent_id: 'main',
    events: part,
  })
  first.notice(seen(events.slice(0, middle)))
  await first.close()
  assert.deepEqual(
    collector.spans.filter(({ name }) => name.startsWith('invoke_agent')),
    [],
  )
  const { tracing: second } = await tracing(collector.url)
  second.notice(seen(events.slice(middle)))
  await second.close()
  const [row] = await box.ledger.list('turns', { limit: 10 })
  const turn = one(collector.spans, 'invoke_agent main')
  const inTrace = collector.spans.filter(({ parentSpanId }) => parentSpanId === turn.spanId)
  assert.equal(inTrace.length, 9)
  // The start is known to the millisecond of the id: it was minted in the commit of the start.
  assert.equal(BigInt(turn.startTimeUnixNano), BigInt(mintedAt(row?.id ?? '') ?? 0) * 1_000_000n)
})
