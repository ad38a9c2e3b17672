/**
 * The operator's words for what runs (docs/spec/task.md#input, docs/spec/agent.md,
 * docs/spec/http.md): bytes for a command that reads them, a message for a child through the task
 * that supervises it. What a command does with its input cannot be asked for: the receipt is kept
 * once it was given, and a request that was cut off before that may be carried out again.
 */
import type { TaskId } from '../../domain/ids.ts'
import { rowsNeeded } from '../../domain/operator/decide.ts'
import type { OperatorAct } from '../../domain/operator/act.ts'
import { delegated } from '../../domain/state/provenance.ts'
import { keepReceipt, keptReceipt } from '../../domain/operator/receipts.ts'
import { done, type Done } from '../../domain/state/reply.ts'
import { inputTask } from '../../domain/agents/tasks.ts'
import type { Task } from '../../domain/state/task.ts'
import { isRejection, no, type Rejection } from '../../domain/rejection.ts'
import { ProcessFault } from '../../exec/commands/process-fault.ts'
import type { ActPorts } from './act-ports.ts'

type Act = OperatorAct & { do: 'task_input' }

export async function giveInput(ports: ActPorts, command: Act): Promise<Done | Rejection> {
  const { store } = ports
  const { agent_id, task_id, text, end = false, receipt } = command
  const needs = rowsNeeded(command)
  const asked = await store.transact(
    agent_id,
    'operator',
    (d) => keptReceipt(d, receipt) ?? inputTask(d, { task_id, text, end }),
    { needs },
  )
  if (isRejection(asked) || 'said' in asked) return asked
  const given =
    asked.task.kind !== 'child_agent'
      ? await toCommand(ports, asked.task.id, text, end)
      : await toChild(ports, asked.task, command)
  if (isRejection(given)) return given
  await store.transact(agent_id, 'operator', (d) => keepReceipt(d, receipt, given), { needs })
  return given
}

async function toCommand(
  { processes, effect_seam }: ActPorts,
  id: TaskId,
  text: string,
  end: boolean,
): Promise<Done | Rejection> {
  effect_seam?.before_effect(`input ${id}`)
  try {
    await processes.input(id, text, { end })
  } catch (error) {
    if (error instanceof ProcessFault) return notGiven(id, error)
    throw error
  }
  effect_seam?.after_effect(`input ${id}`)
  const bytes = new TextEncoder().encode(text).length
  return done(`${bytes} bytes are given to ${id}${end ? '; its input is ended' : ''}.`, { id })
}

/** Keyed by the request: the same again is the same message. */
async function toChild(
  { store, children }: ActPorts,
  { id, child_agent_id, asking }: Task,
  { agent_id, text, receipt }: Act,
): Promise<Done | Rejection> {
  const told = await children.tell(agent_id, id, {
    text,
    provenance: delegated([{ origin: 'operator', authority_class: 'operator_instruction' }]),
    key: receipt?.id ?? store.mint('msg'),
  })
  if (!told.ok) return told
  const { message_id, answered } = told
  const resolved = answered && asking?.wait_id ? [asking.wait_id] : []
  const what = answered ? 'has its answer' : 'is told'
  return done(`${child_agent_id} ${what} in ${message_id}.`, { id, message_id, resolved })
}

function notGiven(id: TaskId, fault: ProcessFault): Rejection {
  const message = `${id}: ${fault.message}.`
  switch (fault.code) {
    case 'not_running':
    case 'not_started':
      return no('task_ended', `${id} does not run any more.`)
    case 'input_ended':
      return no('task_takes_no_input', message, 'Start it again to give it more.')
    case 'input_partly_taken':
      return no('input_partly_taken', message)
    case 'input_refused':
      return no('input_refused', message)
    case 'input_too_long':
      return no('over_limit', message)
    case 'invalid_command':
    case 'not_prepared':
    case 'no_shell':
    case 'unconfined':
    case 'spawner_failed':
    case 'closed':
    case 'foreign_format':
    case 'scarce':
    case 'io':
      throw fault
  }
}
