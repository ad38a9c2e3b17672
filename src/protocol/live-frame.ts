/**
 * Live frames of the event stream (docs/spec/http.md#live-frames, docs/spec/http.md#live-frames):
 * signs of what happens just now, shown and never stored. They carry no `id`, so a client never
 * resumes from one, and a frame may arrive after the event that ended what it tells of: it is then
 * to be ignored.
 */
import { z } from 'zod'

const at = z.string().describe('Time of the server, RFC 3339 UTC with milliseconds.')
const agent = { agent_id: z.string() }
const request = { ...agent, turn_id: z.string(), round: z.int() }

const textDelta = z
  .strictObject({
    kind: z.literal('text_delta'),
    ...request,
    at: z.int().describe('Characters (UTF-16 units) of the text before this piece.'),
    text: z.string(),
  })
  .meta({
    id: 'TextDeltaFrame',
    description:
      'A piece of what the model is saying. One at 0 begins the text anew, also after an attempt ' +
      'that failed, whose words are void; one behind the end of what came leaves the middle out.',
  })

const reasoningDelta = z
  .strictObject({ kind: z.literal('reasoning_delta'), ...request, text: z.string() })
  .meta({ id: 'ReasoningDeltaFrame', description: 'A piece of what the model is thinking.' })

const toolCallStarted = z
  .strictObject({ kind: z.literal('tool_call_started'), ...request, tool_name: z.string() })
  .meta({ id: 'ToolCallStartedFrame', description: 'The model begins to write a tool call.' })

const alive = z
  .strictObject({ kind: z.literal('alive'), ...request, at })
  .meta({ id: 'AliveFrame', description: 'The open request gave a sign of life without content.' })

const retry = z
  .strictObject({
    kind: z.literal('retry'),
    ...agent,
    turn_id: z.string(),
    message: z.string(),
    delay_ms: z.int(),
    attempt: z.int(),
  })
  .meta({ id: 'RetryFrame', description: 'A request failed and is sent again after the delay.' })

const taskOutput = z
  .strictObject({
    kind: z.literal('task_output'),
    ...agent,
    task_id: z.string(),
    stream: z.enum(['stdout', 'stderr']),
    offset: z.int().describe('Bytes of that stream before this piece.'),
    text: z.string(),
  })
  .meta({ id: 'TaskOutputFrame', description: 'A piece of the output of a running task.' })

const heartbeat = z
  .strictObject({ kind: z.literal('heartbeat'), at })
  .meta({ id: 'HeartbeatFrame', description: 'The connection is alive; sent every 5 seconds.' })

export const liveFrame = z
  .discriminatedUnion('kind', [
    textDelta,
    reasoningDelta,
    toolCallStarted,
    alive,
    retry,
    taskOutput,
    heartbeat,
  ])
  .meta({ id: 'LiveFrame', description: 'The data of an SSE frame whose event is `live`.' })
export type LiveFrame = z.infer<typeof liveFrame>

/** What a frame other than the heartbeat is about: agents have their own streams. */
export type AgentFrame = Exclude<LiveFrame, { kind: 'heartbeat' }>
