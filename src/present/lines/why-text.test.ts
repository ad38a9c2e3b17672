import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { agentView, projectionOf } from '../../protocol/agent-view.ts'
import { attentionOf } from '../../protocol/views/attention.ts'
import type { DecisionRun } from '../../protocol/views/why-history.ts'
import { whyOf, type WhyView } from '../../protocol/views/why.ts'
import { deliver, item, say, wait, waitOf, World } from '../../testing/world/agent-world.ts'
import { situate, situations } from '../../testing/why/why-situations.ts'
import { viewOf } from '../../testing/why/why-world.ts'
import { ShortIds } from '../text/short-id.ts'
import { stateCell } from './state-cell.ts'
import { historyLines, whyLines } from './why-text.ts'

const minute = 60_000
const short = (w: World) => ({ zone: { now: w.now, utc: true }, ids: new ShortIds() })

function recordOf(w: World, id: string): WhyView {
  const view = viewOf(w, 'at_rest')
  const p = projectionOf(view, id)
  assert.ok(p)
  return whyOf(view, p, null)
}

describe('what `why` prints first is its one sentence, with clock times and spans', () => {
  for (const situation of situations) {
    test(situation.name, () => {
      const { id, w, view } = situate(situation)
      const p = projectionOf(view, id)
      assert.ok(p)
      const [first = ''] = whyLines(whyOf(view, p, null), { ...short(w), decided: false })
      const span = / \((?:just now|\d+ (?:s|m|h)(?: \d+ m)?)\)/g
      assert.equal(first.replaceAll(span, ''), `Release 2.4.0 ${situation.sentence}`)
      const spans = situation.sentence.match(/since \d\d:\d\d/g) ?? []
      assert.equal(first.match(span)?.length ?? 0, spans.length)
    })
  }
})

describe('why an item is as it is, whole', () => {
  const shown = [
    'a question',
    'a question, and nothing runs',
    'a task with a recheck',
    'triggered, review next',
    'an event that came and was looked at, of a stopped agent',
    'needs_input',
    'a runbook step that failed, and nothing runs',
    'another item is in focus',
    'back-off in focus',
    'its agent is held by the world',
    'a turn about it runs',
    'completed with a report',
  ]
  for (const situation of situations.filter(({ name }) => shown.includes(name))) {
    test(situation.name, (t) => {
      const { id, w, view } = situate(situation)
      const p = projectionOf(view, id)
      assert.ok(p)
      const style = short(w)
      const lines = whyLines(whyOf(view, p, null), { ...style, decided: true })
      const { mark, text } = stateCell(view, p, style.zone)
      t.assert.snapshot([...lines, '', `in a list: ${mark}, ${text}`], {
        serializers: [(all: readonly string[]) => all.join('\n')],
      })
    })
  }
})

describe('times and ids', () => {
  const uuid = '01a200a2-9298-75ef-835b-d562dc8e5dfb'

  test('ids are short, times are read by a clock, and how long a wait has lasted is added', () => {
    const w = new World()
    const id = item(w, { objective: 'Release 2.4.0' })
    wait(w, { work_item_id: id, wake: 'operator_input', reason: `Approve task_${uuid}?` })
    w.pass(121 * minute)
    const lines = whyLines(recordOf(w, id), { ...short(w), decided: false })
    assert.deepEqual(lines, [
      'Release 2.4.0 waits for you since 09:00 (2 h 1 m): "Approve task_5dfb?"',
      'next  your answer resumes it at once',
      'cost  none since 09:00',
      'do    holon answer wait_0001 <text>    answer',
    ])
  })

  test('a question stands whole with its answers, whatever the sentence says first', () => {
    const w = new World()
    const id = item(w, { objective: 'Paint it' })
    const choices = [
      { key: '1', label: 'red' },
      { key: 'b', label: 'blue' },
    ]
    const question = { text: 'Which colour?', choices, settles: null }
    wait(w, { work_item_id: id, wake: 'operator_input', reason: 'one thing', question })
    const why = recordOf(w, id)
    const offered = ['      1: red', '      b: blue']
    const beside = (of: typeof why) => {
      const lines = whyLines(of, { ...short(w), decided: false })
      return lines.slice(
        1,
        lines.findIndex((line) => line.startsWith('next ')),
      )
    }
    assert.deepEqual(beside(why), offered)
    const runs = { ...why, why: 'a turn about it runs', detail: null }
    assert.deepEqual(beside(runs), ['asks  "Which colour?"', ...offered])
    const also = [
      { code: 'wait', why: 'it waits for you', detail: question.text },
      { code: 'blocked_by', why: 'it is blocked', detail: 'no paint' },
    ] as const
    assert.deepEqual(beside({ ...runs, also }), [
      'also  it waits for you: "Which colour?"',
      ...offered,
      'also  it is blocked: "no paint".',
    ])
  })

  test('a time in foreign words stays as it was written', () => {
    const w = new World()
    const at = w.now
    const id = item(w, { objective: `Since ${at}` })
    wait(w, { work_item_id: id, reason: `broken since ${at}` })
    const [first] = whyLines(recordOf(w, id), { ...short(w), decided: false })
    assert.equal(
      first,
      `Since ${at} waits for any event since 09:00 (just now): "broken since ${at}".`,
    )
  })

  test('what is due is shown with how long that is', () => {
    const w = new World()
    const id = item(w)
    const wake_at = new Date(Date.parse(w.now) + 30 * minute).toISOString()
    wait(w, { work_item_id: id, wake: 'timer', wake_at, reason: 'cool' })
    const lines = whyLines(recordOf(w, id), { ...short(w), decided: false })
    assert.equal(lines[1], 'next  the time resumes it; 09:30, in 30 m')
  })

  test('foreign control characters do not reach the screen', () => {
    const w = new World()
    const id = item(w, { objective: 'Red \u001b[31m' })
    wait(w, { work_item_id: id, reason: 'a\u0007b\nc' })
    const lines = whyLines(recordOf(w, id), { ...short(w), decided: true })
    // oxlint-disable-next-line no-control-regex
    assert.ok(lines.every((line) => !/[\u0000-\u001f]/.test(line)))
  })

  test('stored decisions are one line each, with what they passed over, and a line for the rest', () => {
    const w = new World()
    const one = (n: number, because: string, chosen: boolean, times = 1): DecisionRun => ({
      id: `dec_${uuid.slice(0, -1)}${n}`,
      agent_id: 'main',
      at: new Date(Date.parse(w.now) - n * 1_440 * minute).toISOString(),
      decision: 'start_turn(message)',
      because,
      work_item_id: null,
      message_id: null,
      evidence: [],
      considered: [],
      chosen,
      times,
      first_at: w.now,
    })
    const history = [one(0, 'the operator spoke', true), one(1, `task_${uuid} ended`, false, 4)]
    assert.deepEqual(historyLines(history, { ...short(w), rest: 'holon events' }), [
      'decisions about it, newest first',
      '  09:00        dec_5df0  chosen       starts a turn, because the operator spoke',
      '  1 Mar 09:00  dec_5df1  passed over  starts a turn, because task_5dfb ended' +
        ' (×4 since 09:00)',
      '  older ones: holon events',
    ])
    const considered = [
      { work_item_id: `work_${uuid}`, candidate_class: 'blocked', verdict: 'wait is active' },
      { candidate_class: 'queued_runnable', more: 4 },
    ] as const
    assert.deepEqual(
      historyLines([{ ...one(0, 'the operator spoke', false), considered }], {
        ...short(w),
        rest: null,
      }),
      [
        'decisions about it, newest first',
        '  09:00  dec_5df0  passed over  starts a turn, because the operator spoke',
        '    work_5dfb  blocked: wait is active',
        '    and 4 more that are queued_runnable',
      ],
    )
    assert.deepEqual(historyLines([], { ...short(w), rest: null }), [
      'no decision about it is stored',
    ])
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
    assert.deepEqual(entries(), [
      'question: Which?',
      'needs_input: The plan needs your input: Objective of work_0002',
    ])
    say(w, { wait_id: waitOf(w, asking).id })
    assert.deepEqual(entries(), ['question: The plan needs your input: Objective of work_0002'])
    w.do((d) => d.emit({ type: 'agent_stopped', id: 'main', by: 'operator' }))
    deliver(w, { source: 'github' })
    assert.deepEqual(entries(), [
      'question: The plan needs your input: Objective of work_0002',
      'arrived: github sent an event, but main is stopped',
    ])
  })
})
