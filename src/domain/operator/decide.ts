/**
 * What the operator may do, decided: each act is one decision and one commit, with the same
 * rejections the agent gets (docs/spec/http.md#acts). Pure, so that `can.ts` asks it in a dry run.
 */
import {
  closedToOperator,
  configureAgent,
  createAgent,
  deleteAgent,
  livingAgent,
  startAgent,
  stopAgent,
  type Lived,
} from '../agents/lifecycle.ts'
import { revokeGrant } from '../approvals/grants.ts'
import type { Agent } from '../state/agent.ts'
import type { Table } from '../state/event.ts'
import type { Draft } from '../facts/facts.ts'
import { activeHold } from '../waits/hold.ts'
import type { WaitId } from '../ids.ts'
import { tellRunningTurn } from '../work/create-and-update.ts'
import type { PreparedAct } from './act-inputs.ts'
import { closedUntilPicked } from '../facts/imported.ts'
import * as item from './item-acts.ts'
import { importItem } from './import-act.ts'
import * as inbox from './inbox-acts.ts'
import { schedule, trigger } from './schedule-acts.ts'
import type { DecidedAct, OperatorAct } from './act.ts'
import { keepReceipt, keptReceipt } from './receipts.ts'
import { done, type Done } from '../state/reply.ts'
import { dismiss, snooze } from './snoozes.ts'
import { takeBackMessage } from './take-back.ts'
import { isRejection, type Rejection } from '../rejection.ts'
import { cancelWait } from '../waits/wait-end.ts'
import { isHeld } from '../state/task.ts'
import { asksOperator } from '../state/wait.ts'

/**
 * Decides an act. With a receipt that was kept, nothing is decided and the first answer comes back;
 * the receipt of an act that is carried out lands in the same draft.
 */
export function operate(d: Draft, act: PreparedAct): Done | Rejection {
  const kept = keptReceipt(d, act.receipt)
  if (kept) return kept
  if (act.do !== 'create_agent') {
    const agent = livingAgent(d)
    if ('ok' in agent) return agent
    const closed = isOpenTo(d, agent, act) ? null : closedToOperator(agent)
    const unpicked = pickFirst(d, agent, act)
    if (closed ?? unpicked) return (closed ?? unpicked) as Rejection
  }
  const reply = decide(d, act)
  if (!isRejection(reply)) keepReceipt(d, act.receipt, reply)
  return reply
}

/** An imported item is read, changed, completed or picked; all else would have it acted on. */
function pickFirst(d: Draft, agent: Agent, act: DecidedAct): Rejection | null {
  if (!('work_item_id' in act) || !act.work_item_id) return null
  if (act.do === 'pick' || act.do === 'complete' || act.do === 'update_item') return null
  return closedUntilPicked(d.row('work_items', act.work_item_id), agent.id)
}

/**
 * Of a private child the operator answers what it asks the operator, takes back what was granted,
 * ends what holds it back, and tidies the own desk. None of these says anything else to it.
 */
function isOpenTo(d: Draft, agent: Agent, act: DecidedAct): boolean {
  if (act.do === 'snooze' || act.do === 'dismiss') return true
  if (act.do === 'start_agent' && agent.state === 'active') {
    return activeHold(d) !== null
  }
  if (act.do === 'revoke_grant') return d.row('grants', act.grant_id)?.status === 'active'
  if (act.do === 'answer_held') return isHeld(d.row('tasks', act.task_id))
  if (act.do !== 'answer') return false
  const wait = d.row('waits', act.wait_id)
  return wait !== undefined && asksOperator(agent, wait)
}

function decide(d: Draft, act: PreparedAct): Done | Rejection {
  switch (act.do) {
    case 'create_item':
      return item.create(d, act)
    case 'import_item':
      return importItem(d, act.inputs)
    case 'update_item':
      return item.update(d, act)
    case 'pick':
      return item.pick(d, act)
    case 'complete':
      return item.complete(d, act)
    case 'unblock':
      return item.unblock(d, act)
    case 'run_checks':
      return item.runChecks(d, act)
    case 'answer_check':
      return item.answer(d, act)
    case 'send':
      return inbox.send(d, act)
    case 'answer':
      return inbox.answer(d, act)
    case 'answer_held':
      return inbox.answerHeldCommand(d, act)
    case 'take_back':
      return takeBackMessage(d, act, act.inputs.answered_wait)
    case 'cancel_wait':
      return cancel(d, act.wait_id)
    case 'trigger':
      return inbox.trigger(d, act)
    case 'deliver':
      return inbox.deliver(d, act)
    case 'dead_letter':
      return inbox.bury(d, act)
    case 'redeliver':
      return inbox.again(d, act)
    case 'revoke_grant':
      return revokeGrant(d, act.grant_id)
    case 'create_trigger':
    case 'reset_trigger':
    case 'revoke_trigger':
      return trigger(d, act)
    case 'create_schedule':
    case 'change_schedule':
    case 'pause_schedule':
    case 'resume_schedule':
    case 'remove_schedule':
      return schedule(d, act)
    case 'create_agent':
      return lived(createAgent(d, act, act.inputs.home, act.inputs.token_hash), 'is made', '')
    case 'configure_agent':
      return lived(configureAgent(d, settingsOf(act)), 'is configured', 'was so already')
    case 'start_agent':
      return lived(startAgent(d), 'is started', 'is active already')
    case 'stop_agent':
      return lived(stopAgent(d), 'is stopped; nothing is lost', 'is stopped already')
    case 'delete_agent':
      return lived(deleteAgent(d), 'is deleted; its name is never used again', '')
    case 'snooze':
      return putAway(snooze(d, act), `${act.attention_id} is put away until ${act.until}.`)
    case 'dismiss':
      return putAway(dismiss(d, act), `${act.attention_id} is put away until it changes.`)
  }
}

const settingsOf = ({
  model,
  fallback_model,
  workspace,
  budget,
  policy_preset,
}: DecidedAct & { do: 'configure_agent' }) => ({
  model,
  fallback_model,
  workspace,
  budget,
  policy_preset,
})

function lived(result: Lived | Rejection, changed: string, same: string): Done | Rejection {
  if (!result.ok) return result
  const { id } = result.agent
  return done(`${id} ${result.changed ? changed : same}.`, { id })
}

const putAway = (result: { ok: true } | Rejection, said: string): Done | Rejection =>
  result.ok ? done(said) : result

function cancel(d: Draft, id: string): Done | Rejection {
  const cancelled = cancelWait(d, id as WaitId)
  if (isRejection(cancelled)) return cancelled
  const on = d.row('waits', id)?.work_item_id ?? null
  if (on !== null) tellRunningTurn(d, on, ['its wait is cancelled'])
  return done(`${id} is cancelled.`, { id })
}

/** Rows an act may need beyond the live ones, by table and id. */
export function rowsNeeded(act: OperatorAct): (readonly [Table, string])[] {
  const rows: (readonly [Table, string])[] = []
  if (act.receipt !== undefined) rows.push(['receipts', act.receipt.id])
  if ('work_item_id' in act && act.work_item_id) rows.push(['work_items', act.work_item_id])
  if ('wait_id' in act && act.wait_id) rows.push(['waits', act.wait_id])
  if ('message_id' in act) rows.push(['messages', act.message_id])
  if ('task_id' in act) rows.push(['tasks', act.task_id])
  if ('worktree_id' in act) rows.push(['worktrees', act.worktree_id])
  if ('trigger_id' in act) rows.push(['triggers', act.trigger_id])
  if ('grant_id' in act) rows.push(['grants', act.grant_id])
  if ('schedule_id' in act) rows.push(['schedules', act.schedule_id])
  if (act.do === 'redeliver') rows.push(['deliveries', act.delivery_id])
  if ('via' in act && act.via.kind === 'trigger') rows.push(['triggers', act.via.trigger_id])
  return rows
}
