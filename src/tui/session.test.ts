/**
 * The screen as a person uses it, without a machine: frames under snapshot at three sizes, keys and
 * what they ask the server for, a link that breaks, and texts that would harm a terminal.
 */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { eventsOf, hostileTexts } from '../testing/screens/scenes.ts'
import { anEntry, anItemRecord, designedState } from '../testing/screens/home.ts'
import { aState } from '../testing/screens/state.ts'
import { press, type, until } from '../testing/screens/tui-session.ts'
import {
  aStage,
  options,
  silent,
  type Answers,
  type TuiStage,
} from '../testing/screens/tui-stage.ts'
import type { StateRecord } from '../protocol/views/state-record.ts'
import { widthOf, textOf } from './drawing/line.ts'
import { Session } from './session.ts'

const sizes = [
  [80, 24],
  [120, 40],
  [200, 50],
] as const

type Opened = { session: Session; stage: TuiStage; text: () => string; lines: () => string[] }

/** A session that is live; it is closed with its test. */
async function opened(
  t: TestContext,
  state: () => StateRecord,
  answers: Answers = {},
  size: readonly [number, number] = [80, 24],
): Promise<Opened> {
  const stage = aStage(state, answers)
  const session = new Session(stage.ports, options, { columns: size[0], rows: size[1] })
  t.after(() => session.close())
  void session.run()
  const shows = () => session.frame().map(textOf).join('\n')
  await until(session, () => /live \d|no work yet/.test(shows()))
  return { session, stage, text: shows, lines: () => shows().split('\n') }
}

const why = {
  work_item_id: 'work_b210',
  agent_id: 'release',
  objective: 'Release 2.4.0',
  state: 'waiting_operator',
  candidate_class: 'waiting_for_operator',
  sentence: 'Release 2.4.0 waits for you since 2026-11-21T12:04:00.000Z.',
  why: 'it waits for you',
  detail: null,
  also: [],
  question: null,
  since: '2026-11-21T12:04:00.000Z',
  next: 'your answer resumes it at once',
  when: null,
  cost_since: '2026-11-21T12:04:00.000Z',
  verdict: 'wait_3c1e is active',
  decision: { do: 'wait', because: 'every open item waits' },
  considered: [],
  can: [],
  last_decision: null,
  history: [],
}
const reads: Answers = {
  '/spend': { by: ['agent'], spend: [{ known_usd: 1.84, input_tokens: 1, output_tokens: 1 }] },
  '/agents/release/work-items/work_b210/why': why,
}

describe('frames', () => {
  for (const size of sizes) {
    test(`home at ${size.join('x')}`, async (t) => {
      const { session, text, lines } = await opened(t, designedState, reads, size)
      await until(
        session,
        () => text().includes('$1.84 today') && (size[0] < 110 || text().includes('Next: your')),
      )
      t.assert.snapshot(lines())
    })
  }

  test('home without room: notes go below their titles, nothing is wider than the screen', async (t) => {
    const { session, lines } = await opened(t, designedState, reads, [44, 16])
    t.assert.snapshot(lines())
    session.send({ kind: 'size', columns: 39, rows: 9 })
    assert.match(lines()[0] ?? '', /^holon needs 40x10/)
  })

  test('an empty home says how to begin', async (t) => {
    const { lines } = await opened(t, () => aState({ now: '2026-11-21T14:05:00.000Z' }))
    t.assert.snapshot(lines())
  })

  for (const size of [sizes[0], sizes[2]]) {
    test(`a question, an item with its plan and its why, and help, at ${size.join('x')}`, async (t) => {
      const asking = await opened(t, designedState, reads, size)
      press(asking.session, 'a')
      await until(asking.session, () => asking.session.isWhole())
      t.assert.snapshot(asking.lines())
      const { session, text, lines } = await opened(t, worldState, worldReads(), size)
      press(session, 'j', 'enter')
      for (const key of ['l', 'p', 'w', '?']) {
        press(session, key)
        await until(session, () => session.isWhole() && !text().includes('reading …'))
        t.assert.snapshot(lines())
      }
    })
  }

  test('the tab of a plan that is not there yet says what would be there', async (t) => {
    const reads = worldReads()
    const path = '/agents/main/work-items/work_0001/plan'
    reads[path] = { ...(reads[path] as object), text: '' }
    const { session, text } = await opened(t, worldState, reads)
    press(session, 'j', 'enter', 'p')
    await until(session, () => session.isWhole() && text().includes('plan.md'))
    assert.match(text(), /There is no plan yet\.[\s\S]*how the agent goes about[\s\S]*plan\.md/)
  })

  test('a thread at three levels', async (t) => {
    const { session, text, lines } = await opened(t, worldState, worldReads())
    press(session, 'j', 'enter')
    await until(session, () => text().includes('Count the files'))
    t.assert.snapshot(lines())
    press(session, 'v')
    t.assert.snapshot(lines())
    press(session, 'v')
    t.assert.snapshot(lines())
  })

  test('help, which is made of the key table', async (t) => {
    const { session, lines } = await opened(t, designedState, reads)
    press(session, '?')
    t.assert.snapshot(lines())
    press(session, 'x')
    assert.match(lines()[0] ?? '', /x: stop \(asks first\) {3}\$ holon agents abort <agent>$/)
  })
})

/** A home with the one item of a history. */
const worldState = (): StateRecord =>
  aState({
    now: '2026-03-02T09:05:00.000Z',
    last_seq: 60,
    agents: [],
    work_items: [
      anItemRecord('work_0001', 'main', 'Count the files.', {
        candidate_class: 'current_runnable',
      }),
    ],
    attention: [],
  })

const worldReads = (): Answers => ({
  '/agents/main/events': { events: eventsOf('first-objective'), next_cursor: null },
  '/agents/main/work-items/work_0001': anItemRecord('work_0001', 'main', 'Count the files.'),
  '/agents/main/work-items/work_0001/plan': {
    plan_artifact: { path: 'plan.md', sha256: '9b2c41', text: '' },
    text: '# Count the files\n\n- [x] Look\n- [ ] Count\n',
  },
  '/agents/main/work-items/work_0001/why': {
    ...why,
    work_item_id: 'work_0001',
    agent_id: 'main',
    objective: 'Count the files.',
  },
})

test('2 on an empty home leaves for a terminal in which a model is set up', async (t) => {
  const stage = aStage(() => aState({ now: '2026-11-21T14:05:00.000Z' }))
  const session = new Session(stage.ports, options, { columns: 80, rows: 24 })
  t.after(() => session.close())
  const ran = session.run()
  await until(session, () => session.model.p?.link.kind === 'live')
  press(session, '2')
  assert.equal(await ran, 'set_up')
})

describe('keys', () => {
  test('a question is answered with the hash it was shown with, and with no letter', async (t) => {
    const answered = '/agents/release/waits/wait_3c1e/answer'
    const { session, stage, text } = await opened(t, designedState, { ...reads, [answered]: {} })
    press(session, 'a', '1', 'enter')
    assert.ok(text().includes('nothing is chosen yet'), 'keys that were on their way chose')
    await stage.clock.advance(400)
    press(session, 'y', 'enter')
    assert.deepEqual(
      stage.asked.filter(({ method }) => method === 'POST'),
      [],
    )
    press(session, '1', 'enter')
    await until(session, () => text().includes('answered: yes'))
    assert.deepEqual(
      stage.asked.filter(({ method }) => method === 'POST'),
      [{ method: 'POST', path: answered, body: { text: 'yes', bound_hash: '9b2c41' } }],
    )
  })

  test('a held command is answered by a number, with the mark it was shown with; a no takes words', async (t) => {
    const [first] = designedState().attention
    assert.ok(first)
    const choices = [
      { key: 'yes', label: 'run it, this once' },
      { key: 'no', label: 'do not run it' },
    ]
    const held = (): StateRecord => {
      const state = designedState()
      const about = { id: 'task_91ce', kind: 'approval', bound_hash: '3fa2c1' } as const
      const shown = { text: 'May this run? git push\nin /w\nremote writes ask', choices }
      return { ...state, attention: [{ ...first, ...about, ...shown }, ...state.attention] }
    }
    const path = '/agents/release/tasks/task_91ce/answer'
    const { session, stage, text } = await opened(t, held, { ...reads, [path]: {} })
    const posted = () => stage.asked.filter(({ method }) => method === 'POST')
    press(session, 'a')
    assert.match(text(), /APPROVAL task_91ce, 1 of \d+ that need you/)
    assert.match(text(), /May this run\? git push/)
    press(session, 'enter')
    await stage.clock.advance(400)
    press(session, 'y', 'enter')
    assert.deepEqual(posted(), [])
    press(session, '1', 'enter')
    await until(session, () => text().includes('answered: yes'))
    assert.deepEqual(posted(), [
      { method: 'POST', path, body: { choice: 'yes', bound_hash: '3fa2c1' } },
    ])
    press(session, 'a')
    await stage.clock.advance(400)
    press(session, '3', 'enter')
    type(session, 'use a branch')
    press(session, 'enter')
    await until(session, () => posted().length === 2)
    assert.deepEqual(posted().at(-1)?.body, {
      choice: 'no',
      bound_hash: '3fa2c1',
      text: 'use a branch',
    })
  })

  test('what needs a person is gone through, put away and dismissed', async (t) => {
    const { session, stage, text, lines } = await opened(t, designedState, {
      '/attention/task_dead/snooze': {},
    })
    assert.match(lines()[2] ?? '', /^› \? release/)
    press(session, 'n')
    assert.match(lines()[3] ?? '', /^› ✗ default/)
    press(session, 'z', 'ctrl+u', '1', 'h', 'enter')
    await until(session, () => text().includes('put away for 1h'))
    assert.deepEqual(stage.asked.at(-1)?.body, { until: '2026-11-21T15:05:00.000Z' })
    press(session, 'd')
    await until(session, () => text().includes('There is none.'))
  })

  test('a message goes into the turn that runs, with its receipt; an empty one is not sent', async (t) => {
    const { session, stage, text } = await opened(t, designedState, {
      '/agents/default/messages': { message_id: 'msg_0009' },
    })
    press(session, 'n', 'n', 'n', 'j', 'c')
    assert.match(
      text(),
      /to default: Upgrade the parser to… enter: into turn 7, at its next safe point/,
    )
    press(session, 'enter')
    assert.match(text(), /nothing is written/)
    for (const key of 'leave it') session.key(key === ' ' ? 'space' : key, key)
    press(session, 'enter')
    await until(session, () => session.model.p?.sent.at(-1)?.state.kind === 'accepted')
    assert.deepEqual(
      stage.asked.filter(({ method }) => method === 'POST'),
      [
        {
          method: 'POST',
          path: '/agents/default/messages',
          body: { text: 'leave it', work_item_id: 'work_7f3a', priority: 'interject' },
        },
      ],
    )
    press(session, 'c', 'tab')
    assert.match(text(), /enter: the turn after turn 7/)
  })

  test('a paste is never sent, and a draft stays with what it was written to', async (t) => {
    const { session, stage, text } = await opened(t, designedState)
    press(session, 'n', 'N', 'c')
    session.send({ kind: 'paste', text: 'one\r\ntwo\r\n' })
    assert.match(text(), /> one\n {2}two/)
    press(session, 'esc')
    await stage.clock.advance(500)
    assert.deepEqual(stage.drafts, { work_b210: 'one\ntwo\n' })
    press(session, 'n', 'N', 'c')
    assert.match(text(), /> one\n {2}two/)
    assert.deepEqual(
      stage.asked.filter(({ method }) => method === 'POST'),
      [],
    )
  })

  test('stopping says exactly what it stops, and asks', async (t) => {
    const { session, stage, text } = await opened(t, designedState, { '/agents/default/abort': {} })
    press(session, 'n', 'n', 'n', 'j', 'x')
    assert.match(text(), /STOP turn 7/)
    await stage.clock.advance(400)
    press(session, '2', 'enter')
    await until(session, () => text().includes('turn 7 of default is stopped'))
    assert.deepEqual(stage.asked.at(-1)?.body, { run_id: 'turn_0007', stop: false })
  })

  test('a refused text comes back into its box', async (t) => {
    const { session, text } = await opened(t, designedState)
    press(session, 'n', 'c', 'x', 'enter')
    await until(session, () => text().includes('There is none.'))
    press(session, 'c')
    assert.match(text(), /> x/)
  })

  test('the palette finds by word and by shell line, and does it', async (t) => {
    const { session, lines } = await opened(t, designedState)
    press(session, ':', 'w', 'a', 'i', 't', 's')
    assert.match(lines()[2] ?? '', /^› 5 +waits +\$ holon waits$/)
    press(session, 'enter')
    assert.match(lines()[0] ?? '', /^holon {2}waits/)
  })

  test('every screen opens by its number, and escape leads back to home', async (t) => {
    const { session, lines } = await opened(t, designedState, {
      '/tasks': { tasks: designedState().tasks, next_cursor: null },
      '/events': { events: eventsOf('claimed'), next_cursor: null },
    })
    const titles = ['2', '3', '4', '5', '6'].map((key) => {
      press(session, key)
      return lines()[0]?.split('  ')[1]
    })
    assert.deepEqual(titles, ['board', 'agents', 'tasks', 'waits', 'events'])
    press(session, 'esc')
    assert.match(lines()[0] ?? '', /^holon {2}4 need you/)
  })

  test('up and down go through what was sent, stop at the oldest, and end at the draft', async (t) => {
    const { session } = await opened(t, designedState)
    session.model = { ...session.model, history: ['first', 'second', 'third'] }
    press(session, 'n', 'c')
    const shown = (...keys: string[]) =>
      keys.map((key) => {
        press(session, key)
        return session.model.writing?.text.text
      })
    assert.deepEqual(shown('up', 'up', 'up', 'up'), ['third', 'second', 'first', 'first'])
    assert.deepEqual(shown('down', 'down', 'down', 'down'), ['second', 'third', '', ''])
  })

  test('ctrl+c says what leaving means; the second one leaves', async (t) => {
    const { session, text } = await opened(t, designedState)
    press(session, 'ctrl+c')
    assert.match(text(), /ctrl\+c again leaves; work goes on/)
    const left = session.run()
    press(session, 'ctrl+c')
    await left
  })
})

describe('the link', () => {
  test('when it breaks, what is shown carries its time, and enter keeps the text', async (t) => {
    const { session, stage, text, lines } = await opened(t, designedState, reads)
    press(session, 'n', 'c', 'h', 'i')
    stage.hangUp()
    await until(session, () => text().includes('NOT CONNECTED'))
    press(session, 'enter')
    assert.match(text(), /kept here, not sent\n> hi/)
    assert.match(text(), /not sent: no connection/)
    t.assert.snapshot(lines())
  })

  test('closed, the screen leaves no timer and tells nobody anything more', async (t) => {
    const { session, stage } = await opened(t, designedState, reads)
    await until(session, () => session.isWhole())
    session.close()
    let told = 0
    t.after(session.subscribe(() => (told += 1)))
    const before = session.model
    for (let n = 0; n < 50; n += 1) await new Promise((next) => setImmediate(next))
    assert.deepEqual([stage.clock.nextDue(), told], [null, 0])
    assert.equal(session.model, before)
  })

  test('a page that is on its way is not asked for again, whatever comes meanwhile', async (t) => {
    const pages = '/agents/main/events'
    const answers = { ...worldReads(), [pages]: silent }
    const { session, stage } = await opened(t, worldState, answers)
    press(session, 'j', 'enter')
    for (const key of ['p', 'l', 'v', 'l', 'v']) {
      press(session, key)
      await new Promise((next) => setImmediate(next))
    }
    assert.equal(stage.asked.filter(({ path }) => path === pages).length, 1)
  })

  test('events and live frames come in batches, and a waiting screen does not change at all', async (t) => {
    const quiet = () =>
      aState({
        now: '2026-11-21T14:05:10.000Z',
        work_items: designedState().work_items.slice(2, 4),
      })
    const { session, stage } = await opened(t, quiet)
    const before = session.frame()
    let drawn = 0
    t.after(session.subscribe(() => (drawn += 1)))
    stage.say({ event: 'live', data: { kind: 'heartbeat', at: '2026-11-21T14:05:25.000Z' } })
    while (stage.clock.nextDue() !== 50) await new Promise((next) => setImmediate(next))
    await stage.clock.advance(14_000)
    const after = session.frame()
    assert.deepEqual(
      after.map((line, n) => line === before[n]),
      after.map(() => true),
    )
    assert.equal(session.model.now, '2026-11-21T14:05:25.000Z')
  })
})

test('no text from outside reaches the screen as a terminal would obey it', async (t) => {
  const texts = Array.from(
    { length: 500 },
    (_, n) => `${n} ${hostileTexts[n % hostileTexts.length]} end`,
  )
  const foreign = new RegExp(
    '[\\p{Cc}\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\u{e0000}-\\u{e007f}]',
    'u',
  )
  for (let n = 0; n < texts.length; n += 25) {
    const some = texts.slice(n, n + 25)
    const state = () =>
      designedState({
        work_items: some.map((text, at) => anItemRecord(`work_${n + at}`, `a${text}`, text)),
        attention: some.map((text, at) => anEntry(`wait_${n + at}`, 'question', `b${text}`, text)),
        turns: [],
        attention_total: some.length,
      })
    const { session, text } = await opened(t, state, {}, [160, 50])
    for (const key of ['a', 'esc', '2', 'c', 'esc', ':']) {
      press(session, key)
      const shown = session.frame()
      assert.deepEqual(
        shown.filter((line) => foreign.test(textOf(line))),
        [],
      )
      assert.deepEqual(
        shown.filter((line) => widthOf(line) > 160),
        [],
      )
    }
    press(session, 'esc')
    assert.match(text(), /\\x|<U\+/)
    session.close()
  }
})
