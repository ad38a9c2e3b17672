/** What needs a person is offered where it is seen: every kind, by every act, at every width. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  actOn,
  agentAs,
  offered,
  type Action,
  type Offered,
} from '../../protocol/actions/action.ts'
import type { AttentionKind } from '../../protocol/views/attention.ts'
import { anAgentRecord, anEntry, anItemRecord, aTaskRecord } from '../../testing/screens/home.ts'
import { aState } from '../../testing/screens/state.ts'
import { openSession, press, until } from '../../testing/screens/tui-session.ts'

const now = '2026-11-21T14:05:00.000Z'
const item = { agent_id: 'ops', id: 'work_0001' }
const on = (key: Offered, label: string): Action => actOn(key, label, item)
const numbers = Array.from({ length: 20 }, (_, n) => `part${n}`)
const long = `Run "git push ${numbers.join(' ')}"?`
const lasting = 'yes, for all that this agent does, for 7 days: also git push to part1 and on'
const choices = ['yes', lasting, 'no'].map((label, n) => ({ key: `${n + 1}`, label }))

/** What the record of each kind may name. */
const actsOf: { readonly [K in AttentionKind]: readonly Action[] } = {
  approval: [on('answer_held', 'answer')],
  question: [on('answer', 'answer')],
  held: [actOn('start_agent', 'try again, once it is settled', agentAs('ops'))],
  failed_turn: [actOn('send', 'say it again, or differently', agentAs('ops'))],
  budget: [on('update_item', 'raise its budget'), on('unblock', 'let it go on')],
  needs_input: [on('send', 'answer')],
  imported: [on('pick', 'pick it')],
  blocked: [on('unblock', 'let it go on')],
  check_failed: [on('run_checks', 'run its checks again')],
  check_asked: [on('answer_check', 'answer it')],
  dead_message: [actOn('send', 'say it again, or differently', agentAs('ops'))],
  dead_delivery: [on('redeliver', 'deliver it again')],
  late_result: [actOn('send', 'have the agent look at it', agentAs('ops'))],
  arrived: [actOn('start_agent', 'start the agent', agentAs('ops'))],
  cancelling: [on('stop_task', 'stop it again')],
  worktree_kept: [
    on('remove_worktree', 'remove it, once merged'),
    on('discard_worktree', 'discard it; a snapshot keeps it'),
  ],
}

type Size = readonly [number, number]
const sizes: readonly Size[] = [
  [40, 24],
  [80, 24],
  [120, 40],
  [200, 50],
]

function opened(
  t: Parameters<typeof openSession>[0],
  kind: AttentionKind,
  acts: readonly Action[],
  size: Size,
) {
  const can = [...acts, on('snooze', 'put it away')].map((one) => offered(one))
  const text = kind === 'approval' ? `${long}\n1. yes\n2. no` : 'It stands.'
  const bound = kind === 'approval' || kind === 'question' ? 'abcdef0123' : null
  const more = { work_item_id: 'work_0001', can, bound_hash: bound, choices } as const
  const entries = [anEntry('task_0001', kind, 'ops', text, more)]
  let attention = entries
  const state = () =>
    aState({
      now,
      last_seq: attention.length === 0 ? 2 : 1,
      attention,
      attention_total: attention.length,
      work_items: [anItemRecord('work_0001', 'ops', 'Publish 2.4.0')],
      agents: [anAgentRecord('ops', { model: 'openai/gpt-5.2' })],
    })
  const run = { n: 1, state: 'owed' }
  const check = { kind: 'person', name: 'look', question: 'Is it well?', run }
  const path = '/agents/ops/work-items/work_0001'
  const answers = {
    [path]: { ...anItemRecord('work_0001', 'ops', 'Publish 2.4.0'), checks: [check] },
  }
  const at = openSession(t, state, { size, answers })
  return at.then(async (session) => {
    await until(session.session, () => session.session.isWhole())
    const settle = () => {
      attention = []
      return state()
    }
    return { ...session, settle }
  })
}

/** The words of a screen in a row, whatever was wrapped: without what is beside them. */
const joined = (lines: readonly string[]): string => lines.map((one) => one.trim()).join(' ')

for (const size of sizes) {
  describe(`at ${size.join('x')}`, () => {
    for (const [kind, acts] of Object.entries(actsOf) as [AttentionKind, readonly Action[]][]) {
      test(`the row and the thread of ${kind} name the key that settles it`, async (t) => {
        const { session, lines } = await opened(t, kind, acts, size)
        press(session, 'n')
        const words = acts.map(({ label }) => label).join(', ')
        const left = lines().map((one) => one.split('│')[0] ?? '')
        assert.ok(joined(left).includes(`a ${words}`), lines().join('\n'))
        assert.match(lines().at(-1) ?? '', /^a /)
        press(session, 'enter')
        assert.match(lines().at(-1) ?? '', /^a /)
        press(session, 'esc', 'a')
        const { notice, overlay, writing } = session.model
        const isDone = overlay !== null || writing !== null || notice?.bad !== true
        assert.ok(isDone, `${notice?.text}`)
      })
    }
  })
}

test('an act is offered where a does it, and only there', async (t) => {
  const kinds: { readonly [K in Offered]: AttentionKind } = {
    ...{ answer: 'question', answer_held: 'approval', answer_check: 'check_asked' },
    ...{ run_checks: 'check_failed', update_item: 'budget', configure_agent: 'held' },
    ...{ unblock: 'blocked', pick: 'imported', send: 'failed_turn', start_agent: 'held' },
    ...{ stop_task: 'cancelling', redeliver: 'dead_delivery' },
    ...{ remove_worktree: 'worktree_kept', discard_worktree: 'worktree_kept' },
    ...{ snooze: 'blocked', dismiss: 'blocked', stop_agent: 'blocked', abort: 'blocked' },
    ...{ delete_agent: 'blocked', create_item: 'blocked', import_item: 'blocked' },
    ...{ start_task: 'blocked', create_trigger: 'blocked', create_schedule: 'blocked' },
    ...{ complete: 'blocked', trigger: 'blocked', take_back: 'blocked', cancel_wait: 'blocked' },
    ...{ task_input: 'blocked', snapshot_worktree: 'blocked', restore_worktree: 'blocked' },
    ...{ revoke_grant: 'blocked', reset_trigger: 'blocked', revoke_trigger: 'blocked' },
    ...{ change_schedule: 'blocked', pause_schedule: 'blocked', resume_schedule: 'blocked' },
    ...{ remove_schedule: 'blocked' },
  }
  for (const [key, kind] of Object.entries(kinds) as [Offered, AttentionKind][]) {
    const { session, lines } = await opened(t, kind, [on(key, `do ${key}`)], [80, 24])
    press(session, 'n')
    const isOffered = lines().at(-1)?.startsWith('a ') === true
    press(session, 'a')
    const { notice, overlay, writing } = session.model
    const isDone = overlay !== null || writing !== null || notice?.bad !== true
    assert.equal(isDone, isOffered, `${key}: ${notice?.text}`)
    session.close()
  }
})

test('what only a shell does is offered by its line', async (t) => {
  const resume: Action = { ...on('pick', 'try again'), key: 'resume', cli: 'holon run --resume' }
  const { session, text } = await opened(t, 'held', [resume], [80, 24])
  press(session, 'n')
  assert.match(text(), /\$ holon run --resume {3}z snooze {3}enter open/)
})

for (const size of sizes) {
  test(`at ${size.join('x')} all that one decides on stands in the box`, async (t) => {
    const { session, lines } = await opened(t, 'approval', actsOf.approval, size)
    press(session, 'n', 'a')
    const at = lines().findIndex((one) => one.startsWith('APPROVAL'))
    const box = lines().slice(at)
    const all = joined(box)
    for (const words of [long, 'bound to exactly this (abcdef)', 'do not run it, and say why']) {
      assert.ok(all.includes(words), box.join('\n'))
    }
    for (const { label } of choices) assert.ok(all.includes(label), box.join('\n'))
    assert.ok(!all.includes('…'))
    assert.match(lines().at(-1) ?? '', /its key, then enter.*esc leaves it/)
  })
}

test('a box whose text and choices do not fit says how much there is, and goes through it', async (t) => {
  const { session, text, stage } = await opened(t, 'approval', actsOf.approval, [40, 10])
  press(session, 'n', 'a')
  await stage.clock.advance(500)
  assert.match(text(), /text 1-\d+\/\d+: page/)
  const seen = new Set<string>()
  for (let n = 0; n < 12; n += 1) {
    for (const one of text().split('\n')) seen.add(one.trim())
    press(session, 'pagedown')
  }
  for (let n = 0; n < choices.length + 1; n += 1) {
    press(session, 'down')
    for (const one of text().split('\n')) seen.add(one.trim())
  }
  const all = [...seen].join(' ')
  assert.deepEqual(
    numbers.filter((one) => !all.includes(one)),
    [],
  )
  for (const words of ['bound to exactly this (abcdef)', 'for 7 days', 'and on', 'and say why']) {
    assert.ok(all.includes(words), `${words}: ${all}`)
  }
})

test('a box closes when its question was settled elsewhere, and says so shortly', async (t) => {
  const { session, text, settle } = await opened(t, 'approval', actsOf.approval, [80, 24])
  press(session, 'n', 'a')
  assert.match(text(), /APPROVAL task_0001/)
  session.send({ kind: 'state', state: settle(), url: '' })
  assert.equal(session.model.overlay, null)
  assert.match(text(), /task_0001 was settled elsewhere, 14:05; nothing was sent/)
})

test('words to a question that was settled elsewhere stay, and their box says so', async (t) => {
  const { session, text, settle, stage } = await opened(t, 'question', actsOf.question, [80, 24])
  press(session, 'n', 'a')
  await stage.clock.advance(500)
  press(session, 'tab', 'h', 'i')
  session.send({ kind: 'state', state: settle(), url: '' })
  assert.match(text(), /it was settled elsewhere\n> hi/)
})

test('what the runtime says is told with short ids and by the clock', async (t) => {
  const { session, text } = await opened(t, 'approval', actsOf.approval, [80, 24])
  const id = 'wait_01a21740-8a29-746c-9e1f-0123456789ab'
  session.send({
    kind: 'acted',
    says: '',
    failure: `${id} was answered at 2026-11-21T14:03:00.000Z`,
  })
  assert.match(text(), /wait_89ab was answered at 14:03/)
})

test('a command that has ended is offered no stop and no input, and takes none', async (t) => {
  const can = (allowed: boolean) =>
    [on('stop_task', 'stop it'), on('task_input', 'write')].map((one) => ({
      ...offered(one),
      allowed,
    }))
  for (const [ended_at, offers] of [
    [null, true],
    [now, false],
  ] as const) {
    const task = aTaskRecord('task_a3d0', { ended_at, can: can(offers) })
    const state = () => aState({ now, tasks: [task], agents: [anAgentRecord('default')] })
    const { session, lines } = await openSession(t, state)
    const place = { at: 'task', agent_id: 'default', task_id: task.id, stream: 'stdout' } as const
    session.send({ kind: 'place', place })
    assert.equal(/x stop it {2}c write/.test(lines().at(-1) ?? ''), offers)
    press(session, 'c')
    assert.equal(session.model.writing !== null, offers)
  }
})
