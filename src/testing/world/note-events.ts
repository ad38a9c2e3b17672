/**
 * Events for tests of process notes and forks: all happen for `work_a` in `turn_1` unless a test
 * says otherwise.
 */
import type { NoteEvent } from '../../context/process-notes.ts'
import type { BriefEvent } from '../../domain/state/brief.ts'
import type { EffectClass } from '../../domain/effect-class.ts'
import type { Event, EventOf } from '../../domain/state/event.ts'
import type { BriefId, CallId, MessageId, TaskId, WaitId, WorkItemId } from '../../domain/ids.ts'
import type { Provenance } from '../../domain/state/provenance.ts'
import type { TaskEnd } from '../../domain/state/task.ts'
import type { Wake } from '../../domain/state/wait.ts'
import { briefDelivered, callFinished, callRecorded, messageAdmitted } from '../events.ts'
import { taskEnded, taskQueued, waitRegistered } from '../events.ts'
import { now, succeededWith } from '../rows.ts'

const about = { work_item_id: 'work_a' } as const

/** The events as stored in this order, for one item or for none. */
export const noteEvents = (
  events: readonly Event[],
  work_item_id: WorkItemId | null = 'work_a',
): NoteEvent[] => events.map((event, i) => ({ seq: i + 1, turn_id: 'turn_1', work_item_id, event }))

export const aBrief = (
  id: BriefId,
  kind: BriefEvent['kind'],
  text: string,
  more: Partial<EventOf<'brief_delivered'>> = {},
): Event => briefDelivered({ id, kind, text, turn_id: 'turn_1', ...about, ...more })

export const aWaiting = (
  id: WaitId,
  wake: Wake,
  more: Partial<EventOf<'wait_registered'>> = {},
): Event => waitRegistered({ id, wake, reason: `reason of ${id}`, since_seq: 1, ...about, ...more })

export const aMessage = (id: MessageId, provenance: Provenance, body: string): Event =>
  messageAdmitted({ id, provenance, body, ...about })

export const aRecorded = (id: CallId, tool_name: string, effect_class: EffectClass): Event =>
  callRecorded('turn_1', 1, 0, { id, provider_call_id: id, tool_name, effect_class, ...about })

export const aFinished = (
  id: CallId,
  tool_name: string,
  summary: string,
  changed_something: boolean,
): Event => callFinished(id, { result: succeededWith(tool_name, summary), changed_something })

export const aQueued = (id: TaskId, kind: 'command' | 'child_agent', label: string): Event =>
  taskQueued({ id, kind, label, cmd: null, workdir: '/repo', start_place: null, ...about })

export const anEnd = (id: TaskId, status: TaskEnd, exit_status: number | null): Event =>
  taskEnded(id, { status, exit_status, ended_at: now })
