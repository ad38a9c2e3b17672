import assert from 'node:assert/strict'
import { test } from 'node:test'
import { itemRow, item, pick, say, task, wait, World } from '../../testing/world/agent-world.ts'
import { act, answer, ask, begin, end, taskEnds, turn, turnOf } from '../../testing/world/turns.ts'
import { completeItem } from '../work/complete.ts'
import { taskResultId, type WorkItemId } from '../ids.ts'
import { violations } from '../invariants/of-an-agent.ts'
import { isLate, lateResults, wantsLook } from './late-results.ts'
import { limits } from '../limits.ts'
import { messagesOf } from '../turns/shown.ts'
import type { Task, TaskEnd } from '../state/task.ts'
import { abandonTurn } from '../turns/start.ts'

const result = (w: World, { id }: Task) => w.row('messages', taskResultId(id))

function completes(w: World, id: WorkItemId, who: 'agent' | 'operator'): void {
  const decide = (d: Parameters<typeof completeItem>[0]) =>
    completeItem(d, { work_item_id: id, by: who, report: 'Done.', turn: null })
  if (who === 'operator') w.do(decide)
  else {
    pick(w, id)
    begin(w, 'continue_current')
    act(w, { tool: 'CompleteWorkItem', input: { work_item_id: id } }, decide)
    end(w)
  }
}

/** A task of a completed item has ended; nothing has been shown of it. */
function lateBy(road: { came: 'before' | 'after'; by: 'agent' | 'operator'; child: boolean }) {
  const w = new World()
  const id = item(w)
  const t = task(w, { work_item_id: id, child: road.child })
  const comes = () => taskEnds(w.pass(1000), t)
  if (road.came === 'before') {
    if (road.by === 'operator') comes()
    else {
      // In the middle of the turn that completes it: no request of that turn has shown it.
      pick(w, id)
      begin(w, 'continue_current')
      ask(w)
      const [call] = answer(w, { calls: [{ tool: 'CompleteWorkItem' }] })
      assert.ok(call)
      comes()
      w.do((d) => completeItem(d, { work_item_id: id, by: 'agent', report: 'x', turn: turnOf(w) }))
      end(w)
      return { w, id, t }
    }
  }
  completes(w, id, road.by)
  if (road.came === 'after') comes()
  return { w, id, t }
}

const roads = (['before', 'after'] as const).flatMap((came) =>
  (['agent', 'operator'] as const).flatMap((by) =>
    [true, false].map((child) => ({ came, by, child })),
  ),
)

for (const road of roads) {
  const { came, by, child } = road
  const what = `${child ? 'a child' : 'a command'} that ended ${came} the ${by} completed its item`
  test(`the result of ${what} starts no turn, is shown by the next one and used up by its answer`, () => {
    const { w, id, t } = lateBy(road)
    assert.equal(itemRow(w, id).state, 'completed')
    assert.deepEqual(
      lateResults(w.facts).map((message) => message.id),
      [result(w, t).id],
    )
    assert.equal(w.next().do, 'sleep')
    assert.deepEqual(violations(w.reload().facts, w.events), [])

    say(w, { text: 'And now something else.' })
    const { id: next } = begin(w, 'message')
    assert.deepEqual([result(w, t).status, result(w, t).turn_id], ['claimed', next])
    ask(w)
    assert.equal(result(w, t).status, 'claimed')
    answer(w, { text: 'I see.' })
    assert.equal(result(w, t).status, 'consumed')
    end(w, { text: 'I see.' })
    assert.deepEqual(lateResults(w.facts), [])
    assert.deepEqual(violations(w.facts, w.events), [])
  })
}

test('a late result is taken by the next turn of whatever cause, last of what is no event', () => {
  const starts: ((w: World) => void)[] = [
    (w) => void say(w),
    (w) => void say(w, { work_item_id: item(w) }),
    (w) => void item(w, { focus: true }),
    (w) => void item(w),
    (w) => taskEnds(w, task(w, { work_item_id: item(w) })),
  ]
  for (const start of starts) {
    const { w, t } = lateBy({ came: 'after', by: 'operator', child: false })
    start(w)
    const { id } = begin(w)
    assert.equal(result(w, t).turn_id, id)
  }
})

test('a late result that a turn could not show is shown by the one after it, also beside others', () => {
  const { w, t } = lateBy({ came: 'after', by: 'agent', child: false })
  say(w)
  begin(w, 'message')
  w.do(abandonTurn)
  assert.deepEqual([result(w, t).status, result(w, t).attempts], ['queued', 1])
  // What may have been the reason goes alone first; then the late one has its turn.
  turn(w, { rule: 'message' })
  assert.equal(w.next().do, 'sleep')
  say(w)
  const { id } = begin(w, 'message')
  assert.equal(result(w, t).turn_id, id)
})

test('a late result that three turns could not show is dead, with a failure brief', () => {
  const { w, t } = lateBy({ came: 'after', by: 'agent', child: true })
  for (let n = 0; n < limits.message_attempts.value; n += 1) {
    item(w, { focus: true })
    begin(w, 'continue_current')
    w.do(abandonTurn)
  }
  const { id, status } = result(w, t)
  assert.equal(status, 'dead')
  assert.deepEqual(
    w.all('briefs').flatMap((brief) => (brief.kind === 'failure' ? brief.message_id : [])),
    [id],
  )
})

test('of more late results than a turn takes the rest stays for the turn after it', () => {
  const w = new World()
  const id = item(w)
  const tasks = Array.from({ length: limits.claimed_messages.value + 3 }, () =>
    task(w, { work_item_id: id }),
  )
  completes(w, id, 'operator')
  for (const t of tasks) taskEnds(w, t)
  say(w)
  const first = turn(w, { rule: 'message' })
  assert.equal(messagesOf(w.whole(), first).length, limits.claimed_messages.value)
  assert.equal(lateResults(w.facts).length, 4)
  say(w)
  turn(w, { rule: 'message' })
  assert.deepEqual(lateResults(w.facts), [])
})

test('a result that the agent itself waits for wakes it, whose item is over or not', () => {
  for (const came of ['before', 'after'] as const) {
    const w = new World()
    const id = item(w)
    const t = task(w, { work_item_id: id })
    wait(w, { wake: 'task_result', resource: t.id, task: t })
    if (came === 'before') taskEnds(w, t)
    completes(w, id, 'operator')
    if (came === 'after') taskEnds(w, t)
    const { id: next } = begin(w, came === 'before' ? 'review_triggered' : 'message')
    assert.equal(result(w, t).turn_id, next, came)
  }
})

test('a result that another open item waits for is not late', () => {
  const w = new World()
  const [own, other] = [item(w), item(w)]
  const t = task(w, { work_item_id: own })
  wait(w, { wake: 'task_result', work_item_id: other, resource: t.id, task: t })
  completes(w, own, 'operator')
  taskEnds(w, t)
  assert.equal(isLate(w.facts, result(w, t)), false)
  const next = begin(w, 'message')
  assert.deepEqual([next.work_item_id, result(w, t).turn_id], [other, next.id])
})

test('the result of a task of an item completed long ago is late, too', () => {
  const w = new World()
  const t = task(w, { work_item_id: 'work_gone' })
  taskEnds(w, t)
  assert.equal(isLate(w.facts, result(w, t)), true)
  assert.equal(w.next().do, 'sleep')
})

test('a person is to look at what a child says, at what went wrong unstopped, at what is unknown', () => {
  const w = new World()
  const ends: [kind: Task['kind'], status: TaskEnd, exit_status: number | null, boolean][] = [
    ['command', 'completed', 0, false],
    ['command', 'completed', 1, true],
    ['command', 'completed', null, true],
    ['command', 'failed', null, true],
    ['command', 'cancelled', 143, false],
    ['command', 'cancelled', null, false],
    ['command', 'interrupted', null, true],
    ['child_agent', 'completed', null, true],
    ['child_agent', 'failed', null, true],
    ['child_agent', 'cancelled', null, false],
  ]
  for (const [kind, status, exit_status, wants] of ends) {
    const ended = { ...task(w), kind, status, exit_status }
    assert.equal(wantsLook(ended), wants, `${kind} ${status} ${exit_status}`)
  }
})
