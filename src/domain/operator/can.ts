/**
 * What an operator may do about a thing now, and for the rest the sentence why not
 * (docs/spec/http.md#what-may-be-done): each answer is what `operate` says in a dry run, on a draft
 * nobody commits. So a button and the act behind it never disagree.
 */
import { boundHash } from '../work/answer-question.ts'
import type { Carried } from '../transfer/export-format.ts'
import type { Delivery } from '../state/delivery.ts'
import type { Grant } from '../state/grant.ts'
import { Draft, openTurn, type Facts } from '../facts/facts.ts'
import { tableOf, type Rows, type Table } from '../state/event.ts'
import type { Mint, WaitId } from '../ids.ts'
import type { ActInputs, PreparedAct } from './act-inputs.ts'
import type { Message } from '../state/message.ts'
import { operate } from './decide.ts'
import type { DecidedAct, WorktreeVerb } from './act.ts'
import { abortableRun, inputTask, queueTask, stoppableTask } from '../agents/tasks.ts'
import { heldHash } from '../approvals/held-text.ts'
import { isHeld, isTerminal, type Task } from '../state/task.ts'
import { plus, type Timestamp } from '../time.ts'
import type { Schedule } from '../state/schedule.ts'
import type { Trigger } from '../state/trigger.ts'
import { isRejection, type Rejection, type RejectionCode } from '../rejection.ts'
import type { Wait } from '../state/wait.ts'
import type { WorkItem } from '../state/work-item.ts'
import type { Worktree } from '../state/worktree.ts'
import { leavable, restorable, standing } from '../agents/worktrees.ts'

/** The verb of an act, as `OperatorAct` has it. */
export type ActionKey =
  | DecidedAct['do']
  | WorktreeVerb
  | 'start_task'
  | 'stop_task'
  | 'task_input'
  | 'abort'

export type ActionPermission = { key: ActionKey; label: string } & (
  | { allowed: true }
  /** `no_change`: it would be accepted and alter nothing. */
  | { allowed: false; code: RejectionCode | 'no_change'; why: string }
)

/** Live facts and the time. What is asked about need not be among them: it is handed in. */
export type CanView = { facts: Facts; now: Timestamp }

export function canOfAgent(view: CanView): ActionPermission[] {
  const run = openTurn(view.facts)
  const aborts = tried(abortableRun(view.facts, run?.id ?? 'a run'))
  return [
    dry(view, 'say something to it', { do: 'send', text: 'x', inputs: noImages }),
    dry(view, 'start it', { do: 'start_agent' }),
    dry(view, 'stop it', { do: 'stop_agent' }),
    { key: 'abort', label: 'abort its run', ...aborts },
    dry(view, 'make a work item', { do: 'create_item', objective: 'x', inputs: anItem }),
    dry(view, 'bring an item in', { do: 'import_item', file: '', inputs: aFile }),
    { key: 'start_task', label: 'start a command', ...tried(queueTask(draft(view, []), aTask)) },
    dry(view, 'mint a trigger', { do: 'create_trigger', label: 'x', inputs: hashing }),
    dry(view, 'schedule a message', { ...aSchedule, inputs: tomorrow(view) }),
    dry(view, 'change its settings', { do: 'configure_agent', model: 'a/dry-run' }),
    dry(view, 'delete it', { do: 'delete_agent' }),
  ]
}

export function canOfItem(view: CanView, item: WorkItem): ActionPermission[] {
  const rows: Extra = [['work_items', item]]
  const { id: work_item_id } = item
  const plan_status = item.plan_status === 'draft' ? 'ready' : 'draft'
  const asked = item.checks.find(({ kind, run }) => kind === 'person' && run?.state === 'owed')
  const answer = { work_item_id, name: asked?.name ?? '', run: asked?.run?.n ?? 0, passed: true }
  const checks =
    item.checks.length === 0
      ? []
      : [dry(view, 'run its checks', { do: 'run_checks', work_item_id }, rows)]
  return [
    dry(view, 'put it in focus', { do: 'pick', work_item_id }, rows),
    dry(view, 'complete it', { do: 'complete', work_item_id }, rows),
    dry(view, 'let it go on', { do: 'unblock', work_item_id }, rows),
    dry(view, 'change it', { do: 'update_item', work_item_id, plan_status, inputs: aChange }, rows),
    dry(
      view,
      'say something about it',
      { do: 'send', text: 'x', work_item_id, inputs: noImages },
      rows,
    ),
    ...checks,
    ...(asked ? [dry(view, 'answer its check', { do: 'answer_check', ...answer }, rows)] : []),
  ]
}

/** Acts that fit the kind of wait; those for another kind are not listed at all. */
export function canOfWait(view: CanView, wait: Wait): ActionPermission[] {
  const rows: Extra = [['waits', wait]]
  const { id: wait_id } = wait
  const bound_hash = boundHash(wait)
  const answering = { inputs: { answered_by: null } }
  const answer = { do: 'answer', wait_id, bound_hash, text: 'x', ...answering } as const
  const firing = { inputs: { earlier_message: null } }
  const fire = { do: 'trigger', wait_id, body: 'x', ...firing } as const
  const cancel = dry(view, 'cancel it', { do: 'cancel_wait', wait_id }, rows)
  switch (wait.wake) {
    case 'operator_input':
      return [dry(view, 'answer it', answer, rows), cancel]
    case 'external':
      return [dry(view, 'fire it by hand', fire, rows), cancel]
    case 'timer':
    case 'task_result':
    case 'system':
      return [cancel]
  }
}

/** `answered_wait`: as an act on it would know it. */
export function canOfMessage(
  view: CanView,
  message: Message,
  answered_wait: WaitId | null,
): ActionPermission[] {
  const rows: Extra = [['messages', message]]
  const act = { do: 'take_back', message_id: message.id, inputs: { answered_wait } } as const
  return [dry(view, 'take it back', act, rows)]
}

export function canOfTask(view: CanView, task: Task): ActionPermission[] {
  const facts = overlaid(view.facts, [['tasks', task]])
  const found = tried(stoppableTask(facts, task.id))
  const over = { allowed: false, code: 'no_change', why: `It is ${task.status}.` } as const
  const label = task.kind !== 'child_agent' ? 'write to its input' : 'tell it something'
  const given = { task_id: task.id, text: 'x', end: false }
  if (isHeld(task)) {
    const answer = { task_id: task.id, bound_hash: heldHash(task), choice: 'no' }
    const inputs = { again: null, start_place: { boot: '', tasks: '' } }
    const rows: Extra = [['tasks', task]]
    return [
      dry(view, 'answer it', { do: 'answer_held', ...answer, inputs }, rows),
      { key: 'stop_task', label: 'stop it', ...found },
    ]
  }
  return [
    { key: 'task_input', label, ...tried(inputTask(facts, given)) },
    { key: 'stop_task', label: 'stop it', ...(isTerminal(task) ? over : found) },
  ]
}

/**
 * What the row allows: whether anything would be lost, only a look at the folder says, which the
 * act itself takes.
 */
export function canOfWorktree(view: CanView, worktree: Worktree): ActionPermission[] {
  const facts = overlaid(view.facts, [['worktrees', worktree]])
  const { id } = worktree
  return [
    { key: 'snapshot_worktree', label: 'keep a snapshot of it', ...tried(standing(facts, id)) },
    { key: 'remove_worktree', label: 'remove it, once merged', ...tried(leavable(facts, id)) },
    { key: 'discard_worktree', label: 'discard it', ...tried(leavable(facts, id)) },
    { key: 'restore_worktree', label: 'bring it back', ...tried(restorable(facts, id)) },
  ]
}

export function canOfGrant(view: CanView, grant: Grant): ActionPermission[] {
  const act = { do: 'revoke_grant', grant_id: grant.id } as const
  return [dry(view, 'take it back', act, [['grants', grant]])]
}

export function canOfTrigger(view: CanView, trigger: Trigger): ActionPermission[] {
  const rows: Extra = [['triggers', trigger]]
  const { id: trigger_id } = trigger
  return [
    dry(view, 'give it a new URL', { do: 'reset_trigger', trigger_id, inputs: hashing }, rows),
    dry(view, 'revoke it', { do: 'revoke_trigger', trigger_id, inputs: hashing }, rows),
  ]
}

export function canOfDelivery(view: CanView, delivery: Delivery): ActionPermission[] {
  const rows: Extra = [['deliveries', delivery]]
  const { id: delivery_id, body_sha256 } = delivery
  const inputs = { body: body_sha256 === null ? null : 'x' }
  return [dry(view, 'deliver it again', { do: 'redeliver', delivery_id, inputs }, rows)]
}

export function canOfSchedule(view: CanView, schedule: Schedule): ActionPermission[] {
  const rows: Extra = [['schedules', schedule]]
  const { id: schedule_id } = schedule
  const text = `${schedule.text} x`
  const inputs = tomorrow(view)
  return [
    dry(view, 'change it', { do: 'change_schedule', schedule_id, text, inputs }, rows),
    dry(view, 'pause it', { do: 'pause_schedule', schedule_id, inputs }, rows),
    dry(view, 'resume it', { do: 'resume_schedule', schedule_id, inputs }, rows),
    dry(view, 'remove it', { do: 'remove_schedule', schedule_id, inputs }, rows),
  ]
}

/** Rows that stand beside the facts, because what is asked about may not be live any more. */
type Extra = readonly (readonly [Table, Rows[Table]])[]

const noImages = { images: [], unseen_by: null }

/** An act without whose agent it is: that is the agent of the facts. */
type Bare<A = PreparedAct> = A extends PreparedAct ? Omit<A, 'agent_id' | 'receipt'> : never

function dry(view: CanView, label: string, act: Bare, rows: Extra = []): ActionPermission {
  const d = draft(view, rows)
  const reply = operate(d, { ...act, agent_id: view.facts.agent_id })
  if (isRejection(reply)) return { key: act.do, label, ...tried(reply) }
  // What only fills counters up again is not what anybody would press a button for.
  const moves = d.emitted.some(({ event }) => tableOf[event.type] !== 'pacing')
  if (moves) return { key: act.do, label, allowed: true }
  return { key: act.do, label, allowed: false, code: 'no_change', why: reply.said }
}

const tried = (verdict: { ok: true } | Rejection) =>
  verdict.ok
    ? ({ allowed: true } as const)
    : ({ allowed: false, code: verdict.code, why: verdict.message } as const)

const draft = (view: CanView, rows: Extra): Draft =>
  new Draft(overlaid(view.facts, rows), { now: view.now, mint: counting(), causation_id: null })

/** Ids that name nothing, and nothing keeps. */
function counting(): Mint {
  let n = 0
  return ((prefix: string) => `${prefix}_dry${(n += 1)}`) as Mint
}

function overlaid(facts: Facts, extra: Extra): Facts {
  const missing = extra.filter(([table, row]) => facts.row(table, row.id) === undefined)
  if (missing.length === 0) return facts
  const of = (table: Table) => missing.filter(([t]) => t === table).map(([, row]) => row)
  return {
    agent_id: facts.agent_id,
    seq: facts.seq,
    last_at: facts.last_at,
    row: <T extends Table>(table: T, id: string) =>
      facts.row(table, id) ?? (of(table).find((row) => row.id === id) as Rows[T] | undefined),
    rows: <T extends Table>(table: T) => [...facts.rows(table), ...of(table)] as Iterable<Rows[T]>,
  }
}

// What an act is decided on, had it been carried out: everything it needs is there.

const aPlan = { path: '', sha256: null, bytes: 0, good_sha256: null }
const anItem = { new_item: { id: 'work_dry', plan: aPlan }, budget: null } as const
const aChange = { plan_text: null, budget: null }
const hashing = { token_hash: () => '0'.repeat(64) }

const tomorrow = ({ now }: CanView): ActInputs['create_schedule'] => ({
  timetable: {
    occurrences: () => [plus(now, 86_400_000)],
    occurred: () => [],
    problem: () => null,
  },
})

const aCarried = {
  agent_id: 'main',
  work_item_id: 'work_dry',
  exported_at: '',
  objective: 'x',
  plan_status: 'draft',
  todo_list: [],
  plan: '',
  not_taken: [],
} satisfies Carried
const aFile = { new_item: anItem.new_item, carried: aCarried, file_sha256: '0'.repeat(64) }

const aTask = {
  id: 'task_dry',
  cmd: 'true',
  workdir: '/',
  work_item_id: null,
  output_path: '/',
  start_place: { boot: '', tasks: '' },
} as const

const aSchedule = {
  do: 'create_schedule',
  label: 'x',
  text: 'x',
  spec: { kind: 'cron', expression: '@daily', time_zone: 'UTC' },
} as const
