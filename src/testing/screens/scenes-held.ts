/**
 * More histories for the screens: what holds an agent up from outside its work. A request that was
 * compacted, a provider that asks for patience, a child that asks, an approval that became another.
 */
import { roundId } from '../../domain/state/turn.ts'
import { errorResult, succeeded } from '../../domain/state/call.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { holdAgent } from '../../domain/scheduler/park.ts'
import { plus } from '../../domain/time.ts'
import { fireDue } from '../../domain/waits/wait-end.ts'
import { waitFor } from '../../domain/waits/wait-for.ts'
import { item, say, waitCommand, waitOf, World } from '../world/agent-world.ts'
import { act, answer, ask, begin, end, turn, turnOf } from '../world/turns.ts'
import { handedOver, makes, waits } from '../world/family-turns.ts'

const minute = 60_000
const command = (cmd: string) => ({ tool: 'ExecCommand', input: { cmd } })

function working(objective: string): { w: World; id: WorkItemId } {
  const w = new World()
  say(w, { text: objective })
  begin(w)
  const id = item(w, { objective, focus: true })
  w.do((d) => d.emit({ type: 'turn_bound', id: turnOf(w).id, work_item_id: id }))
  return { w, id }
}

/** The fourth request does not fit any more: rounds 1 and 2 go out as a recap. */
export function compacted(): World {
  const { w } = working('Read the whole log')
  for (const part of ['head', 'middle', 'tail']) {
    w.pass(1_000)
    act(w, command(`${part} server.log`), () => undefined, {
      result: succeeded('ExecCommand', 'it ran', { exit_status: 0, stdout: `${part}\n` }),
    })
  }
  const open = turnOf(w)
  w.do((d) =>
    d.emit({
      type: 'request_sent',
      id: roundId(open.id, 4),
      turn_id: open.id,
      work_item_id: open.work_item_id,
      n: 4,
      kind: 'work',
      model: open.model,
      opening_sha256: 'c'.repeat(64),
      recapped: 2,
      notes: [],
      message_ids: [],
    }),
  )
  answer(w, { text: 'The log has three parts.' })
  end(w, { text: 'The log has three parts.' })
  return w
}

/** The provider says when it will serve again; the same turn goes on then. */
export function askedForPatience(): World {
  const { w } = working('Summarise the inbox')
  ask(w)
  w.pass(2_000)
  const until = plus(w.now, 7 * minute)
  const message = 'the provider has no room: 429, its limit is reset at 09:07'
  w.do((d) => holdAgent(d, { cause: 'provider_world', message, until }))
  w.pass(7 * minute)
  w.do((d) => fireDue(d))
  answer(w, { text: 'The inbox has two letters.' })
  end(w, { text: 'The inbox has two letters.' })
  return w
}

/** A private child asks its parent, who answers in its own words. */
export function childAsked(): World {
  const { family, main, child } = handedOver()
  const id = makes(child)
  waits(child, {
    work_item_id: id,
    wake: 'operator_input',
    reason: 'All words, or only the first?',
  })
  family.relay(child)
  main.pass(minute)
  family.tell(child, 'All of them.', 'call_1')
  ask(main)
  answer(main, { text: 'I told it: all of them.' })
  end(main, { text: 'I told it: all of them.' })
  return main
}

/** What is to be approved is replaced before anybody answered; the answer is for the new one. */
export function approvalChanged(): World {
  const { w, id } = working('Publish 2.4.0')
  const asks = (reason: string) =>
    act(w, { tool: 'WaitFor' }, (d) =>
      waitFor(d, waitCommand({ work_item_id: id, wake: 'operator_input', reason })),
    )
  asks('May I run: npm publish --tag next?')
  end(w)
  w.pass(minute)
  say(w, { text: 'the registry moved' })
  begin(w)
  w.do((d) => d.emit({ type: 'turn_bound', id: turnOf(w).id, work_item_id: id }))
  act(w, command('npm config get registry'), () => undefined, {
    result: errorResult('ExecCommand', 'fault', 'fault', 'The command could not start.'),
  })
  asks('May I run: npm publish --tag latest?')
  end(w)
  w.pass(5 * minute)
  say(w, { text: 'yes, to latest', wait_id: waitOf(w, id).id })
  turn(w, { text: 'It is published.' })
  return w
}
