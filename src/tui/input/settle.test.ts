// What needs a person is settled on the screen: by one key, with what it asks for.
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { actOn, agentAs, offered, raiseBudget, type Action } from '../../protocol/actions/action.ts'
import type { Attention } from '../../protocol/views/attention.ts'
import { anAgentRecord, anEntry } from '../../testing/screens/home.ts'
import { aState } from '../../testing/screens/state.ts'
import { openSession, press, type, until } from '../../testing/screens/tui-session.ts'
import type { Answers } from '../../testing/screens/tui-stage.ts'

const now = '2026-11-21T14:05:00.000Z'
const item = { agent_id: 'ops', id: 'work_0001' }

type Given = { kind: Attention['kind']; acts: readonly Action[]; answers?: Answers }

/** A home in which one entry needs a person, with its row selected. */
async function opened(t: TestContext, { kind, acts, answers = {} }: Given) {
  const away = [actOn('snooze', 'put it away', item), actOn('dismiss', 'dismiss it', item)]
  const can = [...acts, ...away].map((one) => offered(one))
  const work_item_id = kind === 'held' || kind === 'arrived' ? null : 'work_0001'
  const entry = anEntry('work_0001', kind, 'ops', 'It stands.', { work_item_id, can })
  const state = () =>
    aState({
      now,
      attention: [entry],
      attention_total: 1,
      agents: [anAgentRecord('ops', { model: 'openai/gpt-5.2' })],
    })
  const at = await openSession(t, state, { answers })
  press(at.session, 'n')
  return at
}
type Opened = Awaited<ReturnType<typeof opened>>

const changes = ({ stage }: Opened) => stage.asked.filter(({ method }) => method !== 'GET')
const said = (at: Opened) => until(at.session, () => at.session.model.notice !== null)

describe('a settles what needs you', () => {
  const budgets: readonly [what: 'usd' | 'rounds', words: string, body: object][] = [
    ['usd', '2.50', { budget: { max_usd: 2.5 } }],
    ['rounds', '40', { budget: { max_rounds: 40 } }],
  ]
  for (const [what, words, body] of budgets) {
    test(`a budget of ${what} is raised by the number that is asked for`, async (t) => {
      const acts = [raiseBudget(item, [{ what, used: 2, limit: 1 }])]
      const at = await opened(t, { kind: 'budget', acts })
      assert.match(at.text(), /a raise its budget/)
      press(at.session, 'a')
      type(at.session, 'much')
      press(at.session, 'enter')
      assert.match(at.text(), /> much[\s\S]*it is (dollars|rounds) in all/)
      press(at.session, 'ctrl+u')
      type(at.session, words)
      press(at.session, 'enter')
      await said(at)
      assert.deepEqual(changes(at), [
        { method: 'PATCH', path: '/agents/ops/work-items/work_0001', body },
      ])
    })
  }

  test('a deadline is moved by a span from now on', async (t) => {
    const acts = [raiseBudget(item, [{ what: 'deadline', limit: now }])]
    const at = await opened(t, { kind: 'budget', acts })
    press(at.session, 'a')
    type(at.session, '2h')
    press(at.session, 'enter')
    await said(at)
    const deadline = '2026-11-21T16:05:00.000Z'
    assert.deepEqual(changes(at)[0]?.body, { budget: { deadline } })
  })

  test('the budget of an agent, and a model that it lacks, are asked for', async (t) => {
    const configures = actOn('configure_agent', 'raise its budget', agentAs('lead'))
    for (const [flag, words, body] of [
      ['--max-usd <n>', '5', { budget: { all: { max_usd: 5 } } }],
      ['--model <provider/model>', 'a/b', { model: 'a/b' }],
    ] as const) {
      const acts = [{ ...configures, cli: `${configures.cli} ${flag}` }]
      const at = await opened(t, { kind: 'held', acts })
      press(at.session, 'a')
      type(at.session, words)
      press(at.session, 'enter')
      await said(at)
      assert.deepEqual(changes(at), [{ method: 'PATCH', path: '/agents/lead', body }])
    }
  })

  test('a blocked item goes on, and a stopped agent starts, at once', async (t) => {
    const blocked = await opened(t, {
      kind: 'blocked',
      acts: [actOn('unblock', 'let it go on', item)],
    })
    assert.match(blocked.text(), /a let it go on/)
    press(blocked.session, 'a')
    await said(blocked)
    const starts = [actOn('start_agent', 'start the agent', agentAs('ops'))]
    const stopped = await opened(t, { kind: 'arrived', acts: starts })
    press(stopped.session, 'a')
    await said(stopped)
    assert.deepEqual(
      [...changes(blocked), ...changes(stopped)],
      [
        {
          method: 'PATCH',
          path: '/agents/ops/work-items/work_0001',
          body: { blocked_by: null },
        },
        { method: 'POST', path: '/agents/ops/start', body: null },
      ],
    )
  })

  test('an agent that its provider refuses is tried again, or given a key in the terminal', async (t) => {
    const acts = [actOn('start_agent', 'try again, once it is settled', agentAs('ops'))]
    const at = await opened(t, { kind: 'held', acts })
    press(at.session, 'a')
    assert.match(at.text(), /1 {2}try again[\s\S]*2 {2}give it a key or another model/)
    at.session.key('2', '2')
    // Keys that were on their way when it opened are not taken.
    assert.match(at.text(), /nothing is chosen yet/)
    await at.stage.clock.advance(500)
    press(at.session, '2')
    const ended = at.session.run()
    press(at.session, 'enter')
    assert.equal(await ended, 'set_up')
  })

  test('the palette raises a budget, lets an item go on and changes its objective', async (t) => {
    for (const [words, key, body] of [
      ['its budget', '7', { budget: { max_usd: 7 } }],
      ['go on', '', { blocked_by: null }],
      ['change its', 'Mend it', { objective: 'Mend it' }],
    ] as const) {
      const at = await opened(t, { kind: 'blocked', acts: [actOn('unblock', 'go on', item)] })
      press(at.session, ':')
      type(at.session, words)
      press(at.session, 'enter')
      if (key !== '') {
        type(at.session, key)
        press(at.session, 'enter')
      }
      await said(at)
      assert.deepEqual(changes(at), [
        { method: 'PATCH', path: '/agents/ops/work-items/work_0001', body },
      ])
    }
  })
})

test('words sent from home have their receipt at its foot, and keys are keys again', async (t) => {
  const receipt = { accepted_at: now, turn_id: null, request_id: null, said: 'it waits' }
  const answers: Answers = {
    '/agents/ops/messages': { message_id: 'msg_0001' },
    '/agents/ops/messages/msg_0001': () => ({ receipt }),
  }
  const at = await opened(t, { kind: 'blocked', acts: [], answers })
  press(at.session, 'C')
  type(at.session, 'hello')
  press(at.session, 'enter')
  assert.match(at.text(), /\? help$/)
  await until(at.session, () => at.text().includes('sent to ops: it waits'))
  press(at.session, '+')
  assert.match(at.text(), /a new item for ops/)
  press(at.session, 'esc', '3')
  assert.doesNotMatch(at.text(), /sent to ops/)
})
