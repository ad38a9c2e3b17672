/** Taking back: what it is allowed for, what it leaves untouched, and who wins against a turn. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  deliver,
  item,
  pick,
  say,
  task,
  wait,
  waitCommand,
  waitOf,
  World,
} from '../../testing/world/agent-world.ts'
import { act, answer, ask, begin, end, taskEnds, turn } from '../../testing/world/turns.ts'
import { does, prepared, refusal } from '../../testing/world/operator-inputs.ts'
import { canOfMessage } from './can.ts'
import { taskResultId, type MessageId } from '../ids.ts'
import { historyViolations } from '../invariants/history.ts'
import { evolveMessage, isTakenBack } from '../state/message.ts'
import { operate, rowsNeeded } from './decide.ts'
import { answeredWaitIn, pageOfAnswer } from './take-back.ts'
import { isRejection } from '../rejection.ts'
import { waitFor } from '../waits/wait-for.ts'
import { roundRecorded } from '../../testing/events.ts'

const back = (message_id: string) => ({ do: 'take_back', message_id }) as const

/** The code and the sentence of a refusal. */
function sentence(w: World, id: string): string {
  const reply = w.try((d) => operate(d, prepared(w, back(id))))
  return isRejection(reply) ? `${reply.code}: ${reply.message}` : `taken: ${reply.said}`
}

test('a queued message of the operator is taken back by one event, and its row says so', () => {
  const w = new World()
  const { message_id } = say(w, { text: 'Ship it.' })
  const before = w.row('messages', message_id)
  const reply = does(w, { ...back(message_id), surface: 'tui' })
  assert.deepEqual(
    [reply.said, reply.message_id],
    ['msg_0001 is taken back; no turn has read it.', 'msg_0001'],
  )
  assert.deepEqual(w.last, [{ type: 'message_taken_back', id: 'msg_0001', surface: 'tui' }])
  assert.deepEqual(w.row('messages', message_id), {
    ...before,
    status: 'dropped',
    status_reason: 'taken back by the operator',
  })
  assert.equal(w.facts.row('messages', message_id), undefined)
})

test('the same again is the same answer and no event, also when the facts forgot it', () => {
  const w = new World()
  const { message_id } = say(w)
  does(w, back(message_id))
  w.reload().facts.include('messages', w.row('messages', message_id))
  assert.equal(does(w, back(message_id)).said, 'msg_0001 was taken back before.')
  assert.deepEqual(w.last, [])
  assert.deepEqual(rowsNeeded({ ...back('msg_0001'), agent_id: 'main' }), [
    ['messages', 'msg_0001'],
  ])
})

describe('what cannot be taken back says why', () => {
  type Scene = (w: World) => string
  const claimed: Scene = (w) => {
    const { message_id } = say(w)
    begin(w, 'message')
    return message_id
  }
  const spoken: [what: string, Scene, expected: string][] = [
    ['nobody’s', () => 'msg_none', 'message_not_found: msg_none is not a message of main.'],
    ['in a turn', claimed, 'message_in_turn: msg_0001 is in turn turn_0001 already.'],
    [
      'shown by a turn',
      (w) => {
        const id = claimed(w)
        ask(w)
        return id
      },
      'message_in_turn: msg_0001 is in turn turn_0001 already.',
    ],
    [
      'consumed',
      (w) => {
        const { message_id } = say(w)
        turn(w, { rule: 'message' })
        return message_id
      },
      'message_in_turn: msg_0001 was in turn turn_0001.',
    ],
    [
      'interjected',
      (w) => {
        pick(w, item(w))
        begin(w)
        ask(w)
        w.do((d) => d.emit(recorded))
        const { message_id } = say(w, { priority: 'interject' })
        ask(w)
        answer(w, { text: 'I see.' })
        return message_id
      },
      'message_in_turn: msg_0001 was in turn turn_0001.',
    ],
    [
      'dead',
      (w) => {
        const { message_id: id } = say(w)
        w.do((d) => d.emit({ type: 'message_dead', id, reason: 'three turns died' }))
        return id
      },
      'message_over: msg_0001 is dead: three turns died.',
    ],
    [
      'dropped for another reason',
      (w) => {
        const { message_id: id } = say(w)
        w.do((d) => d.emit({ type: 'message_dropped', id, reason: 'nobody reads it' }))
        return id
      },
      'message_over: msg_0001 is dropped: nobody reads it.',
    ],
    [
      'an answer',
      (w) => {
        const id = item(w)
        wait(w, { work_item_id: id, wake: 'operator_input' })
        return say(w, { wait_id: waitOf(w, id).id }).message_id
      },
      'message_is_answer: msg_0001 has answered wait_0001.',
    ],
    [
      'words about an item that asked',
      (w) => {
        const id = item(w)
        wait(w, { work_item_id: id, wake: 'operator_input' })
        return say(w, { work_item_id: id }).message_id
      },
      'message_is_answer: msg_0001 has answered wait_0001.',
    ],
    [
      'an event',
      (w) => deliver(w).message_id,
      'message_not_yours: msg_0001 is a callback_event, not words of yours.',
    ],
    [
      'the end of a task',
      (w) => {
        const made = task(w)
        taskEnds(w, made)
        return taskResultId(made.id)
      },
      'message_not_yours: msg_t001 is a task_result, not words of yours.',
    ],
  ]
  const recorded = roundRecorded('turn_0001:1')
  for (const [what, scene, expected] of spoken) {
    test(what, () => {
      const w = new World()
      const id = scene(w)
      if (id !== 'msg_none') w.facts.include('messages', w.row('messages', id as MessageId))
      assert.equal(sentence(w, id), expected)
      assert.deepEqual(w.last, [])
    })
  }
})

test('words that answered a question asked after they came have ended it, and stay', () => {
  const w = new World()
  const id = item(w)
  pick(w, id)
  begin(w, 'continue_current')
  const [first, second] = [say(w, { work_item_id: id }), say(w, { work_item_id: id })]
  const question = waitCommand({ work_item_id: id, wake: 'operator_input' })
  act(w, { tool: 'WaitFor' }, (d) => waitFor(d, question))
  end(w)
  const found = [first, second].map(({ message_id }) => {
    const message = w.row('messages', message_id)
    assert.equal(message.status, 'queued')
    assert.deepEqual(pageOfAnswer(message), {
      agent_id: 'main',
      work_item_id: id,
      before: Number.MAX_SAFE_INTEGER,
      limit: 500,
    })
    return answeredWaitIn(w.events, message_id)
  })
  assert.deepEqual(found, ['wait_0001', null])
  const given = { answered_wait: 'wait_0001' } as const
  assert.equal(refusal(w, back('msg_0001'), given), 'message_is_answer')
  does(w, back('msg_0002'))
  const at = { facts: w.facts, now: w.now }
  const [can] = canOfMessage(at, w.row('messages', 'msg_0001'), 'wait_0001')
  assert.deepEqual(can, {
    key: 'take_back',
    label: 'take it back',
    allowed: false,
    code: 'message_is_answer',
    why: 'msg_0001 has answered wait_0001.',
  })
})

test('only words about an item may have answered without saying so', () => {
  const w = new World()
  const unbound = w.row('messages', say(w).message_id)
  const event = w.row('messages', deliver(w).message_id)
  assert.deepEqual([unbound, event].map(pageOfAnswer), [null, null])
})

test('an agent that had nothing but it goes back to rest, and its counters stay', () => {
  const w = new World()
  const before = w.next()
  assert.equal(before.do, 'sleep')
  const { message_id } = say(w)
  assert.equal(w.next().do, 'start_turn')
  const tables = ['pacing', 'meters', 'work_items', 'waits', 'agents'] as const
  const rows = () => tables.map((table) => w.all(table))
  const counted = rows()
  does(w, back(message_id))
  assert.deepEqual([w.next(), rows()], [before, counted])
  assert.deepEqual(w.reload().next(), before)
})

test('the turn that follows claims what is left, and no request shows what was taken back', () => {
  const w = new World()
  const [gone, kept] = [say(w, { text: 'no' }), say(w, { text: 'yes' })]
  does(w, back(gone.message_id))
  const started = turn(w, { rule: 'message' })
  assert.deepEqual(
    [gone, kept].map(({ message_id }) => w.row('messages', message_id).turn_id),
    [null, started.id],
  )
  assert.deepEqual(historyViolations(w.whole(), w.events), [])
})

test('what a turn gave back before its first request can be taken back', () => {
  const w = new World()
  const { message_id } = say(w)
  begin(w, 'message')
  assert.equal(refusal(w, back(message_id)), 'message_in_turn')
  end(w, { outcome: 'interrupted', reason: 'no_request' })
  assert.equal(w.row('messages', message_id).attempts, 1)
  does(w, back(message_id))
  assert.deepEqual([w.next().do, isTakenBack(w.row('messages', message_id))], ['sleep', true])
})

test('it works on a stopped agent, whose message waits longest', () => {
  const w = new World()
  const { message_id } = say(w)
  does(w, { do: 'stop_agent' })
  does(w, back(message_id))
  assert.equal(w.row('agents', 'main').state, 'stopped')
})

test('`can` says whether it is allowed now, by the same rule', () => {
  const w = new World()
  const { message_id } = say(w)
  const can = () => {
    const [one] = canOfMessage({ facts: w.facts, now: w.now }, w.row('messages', message_id), null)
    return one?.allowed === true ? 'allowed' : `${one?.code}: ${one?.why}`
  }
  assert.equal(can(), 'allowed')
  does(w, back(message_id))
  assert.equal(can(), 'no_change: msg_0001 was taken back before.')
})

test('the fold refuses what the rule never decides: taking back what a turn has', () => {
  const w = new World()
  const { message_id: id } = say(w)
  begin(w, 'message')
  const event = { type: 'message_taken_back', id, surface: 'tui' } as const
  const meta = { at: w.now, seq: 9, agent_id: 'main' }
  assert.throws(() => evolveMessage(w.row('messages', id), event, meta), /msg_0001 is claimed/)
})
