import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, say, World } from '../../testing/world/agent-world.ts'
import { answer, ask, begin, end, run, turnOf, type CallResult } from '../../testing/world/turns.ts'
import { succeeded } from '../state/call.ts'
import { limits } from '../limits.ts'
import { repeatsInARow } from './repeats.ts'
import { nextStep } from './step.ts'

type Done = { tool?: string; input?: object; outcome?: CallResult; ms?: number }

function opened(): World {
  const w = new World()
  item(w, { focus: true })
  say(w)
  begin(w, 'message')
  return w
}

/** A round of these calls, each of which takes as long as it says. */
function round(w: World, ...calls: Done[]): number {
  ask(w)
  const planned = calls.map(({ tool = 'ReadFile', input = {} }) => ({ tool, input }))
  for (const [i, call] of answer(w, { calls: planned }).entries()) {
    const { outcome = {}, ms = 0 } = calls[i] ?? {}
    if (ms === 0) {
      run(w, call, () => undefined, outcome)
      continue
    }
    w.do((d) =>
      d.emit({
        type: 'call_started',
        id: call.id,
        intent: null,
        task_id: null,
        work_item_id: null,
      }),
    )
    const result = succeeded(call.tool_name, 'done', null)
    const more = { result_hash: null, changed_something: false }
    w.pass(ms).do((d) => d.emit({ type: 'call_finished', id: call.id, result, ...more }))
  }
  return repeatsInARow(w.facts, turnOf(w))
}

const a: Done = { input: { path: 'a' } }
const b: Done = { input: { path: 'b' } }
const c: Done = { input: { path: 'c' } }
const d: Done = { input: { path: 'd' } }
const hashed = (hash: string): Done => ({ tool: 'ExecCommand', outcome: { hash } })
const said = (result: unknown): Done => ({
  outcome: { result: succeeded('ReadFile', 'done', result) },
})
const uuid = (n: number) => `0192a3b4-c5d6-7e8f-9a0b-00000000000${n}`

test('a round is a repeat when its calls and results all stood in one of the three before it', () => {
  const rows: [what: string, rounds: Done[][], repeats: number[]][] = [
    ['the same again', [[a], [a], [a]], [0, 1, 2]],
    ['two in turns', [[a], [b], [a], [b], [a]], [0, 0, 1, 2, 3]],
    ['three in turns', [[a], [b], [c], [a], [b]], [0, 0, 0, 1, 2]],
    ['four in turns', [[a], [b], [c], [d], [a]], [0, 0, 0, 0, 0]],
    ['part of a larger one', [[a, b], [b], [a, b]], [0, 1, 2]],
    ['one call more', [[a], [a, b]], [0, 0]],
    ['of two rounds together', [[a], [b], [a, b]], [0, 0, 0]],
    ['something new between', [[a], [a], [b], [a]], [0, 1, 0, 1]],
    ['another result', [[said(1)], [said(2)]], [0, 0]],
    ['another output', [[hashed('x')], [hashed('y')]], [0, 0]],
    ['the same output', [[hashed('x')], [hashed('x')]], [0, 1]],
    ['an id that is new each time', [1, 2].map((n) => [said(`work_${uuid(n)}`)]), [0, 1]],
    ['a time', [1, 2].map((n) => [said(`2026-03-02T09:00:0${n}.000Z`)]), [0, 1]],
    ['one that waited', [[a], [{ ...a, ms: limits.repeat_waited.value }], [a]], [0, 0, 1]],
    ['one that took less', [[a], [{ ...a, ms: limits.repeat_waited.value - 1 }]], [0, 1]],
  ]
  for (const [what, rounds, repeats] of rows) {
    const w = opened()
    assert.deepEqual(
      rounds.map((calls) => round(w, ...calls)),
      repeats,
      what,
    )
  }
})

test('ten repeats in a row end the turn without progress, and whoever spoke reads it', () => {
  const w = opened()
  round(w, hashed('x'))
  for (let n = 1; n < limits.repeats.value; n += 1) {
    round(w, hashed('x'))
    assert.equal(nextStep(w.facts, w.now).do, 'request')
  }
  round(w.reload(), hashed('x'))
  const step = nextStep(w.facts, w.now)
  assert.deepEqual([step.do, step.do === 'end' && step.reason], ['end', 'repeats'])
  end(w, { reason: 'repeats' })
  const [turn] = w.all('turns')
  assert.deepEqual([turn?.outcome, turn?.reason, turn?.progress], ['completed', 'repeats', false])
  assert.deepEqual(
    w.all('briefs').map(({ kind, text }) => [kind, text.includes('ExecCommand')]),
    [['failure', true]],
  )
})

test('an item whose turns all end in repeats is put to the operator', () => {
  const w = new World()
  const id = item(w, { focus: true })
  for (const _ of [1, 2, 3]) {
    begin(w.pass(6 * 60_000), 'continue_current')
    for (let n = 0; n <= limits.repeats.value; n += 1) round(w, hashed('x'))
    end(w, { reason: 'repeats' })
  }
  const waits = w.all('waits').filter(({ work_item_id }) => work_item_id === id)
  assert.deepEqual(
    waits.map(({ runtime_cause, status }) => [runtime_cause, status]),
    [['no_progress', 'active']],
  )
  // Nobody spoke: there is nobody to tell but by the question.
  assert.deepEqual(
    w.all('briefs').map(({ kind }) => kind),
    ['question'],
  )
})
