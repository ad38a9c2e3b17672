/**
 * What comes from outside the process: the operator's acts, events with their repetitions, edits of
 * files, processes that end or vanish, time that passes or jumps. One choice per step, from a
 * stream of its own, so that leaving one out changes no other.
 */
import { heldTasks } from '../../src/domain/approvals/held-command.ts'
import { heldChoices, heldHash } from '../../src/domain/approvals/held-text.ts'
import { boundHash } from '../../src/domain/work/answer-question.ts'
import type { CheckGiven } from '../../src/domain/checks/spec.ts'
import { openTurn, type Facts } from '../../src/domain/facts/facts.ts'
import type { OperatorAct } from '../../src/domain/operator/act.ts'
import type { Random } from '../soak/random.ts'
import { pick, resources, sources } from './adversary.ts'
import { anyOf, deliver, furtherActs, unclaimed, type Maker, type SeenIds } from './further-acts.ts'

const minute = 60_000

const onItem = (act: (...of: OfItem) => ReturnType<Maker>): Maker => {
  return (random, facts, nth) => {
    const id = anyOf(random, facts, 'work_items')
    return id === null ? null : act(id, random, nth)
  }
}

type OfItem = [id: string, random: Random, nth: number]

const budget = (random: Random) =>
  random.chance(0.3)
    ? null
    : {
        ...(random.chance(0.5) ? { max_rounds: random.between(1, 12) } : {}),
        ...(random.chance(0.3) ? { max_tokens: random.between(100, 60_000) } : {}),
      }

/** One of each kind, some of them. */
const checks = (random: Random, nth: number): CheckGiven[] => {
  const cmd = `${pick(random, ['quick', 'slow', 'endless']) ?? 'quick'} check ${nth}`
  const all: CheckGiven[] = [
    { kind: 'command', name: 'tests', cmd, timeout_ms: random.between(1_000, 900_000) },
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

/** `often`: how likely it has a budget, and checks. */
const wish = (random: Random, nth: number, often: number): ReturnType<Maker> => ({
  do: 'create_item',
  objective: `wish ${nth}`,
  ...(random.chance(0.2) ? { blocked_by: 'the weather' } : {}),
  ...(random.chance(often) ? { budget: budget(random) } : {}),
  ...(random.chance(often * 1.5) ? { checks: checks(random, nth) } : {}),
})

const runChecks: Maker = onItem((id) => ({ do: 'run_checks', work_item_id: id }))

const answerCheck: Maker = (random, facts) => {
  const asked = [...facts.rows('work_items')].flatMap(({ id, checks: all }) =>
    all.flatMap(({ kind, name, run }) =>
      kind === 'person' && run?.state === 'owed' ? [{ work_item_id: id, name, run: run.n }] : [],
    ),
  )
  const one = pick(random, asked)
  return one ? { do: 'answer_check', ...one, passed: random.chance(0.7) } : null
}

const answerHeld: Maker = (random, facts, nth) => {
  const task = pick(random, heldTasks(facts))
  if (!task) return null
  const longer = heldChoices(task).flatMap(({ key }) => (/_for_/.test(key) ? [key] : []))
  const isLonger = random.chance(0.5)
  const choice = isLonger ? (pick(random, longer) ?? 'yes') : random.chance(0.7) ? 'yes' : 'no'
  const given = { do: 'answer_held', task_id: task.id, bound_hash: heldHash(task), choice } as const
  return random.chance(0.3) ? { ...given, text: `said with it ${nth}` } : given
}

const revokeGrant: Maker = (random, facts) => {
  const grant = pick(random, [...facts.rows('grants')])
  return grant ? { do: 'revoke_grant', grant_id: grant.id } : null
}

/** An open item that has checks: they are owed from then on. */
const completeChecked: Maker = (random, facts) => {
  const one = pick(
    random,
    [...facts.rows('work_items')].filter((item) => item.state === 'open' && item.checks.length > 0),
  )
  return one ? { do: 'complete', work_item_id: one.id, report: 'It is to be looked at.' } : null
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
  (random, _facts, nth) => wish(random, nth, 0.2),
  runChecks,
  answerCheck,
  answerHeld,
  revokeGrant,
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
  (random, _facts, nth) => ({
    do: 'create_trigger',
    label: `trigger ${nth}`,
    ...(random.chance(0.4) ? { delivery_mode: 'wake_hint' } : {}),
  }),
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

/** What those outside are given to in a run of this seed. */
function bentOf(seed: number, seen: SeenIds): readonly Maker[] {
  const { events, schedules, family, rest } = furtherActs(seen)
  const wished: Maker = (random, _facts, nth) => wish(random, nth, 0.6)
  const claims = [wished, wished, wished, completeChecked, completeChecked, runChecks, answerCheck]
  const all = [...makers, ...events, ...schedules, ...family, ...rest]
  switch (seed % 4) {
    case 0:
      return [...all, ...claims, ...claims, answerCheck, answerCheck]
    case 1:
      return [...all, ...events, ...schedules, ...events, ...schedules]
    case 2:
      return [...all, ...family, ...family, ...family]
    default:
      return all
  }
}

/** An act that fits what there is, nearly always; some have a key, as a client sends one. */
export function actOf(
  random: Random,
  facts: Facts,
  nth: number,
  { seed, seen }: { seed: number; seen: SeenIds },
): OperatorAct | null {
  const { agent_id } = facts
  if (isAtAStop(facts) && random.chance(0.4)) return { do: 'start_agent', agent_id }
  const [word] = unclaimed(facts)
  if (word && random.chance(0.6)) return { do: 'take_back', agent_id, message_id: word.id }
  const answered = random.chance(0.4) ? answerHeld(random, facts, nth) : null
  if (answered !== null) return { ...answered, agent_id }
  const bent = bentOf(seed, seen)
  const made = (bent[random.between(0, bent.length - 1)] ?? send)(random, facts, nth)
  if (made === null) return null
  const isKeyed = keyed.has(made.do) && random.chance(0.3)
  const receipt = { id: `rcpt_${nth}`, request_sha256: `of ${nth}` }
  return { ...made, agent_id, ...(isKeyed ? { receipt } : {}) }
}

/** Acts of the rules alone: with a key each is carried out once in a day. */
const keyed: ReadonlySet<OperatorAct['do']> = new Set([
  'send',
  'answer',
  'create_item',
  'update_item',
  'complete',
  'create_schedule',
  'create_trigger',
  'trigger',
  'run_checks',
  'answer_check',
  'answer_held',
  'revoke_grant',
])

/** Nothing goes on before somebody starts it. */
const isAtAStop = (facts: Facts): boolean =>
  facts.row('agents', facts.agent_id)?.state === 'stopped' ||
  [...facts.rows('waits')].some(
    ({ wake, status, wake_at }) => wake === 'system' && status === 'active' && wake_at === null,
  )

/** How far the wall clock jumps: back or ahead, by a second or by days. */
export const jumpOf = (random: Random): number =>
  (random.chance(0.5) ? -1 : 1) * (pick(random, [1_000, minute, 60 * minute, 2_880 * minute]) ?? 0)
