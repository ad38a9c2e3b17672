import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, itemRow, World } from '../../testing/world/agent-world.ts'
import { does, refusal } from '../../testing/world/operator-inputs.ts'
import type { CheckGiven } from './spec.ts'
import type { CheckRunEnd } from '../state/check.ts'
import { answerCheck, finishRun, giveUpChecks, nextRun, runAgain, startCommand } from './checks.ts'
import { completeItem, runningTasks } from '../work/complete.ts'
import type { WorkItemId } from '../ids.ts'
import { endTask } from '../inbox/admit.ts'
import { violations } from '../invariants/of-an-agent.ts'
import { createItem, updateItem } from '../work/create-and-update.ts'
import { limits } from '../limits.ts'
import { isRejection } from '../rejection.ts'
import { verificationOf } from '../facts/verification.ts'

const tests: CheckGiven = { kind: 'command', name: 'tests', cmd: 'npm test' }
const page: CheckGiven = { kind: 'http', name: 'page', url: 'http://127.0.0.1/', status: 200 }
const look: CheckGiven = { kind: 'person', name: 'look', question: 'Does it look right?' }
const tree = { hash: 'a', problem: null } as const

/** A completed item with these checks. */
function completed(w: World, ...checks: CheckGiven[]): WorkItemId {
  const id = item(w)
  does(w, { do: 'update_item', work_item_id: id, checks })
  w.do((d) => completeItem(d, { work_item_id: id, by: 'agent', report: 'All pass.', turn: null }))
  return id
}

const end = (outcome: CheckRunEnd['outcome'], more: Partial<CheckRunEnd> = {}): CheckRunEnd => ({
  outcome,
  exit_status: null,
  reason: null,
  tail: '',
  tree: { before: tree, after: tree },
  started_at: '2026-03-02T09:00:00.000Z',
  ...more,
})

const finishes = (w: World, id: WorkItemId, name: string, result: CheckRunEnd, n = 1) =>
  w.do((d) => {
    finishRun(d, { work_item_id: id, name, n }, result, 'runtime')
    return { ok: true } as const
  })

const types = (w: World) => w.last.map(({ type }) => type)
const stateOf = (w: World, id: WorkItemId) => verificationOf(itemRow(w, id)).state
const sound = (w: World) => assert.deepEqual(violations(w.facts, w.events), [])

test('the completing commit owes every check, and the item is completed whatever they come to', () => {
  const w = new World()
  const id = completed(w, tests, look)
  assert.deepEqual(types(w).slice(0, 3), ['work_item_completed', 'check_owed', 'check_owed'])
  assert.equal(itemRow(w, id).state, 'completed')
  assert.equal(stateOf(w, id), 'pending')
  assert.deepEqual(
    itemRow(w, id).checks.map(({ run }) => run?.state),
    ['owed', 'owed'],
  )
  sound(w)
})

test('a command is begun once for each run: its task is a row first, and its end no message', () => {
  const w = new World()
  const id = completed(w, tests)
  const run = { work_item_id: id, name: 'tests', n: 1 }
  const start_place = { boot: 'boot', tasks: 'tasks' }
  const start = { task_id: 'task_1', workdir: '/w', start_place, output_path: '/t', tree } as const
  assert.equal(
    w.do((d) => startCommand(d, run, start)),
    true,
  )
  assert.deepEqual(types(w), ['task_queued', 'check_started', 'task_promoted'])
  assert.equal(
    w.do((d) => startCommand(d, run, { ...start, task_id: 'task_2' })),
    false,
  )
  assert.equal(nextRun(w.facts)?.check.run?.state, 'running')
  assert.deepEqual(runningTasks(w.facts, id), [], 'a check judges the item and is no work of it')
  w.do((d) =>
    endTask(d, {
      task_id: 'task_1',
      status: 'completed',
      reason: null,
      exit_status: 0,
      output_bytes: 0,
      ended_at: w.now,
      body: 'x',
    }),
  )
  assert.deepEqual(types(w), ['task_ended'])
  finishes(w, id, 'tests', end('passed', { exit_status: 0 }))
  assert.deepEqual(types(w), ['check_finished'])
  assert.equal(stateOf(w, id), 'verified')
  sound(w)
})

test('a failure is told once, when nothing is left to run: one brief and one message', () => {
  const w = new World()
  const id = completed(w, tests, page)
  finishes(w, id, 'tests', end('failed', { exit_status: 1, tail: 'not ok 3' }))
  assert.deepEqual(types(w), ['check_finished'])
  finishes(w, id, 'page', end('passed', { exit_status: 200 }))
  assert.deepEqual(types(w), ['check_finished', 'brief_delivered', 'message_admitted'])
  const [brief] = w.lastOf('brief_delivered')
  assert.equal(brief?.kind, 'failure')
  assert.equal(
    brief?.text,
    `1 of 2 checks failed: tests.\n- tests (npm test): failed, exit status 1\nnot ok 3\n` +
      `All of it: holon work check list ${id}`,
  )
  const [message] = w.lastOf('message_admitted')
  assert.deepEqual(
    [message?.priority, message?.work_item_id, message?.provenance.authority_class],
    ['normal', id, 'runtime_instruction'],
  )
  assert.equal(w.next().do, 'start_turn')
  // Again, and once more a failure: who asked for it sees it.
  does(w, { do: 'run_checks', work_item_id: id, names: ['tests'] })
  finishes(w, id, 'tests', end('unknown'), 2)
  assert.deepEqual(types(w), ['check_finished'])
  sound(w)
})

test('checks that all pass are told nobody', () => {
  const w = new World()
  const id = completed(w, page, { ...page, name: 'other' })
  finishes(w, id, 'page', end('passed'))
  finishes(w, id, 'other', end('passed'))
  assert.deepEqual(types(w), ['check_finished'])
  assert.deepEqual(w.next().do, 'sleep')
})

test('a person answers the run that was shown, once; the loser hears that it is answered', () => {
  const w = new World()
  const id = completed(w, look)
  const answer = {
    do: 'answer_check',
    work_item_id: id,
    name: 'look',
    run: 1,
    passed: true,
  } as const
  assert.equal(refusal(w, { ...answer, run: 2 }), 'check_answered')
  does(w, { ...answer, words: 'Neat.' })
  assert.equal(stateOf(w, id), 'verified')
  assert.equal(refusal(w, { ...answer, passed: false }), 'check_answered')
  does(w, { do: 'run_checks', work_item_id: id })
  assert.equal(stateOf(w, id), 'pending')
  assert.equal(refusal(w, { ...answer, passed: false }), 'check_answered')
  does(w, { ...answer, run: 2, passed: false, words: 'Not any more.' })
  assert.equal(stateOf(w, id), 'failed')
  sound(w)
})

test('nobody but the operator sets checks: an agent that would is a bug', () => {
  const w = new World()
  const id = item(w)
  const checks = [{ ...look, run: null }] as never
  const update = { work_item_id: id, by: 'agent', checks } as const
  assert.throws(() => w.try((d) => updateItem(d, update)), /agent sets the checks/)
  const { objective, plan_status, todo_list, plan_artifact: plan } = itemRow(w, id)
  const made = { id: 'work_x', by: 'agent', objective, plan_status, todo_list, plan } as const
  assert.throws(
    () => w.try((d) => createItem(d, { ...made, budget: null, checks })),
    /agent sets the checks/,
  )
})

test('bad checks, and acts at the wrong time, are refused by name', () => {
  const w = new World()
  const id = item(w)
  const none = item(w)
  does(w, { do: 'complete', work_item_id: none })
  const sets = (...checks: CheckGiven[]) =>
    refusal(w, { do: 'update_item', work_item_id: id, checks })
  const many = Array.from({ length: limits.checks.value + 1 }, (_, n) => ({
    ...look,
    name: `c${n}`,
  }))
  const file = { kind: 'file', name: 'file', path: 'a', expect: { exists: true } } as const
  const rows: [given: CheckGiven[], code: string][] = [
    [[tests, tests], 'check_invalid'],
    [many, 'over_limit'],
    [[{ ...tests, name: 'Not A Name' }], 'check_invalid'],
    [[{ ...tests, cmd: '  ' }], 'check_invalid'],
    [[{ ...tests, cmd: 'a\0b' }], 'check_invalid'],
    [[{ ...tests, cmd: 'x'.repeat(limits.check_cmd.value + 1) }], 'over_limit'],
    [[{ ...tests, timeout_ms: 0 }], 'check_invalid'],
    [[{ ...tests, timeout_ms: 1.5 }], 'check_invalid'],
    [[{ ...tests, timeout_ms: limits.check_time.value + 1 }], 'over_limit'],
    [[{ ...tests, workdir: '../elsewhere' }], 'check_invalid'],
    [[{ ...tests, workdir: '/etc' }], 'check_invalid'],
    [[{ ...file, path: '/w/../etc/passwd' }], 'check_invalid'],
    [[{ ...file, path: '/workspace-of-another' }], 'check_invalid'],
    [[{ ...file, path: 'a/../../b' }], 'check_invalid'],
    [[{ ...file, path: '' }], 'check_invalid'],
    [[{ ...file, expect: { sha256: 'abc' } }], 'check_invalid'],
    [[{ ...file, expect: { contains: '' } }], 'check_invalid'],
    [[{ ...page, url: 'file:///etc/passwd' }], 'check_invalid'],
    [[{ ...page, url: 'not a url' }], 'check_invalid'],
    [[{ ...page, url: 'http://me:secret@127.0.0.1/' }], 'check_invalid'],
    [[{ ...page, status: 99 }], 'check_invalid'],
    [[{ ...look, question: '' }], 'check_invalid'],
  ]
  for (const [given, code] of rows) assert.equal(sets(...given), code, JSON.stringify(given[0]))
  does(w, { do: 'update_item', work_item_id: id, checks: [tests, { ...file, path: '/w/a' }] })
  assert.equal(refusal(w, { do: 'run_checks', work_item_id: id }), 'check_not_owed')
  assert.equal(refusal(w, { do: 'run_checks', work_item_id: none }), 'check_not_found')
  does(w, { do: 'complete', work_item_id: id })
  assert.equal(sets(tests), 'work_item_completed')
  assert.equal(refusal(w, { do: 'run_checks', work_item_id: id }), 'checks_running')
  assert.equal(refusal(w, { do: 'run_checks', work_item_id: id, names: ['x'] }), 'check_not_found')
  const answer = { do: 'answer_check', work_item_id: id, run: 1, passed: true } as const
  assert.equal(refusal(w, { ...answer, name: 'tests' }), 'check_no_question')
  assert.equal(refusal(w, { ...answer, name: 'x' }), 'check_not_found')
})

test('an item stays among the facts until its checks verify it, however many came after', () => {
  const w = new World()
  const id = completed(w, page)
  for (let n = 0; n < 30; n += 1) does(w, { do: 'complete', work_item_id: item(w) })
  w.reload()
  assert.equal(nextRun(w.facts)?.item.id, id)
  finishes(w, id, 'page', end('failed'))
  w.reload()
  assert.ok(w.facts.row('work_items', id))
})

test('what was still to run when its agent is deleted is not known', () => {
  const w = new World('docs')
  const id = completed(w, tests, look)
  does(w, { do: 'delete_agent' })
  assert.equal(stateOf(w, id), 'unknown')
  sound(w)
})

test('a failure names each check that failed, the end of its output, and where all of it is', () => {
  const w = new World()
  const id = completed(w, tests, page, look)
  w.do((d) => {
    const command = { task_id: 'task_c', workdir: '/w', output_path: '/o', timeout_ms: 1, tree }
    startCommand(d, { work_item_id: id, name: 'tests', n: 1 }, command as never)
    return { ok: true } as const
  })
  finishes(w, id, 'tests', end('failed', { exit_status: 1, tail: `${'x'.repeat(700)}\n` }))
  finishes(w, id, 'page', end('failed', { exit_status: 503 }))
  const [brief] = w.lastOf('brief_delivered')
  const lines = brief?.text.split('\n') ?? []
  assert.deepEqual(lines.slice(1), [
    '- tests (npm test): failed, exit status 1',
    `…${'x'.repeat(599)}`,
    '(everything it printed: task_c)',
    '- page (GET http://127.0.0.1/ is 200): failed, HTTP status 503',
    `All of it: holon work check list ${id}`,
  ])
  const [message] = w.lastOf('message_admitted')
  const told = message?.body.split('\n') ?? []
  // What a program printed stands in quotes where the runtime speaks.
  assert.deepEqual(told.slice(1), [
    `- tests (npm test): failed, exit status 1; it printed "…${'x'.repeat(599)}" (everything: task_c)`,
    lines[4],
  ])
  assert.equal(
    told[0],
    `The runtime ran the checks that the operator wants of ${id}, which is completed: ` +
      `${lines[0]} It stays completed, and is not verified. If work is left, create a work item ` +
      'for it.',
  )
})

test('an answer to a check says which way it went', () => {
  for (const passed of [true, false]) {
    const w = new World()
    const work_item_id = completed(w, look)
    const reply = does(w, { do: 'answer_check', work_item_id, name: 'look', run: 1, passed })
    assert.deepEqual(
      [reply.said, reply.id],
      [`look of ${work_item_id} is answered: ${passed ? 'passed' : 'failed'}.`, work_item_id],
    )
  }
})

test('what cannot be run again, or answered, is refused in words', () => {
  const w = new World()
  const [open, plain, id] = [item(w), completed(w), completed(w, tests, look)]
  does(w, { do: 'update_item', work_item_id: open, checks: [tests] })
  const again = (work_item_id: string, names: string[] | null = null) =>
    w.try((d) => runAgain(d, { work_item_id, names }))
  const told = (result: object) => (isRejection(result) ? [result.code, result.message] : 'run')
  assert.deepEqual(told(again('work_none')), [
    'work_item_not_found',
    'work_none is not a work item of main.',
  ])
  assert.deepEqual(told(again(plain)), ['check_not_found', `${plain} has no checks.`])
  assert.deepEqual(told(again(open)), [
    'check_not_owed',
    `${open} is not completed: its checks run when it is.`,
  ])
  assert.deepEqual(told(again(id, ['lint'])), ['check_not_found', `"lint" is no check of ${id}.`])
  assert.deepEqual(told(again(id)), ['checks_running', `tests of ${id} are still to be run.`])
  finishes(w, id, 'tests', end('passed'))
  assert.deepEqual(told(again(id, ['look'])), [
    'checks_running',
    `What is asked of ${id} waits for a person's answer already.`,
  ])
  assert.deepEqual(again(id), { ok: true, names: ['tests'] })
  assert.deepEqual(w.last, [{ type: 'check_owed', id, name: 'tests', n: 2, by: 'operator' }])

  const say = (name: string, run = 1) =>
    told(w.try((d) => answerCheck(d, { work_item_id: id, name, run, passed: true, words: null })))
  assert.deepEqual(say('lint'), ['check_not_found', `"lint" is no check of ${id}.`])
  assert.deepEqual(say('tests'), [
    'check_no_question',
    'tests is run by the runtime, not answered.',
  ])
  assert.deepEqual(say('look', 2), ['check_answered', 'look is not open under run 2: asked again.'])
  assert.deepEqual(say('look'), 'run')
  assert.deepEqual(say('look'), [
    'check_answered',
    `look is not open under run 1: passed at ${w.now}.`,
  ])
})

test('of an agent that goes, what was still to be run is not known any more', () => {
  const w = new World()
  const id = completed(w, tests, look)
  w.do((d) => {
    giveUpChecks(d, 'it is gone')
    return { ok: true } as const
  })
  const given = {
    type: 'check_finished',
    id,
    n: 1,
    by: 'runtime',
    outcome: 'unknown',
    exit_status: null,
    reason: 'it is gone',
    tail: '',
    tree: null,
    started_at: w.now,
    told: false,
  }
  assert.deepEqual(w.last, [
    { ...given, name: 'tests' },
    { ...given, name: 'look' },
  ])
  w.do((d) => {
    giveUpChecks(d, 'it is gone')
    return { ok: true } as const
  })
  assert.deepEqual(w.last, [])
})
