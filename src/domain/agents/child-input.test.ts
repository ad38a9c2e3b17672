/** What a parent tells its child: an answer resolves the question that was asked, and no other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, task, waitOf, type World } from '../../testing/world/agent-world.ts'
import { answer, ask, begin, end, run, taskEnds } from '../../testing/world/turns.ts'
import { FamilyWorld } from '../../testing/world/family-world.ts'
import { changes, handedOver, makes, reports, waits } from '../../testing/world/family-turns.ts'
import { tellableTask, tellChild, type ChildInput } from './child-input.ts'
import { openTurn } from '../facts/facts.ts'
import type { WorkItemId } from '../ids.ts'
import { limits } from '../limits.ts'
import { noUse } from '../state/meter.ts'
import { alignBudgets, holdForBudget, openMeter } from '../budgets/settle.ts'
import { holdAgent, releaseHolds } from '../scheduler/park.ts'
import { delegated } from '../state/provenance.ts'
import { plus } from '../time.ts'
import { nextStep } from '../turns/step.ts'

/** A child that asks, and a parent that was told. */
function asked(reason = 'All words?') {
  const made = handedOver()
  const id = makes(made.child)
  waits(made.child, { work_item_id: id, wake: 'operator_input', reason })
  made.family.relay(made.child)
  return { ...made, id, wait_id: waitOf(made.child, id).id }
}

const codeOf = (told: object) => ('code' in told ? told.code : 'was not refused')
const input = (given: Partial<ChildInput> = {}): ChildInput => ({
  text: 'All of them.',
  provenance: delegated([]),
  key: 'call_1',
  earlier: null,
  ...given,
})

test('an answer resolves the question, gives focus back, and is a message of the parent', () => {
  const { family, main, child, id, wait_id } = asked()
  const told = family.tell(child, 'All of them.', 'call_1')
  const as = { message_id: 'msg_0003', answered: true, priority: 'next' }
  assert.deepEqual(told, { ok: true, ...as })
  const message = child.row('messages', 'msg_0003')
  assert.deepEqual(message, {
    ...message,
    kind: 'delegation',
    origin: 'agent',
    priority: 'next',
    body: 'All of them.',
    dedupe_key: 'call_1',
    work_item_id: id,
    wait_id,
    status: 'queued',
  })
  assert.deepEqual(
    child.lastOf('wait_resolved').map(({ by }) => by),
    [{ kind: 'operator', message_id: 'msg_0003' }],
  )
  assert.equal(family.taskOf(child).asking, null)
  assert.equal(main.all('messages')[0]?.status, 'consumed', 'the question is not to be read')
  assert.equal(family.relay(child), 0)
  assert.deepEqual(family.violations(true), [])
})

test('an item that nothing can wake is told about, and asked again if that changed nothing', () => {
  const { family, child } = handedOver()
  const id = makes(child)
  changes(child, id, { blocked_by: 'no key' })
  ask(child)
  answer(child)
  end(child)
  family.relay(child)
  assert.equal(family.taskOf(child).asking?.wait_id, null)
  const told = family.tell(child, 'Go on without.', 'call_1')
  const as = { message_id: 'msg_0003', answered: false, priority: 'next' }
  assert.deepEqual(told, { ok: true, ...as })
  assert.equal(child.row('messages', 'msg_0003').work_item_id, id)
  begin(child, 'message')
  family.relay(child)
  assert.equal(family.taskOf(child).asking, null)
  ask(child)
  answer(child)
  end(child)
  family.relay(child)
  assert.equal(family.taskOf(child).asking?.work_item_id, id)
})

test('a word that nobody asked for is one more message, about nothing', () => {
  const { family, child } = handedOver()
  assert.deepEqual(family.tell(child, 'Also the titles.', 'call_1'), {
    ok: true,
    message_id: 'msg_0002',
    answered: false,
    priority: 'next',
  })
  const { work_item_id, wait_id, status } = child.row('messages', 'msg_0002')
  assert.deepEqual([work_item_id, wait_id, status], [null, null, 'queued'])
})

test('an answer to a question that is over resolves nothing, and not the one after it', () => {
  const { family, child, id, wait_id } = asked()
  child.do((d) => d.emit({ type: 'wait_cancelled', id: wait_id, by: 'agent', because: 'x' }))
  begin(child)
  ask(child)
  answer(child)
  waits(child, { work_item_id: id, wake: 'operator_input', reason: 'Delete them?' })
  const told = family.tell(child, 'Yes.', 'call_1')
  assert.equal(told.ok && told.answered, false)
  assert.equal(waitOf(child, id).reason, 'Delete them?')
  assert.equal(child.all('messages').at(-1)?.wait_id, null)
  family.relay(child)
  assert.equal(family.taskOf(child).asking?.text, 'Delete them?')
})

test('an answer about an item that is completed meanwhile is about nothing', () => {
  const { family, child, id, wait_id } = asked()
  child.do((d) => d.emit({ type: 'wait_cancelled', id: wait_id, by: 'agent', because: 'x' }))
  begin(child)
  reports(child, id, 'There are 42 words.')
  family.tell(child, 'Yes.', 'call_1')
  assert.equal(child.all('messages').at(-1)?.work_item_id, null)
})

test('the same word again is the same message, whatever became of the child', () => {
  const { family, child } = asked()
  const first = family.tell(child, 'All of them.', 'call_1')
  const size = family.size
  const again = { ...first, answered: false }
  assert.deepEqual(family.tell(child, 'All of them.', 'call_1'), again)
  assert.equal(family.size, size)
  family.stop(child)
  assert.deepEqual(family.tell(child, 'All of them.', 'call_1'), again)
})

/** Each is refused for its first reason, and leaves no event. */
const refused: [what: string, code: string, given: Partial<ChildInput>, (of: Asked) => void][] = [
  ['a task that ended', 'task_ended', { text: '' }, ({ family, child }) => family.stop(child)],
  ['a task being stopped', 'task_ended', {}, ({ family, child }) => family.beginStop(child)],
  ['no text', 'message_empty', { text: ' \n' }, ({ child }) => stops(child)],
  [
    'a text that is a book',
    'over_limit',
    { text: 'x'.repeat(limits.operator_text.value + 1) },
    ({ child }) => stops(child),
  ],
  ['a child that is stopped', 'agent_stopped', {}, ({ child }) => stops(child)],
]
type Asked = ReturnType<typeof asked>
const stops = (w: World) =>
  w.do((d) => d.emit({ type: 'agent_stopped', id: d.agent_id, by: 'runtime' }))

for (const [what, code, given, prepare] of refused) {
  test(`${what} is refused with ${code}`, () => {
    const of = asked()
    const { id } = of.family.taskOf(of.child)
    prepare(of)
    const { size } = of.family
    const told = of.family.both(of.main, of.child, (p, c) => tellChild(p, c, id, input(given)))
    assert.deepEqual([codeOf(told), of.family.size], [code, size])
  })
}

test('a task that is not there, or of another agent, is not found', () => {
  const { family, main, child } = asked()
  const told = family.both(main, child, (p, c) =>
    tellChild(p, c, 'task_none', input({ earlier: { id: 'msg_0001', priority: 'next' } })),
  )
  assert.equal(codeOf(told), 'task_not_found')
  const command = task(child)
  assert.equal(
    main.refused((d) => tellableTask(d, command.id)),
    'task_not_found',
  )
})

test('the permission that another maker’s agent asks for is not its parent’s to give', () => {
  const family = new FamilyWorld()
  const main = family.of('main')
  item(main, { focus: true })
  const child = family.spawn(main, { model: 'acp/other' })
  const id = makes(child)
  waits(child, { work_item_id: id, wake: 'operator_input', source: 'permission', reason: 'rm?' })
  family.relay(child)
  assert.equal(codeOf(family.tell(child, 'Yes.', 'call_1')), 'asks_operator')
  assert.equal(waitOf(child, id).status, 'active')
})

type Handed = ReturnType<typeof handedOver>
type Moment = 'open turn' | 'next turn'

/** Asks its parent about an item of its own. */
function asks({ family, child }: Handed): WorkItemId {
  const id = makes(child)
  waits(child, { work_item_id: id, wake: 'operator_input', reason: 'All of them?' })
  family.relay(child)
  return id
}

/** The end of a task begins a turn about the item, whatever that waits for. */
function worksOn(child: World, id: WorkItemId): void {
  taskEnds(child, task(child, { work_item_id: id, promoted: true }))
  assert.equal(begin(child, 'message').work_item_id, id)
}

function held({ child }: Handed): () => void {
  makes(child)
  child.do((d) => holdAgent(d, { cause: 'provider_world', message: 'It is down.', until: null }))
  return () => child.do(releaseHolds)
}

/** Held before the first request of its turn, until its parent is allowed more. */
function heldByBudget({ family, main, about, child }: Handed): () => void {
  const allow = (max_rounds: number) => {
    const budget = { max_tokens: null, max_usd: null, max_rounds, deadline: null }
    main.do((d) =>
      d.emit({ type: 'work_item_updated', id: about, by: 'operator', changed: { budget } }),
    )
    const [delegation = null] = main.all('delegations')
    family.both(main, child, (p, c) => alignBudgets(p, c, delegation, noUse))
  }
  main.do((d) => openMeter(d, about, { used: { ...noUse, rounds: 1 }, drawn: [] }))
  begin(child)
  allow(1)
  child.do(holdForBudget)
  assert.equal(child.all('waits').at(-1)?.runtime_cause, 'budget')
  return () => allow(9)
}

/** What a child may be at, each with the turn that reads what it is told then. */
const moments: [what: string, Moment, prepare: (of: Handed) => (() => void) | void][] = [
  ['has begun nothing', 'next turn', () => {}],
  ['has a turn that asked nothing yet', 'open turn', ({ child }) => void begin(child)],
  [
    'waits for an answer of its model',
    'open turn',
    ({ child }) => {
      makes(child)
      ask(child)
    },
  ],
  [
    'is in the middle of its calls',
    'open turn',
    ({ child }) => {
      makes(child)
      ask(child)
      answer(child, { calls: [{ tool: 'ExecCommand' }, { tool: 'ReadFile' }] })
    },
  ],
  [
    'waits for a timer',
    'next turn',
    ({ child }) => {
      const wake_at = plus(child.now, 3_600_000)
      waits(child, { work_item_id: makes(child), wake: 'timer', wake_at })
    },
  ],
  [
    'waits for a task',
    'next turn',
    ({ child }) => {
      const id = makes(child)
      const made = task(child, { work_item_id: id, promoted: true })
      waits(child, { work_item_id: id, wake: 'task_result', resource: made.id, task: made })
    },
  ],
  ['asks', 'next turn', (of) => void asks(of)],
  ['works on what it asks about', 'open turn', (of) => worksOn(of.child, asks(of))],
  [
    'works on something else than it asks about',
    'next turn',
    (of) => {
      const other = makes(of.child, 'Something else')
      asks(of)
      worksOn(of.child, other)
    },
  ],
  ['is held in the middle of a turn', 'open turn', held],
  ['is held by a budget', 'open turn', heldByBudget],
]

for (const [what, moment, prepare] of moments) {
  test(`what a child is told that ${what} comes with its ${moment}`, () => {
    const of = handedOver()
    const goesOn = prepare(of) ?? (() => {})
    assert.equal(readIn(of, goesOn), moment)
    assert.deepEqual(of.family.violations(true), [])
  })
}

test('of two children each is told what is said to it, and when it reads it', () => {
  const of = handedOver()
  const other = of.family.spawn(of.main)
  makes(other)
  ask(other)
  assert.equal(
    readIn(of, () => {}),
    'next turn',
  )
  assert.equal(
    readIn({ ...of, child: other }, () => {}),
    'open turn',
  )
})

test('what was said before a kill is the same message, read when it was to be read', () => {
  const { family, child } = handedOver()
  makes(child)
  const first = family.tell(child, 'Not the titles.', 'call_1')
  ask(child)
  answer(child)
  end(child)
  assert.deepEqual(family.tell(child, 'Not the titles.', 'call_1'), first)
  assert.equal(child.all('messages').length, 2)
})

/**
 * Tells it something and lets it go on until it rests; which turn had it in an answered request.
 */
function readIn({ family, child }: Handed, goesOn: () => void): Moment {
  const open = openTurn(child.facts)?.id ?? null
  const told = family.tell(child, 'Not the titles.', 'call_1')
  if (!told.ok) return assert.fail(told.message)
  goesOn()
  while (openTurn(child.facts) === null ? begin(child) : takesStep(child)) {
    const { status, turn_id } = child.row('messages', told.message_id)
    if (status === 'queued' || status === 'claimed') continue
    assert.equal(told.priority, turn_id === open ? 'interject' : 'next')
    return turn_id === open ? 'open turn' : 'next turn'
  }
  return assert.fail('nothing reads it')
}

/** The next step of its turn; each request is answered in words. */
function takesStep(child: World): true {
  const step = nextStep(child.facts, child.now)
  switch (step.do) {
    case 'open':
    case 'request':
      ask(child)
      return true
    case 'stream':
      answer(child, { text: 'So it is.' })
      return true
    case 'start_call':
    case 'run_call':
      run(child, step.call, () => {})
      return true
    case 'report':
    case 'hold':
      return assert.fail(step.do)
    case 'end':
      end(child, step)
      return true
  }
}
