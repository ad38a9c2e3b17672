/**
 * What the other side may do while the runtime waits: each act that there is, about what is there,
 * and what no operator does. The acts are a table over their type: one that is new is missed here.
 */
import { heldTasks } from '../../src/domain/approvals/held-command.ts'
import { heldHash } from '../../src/domain/approvals/held-text.ts'
import { boundHash } from '../../src/domain/work/answer-question.ts'
import { openTurn, type Facts } from '../../src/domain/facts/facts.ts'
import type { OperatorAct } from '../../src/domain/operator/act.ts'
import { home, workspace } from '../sim/disk.ts'
import type { World } from '../sim/world.ts'
import { question } from './stories.ts'

type Act = OperatorAct extends infer A ? (A extends unknown ? Omit<A, 'agent_id'> : never) : never
type Kind = OperatorAct['do']
/** Null: there is nothing it could be about. */
type Maker<K extends Kind> = (facts: Facts) => (Act & { do: K }) | null

const of = (
  facts: Facts,
  table: 'work_items' | 'tasks' | 'waits' | 'triggers' | 'grants' | 'schedules',
) => [...facts.rows(table)].map(({ id }) => id)
const about = <T>(id: string | undefined, act: (id: string) => T): T | null =>
  id === undefined ? null : act(id)

/** A row for each act there is: one that is new is wanted here. */
const acts: { [K in Kind]: Maker<K> } = {
  create_item: () => ({ do: 'create_item', objective: 'meanwhile' }),
  import_item: () => ({ do: 'import_item', file: 'no export' }),
  update_item: (f) =>
    about(of(f, 'work_items')[0], (work_item_id) => ({
      do: 'update_item',
      work_item_id,
      objective: 'changed meanwhile',
      blocked_by: 'the weather',
    })),
  pick: (f) => about(of(f, 'work_items').at(-1), (work_item_id) => ({ do: 'pick', work_item_id })),
  complete: (f) =>
    about(of(f, 'work_items')[0], (work_item_id) => ({
      do: 'complete',
      work_item_id,
      report: 'It was done by hand.',
    })),
  unblock: (f) =>
    about(of(f, 'work_items')[0], (work_item_id) => ({ do: 'unblock', work_item_id })),
  run_checks: (f) =>
    about([...f.rows('work_items')].find(({ checks }) => checks.length > 0)?.id, (id) => ({
      do: 'run_checks',
      work_item_id: id,
    })),
  answer_check: (f) => {
    for (const { id, checks } of f.rows('work_items')) {
      const one = checks.find(({ run }) => run?.state === 'owed' || run?.state === 'running')
      if (!one?.run) continue
      const { name, run } = one
      return { do: 'answer_check', work_item_id: id, name, run: run.n, passed: true }
    }
    return null
  },
  send: () => ({ do: 'send', text: 'said meanwhile', priority: 'interject' }),
  answer: (f) => {
    const wait = question(f)
    if (!wait) return null
    return { do: 'answer', wait_id: wait.id, bound_hash: boundHash(wait), text: 'Yes.' }
  },
  answer_held: (f) => {
    const [task] = heldTasks(f)
    if (!task) return null
    const { id: task_id } = task
    return { do: 'answer_held', task_id, bound_hash: heldHash(task), choice: 'yes' }
  },
  revoke_grant: (f) => about(of(f, 'grants')[0], (grant_id) => ({ do: 'revoke_grant', grant_id })),
  take_back: (f) =>
    about(
      [...f.rows('messages')].find(
        ({ status, kind }) => status === 'queued' && kind === 'operator_prompt',
      )?.id,
      (message_id) => ({ do: 'take_back', message_id }),
    ),
  cancel_wait: (f) => about(activeWait(f), (wait_id) => ({ do: 'cancel_wait', wait_id })),
  trigger: () => ({ do: 'trigger', source: 'ci', body: 'by hand', delivery_id: 'by hand' }),
  deliver: () => ({
    do: 'deliver',
    via: { kind: 'webhook', webhook: 'g' },
    sender_id: 'meanwhile',
    source: 'ci',
    body: 'an event meanwhile',
  }),
  dead_letter: () => ({
    do: 'dead_letter',
    via: { kind: 'webhook', webhook: 'g' },
    body: 'no JSON',
    reason: 'it is none',
  }),
  redeliver: (f) =>
    about([...f.rows('deliveries')][0]?.id, (delivery_id) => ({ do: 'redeliver', delivery_id })),
  create_trigger: () => ({ do: 'create_trigger', label: 'meanwhile', source: 'ci' }),
  reset_trigger: (f) =>
    about(of(f, 'triggers')[0], (trigger_id) => ({ do: 'reset_trigger', trigger_id })),
  revoke_trigger: (f) =>
    about(of(f, 'triggers')[0], (trigger_id) => ({ do: 'revoke_trigger', trigger_id })),
  create_schedule: () => ({
    do: 'create_schedule',
    label: 'meanwhile',
    text: 'It is time.',
    spec: { kind: 'cron', expression: '*/7 * * * *', time_zone: 'UTC' },
  }),
  change_schedule: (f) =>
    about(of(f, 'schedules')[0], (schedule_id) => ({
      do: 'change_schedule',
      schedule_id,
      label: 'changed meanwhile',
    })),
  pause_schedule: (f) =>
    about(of(f, 'schedules')[0], (schedule_id) => ({ do: 'pause_schedule', schedule_id })),
  resume_schedule: (f) =>
    about(of(f, 'schedules')[0], (schedule_id) => ({ do: 'resume_schedule', schedule_id })),
  remove_schedule: (f) =>
    about(of(f, 'schedules')[0], (schedule_id) => ({ do: 'remove_schedule', schedule_id })),
  create_agent: () => ({ do: 'create_agent', model: 'test/first' }),
  configure_agent: () => ({
    do: 'configure_agent',
    model: 'test/second',
    fallback_model: 'test/third',
    budget: { all: { max_rounds: 40 } },
  }),
  start_agent: () => ({ do: 'start_agent' }),
  stop_agent: () => ({ do: 'stop_agent' }),
  delete_agent: () => ({ do: 'delete_agent' }),
  snooze: (f) =>
    about(activeWait(f), (attention_id) => ({
      do: 'snooze',
      attention_id,
      fingerprint: 'as it was',
      until: '2026-01-05T10:00:00.000Z',
    })),
  dismiss: (f) =>
    about(activeWait(f), (attention_id) => ({
      do: 'dismiss',
      attention_id,
      fingerprint: 'as it was',
    })),
  start_task: () => ({ do: 'start_task', cmd: 'quick by-hand' }),
  stop_task: (f) => about(of(f, 'tasks').at(-1), (task_id) => ({ do: 'stop_task', task_id })),
  task_input: (f) =>
    about(of(f, 'tasks').at(-1), (task_id) => ({
      do: 'task_input',
      task_id,
      text: 'given meanwhile\n',
    })),
  snapshot_worktree: (f) =>
    about(tree(f), (worktree_id) => ({ do: 'snapshot_worktree', worktree_id })),
  restore_worktree: (f) =>
    about(tree(f), (worktree_id) => ({ do: 'restore_worktree', worktree_id })),
  discard_worktree: (f) =>
    about(tree(f), (worktree_id) => ({ do: 'discard_worktree', worktree_id })),
  remove_worktree: (f) => about(tree(f), (worktree_id) => ({ do: 'remove_worktree', worktree_id })),
  revert_files: (f) =>
    about(of(f, 'work_items')[0], (work_item_id) => ({ do: 'revert_files', work_item_id })),
  abort: (f) => about(openTurn(f)?.id, (run_id) => ({ do: 'abort', run_id, stop: false })),
}

const activeWait = (f: Facts) => [...f.rows('waits')].find(({ status }) => status === 'active')?.id
const tree = (f: Facts) => [...f.rows('worktrees')][0]?.id

/** What no operator does; null: there is nothing it could happen to. */
const others = {
  'a process ends': (world: World) =>
    about(world.commands.running()[0], (id) => () => {
      world.commands.ends(id, { how: 'exited', exit_status: 1, signal: null })
    }),
  'a process vanishes': (world: World) =>
    about(world.commands.running()[0], (id) => () => {
      world.witness.isUnsure(id)
      world.commands.vanishes(id)
    }),
  'two minutes pass': (world: World) => () => world.agenda.pass(120_000),
  'a plan is edited': (world: World) =>
    about(
      world.disk.below(`${home}/agents`).find((one) => one.endsWith('plan.md')),
      (path) => () => world.disk.edit(path, 'Edited meanwhile.\n'),
    ),
  'a file is edited': (world: World) =>
    about(world.disk.below(workspace)[0], (path) => () => {
      world.disk.edit(path, 'edited meanwhile\n')
    }),
} as const

export type Other = { act: Kind | keyof typeof others; whose: 'main' | 'newest' }

/** Everything that may happen, to each agent it may happen to. */
const allOthers: readonly Other[] = [
  ...Object.keys(acts).flatMap((act) =>
    (['main', 'newest'] as const).map((whose) => ({ act: act as Kind, whose })),
  ),
  ...Object.keys(others).map((act) => ({ act: act as Other['act'], whose: 'main' as const })),
]

/** How it begins now; null: there is nothing it could be about. */
export function beginning(world: World, { act, whose }: Other): (() => void) | null {
  const known = others[act as keyof typeof others]
  if (known !== undefined) return known(world)
  const [facts] = world
    .agents()
    .filter(({ agent_id }) => (agent_id === 'main') === (whose === 'main'))
  if (facts === undefined) return null
  const made = acts[act as Kind](facts)
  if (made === null) return null
  const agent_id = act === 'create_agent' ? `beside-${whose}` : facts.agent_id
  return () => world.act({ agent_id, ...made })
}

export const possible = (world: World): Other[] =>
  allOthers.filter((other) => beginning(world, other) !== null)
