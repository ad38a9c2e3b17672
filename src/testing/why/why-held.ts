/**
 * Situations of `why` in which something holds the item, or it is completed; and news that the
 * agent is to look at.
 */
import { askForInput } from '../../domain/waits/plan-question.ts'
import { completeItem } from '../../domain/work/complete.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { plus } from '../../domain/time.ts'
import { does } from '../world/operator-inputs.ts'
import { deliver, pick, say, T0, task, wait, type World } from '../world/agent-world.ts'
import { begin, turn } from '../world/turns.ts'
import { asRunbook, hinted, hold, minute, stop, update, type WhyRow } from './why-world.ts'

const in30 = plus(T0, 30 * minute)

const complete = (w: World, id: WorkItemId, report: string | null) =>
  w.do((d) => completeItem(d, { work_item_id: id, by: 'agent', report, turn: null }))

const question = (w: World, id: WorkItemId, reason = 'Ship?') =>
  wait(w, { wake: 'operator_input', work_item_id: id, reason })

function forTask(w: World, id: WorkItemId, recheck_at: string | null = null): void {
  const t = task(w, { work_item_id: id })
  const given = { work_item_id: id, resource: t.id, task: t, reason: 'tests', recheck_at }
  wait(w, { wake: 'task_result', ...given })
}

const timer = (w: World, id: WorkItemId, recheck_at: string | null = null) =>
  wait(w, { wake: 'timer', work_item_id: id, wake_at: in30, reason: 'cool', recheck_at })

/** The one round it may have, it had. */
export function spentUp(w: World, id: WorkItemId): void {
  pick(w, id)
  does(w, { do: 'update_item', work_item_id: id, budget: { max_rounds: 1 } }, usedOnce)
}
const usedOnce = {
  budget: {
    so_far: { used: { tokens: 110, usd: 0.01, unpriced: 0, rounds: 1 }, drawn: [] },
    unpriced: null,
  },
}

const finished = 'nothing: a completed item stays completed'
export const completedRows: WhyRow[] = [
  [
    'completed with a report',
    (w, id) => void complete(w, id, 'Ok.'),
    'completed completed_recent',
    'was completed at 09:00; its report was delivered.',
    finished,
    null,
  ],
  [
    'completed without a report',
    (w, id) => void complete(w, id, null),
    'completed completed_recent',
    'was completed at 09:00 without a report.',
    finished,
    null,
  ],
  [
    'completed, and its turn is still asked for the report',
    (w, id) => {
      pick(w, id)
      const open = begin(w)
      w.do((d) => completeItem(d, { work_item_id: id, by: 'agent', report: null, turn: open }))
      return 'in_turn'
    },
    'completed completed_recent',
    'was completed at 09:00; its report is still to come.',
    finished,
    null,
  ],
]

export const waitingRows: WhyRow[] = [
  [
    'a question',
    (w, id) => void question(w, id, 'Approve  the\nchangelog?'),
    'waiting_operator waiting_for_operator',
    'waits for you since 09:00: "Approve the changelog?"',
    'your answer resumes it at once',
    null,
  ],
  [
    'a question to a stopped agent',
    (w, id) => (question(w, id), stop(w)),
    'waiting_operator waiting_for_operator',
    'waits for you (its agent is stopped) since 09:00: "Ship?"',
    'your answer resumes it once its agent is started',
    null,
  ],
  [
    'a question, and nothing runs',
    (w, id) => (question(w, id), 'nobody'),
    'waiting_operator waiting_for_operator',
    'waits for you since 09:00: "Ship?"',
    'your answer resumes it at the next run',
    null,
  ],
  [
    'needs_input',
    (w, id) => void update(w, id, { plan_status: 'needs_input' }),
    'waiting_operator waiting_for_operator',
    'waits for your input to its plan since 09:00: "The plan needs your input: Release 2.4.0."',
    'your message about it is the answer',
    null,
  ],
  [
    'needs_input, which has become a question',
    (w, id) => {
      update(w, id, { plan_status: 'needs_input', question: 'Which database?' })
      w.do(askForInput)
    },
    'waiting_operator waiting_for_operator',
    'waits for you since 09:00: "Which database?"',
    'your answer resumes it at once',
    null,
  ],
  [
    'over its budget, with a message that waits for it',
    (w, id) => {
      spentUp(w, id)
      say(w, { work_item_id: id })
    },
    'waiting_operator waiting_for_operator',
    'waits for you (a message for it waits): its budget is reached: ' +
      '"It reached its budget: 1 of 1 rounds."',
    'once you raise the limit it goes on',
    null,
  ],
  [
    'over its budget while an event that it waits for came',
    (w, id) => {
      wait(w, { work_item_id: id, source: 'ci', reason: 'the build' })
      spentUp(w, id)
      deliver(w, { source: 'ci' })
    },
    'waiting_external blocked',
    'waits for ci (triggered once, new) since 09:00: "the build".',
    'once you raise its budget, an event makes the agent look at it',
    null,
  ],
  [
    'parked by the runtime',
    (w, id) => {
      pick(w, id)
      for (const pause of [0, minute, 5 * minute]) turn(w.pass(pause), { rule: 'continue_current' })
    },
    'waiting_operator waiting_for_operator',
    'waits for you since 09:06: "Three turns in a row made no progress on work_0001: turn_0001, ' +
      'turn_0002, turn_0003. How shall it go on?"',
    'your answer resumes it at once',
    null,
  ],
  [
    'a task',
    (w, id) => forTask(w, id),
    'waiting_task blocked',
    'waits for task_t001 since 09:00: "tests".',
    'the end of task_t001 resumes it',
    null,
  ],
  [
    'a task with a recheck',
    (w, id) => forTask(w, id, in30),
    'waiting_task blocked',
    'waits for task_t001 since 09:00: "tests".',
    'the end of task_t001 resumes it; its recheck makes the agent look at it',
    '09:30',
  ],
  [
    'a task of a held agent',
    (w, id) => (forTask(w, id), hold(w)),
    'waiting_task blocked',
    'waits for task_t001 (its agent is held until 09:01) since 09:00: "tests".',
    'the end of task_t001 resumes it once its agent is no longer held',
    null,
  ],
  [
    'a timer',
    (w, id) => void timer(w, id),
    'waiting_timer blocked',
    'waits until 09:30: "cool".',
    'the time resumes it',
    '09:30',
  ],
  [
    'a timer with an earlier recheck',
    (w, id) => void timer(w, id, plus(T0, minute)),
    'waiting_timer blocked',
    'waits until 09:30: "cool".',
    'the time resumes it; its recheck before makes the agent look',
    '09:01',
  ],
  [
    'a timer of a blocked item',
    (w, id) => {
      update(w, id, { blocked_by: 'no key' })
      timer(w, id)
    },
    'waiting_timer blocked',
    'waits until 09:30: "cool".',
    'the wait ends; then it is still blocked',
    '09:30',
  ],
  [
    'a timer that came while nothing ran',
    (w, id) => {
      timer(w, id)
      w.pass(40 * minute)
      return 'nobody'
    },
    'waiting_timer blocked',
    'waited until 09:30: "cool".',
    'it goes on at the next run',
    null,
  ],
  [
    'an event of anybody',
    (w, id) => void wait(w, { work_item_id: id, reason: 'the review' }),
    'waiting_external blocked',
    'waits for any event since 09:00: "the review".',
    'an event makes the agent look at it',
    null,
  ],
  [
    'an event that came and was looked at, of a stopped agent',
    (w, id) => {
      wait(w, { work_item_id: id, source: 'ci', resource: '#12', reason: 'green' })
      deliver(w, { source: 'ci', resource: '#12' })
      turn(w, { rule: 'message' })
      stop(w)
    },
    'waiting_external blocked',
    'waits for ci #12 (triggered once, looked at; its agent is stopped) since 09:00: "green".',
    'an event makes the agent look at it once its agent is started',
    null,
  ],
  [
    'blocked, with no wait',
    (w, id) => void update(w, id, { blocked_by: 'no key' }),
    'blocked blocked',
    'is blocked since 09:00: "no key".',
    'nothing wakes it: once you or the agent clear its blocker, it goes on',
    null,
  ],
  [
    'a runbook step that failed, and nothing runs',
    (w, id) => {
      asRunbook(w)
      update(w, id, { blocked_by: 'step 1 (Lock) ended with exit 3' })
      return 'nobody'
    },
    'blocked blocked',
    'is blocked since 09:00: "step 1 (Lock) ended with exit 3".',
    'nothing wakes it: once its blocker is cleared, that step runs again at the next run',
    null,
  ],
  [
    'blocked, and the operator has spoken about it behind another message',
    (w, id) => {
      update(w, id, { blocked_by: 'no key' })
      say(w)
      say(w, { work_item_id: id })
    },
    'blocked blocked',
    'is blocked since 09:00: "no key".',
    'the operator spoke: a turn about it starts in its order',
    null,
  ],
]

const looks = 'the agent looks at it and decides whether it goes on'
export const triggeredRows: WhyRow[] = [
  [
    'triggered, review next',
    (w, id) => hinted(w, id, 2),
    'waiting_external triggered_blocked',
    'waits for ci, triggered 2 times, all new, last at 09:00; the agent looks at it next.',
    looks,
    '09:00',
  ],
  [
    'triggered with a message, which goes next',
    (w, id) => {
      wait(w, { work_item_id: id, source: 'ci' })
      deliver(w, { source: 'ci' })
    },
    'waiting_external triggered_blocked',
    'waits for ci, triggered once, new, last at 09:00; the agent looks at it next.',
    looks,
    '09:00',
  ],
  [
    'triggered again within the minute',
    (w, id) => {
      hinted(w, id)
      turn(w, { rule: 'review_triggered' })
      deliver(w, { source: 'ci' })
    },
    'waiting_external triggered_blocked',
    'waits for ci, triggered 2 times, 1 new, last at 09:00; ' +
      'the agent looks at it at 09:01, a minute after the last time.',
    looks,
    '09:01',
  ],
  [
    'triggered while something else goes first',
    (w, id) => (hinted(w, id), void say(w)),
    'waiting_external triggered_blocked',
    'waits for ci, triggered once, new, last at 09:00; first comes this: the operator spoke.',
    looks,
    null,
  ],
  [
    'triggered while the agent is stopped',
    (w, id) => (hinted(w, id), stop(w)),
    'waiting_external triggered_blocked',
    'waits for ci, triggered once, new, last at 09:00; its agent is stopped.',
    'the agent looks at it once its agent is started and decides whether it goes on',
    null,
  ],
  [
    'triggered while the agent is held',
    (w, id) => (hinted(w, id), hold(w)),
    'waiting_external triggered_blocked',
    'waits for ci, triggered once, new, last at 09:00; its agent is held until 09:01.',
    'the agent looks at it once its agent is no longer held and decides whether it goes on',
    '09:01',
  ],
  [
    'triggered while a turn runs',
    (w, id) => {
      hinted(w, id)
      say(w)
      begin(w)
      return 'in_turn'
    },
    'waiting_external triggered_blocked',
    'waits for ci, triggered once, new, last at 09:00; a turn runs first.',
    looks,
    null,
  ],
  [
    'triggered while nothing runs',
    (w, id) => (hinted(w, id), 'nobody'),
    'waiting_external triggered_blocked',
    'waits for ci, triggered once, new, last at 09:00; nothing runs now.',
    'the agent looks at it at the next run and decides whether it goes on',
    null,
  ],
  [
    'its recheck is due',
    (w, id) => {
      wait(w, { work_item_id: id, recheck_at: plus(T0, minute) })
      w.pass(2 * minute)
    },
    'waiting_external triggered_blocked',
    'waits, and its recheck is due since 09:01; the agent looks at it next.',
    looks,
    '09:02',
  ],
  [
    'the recheck of a question is due',
    (w, id) => {
      wait(w, { wake: 'operator_input', work_item_id: id, recheck_at: plus(T0, minute) })
      w.pass(2 * minute)
    },
    'waiting_operator triggered_blocked',
    'waits, and its recheck is due since 09:01; the agent looks at it next.',
    looks,
    '09:02',
  ],
]
