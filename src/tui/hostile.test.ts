/**
 * Every text field that a screen may show, with what a terminal would obey or not show: five
 * hundred of them, in every record of every read, on every screen, typed, pasted and refused.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StateRecord } from '../protocol/views/state-record.ts'
import { anEntry, anItemRecord, aTaskRecord, aWaitRecord } from '../testing/screens/home.ts'
import { designedState } from '../testing/screens/home.ts'
import { eventsOf, hostileTexts } from '../testing/screens/scenes.ts'
import { openSession, press, until } from '../testing/screens/tui-session.ts'
import { textOf, widthOf } from './drawing/line.ts'

/** Fields whose words the program itself chooses, or takes apart: everything else is foreign. */
const own = new RegExp(
  '(^|_)(id|ids|at|kind|state|status|type|class|policy|mode|by|code|key|hash|sha256|now|day|method|path)$' +
    '|^(lifecycle|readiness|focus|posture|preset|visibility|ownership|wake|run|outcome|match|since' +
    '|from|to|deadline|due|when|next_at|cost_since|do|until)$',
)

/** The same value with another of the texts in each foreign field. */
function poisoned<T>(value: T, next: () => string, key = ''): T {
  if (typeof value === 'string') return (own.test(key) ? value : next()) as T
  if (Array.isArray(value)) return value.map((one) => poisoned(one, next, key)) as T
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, one]) => [name, poisoned(one, next, name)])
  return Object.fromEntries(fields) as T
}

const item = anItemRecord('work_7f3a', 'default', 'Upgrade the parser', {
  blocked_by: 'x',
  todo_list: [{ text: 'x', state: 'pending' }],
  checks: [{ kind: 'command', name: 'x', cmd: 'x', workdir: null, timeout_ms: 1, run: null }],
})
const plan = { plan_artifact: { path: 'x', sha256: 'ab', bytes: 1, problem: null }, text: 'x' }
const hit = { source_ref: 'x', kind: 'call', agent_id: 'default', work_item_id: 'work_7f3a' }
const decided = {
  id: 'dec_1',
  at: '2026-11-21T14:00:00.000Z',
  decision: 'x',
  because: 'x',
}
const why = {
  ...{ work_item_id: 'work_7f3a', agent_id: 'default', objective: 'x', state: 'runnable' },
  ...{ candidate_class: 'queued_runnable', sentence: 'x', why: 'x', detail: 'x', next: 'x' },
  also: [{ code: 'blocked_by', why: 'x', detail: 'x' }],
  question: { text: 'x', choices: [{ key: '1', label: 'x' }], settles: null },
  ...{
    since: null,
    when: null,
    cost_since: null,
    verdict: 'x',
    decision: { do: 'x', because: 'x' },
  },
  considered: [{ work_item_id: 'work_0001', candidate_class: 'x', verdict: 'x' }],
  can: [{ key: 'send', label: 'x', allowed: true, cli: 'x', method: 'x', path: 'x', why: null }],
  last_decision: decided,
  history: [decided],
}
const task = aTaskRecord('task_91c2', { label: 'x', cmd: 'x' })
const base = '/agents/default'
const reads = {
  '/search': {
    ...{ query: 'x', match: 'any', incomplete_because: 'x' },
    results: [{ ...hit, at: decided.at, snippet: 'x' }],
  },
  '/tasks': { tasks: [task], next_cursor: null },
  [`${base}/work-items/work_7f3a`]: item,
  [`${base}/work-items/work_7f3a/plan`]: plan,
  [`${base}/work-items/work_7f3a/why`]: why,
  [`${base}/tasks`]: { tasks: [task], next_cursor: null },
  [`${base}/tasks/task_91c2`]: task,
  [`${base}/tasks/task_91c2/output`]: {
    offset: 0,
    text: 'x',
    next_offset: 1,
    size: 1,
    ended: false,
  },
}

const foreign = new RegExp(
  '[\\p{Cc}\\u061c\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\u{e0000}-\\u{e007f}]',
  'u',
)
const walks: readonly (readonly string[])[] = [
  ['1', 'j', 'space', 'a', 'esc', 'x', 'esc', 'c', 'esc', ':', 'esc'],
  ['2', 'j', '3', 'j', '4', 'j', 'enter', 'esc', '5', 'j', '6', 'j'],
  ['2', 'enter', 'v', 'v', 'p', 't', 'w', 's', 'e', 'l', 'space', 'c', 'ctrl+r', 'esc', 'esc'],
  ['/', 'x', 'enter', 'j'],
]

const sizes = [
  [200, 50],
  [160, 50],
  [120, 40],
  [80, 24],
  [60, 20],
  [44, 16],
] as const

test('five hundred hostile texts in every field of every read are visible text on every screen', async (t) => {
  let used = 0
  const next = () => {
    used += 1
    return `${used} ${hostileTexts[used % hostileTexts.length]} end`
  }
  const state = (): StateRecord =>
    poisoned(
      designedState({
        work_items: [item],
        tasks: [task],
        waits: [aWaitRecord('wait_3c1e', 'default', { work_item_id: 'work_7f3a', source: 'x' })],
        attention: [
          anEntry('wait_3c1e', 'question', 'default', 'x', { bound_hash: '9b2c41' }),
          anEntry('work_7f3a', 'blocked', 'default', 'x', { work_item_id: 'work_7f3a' }),
        ],
      }),
      next,
    )
  let looked = 0
  for (const size of sizes) {
    const bad = Object.entries(reads).map(([path, value]) => [path, poisoned(value, next)])
    const events = { events: eventsOf('hostile'), next_cursor: null }
    const answers = { ...Object.fromEntries(bad), '/events': events, [`${base}/events`]: events }
    const { session, text } = await openSession(t, state, { answers, size })
    for (const walk of walks) {
      for (const key of walk) {
        press(session, key)
        if (session.model.writing !== null) session.send({ kind: 'paste', text: next() })
        // What the view asks for has come when nothing of it is being read.
        await until(session, () => !/reading …/.test(text()))
        for (const line of session.frame()) {
          looked += 1
          assert.doesNotMatch(textOf(line), foreign)
          assert.ok(widthOf(line) <= size[0], textOf(line))
        }
      }
      press(session, 'esc', 'esc', 'esc')
    }
    session.close()
  }
  assert.ok(used >= 500, `${used} texts`)
  assert.ok(looked > 5_000, `${looked} lines`)
})
