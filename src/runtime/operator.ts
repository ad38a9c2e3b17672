/**
 * What the operator may do, carried out: each act is one decision and one commit, with the same
 * rejections the agent gets (contracts 13). Used by the owner's own commands and by its door.
 */
import { completeItem } from '../domain/complete.ts'
import { activeWaitOf, type Draft } from '../domain/facts.ts'
import { pickItem } from '../domain/focus.ts'
import type { WaitId, WorkItemId } from '../domain/ids.ts'
import { admitEvent, admitPrompt, type Admitted } from '../domain/ingress.ts'
import { tellRunningTurn, updateItem } from '../domain/items.ts'
import { limits } from '../domain/limits.ts'
import { outsideInput } from '../domain/pacing.ts'
import { releaseHolds } from '../domain/park.ts'
import { callbackEvent, localPrompt, type Provenance } from '../domain/provenance.ts'
import { isTerminal } from '../domain/task.ts'
import { plus } from '../domain/time.ts'
import { isRejection, no, type Rejection } from '../domain/verdict.ts'
import { cancelWait } from '../domain/waiting.ts'
import type { OperatorCommand, OperatorReply } from '../protocol/operator.ts'
import type { Store } from './store.ts'
import type { Supervisor } from './supervisor.ts'

type Done = OperatorReply & { ok: true }

export const done = (said: string, more: Partial<Done> = {}): Done => ({
  ok: true,
  message_id: null,
  resolved: [],
  triggered: [],
  said,
  warnings: [],
  ...more,
})

export const refused = ({ code, message, hint }: Rejection): OperatorReply => ({
  ok: false,
  code,
  message,
  hint,
})

export async function act(
  store: Store,
  supervisor: Supervisor,
  command: Exclude<OperatorCommand, { do: 'abort' }>,
): Promise<OperatorReply> {
  if (store.facts(command.agent_id) === null) {
    return refused(no('agent_not_found', `There is no agent "${command.agent_id}".`))
  }
  if (command.do === 'stop_task') return stopTask(store, supervisor, command)
  const seen = await seenBefore(store, command)
  if (seen) return seen
  const reply = await store.transact(
    command.agent_id,
    'operator',
    (d) => decide(d, command),
    needs(command),
  )
  return isRejection(reply) ? refused(reply) : reply
}

/** A delivery id is remembered for eight days: the same again is answered with the first. */
async function seenBefore(store: Store, command: OperatorCommand): Promise<OperatorReply | null> {
  const key = dedupeKey(command)
  if (key === null) return null
  const since = plus(store.now(), -limits.dedupe.value)
  const before = await store.ledger.messageByKey(command.agent_id, key, since)
  return before ? done('This delivery was accepted before.', { message_id: before.id }) : null
}

function dedupeKey(command: OperatorCommand): string | null {
  if (command.do !== 'trigger' || command.delivery_id === undefined) return null
  return `${command.source ?? ''}\n${command.delivery_id}`
}

function needs(command: OperatorCommand): (readonly ['work_items' | 'waits', string])[] {
  const rows: (readonly ['work_items' | 'waits', string])[] = []
  if ('work_item_id' in command && command.work_item_id) {
    rows.push(['work_items', command.work_item_id])
  }
  if ('wait_id' in command && command.wait_id) rows.push(['waits', command.wait_id])
  return rows
}

type Decided = Exclude<OperatorCommand, { do: 'stop_task' | 'abort' }>

function decide(d: Draft, command: Decided): Done | Rejection {
  switch (command.do) {
    case 'send':
      return send(d, command)
    case 'trigger':
      return trigger(d, command)
    case 'pick':
    case 'complete':
    case 'unblock':
      return onItem(d, command)
    case 'cancel_wait': {
      const cancelled = cancelWait(d, command.wait_id as WaitId)
      if (isRejection(cancelled)) return cancelled
      const item = d.row('waits', command.wait_id)?.work_item_id ?? null
      if (item !== null) tellRunningTurn(d, item, ['its wait is cancelled'])
      return done(`${command.wait_id} is cancelled.`)
    }
    case 'start_agent':
      releaseHolds(d)
      d.emit({ type: 'agent_started', id: d.agent_id, by: 'operator' })
      outsideInput(d, null, 'operator')
      return done(`${d.agent_id} is started.`)
    case 'stop_agent':
      d.emit({ type: 'agent_stopped', id: d.agent_id, by: 'operator' })
      return done(`${d.agent_id} is stopped; nothing is lost.`)
  }
}

function send(d: Draft, command: Decided & { do: 'send' }): Done | Rejection {
  const admitted = admitPrompt(d, {
    provenance: surface(command.surface ?? 'cli_prompt'),
    text: command.text,
    work_item_id: (command.work_item_id ?? null) as WorkItemId | null,
    wait_id: (command.wait_id ?? null) as WaitId | null,
    priority: command.priority ?? 'next',
    start: command.start ?? false,
  })
  const reply = told(admitted, 'Accepted')
  const item = command.work_item_id === undefined ? null : d.row('work_items', command.work_item_id)
  if (isRejection(reply) || item?.state !== 'completed') return reply
  const message = `${item.id} is completed; the message reopens nothing.`
  return { ...reply, warnings: [{ kind: 'item_completed', message }] }
}

const surface = (name: NonNullable<(Decided & { do: 'send' })['surface']>): Provenance =>
  name === 'http_control'
    ? {
        ...localPrompt('cli_prompt'),
        delivery_surface: 'http_control',
        admission_context: 'control_authenticated',
      }
    : localPrompt(name)

function trigger(d: Draft, command: Decided & { do: 'trigger' }): Done | Rejection {
  const wait = command.wait_id === undefined ? undefined : d.row('waits', command.wait_id)
  const admitted = admitEvent(d, {
    provenance: callbackEvent,
    source: command.source ?? wait?.source ?? null,
    resource: command.resource ?? wait?.resource ?? null,
    body: command.body,
    dedupe_key: dedupeKey(command),
    wait_id: (command.wait_id ?? null) as WaitId | null,
  })
  return told(admitted, 'Delivered')
}

function told(admitted: Admitted | Rejection, word: string): Done | Rejection {
  if (isRejection(admitted)) return admitted
  const { message_id, resolved, triggered } = admitted
  const effect = [
    ...resolved.map((id) => `${id} is answered`),
    ...triggered.map((id) => `${id} is triggered`),
  ].join(', ')
  const said = effect === '' ? `${word} as ${message_id}.` : `${word} as ${message_id}; ${effect}.`
  return done(said, { message_id, resolved, triggered })
}

function onItem(
  d: Draft,
  command: Decided & { do: 'pick' | 'complete' | 'unblock' },
): Done | Rejection {
  const work_item_id = command.work_item_id as WorkItemId
  switch (command.do) {
    case 'pick': {
      const picked = pickItem(d, { work_item_id, by: 'operator', reason: command.reason ?? null })
      if (isRejection(picked)) return picked
      return done(`${work_item_id} is in focus.`, { warnings: brief(picked.warnings) })
    }
    case 'complete': {
      const report = command.report ?? null
      const completed = completeItem(d, { work_item_id, by: 'operator', report, turn: null })
      if (isRejection(completed)) return completed
      tellRunningTurn(d, work_item_id, ['it is completed'])
      return done(`${work_item_id} is completed.`, { warnings: brief(completed.warnings) })
    }
    case 'unblock': {
      const asked = activeWaitOf(d, work_item_id)?.wake === 'operator_input'
      const updated = updateItem(d, { work_item_id, by: 'operator', blocked_by: null })
      if (isRejection(updated)) return updated
      const { blocked_by, wait_id } = updated.cleared ?? { blocked_by: null, wait_id: null }
      const cleared = [
        ...(blocked_by === null ? [] : ['its blocker is cleared']),
        ...(wait_id === null ? [] : [`${wait_id} is cancelled`]),
      ]
      const what = cleared.length === 0 ? 'nothing held it' : cleared.join(', ')
      const warnings = [...brief(updated.warnings), ...(asked ? [questionCancelled] : [])]
      return done(`${work_item_id} may go on: ${what}.`, { warnings })
    }
  }
}

const questionCancelled = {
  kind: 'question_cancelled',
  message: 'It had asked you something and goes on without an answer; `holon answer` gives one.',
}

const brief = (warnings: readonly { kind: string; message: string }[]) =>
  warnings.map(({ kind, message }) => ({ kind, message }))

async function stopTask(
  store: Store,
  supervisor: Supervisor,
  command: OperatorCommand & { do: 'stop_task' },
): Promise<OperatorReply> {
  const task = await store.row(command.agent_id, 'tasks', command.task_id)
  if (!task || task.agent_id !== command.agent_id) {
    return refused(no('task_not_found', `${command.task_id} is not a task here.`))
  }
  if (isTerminal(task)) return done(`${task.id} had ended already: ${task.status}.`)
  const survivors = await supervisor.stop(command.agent_id, task.id, 'stopped by the operator')
  return survivors.length === 0
    ? done(`${task.id} is stopped.`)
    : done(`${task.id} did not stop: processes ${survivors.join(', ')} are still there.`)
}
