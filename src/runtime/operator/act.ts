/**
 * The operator's acts, carried out: what an act needs is read or made first, then it is one
 * decision of `domain/operator/decide.ts` and one commit (docs/spec/http.md#acts). Used by the
 * owner's own commands and by its door.
 */
import type { AgentId } from '../../domain/ids.ts'
import { operate, rowsNeeded } from '../../domain/operator/decide.ts'
import type { DecidedAct, OperatorAct } from '../../domain/operator/act.ts'
import { answeredBy, type ReceiptKey } from '../../domain/operator/receipts.ts'
import { done, type Done } from '../../domain/state/reply.ts'
import { isTerminal } from '../../domain/state/task.ts'
import { isRejection, no, type Rejection } from '../../domain/rejection.ts'
import type { OperatorReply } from '../../protocol/acts/operator.ts'
import type { ActPorts } from './act-ports.ts'
import { giveInput } from './give-input.ts'
import { prepareAct } from './prepare-act.ts'
import { revertFiles } from './revert-files.ts'
import { isSigned, takeSigned } from './signed-deliveries.ts'
import { startTask } from './start-task.ts'
import type { Store } from '../store.ts'
import { onWorktree } from '../children/worktree-acts.ts'

export const refused = ({ code, message, hint }: Rejection): OperatorReply => ({
  ok: false,
  code,
  message,
  hint,
})

export async function carryOut(
  ports: ActPorts,
  command: Exclude<OperatorAct, { do: 'abort' }>,
): Promise<OperatorReply> {
  const { store } = ports
  if (command.do === 'stop_task') return stopTask(ports, command)
  if (command.do === 'start_task') return said(await startTask(ports, command))
  if (command.do === 'task_input') return said(await giveInput(ports, command))
  if (command.do === 'revert_files') return said(await revertFiles(ports, command))
  if ('worktree_id' in command) return said(await onWorktree(ports, command))
  const decided = () => commitAct(ports, command)
  // Its home is made before its row: of two that make one agent, the second leaves it alone.
  if (command.do === 'create_agent') {
    return said(await store.making(command.agent_id, decided))
  }
  if (!isSigned(command)) return said(await decided())
  return said(await takeSigned(store, command, decided))
}

/** Everything but what is started or stopped: one decision and one commit. */
async function commitAct(ports: ActPorts, command: DecidedAct): Promise<Done | Rejection> {
  const { store } = ports
  const { receipt } = command
  const before = receipt === undefined ? null : await answered(store, command.agent_id, receipt)
  if (before !== null) return before
  const prepared = await prepareAct(ports, command)
  if (isRejection(prepared)) return prepared
  const { blobs } = prepared
  const look = async () => {
    const { act, needs = [] } = await prepared.look()
    return { known: act, needs: [...rowsNeeded(act), ...needs], blobs }
  }
  return store.consider(command.agent_id, causeOf(command), look, operate)
}

const said = (reply: Done | Rejection): OperatorReply => (reply.ok ? reply : refused(reply))

/** Who asked for it: the door of a delivery, else the operator. */
function causeOf(command: DecidedAct): string {
  if (command.do !== 'deliver' && command.do !== 'dead_letter') return 'operator'
  const { via } = command
  return via.kind === 'trigger' ? via.trigger_id : `webhook ${via.webhook}`
}

/**
 * What its receipt answers: nothing is made for it then. That is settled by this one look, for the
 * clock may jump before the next; a receipt that comes meanwhile is found by the decision.
 */
async function answered(
  store: Store,
  agent: AgentId,
  receipt: ReceiptKey,
): Promise<Done | Rejection | null> {
  const kept = await store.row(agent, 'receipts', receipt.id)
  return kept?.agent_id === agent ? answeredBy(kept, receipt, store.now()) : null
}

async function stopTask(
  { store, supervisor }: ActPorts,
  command: OperatorAct & { do: 'stop_task' },
): Promise<OperatorReply> {
  const { agent_id, task_id } = command
  const task = await store.row(agent_id, 'tasks', task_id)
  if (!task || task.agent_id !== agent_id) {
    return refused(no('task_not_found', `${task_id} is not a task here.`))
  }
  const { id } = task
  if (isTerminal(task)) return done(`${id} had ended already: ${task.status}.`, { id })
  const survivors = await supervisor.stop(agent_id, id, 'stopped by the operator')
  return survivors.length === 0
    ? done(`${id} is stopped.`, { id })
    : done(`${id} did not stop: processes ${survivors.join(', ')} are still there.`, { id })
}
