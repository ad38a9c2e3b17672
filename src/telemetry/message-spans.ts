/**
 * Spans of messages, deliveries from outside among them: from the admission until a turn shows the
 * message, or it ends unseen. Each is the root of a trace of its own; the turn links to it.
 */
import type { MessageId } from '../domain/ids.ts'
import { BoundedMap } from './bounded-map.ts'
import type { EventTable, EventContext } from './events.ts'
import { genai } from './genai-names.ts'
import { SPANS_REMEMBERED } from './limits.ts'
import { mintedAt, plain, rootOf, type Span } from './span.ts'

type Admitted = { start: number; message: string; surface: string }

export function messageSpans(ended: (span: Span) => void): EventTable<void> {
  const open = new BoundedMap<MessageId, Admitted>(SPANS_REMEMBERED)
  const end =
    (status: string, isError = false) =>
    (event: { id: MessageId }, seen: EventContext): void => {
      const { id } = event
      const admitted = open.take(id)
      const at = Date.parse(seen.meta.at)
      const error = isError ? status : null
      const name = `deliver ${admitted?.message ?? 'message'}`
      const start = admitted?.start ?? mintedAt(id) ?? at
      const span = {
        ...rootOf(id),
        parent_id: null,
        name,
        kind: 'consumer',
        start,
        end: at,
      } as const
      ended(
        plain(
          span,
          {
            [genai.agent_name]: seen.agent_id,
            [genai.error_type]: error,
            'holon.message.id': id,
            'holon.message.kind': admitted?.message,
            'holon.message.surface': admitted?.surface,
            'holon.message.status': status,
          },
          error,
        ),
      )
    }
  return {
    message_admitted: ({ id, provenance, consumed_because }, seen) => {
      const { kind: message, delivery_surface: surface } = provenance
      open.set(id, { start: Date.parse(seen.meta.at), message, surface })
      if (consumed_because !== null) end('consumed')({ id }, seen)
    },
    message_shown: end('shown'),
    message_interjected: end('interjected'),
    message_coalesced: end('coalesced'),
    message_dropped: end('dropped'),
    message_dead: end('dead', true),
    message_taken_back: end('taken_back'),
  }
}
