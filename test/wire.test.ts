/**
 * Whole turns over each wire, with models that think, against a provider that enforces its rules:
 * after blank separators, a recap, a fallback, a kill and an interjected word, nothing that is sent
 * is refused.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createRedactor } from '../src/domain/secrets/redact.ts'
import { keptAliveFetch } from '../src/models/transport/fetch.ts'
import { temporaryHome, type BoxOptions } from '../src/testing/host/host-fixture.ts'
import {
  startModelServer,
  type ModelServer,
  type ServerAnswer,
  type ServerScript,
} from '../src/testing/model-server/server.ts'
import { adapters, openAdapter } from '../src/testing/model-server/client.ts'
import { virtualClock } from '../src/testing/virtual-clock.ts'
import { longFile, smallWindow } from './crash/compaction.ts'
import { openStage, type Stage } from './support/stage.ts'

/** On each wire the model that has the most rules. */
const names = {
  chat_completions: 'a-local-model',
  responses: 'gpt-5.2',
  messages: 'claude-opus-5-5',
  google: 'gemini-3-pro-preview',
}
type Spoken = (typeof adapters)[number] & { wire: string; router?: true }
const wires: readonly Spoken[] = adapters.flatMap((adapter) => {
  const { endpoint } = adapter
  const spoken: Spoken = { ...adapter, name: names[endpoint], wire: endpoint }
  if (endpoint !== 'chat_completions') return [spoken]
  return [spoken, { ...spoken, name: 'a/routed-model', wire: 'a router', router: true }]
})
/** Whether its thoughts have a mark, by which they are seen to come back. */
const signs = ({ endpoint, router }: Spoken): boolean => endpoint !== 'chat_completions' || !!router

type Scene = { server: ModelServer; stage: Stage; ids: Record<string, string> }

async function open(
  t: TestContext,
  wire: Spoken,
  script: ServerScript,
  options: Partial<BoxOptions> & { fallback?: Spoken } = {},
): Promise<Scene> {
  const router = wire.router ?? options.fallback?.router ?? false
  const server = await startModelServer(script, { router })
  const client = keptAliveFetch()
  t.after(async () => {
    client.close()
    await server.close()
  })
  return { ...(await restage(t, server, wire, options)), server }
}

/** A host over a home, new or left behind, that speaks to `server`. */
async function restage(
  t: TestContext,
  server: ModelServer,
  wire: Spoken,
  { fallback, ...options }: Partial<BoxOptions> & { fallback?: Spoken } = {},
) {
  const clock = virtualClock()
  const client = keptAliveFetch()
  t.after(() => client.close())
  const opening = { base_url: server.base_url, fetch: client.fetch, clock }
  const models: Record<string, Awaited<ReturnType<typeof openAdapter>>['model']> = {}
  const ids: Record<string, string> = {}
  for (const each of fallback ? [wire, fallback] : [wire]) {
    const { model, id } = await openAdapter(each, opening)
    models[id] = model
    ids[each.endpoint] = id
  }
  const model = ids[wire.endpoint] ?? ''
  const fallback_model = fallback ? ids[fallback.endpoint] : undefined
  const setting = { model, ...(fallback_model === undefined ? {} : { fallback_model }) }
  const stage = await openStage(t, { ...options, models, clock, setting })
  return { stage, ids }
}

const look = (path = 'long.txt') => ({ name: 'ReadFile', input: { path } })
const thinks = (n: number): ServerAnswer => ({
  parts: [{ reasoning: `Thought ${n}.` }, { text: `Reading ${n}.` }, look()],
})

const endings = async (stage: Stage) =>
  (await stage.rows('turns')).map(({ state, outcome }) => `${state} ${outcome}`)

const textOf = (server: ModelServer, n: number): string =>
  JSON.stringify(server.requests.find((request) => request.n === n)?.body)

/** What is asked for of thinking, on each wire. */
const effortIn = /"(effort|reasoning_effort|thinkingLevel)":"medium"/

/** Marks of thoughts that went back with request `n`. */
const marks = (server: ModelServer, n: number): string[] =>
  textOf(server, n).match(/(sig|enc)_\d+[_\d]*/g) ?? []

/** Whether request `n` has a thought of answer `of`. */
const hasMarkOf = (server: ModelServer, n: number, of: number): boolean =>
  marks(server, n).some((mark) => mark.split('_')[1] === String(of))

async function whole(scene: { server: ModelServer; stage: Stage }, outcome = 'completed') {
  assert.deepEqual(scene.server.violations, [], 'a provider would have refused a request')
  assert.deepEqual(await endings(scene.stage), [`ended ${outcome}`])
  await scene.stage.sound()
}

const separators: readonly (readonly [string, ServerAnswer['parts']])[] = [
  ['an empty text', [{ reasoning: 'One.' }, { text: '' }, { reasoning: 'Two.' }]],
  ['two empty lines', [{ reasoning: 'One.' }, { text: '\n\n' }, { reasoning: 'Two.' }]],
  [
    'an empty text before a hidden thought',
    [{ reasoning: 'One.' }, { text: '' }, { reasoning: 'Two.', hidden: true }],
  ],
  [
    'omitted thoughts with an empty text',
    [{ reasoning: '' }, { text: '' }, { reasoning: '' }, { text: 'So.' }],
  ],
]
const anthropic = wires.find(({ endpoint }) => endpoint === 'messages')
assert.ok(anthropic)

for (const [what, parts = []] of separators) {
  test(`messages: ${what} between two thoughts goes back in its place`, async (t) => {
    const scene = await open(t, anthropic, ({ n }) =>
      n <= 2 ? { parts: [...parts, look()] } : { text: 'Done.' },
    )
    await scene.stage.say('Begin.')
    assert.equal(scene.server.requests.length, 3)
    await whole(scene)
  })
}

for (const wire of wires) {
  test(`${wire.wire}: thoughts, texts and calls in any order go back as they came`, async (t) => {
    const answers: readonly ServerAnswer[] = [
      { parts: [{ reasoning: 'A.' }, look('a'), { reasoning: 'B.' }, { text: 'B' }, look('b')] },
      { parts: [{ text: 'First.' }, { reasoning: 'C.' }, look('c'), look('d')] },
      { parts: [look('e')] },
    ]
    const scene = await open(t, wire, ({ n }) => answers[n - 1] ?? { text: 'Done.' })
    await scene.stage.say('Begin.')
    const back = textOf(scene.server, 4)
    const kept = {
      chat_completions: ['A.B.', 'C.'],
      responses: ['enc_1_1', 'enc_1_3', 'enc_2_2'],
      messages: ['sig_1_1', 'sig_1_3', 'sig_2_2'],
      google: ['sig_1', 'sig_2', 'B.', 'C.'],
    }
    const wanted = wire.router ? kept.messages : kept[wire.endpoint]
    for (const mark of wanted) assert.ok(back.includes(mark), `${mark} went back`)
    await whole(scene)
  })

  test(`${wire.wire}: after a recap the thoughts of the rounds that stay are no error`, async (t) => {
    const { home, workspace } = temporaryHome(t)
    longFile(workspace)
    // Two rounds more, so that what was kept and what came since go back together.
    let behind = 0
    const script: ServerScript = ({ n, messages_text }) => {
      if (messages_text.includes('recap of rounds 1 to')) behind += 1
      assert.ok(n < 60, 'it was never compacted')
      return behind < 3 ? thinks(n) : { text: 'Done.' }
    }
    const options = { home, workspace, context_window: smallWindow }
    const scene = await open(t, wire, script, options)
    await scene.stage.say('Begin.')
    assert.equal(behind, 3)
    const last = scene.server.requests.length
    assert.ok(!hasMarkOf(scene.server, last, 1), 'what the recap covers is gone')
    assert.equal(hasMarkOf(scene.server, last, last - 1), signs(wire))
    await whole(scene)
  })

  test(`${wire.wire}: another model takes over in the middle`, async (t) => {
    for (const fallback of wires.filter(({ endpoint }) => endpoint !== wire.endpoint)) {
      const broke = { kind: 'status', status: 402, message: 'No credit.' } as const
      const script: ServerScript = ({ n, endpoint }) => {
        if (n <= 2) return thinks(n)
        if (endpoint === wire.endpoint) return { fault: broke }
        return n <= 5 ? thinks(n) : { text: 'Done.' }
      }
      const scene = await open(t, wire, script, { fallback })
      await scene.stage.say('Begin.')
      assert.equal(scene.server.requests.at(-1)?.endpoint, fallback.endpoint)
      const last = scene.server.requests.length
      for (const n of [1, 2]) assert.ok(!hasMarkOf(scene.server, last, n), 'no thought of another')
      await whole(scene)
    }
  })

  test(`${wire.wire}: killed in an answer, it goes on in a new process`, async (t) => {
    const { home, workspace } = temporaryHome(t)
    const script: ServerScript = ({ n }) => {
      if (n === 3) return { ...thinks(3), fault: 'hang' }
      return n <= 5 ? thinks(n) : { text: 'Done.' }
    }
    const first = await open(t, wire, script, { home, workspace })
    await first.stage.act({ do: 'send', text: 'Begin.' })
    await first.server.answered(3)
    await first.stage.box.close()
    const { stage } = await restage(t, first.server, wire, { home, workspace })
    await stage.rest()
    assert.equal(first.server.requests.length, 6)
    const back = [1, 2, 4, 5].map((n) => hasMarkOf(first.server, 6, n))
    assert.deepEqual(
      back,
      back.map(() => signs(wire)),
      'also the thoughts from before',
    )
    await whole({ server: first.server, stage })
  })

  test(`${wire.wire}: a word that comes in between joins the results`, async (t) => {
    const script: ServerScript = async ({ n }) => {
      if (n === 2) await scene.stage.act({ do: 'send', text: 'Also.', priority: 'interject' })
      return n <= 3 ? thinks(n) : { text: 'Done.' }
    }
    const scene: Scene = await open(t, wire, script)
    await scene.stage.say('Begin.')
    assert.match(textOf(scene.server, 3), /Also\./)
    await whole(scene)
  })

  test(`${wire.wire}: names and ids that no declaration could have go back in a form that all take`, async (t) => {
    const name = 'functions.Read File'
    const answers: readonly ServerAnswer[] = [
      { calls: [{ name, input: {} }, look()], fault: 'odd_ids' },
      { calls: [{ name: '…', input: {} }, look()], fault: 'odd_ids' },
    ]
    const scene = await open(t, wire, ({ n }) => answers[n - 1] ?? { text: 'Done.' })
    await scene.stage.say('Begin.')
    const [first] = await scene.stage.rows('calls')
    assert.equal(first?.tool_name, name, 'the record has what the model said')
    assert.equal(scene.server.requests.length, 3)
    await whole(scene)
  })

  test(`${wire.wire}: thoughts that are refused are left out, once, and for the whole turn`, async (t) => {
    const message = 'messages.1.content.0: Invalid `signature` in `thinking` block'
    const refusal = { kind: 'status', status: 400, message } as const
    const script: ServerScript = ({ n }) => {
      if (n === 3) return { fault: refusal }
      return n <= 5 ? thinks(n) : { text: 'Done.' }
    }
    const scene = await open(t, wire, script, { effort: 'medium' })
    await scene.stage.say('Begin.')
    const asked = scene.server.requests.map(({ n }) => effortIn.test(textOf(scene.server, n)))
    assert.deepEqual(asked, [true, true, true, false, false, false], 'the same until then')
    const went = scene.server.requests.map(({ n }) => marks(scene.server, n).length > 0)
    const hasMarks = signs(wire)
    assert.deepEqual(went, [false, hasMarks, hasMarks, false, false, false])
    assert.doesNotMatch(textOf(scene.server, 4), /Thought \d/)
    await whole(scene)
  })

  test(`${wire.wire}: a request refused also without its thoughts ends the turn`, async (t) => {
    const refusal = { kind: 'status', status: 400, message: 'Invalid signature.' } as const
    const script: ServerScript = ({ n }) => (n === 1 ? thinks(1) : { fault: refusal })
    const scene = await open(t, wire, script)
    await scene.stage.say('Begin.')
    assert.equal(scene.server.requests.length, 3)
    await whole(scene, 'failed')
  })

  test(`${wire.wire}: a secret's value in a thought does not break what goes back`, async (t) => {
    const { redactor } = createRedactor([{ name: 'db', value: 'Postgres-1234567' }])
    const secret: ServerAnswer = {
      parts: [{ reasoning: 'It is Postgres-1234567, surely.' }, { text: 'Hm.' }, look()],
    }
    const scene = await open(
      t,
      wire,
      ({ n }) => (n === 1 ? thinks(1) : n === 2 ? secret : { text: 'Done.' }),
      { redactor },
    )
    await scene.stage.say('Begin.')
    assert.doesNotMatch(textOf(scene.server, 3), /Postgres/)
    assert.equal(
      marks(scene.server, 3).some((mark) => /_1/.test(mark)),
      signs(wire),
    )
    assert.ok(!marks(scene.server, 3).some((mark) => /^(sig|enc)_2/.test(mark)))
    await whole(scene)
  })
}

const google = wires.find(({ endpoint }) => endpoint === 'google')
assert.ok(google)

test('google: a call that could not be read is asked for again with its reason, then told', async (t) => {
  const scene = await open(t, google, ({ n }) =>
    n === 1 ? { finish: 'unreadable_call' } : { text: 'Done.' },
  )
  await scene.stage.say('Begin.')
  assert.match(textOf(scene.server, 2), /ended with UNEXPECTED_TOOL_CALL: the call in it could not/)
  await whole(scene)
  await scene.stage.say('Again.')
  assert.deepEqual(await endings(scene.stage), ['ended completed', 'ended completed'])

  const twice = await open(t, google, () => ({ finish: 'unreadable_call' }))
  await twice.stage.say('Begin.')
  assert.equal(twice.server.requests.length, 2)
  const text =
    'google/gemini-3-pro-preview made calls that its provider could not read ' +
    '(UNEXPECTED_TOOL_CALL), twice in a row.'
  assert.deepEqual(await twice.stage.briefs(), [{ kind: 'failure', text }])
  await whole(twice, 'failed')
})

test('messages: a refusal in the answer is told with its reason, and no call of it runs', async (t) => {
  const scene = await open(t, anthropic, () => ({
    text: 'Half',
    calls: [look()],
    finish: 'content_filter',
  }))
  await scene.stage.say('Begin.')
  const text =
    'anthropic/claude-opus-5-5 ended its answer by its policy (refusal: cyber). ' +
    'Change what is asked, or the model.'
  assert.deepEqual((await scene.stage.briefs()).at(-1), { kind: 'failure', text })
  const [call] = await scene.stage.rows('calls')
  assert.equal(call?.result?.status === 'error' && call.result.error.code, 'withheld')
  await whole(scene, 'failed')
})

test('messages: an answer cut behind its calls is told that it was cut', async (t) => {
  const scene = await open(t, anthropic, ({ n }) =>
    n === 1 ? { calls: [look()], finish: 'length' } : { text: 'Done.' },
  )
  await scene.stage.say('Begin.')
  assert.match(textOf(scene.server, 2), /cut off at the output limit behind these calls/)
  await whole(scene)
})
