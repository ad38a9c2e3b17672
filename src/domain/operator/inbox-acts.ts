/** The operator's acts that put something into the inbox: words, answers, events, deliveries. */
import { answerHeld } from '../approvals/held-command.ts'
import { heldAbout, heldStill } from '../approvals/held-text.ts'
import { answerWait } from '../work/answer-question.ts'
import { admitDelivery, deadLetter, redeliver, type Delivered } from '../inbox/deliveries.ts'
import type { Received, Via } from '../state/delivery.ts'
import { agentOf, openTurn, type Draft } from '../facts/facts.ts'
import type { WaitId, WorkItemId } from '../ids.ts'
import { admitEvent, admitPrompt, type Admitted } from '../inbox/admit.ts'
import type { Prepared } from './act-inputs.ts'
import { readingWords } from '../state/message.ts'
import type { DecidedAct, Surface } from './act.ts'
import { callbackEvent, controlPrompt, localPrompt, runtimeFollowup } from '../state/provenance.ts'
import type { Provenance } from '../state/provenance.ts'
import { done, type Done } from '../state/reply.ts'
import { unreadOf, unreadWords } from '../explain/unread.ts'
import { isRejection, no, type Rejection } from '../rejection.ts'

type Act<K extends DecidedAct['do']> = Extract<DecidedAct, { do: K }>

export function send(d: Draft, act: Prepared<'send'>): Done | Rejection {
  const admitted = admitPrompt(d, {
    provenance: surface(act.surface),
    text: act.text,
    images: act.inputs.images,
    work_item_id: (act.work_item_id ?? null) as WorkItemId | null,
    wait_id: (act.wait_id ?? null) as WaitId | null,
    priority: act.priority ?? 'next',
    start: act.start ?? false,
  })
  const reply = heard(d, admitted)
  if (isRejection(reply)) return reply
  const item = act.work_item_id === undefined ? null : d.row('work_items', act.work_item_id)
  const warnings = [...unseen(act)]
  if (item?.state === 'completed') {
    const message = `${item.id} is completed; the message reopens nothing.`
    warnings.push({ kind: 'item_completed', message })
  }
  const about = reply.message_id === null ? undefined : d.row('messages', reply.message_id)
  const still = heldStill(heldAbout(d.rows('tasks'), about?.work_item_id ?? null))
  if (still !== null) warnings.push({ kind: 'held', message: still })
  return warnings.length === 0 ? reply : { ...reply, warnings }
}

/** Whoever shows something is told when nobody is known to look at it; the model is told too. */
function unseen({ agent_id, inputs: { images, unseen_by } }: Prepared<'send'>) {
  if (unseen_by === null) return []
  const [it, they] = images.length === 1 ? ['the image is', 'it'] : ['the images are', 'them']
  const message =
    `${it} not seen: ${unseen_by}, the model of ${agent_id}, is not known to take images. ` +
    `The words are sent, and say that ${they === 'it' ? 'it' : 'they'} came. Where it takes ` +
    `${they}, set models.<id>.vision in config.json.`
  return [{ kind: 'image_unseen', message }]
}

export function answer(d: Draft, act: Prepared<'answer'>): Done | Rejection {
  const given = [act.choice, act.text].filter((words) => words !== undefined)
  const [text] = given
  if (text === undefined || given.length > 1) {
    return no('answer_wants_one', `${given.length} of choice and text are given.`)
  }
  const { bound_hash, start = false } = act
  const wait_id = act.wait_id as WaitId
  // Only the runtime and its parent speak to a private child: the operator's word comes by them.
  const isPrivate = agentOf(d).visibility === 'private'
  const provenance = isPrivate ? runtimeFollowup : surface(act.surface)
  const is_choice = act.choice !== undefined
  const answered = { provenance, wait_id, text, is_choice, bound_hash, start }
  return heard(d, answerWait(d, answered, act.inputs.answered_by))
}

export function answerHeldCommand(d: Draft, act: Prepared<'answer_held'>): Done | Rejection {
  const { task_id, bound_hash, choice, text = '', inputs } = act
  const given = { task_id, bound_hash, choice, words: text, provenance: surface(act.surface) }
  return answerHeld(d, given, inputs.again, inputs.start_place)
}

/** An event by hand. A delivery id seen before is answered with the first message. */
export function trigger(d: Draft, act: Prepared<'trigger'>): Done | Rejection {
  const { earlier_message } = act.inputs
  if (earlier_message !== null) return repeated(earlier_message, null)
  const wait = act.wait_id === undefined ? undefined : d.row('waits', act.wait_id)
  const admitted = admitEvent(d, {
    provenance: callbackEvent,
    source: act.source ?? wait?.source ?? null,
    resource: act.resource ?? wait?.resource ?? null,
    body: act.body,
    dedupe_key: handKey(act),
    wait_id: (act.wait_id ?? null) as WaitId | null,
  })
  return told(admitted, 'Delivered')
}

/** The key by which a repetition of an event by hand is known; null: it names no delivery id. */
export const handKey = (act: Pick<Act<'trigger'>, 'source' | 'delivery_id'>): string | null =>
  act.delivery_id === undefined ? null : `${act.source ?? ''}\n${act.delivery_id}`

export function deliver(d: Draft, act: Prepared<'deliver'>): Done | Rejection {
  const incoming = { ...receivedOf(act), body: act.body }
  return delivered(admitDelivery(d, incoming, act.inputs.earlier_delivery))
}

export function bury(d: Draft, act: Prepared<'dead_letter'>): Done | Rejection {
  const buried = deadLetter(d, receivedOf(act), act.reason, act.inputs.earlier_delivery)
  if (!buried.ok) return buried
  const id = buried.delivery_id
  return done(`Kept as ${id}, without a message: ${act.reason}`, { id })
}

export function again(d: Draft, act: Prepared<'redeliver'>): Done | Rejection {
  const { source, resource, summary } = act
  const about = {
    ...(source === undefined ? {} : { source }),
    ...(resource === undefined ? {} : { resource }),
    ...(summary === undefined ? {} : { summary }),
  }
  return delivered(redeliver(d, act.delivery_id, about, act.inputs.body))
}

function receivedOf(act: Prepared<'deliver' | 'dead_letter'>): Received {
  return {
    via: act.via as Via,
    sender_id: act.sender_id ?? null,
    source: act.source ?? null,
    resource: act.resource ?? null,
    summary: act.summary ?? null,
    body_sha256: act.inputs.body_sha256,
    content_type: act.content_type ?? null,
  }
}

function delivered(result: Delivered | Rejection): Done | Rejection {
  if (!result.ok) return result
  const { delivery_id: id, message_id, triggered } = result
  if (result.duplicate) return repeated(message_id, id)
  return { ...words('Delivered', { message_id, triggered, resolved: [] }), id }
}

/** The answer to what came before, with the ids of the first. */
export const repeated = (message_id: string | null, id: string | null): Done =>
  done('This delivery was accepted before.', {
    message_id,
    id,
    warnings: [{ kind: 'duplicate', message: 'The same delivery came before; nothing is new.' }],
  })

const surface = (name: Surface = 'cli_prompt'): Provenance =>
  name === 'http_control' ? controlPrompt : localPrompt(name)

/** Words of the operator; with when they are read, where that is not at once. */
function heard(d: Draft, admitted: Admitted | Rejection): Done | Rejection {
  const reply = told(admitted, 'Accepted')
  if (!admitted.ok || isRejection(reply)) return reply
  const message = d.row('messages', admitted.message_id)
  if (message?.status !== 'queued') return reply
  const unread = unreadOf(d, message.work_item_id, d.now)
  if (unread !== null) return { ...reply, said: `${reply.said} ${unreadWords(unread)}` }
  if (openTurn(d) === null) return reply
  return { ...reply, said: `${reply.said.replace(/\.$/, '')}; ${readingWords(message)}.` }
}

const told = (admitted: Admitted | Rejection, word: string): Done | Rejection =>
  admitted.ok ? words(word, admitted) : admitted

type Effect = Pick<Delivered, 'message_id' | 'triggered'> & Pick<Admitted, 'resolved'>

function words(word: string, { message_id, resolved, triggered }: Effect): Done {
  const effect = [
    ...resolved.map((id) => `${id} is answered`),
    ...triggered.map((id) => `${id} is triggered`),
  ].join(', ')
  const said = effect === '' ? `${word} as ${message_id}.` : `${word} as ${message_id}; ${effect}.`
  return done(said, { message_id, resolved, triggered })
}
