/**
 * What an operator may ask of the owner of a home, as one schema: the CLI sends these to the
 * process that holds the ledger, or carries them out itself when nobody does.
 */
import { z } from 'zod'

const agent = { agent_id: z.string() }
const item = { ...agent, work_item_id: z.string() }

export const operatorCommand = z.discriminatedUnion('do', [
  z.strictObject({
    do: z.literal('send'),
    ...agent,
    text: z.string(),
    work_item_id: z.string().optional(),
    wait_id: z.string().optional(),
    priority: z.enum(['interject', 'next']).optional(),
    start: z.boolean().optional(),
    surface: z.enum(['cli_prompt', 'run_once', 'tui', 'http_control']).optional(),
  }),
  z.strictObject({ do: z.literal('pick'), ...item, reason: z.string().optional() }),
  z.strictObject({ do: z.literal('complete'), ...item, report: z.string().optional() }),
  z.strictObject({ do: z.literal('unblock'), ...item }),
  z.strictObject({ do: z.literal('cancel_wait'), ...agent, wait_id: z.string() }),
  /** Fires one external wait by hand, or delivers an event by what it is about. */
  z.strictObject({
    do: z.literal('trigger'),
    ...agent,
    wait_id: z.string().optional(),
    source: z.string().optional(),
    resource: z.string().optional(),
    body: z.string(),
    delivery_id: z.string().optional(),
  }),
  z.strictObject({ do: z.literal('stop_task'), ...agent, task_id: z.string() }),
  /** Ends the open turn `run_id`, and stops the agent unless `stop` is false. */
  z.strictObject({
    do: z.literal('abort'),
    ...agent,
    run_id: z.string(),
    stop: z.boolean().optional(),
  }),
  z.strictObject({ do: z.literal('start_agent'), ...agent }),
  z.strictObject({ do: z.literal('stop_agent'), ...agent }),
])
export type OperatorCommand = z.infer<typeof operatorCommand>

export const operatorReply = z.discriminatedUnion('ok', [
  z.strictObject({
    ok: z.literal(true),
    message_id: z.string().nullable(),
    /** Waits that the act ended or triggered. */
    resolved: z.array(z.string()),
    triggered: z.array(z.string()),
    /** One sentence for a person. */
    said: z.string(),
    warnings: z.array(z.object({ kind: z.string(), message: z.string() })),
  }),
  z.strictObject({
    ok: z.literal(false),
    code: z.string(),
    message: z.string(),
    hint: z.string(),
  }),
])
export type OperatorReply = z.infer<typeof operatorReply>
