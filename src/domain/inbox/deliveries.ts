/**
 * Rules of deliveries: what comes in by a trigger or a signed webhook
 * (docs/spec/wait.md#deliveries). The message, the triggers of the waits it meets, the count of the
 * trigger and the entry of the delivery log are one decision, so an acknowledged delivery is whole
 * or was never there.
 */
import type { About, Delivery, Received } from '../state/delivery.ts'
import type { Draft } from '../facts/facts.ts'
import type { DeliveryId, MessageId, WaitId } from '../ids.ts'
import { admitEvent, utf8Length, type Admitted } from './admit.ts'
import { limits } from '../limits.ts'
import {
  callbackEvent,
  ownTriggerEvent,
  webhookEvent,
  type Provenance,
} from '../state/provenance.ts'
import type { Trigger } from '../state/trigger.ts'
import { activeTrigger, checkLength, isDefault } from './triggers.ts'
import { no, overLimit, type Rejection } from '../rejection.ts'

export type IncomingDelivery = Received & { body: string }

export type Delivered = {
  ok: true
  delivery_id: DeliveryId
  /** Of a duplicate: that of the first. */
  message_id: MessageId | null
  triggered: WaitId[]
  /** It came before: nothing is stored, and the ids are those of the first. */
  duplicate: boolean
}

/**
 * The key by which a repetition is known, of what was received with the source that holds: two
 * senders without a source are told apart by the door they use. Null: the sender named no id.
 */
export function deliveryKey(
  received: Pick<Received, 'via' | 'sender_id' | 'source'>,
): string | null {
  const { via, sender_id, source } = received
  if (sender_id === null) return null
  return `${source ?? (via.kind === 'trigger' ? via.trigger_id : via.webhook)}\n${sender_id}`
}

/** What the operator fixed at the trigger wins over what a delivery names. */
export function fixedBy(trigger: Trigger | null, received: Received): Received {
  if (trigger === null) return received
  const source = trigger.source ?? received.source
  return { ...received, source, resource: trigger.resource ?? received.resource }
}

/**
 * Takes an outside event in. `earlier` is the delivery with the same source and sender's id within
 * `limits.dedupe`, with its row among the facts: an accepted one is the answer, a dead one is
 * mended by this repetition.
 */
export function admitDelivery(
  d: Draft,
  incoming: IncomingDelivery,
  earlier: DeliveryId | null,
): Delivered | Rejection {
  const door = openDoor(d, incoming)
  if (!door.ok) return door
  const { received, trigger } = door
  const before = earlier === null ? null : mustDelivery(d, earlier)
  if (before?.status === 'accepted') return repeated(before)
  const id = before?.id ?? d.mint('dlv')
  const provenance = provenanceOf(received, trigger)
  const admitted = admitText(d, id, { received, trigger, provenance, body: incoming.body })
  if (!admitted.ok) return admitted
  const { message_id, triggered } = admitted
  if (before) d.emit({ type: 'delivery_redelivered', id, message_id, ...aboutOf(received) })
  else d.emit({ type: 'delivery_accepted', id, ...received, message_id })
  if (trigger) d.emit({ type: 'trigger_delivered', id: trigger.id, delivery_id: id })
  return { ok: true, delivery_id: id, message_id, triggered, duplicate: false }
}

/** The caller found it and put it among the facts. */
function mustDelivery(d: Draft, id: DeliveryId): Delivery {
  const delivery = d.row('deliveries', id)
  if (!delivery) throw new Error(`no row for ${id}`)
  return delivery
}

const repeated = ({ id, message_id }: Delivery): Delivered => ({
  ok: true,
  delivery_id: id,
  message_id,
  triggered: [],
  duplicate: true,
})

/**
 * An event that was let in and of which no message can be made: kept, for a later redelivery. A
 * repetition of one that came before is answered with the first.
 */
export function deadLetter(
  d: Draft,
  incoming: Received,
  reason: string,
  earlier: DeliveryId | null,
): { ok: true; delivery_id: DeliveryId } | Rejection {
  const wrong = checkLength(limits.reason, reason)
  if (wrong) return wrong
  const door = openDoor(d, incoming)
  if (!door.ok) return door
  if (earlier !== null) return { ok: true, delivery_id: earlier }
  const id = d.mint('dlv')
  d.emit({ type: 'delivery_dead', id, ...door.received, reason })
  return { ok: true, delivery_id: id }
}

/**
 * Makes a new message of a delivery: a dead one whose cause is mended, or an accepted one again.
 * `body` is its text, read from the blob; null when the blob is gone. `about` is what the mapping
 * says now; what it leaves out stays.
 */
export function redeliver(
  d: Draft,
  id: string,
  about: Partial<About>,
  body: string | null,
): Delivered | Rejection {
  const delivery = d.row('deliveries', id)
  if (!delivery || delivery.agent_id !== d.agent_id) {
    return no('delivery_not_found', `${id} is not a delivery of ${d.agent_id}.`)
  }
  if (body === null) return no('delivery_body_missing', `The body of ${id} is not kept any more.`)
  const { via } = delivery
  const trigger = via.kind === 'trigger' ? (d.row('triggers', via.trigger_id) ?? null) : null
  const received = checked({ ...delivery, ...about }, trigger)
  if (!received.ok) return received
  // Who sends it now is the operator, whatever it came in by.
  const provenance = via.kind === 'trigger' ? callbackEvent : webhookEvent
  const text = { received: received.received, trigger, provenance, body }
  const admitted = admitText(d, delivery.id, text)
  if (!admitted.ok) return admitted
  const { message_id, triggered } = admitted
  const now = aboutOf(received.received)
  d.emit({ type: 'delivery_redelivered', id: delivery.id, message_id, ...now })
  return { ok: true, delivery_id: delivery.id, message_id, triggered, duplicate: false }
}

type Door = { ok: true; received: Received; trigger: Trigger | null }

/** The checks of everything that comes in, whatever becomes of it. */
function openDoor(d: Draft, incoming: Received): Door | Rejection {
  const { via } = incoming
  const trigger = via.kind === 'trigger' ? activeTrigger(d, via.trigger_id) : null
  if (trigger !== null && 'ok' in trigger) return trigger
  return checked(incoming, trigger)
}

function checked(incoming: Received, trigger: Trigger | null): Door | Rejection {
  const { via, sender_id, source, resource, summary, body_sha256, content_type } = incoming
  for (const text of [sender_id, source, resource, content_type]) {
    const wrong = checkLength(limits.event_name, text)
    if (wrong) return wrong
  }
  const given = { via, sender_id, source, resource, body_sha256, content_type }
  const received = fixedBy(trigger, { ...given, summary: oneLine(summary) })
  return { ok: true, received, trigger }
}

const aboutOf = ({ source, resource, summary }: Received): About => ({ source, resource, summary })

function oneLine(summary: string | null): string | null {
  if (summary === null) return null
  const line = summary.replaceAll(/\s+/g, ' ').trim()
  const most = limits.summary.value
  return line.length <= most ? line : `${line.slice(0, most - 1).trimEnd()}…`
}

function provenanceOf({ via }: Received, trigger: Trigger | null): Provenance {
  if (via.kind !== 'trigger') return webhookEvent
  return trigger !== null && isDefault(trigger) ? ownTriggerEvent : callbackEvent
}

type Text = { received: Received; trigger: Trigger | null; provenance: Provenance; body: string }

function admitText(
  d: Draft,
  id: DeliveryId,
  { received, trigger, provenance, body }: Text,
): Admitted | Rejection {
  const bytes = utf8Length(body)
  if (bytes > limits.delivery_body.value) return overLimit(limits.delivery_body, bytes)
  const { source, resource, summary } = received
  return admitEvent(d, {
    provenance,
    source,
    resource,
    body: readable(id, summary, body, bytes),
    dedupe_key: deliveryKey(received),
    wait_id: null,
    delivery_mode: trigger?.delivery_mode ?? null,
  })
}

/** What the agent reads: the summary, and the body as far as a message may be long. */
function readable(id: DeliveryId, summary: string | null, body: string, bytes: number): string {
  const head = summary === null ? '' : `${summary}\n\n`
  const room = limits.delivery_text.value - utf8Length(head)
  if (bytes <= room) return head + body
  const tail = `\n\n(Cut here. The body has ${bytes} bytes; ${id} keeps it whole.)`
  return head + firstBytes(body, room - utf8Length(tail)) + tail
}

/** The longest beginning of `text` of at most `most` bytes of UTF-8. */
export function firstBytes(text: string, most: number): string {
  let bytes = 0
  let end = 0
  for (const char of text) {
    bytes += utf8Length(char)
    if (bytes > most) break
    end += char.length
  }
  return text.slice(0, end)
}
