/**
 * What comes from outside the process: the operator's acts, events with their repetitions, edits of
 * files, processes that end or vanish, time that passes or jumps. One choice per step, from a
 * stream of its own, so that leaving one out changes no other.
 */
import { boundHash } from '../../src/domain/answers.ts'
import type { CheckGiven } from '../../src/domain/check-spec.ts'
import { openTurn, type Facts } from '../../src/domain/facts.ts'
import type { OperatorAct } from '../../src/domain/operator-act.ts'
import type { Random } from '../soak/random.ts'
import { pick, resources, sources } from './adversary.ts'

type Act = OperatorAct extends infer A ? (A extends unknown ? Omit<A, 'agent_id'> : never) : never

type Maker = (random: Random, facts: Facts, nth: number) => Act | null

const minute = 60_000

const anyOf = (
  random: Random,
  facts: Facts,
  table: 'work_items' | 'tasks' | 'waits' | 'triggers' | 'schedules',
): string | null =>
  pick(
    random,
    [...facts.rows(table)].map(({ id }) => id),
  ) ?? null

const onItem = (act: (id: string, random: Random, nth: number) => Act): Maker => {
  return (random, facts, nth) => {
    const id = anyOf(random, facts, 'work_items')
    return id === null ? null : act(id, random, nth)
  }
}

const budget = (random: Random) =>
  random.chance(0.3)
    ? null
    : {
        ...(random.chance(0.5) ? { max_rounds: random.between(1, 12) } : {}),
        ...(random.chance(0.3) ? { max_tokens: random.between(100, 60_000) } : {}),
      }

/** One of each kind, some of them. */
const checks = (random: Random): CheckGiven[] => {
  const all: CheckGiven[] = [
    { kind: 'command', name: 'tests', cmd: 'npm test' },
    { kind: 'file', name: 'report', path: 'report.md', expect: { exists: true } },
    { kind: 'http', name: 'page', url: 'http://127.0.0.1:8080/', status: 200 },
    { kind: 'person', name: 'look', question: 'Is it what you meant?' },
  ]
  return all.filter(() => random.chance(0.5))
}

const send: Maker = (random, facts, nth) => {
  const about = random.chance(0.5) ? anyOf(random, facts, 'work_items') : null
  const question = [...facts.rows('waits')].find(
    (wait) => wait.status === 'active' && wait.wake === 'operator_input',
  )
  return {
    do: 'send',
    text: `words ${nth}`,
    ...(about === null ? {} : { work_item_id: about }),
    ...(question && random.chance(0.3) ? { wait_id: question.id } : {}),
    ...(random.chance(0.2) ? { priority: 'interject' } : {}),
    ...(random.chance(0.3) ? { start: true } : {}),
  }
}

const deliver: Maker = (random, facts, nth) => {
  const trigger = anyOf(random, facts, 'triggers')
  const isWebhook = trigger === null || random.chance(0.5)
  return {
    do: 'deliver',
    via: isWebhook
      ? { kind: 'webhook', webhook: 'github' }
      : { kind: 'trigger', trigger_id: trigger },
    body: `event ${nth}`,
    ...(random.chance(0.8) ? { sender_id: `d${nth}` } : {}),
    ...(random.chance(0.8) ? { source: pick(random, sources) ?? 'ci' } : {}),
    ...(random.chance(0.6) ? { resource: pick(random, resources) ?? 'a' } : {}),
  }
}

const makers: readonly Maker[] = [
  send,
  send,
  send,
  send,
  deliver,
  deliver,
  deliver,
  deliver,
  (random, _facts, nth) => ({
    do: 'create_item',
    objective: `wish ${nth}`,
    ...(random.chance(0.2) ? { blocked_by: 'the weather' } : {}),
    ...(random.chance(0.2) ? { budget: budget(random) } : {}),
    ...(random.chance(0.3) ? { checks: checks(random) } : {}),
  }),
  onItem((id) => ({ do: 'run_checks', work_item_id: id })),
  (random, facts) => {
    const asked = [...facts.rows('work_items')].flatMap(({ id, checks: all }) =>
      all.flatMap(({ kind, name, run }) =>
        kind === 'person' && run?.state === 'owed' ? [{ work_item_id: id, name, run: run.n }] : [],
      ),
    )
    const one = pick(random, asked)
    return one ? { do: 'answer_check', ...one, passed: random.chance(0.7) } : null
  },
  onItem((id, random, nth) => ({
    do: 'update_item',
    work_item_id: id,
    ...(random.chance(0.3) ? { objective: `wish again ${nth}` } : {}),
    ...(random.chance(0.3) ? { blocked_by: random.chance(0.5) ? 'a strike' : null } : {}),
    ...(random.chance(0.3) ? { plan_status: 'ready' } : {}),
    ...(random.chance(0.4) ? { budget: budget(random) } : {}),
  })),
  onItem((id) => ({ do: 'pick', work_item_id: id })),
  onItem((id) => ({ do: 'complete', work_item_id: id, report: 'It was done by hand.' })),
  onItem((id) => ({ do: 'unblock', work_item_id: id })),
  (random, facts) => {
    const id = anyOf(random, facts, 'waits')
    return id === null ? null : { do: 'cancel_wait', wait_id: id }
  },
  (random, facts, nth) => {
    const wait = pick(
      random,
      [...facts.rows('waits')].filter((one) => one.wake === 'operator_input'),
    )
    if (!wait) return null
    return { do: 'answer', wait_id: wait.id, bound_hash: boundHash(wait), text: `answer ${nth}` }
  },
  (random, facts, nth) => {
    const wait = pick(
      random,
      [...facts.rows('waits')].filter((one) => one.wake === 'external'),
    )
    return wait ? { do: 'trigger', wait_id: wait.id, body: `by hand ${nth}` } : null
  },
  (random, _facts, nth) => ({
    do: 'trigger',
    source: pick(random, sources) ?? 'ci',
    resource: pick(random, resources) ?? 'a',
    body: `by hand ${nth}`,
    delivery_id: `h${nth}`,
  }),
  (random, _facts, nth) => ({
    do: 'create_schedule',
    label: `schedule ${nth}`,
    text: 'It is time.',
    spec: { kind: 'cron', expression: `*/${random.between(2, 30)} * * * *`, time_zone: 'UTC' },
    overlap: pick(random, ['skip', 'queue', 'coalesce'] as const) ?? 'skip',
    missed: pick(random, ['once', 'skip', 'all'] as const) ?? 'once',
  }),
  (random, facts) => {
    const schedule_id = anyOf(random, facts, 'schedules')
    if (schedule_id === null) return null
    const verbs = ['pause_schedule', 'resume_schedule', 'remove_schedule'] as const
    return { do: pick(random, verbs) ?? 'pause_schedule', schedule_id }
  },
  (_random, _facts, nth) => ({ do: 'create_trigger', label: `trigger ${nth}` }),
  (random, facts) => {
    const trigger_id = anyOf(random, facts, 'triggers')
    if (trigger_id === null) return null
    return { do: random.chance(0.5) ? 'reset_trigger' : 'revoke_trigger', trigger_id }
  },
  () => ({ do: 'stop_agent' }),
  () => ({ do: 'start_agent' }),
  () => ({ do: 'start_agent' }),
  (random, facts) => {
    const turn = openTurn(facts)
    return turn ? { do: 'abort', run_id: turn.id, stop: random.chance(0.3) } : null
  },
  (random, _facts, nth) => ({
    do: 'start_task',
    cmd: `${pick(random, ['quick', 'slow', 'endless']) ?? 'quick'} by-hand-${nth}`,
  }),
  (random, facts) => {
    const task_id = anyOf(random, facts, 'tasks')
    return task_id === null ? null : { do: 'stop_task', task_id }
  },
  (random, facts, nth) => {
    const task_id = anyOf(random, facts, 'tasks')
    return task_id === null ? null : { do: 'task_input', task_id, text: `given ${nth}\n` }
  },
  (random, _facts) => ({
    do: 'configure_agent',
    fallback_model: random.chance(0.5) ? 'test/second' : null,
  }),
  (random) => (random.chance(0.2) ? { do: 'delete_agent' } : null),
]

/** An act that fits what there is, nearly always. */
export function actOf(random: Random, facts: Facts, nth: number): OperatorAct | null {
  const { agent_id } = facts
  if (isAtAStop(facts) && random.chance(0.4)) return { do: 'start_agent', agent_id }
  const made = (makers[random.between(0, makers.length - 1)] ?? send)(random, facts, nth)
  return made === null ? null : { ...made, agent_id }
}

/** Nothing goes on before somebody starts it. */
const isAtAStop = (facts: Facts): boolean =>
  facts.row('agents', facts.agent_id)?.state === 'stopped' ||
  [...facts.rows('waits')].some(
    ({ wake, status, wake_at }) => wake === 'system' && status === 'active' && wake_at === null,
  )

/** How far the wall clock jumps: back or ahead, by a second or by days. */
export const jumpOf = (random: Random): number =>
  (random.chance(0.5) ? -1 : 1) * (pick(random, [1_000, minute, 60 * minute, 2_880 * minute]) ?? 0)
