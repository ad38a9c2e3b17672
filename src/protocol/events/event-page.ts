/**
 * Events as they cross the wire: the stored event with what the ledger added to it, in pages and as
 * the data of server-sent events (docs/spec/http.md#stream).
 */
import { z } from 'zod'
import type { StoredEvent } from '../../domain/state/event.ts'
import { eventSchema } from './event-catalogue.ts'

const storedEventSchema = z.strictObject({
  id: z.string(),
  global_seq: z.int().min(1).describe('Ascending over the home; the id of the frames of /events.'),
  agent_id: z.string(),
  seq: z.int().min(1).describe("Dense from 1 within the agent; the id in the agent's stream."),
  at: z.iso.datetime(),
  v: z.literal(1),
  work_item_id: z.string().nullable(),
  turn_id: z.string().nullable(),
  causation_id: z.string().nullable().describe('What asked for it.'),
  event: eventSchema,
})

export const storedEvent = storedEventSchema.meta({
  id: 'StoredEvent',
  description: 'A fact of the ledger; it changed the one row `event.id`.',
}) as unknown as z.ZodType<StoredEvent>

export const eventPage = z
  .strictObject({
    events: z.array(storedEvent),
    next_cursor: z
      .int()
      .nullable()
      .describe('Give it as `after` (or `before`) for what follows; null: there is nothing.'),
  })
  .meta({ id: 'EventPage' })
