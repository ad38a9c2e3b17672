/**
 * What an act of the operator is decided on, read or made before the decision: files and blobs
 * once, before the act has its place in the agent's line; what may change until the decision is
 * made, in that place, and again after a conflict.
 */
import { deliveryKey, fixedBy } from '../../domain/inbox/deliveries.ts'
import type { Received, Via } from '../../domain/state/delivery.ts'
import type { AgentId, DeliveryId, MessageId } from '../../domain/ids.ts'
import { utf8Length } from '../../domain/inbox/admit.ts'
import { checkCreate } from '../../domain/work/create-and-update.ts'
import {
  hasInputs,
  type ActInputs,
  type NewItem,
  type PreparedAct,
} from '../../domain/operator/act-inputs.ts'
import { limits } from '../../domain/limits.ts'
import { hintKey } from '../../domain/state/message.ts'
import { nothingUsed } from '../../domain/budgets/settle.ts'
import { handKey } from '../../domain/operator/inbox-acts.ts'
import type { DecidedAct } from '../../domain/operator/act.ts'
import type { Facts } from '../../domain/facts/facts.ts'
import { answeredWaitIn, pageOfAnswer } from '../../domain/operator/take-back.ts'
import { isHeld } from '../../domain/state/task.ts'
import { plus, type Timestamp } from '../../domain/time.ts'
import { no, overLimit, type Rejection } from '../../domain/rejection.ts'
import { parseRunbook } from '../../models/runbook/parse.ts'
import { timetable } from '../../exec/cron.ts'
import type { NewBlob } from '../../ledger/port.ts'
import type { ActPorts } from './act-ports.ts'
import { agentHome } from '../home.ts'
import { readImages } from './given-images.ts'
import { takeIn } from './import-item.ts'
import { checkWorkspace, shaped } from './new-agent.ts'
import { keeping, makePlan, readPlan, unlessLinked } from '../gather/plans.ts'
import { unpricedModel, useSoFar } from '../use-so-far.ts'
import type { ModelSource } from '../ports.ts'
import type { Need, Store } from '../store.ts'

type Act<K extends DecidedAct['do']> = Extract<DecidedAct, { do: K }>

/** The act with what it is decided on, and rows that the decision may need. */
type LookedAct = { act: PreparedAct; needs?: readonly Need[] }

/** What was made for a refused act lies unused. */
export type Preparation = {
  ok: true
  /** What the decision names by hash, for its commit. */
  blobs: readonly NewBlob[]
  look: () => Promise<LookedAct>
}

/** Nothing is to be read in its place in the line. */
const ready = (act: PreparedAct): Preparation => looking(async () => ({ act }))

export async function prepareAct(
  ports: ActPorts,
  act: DecidedAct,
): Promise<Preparation | Rejection> {
  const { store, token_hash } = ports
  const { agent_id } = act
  const wrong = 'workspace' in act ? await checkWorkspace(ports, act) : null
  if (wrong) return wrong
  if (!hasInputs(act)) return ready(act)
  switch (act.do) {
    case 'create_agent': {
      const shape = await shaped(ports, act)
      if (!shape.ok) return shape
      const inputs = { home: agentHome(ports.home, agent_id), token_hash }
      return ready({ ...shape.command, inputs })
    }
    case 'create_item':
      return prepareCreate(ports, act)
    case 'update_item':
      return looking(async () => {
        const budget = await budgetOf(ports, act, act.work_item_id)
        const plan_text = act.plan_status === 'needs_input' ? await planText(ports, act) : null
        return { act: { ...act, inputs: { plan_text, budget } } }
      })
    case 'import_item':
      return prepareImport(ports, act)
    case 'send':
      return prepareSend(ports, act)
    case 'answer':
      return looking(async () => {
        const answered_by = await answerer(store, act)
        return { act: { ...act, inputs: { answered_by } } }
      })
    case 'answer_held':
      return looking(async () => {
        const task = await store.row(agent_id, 'tasks', act.task_id)
        const mine = task?.agent_id === agent_id ? task : undefined
        const again = isHeld(mine) ? await ports.judged(mine) : null
        return { act: { ...act, inputs: { again, start_place: ports.processes.place() } } }
      })
    case 'take_back':
      return looking(async () => {
        const answered_wait = await answeredWait(store, act)
        return { act: { ...act, inputs: { answered_wait } } }
      })
    case 'trigger':
      return looking(async () => {
        const earlier_message = await earlierMessage(store, agent_id, handKey(act))
        return { act: { ...act, inputs: { earlier_message } } }
      })
    case 'deliver':
    case 'dead_letter':
      return prepareDelivery(store, act)
    case 'redeliver':
      return ready({ ...act, inputs: { body: await bodyOf(store, act) } })
    case 'create_trigger':
    case 'reset_trigger':
    case 'revoke_trigger':
      return ready({ ...act, inputs: { token_hash } })
    case 'create_schedule':
    case 'change_schedule':
    case 'pause_schedule':
    case 'resume_schedule':
    case 'remove_schedule':
      return ready({ ...act, inputs: { timetable } })
  }
}

const looking = (look: () => Promise<LookedAct>, blobs: readonly NewBlob[] = []): Preparation => ({
  ok: true,
  blobs,
  look,
})

async function prepareCreate(
  ports: ActPorts,
  act: Act<'create_item'>,
): Promise<Preparation | Rejection> {
  const blobs: NewBlob[] = []
  const made = await unlessLinked(newItem(ports, act, blobs))
  if (!made.ok) return made
  const { new_item } = made
  return looking(async () => {
    const budget = await budgetOf(ports, act, null)
    return { act: { ...act, inputs: { new_item, budget } } }
  }, blobs)
}

async function prepareImport(
  ports: ActPorts,
  act: Act<'import_item'>,
): Promise<Preparation | Rejection> {
  const blobs: NewBlob[] = []
  const taken = await unlessLinked(takeIn(ports, act, blobs))
  if (!taken.ok) return taken
  const { id, plan, carried, file_sha256 } = taken
  const inputs = { new_item: { id, plan }, carried, file_sha256 }
  // The id of an import is a function of the file, so the same file finds its item.
  const needs = [['work_items', id] as const]
  return looking(async () => ({ act: { ...act, inputs }, needs }), blobs)
}

function prepareSend({ store, models }: ActPorts, act: Act<'send'>): Preparation | Rejection {
  const blobs: NewBlob[] = []
  const keep = (bytes: Uint8Array) => store.keep(blobs, bytes)
  const holdsSecret = (bytes: Uint8Array) => store.holdsSecret(bytes)
  const read = readImages(act.images ?? [], { keep, holdsSecret })
  if (!read.ok) return read
  const { images } = read
  return looking(async () => {
    const unseen_by = images.length === 0 ? null : unseeingModel(models, store.facts(act.agent_id))
    return { act: { ...act, inputs: { images, unseen_by } } }
  }, blobs)
}

/** The agent's model, when it is not known to take images. */
function unseeingModel(models: ModelSource, facts: Facts | null): string | null {
  const model = facts?.row('agents', facts.agent_id)?.model ?? null
  return model === null || models.facts(model).vision ? null : model
}

/** Of two deliveries of one id that come at once, the second finds the first. */
function prepareDelivery(
  store: Store,
  act: Act<'deliver' | 'dead_letter'>,
): Preparation | Rejection {
  const bytes = utf8Length(act.body)
  if (bytes > limits.delivery_body.value) return overLimit(limits.delivery_body, bytes)
  const blobs: NewBlob[] = []
  const body_sha256 = store.keep(blobs, new TextEncoder().encode(act.body))
  return looking(async () => {
    const earlier_delivery = await earlierDelivery(store, act)
    const needs: Need[] = earlier_delivery === null ? [] : [['deliveries', earlier_delivery]]
    if (act.do === 'deliver') needs.push(...(await toldOfHint(store, act)))
    return { act: { ...act, inputs: { body_sha256, earlier_delivery } }, needs }
  }, blobs)
}

/** What counts for a budget that is set; null: none is. */
async function budgetOf(
  { store, models }: ActPorts,
  { agent_id, budget }: Act<'create_item' | 'update_item'>,
  item: string | null,
): Promise<ActInputs['create_item']['budget']> {
  if (!budget) return null
  return {
    so_far: item === null ? nothingUsed : await useSoFar(store.ledger, item),
    unpriced: unpricedModel(models, store.facts(agent_id)),
  }
}

/** For a question that was not given. What cannot be read asks nothing of its own. */
async function planText(
  { store, home, files }: ActPorts,
  { agent_id, work_item_id }: Act<'update_item'>,
): Promise<string | null> {
  const item = await store.row(agent_id, 'work_items', work_item_id)
  if (item?.agent_id !== agent_id) return null
  return (await readPlan({ home, files, ...keeping(store, null) }, item)).described.preview
}

/** The plan file is there before the item: an item without its file is never seen. */
async function newItem(
  ports: ActPorts,
  command: Act<'create_item'>,
  blobs: NewBlob[],
): Promise<{ ok: true; new_item: NewItem } | Rejection> {
  const { store, home, files } = ports
  const { agent_id, objective, plan_status = 'draft', todo_list = [], plan = '' } = command
  const asked = command.question === undefined ? {} : { question: command.question }
  const bytes = utf8Length(plan)
  if (bytes > limits.plan.value) return overLimit(limits.plan, bytes)
  const facts = store.facts(agent_id)
  const wrong =
    facts &&
    (checkCreate(facts, { objective, plan_status, todo_list, ...asked }) ?? unrunnable(facts, plan))
  if (wrong) return wrong
  const id = store.mint('work')
  const made = await makePlan({ home, files, ...keeping(store, blobs) }, agent_id, id, plan)
  return { ok: true, new_item: { id, plan: made.stored } }
}

/** An agent that runs runbooks would be blocked at once by a plan that is none. */
function unrunnable(facts: Facts, plan: string): Rejection | null {
  const { agent_id } = facts
  if (facts.row('agents', agent_id)?.model !== 'runbook') return null
  const parsed = parseRunbook(plan)
  if (parsed.ok) return null
  const [first] = parsed.errors
  const why = first === undefined ? '' : ` (line ${first.line}: ${first.message})`
  return no('plan_no_runbook', `${agent_id} runs runbooks, and the plan is none${why}.`)
}

/** A delivery id is remembered for eight days: the same again is answered with the first. */
async function earlierDelivery(
  store: Store,
  command: Act<'deliver' | 'dead_letter'>,
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
async function toldOfHint(store: Store, command: Act<'deliver'>): Promise<Need[]> {
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

async function bodyOf(store: Store, command: Act<'redeliver'>): Promise<string | null> {
  const delivery = await store.row(command.agent_id, 'deliveries', command.delivery_id)
  const sha256 = delivery?.body_sha256 ?? null
  const bytes = sha256 === null ? null : await store.ledger.blob(sha256)
  return bytes === null ? null : new TextDecoder().decode(bytes)
}

/** Prompts looked through for the one that answered a question before, newest first. */
const promptsSearched = 1_000

/** Of a question that is over: the message that answered it. */
async function answerer(store: Store, command: Act<'answer'>) {
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
async function answeredWait(store: Store, command: Act<'take_back'>) {
  const message = await store.row(command.agent_id, 'messages', command.message_id)
  const page = message === null ? null : pageOfAnswer(message)
  if (message === null || page === null) return null
  return answeredWaitIn(await store.ledger.eventPage(page), message.id)
}
