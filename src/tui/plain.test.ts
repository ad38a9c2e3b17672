/** The screen for those who do not see one: lines in, lines out, and no cursor that moves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { designedState } from '../testing/screens/home.ts'
import { eventsOf, hostileTexts } from '../testing/screens/scenes.ts'
import { openSession, until } from '../testing/screens/tui-session.ts'
import { aStage, aTerminal, options } from '../testing/screens/tui-stage.ts'
import { PlainScreen, runPlain } from './plain.ts'

const why = {
  work_item_id: 'work_b210',
  agent_id: 'release',
  candidate_class: 'waiting_for_operator',
  why: 'it waits for you',
  detail: null,
  also: [],
  question: null,
  since: null,
  next: 'your answer resumes it at once',
  when: null,
  cost_since: null,
  state: 'waiting_operator',
  verdict: 'wait_3c1e is active',
  decision: { do: 'wait', because: 'every open item waits' },
  considered: [],
  can: [],
  last_decision: null,
  history: [],
}

test('it says what there is, answers, opens and writes by what is typed, each thing once', async (t) => {
  const answers = {
    '/agents/release/waits/wait_3c1e/answer': {},
    '/agents/release/messages': { message_id: 'msg_0009' },
    '/agents/release/work-items/work_b210/why': why,
  }
  const { session, stage } = await openSession(t, designedState, { answers })
  const said: string[] = []
  const screen = new PlainScreen(session, (text) => void said.push(text.trimEnd()))
  t.after(session.subscribe(() => screen.changed()))
  screen.changed()
  const since = (from: number) => said.slice(from)
  assert.deepEqual(said.slice(0, 3), [
    '4 need you, 1 working, 2 waiting, 1 next',
    'needs you 1: release: Approve the changelog for 2.4.0?, 2 h 1 m',
    'needs you 2: default: npm publish does not end: 4410 still run, 14 m',
  ])
  screen.changed()
  const before = said.length
  assert.equal(screen.typed('next\nfly\nanswer 9\nansw'), true)
  assert.ok(since(before).includes('answer 1 yes, answer 1 no, or other words'))
  assert.deepEqual(since(before).slice(-2), [
    'fly is nothing that can be done; help lists what is',
    'there is no 9; status lists what is there',
  ])
  screen.typed('er 1 yes\n')
  await until(session, () => said.includes('answered: yes'))
  screen.typed('why 1\n')
  await until(session, () => said.includes('Why    it waits for you.'.replace(/ +/, ' ')))
  screen.typed('write 1 thank you\nanswer 1\n')
  assert.equal(said.at(-1), 'an empty text answers nothing')
  await until(session, () => said.some((line) => line.startsWith('sent to work_b210')))
  assert.deepEqual(
    stage.asked.flatMap(({ method, body }) => (method === 'POST' ? [body] : [])),
    [
      { text: 'yes', bound_hash: '9b2c41' },
      { text: 'thank you', work_item_id: 'work_b210' },
    ],
  )
  assert.equal(screen.typed('quit\n'), false)
})

test('what settles where it is open is said once; foreign text moves no cursor', async (t) => {
  const state = () =>
    designedState({ agents: [{ ...designedState().agents[0], id: 'main' } as never] })
  const events = { events: eventsOf('hostile'), next_cursor: null }
  const answers = { '/agents/main/events': events }
  const { session } = await openSession(t, state, { answers, options: { opens: 'main' } })
  const said: string[] = []
  const screen = new PlainScreen(session, (text) => void said.push(text))
  t.after(session.subscribe(() => screen.changed()))
  screen.changed()
  await until(
    session,
    () => said.filter((line) => line.startsWith('turn')).length >= hostileTexts.length,
  )
  screen.changed()
  const controls = new RegExp('[\\p{Cc}\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff]', 'u')
  assert.deepEqual(
    said.filter((line) => !line.endsWith('\n') || controls.test(line.slice(0, -1))),
    [],
  )
  const turns = said.filter((line) => line.startsWith('turn 1:'))
  assert.equal(turns.length, 1)
})

test('who types nothing hears how things are, and it leaves', async () => {
  const stage = aStage(designedState)
  const { stdin, stdout, bytes } = aTerminal(80, 24)
  const ran = runPlain({ ...stage.ports, stdin, stdout }, { ...options, motion: false })
  stdin.emit('end')
  await ran
  const lines = bytes.join('').split('\n')
  assert.deepEqual(
    [lines[0], lines[1], lines.at(-2)],
    [
      'holon: connecting',
      '4 need you, 1 working, 2 waiting, 1 next',
      'help lists what can be typed',
    ],
  )
})

test('who types nothing hears why nothing is known, and it leaves', async () => {
  const stage = aStage(designedState)
  stage.hangUp()
  const { stdin, stdout, bytes } = aTerminal(80, 24)
  const ran = runPlain({ ...stage.ports, stdin, stdout }, { ...options, motion: false })
  stdin.emit('end')
  await ran
  assert.equal(bytes.join(''), 'holon: connecting\nnot connected: a test starts nothing\n')
})
