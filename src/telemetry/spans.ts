/**
 * From the host's notices to spans: a turn (the root of its trace, linked to the messages that
 * caused it), its model requests and tool calls, tasks, and messages from their admission until a
 * turn shows them. A span is handed on when it ended, never before. What a process did not see
 * begin (the one before it was killed) begins when its id was minted.
 *
 * Words of people, models and programs are recorded only with `content`, redacted and cut.
 */
import type { Emitted } from '../domain/facts/facts.ts'
import type { AgentId, MessageId, TurnId, WaitId } from '../domain/ids.ts'
import type { Outcome, TurnCause } from '../domain/state/turn.ts'
import type { Clock } from '../exec/ports.ts'
import type { HostNotice } from '../runtime/ports.ts'
import { BoundedMap } from './bounded-map.ts'
import { callSpans } from './call-spans.ts'
import { lookUp, type EventTable } from './events.ts'
import { genai, operations } from './genai-names.ts'
import { SPAN_CONTENT_CHARACTERS, SPAN_LINKS, SPANS_REMEMBERED } from './limits.ts'
import type { Redact } from './log-line.ts'
import { messageSpans } from './message-spans.ts'
import { RequestSpans } from './request-spans.ts'
import { mintedAt, rootOf, type Recorded, type Span } from './span.ts'

export type SpanPorts = {
  clock: Pick<Clock, 'now'>
  redact: Redact
  /** Whether content may be recorded; off unless the environment asks for it. */
  content: boolean
  /** Takes one span that ended; must not throw and must not wait. */
  ended: (span: Span) => void
}

/** A subscriber of the host's notices. */
export function spanNotices(ports: SpanPorts): (notice: HostNotice) => void {
  const recorded = recorder(ports)
  const requests = new RequestSpans(ports.clock, ports.ended, recorded)
  const turns = turnSpans(ports)
  const tables: readonly EventTable<void>[] = [
    ...turns,
    requests.events,
    callSpans(ports.ended, recorded),
    messageSpans(ports.ended),
  ]
  const committed = (agent: AgentId, emitted: Emitted): void => {
    for (const table of tables) lookUp(table, agent, emitted)
  }
  return (notice) => {
    switch (notice.kind) {
      case 'committed':
        for (const emitted of notice.events) committed(notice.agent_id, emitted)
        return
      case 'live':
        requests.alive(notice.turn_id)
        return
      case 'retry':
        requests.repeated(notice.turn_id, notice.attempt, notice.delay_ms)
        return
      case 'resting':
      case 'fault':
      case 'degraded_entered':
      case 'degraded_left':
        return
    }
  }
}

function recorder({ content, redact }: SpanPorts): Recorded {
  return (read) => {
    const value = content ? read() : null
    if (value === undefined || value === null) return undefined
    const text = redact(typeof value === 'string' ? value : JSON.stringify(value))
    return text.slice(0, SPAN_CONTENT_CHARACTERS).toWellFormed()
  }
}

type OpenTurn = { start: number; cause: TurnCause; model: string; causes: Set<MessageId> }

/** What a turn that ended badly says; stopping short by itself is no error. */
const turnErrors: { readonly [O in Outcome]: string | null } = {
  completed: null,
  waiting: null,
  aborted: 'aborted',
  interrupted: 'interrupted',
  failed: 'failed',
}

function turnSpans({ ended }: SpanPorts): readonly EventTable<void>[] {
  const open = new BoundedMap<TurnId, OpenTurn>(SPANS_REMEMBERED)
  /** The message that triggered each wait last: a turn that reviews it was caused by it. */
  const triggers = new BoundedMap<WaitId, MessageId>(SPANS_REMEMBERED)
  const causing = (id: TurnId, message: MessageId | undefined) => {
    if (message !== undefined) open.get(id)?.causes.add(message)
  }
  const starts: EventTable<void> = {
    turn_started: ({ id, cause, model }, { meta }) => {
      const causes = new Set<MessageId>()
      open.set(id, { start: Date.parse(meta.at), cause, model, causes })
      if (cause.kind === 'message') causing(id, cause.message_id)
      if (cause.kind !== 'review_triggered') return
      for (const wait of cause.wait_ids) causing(id, triggers.get(wait))
    },
    message_claimed: ({ id, turn_id }) => causing(turn_id, id),
    message_interjected: ({ id, turn_id }) => causing(turn_id, id),
    wait_triggered: ({ id, message_id }) => triggers.set(id, message_id),
  }
  const ends: EventTable<void> = {
    turn_ended: ({ id, outcome, reason, usage, progress }, { agent_id, meta }) => {
      const turn = open.take(id)
      const end = Date.parse(meta.at)
      const error = turnErrors[outcome]
      ended({
        ...rootOf(id),
        parent_id: null,
        name: `${operations.agent} ${agent_id}`,
        kind: 'internal',
        start: turn?.start ?? mintedAt(id) ?? end,
        end,
        attributes: {
          [genai.operation]: operations.agent,
          [genai.agent_name]: agent_id,
          [genai.conversation]: meta.work_item_id,
          [genai.request_model]: turn?.model,
          [genai.input_tokens]: usage.input_tokens,
          [genai.output_tokens]: usage.output_tokens,
          [genai.error_type]: error,
          'holon.turn.id': id,
          'holon.turn.cause': turn?.cause.kind,
          'holon.turn.outcome': outcome,
          'holon.turn.reason': reason,
          'holon.turn.progress': progress,
          'holon.work_item.id': meta.work_item_id,
          'holon.cost.usd': usage.usd,
        },
        links: [...(turn?.causes ?? [])].slice(0, SPAN_LINKS).map(rootOf),
        events: [],
        error,
      })
    },
  }
  return [starts, ends]
}
