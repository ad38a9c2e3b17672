/**
 * A command of the operator's own (docs/spec/task.md): one commit has its row, promoted, so that
 * the supervisor answers for it from the start: it begins the command, also after a crash in
 * between, and its end comes as a message.
 */
import { resolve } from 'node:path'
import type { WorkItemId } from '../../domain/ids.ts'
import type { OperatorAct } from '../../domain/operator/act.ts'
import { rowsNeeded } from '../../domain/operator/decide.ts'
import { keepReceipt, keptReceipt } from '../../domain/operator/receipts.ts'
import { done, type Done } from '../../domain/state/reply.ts'
import { queueTask } from '../../domain/agents/tasks.ts'
import { isRejection, type Rejection } from '../../domain/rejection.ts'
import { agentHome, taskPath } from '../home.ts'
import type { ActPorts } from './act-ports.ts'

export function startTask(
  { store, home, processes }: ActPorts,
  command: OperatorAct & { do: 'start_task' },
): Promise<Done | Rejection> {
  const { agent_id, cmd, receipt } = command
  const id = store.mint('task')
  const work_item_id = (command.work_item_id ?? null) as WorkItemId | null
  return store.transact(
    agent_id,
    'operator',
    (d) => {
      const kept = keptReceipt(d, receipt)
      if (kept) return kept
      const root = d.row('agents', agent_id)?.workspace.root ?? agentHome(home, agent_id)
      const workdir = resolve(root, command.workdir ?? '.')
      const queued = queueTask(d, {
        id,
        cmd,
        workdir,
        work_item_id,
        output_path: taskPath(home, id),
        start_place: processes.place(),
      })
      if (isRejection(queued)) return queued
      d.emit({ type: 'task_promoted', id })
      const reply = done(`${id} is queued; its end will be a message.`, { id })
      keepReceipt(d, receipt, reply)
      return reply
    },
    { needs: rowsNeeded(command) },
  )
}
