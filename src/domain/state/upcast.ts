/**
 * Upcasting: an event or a row as an earlier program stored it, in the shape of today. What is
 * stored never changes; everything that reads it sees only today's types.
 *
 * A new field of an event gets its default here, in the commit that adds the field, and so does the
 * field of the row: rows are met as baselines, whose events retention has taken.
 */
import { limits } from '../limits.ts'
import { between } from '../time.ts'
import type { Event, EventType, Rows, Table } from './event.ts'

type Fields = Record<string, unknown>
/** Adds what is missing; what is there stays. */
type Upcast = (stored: Fields) => Fields

/** A start of which nobody noted where it was committed. */
const startPlace: Upcast = (stored) => ({ start_place: null, ...stored })

/** What a child says was told to lie in a folder that nobody ever made. */
const withoutFolder: Upcast = (stored) => {
  if (stored['kind'] !== 'child_agent') return stored
  return 'output_path' in stored
    ? { ...stored, output_path: null }
    : { ...stored, output: { ...(stored['output'] as Fields), path: null } }
}

/** The reason of an aborted turn says whose abort it was. */
const abortReason: Upcast = (stored) =>
  stored['outcome'] === 'aborted' && stored['reason'] === 'operator'
    ? { ...stored, reason: 'operator_aborted' }
    : stored

/** What a turn draws on was yes or no. */
function startedBy({ self_started, ...stored }: Fields): Fields {
  return {
    ...stored,
    started_by: stored['started_by'] ?? (self_started === true ? 'itself' : 'input'),
  }
}

/** What its own trigger may start: of an agent that nobody counted it for, all. */
const withTriggerTurns: Upcast = (pacing) => ({
  trigger_turns: 20,
  trigger_turns_at: '1970-01-01T00:00:00.000Z',
  trigger_wait_id: null,
  ...pacing,
})

/** What asked for the operator's word asked with its reason. */
const asked: Upcast = (wait) => ({
  question:
    wait['wake'] === 'operator_input' ? { text: wait['reason'], choices: [], settles: null } : null,
  ...wait,
})

/** What a child asks its supervisor offered no choices. */
const offering: Upcast = ({ asking = null, ...stored }) => ({
  ...stored,
  asking: asking === null ? null : { choices: [], ...asking },
})

/** Nobody noted which filters were not run for it. */
const filtersNoted: Upcast = (stored) => ({ unfiltered: null, ...stored })

/** A recheck was due once: of one that was consumed the next look is due at once. */
function withRechecks({ recheck_consumed_at: _, ...stored }: Fields): Fields {
  if ('rechecks' in stored) return stored
  const [at, made] = [stored['recheck_at'], stored['created_at']] as (string | null)[]
  const recheck_ms = at && made ? Math.max(limits.review_pause.value, between(made, at)) : null
  const review = stored['last_review'] as { before: Fields | null } | null
  const before = review?.before && { recheck_at: at, rechecks: 0, ...review.before }
  const last_review = before ? { ...review, before } : review
  return { recheck_ms, rechecks: 0, ...stored, last_review }
}

/** An item that needed input asked nothing of its own. */
const withoutQuestion: Upcast = (stored) => ({ input_wanted: null, ...stored })

/** What a task brought stood under the runtime's authority. */
const evidence: Upcast = (stored) =>
  stored['origin'] === 'task' ? { ...stored, authority_class: 'external_evidence' } : stored

/** Budgets were those of one item each. */
const drawingOnNone: Upcast = (stored) => ({ limits: null, draws_on: null, ...stored })

const events: { readonly [T in EventType]?: Upcast } = {
  agent_paced: (stored) => ({ ...stored, pacing: withTriggerTurns(stored['pacing'] as Fields) }),
  message_admitted: (stored) => ({
    due_at: null,
    ...stored,
    provenance: evidence(stored['provenance'] as Fields),
  }),
  task_asked: offering,
  task_queued: (stored) => withoutFolder(startPlace(stored)),
  meter_opened: drawingOnNone,
  turn_started: startedBy,
  turn_ended: abortReason,
  wait_registered: asked,
  work_item_created: withoutQuestion,
  wait_triggered: (stored) => ({ by: 'outside', ...stored }),
  worktree_made: filtersNoted,
}

const rows: { readonly [T in Table]?: Upcast } = {
  messages: (stored) => evidence({ due_at: null, came: 1, ...stored }),
  agents: (stored) => ({ draws_on: null, budget: null, ...stored }),
  meters: (stored) =>
    drawingOnNone({ over: [], shared: 0, pays_on: false, drawers: [], ...stored }),
  pacing: (stored) => (stored['kind'] === 'agent' ? withTriggerTurns(stored) : stored),
  tasks: (stored) => withoutFolder(offering(startPlace(stored))),
  turns: (stored) => abortReason(startedBy(stored)),
  waits: (stored) =>
    asked(withRechecks({ outside_trigger_count: stored['trigger_count'], ...stored })),
  worktrees: filtersNoted,
  work_items: (stored) => withoutQuestion({ report_draft: null, ...stored }),
}

/** An event from its JSON. Throws what `JSON.parse` throws. */
export function eventOf(data: string): Event {
  const stored = JSON.parse(data) as Event
  const upcast = events[stored.type]
  return upcast ? (upcast(stored) as Event) : stored
}

/** A row of a baseline from its JSON. Throws what `JSON.parse` throws. */
export function baselineOf<T extends Table>(table: T, data: string): Rows[T] {
  const stored = JSON.parse(data) as Rows[T]
  return (rows[table]?.(stored) ?? stored) as Rows[T]
}
