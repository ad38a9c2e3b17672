/**
 * Situations of `why` in which nothing holds the item: it runs next, something goes first, its
 * agent may not start, or a turn is open.
 */
import { item, pick, say } from '../world/agent-world.ts'
import { begin, turn } from '../world/turns.ts'
import { emptyBucket, hinted, hold, minute, stop, update, type WhyRow } from './why-world.ts'

const afterThat = 'it is considered when that turn ends'
export const runnableRows: WhyRow[] = [
  [
    'in focus and ready',
    (w, id) => void pick(w, id),
    'runnable current_runnable',
    'runs next: the current item is runnable: it never had a turn.',
    'a turn about it',
    '09:00',
  ],
  [
    'in the queue, offered next',
    () => undefined,
    'runnable queued_runnable',
    'is in the queue, which is offered to the agent next.',
    'the agent picks one item',
    '09:00',
  ],
  [
    'another item is in focus',
    (w) => void item(w, { focus: true }),
    'runnable queued_runnable',
    'can run; work_0002 in focus goes first.',
    afterThat,
    null,
  ],
  [
    'a message about nothing goes first',
    (w) => void say(w),
    'runnable queued_runnable',
    'can run; a message (the operator spoke) goes first.',
    afterThat,
    null,
  ],
  [
    'a message about it',
    (w, id) => void say(w, { work_item_id: id }),
    'runnable queued_runnable',
    'runs next: the operator spoke.',
    'a turn about it',
    '09:00',
  ],
  [
    'in focus, and a message about nothing',
    (w, id) => (pick(w, id), void say(w)),
    'runnable current_runnable',
    'runs next: the operator spoke.',
    'a turn about it',
    '09:00',
  ],
  [
    'a review of another item goes first',
    (w) => hinted(w, item(w)),
    'runnable queued_runnable',
    'can run; a wait with something new goes first.',
    afterThat,
    null,
  ],
  [
    'back-off in focus',
    (w, id) => {
      pick(w, id)
      turn(w, { rule: 'continue_current' })
    },
    'runnable current_runnable',
    'can run, and rests until 09:01: its last turn made no progress.',
    'it is taken up again',
    '09:01',
  ],
  [
    'back-off in focus, and nothing runs',
    (w, id) => {
      pick(w, id)
      turn(w, { rule: 'continue_current' })
      turn(w.pass(minute), { rule: 'continue_current' })
      return 'nobody'
    },
    'runnable current_runnable',
    'can run, and rests until 09:06: its last 2 turns made no progress.',
    'it is taken up again at the next run',
    '09:06',
  ],
  [
    'the bucket is empty',
    (w, id) => (pick(w, id), emptyBucket(w)),
    'runnable current_runnable',
    'can run, but its agent used up its turns; one comes back at 09:10.',
    'it goes on then; any word from you gives all turns back',
    '09:10',
  ],
  [
    'the queue is backed off',
    (w) => void turn(w, { rule: 'queued_available' }),
    'runnable queued_runnable',
    'can run; the queue is offered again at 09:01.',
    'the agent picks from its queue',
    '09:01',
  ],
  [
    'the operator was asked about the queue',
    (w) => {
      for (const pause of [0, minute, 5 * minute]) turn(w.pass(pause), { rule: 'queued_available' })
    },
    'runnable queued_runnable',
    'can run; the agent took nothing from its queue three times and asked you.',
    'any word from you sets the queue going again',
    null,
  ],
]

export const haltedRows: WhyRow[] = [
  [
    'its agent is stopped',
    (w) => stop(w),
    'runnable queued_runnable',
    'can run, but its agent is stopped.',
    'it goes on once its agent is started',
    null,
  ],
  [
    'its agent is held by the world',
    (w) => hold(w),
    'runnable queued_runnable',
    'can run, but its agent is held until 09:01: "The provider answers 503."',
    'it goes on once its agent is no longer held',
    '09:01',
  ],
  [
    'its agent is held by its setup',
    (w) => hold(w, 'provider_setup'),
    'runnable queued_runnable',
    'can run, but its agent is held until you start it again: "The provider answers 503."',
    'it goes on once its agent is started',
    null,
  ],
  [
    'in focus, and nothing runs',
    (w, id) => (pick(w, id), 'nobody'),
    'runnable current_runnable',
    'can run, but nothing runs now.',
    'a run takes it up',
    null,
  ],
  [
    'in the queue, and nothing runs',
    () => 'nobody',
    'runnable queued_runnable',
    'can run, but nothing runs now.',
    'a run offers it to the agent',
    null,
  ],
  [
    'another item is in focus, and nothing runs',
    (w) => (item(w, { focus: true }), 'nobody'),
    'runnable queued_runnable',
    'can run, but nothing runs now.',
    'a run takes it up, after work_0002 in focus',
    null,
  ],
]

/** An open turn: about the item, or about something else. */
export const turnRows: WhyRow[] = [
  [
    'a turn about it runs',
    (w, id) => (pick(w, id), begin(w), 'in_turn'),
    'runnable current_runnable',
    'is being worked on in turn_0001 since 09:00.',
    'the turn goes on until it ends or waits',
    '09:00',
  ],
  [
    'a turn about it runs, in which it was blocked',
    (w, id) => {
      pick(w, id)
      begin(w)
      update(w, id, { blocked_by: 'no key' })
      return 'in_turn'
    },
    'blocked blocked',
    'is being worked on in turn_0001 since 09:00.',
    'the turn goes on until it ends or waits',
    '09:00',
  ],
  [
    'a turn about it was interrupted',
    (w, id) => (pick(w, id), void begin(w)),
    'runnable current_runnable',
    'is in turn_0001, which was interrupted and goes on next.',
    'the turn goes on',
    '09:00',
  ],
  [
    'a turn about it was interrupted, and nothing runs',
    (w, id) => (pick(w, id), begin(w), 'nobody'),
    'runnable current_runnable',
    'is in turn_0001, which was interrupted and goes on at the next run.',
    'the turn goes on at the next run',
    null,
  ],
  [
    'a turn about it is held',
    (w, id) => (pick(w, id), begin(w), hold(w), 'in_turn'),
    'runnable current_runnable',
    'is in turn_0001, but its agent is held until 09:01: "The provider answers 503."',
    'the turn goes on once its agent is no longer held',
    '09:01',
  ],
  [
    'its agent was stopped in a turn about it',
    (w, id) => (pick(w, id), begin(w), stop(w), 'in_turn'),
    'runnable current_runnable',
    'is in turn_0001, which ends because its agent is stopped.',
    'it is taken up again once its agent is started',
    null,
  ],
  [
    'a turn about something else runs',
    (w) => (say(w), begin(w), 'in_turn'),
    'runnable queued_runnable',
    'can run; turn_0001 about the inbox or the queue runs first.',
    afterThat,
    null,
  ],
  [
    'a turn about another item was interrupted',
    (w) => (item(w, { focus: true }), void begin(w)),
    'runnable queued_runnable',
    'can run; the interrupted turn_0001 goes first.',
    afterThat,
    null,
  ],
]
