/**
 * Whatever a provider sends, over real HTTP in three wire formats: nothing crashes, nothing
 * malformed runs, every call of a recorded round has one result, and the turn comes to its end.
 */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import { keptAliveFetch } from '../src/models/transport/fetch.ts'
import { modelLimits } from '../src/models/limits.ts'
import { startModelServer, type ModelServer } from '../src/testing/model-server/server.ts'
import type { ServerAnswer, ServerFault } from '../src/testing/model-server/server.ts'
import { adapters, openAdapter } from '../src/testing/model-server/client.ts'
import { virtualClock } from '../src/testing/virtual-clock.ts'
import { hour, minute, openStage, type Stage } from './support/stage.ts'

type Adapter = (typeof adapters)[number]
type Call = NonNullable<ServerAnswer['calls']>[number]

const spoken = adapters.filter(({ endpoint }) => endpoint !== 'google')

/** A command that leaves a file behind: the proof that it ran. */
const touch = (name: string, more: object = {}): Call => ({
  name: 'ExecCommand',
  input: { cmd: `touch ${name}`, ...more },
})
const lists = (count: number): Call[] =>
  Array.from({ length: count }, () => ({ name: 'ListTasks', input: {} }))

async function scene(t: TestContext, adapter: Adapter, script: (n: number) => ServerAnswer) {
  const clock = virtualClock()
  const server = await startModelServer(({ n }) => script(n))
  const client = keptAliveFetch()
  t.after(async () => {
    client.close()
    await server.close()
  })
  const opening = { base_url: server.base_url, fetch: client.fetch, clock }
  const { model, id } = await openAdapter(adapter, opening)
  const stage = await openStage(t, { models: { [id]: model }, clock, setting: { model: id } })
  return { server, stage }
}

/** What every scene ends with, whatever was sent. */
async function inOrderAgain(stage: Stage, server: ModelServer, ran: readonly string[]) {
  assert.deepEqual(server.violations, [], 'a provider would have refused a request')
  assert.deepEqual(readdirSync(stage.box.workspace).toSorted(), ran, 'the commands that ran')
  const turns = await stage.rows('turns')
  assert.deepEqual(
    turns.map(({ state, outcome }) => [state, outcome]),
    [['ended', 'completed']],
  )
  const messages = await stage.rows('messages')
  assert.deepEqual(
    messages.map(({ status, attempts }) => [status, attempts]),
    [['consumed', 0]],
  )
  await stage.sound()
}

const errorsOf = async (stage: Stage) =>
  (await stage.rows('calls')).map(({ result }) =>
    result?.status === 'error' ? `${result.error.kind} ${result.error.code}` : result?.status,
  )

type Answered = {
  says: string
  answer: ServerAnswer
  /** Kind and code of each call's result, in order. */
  results: readonly string[]
  ran?: readonly string[]
}

const notArguments = ['["touch ran"]', '"touch ran"', '7', 'null', 'true']

/** Whole answers with calls that must not run, and what each call gets. */
const answers: readonly Answered[] = [
  {
    says: 'an unknown tool',
    answer: { calls: [{ name: 'LaunchRocket', input: { cmd: 'touch ran' } }] },
    results: ['invalid_input unknown_tool'],
  },
  {
    says: 'broken JSON',
    answer: { calls: [touch('ran')], fault: 'broken_json' },
    results: ['invalid_input truncated_json'],
  },
  {
    says: 'broken JSON beside a sound call',
    answer: { calls: [touch('ran'), touch('sound')], fault: 'broken_json' },
    results: ['invalid_input truncated_json', 'success'],
    ran: ['sound'],
  },
  {
    says: 'arguments of a wrong type',
    answer: { calls: [{ name: 'ExecCommand', input: { cmd: ['touch', 'ran'] } }] },
    results: ['invalid_input invalid_field'],
  },
  {
    says: 'a missing field',
    answer: { calls: [{ name: 'ExecCommand', input: {} }] },
    results: ['invalid_input missing_field'],
  },
  {
    says: 'an unknown field, which is left out',
    answer: { calls: [touch('ran', { shell: 'zsh' })] },
    results: ['success'],
    ran: ['ran'],
  },
  {
    says: 'an unknown field of a call that cannot be taken back',
    answer: { calls: [{ name: 'TaskInput', input: { task_id: 'task_1', text: 'y', shell: 'z' } }] },
    results: ['invalid_input unknown_field'],
  },
  {
    says: 'arguments that are no object',
    answer: {
      calls: notArguments.map((text) => ({ name: 'ExecCommand', input: JSON.parse(text) })),
    },
    results: notArguments.map(() => 'invalid_input invalid_field'),
  },
  {
    says: 'ids that are missing',
    answer: { calls: [touch('one'), touch('two')], fault: 'missing_ids' },
    results: ['success', 'success'],
    ran: ['one', 'two'],
  },
  {
    says: 'more than 32 calls',
    answer: { calls: [...lists(32), touch('ran'), touch('ran')] },
    results: [...lists(32).map(() => 'success'), ...Array(2).fill('not_executed over_limit')],
  },
]

for (const adapter of spoken) {
  for (const { says, answer, results, ran = [] } of answers) {
    test(`${adapter.endpoint}: ${says}, and each call gets one result`, async (t) => {
      const { server, stage } = await scene(t, adapter, (n) =>
        n === 1 ? answer : { text: 'Seen.' },
      )
      await stage.say('Begin.')
      assert.deepEqual(await errorsOf(stage), results)
      assert.equal(server.requests.length, 2)
      assert.deepEqual(await stage.briefs(), [{ kind: 'reply', text: 'Seen.' }])
      await inOrderAgain(stage, server, ran)
    })
  }
}

for (const adapter of spoken) {
  test(`${adapter.endpoint}: ids that come twice pair no call wrongly`, async (t) => {
    const answer: ServerAnswer = {
      calls: [touch('first'), touch('second')],
      fault: 'duplicate_ids',
    }
    const { server, stage } = await scene(t, adapter, (n) => (n === 1 ? answer : { text: 'Seen.' }))
    await stage.say('Begin.')
    assert.deepEqual(await errorsOf(stage), ['success', 'invalid_input call_id_repeated'])
    const ids = (await stage.rows('calls')).map(({ provider_call_id }) => provider_call_id)
    assert.equal(new Set(ids).size, 2)
    await inOrderAgain(stage, server, ['first'])
  })
}

/** A first answer that breaks off; the request is sent again, and nothing of the first runs. */
const broken: readonly [string, ServerFault][] = [
  ['a stream that ends early', 'truncate'],
  ['a connection that breaks', 'reset'],
  ['an error inside the stream after 200', 'error_in_stream'],
  ['a frame that is no JSON', 'garbage'],
  ['429 without retry-after', { kind: 'status', status: 429 }],
  ['429 with retry-after', { kind: 'status', status: 429, retry_after: '7' }],
  ['500', { kind: 'status', status: 500 }],
  ['529', { kind: 'status', status: 529 }],
]

for (const adapter of spoken) {
  for (const [says, fault] of broken) {
    test(`${adapter.endpoint}: after ${says} the request is sent again`, async (t) => {
      const first = { text: 'Half', calls: [touch('ran'), touch('ran')], fault }
      const { server, stage } = await scene(t, adapter, (n) =>
        n === 1 ? first : { text: 'Seen.' },
      )
      await stage.say('Begin.')
      assert.equal(server.requests.length, 2)
      assert.deepEqual(server.requests[1]?.body, server.requests[0]?.body)
      const waited = stage.box.notices.flatMap((notice) =>
        notice.kind === 'retry' ? [notice.delay_ms] : [],
      )
      assert.equal(waited.length, 1)
      if (typeof fault === 'object' && 'retry_after' in fault) {
        const [ms = 0] = waited
        assert.ok(ms >= 7_000 && ms < 7_000 + modelLimits.retry_spread.value, `waited ${ms} ms`)
      }
      assert.deepEqual(await stage.briefs(), [{ kind: 'reply', text: 'Seen.' }])
      assert.deepEqual(await stage.rows('calls'), [])
      await inOrderAgain(stage, server, [])
    })
  }

  for (const fault of ['hang', 'hang_before_answer'] as const) {
    test(`${adapter.endpoint}: a stream that falls silent (${fault}) is given up`, async (t) => {
      const first = { text: 'Half', calls: [touch('ran')], fault }
      const { server, stage } = await scene(t, adapter, (n) =>
        n === 1 ? first : { text: 'Seen.' },
      )
      await stage.act({ do: 'send', text: 'Begin.' })
      await server.answered(1)
      const { first_event_local, thinking_idle } = modelLimits
      const patience = fault === 'hang' ? thinking_idle : first_event_local
      await stage.clock.advance(patience.value)
      await stage.rest()
      assert.equal(server.requests.length, 2)
      assert.deepEqual(await stage.briefs(), [{ kind: 'reply', text: 'Seen.' }])
      await inOrderAgain(stage, server, [])
    })
  }

  test(`${adapter.endpoint}: a provider that stays down holds the agent`, async (t) => {
    const down: ServerAnswer = { fault: { kind: 'status', status: 529 } }
    const attempts = modelLimits.retry.value
    const { server, stage } = await scene(t, adapter, (n) =>
      n <= attempts ? down : { text: 'Seen.' },
    )
    await stage.say('Begin.')
    assert.equal(server.requests.length, attempts)
    const held = stage.next
    assert.deepEqual([held.do, held.do === 'wait' && held.for], ['wait', 'system'])
    assert.deepEqual(
      (await stage.briefs()).map(({ kind }) => kind),
      ['failure'],
    )
    const [turn] = await stage.rows('turns')
    assert.equal(turn?.state, 'open')

    await stage.pass(minute)
    assert.equal(server.requests.length, attempts + 1)
    assert.deepEqual(
      (await stage.briefs()).map(({ kind }) => kind),
      ['failure', 'reply'],
    )
    assert.deepEqual(
      (await stage.rows('turns')).map(({ id }) => id),
      [turn?.id],
    )
    await inOrderAgain(stage, server, [])
  })

  test(`${adapter.endpoint}: a retry-after of an hour holds the agent that long`, async (t) => {
    const busy: ServerAnswer = { fault: { kind: 'status', status: 429, retry_after: '3600' } }
    const { server, stage } = await scene(t, adapter, (n) => (n === 1 ? busy : { text: 'Seen.' }))
    await stage.say('Begin.')
    const from = stage.now
    assert.equal(server.requests.length, 1)
    await stage.pass(hour - 1)
    assert.equal(server.requests.length, 1)
    await stage.pass(1)
    assert.deepEqual([server.requests.length, stage.now - from], [2, hour])
    assert.deepEqual(
      (await stage.briefs()).map(({ kind }) => kind),
      ['failure', 'reply'],
    )
    await inOrderAgain(stage, server, [])
  })
}
