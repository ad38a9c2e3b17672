/**
 * A state has one word. Each situation that an item can be in is put before every surface: the
 * command line, the screen, the API and what a model reads.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { doing } from '../src/cli/agents/agents.ts'
import { wholeResult } from '../src/context/result.ts'
import { itemRecord } from '../src/domain/work/item-record.ts'
import { plainQuestion } from '../src/domain/state/question.ts'
import {
  itemStateOf,
  itemStates,
  itemWord,
  postureOf,
  postures,
  postureWord,
} from '../src/domain/explain/state-name.ts'
import { triggeredWords, askedOf } from '../src/domain/state/wait.ts'
import { itemRow } from '../src/present/home.ts'
import type { Presentation } from '../src/present/presentation.ts'
import {
  agentAsks,
  agentCell,
  agentSentence,
  stateCell,
  waitCell,
} from '../src/present/lines/state-cell.ts'
import { agentRecordOf } from '../src/protocol/records/agent-record.ts'
import { attentionOf } from '../src/protocol/views/attention.ts'
import { agentView, projectionOf } from '../src/protocol/agent-view.ts'
import { workItemRecordOf } from '../src/protocol/records/work-item-record.ts'
import { whyOf } from '../src/protocol/views/why.ts'
import { handedOver, makes, waits } from '../src/testing/world/family-turns.ts'
import { situate, situations } from '../src/testing/why/why-situations.ts'

const parts = { plan: null, spend: null, can: [], late: [], whole: false }

const seen = situations.map((situation) => {
  const { id, w, view } = situate(situation)
  const projection = projectionOf(view, id)
  assert.ok(projection)
  const record = workItemRecordOf(projection, parts)
  const agent = agentRecordOf(view, [])
  const times = { now: w.now, utc: true, runs: true }
  return { name: situation.name, view, projection, record, agent, times }
})

/** A wait names what it is for where it is known: the word is then the same but for that. */
const begins = (word: string): string => word.replace(/ (?:a|an) \w+$/, ' ')

test('the situations have every state of an item', () => {
  const met = new Set(seen.map(({ projection }) => itemStateOf(projection)))
  assert.deepEqual([...met].toSorted(), [...itemStates].toSorted())
})

test('an item has the one word of its state at the command line, on the screen and in the API', () => {
  for (const { name, view, projection, record, agent, times } of seen) {
    const state = itemStateOf(projection)
    assert.equal(itemStateOf(record), state, name)
    const p = { state: { agents: [agent], turns: [] } } as unknown as Presentation
    const row = itemRow(p, record, times)
    assert.ok(row.right.startsWith(begins(itemWord[state])), `${name}: ${row.right}`)
    const cell = stateCell(view, projection, times)
    // A turn about it, and a home that nobody runs, are the command line's to say.
    if (cell.text.startsWith('turn ') || !view.has_owner) continue
    assert.deepEqual([cell.mark, cell.text], [row.mark, row.right], name)
  }
})

test('what a model reads of an item in a list begins with the name that the types have', () => {
  for (const { name, projection } of seen) {
    const items = [itemRecord(projection, null, { include_todo_list: false })]
    const result = { items, total: 1, filter: 'open' }
    const listed = { tool_name: 'ListWorkItems', status: 'success', summary: '1.', result } as const
    assert.match(wholeResult(listed), new RegExp(`state: ${projection.scheduling_state}\\b`), name)
  }
})

test('an agent has the one word of its posture, and no two states or postures share a word', () => {
  const agent = { id: 'main', state: 'active', until: null } as const
  const times = { now: '2026-11-21T12:00:00.000Z', utc: true, runs: true }
  for (const posture of postures) {
    assert.equal(agentCell({ ...agent, posture }, times, null).text, postureWord[posture])
  }
  for (const words of [itemWord, postureWord]) {
    const all = Object.values(words)
    assert.equal(new Set(all).size, all.length)
  }
})

test('the list, the screen and `agents show` begin with one word, and none shows a name of the types', () => {
  for (const { name, view, agent, times } of seen) {
    const word = postureWord[postureOf(view.next)]
    const listed = doing(view, [view], times)
    const sentence = agentSentence(agent, times, null)
    for (const said of [listed, agentCell(agent, times, null).text, sentence]) {
      assert.ok(said.startsWith(word), `${name}: ${said} is not ${word}`)
      assert.doesNotMatch(said, /noop|start_turn|wait:|agent is (?:stopped|held)/, name)
    }
  }
})

test("a child's question is its parent's in every cell and sentence, and no entry of the inbox", () => {
  for (const given of [{ reason: 'Which of the two?' }, { question: plainQuestion('Which?') }]) {
    const { child } = handedOver()
    const id = makes(child)
    waits(child, { work_item_id: id, wake: 'operator_input', ...given })
    const view = agentView(child.facts, child.now, true)
    const projection = projectionOf(view, id)
    const wait = projection?.wait
    assert.ok(projection && wait)
    const agent = agentRecordOf(view, [])
    const waiting = [{ ...wait, bound_hash: null, can: [] }]
    const p = { state: { agents: [agent], turns: [], waits: waiting } } as unknown as Presentation
    const times = { now: child.now, utc: true, runs: true }
    const record = workItemRecordOf(projection, parts)
    assert.match(itemRow(p, record, times).right, /^asks main, /)
    assert.match(stateCell(view, projection, times).text, /^asks main, /)
    assert.match(waitCell(wait, times, askedOf(agent, wait)).text, /^asks main, /)
    const posture = { ...agent, posture: 'wait:operator' } as const
    assert.equal(agentCell(posture, times, agentAsks(agent, waiting)).text, 'asks main')
    const { why, next } = whyOf(view, projection, null)
    assert.match(`${why}; ${next}`, /asks main .*; main's answer resumes it/)
    assert.deepEqual(attentionOf([view], []), [])
  }
})

test('how often a wait was triggered is said in one way, with what is new of it', () => {
  const said = [
    [0, 0],
    [1, 0],
    [1, 1],
    [4, 0],
    [4, 1],
    [4, 4],
  ].map(([all = 0, looked = 0]) =>
    triggeredWords({ trigger_count: all, reviewed_trigger_count: looked }),
  )
  assert.deepEqual(said, [
    null,
    'triggered once, new',
    'triggered once, looked at',
    'triggered 4 times, all new',
    'triggered 4 times, 3 new',
    'triggered 4 times, looked at',
  ])
})
