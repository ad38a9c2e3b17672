import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { agentView, projectionOf } from '../protocol/agent-view.ts'
import { attentionOf } from '../protocol/attention.ts'
import { whyOf } from '../protocol/why.ts'
import { deliver, item, say, task, wait, waitOf, World } from '../testing/domain.ts'
import { ShortIds } from './short-id.ts'
import { stateCell } from './state-cell.ts'
import { whyLines } from './why-text.ts'

const minute = 60_000
const inMinutes = (w: World, n: number) => new Date(Date.parse(w.now) + n * minute).toISOString()

type Case = { w: World; id: string; owner?: boolean }

/** Each state an item can be in, as `why` and the list say it. */
const cases: [name: string, build: () => Case][] = [
  [
    'a question',
    () => {
      const w = new World()
      const id = item(w, { focus: true })
      wait(w, { work_item_id: id, wake: 'operator_input', reason: 'Approve the changelog?' })
      w.pass(121 * minute)
      return { w, id }
    },
  ],
  [
    'a question, and nothing runs',
    () => {
      const w = new World()
      const id = item(w, { focus: true })
      wait(w, { work_item_id: id, wake: 'operator_input', reason: 'Approve?' })
      return { w, id, owner: false }
    },
  ],
  [
    'a task',
    () => {
      const w = new World()
      const id = item(w, { focus: true })
      const made = task(w, { work_item_id: id })
      wait(w, {
        work_item_id: id,
        wake: 'task_result',
        resource: made.id,
        task: w.row('tasks', made.id),
        reason: 'the tests must end',
      })
      w.pass(9 * minute)
      return { w, id }
    },
  ],
  [
    'a timer',
    () => {
      const w = new World()
      const id = item(w, { focus: true })
      wait(w, { work_item_id: id, wake: 'timer', wake_at: inMinutes(w, 30), reason: 'later' })
      return { w, id }
    },
  ],
  [
    'an event that came',
    () => {
      const w = new World()
      const id = item(w, { focus: true })
      wait(w, { work_item_id: id, source: 'github', resource: 'check_suite', reason: 'CI' })
      deliver(w, { source: 'github', resource: 'check_suite' })
      deliver(w, { source: 'github', resource: 'check_suite' })
      return { w, id }
    },
  ],
  [
    'an event to come, with a recheck, of a stopped agent',
    () => {
      const w = new World()
      const id = item(w, { focus: true })
      wait(w, { work_item_id: id, source: 'github', recheck_at: inMinutes(w, 60), reason: 'CI' })
      w.do((d) => d.emit({ type: 'agent_stopped', id: 'main', by: 'operator' }))
      return { w, id }
    },
  ],
  [
    'a plan that needs input',
    () => {
      const w = new World()
      return { w, id: item(w, { focus: true, plan_status: 'needs_input' }) }
    },
  ],
  [
    'runnable, in focus',
    () => {
      const w = new World()
      return { w, id: item(w, { focus: true }) }
    },
  ],
  [
    'runnable, queued, and nothing runs',
    () => {
      const w = new World()
      return { w, id: item(w), owner: false }
    },
  ],
]

const viewOf = ({ w, owner = true }: Case) => agentView(w.facts, w.now, owner)

describe('why an item is as it is', () => {
  for (const [name, build] of cases) {
    test(name, (t) => {
      const given = build()
      const view = viewOf(given)
      const projection = projectionOf(view, given.id)
      assert.ok(projection)
      const zone = { now: given.w.now, utc: true }
      const lines = whyLines(whyOf(view, projection, null), {
        zone,
        ids: new ShortIds(),
        decided: true,
      })
      const { mark, text } = stateCell(view, projection, zone)
      t.assert.snapshot([...lines, '', `in a list: ${mark}, ${text}`], {
        serializers: [(all: readonly string[]) => all.join('\n')],
      })
    })
  }

  test('the record says the same words, and no time of its own', () => {
    const given = cases[0]?.[1]()
    assert.ok(given)
    const view = viewOf(given)
    const projection = projectionOf(view, given.id)
    assert.ok(projection)
    const { why, next, when, cost_since, can } = whyOf(view, projection, null)
    const asked = waitOf(given.w, projection.item.id)
    assert.deepEqual(
      { why, next, when, cost_since, can },
      {
        why: 'waits for you: "Approve the changelog?"',
        next: 'your answer resumes it at once',
        when: null,
        cost_since: asked.created_at,
        can: [
          { label: 'answer', cli: `holon answer ${asked.id} <text>` },
          { label: 'look at it', cli: `holon work show ${given.id}` },
        ],
      },
    )
  })
})

describe('what needs a person', () => {
  test('questions, stuck items and arrivals nobody can take; a fact removes each', () => {
    const w = new World()
    const asking = item(w, { focus: true })
    wait(w, { work_item_id: asking, wake: 'operator_input', reason: 'Which?' })
    item(w, { plan_status: 'needs_input' })
    const entries = () =>
      attentionOf([agentView(w.facts, w.now, true)], []).map(({ kind, text }) => `${kind}: ${text}`)
    assert.deepEqual(entries(), ['question: Which?', 'needs_input: its plan needs your input'])
    say(w, { wait_id: waitOf(w, asking).id })
    assert.deepEqual(entries(), ['needs_input: its plan needs your input'])
    w.do((d) => d.emit({ type: 'agent_stopped', id: 'main', by: 'operator' }))
    deliver(w, { source: 'github' })
    assert.deepEqual(entries(), [
      'needs_input: its plan needs your input',
      'arrived: github sent an event, but main is stopped',
    ])
  })
})
