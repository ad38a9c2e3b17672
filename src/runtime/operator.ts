/**
 * The operator's acts, carried out: what an act needs is read or made first, then it is one
 * decision of `domain/operate.ts` and one commit (docs/spec/http.md#acts). Used by the owner's own
 * commands and by its door.
 */
import { deliveryKey, fixedBy } from '../domain/deliveries.ts'
import type { Received, Via } from '../domain/delivery.ts'
import type { AgentId, DeliveryId, MessageId } from '../domain/ids.ts'
import { utf8Length } from '../domain/ingress.ts'
import { checkCreate } from '../domain/items.ts'
import type { Known } from '../domain/known.ts'
import { limits } from '../domain/limits.ts'
import { hintKey } from '../domain/message.ts'
import { nothingUsed } from '../domain/metering.ts'
import { operate, rowsNeeded } from '../domain/operate.ts'
import { handKey } from '../domain/operate-message.ts'
import type { DecidedAct, OperatorAct } from '../domain/operator-act.ts'
import { answeredWaitIn, pageOfAnswer } from '../domain/take-back.ts'
import { answeredBy, type ReceiptKey } from '../domain/receipts.ts'
import { done, type Done } from '../domain/reply.ts'
import { isTerminal } from '../domain/task.ts'
import { plus, type Timestamp } from '../domain/time.ts'
import { isRejection, no, overLimit, type Rejection } from '../domain/verdict.ts'
import { timetable } from '../exec/cron.ts'
import type { OperatorReply } from '../protocol/operator.ts'
import type { ActPorts } from './act-ports.ts'
import { takeIn } from './import-item.ts'
import { giveInput } from './give-input.ts'
import { agentHome } from './home.ts'
import { checkWorkspace, shaped } from './new-agent.ts'
import type { NewBlob } from '../ledger/port.ts'
import { keeping, makePlan, readPlan, unlessLinked } from './plans.ts'
import { unpricedModel, useSoFar } from './spent.ts'
import { isSigned, takeSigned } from './signed-deliveries.ts'
import { startTask } from './start-task.ts'
import type { Looked, Need, Store } from './store.ts'
import { onWorktree } from './worktree-acts.ts'

export const refused = ({ code, message, hint }: Rejection): OperatorReply => ({
  ok: false,
  code,
  message,
  hint,
})

export async function act(
  ports: ActPorts,
  command: Exclude<OperatorAct, { do: 'abort' }>,
): Promise<OperatorReply> {
  const { store } = ports
  if (command.do === 'stop_task') return stopTask(ports, command)
  if (command.do === 'start_task') return said(await startTask(ports, command))
  if (command.do === 'task_input') return said(await giveInput(ports, command))
  if ('worktree_id' in command) return said(await onWorktree(ports, command))
  const decided = () => decide(ports, command)
  // Its home is made before its row: of two that make one agent, the second leaves it alone.
  if (command.do === 'create_agent') {
    return said(await store.making(command.agent_id, decided))
  }
  if (!isSigned(command)) return said(await decided())
  return said(await takeSigned(store, command, decided))
}

/** Everything but what is started or stopped: one decision and one commit. */
async function decide(ports: ActPorts, command: DecidedAct): Promise<Done | Rejection> {
  const { store } = ports
  const { receipt } = command
  const before = receipt === undefined ? null : await answered(store, command.agent_id, receipt)
  if (before !== null) return before
  const prepared = await prepare(ports, command)
  if (isRejection(prepared)) return prepared
  const act = prepared.command
  return store.consider(
    act.agent_id,
    causeOf(act),
    async () => ({ ...(await lookUp(ports, act, prepared.known)), blobs: prepared.blobs }),
    (d, known) => operate(d, act, known),
  )
}

const said = (reply: Done | Rejection): OperatorReply => (reply.ok ? reply : refused(reply))

/** Who asked for it: the door of a delivery, else the operator. */
function causeOf(command: DecidedAct): string {
  if (command.do !== 'deliver' && command.do !== 'dead_letter') return 'operator'
  const { via } = command
  return via.kind === 'trigger' ? via.trigger_id : `webhook ${via.webhook}`
}

/** The act as it is to be decided, and what the decision knows. */
type Prepared = {
  ok: true
  command: DecidedAct
  known: Known
  /** What the decision names by hash, for its commit. */
  blobs: readonly NewBlob[]
}

/** Reads and makes what the decision will need. What was made for a refused act lies unused. */
async function prepare(ports: ActPorts, given: DecidedAct): Promise<Prepared | Rejection> {
  const { store, home } = ports
  const { agent_id } = given
  const blobs: NewBlob[] = []
  const known: Known = {
    timetable,
    token_hash: ports.token_hash,
    home: agentHome(home, agent_id),
    budget: null,
    new_item: null,
    imported: null,
    plan_text: null,
    body_sha256: null,
    body: null,
    earlier_delivery: null,
    earlier_message: null,
    answered_by: null,
    answered_wait: null,
  }
  if (given.do === 'create_agent' || given.do === 'configure_agent') {
    const wrong = await checkWorkspace(ports, given)
    if (wrong) return wrong
  }
  const shape = given.do === 'create_agent' ? await shaped(ports, given) : null
  if (shape !== null && !shape.ok) return shape
  const command = shape?.command ?? given
  if (command.do === 'create_item') {
    const made = await unlessLinked(newItem(ports, command, blobs))
    if (!made.ok) return made
    known.new_item = made
  }
  if (command.do === 'import_item') {
    const taken = await unlessLinked(takeIn(ports, command, blobs))
    if (!taken.ok) return taken
    known.new_item = taken
    known.imported = taken
  }
  if (command.do === 'deliver' || command.do === 'dead_letter') {
    const bytes = utf8Length(command.body)
    if (bytes > limits.delivery_body.value) return overLimit(limits.delivery_body, bytes)
    known.body_sha256 = store.keep(blobs, new TextEncoder().encode(command.body))
  }
  if (command.do === 'redeliver') known.body = await bodyOf(store, command)
  return { ok: true, command, known, blobs }
}

/**
 * What may change until the decision is made, read in its place in the agent's line: of two
 * deliveries of one id that come at once, the second finds the first.
 */
async function lookUp(ports: ActPorts, command: DecidedAct, before: Known): Promise<Looked<Known>> {
  const { store } = ports
  const needs: Need[] = rowsNeeded(command)
  if (command.do === 'import_item' && before.new_item !== null) {
    needs.push(['work_items', before.new_item.id])
  }
  const known = { ...before }
  if (command.do === 'deliver' || command.do === 'dead_letter') {
    known.earlier_delivery = await earlierDelivery(store, command)
    if (known.earlier_delivery !== null) needs.push(['deliveries', known.earlier_delivery])
  }
  if (command.do === 'deliver') needs.push(...(await toldOfHint(store, command)))
  if (command.do === 'trigger') {
    known.earlier_message = await earlierMessage(store, command.agent_id, handKey(command))
  }
  if ('budget' in command && command.budget) {
    const item = command.do === 'update_item' ? command.work_item_id : null
    known.budget = {
      so_far: item === null ? nothingUsed : await useSoFar(store.ledger, item),
      unpriced: unpricedModel(ports.models, store.facts(command.agent_id)),
    }
  }
  if (command.do === 'update_item' && command.plan_status === 'needs_input') {
    known.plan_text = await planText(ports, command)
  }
  if (command.do === 'answer') known.answered_by = await answerer(store, command)
  if (command.do === 'take_back') known.answered_wait = await answeredWait(store, command)
  return { known, needs }
}

/** For a question that was not given. What cannot be read asks nothing of its own. */
async function planText(
  { store, home, files }: ActPorts,
  { agent_id, work_item_id }: DecidedAct & { do: 'update_item' },
): Promise<string | null> {
  const item = await store.row(agent_id, 'work_items', work_item_id)
  if (item?.agent_id !== agent_id) return null
  return (await readPlan({ home, files, ...keeping(store, null) }, item)).described.preview
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

/** The plan file is there before the item: an item without its file is never seen. */
async function newItem(
  ports: ActPorts,
  command: DecidedAct & { do: 'create_item' },
  blobs: NewBlob[],
) {
  const { store, home, files } = ports
  const { agent_id, objective, plan_status = 'draft', todo_list = [], plan = '' } = command
  const asked = command.question === undefined ? {} : { question: command.question }
  const bytes = utf8Length(plan)
  if (bytes > limits.plan.value) return overLimit(limits.plan, bytes)
  const facts = store.facts(agent_id)
  const wrong = facts && checkCreate(facts, { objective, plan_status, todo_list, ...asked })
  if (wrong) return wrong
  const id = store.mint('work')
  const made = await makePlan({ home, files, ...keeping(store, blobs) }, agent_id, id, plan)
  return { ok: true, id, plan: made.stored } as const
}

/** A delivery id is remembered for eight days: the same again is answered with the first. */
async function earlierDelivery(
  store: Store,
  command: DecidedAct & { do: 'deliver' | 'dead_letter' },
): Promise<DeliveryId | null> {
  const { agent_id, sender_id } = command
  if (sender_id === undefined) return null
  const via = command.via as Via
  const trigger =
    via.kind === 'trigger' ? await store.row(agent_id, 'triggers', via.trigger_id) : null
  const given: Received = {
    via,
    sender_id,
    source: command.source ?? null,
    resource: command.resource ?? null,
    summary: null,
    body_sha256: null,
    content_type: null,
  }
  const received = fixedBy(trigger, given)
  const { source } = received
  const since = plus(store.now(), -limits.dedupe.value)
  const found = await store.ledger.deliveryBySender(agent_id, source, sender_id, since)
  const key = deliveryKey(received)
  if (found === null || deliveryKey(found) === key) return found?.id ?? null
  return earlierByDoor(store, agent_id, key, since)
}

/** Rows read at a time where two doors without a source use the same ids. */
const deliveriesRead = 500

/** Without a source the key tells doors apart, which the ledger's index does not. */
async function earlierByDoor(
  store: Store,
  agent_id: AgentId,
  key: string | null,
  since: Timestamp,
): Promise<DeliveryId | null> {
  let before: number | undefined
  for (;;) {
    const { entries, more } = await store.ledger.page('deliveries', {
      agent_id,
      order: 'newest',
      ...(before === undefined ? {} : { before }),
      limit: deliveriesRead,
    })
    const recent = entries.filter(({ row }) => row.received_at >= since)
    const found = recent.find(({ row }) => deliveryKey(row) === key)
    if (found) return found.row.id
    if (!more || recent.length < entries.length) return null
    before = entries.at(-1)?.born
  }
}

/** What the agent was told last of hints like this one, where it is one. */
async function toldOfHint(store: Store, command: DecidedAct & { do: 'deliver' }): Promise<Need[]> {
  const { agent_id } = command
  const via = command.via as Via
  const trigger =
    via.kind === 'trigger' ? await store.row(agent_id, 'triggers', via.trigger_id) : null
  if (trigger?.delivery_mode !== 'wake_hint') return []
  const source = trigger.source ?? command.source ?? null
  const resource = trigger.resource ?? command.resource ?? null
  const since = plus(store.now(), -2 * limits.hint_pause.value)
  const told = await store.ledger.messageByKey(agent_id, hintKey({ source, resource }), since)
  return told === null ? [] : [['messages', told.id]]
}

async function earlierMessage(
  store: Store,
  agent: AgentId,
  key: string | null,
): Promise<MessageId | null> {
  if (key === null) return null
  const since = plus(store.now(), -limits.dedupe.value)
  return (await store.ledger.messageByKey(agent, key, since))?.id ?? null
}

async function bodyOf(
  store: Store,
  command: DecidedAct & { do: 'redeliver' },
): Promise<string | null> {
  const delivery = await store.row(command.agent_id, 'deliveries', command.delivery_id)
  const sha256 = delivery?.body_sha256 ?? null
  const bytes = sha256 === null ? null : await store.ledger.blob(sha256)
  return bytes === null ? null : new TextDecoder().decode(bytes)
}

/** Prompts looked through for the one that answered a question before, newest first. */
const promptsSearched = 1_000

/** Of a question that is over: the message that answered it. */
async function answerer(store: Store, command: DecidedAct & { do: 'answer' }) {
  const { agent_id, wait_id } = command
  const wait = await store.row(agent_id, 'waits', wait_id)
  if (wait?.agent_id !== agent_id || wait.status !== 'resolved') return null
  const prompts = await store.ledger.list('messages', {
    agent_id,
    kind: ['operator_prompt', 'internal_followup'],
    limit: promptsSearched,
  })
  return prompts.find((message) => message.wait_id === wait_id) ?? null
}

/** The wait that a message ended without naming it. */
async function answeredWait(store: Store, command: DecidedAct & { do: 'take_back' }) {
  const message = await store.row(command.agent_id, 'messages', command.message_id)
  const page = message === null ? null : pageOfAnswer(message)
  if (message === null || page === null) return null
  return answeredWaitIn(await store.ledger.eventPage(page), message.id)
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
