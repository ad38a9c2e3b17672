// A home in which nothing is yet: the first words make the agent, and are never lost.
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { anAgentRecord, anItemRecord, designedState } from '../testing/screens/home.ts'
import { eventsOf } from '../testing/screens/scenes.ts'
import type { StoredEvent } from '../protocol/records/records.ts'
import { aState } from '../testing/screens/state.ts'
import { textOf } from './drawing/line.ts'
import { Session } from './session.ts'
import { openSession, press, type, until } from '../testing/screens/tui-session.ts'
import { aStage, options, silent, type Answers } from '../testing/screens/tui-stage.ts'

const opened = (t: TestContext, answers: Answers = {}, model: string | null = 'a/b') =>
  openSession(t, () => aState({ now: '2026-11-21T14:05:00.000Z', agents: [] }), {
    answers,
    options: { first: { ...options.first, model } },
  })

const problem = (status: number, code: string, detail: string) => () =>
  new Response(JSON.stringify({ code, detail }), { status })

const made = {
  method: 'POST',
  path: '/agents',
  body: { id: 'main', model: 'a/b', workspace: { mode: 'explicit_root', root: '/home/ada/app' } },
}
const accepted = { message_id: 'msg_0001' }

/** As the stream tells it. */
function said(): StoredEvent {
  const found = eventsOf('claimed').find(({ event }) => event.type === 'brief_delivered')
  assert.ok(found?.event.type === 'brief_delivered')
  const event = { ...found.event, text: 'Hello yourself.\nWell met.' }
  return { ...found, agent_id: 'main', at: '2026-11-21T13:05:00.000Z', event }
}

/** What was asked to be changed. */
const acts = ({ stage }: Awaited<ReturnType<typeof opened>>) =>
  stage.asked.filter(({ method }) => method === 'POST')

describe('the first words', () => {
  for (const key of ['3', 'c', 'C']) {
    test(`${key} makes the agent as holon run does, then says them to it`, async (t) => {
      const at = await opened(t, { '/agents': {}, '/agents/main/messages': accepted })
      press(at.session, key)
      type(at.session, 'hello')
      press(at.session, 'enter')
      await until(at.session, () => at.session.model.p?.sent[0]?.state.kind === 'accepted')
      assert.deepEqual(acts(at), [
        made,
        { method: 'POST', path: '/agents/main/messages', body: { text: 'hello' } },
      ])
    })
  }

  test('are followed: the thread of the agent opens, and what it said stands at home', async (t) => {
    let state = aState({ now: '2026-11-21T14:05:00.000Z', agents: [] })
    const at = await openSession(t, () => state, {
      answers: { '/agents': {}, '/agents/main/messages': accepted },
    })
    press(at.session, '3')
    type(at.session, 'hello')
    press(at.session, 'enter')
    await until(at.session, () => at.text().startsWith('main  agent'))
    assert.doesNotMatch(at.text(), /w why|p plan/)
    const main = anAgentRecord('main', { open_work_items: 0 })
    state = aState({ now: '2026-11-21T14:05:00.000Z', agents: [main], last_seq: 1 })
    at.session.send({ kind: 'state', state, url: '' })
    press(at.session, '1')
    assert.match(at.text(), /Nothing runs/)
    at.session.send({ kind: 'input', input: { kind: 'events', events: [said()] } })
    assert.match(at.text(), /AGENTS 1 ─+\n. main +Hello yourself\. +13:05/)
    assert.doesNotMatch(at.text(), /no work yet|Nothing runs/)
    press(at.session, 'enter')
    assert.match(at.text(), /^main {2}agent/)
  })

  test('go to who takes words, whatever row is selected, and its box says so', async (t) => {
    const runbooks = anAgentRecord('runbooks', { open_work_items: 0, model: 'runbook' })
    const [docs, main] = ['docs', 'main'].map((id) => anAgentRecord(id, { open_work_items: 0 }))
    assert.ok(docs !== undefined && main !== undefined)
    const rows: [agents: (typeof main)[], key: string, says: RegExp][] = [
      [[runbooks, main], 'c', /to main ─/],
      [[runbooks, main], '+', /a new item for main ─/],
      [[runbooks], 'c', /to main ─/],
      [[runbooks, docs], 'c', /to docs ─/],
      [[docs, main], '3', /to main ─/],
      // A row that nobody went to is not meant, and one of runbooks takes no words.
      [[docs, main], 'c', /to main ─/],
      [[docs, main], 'C', /to main ─/],
      [[docs, main], 'j c', /to docs ─/],
      [[docs, main], 'j C', /to docs ─/],
      [[runbooks, main], 'j c', /to main ─/],
      [[runbooks, main], 'j C', /to main ─/],
    ]
    const brief = { created_at: '2026-11-21T13:05:00.000Z', text: 'Hello yourself.' }
    for (const [agents, key, says] of rows) {
      const state = () => aState({ now: '2026-11-21T14:05:00.000Z', agents })
      const path = `/agents/${agents[0]?.id ?? ''}/briefs`
      const spoken = key === '3' ? {} : { [path]: { briefs: [brief], next_cursor: null } }
      const at = await openSession(t, state, { answers: spoken })
      if (key !== '3') await until(at.session, () => /Hello yourself/.test(at.text()))
      press(at.session, ...key.split(' '))
      assert.match(at.text(), says, `${agents.map(({ id }) => id).join(' ')} ${key}`)
    }
  })

  test('about an item are for it while it is open, and its box names it', async (t) => {
    const agents = [anAgentRecord('main'), anAgentRecord('ops')]
    const items = [
      anItemRecord('work_0001', 'ops', 'Mend the parser'),
      anItemRecord('work_0002', 'ops', 'Mend the lexer', {
        state: 'completed',
        completed_at: '2026-11-21T13:05:00.000Z',
      }),
    ]
    for (const [item, keys, says] of [
      [items[0], ['c'], /to main ─/],
      [items[0], ['k', 'c'], /to ops: Mend the parser ─/],
      [items[1], ['c'], /to main ─/],
      [items[1], ['k', 'c'], /to ops ─/],
    ] as const) {
      assert.ok(item)
      const state = () => aState({ now: '2026-11-21T14:05:00.000Z', agents, work_items: [item] })
      const at = await openSession(t, state)
      press(at.session, ...keys)
      assert.match(at.text(), says, `${item.objective} ${keys.join(' ')}`)
    }
  })

  test('of an earlier screen are no empty home either', async (t) => {
    const agents = [anAgentRecord('main', { open_work_items: 0 })]
    const brief = { created_at: '2026-11-21T13:05:00.000Z', text: 'Hello yourself.' }
    const at = await openSession(t, () => aState({ now: '2026-11-21T14:05:00.000Z', agents }), {
      answers: { '/agents/main/briefs': { briefs: [brief], next_cursor: null } },
    })
    await until(at.session, () => /main +Hello yourself/.test(at.text()))
    press(at.session, '?')
    assert.match(at.text(), /1 2 3 {3}home board agents/)
  })

  test('+ makes the agent, then the item', async (t) => {
    const at = await opened(t, { '/agents': {}, '/agents/main/work-items': {} })
    press(at.session, '+')
    type(at.session, 'mend it')
    press(at.session, 'enter')
    await until(at.session, () => at.session.model.notice !== null)
    assert.deepEqual(acts(at), [
      made,
      { method: 'POST', path: '/agents/main/work-items', body: { objective: 'mend it' } },
    ])
  })

  test('an agent that somebody else has just made takes them', async (t) => {
    const exists = problem(409, 'agent_exists', 'There is one.')
    const at = await opened(t, { '/agents': exists, '/agents/main/messages': accepted })
    press(at.session, '3')
    type(at.session, 'hello')
    press(at.session, 'enter')
    await until(at.session, () => at.session.model.p?.sent[0]?.state.kind === 'accepted')
    assert.equal(acts(at).length, 2)
  })

  test('without a model nothing is sent, it is said how to set one, and they are kept', async (t) => {
    const at = await opened(t, {}, null)
    press(at.session, '3')
    type(at.session, 'hello')
    press(at.session, 'enter')
    assert.match(
      at.text(),
      /> hello[\s\S]*not sent: no model is set\. On the empty home 2 sets one/,
    )
    press(at.session, 'esc')
    assert.deepEqual([acts(at), [...at.session.model.drafts]], [[], [['@main', 'hello']]])
  })

  for (const columns of [40, 60, 80, 120]) {
    test(`nothing is cut off in ${columns} columns before there is anything`, async (t) => {
      const agents = () => aState({ now: '2026-11-21T14:05:00.000Z', agents: [] })
      const first = { ...options.first, model: 'a/b' }
      const at = await openSession(t, agents, { size: [columns, 24], options: { first } })
      const home = at.text().replace(/\s+/g, ' ')
      assert.match(
        home,
        /1 Try it a runbook that checks this machine; no key, no cost 2 Add a model a/,
      )
      assert.match(home, /2 Add a model a provider and its key, or any OpenAI-compatible address 3/)
      assert.match(
        home,
        /3 Give an objective one sentence; the agent plans, works, waits and reports/,
      )
      assert.match(home, /nothing waits, nothing is spent\. 1/)
      press(at.session, '3')
      assert.match(at.text(), /esc leave, draft is kept$/)
      assert.doesNotMatch(`${home}${at.text()}`, /…/)
    })
  }

  test('a number that is pressed before the state is known means what it says there', async (t) => {
    const empty = aState({ now: '2026-11-21T14:05:00.000Z', agents: [] })
    for (const [state, says] of [
      [empty, /to main ─/],
      [designedState(), /^holon {2}agents/],
    ] as const) {
      const stage = aStage(() => state, { '/state': silent })
      const session = new Session(stage.ports, options, { columns: 80, rows: 24 })
      t.after(() => session.close())
      press(session, '3')
      session.send({ kind: 'state', state, url: '' })
      assert.match(session.frame().map(textOf).join('\n'), says)
    }
  })

  test('have their box at once where an agent was just set up, with the draft that was kept', async (t) => {
    const stage = {
      answers: { '/agents': {}, '/agents/main/messages': accepted },
      options: { opens: { words_to: 'main' }, says: 'works in ~/app; commands run as you.' },
    }
    const agents = () => aState({ now: '2026-11-21T14:05:00.000Z', agents: [] })
    const at = await openSession(t, agents, stage)
    assert.match(at.text(), /to main ─+ enter: its next turn\n> /)
    assert.match(at.text(), /works in ~\/app; commands run as you\./)
    at.session.send({ kind: 'drafts', drafts: { '@main': 'hello' } })
    assert.match(at.text(), /> hello/)
    type(at.session, ' you')
    // What is typed is not taken back by what was read.
    at.session.send({ kind: 'drafts', drafts: { '@main': 'hello' } })
    press(at.session, 'enter')
    await until(at.session, () => at.session.model.p?.sent[0]?.state.kind === 'accepted')
    const sent = { method: 'POST', path: '/agents/main/messages', body: { text: 'hello you' } }
    assert.deepEqual(acts(at), [
      { ...made, body: { ...made.body, model: options.first.model } },
      sent,
    ])
  })

  test('an agent that cannot be made leaves them in their box', async (t) => {
    const refused = problem(422, 'key_missing', 'a/b has no key.')
    const at = await opened(t, { '/agents': refused })
    press(at.session, '3')
    type(at.session, 'hello')
    press(at.session, 'enter')
    await until(at.session, () => at.session.model.notice !== null)
    assert.deepEqual(acts(at), [made])
    assert.match(at.text(), /a\/b has no key/)
    press(at.session, '3')
    assert.match(at.text(), /> hello/)
  })

  test('1 runs the runbook of the program in an agent of its own, and shows it', async (t) => {
    const at = await opened(t, { '/agents': {}, '/agents/runbooks/messages': accepted }, null)
    press(at.session, '1')
    await until(at.session, () => at.text().startsWith('runbooks'))
    const text = '# Health\n\n## Look\n\n```sh\ndf\n```\n'
    assert.deepEqual(acts(at), [
      { ...made, body: { ...made.body, id: 'runbooks', model: 'runbook' } },
      { method: 'POST', path: '/agents/runbooks/messages', body: { text } },
    ])
    assert.match(at.text(), /what the runbook finds stands here, and esc leads home/)
  })
})
