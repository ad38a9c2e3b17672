// The adapter over a session in memory: what it orders, and what becomes of what is said.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acpModel } from './acp.ts'
import type { AcpEnd, AcpEvent, AcpPlace, AcpPort, AcpQuestion, AcpWords } from '../../ports/acp.ts'
import type { ModelMessage } from '../../ports/model-message.ts'
import type { AgentSession, ModelEvent, ModelOutcome, ModelRequest } from '../model.ts'

const program = { command: 'agent', args: [], env: { pass: [], set: {} } }
const question: AcpQuestion = {
  permission_id: 'perm_1',
  title: 'Write a file',
  options: [
    { option_id: 'y', name: 'Allow', kind: 'allow_once' },
    { option_id: 'n', name: 'Skip', kind: 'reject_once' },
  ],
}
const asked: AcpEnd = { state: 'asked', question }
const done: AcpEnd = { state: 'ended', stop: 'end_turn' }
const died = (message = 'it ended'): AcpEnd => ({ state: 'failed', code: 'agent_ended', message })

/** Says what `script` has for each request; keeps what became of it, as a journal does. */
function session(
  script: (id: string, words: AcpWords) => AcpEvent[],
  open: AcpQuestion | null = null,
) {
  const legs = new Map<string, AcpEnd>()
  const ordered: [string, AcpWords][] = []
  const port: AcpPort & { ordered: typeof ordered; legs: typeof legs } = {
    ordered,
    legs,
    finds: () => true,
    look: async () => ({ question: open, leg: (id) => legs.get(id) ?? null }),
    async *follow(_place: AcpPlace, id: string, words: AcpWords) {
      if (!legs.has(id)) ordered.push([id, words])
      for (const event of script(id, words)) {
        if (event.type === 'over') legs.set(id, event.end)
        yield event
      }
    },
  }
  return port
}

const over = (end: AcpEnd): AcpEvent => ({ type: 'over', end })
const says = (text: string): AcpEvent => ({ type: 'text', text })

function requestOf(
  given: Partial<AgentSession> = {},
  more: Partial<ModelRequest> = {},
): ModelRequest {
  return {
    model: 'acp/other',
    system: 'Not for it.',
    tools: [],
    tool_choice: 'auto',
    messages: [{ role: 'user', content: 'All that is known.' }],
    max_output_tokens: null,
    situation: null,
    agent_session: {
      request_id: 'turn_1:1',
      task_id: 'task_1',
      workdir: '/w',
      input: 'Do it.',
      answer: null,
      ...given,
    },
    ...more,
  }
}

const signal = new AbortController().signal
const ask = (port: AcpPort, request = requestOf()): Promise<ModelOutcome> =>
  acpModel('other', program, port).request(request, { signal })

/** The texts of a round, or the fault in few words. */
function short(outcome: ModelOutcome): unknown {
  if (!outcome.ok) return `${outcome.fault.kind} ${outcome.fault.code}: ${outcome.fault.message}`
  const { parts, finish } = outcome.round
  return [...parts.map((part) => (part.type === 'tool_call' ? part.input_json : part.text)), finish]
}

test('a turn of the agent is a round: its words, its thoughts, and an account of its own tools', async () => {
  const tool = { tool_call_id: 'c1', kind: null, title: null, locations: [] }
  const events: ModelEvent[] = []
  const port = session(() => [
    { type: 'thought', text: 'Hm.' },
    says('I '),
    {
      type: 'tool_call',
      ...tool,
      title: 'Edit a',
      kind: 'edit',
      status: 'pending',
      locations: ['/w/a:3'],
    },
    { type: 'tool_call_update', ...tool, status: 'completed' },
    { type: 'plan', entries: [{ content: 'Test it', status: 'pending' }] },
    says('did it.'),
    over(done),
  ])
  const model = acpModel('other', program, port)
  const outcome = await model.request(requestOf(), {
    signal,
    on_event: (event) => events.push(event),
  })
  const unknown = {
    input_tokens: null,
    output_tokens: null,
    reasoning_tokens: null,
    cached_input_tokens: null,
    cache_write_tokens: null,
  }
  const account =
    'What the agent did with its own tools:\n- Edit a (edit, completed, /w/a:3)\nIts plan:\n- pending: Test it'
  assert.deepEqual(outcome, {
    ok: true,
    round: {
      parts: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'I did it.' },
        { type: 'text', text: account },
      ],
      finish: 'stop',
      usage: unknown,
      model: 'acp/other',
      response_id: null,
    },
  })
  assert.deepEqual(events, [
    { type: 'reasoning_delta', text: 'Hm.' },
    { type: 'text_delta', text: 'I ' },
    { type: 'tool_call_started', tool_name: 'Edit a' },
    { type: 'alive' },
    { type: 'alive' },
    { type: 'text_delta', text: 'did it.' },
  ])
  const after_loss = port.ordered[0]?.[1].kind === 'prompt' ? port.ordered[0][1].after_loss : ''
  assert.deepEqual(port.ordered, [['turn_1.1', { kind: 'prompt', text: 'Do it.', after_loss }]])
  assert.match(after_loss, /could not be restored[^]*\n\nAll that is known\.\n\nDo it\.$/)
})

test('a question becomes a wait for the operator with its options; without tools it is only said', async () => {
  const port = () => session(() => [says('Well.'), over(asked)])
  const reason =
    'Permission asked: Write a file\nOptions:\n1 Allow (allow_once)\n2 Skip (reject_once)'
  const named = { wake: 'operator_input', source: 'permission', resource: 'perm_1' }
  const input = { ...named, reason, question: reason }
  assert.deepEqual(short(await ask(port())), ['Well.', JSON.stringify(input), 'tool_calls'])
  const report = requestOf({}, { tool_choice: 'none' })
  assert.deepEqual(short(await ask(port(), report)), ['Well.', reason, 'stop'])
})

test('only the answer to the open question, in the first round of its turn, can allow anything', async () => {
  const refused =
    '[Note: the permission you asked for is not given. What follows is the answer.]\n\nDo it.'
  const voided =
    /^\[Note: what follows answers a permission you asked for\. That request is void[^]*\n\nDo it\.$/
  const answer = (text: string, permission_id = 'perm_1') => ({ answer: { permission_id, text } })
  const later: ModelMessage[] = [
    { role: 'user', content: 'All.' },
    { role: 'assistant', parts: [{ type: 'text', text: 'Yes?' }] },
    { role: 'user', content: 'yes' },
  ]
  const cases: [string, ModelRequest, AcpQuestion | null, RegExp | string | number][] = [
    ['a yes', requestOf(answer('yes')), question, 1],
    ['a no', requestOf(answer('no')), question, 2],
    ['other words', requestOf(answer('yes, but in b')), question, refused],
    ['a yes to another question', requestOf(answer('yes', 'perm_0')), question, voided],
    ['a yes that came too late', requestOf(answer('yes')), null, voided],
    ['a yes that is no answer', requestOf({ input: 'yes' }), question, 'yes'],
    ['a yes of an earlier round', requestOf(answer('yes'), { messages: later }), question, 'yes'],
  ]
  for (const [name, request, open, expected] of cases) {
    const port = session(() => [over(done)], open)
    await ask(port, request)
    const [, words] = port.ordered[0] ?? []
    if (typeof expected === 'number') {
      assert.deepEqual(words, { kind: 'answer', permission_id: 'perm_1', option: expected }, name)
    } else {
      assert(words?.kind === 'prompt', name)
      if (typeof expected === 'string') assert.equal(words.text, expected, name)
      else assert.match(words.text, expected, name)
    }
  }
})

test('without anything new the open question is asked again, and the agent is left alone', async () => {
  const port = session(() => [over(done)], question)
  const outcome = await ask(port, requestOf({ input: '' }))
  assert(outcome.ok)
  assert.equal(outcome.round.finish, 'tool_calls')
  assert.deepEqual(port.ordered, [])
})

test('the same request again is followed, not asked again', async () => {
  const port = session(() => [says('Once.'), over(done)])
  assert.deepEqual(await ask(port), await ask(port))
  assert.equal(port.ordered.length, 1)
})

test('an answer that came too late is told to the agent as words', async () => {
  const request = requestOf({ answer: { permission_id: 'perm_1', text: 'yes' } })
  const port = session(
    (_, words) => [
      over(words.kind === 'answer' ? { state: 'refused', why: 'nobody asks that' } : done),
    ],
    question,
  )
  assert.equal(short(await ask(port, request)), 'world conflict: acp/other: nobody asks that.')
  port.look = async () => ({ question: null, leg: (id) => port.legs.get(id) ?? null })
  await ask(port, request)
  assert.deepEqual(
    port.ordered.map(([id, words]) => [id, words.kind]),
    [
      ['turn_1.1', 'answer'],
      ['turn_1.1.2', 'prompt'],
    ],
  )
})

test('after the agent ended in the middle it is asked again with a note, and not for ever', async () => {
  const port = session(() => [over(died())])
  const all: unknown[] = []
  for (let times = 1; times <= 8; times += 1) all.push(short(await ask(port)))
  const broken = 'world stream_broken: acp/other: it ended.'
  const spent = 'refused bad_request: acp/other: it ended.'
  assert.deepEqual(all, [...Array.from({ length: 6 }, () => broken), spent, spent])
  const [first, second] = port.ordered.map(([, words]) =>
    words.kind === 'prompt' ? words.text : '',
  )
  assert.equal(first, 'Do it.')
  assert.match(second ?? '', /^\[Note: your process ended while you worked [^]*\n\nDo it\.$/)
})

test('each way to fail has its kind: who can help, and whether the same again makes sense', async () => {
  const codes = [
    'not_started',
    'wrong_protocol',
    'needs_login',
    'garbage',
    'agent_ended',
    'silent',
    'agent_error',
    'agent_refused',
    'too_much',
    'driver_lost',
  ] as const
  const found = await Promise.all(
    codes.map(async (code) => {
      const outcome = await ask(session(() => [over({ state: 'failed', code, message: 'Why.' })]))
      assert(!outcome.ok)
      const { kind, retryable } = outcome.fault
      return [code, kind, outcome.fault.code, retryable]
    }),
  )
  assert.deepEqual(found, [
    ['not_started', 'setup', 'unknown_model', false],
    ['wrong_protocol', 'setup', 'unknown_model', false],
    ['needs_login', 'setup', 'unauthorized', false],
    ['garbage', 'refused', 'bad_request', false],
    ['agent_ended', 'world', 'stream_broken', true],
    ['silent', 'world', 'stream_hung', true],
    ['agent_error', 'world', 'server_error', true],
    ['agent_refused', 'refused', 'bad_request', false],
    ['too_much', 'refused', 'bad_request', false],
    ['driver_lost', 'world', 'stream_broken', true],
  ])
})

test('each end of a turn has its finish, and one without words says so', async () => {
  const stops = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'] as const
  const found = await Promise.all(
    stops.map(async (stop) => short(await ask(session(() => [over({ state: 'ended', stop })])))),
  )
  assert.deepEqual(found, [
    ['(The agent ended its turn without a word: end_turn.)', 'stop'],
    ['(The agent ended its turn without a word: max_tokens.)', 'length'],
    ['(The agent ended its turn without a word: max_turn_requests.)', 'other'],
    ['(The agent ended its turn without a word: refusal.)', 'content_filter'],
    ['(The agent ended its turn without a word: cancelled.)', 'other'],
  ])
})

test('an abort is answered at once, and leaves the agent at work', async () => {
  const abort = new AbortController()
  const port = session(() => [])
  const reached = Promise.withResolvers<void>()
  port.follow = async function* () {
    yield says('Working')
    reached.resolve()
    await new Promise(() => {})
  }
  const events: ModelEvent[] = []
  const on_event = (event: ModelEvent) => events.push(event)
  const asking = acpModel('other', program, port).request(requestOf(), {
    signal: abort.signal,
    on_event,
  })
  await reached.promise
  abort.abort()
  assert.equal(short(await asking), 'aborted aborted: The request was aborted.')
  assert.deepEqual(events, [{ type: 'text_delta', text: 'Working' }])
})

test('a machine that fails as the request is aborted is an abort', async () => {
  const abort = new AbortController()
  const port = session(() => [])
  port.look = () => {
    abort.abort()
    throw new Error('gone')
  }
  const outcome = await acpModel('other', program, port).request(requestOf(), {
    signal: abort.signal,
  })
  assert.equal(short(outcome), 'aborted aborted: The request was aborted.')
})

test('an agent without a supervising task, and a machine that fails, are faults and no throws', async () => {
  const { agent_session: _, ...bare } = requestOf()
  assert.equal(
    short(
      await ask(
        session(() => []),
        bare,
      ),
    ),
    'refused bad_request: acp/other runs only as a child that an agent has spawned.',
  )
  const failing = (retry: string) => {
    const port = session(() => [])
    port.look = () => Promise.reject(Object.assign(new Error('no room'), { retry }))
    return port
  }
  assert.equal(short(await ask(failing('later'))), 'world network: acp/other: no room.')
  assert.equal(short(await ask(failing('never'))), 'refused bad_request: acp/other: no room.')
})
