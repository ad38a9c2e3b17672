import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { agentView } from '../../protocol/agent-view.ts'
import { item, say, T0, task, wait, waitOf, World } from '../../testing/world/agent-world.ts'
import { hold as held } from '../../testing/world/held.ts'
import { begin, end } from '../../testing/world/turns.ts'
import { runState, runViewOf, worstOf, type RunState, type RunView } from './state.ts'

/** The view of a run that worked on `mine`, on the facts of a world as they are now. */
function viewOf(w: World, mine: readonly string[] = [], more: Partial<RunView> = {}): RunView {
  return {
    ...runViewOf(agentView(w.facts, w.now, true), w.next(), new Set(mine)),
    last_turn: null,
    came_to_nothing: null,
    asking: false,
    broken: false,
    ...more,
  }
}

const stateOf = (state: RunState): string =>
  state.do === 'go_on' ? 'go on' : `exit ${state.exit}: ${state.because}`

const failed = { outcome: 'failed' as const, reason: 'refused' }
const hold = (w: World, ms: number | null) => {
  const made = wait(w, { reason: 'held' }).wait
  const wake_at = ms === null ? null : new Date(Date.parse(w.now) + ms).toISOString()
  return { ...made, wake: 'system' as const, wake_at }
}
const minute = 60_000

/** An item that waits for the end of a child, which waits for an answer. */
function waitingForChild(of: 'supervisor' | 'operator'): [World, string[]] {
  const w = new World()
  const id = item(w, { focus: true })
  const child = task(w, { work_item_id: id, child: true })
  wait(w, { work_item_id: id, wake: 'task_result', resource: child.id, task: child })
  const asking = {
    key: 'wait_1',
    wait_id: null,
    work_item_id: null,
    of,
    text: 'May I?',
    choices: [],
  }
  w.do((d) => d.emit({ type: 'task_asked', id: child.id, asking }))
  return [w, [id]]
}

/** In the order in which the rules are asked: the first that applies decides. */
const cases: [name: string, build: () => RunView, wanted: string][] = [
  [
    'the runtime gave up',
    () => {
      const w = new World()
      say(w)
      return viewOf(w, [], { broken: true })
    },
    'exit 1: the runtime gave up',
  ],
  [
    'a turn runs',
    () => viewOf(new World(), [], { next: { do: 'noop', because: '' }, last_turn: failed }),
    'go on',
  ],
  [
    'a message is queued',
    () => {
      const w = new World()
      say(w)
      return viewOf(w)
    },
    'go on',
  ],
  [
    'an item can go on',
    () => {
      const w = new World()
      return viewOf(w, [item(w, { focus: true })])
    },
    'go on',
  ],
  [
    'the agent is stopped',
    () => viewOf(new World(), [], { stopped: true, next: { do: 'stop', because: '' } }),
    'exit 1: the agent is stopped',
  ],
  [
    'a question stands before the person',
    () => {
      const w = new World()
      const id = item(w, { focus: true })
      wait(w, { work_item_id: id, wake: 'operator_input' })
      return viewOf(w, [id], { asking: true })
    },
    'go on',
  ],
  [
    'a command waits for a yes, and its item with it',
    () => {
      const w = new World()
      const id = item(w, { focus: true })
      begin(w)
      held(w, { item: id })
      end(w)
      return viewOf(w, [id])
    },
    'exit 3: work is left that waits',
  ],
  [
    'a command of no item waits for a yes',
    () => {
      const w = new World()
      held(w)
      return viewOf(w)
    },
    'exit 3: a question is open',
  ],
  [
    'a hold of five minutes',
    () => {
      const w = new World()
      return viewOf(w, [], {
        hold: hold(w, 5 * minute),
        next: { do: 'sleep', until: null, because: '' },
      })
    },
    'go on',
  ],
  [
    'a hold of more than five minutes',
    () => {
      const w = new World()
      return viewOf(w, [], {
        hold: hold(w, 5 * minute + 1),
        next: { do: 'sleep', until: null, because: '' },
      })
    },
    'exit 1: the agent is held',
  ],
  [
    'a hold that no time ends',
    () => {
      const w = new World()
      return viewOf(w, [], { hold: hold(w, null), next: { do: 'sleep', until: null, because: '' } })
    },
    'exit 1: the agent is held',
  ],
  [
    'a back-off',
    () => {
      const w = new World()
      const id = item(w, { focus: true })
      wait(w, { work_item_id: id, wake: 'external' })
      return viewOf(w, [id], { back_off_end: T0 })
    },
    'go on',
  ],
  [
    'an item waits for a task',
    () => {
      const w = new World()
      const id = item(w, { focus: true })
      const { id: resource } = task(w, { work_item_id: id })
      wait(w, { work_item_id: id, wake: 'task_result', resource, task: w.row('tasks', resource) })
      return viewOf(w, [id])
    },
    'go on',
  ],
  [
    'an item waits for a time, also one this run did not touch',
    () => {
      const w = new World()
      const id = item(w, { focus: true })
      const wake_at = new Date(Date.parse(w.now) + minute).toISOString()
      wait(w, { work_item_id: id, wake: 'timer', wake_at })
      return viewOf(w, [])
    },
    'go on',
  ],
  [
    'the agent itself waits for a time: no item, nothing to live for',
    () => {
      const w = new World()
      const wake_at = new Date(Date.parse(w.now) + minute).toISOString()
      wait(w, { wake: 'timer', wake_at })
      return viewOf(w)
    },
    'exit 0: nothing is left',
  ],
  [
    'the last turn failed, before anything that is left',
    () => {
      const w = new World()
      const id = item(w, { focus: true, plan_status: 'needs_input' })
      return viewOf(w, [id], { last_turn: failed })
    },
    'exit 1: the last turn failed',
  ],
  [
    'an item of this run waits for an event',
    () => {
      const w = new World()
      const id = item(w, { focus: true })
      wait(w, { work_item_id: id, wake: 'external', source: 'github' })
      return viewOf(w, [id])
    },
    'exit 3: work is left that waits',
  ],
  [
    'an item of this run is blocked, and a task nobody waits for still runs',
    () => {
      const w = new World()
      const id = item(w, { focus: true, plan_status: 'needs_input' })
      task(w, { work_item_id: id })
      return viewOf(w, [id])
    },
    'exit 3: work is left that waits',
  ],
  [
    'an item of an earlier run waits for an event',
    () => {
      const w = new World()
      wait(w, { work_item_id: item(w, { focus: true }), wake: 'external', source: 'github' })
      return viewOf(w, [])
    },
    'exit 0: nothing is left',
  ],
  [
    'the agent asks about no item',
    () => {
      const w = new World()
      wait(w, { wake: 'operator_input' })
      return viewOf(w)
    },
    'exit 3: a question is open',
  ],
  ['a child asks its parent', () => viewOf(...waitingForChild('supervisor')), 'go on'],
  [
    'a child asks the operator',
    () => viewOf(...waitingForChild('operator')),
    'exit 3: work is left that waits',
  ],
  ['nothing was made', () => viewOf(new World()), 'exit 0: nothing is left'],
]

describe('a run', () => {
  for (const [name, build, wanted] of cases) {
    test(`${name}: ${wanted}`, () => assert.equal(stateOf(runState(build())), wanted))
  }

  test('several agents: one that goes on keeps it; then the worst exit', () => {
    const end = (exit: 0 | 1 | 3): RunState => ({ do: 'end', exit, because: String(exit) })
    const goOn: RunState = { do: 'go_on', because: 'x' }
    assert.deepEqual(
      [[end(0), goOn], [end(0), end(3)], [end(3), end(1)], [end(0)], []].map((states) =>
        stateOf(worstOf(states)),
      ),
      ['go on', 'exit 3: 3', 'exit 1: 1', 'exit 0: 0', 'exit 0: there is no agent'],
    )
  })

  test('an answered wait is no question any more', () => {
    const w = new World()
    const id = item(w, { focus: true })
    wait(w, { work_item_id: id, wake: 'operator_input' })
    const asked = waitOf(w, id)
    assert.deepEqual(viewOf(w, [id]).questions, [asked])
    say(w, { wait_id: asked.id })
    assert.deepEqual(viewOf(w, [id]).questions, [])
  })
})
