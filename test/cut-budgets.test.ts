/**
 * What a provider counted of answers that break off is on the meter: on four wires, cut after each
 * event of the stream, with every retry and then the fallback. The stand-in server knows what it
 * said of its tokens before it broke off; a budget is never charged less
 * (docs/spec/turn.md#answers-that-break-off).
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { useOf } from '../src/domain/facts/budget.ts'
import { meterOf } from '../src/domain/facts/payer.ts'
import { keptAliveFetch } from '../src/models/transport/fetch.ts'
import { modelLimits } from '../src/models/limits.ts'
import type { Model } from '../src/models/model.ts'
import { adapters, handClock, openAdapter } from '../src/testing/model-server/client.ts'
import { startModelServer, wires, type ServerAnswer } from '../src/testing/model-server/server.ts'
import { defaultUsage } from '../src/testing/model-server/wire.ts'
import { agent, openStage, type Stage } from './support/stage.ts'

const completes = (work_item_id: string) => ({ name: 'CompleteWorkItem', input: { work_item_id } })

type Adapter = (typeof adapters)[number]

const usage = { ...defaultUsage, input_tokens: 60_000, output_tokens: 9_000, reasoning_tokens: 5 }
const long: ServerAnswer = { reasoning: 'Hm. Well.', text: 'It is so.', usage }

const framesOf = ({ endpoint, name: model }: Adapter): string[] => {
  const wire = wires.find((one) => one.endpoint === endpoint)
  assert.ok(wire)
  return wire.frames({ n: 2, model, answer: { ...long, parts: partsOf(long) }, usage })
}

const partsOf = ({ reasoning = '', text = '' }: ServerAnswer) => [{ reasoning }, { text }]

/** What these events say of tokens, read from their text: the largest count of each kind. */
function counted(frames: readonly string[]): { input: number; output: number } {
  const text = frames.join('\n')
  const largest = (names: string) =>
    Math.max(
      0,
      ...[...text.matchAll(new RegExp(`"(?:${names})":(\\d+)`, 'g'))].map((it) => Number(it[1])),
    )
  const cached = largest('cache_read_input_tokens')
  return {
    input: largest('input_tokens|prompt_tokens|promptTokenCount') + cached,
    output:
      largest('output_tokens|completion_tokens|candidatesTokenCount') +
      largest('thoughtsTokenCount'),
  }
}

/** One item whose second request is cut after so many events, each time it is sent. */
async function cutAfter(t: TestContext, adapter: Adapter, events: number) {
  const stage: { s: Stage | null } = { s: null }
  const script = (n: number): ServerAnswer => {
    if (n === 1) {
      return { calls: [{ name: 'PickWorkItem', input: { work_item_id: stage.s?.id('A') ?? '' } }] }
    }
    return { ...long, fault: { kind: 'cut', events } }
  }
  const server = await startModelServer(({ n }) => script(n), { refuses: true })
  const other = await startModelServer(({ n }) =>
    n > 1 ? { text: 'Done.' } : { text: 'It is so.', calls: [completes(stage.s?.id('A') ?? '')] },
  )
  const client = keptAliveFetch()
  t.after(async () => {
    client.close()
    await Promise.all([server.close(), other.close()])
  })
  const opening = { fetch: client.fetch, clock: handClock() }
  const first = await openAdapter(adapter, { ...server, ...opening })
  const fallback = await openAdapter(adapter, { ...other, ...opening })
  const spare: Model = {
    request: (asked, how) => fallback.model.request({ ...asked, model: fallback.id }, how),
  }
  const setting = { model: first.id, fallback_model: 'the/spare' }
  const models = { [first.id]: first.model, 'the/spare': spare }
  const s = (stage.s = await openStage(t, { models, setting }))
  await s.does({ do: 'create_item', objective: 'A', budget: { max_tokens: 1e9 } })
  const facts = s.box.host.facts(agent)
  const used = useOf((facts && meterOf(facts, s.id('A'))) ?? null)
  const charges = await s.eventsOf('answer_cut')
  return { s, used, charges, attempts: server.requests.length - 1, after: other.requests.length }
}

for (const adapter of adapters) {
  test(
    `${adapter.kind}: cut after any event, no budget is charged less than was counted`,
    { concurrency: 2, timeout: 120_000 },
    async (t) => {
      const frames = framesOf(adapter)
      let told = 0
      await Promise.all(
        frames.slice(0, -1).map((_, events) =>
          t.test(`after ${events} of ${frames.length}`, async (t) => {
            const said = counted(frames.slice(0, events))
            const { s, used, charges, attempts, after } = await cutAfter(t, adapter, events)
            if (charges.length > 0) {
              assert.equal(attempts, modelLimits.retry.value)
              assert.equal(charges.length, attempts)
              assert.ok(after >= 1, 'the fallback was asked')
            }
            for (const charge of charges) {
              assert.ok((charge.usage.input_tokens ?? 0) >= said.input, `${said.input} were read`)
              assert.ok((charge.usage.output_tokens ?? 0) >= said.output)
            }
            const least = (said.input + said.output) * attempts
            assert.ok(used.tokens >= least, `${used.tokens} of ${least} are on the meter`)
            if (said.input > 0) told += 1
            const [all] = await s.box.ledger.spend({ by: [], work_item_id: s.item('A').id })
            assert.equal((all?.input_tokens ?? 0) + (all?.output_tokens ?? 0), used.tokens)
          }),
        ),
      )
      // Messages counts with its first event; the others with their last.
      if (adapter.endpoint === 'messages') assert.ok(told > 3, `${told} cuts were behind a count`)
    },
  )
}
