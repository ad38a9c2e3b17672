/**
 * Acts from outside that chance alone brings too seldom, by what they are about, and the bent of a
 * run: what those outside it are given to, as its model is to something by its temper.
 */
import type { Facts } from '../../src/domain/facts/facts.ts'
import type { Message } from '../../src/domain/state/message.ts'
import type { OperatorAct } from '../../src/domain/operator/act.ts'
import type { Random } from '../soak/random.ts'
import { pick, resources, sources } from './adversary.ts'

export type Act = OperatorAct extends infer A
  ? A extends unknown
    ? Omit<A, 'agent_id'>
    : never
  : never

/** Null: nothing there is fit for it. */
export type Maker = (random: Random, facts: Facts, nth: number) => Act | null

export const anyOf = (
  random: Random,
  facts: Facts,
  table: 'work_items' | 'tasks' | 'waits' | 'triggers' | 'schedules' | 'worktrees' | 'messages',
): string | null =>
  pick(
    random,
    [...facts.rows(table)].map(({ id }) => id),
  ) ?? null

export const deliver: Maker = (random, facts, nth) => {
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

const deadLetter: Maker = (_random, _facts, nth) => ({
  do: 'dead_letter',
  via: { kind: 'webhook', webhook: 'github' },
  body: `no JSON ${nth}`,
  sender_id: `d${nth}`,
  reason: 'the body is no JSON',
})

/** The newest delivery of all that are remembered: its row is in no facts. */
const redeliver =
  (delivered: readonly string[]): Maker =>
  (random) => {
    const delivery_id = pick(random, delivered.slice(-5))
    return delivery_id === undefined ? null : { do: 'redeliver', delivery_id }
  }

const changeSchedule: Maker = (random, facts, nth) => {
  const schedule_id = anyOf(random, facts, 'schedules')
  if (schedule_id === null) return null
  const expression = `*/${random.between(1, 20)} * * * *`
  return {
    do: 'change_schedule',
    schedule_id,
    ...(random.chance(0.5) ? { label: `changed ${nth}` } : {}),
    ...(random.chance(0.5) ? { spec: { kind: 'cron', expression, time_zone: 'UTC' } } : {}),
    ...(random.chance(0.5)
      ? { overlap: pick(random, ['skip', 'queue', 'coalesce'] as const) }
      : {}),
  }
}

/** The first of a paused one, where there is one. */
const resumeSchedule: Maker = (_random, facts) => {
  const paused = [...facts.rows('schedules')].find(({ status }) => status === 'paused')
  return paused ? { do: 'resume_schedule', schedule_id: paused.id } : null
}

const once: Maker = (random, facts, nth) => {
  const at = new Date(Date.parse(facts.last_at) + random.between(1, 900_000)).toISOString()
  const item = random.chance(0.4) ? anyOf(random, facts, 'work_items') : null
  return {
    do: 'create_schedule',
    label: `once ${nth}`,
    text: 'It is time, once.',
    spec: { kind: 'once', at },
    ...(item === null ? {} : { work_item_id: item }),
  }
}

/** Any message that is there, of whatever kind and however far: most of these are refused. */
const takeBack: Maker = (random, facts) => {
  const message_id = anyOf(random, facts, 'messages')
  return message_id === null ? null : { do: 'take_back', message_id }
}

/** The operator's words that no turn has claimed: they seldom lie there long. */
export const unclaimed = (facts: Facts): readonly Message[] =>
  [...facts.rows('messages')].filter(
    ({ status, kind }) => status === 'queued' && kind === 'operator_prompt',
  )

/** Put away: whatever the list shows of it, the rules take the act by its id. */
const putAway: Maker = (random, facts, nth) => {
  const attention_id = anyOf(random, facts, random.chance(0.5) ? 'waits' : 'work_items')
  if (attention_id === null) return null
  const fingerprint = `as it was at ${nth}`
  if (random.chance(0.5)) return { do: 'dismiss', attention_id, fingerprint }
  const until = new Date(Date.parse(facts.last_at) + random.between(60_000, 9e6)).toISOString()
  return { do: 'snooze', attention_id, fingerprint, until }
}

const onWorktree: Maker = (random, facts) => {
  const worktree_id = anyOf(random, facts, 'worktrees')
  if (worktree_id === null) return null
  const verbs = ['snapshot_worktree', 'discard_worktree', 'remove_worktree'] as const
  return { do: pick(random, verbs) ?? 'snapshot_worktree', worktree_id }
}

/** One that is gone, if chance will have it: gone ones are in no facts. */
const restoreWorktree =
  (gone: readonly string[]): Maker =>
  (random) => {
    const worktree_id = pick(random, gone.slice(-3))
    return worktree_id === undefined ? null : { do: 'restore_worktree', worktree_id }
  }

/** Words for a child, through the task that supervises it: for one that asks, mostly. */
const tellChild: Maker = (random, facts, nth) => {
  const children = [...facts.rows('tasks')].filter(({ kind }) => kind === 'child_agent')
  const asking = children.filter(({ asking: question }) => question !== null)
  const one = pick(random, asking.length > 0 ? asking : children)
  return one ? { do: 'task_input', task_id: one.id, text: `told ${nth}` } : null
}

/** What was seen outside of facts: ids of deliveries and of worktrees that have gone. */
export type SeenIds = { delivered: string[]; gone: string[] }

export type Further = {
  events: readonly Maker[]
  schedules: readonly Maker[]
  family: readonly Maker[]
  rest: readonly Maker[]
}

export const furtherActs = ({ delivered, gone }: SeenIds): Further => ({
  events: [deliver, deadLetter, redeliver(delivered)],
  schedules: [changeSchedule, resumeSchedule, once],
  family: [tellChild, tellChild, onWorktree, onWorktree, restoreWorktree(gone)],
  rest: [putAway, takeBack],
})
