/**
 * Histories for the screens, made by the real rules: what happens in each is one thing a person
 * has to be able to read. `src/present/fixtures` holds their events; the scenes say how they came.
 */
import type { StoredEvent } from '../../domain/state/event.ts'
import { errorResult, succeeded } from '../../domain/state/call.ts'
import { waitFor } from '../../domain/waits/wait-for.ts'
import { updateItem } from '../../domain/work/create-and-update.ts'
import { completeItem } from '../../domain/work/complete.ts'
import { callsOf, openTurn } from '../../domain/facts/facts.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { deliver, item, say, task, waitCommand, waitOf, World } from '../world/agent-world.ts'
import { act, answer, ask, begin, end, run, taskEnds, turn, turnOf } from '../world/turns.ts'
import { approvalChanged, askedForPatience, childAsked, compacted } from './scenes-held.ts'
import { patched } from './diff-scenes.ts'
import { checkedTwice, checkFailed } from './check-scenes.ts'
import { meterOpened } from '../events.ts'

const minute = 60_000
const command = (cmd: string) => ({ tool: 'ExecCommand', input: { cmd } })
const printed = (stdout: string, exit_status = 0) =>
  succeeded('ExecCommand', 'it ran', { exit_status, stdout, stderr: '' })

/** The item the person has asked for, in focus of the turn that is open then. */
function asked(w: World, objective: string): WorkItemId {
  say(w, { text: objective })
  begin(w)
  return item(w, { objective, focus: true })
}

const bind = (w: World, id: WorkItemId) =>
  w.do((d) => d.emit({ type: 'turn_bound', id: turnOf(w).id, work_item_id: id }))

const complete = (w: World, id: WorkItemId, report: string) =>
  act(w, { tool: 'CompleteWorkItem' }, (d) =>
    completeItem(d, { work_item_id: id, by: 'agent', report, turn: turnOf(w) }),
  )

function firstObjective(): World {
  const w = new World()
  const id = asked(w, 'Count the files.\nOnly those under src.')
  bind(w, id)
  w.pass(1_000)
  act(w, { tool: 'ReadFile', input: { path: 'a.ts' }, text: 'I look first.' }, () => ({
    first_line: 1,
    last_line: 9,
    total_lines: 9,
  }))
  act(w, { tool: 'ReadFile', input: { path: 'b.ts' } }, () => ({}))
  w.pass(4_000)
  act(w, command('find src -type f | wc -l'), () => undefined, { result: printed('412\n') })
  act(w, command('npm test'), () => undefined, { result: printed('1 failed\n', 1) })
  todos(w, id, ['completed', 'in_progress'])
  todos(w, id, ['completed', 'completed'])
  ask(w)
  answer(w, { text: 'There are 412 files.' })
  end(w, { text: 'There are 412 files.' })
  return w
}

function todos(w: World, id: WorkItemId, states: ('pending' | 'in_progress' | 'completed')[]) {
  act(w, { tool: 'UpdateWorkItem', input: {} }, (d) =>
    updateItem(d, {
      work_item_id: id,
      by: 'agent',
      todo_list: states.map((state, n) => ({ text: `step ${n + 1}`, state })),
    }),
  )
}

function questionAnswered(): World {
  const w = new World()
  const id = asked(w, 'Release 2.4.0')
  bind(w, id)
  act(w, { tool: 'WaitFor' }, (d) =>
    waitFor(
      d,
      waitCommand({
        work_item_id: id,
        wake: 'operator_input',
        reason: 'Approve the changelog for 2.4.0?',
      }),
    ),
  )
  end(w)
  w.pass(41 * minute)
  say(w, { text: 'yes, but fix the typo', wait_id: waitOf(w, id).id })
  turn(w, { text: 'I go on.' })
  return w
}

function interjected(): World {
  const w = new World()
  const id = asked(w, 'Upgrade the parser')
  bind(w, id)
  ask(w)
  say(w, { text: 'leave the fixtures', priority: 'interject', work_item_id: id })
  const [call] = answer(w, { calls: [command('npm ci')] })
  if (call) run(w, call, () => undefined, { result: printed('ok\n') })
  ask(w)
  answer(w, { text: 'I leave them.' })
  say(w, { text: 'too late for this turn', priority: 'interject', work_item_id: id })
  end(w, { text: 'I leave them.' })
  say(w, { text: 'this one dies' })
  const dead = [...w.facts.rows('messages')].at(-1)
  if (dead) {
    w.do((d) => d.emit({ type: 'message_dead', id: dead.id, reason: 'three turns died before it' }))
  }
  return w
}

function taskPromoted(): World {
  const w = new World()
  const id = asked(w, 'Port the fixtures')
  bind(w, id)
  ask(w)
  const [call] = answer(w, { calls: [command('npm run port')] })
  const made = task(w, { work_item_id: id })
  if (call) {
    w.do((d) =>
      d.emit({
        type: 'call_started',
        id: call.id,
        intent: null,
        task_id: made.id,
        work_item_id: id,
      }),
    )
    w.pass(10_000)
    const result = succeeded('ExecCommand', 'goes on', { task_handle: { task_id: made.id } })
    w.do((d) =>
      d.emit({
        type: 'call_finished',
        id: call.id,
        result,
        result_hash: null,
        changed_something: true,
      }),
    )
  }
  act(w, { tool: 'WaitFor' }, (d) =>
    waitFor(
      d,
      waitCommand({
        work_item_id: id,
        wake: 'task_result',
        resource: made.id,
        task: made,
        reason: 'the port has to end',
      }),
    ),
  )
  end(w)
  w.do((d) => d.emit({ type: 'task_readopted', id: made.id, pid: 7 }))
  w.pass(9 * minute)
  taskEnds(w, made)
  turn(w, { text: 'It is ported.' })
  return w
}

function triggeredTwice(): World {
  const w = new World()
  const id = asked(w, 'Rotate the staging password')
  bind(w, id)
  act(w, { tool: 'WaitFor' }, (d) =>
    waitFor(
      d,
      waitCommand({
        work_item_id: id,
        source: 'github',
        resource: 'check_suite',
        reason: 'CI runs',
      }),
    ),
  )
  end(w)
  w.pass(minute)
  deliver(w, { source: 'github', resource: 'check_suite', body: 'queued' })
  deliver(w, { source: 'github', resource: 'check_suite', body: 'green' })
  turn(w, { text: 'Both are read.' })
  return w
}

function timerAndRecheck(): World {
  const w = new World()
  const id = asked(w, 'Watch CI')
  bind(w, id)
  const recheck_at = new Date(Date.parse(w.now) + 30 * minute).toISOString()
  act(w, { tool: 'WaitFor' }, (d) =>
    waitFor(d, waitCommand({ work_item_id: id, source: 'ci', resource: 'main', recheck_at })),
  )
  end(w)
  const wait = waitOf(w, id)
  w.pass(31 * minute)
  w.do((d) => d.emit({ type: 'wait_recheck_due', id: wait.id, turn_count: 1 }))
  return w
}

function killedInACall(): World {
  const w = new World()
  const id = asked(w, 'Publish the package')
  bind(w, id)
  act(w, command('npm publish --tag next'), () => undefined, {
    result: errorResult(
      'ExecCommand',
      'outcome_unknown',
      'outcome_unknown',
      'The machine died while it ran.',
    ),
  })
  act(w, command('npm view'), () => undefined, {
    result: errorResult('ExecCommand', 'not_executed', 'not_executed', 'It was not run.'),
  })
  ask(w)
  answer(w, { text: 'Please look whether it was published.' })
  end(w, { outcome: 'failed', reason: 'the provider refused the key (401)' })
  return w
}

function noProgress(): World {
  const w = new World()
  const id = asked(w, 'Find the leak')
  bind(w, id)
  for (let n = 0; n < 4; n += 1) {
    act(w, command('npm run leak'), () => undefined, { result: printed('still leaks\n', 1) })
  }
  ask(w)
  answer(w, { text: 'Nothing new.' })
  end(w, { text: 'Nothing new.' })
  w.pass(minute)
  turn(w, { text: 'Nothing new again.' })
  return w
}

function budgetReached(): World {
  const w = new World()
  const id = asked(w, 'Translate the manual')
  bind(w, id)
  ask(w)
  answer(w, { text: 'Half of it is done.' })
  end(w, { text: 'Half of it is done.' })
  w.do((d) => {
    const used = { tokens: 110, usd: 0.01, unpriced: 0, rounds: 1 }
    d.emit(meterOpened(id, { used }))
    d.emit({ type: 'meter_asked', id, marks: ['tokens:100'] })
  })
  return w
}

function claimed(): World {
  const w = new World()
  const id = asked(w, 'Remove dead flags')
  bind(w, id)
  todos(w, id, ['completed', 'pending'])
  complete(w, id, 'All flags are gone.\nOne todo is left.')
  end(w)
  return w
}

function longTurn(): World {
  const w = new World()
  const id = asked(w, 'Refactor everything')
  bind(w, id)
  for (let n = 0; n < 400; n += 1) {
    w.pass(1_000)
    act(w, { tool: 'EditFile', input: { path: `src/${n}.ts` } }, () => ({ replacements: 1 }))
  }
  return w
}

/** What a terminal would obey, or not show, in every text that comes from outside. */
export const hostileTexts: readonly string[] = [
  '\u001b[31mred\u001b[0m',
  '\u001b]0;title\u0007',
  '\u001b]52;c;aGk=\u0007',
  '\u001b[2J\u001b[H',
  '\u202eeslaf\u202c',
  'a\u200bb\u200dc\ufeff',
  '\u{e0041}\u{e0042}',
  'a\rb',
  '\u009b31m',
  '\u2066x\u2069',
  '\u001bP+q\u001b\\',
  '\u0000\u0008\u007f',
]

function hostile(): World {
  const w = new World()
  for (const text of hostileTexts) {
    say(w, { text: `say ${text}` })
    begin(w)
    const id = item(w, { objective: `do ${text}`, focus: true })
    bind(w, id)
    act(w, { ...command(`echo ${text}`), text: `I say ${text}` }, () => undefined, {
      result: printed(`${text}\n`, 3),
    })
    act(w, { tool: 'WaitFor' }, (d) =>
      waitFor(d, waitCommand({ work_item_id: id, wake: 'operator_input', reason: `why ${text}?` })),
    )
    end(w, { outcome: 'failed', reason: `because ${text}` })
  }
  return w
}

function recovered(): World {
  const w = new World()
  const id = asked(w, 'Build it')
  bind(w, id)
  const made = task(w, { work_item_id: id })
  w.do((d) => d.emit({ type: 'task_readopted', id: made.id, pid: 9 }))
  w.do((d) =>
    d.emit({ type: 'task_cancelling', id: made.id, survivors: [9], because: 'you asked' }),
  )
  w.do((d) => d.emit({ type: 'agent_stopped', id: 'main', by: 'operator' }))
  const open = openTurn(w.facts)
  if (open && callsOf(w.facts, open, 1).length === 0) ask(w)
  return w
}

export const scenes: { readonly [name: string]: () => World } = {
  'first-objective': firstObjective,
  'question-answered': questionAnswered,
  interjected,
  'task-promoted': taskPromoted,
  'triggered-twice': triggeredTwice,
  'recheck-due': timerAndRecheck,
  'killed-in-a-call': killedInACall,
  'no-progress': noProgress,
  'budget-reached': budgetReached,
  claimed,
  'long-turn': longTurn,
  hostile,
  'taken-up-again': recovered,
  compacted,
  'asked-for-patience': askedForPatience,
  'child-asked': childAsked,
  'approval-changed': approvalChanged,
  'checked-twice': checkedTwice,
  'check-failed': checkFailed,
  patched,
}

export const eventsOf = (name: string): readonly StoredEvent[] => scenes[name]?.().events ?? []

/** As a fixture has them: one event a line. */
export const linesOf = (name: string): string =>
  eventsOf(name)
    .map((event) => `${JSON.stringify(event)}\n`)
    .join('')
