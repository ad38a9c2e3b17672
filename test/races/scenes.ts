/**
 * Small stories about waiting, each with everything that may happen at the same time: what the
 * model says in its turns, and what comes from outside in whatever order.
 */
import type { OperatorAct } from '../../src/domain/operator/act.ts'
import { openTurn } from '../../src/domain/facts/facts.ts'
import { calls, says, type Scripted } from '../../src/testing/scripted-model.ts'
import type { Seen } from '../sim/adversary.ts'
import { becauseAnswered } from './answering.ts'
import type { World } from '../sim/world.ts'

export type Outside = { name: string; happens(world: World): void }

export type Scene = {
  name: string
  answers: (seen: Seen) => Scripted
  /** Answers of the model that come before anything else may happen. */
  before: number
  outside: readonly Outside[]
  crashes: number
}

const agent_id = 'main'

const acts = (name: string, act: OperatorAct): Outside => ({
  name,
  happens: (world) => world.act(act),
})

const delivery = (n: number, source = 'ci'): Outside =>
  acts(`delivery ${n}`, {
    do: 'deliver',
    agent_id,
    via: { kind: 'webhook', webhook: 'github' },
    sender_id: `d${n}`,
    source,
    body: `event ${n}`,
  })

/** Sets every scene going. */
export const words = (n: number): Outside =>
  acts(`words ${n}`, { do: 'send', agent_id, text: `words ${n}` })

/** The operator answers the open question, or says it to the agent when there is none. */
const answer: Outside = { name: 'answer', happens: (world) => world.act(becauseAnswered(world)) }

const timePasses = (ms: number): Outside => ({
  name: `${ms} ms pass`,
  happens: (world) => world.agenda.pass(ms),
})

const processEnds: Outside = {
  name: 'the process ends',
  happens: ({ commands }) => commands.endAll(),
}

/** A model that opens an item in its first turn, waits on it as told, and then looks on. */
const waits =
  (wait: (item: string) => { [key: string]: string | number }) =>
  ({ facts, nth }: Seen): Scripted => {
    const items = [...facts.rows('work_items')]
    const [item] = items
    if (!item) return calls({ name: 'CreateWorkItem', input: { objective: 'wait for it' } })
    const turn = openTurn(facts)
    const has = [...facts.rows('waits')].some(({ work_item_id }) => work_item_id === item.id)
    const isOver = item.state === 'completed' || has
    if (isOver || turn === null) return says('I have seen it.')
    if (turn.work_item_id !== item.id) {
      return calls({ name: 'PickWorkItem', input: { work_item_id: item.id } })
    }
    const task = [...facts.rows('tasks')][0]
    const given = wait(task?.id ?? '')
    if (given['wake'] === 'task_result' && !task) {
      return calls({ name: 'ExecCommand', input: { cmd: `endless ${nth}`, yield_ms: 0 } })
    }
    return calls({ name: 'WaitFor', input: { reason: 'it is not there yet', ...given } })
  }

type Wait = { name: string; answers: Scene['answers']; before: number; ends: readonly Outside[] }

/** Each kind of wait, with what may end it, wake it, or come beside it. */
const kinds: readonly Wait[] = [
  {
    name: 'an external wait',
    answers: waits(() => ({ wake: 'external', source: 'ci' })),
    before: 2,
    ends: [delivery(1), delivery(2), words(2)],
  },
  {
    name: 'a wait with a recheck',
    answers: waits(() => ({ wake: 'external', source: 'ci', recheck_after_ms: 5_000 })),
    before: 2,
    ends: [timePasses(6_000), delivery(1)],
  },
  {
    name: 'an operator wait',
    answers: waits(() => ({ wake: 'operator_input' })),
    before: 2,
    ends: [answer, delivery(1)],
  },
  {
    name: 'a timer',
    answers: waits(() => ({ wake: 'timer', wait_ms: 5_000 })),
    before: 2,
    ends: [timePasses(6_000), words(2)],
  },
  {
    name: 'a task',
    answers: waits((id) => ({ wake: 'task_result', resource: id })),
    before: 3,
    ends: [processEnds, answer],
  },
]

const stop = acts('a stop', { do: 'stop_agent', agent_id })
const start = acts('a start', { do: 'start_agent', agent_id })

const named = (
  { name, answers, before }: Wait,
  outside: readonly Outside[],
  crashes: number,
): Scene => {
  const beside = [...outside.map((one) => one.name), ...(crashes > 0 ? ['a death'] : [])]
  return { name: `${name}, ${beside.join(', ')}`, answers, before, outside, crashes }
}

/** One thing and a death; two things; and all of it with a stop and a start. */
export const scenes: readonly Scene[] = kinds.flatMap((wait) => [
  ...wait.ends.map((one) => named(wait, [one], 1)),
  named(wait, wait.ends.slice(0, 2), 0),
  ...wait.ends.slice(0, 1).map((one) => named(wait, [one, one], 0)),
  ...wait.ends.slice(0, 1).map((one) => named(wait, [one, stop, start], 0)),
])

/** Too many orders to try all: for the scheduler that chooses some. */
export const crowded: readonly Scene[] = kinds.map((wait) =>
  named(wait, [...wait.ends, delivery(3), words(3), timePasses(61_000)], 0),
)
