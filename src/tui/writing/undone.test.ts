/**
 * Words that were sent and not taken, from every box and for every way in which an answer may fail:
 * what the screen says of them, where they are then, and what a second enter sends.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { designedState } from '../../testing/screens/home.ts'
import { openSession, press, type, until } from '../../testing/screens/tui-session.ts'
import { silent } from '../../testing/screens/tui-stage.ts'
import { draftKey } from '../model/draft-key.ts'
import type { TuiModel, PromptPurpose } from '../model/model.ts'
import { whole } from './pastes.ts'
import { writingTo } from '../input/on-key.ts'

const problem = (status: number, code: string, detail: string) =>
  new Response(JSON.stringify({ code, detail }), { status, headers: { 'retry-after': '60' } })
const broken = (code: string) => () => {
  throw Object.assign(new Error(code), { code })
}

type Ending = { name: string; answer: unknown; isUnknown: boolean; says: RegExp }
const endings: Ending[] = [
  {
    name: 'no answer in time',
    answer: silent,
    isUnknown: true,
    says: /it may have arrived: no answer within 15 s/,
  },
  {
    name: 'a connection that breaks',
    answer: broken('ECONNRESET'),
    isUnknown: true,
    says: /it may have arrived: the connection failed/,
  },
  {
    name: 'an answer that nobody can read',
    answer: () => new Response('<html>'),
    isUnknown: true,
    says: /it may have arrived: it answered 200 without JSON/,
  },
  {
    name: 'a bug behind the commit',
    answer: () => problem(500, 'internal', 'It broke.'),
    isUnknown: true,
    says: /it may have arrived: It broke/,
  },
  {
    name: 'a standby',
    answer: () => problem(503, 'unresponsive', 'The daemon has not answered for 9 s.'),
    isUnknown: false,
    says: /The daemon has not answered/,
  },
  {
    name: 'nobody who listens',
    answer: broken('ECONNREFUSED'),
    isUnknown: false,
    says: /nothing listens there/,
  },
  {
    name: 'a refusal',
    answer: () => problem(409, 'turn_running', 'A turn runs.'),
    isUnknown: false,
    says: /A turn runs/,
  },
]

/** A box that sends words; `find` sends none. */
type Box = Exclude<PromptPurpose['for'], 'find'>
const [agent_id, work_item_id] = ['default', 'work_7f3a']
const boxes: Record<Box, { prompt: PromptPurpose; words: string; path: string; isKeyed: boolean }> =
  {
    message: {
      prompt: { for: 'message', target: { agent_id, work_item_id }, delivery: 'next' },
      words: 'use the red one',
      path: '/agents/default/messages',
      isKeyed: true,
    },
    new_item: {
      prompt: { for: 'new_item', agent_id },
      words: 'Paint it',
      path: '/agents/default/work-items',
      isKeyed: true,
    },
    answer: {
      prompt: { for: 'answer', agent_id: 'release', wait_id: 'wait_3c1e', bound_hash: '9b2c41' },
      words: 'the second',
      path: '/agents/release/waits/wait_3c1e/answer',
      isKeyed: true,
    },
    refusal: {
      prompt: { for: 'refusal', agent_id, task_id: 'task_0001', bound_hash: '9b2c41' },
      words: 'use a branch',
      path: '/agents/default/tasks/task_0001/answer',
      isKeyed: true,
    },
    task_input: {
      prompt: { for: 'task_input', agent_id, task_id: 'task_0001' },
      words: 'yes',
      path: '/agents/default/tasks/task_0001/input',
      isKeyed: true,
    },
    focus: {
      prompt: { for: 'focus', agent_id, work_item_id },
      words: 'it is due',
      path: '/agents/default/work-items/work_7f3a/pick',
      isKeyed: false,
    },
    budget: {
      prompt: { for: 'budget', agent_id, work_item_id, limit: 'max_usd' },
      words: '2.50',
      path: '/agents/default/work-items/work_7f3a',
      isKeyed: false,
    },
    model: {
      prompt: { for: 'model', agent_id },
      words: 'a/b',
      path: '/agents/default',
      isKeyed: false,
    },
    objective: {
      prompt: { for: 'objective', agent_id, work_item_id },
      words: 'Paint it red',
      path: '/agents/default/work-items/work_7f3a',
      isKeyed: false,
    },
    snooze: {
      prompt: { for: 'snooze', entry: 'wait_3c1e' },
      words: '2h',
      path: '/attention/wait_3c1e/snooze',
      isKeyed: false,
    },
  }

const open = (model: TuiModel, prompt: PromptPurpose): TuiModel => ({
  ...writingTo(model, prompt)[0],
  drafts: new Map(),
})
const wordsOf = ({ writing, drafts }: TuiModel, prompt: PromptPurpose): string | undefined =>
  writing !== null && draftKey(writing.prompt) === draftKey(prompt)
    ? whole(writing.text)
    : drafts.get(draftKey(prompt))

describe('words that are not taken come back whole, and say whether they may have arrived', () => {
  for (const [name, { prompt, words, path, isKeyed }] of Object.entries(boxes)) {
    for (const ending of endings) {
      test(`${name}: ${ending.name}`, async (t) => {
        const s = await openSession(t, designedState, { answers: { [path]: ending.answer } })
        const { session, stage } = s
        const send = async () => {
          session.model = open(session.model, prompt)
          press(session, 'ctrl+u')
          type(session, words)
          press(session, 'enter')
          const over = until(session, () => ending.says.test(session.model.notice?.text ?? ''))
          const state = { over: false }
          void over.then(() => (state.over = true))
          while (!state.over) await stage.clock.advance(500)
        }
        await send()
        assert.equal(wordsOf(session.model, prompt), words)
        const first = stage.keys.at(-1) ?? null
        assert.equal(typeof first, isKeyed ? 'string' : 'object')
        if (ending.name === 'nobody who listens') return
        session.send({ kind: 'input', input: { kind: 'link', link: { kind: 'live' } } })
        session.send({ kind: 'notice', notice: null })
        await send()
        assert.equal((stage.keys.at(-1) ?? null) === first, !isKeyed || ending.isUnknown)
      })
    }
  }
})

describe('a message while nothing answers', () => {
  const { prompt, words, path } = boxes.message
  const sent = async (t: Parameters<typeof openSession>[0], answer: () => unknown) => {
    const s = await openSession(t, designedState, { answers: { [path]: answer } })
    // In its thread the box stays open.
    const place = { at: 'item', agent_id, work_item_id, tab: 'thread' } as const
    s.session.send({ kind: 'place', place })
    s.session.model = open(s.session.model, prompt)
    type(s.session, words)
    press(s.session, 'enter')
    return s
  }

  test('is never called unsent while it is on its way', async (t) => {
    const { session, text } = await sent(t, () => silent)
    const link = { kind: 'stale', since: session.model.now } as const
    session.send({ kind: 'input', input: { kind: 'link', link } })
    assert.match(text(), /on its way: it may have arrived/)
    assert.doesNotMatch(text(), /not sent/)
  })

  test('sent again as it stands has its first key and body; other words are another message', async (t) => {
    let answer: unknown = silent
    const { session, stage, text } = await sent(t, () => answer)
    while (session.model.unsettled.size === 0) await stage.clock.advance(500)
    session.send({ kind: 'input', input: { kind: 'link', link: { kind: 'live' } } })
    assert.match(text(), /enter: again; it cannot arrive twice/)
    answer = { message_id: 'msg_0009' }
    press(session, 'tab', 'enter')
    await until(session, () => session.model.p?.sent.at(-1)?.state.kind === 'accepted')
    const posts = stage.asked.filter(({ method }) => method === 'POST')
    assert.deepEqual(posts[0], posts.at(-1))
    assert.deepEqual(new Set(stage.keys).size, 1)
    assert.equal(session.model.p?.sent.length, 1)
    type(session, words)
    press(session, 'enter')
    await until(session, () => session.model.p?.sent.at(-1)?.state.kind === 'accepted')
    assert.equal(new Set(stage.keys).size, 2)
  })

  test('without an answer for three seconds shows that the daemon gives none', async (t) => {
    let isSilent = false
    const state = () => designedState()
    const s = await openSession(t, state, {
      answers: {
        [path]: () => silent,
        '/state': () =>
          isSilent
            ? problem(503, 'unresponsive', 'The daemon has not answered for 9 s.')
            : designedState(),
      },
    })
    isSilent = true
    s.session.model = open(s.session.model, prompt)
    type(s.session, words)
    press(s.session, 'enter')
    await s.stage.clock.advance(2_900)
    assert.match(s.text(), /live \d/)
    await s.stage.clock.advance(100)
    await until(s.session, () => s.text().includes('NOT CONNECTED'))
    assert.match(s.text(), /The daemon has not answered for 9 s/)
  })
})
