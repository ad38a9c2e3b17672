/** Held commands: asked, answered, asked anew, lapsed, and over with what they are of. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { item, itemRow, say, task, wait, waitOf, World } from '../../testing/world/agent-world.ts'
import { anAction, askedOf, hold, sameAgain } from '../../testing/world/held.ts'
import { does, refusal } from '../../testing/world/operator-inputs.ts'
import { begin, end, taskEnds, turn } from '../../testing/world/turns.ts'
import { stopAgent } from '../agents/lifecycle.ts'
import { project } from '../facts/candidates.ts'
import type { TaskId, WorkItemId } from '../ids.ts'
import { violations } from '../invariants/of-an-agent.ts'
import { limits } from '../limits.ts'
import type { HeldTask } from '../state/task.ts'
import { hour, plus } from '../time.ts'
import { addReport, completeItem } from '../work/complete.ts'
import {
  askAnew,
  changedSince,
  endHeld,
  heldAlready,
  holdCommand,
  lapseHeld,
  yesEnds,
  type HeldCommand,
  type JudgedAgain,
} from './held-command.ts'
import { heldHash, heldText } from './held-text.ts'

const state = (w: World, id: WorkItemId) => project(w.facts, id, w.now)?.scheduling_state

/** An item whose turn has ended with a command of it held. */
function held() {
  const w = new World()
  const id = item(w, { focus: true })
  begin(w)
  const task = hold(w, { item: id })
  end(w, { text: 'I asked.' })
  return { w, id, task }
}

const answer = (task: HeldTask, choice: string, text?: string) =>
  ({
    do: 'answer_held',
    task_id: task.id,
    bound_hash: heldHash(task),
    choice,
    ...(text === undefined ? {} : { text }),
  }) as const

const commandOf = (id: TaskId): HeldCommand => ({
  ...askedOf(),
  id,
  call_id: 'call_0001',
  work_item_id: null,
  label: 'x',
  cmd: 'x',
  workdir: '/w',
  timeout_ms: null,
  input: 'none',
  output_path: '/x',
})

const words = (w: World) =>
  w.all('messages').map(({ kind, origin, status, body }) => `${kind} ${origin} ${status}: ${body}`)

describe('a held command', () => {
  test('is shown to the person whole, and its item waits for them, with no turn to come', () => {
    const { w, id, task } = held()
    assert.equal(task.status, 'held')
    assert.equal(
      w.all('briefs').find(({ kind }) => kind === 'question')?.text,
      'May this run? git push\nin /w\nremote writes ask\n1. yes: run it, this once\n2. no: do not run it',
    )
    assert.equal(state(w, id), 'waiting_operator')
    assert.deepEqual([w.next().do, w.next()], ['wait', { ...w.next(), for: 'operator' }])
    w.pass(24 * hour)
    assert.equal(w.next().do, 'wait')
    assert.deepEqual(violations(w.whole(), w.events), [])
  })

  test('leaves other items and the turn that asked alone', () => {
    const w = new World()
    const id = item(w, { focus: true })
    begin(w)
    hold(w, { item: id })
    assert.equal(state(w, id), 'runnable')
    const other = item(w)
    end(w)
    assert.deepEqual([state(w, id), state(w, other)], ['waiting_operator', 'runnable'])
    assert.equal(w.next().do, 'start_turn')
  })

  test('is what its item waits for, where that waits for nothing else', () => {
    const { w, id, task } = held()
    const { wake, resource, source } = waitOf(w, id)
    assert.deepEqual([wake, resource, source], ['task_result', task.id, 'approval'])
  })

  test('stands beside the item’s own wait: neither answer touches that', () => {
    for (const choice of ['yes', 'no']) {
      const w = new World()
      const id = item(w, { focus: true })
      begin(w)
      const task = hold(w, { item: id })
      wait(w, { work_item_id: id, wake: 'external', source: 'ci', reason: 'the build' })
      end(w)
      const own = waitOf(w, id)
      does(w, answer(task, choice), { again: sameAgain() })
      assert.deepEqual([own.wake, waitOf(w, id)], ['external', own])
      assert.deepEqual(violations(w.whole(), w.events), [])
    }
  })

  test('the same of the same item is known, and another is not', () => {
    const { w, id, task } = held()
    assert.equal(heldAlready(w.facts, askedOf(), id)?.id, task.id)
    assert.equal(heldAlready(w.facts, askedOf(), null), null)
    assert.equal(heldAlready(w.facts, askedOf(anAction('other')), id), null)
    const woken = anAction('woken', { origin: 'external' })
    assert.equal(heldAlready(w.facts, askedOf(woken), id)?.id, task.id)
    const elsewhere = anAction('elsewhere', { origin: 'external', workspace: '/elsewhere' })
    assert.equal(heldAlready(w.facts, askedOf(elsewhere), id), null)
  })

  test('one more than the limit is refused, and the others stay', () => {
    const w = new World()
    for (let n = 0; n < limits.held_commands.value; n += 1) hold(w)
    assert.equal(
      w.refused((d) => holdCommand(d, commandOf('task_more'))),
      'over_limit',
    )
  })

  test('shows lines of a command as its lines, whatever they say', () => {
    const { task } = held()
    const cmd = 'rm -r build\nin /tmp\r\nit only looks\u2028no: do not run it'
    assert.equal(
      heldText({ ...task, cmd }),
      'May this run? rm -r build\n  | in /tmp\n  | it only looks\n  | no: do not run it\nin /w\n' +
        'remote writes ask',
    )
  })

  test('that is longer than a person reads is not asked about', () => {
    const w = new World()
    const cmd = 'x'.repeat(limits.question.value + 1)
    assert.equal(
      w.refused((d) => holdCommand(d, { ...commandOf('task_long'), cmd })),
      'over_limit',
    )
  })

  test('does not count among the commands that run', () => {
    const w = new World()
    for (let n = 0; n < limits.held_commands.value; n += 1) hold(w)
    assert.equal(task(w).status, 'running')
  })
})

describe('a yes', () => {
  test('queues it once, as a message to come, and its item waits for the end', () => {
    const { w, id, task } = held()
    does(w, answer(task, 'yes'), { again: sameAgain() })
    const row = w.row('tasks', task.id)
    assert.deepEqual(
      [row.status, row.promoted, row.start_place, row.held?.answer],
      [
        'queued',
        true,
        { boot: 'boot', tasks: 'tasks' },
        { allowed: true, words: '', surface: 'cli_prompt', at: w.now },
      ],
    )
    assert.equal(state(w, id), 'waiting_task')
    assert.deepEqual(words(w), [])
    assert.equal(refusal(w, answer(task, 'yes'), { again: sameAgain() }), 'already_answered')
    taskEnds(w, row)
    assert.equal(w.next().do, 'start_turn')
    assert.deepEqual(violations(w.whole(), w.events), [])
  })

  test('is told with the end that it brings, and its item waits for that', () => {
    for (const [words, said] of [
      ['', ''],
      ['only once', ', with the words "only once"'],
    ] as const) {
      const { w, id, task } = held()
      does(w, answer(task, 'yes', words), { again: sameAgain() })
      const { at } = w.row('tasks', task.id).held?.answer ?? assert.fail('no answer')
      assert.equal(waitOf(w, id).reason, 'the end of git push: the operator said yes')
      w.do((d) => d.emit({ type: 'task_started', id: task.id, pid: 7, started_at: w.now }))
      taskEnds(w, w.row('tasks', task.id))
      const [end] = w.all('messages').filter(({ kind }) => kind === 'task_result')
      assert.equal(end?.body.split('\n')[0], `The operator said yes at ${at}${said}; it ran.`)
    }
  })

  test('to what has no start says nothing of a run', () => {
    const { w, task } = held()
    does(w, answer(task, 'yes'), { again: sameAgain() })
    w.do((d) => endHeld(d, w.row('tasks', task.id), 'the policy refuses it now'))
    const [end] = w.all('messages').filter(({ kind }) => kind === 'task_result')
    assert.match(
      end?.body ?? '',
      /^The operator said yes at \S+\.\ngit push did not run: the policy/,
    )
  })

  test('to a rule that allows it by now is a yes all the same', () => {
    const { w, task } = held()
    const again: JudgedAgain = {
      verdict: 'allow',
      action: task.held.action,
      policy_revision: 'rev-2',
    }
    does(w, answer(task, 'yes'), { again })
    assert.equal(w.row('tasks', task.id).status, 'queued')
  })

  const changes: [name: string, again: JudgedAgain | null, said: string][] = [
    ['nobody can judge it', null, 'what it would do cannot be looked at'],
    [
      'the command is another',
      sameAgain(askedOf(anAction('other', { workspace: '/v' }))),
      'what it would do is not the same any more (workspace)',
    ],
    [
      'the rule allows another',
      { verdict: 'allow', action: anAction('other', { confined: true }), policy_revision: 'r' },
      'what it would do is not the same any more (confined)',
    ],
  ]
  for (const [name, again, said] of changes) {
    test(`runs nothing where ${name}: it is asked anew, and the old mark is no answer`, () => {
      const { w, id, task } = held()
      const reply = does(w, answer(task, 'yes'), { again })
      assert.deepEqual(reply.warnings, [
        { kind: 'held_again', message: `It is asked anew: ${said}.` },
      ])
      const row = w.row('tasks', task.id) as HeldTask
      assert.deepEqual([row.status, row.held.answer, row.held.changed], ['held', null, said])
      assert.match(heldText(row), /Asked anew: what it would do/)
      assert.equal(state(w, id), 'waiting_operator')
      w.pass(1)
      assert.deepEqual(violations(w.whole(), w.events), [])
    })
  }

  test('to what the policy refuses by now ends it, and the agent is told', () => {
    const { w, task } = held()
    does(w, answer(task, 'yes'), { again: { verdict: 'deny', why: 'never push' } })
    assert.deepEqual(
      [w.row('tasks', task.id).status, w.row('tasks', task.id).reason],
      ['cancelled', 'the policy refuses it now: never push'],
    )
    assert.deepEqual(words(w), [
      'task_result task queued: git push did not run: the policy refuses it now: never push. ' +
        'The same may be asked for again.',
    ])
  })

  test('with the mark of another question is refused', () => {
    const { w, task } = held()
    const other = { ...answer(task, 'yes'), bound_hash: 'other' }
    assert.equal(refusal(w, other, { again: sameAgain() }), 'question_changed')
    assert.equal(refusal(w, answer(task, 'maybe'), { again: sameAgain() }), 'choice_unknown')
    assert.equal(refusal(w, { ...answer(task, 'yes'), task_id: 'task_x' }), 'task_not_found')
  })

  test('that is a day old when nothing has begun is asked anew', () => {
    const { w, task } = held()
    does(w, answer(task, 'yes'), { again: sameAgain() })
    const row = w.row('tasks', task.id)
    assert.equal(yesEnds(row), plus(w.now, 24 * hour))
    w.do((d) => askAnew(d, row, 'the yes was given more than a day ago', sameAgain()))
    assert.deepEqual(
      [w.row('tasks', task.id).status, w.row('tasks', task.id).promoted],
      ['held', false],
    )
    does(w, answer(w.row('tasks', task.id) as HeldTask, 'yes'), { again: sameAgain() })
    assert.equal(w.row('tasks', task.id).status, 'queued')
    assert.deepEqual(violations(w.whole(), w.events), [])
  })
})

describe('a no', () => {
  test('is the first thing the model reads, in the person’s own words', () => {
    const { w, id, task } = held()
    does(w, answer(task, 'no', 'Use a branch.'))
    assert.deepEqual(words(w), [
      `operator_prompt operator queued: Use a branch.\n\n(The operator's answer to ${task.id}, ` +
        'which was held: it does not run. git push)',
    ])
    assert.deepEqual(
      [w.row('tasks', task.id).status, w.row('tasks', task.id).reason],
      ['cancelled', 'the operator said no: Use a branch.'],
    )
    assert.equal(state(w, id), 'runnable')
    assert.equal(w.next().do, 'start_turn')
    assert.deepEqual(violations(w.whole(), w.events), [])
  })

  test('without words says no', () => {
    const { w, task } = held()
    does(w, answer(task, 'no'))
    assert.match(words(w)[0] ?? '', /^operator_prompt operator queued: No\.\n/)
  })
})

describe('nobody’s answer', () => {
  test('lapses at its time, once, and is no no', () => {
    const w = new World()
    const id = item(w, { focus: true })
    begin(w)
    const task = hold(w, { item: id, lapses_at: plus(w.now, hour) })
    end(w)
    w.do((d) => lapseHeld(d))
    assert.equal(w.row('tasks', task.id).status, 'held')
    assert.deepEqual(w.next(), { ...w.next(), do: 'wait', until: plus(w.now, hour) })
    w.pass(2 * hour).reload()
    w.do((d) => lapseHeld(d))
    assert.equal(w.row('tasks', task.id).reason, 'nobody answered')
    const size = w.events.length
    w.do((d) => lapseHeld(d))
    assert.equal(w.events.length, size)
    assert.equal(words(w).length, 1)
    assert.equal(refusal(w, answer(task, 'yes'), { again: sameAgain() }), 'already_answered')
    assert.deepEqual(violations(w.whole(), w.events), [])
  })
})

describe('what it is of ends', () => {
  test('with its item, whose report says that nothing ran, now or later', () => {
    for (const report of ['Done.', null]) {
      const w = new World()
      const id = item(w, { focus: true })
      const [turn, by] = [begin(w), 'agent' as const]
      const task = hold(w, { item: id })
      w.do((d) => completeItem(d, { work_item_id: id, by, report, turn }))
      if (report === null) w.do((d) => addReport(d, id, turn, 'Done.'))
      const [brief] = w.all('briefs').filter(({ kind }) => kind === 'result')
      assert.deepEqual(brief?.warnings, [
        {
          kind: 'held_tasks',
          message: "A command of the item waited for the operator's yes: it did not run.",
          tasks: [{ task_id: task.id, label: task.label }],
        },
      ])
      assert.match(brief?.text ?? '', /it did not run/)
    }
  })

  test('with its item: it is cancelled and nothing is said', () => {
    const { w, id, task } = held()
    w.do((d) => completeItem(d, { work_item_id: id, by: 'operator', report: 'Done.', turn: null }))
    assert.deepEqual(
      [w.row('tasks', task.id).reason, itemRow(w, id).state, words(w)],
      ['its item is completed', 'completed', []],
    )
    assert.deepEqual(violations(w.whole(), w.events), [])
  })

  test('with its agent', () => {
    const { w, task } = held()
    w.do(stopAgent)
    assert.equal(w.row('tasks', task.id).reason, 'its agent is stopped')
    assert.deepEqual(violations(w.whole(), w.events), [])
  })
})

test('words to its item start a turn and decide nothing', () => {
  const { w, id, task } = held()
  say(w, { work_item_id: id, text: 'yes' })
  assert.equal(w.row('tasks', task.id).status, 'held')
  turn(w)
  assert.equal(state(w, id), 'waiting_operator')
})

test('what would be the same is not changed', () => {
  assert.equal(changedSince({ action: anAction() }, sameAgain()), null)
})
