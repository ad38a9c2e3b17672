/**
 * WorkItem: the durable thread of work. Its row, the events that make it, and their fold.
 * What is derived from it (readiness, candidate class) is in facts/readiness.ts and never stored.
 */
import { evolveChecks, type Check, type CheckEvent } from './check.ts'
import type { KeptFile } from './file-diff.ts'
import type { AgentId, BriefId, CallId, WorkItemId } from '../ids.ts'
import type { Timestamp } from '../time.ts'

export const todoStates = ['pending', 'in_progress', 'completed'] as const
export type Todo = { text: string; state: (typeof todoStates)[number] }

export const planStatuses = ['draft', 'ready', 'needs_input'] as const
export type PlanStatus = (typeof planStatuses)[number]

/**
 * Limits an item may spend before it waits for the operator; null: no limit (docs/spec/budget.md).
 * What was spent is in meter.ts, what comes of it in facts/budget.ts.
 */
export type Budget = {
  max_tokens: number | null
  max_usd: number | null
  max_rounds: number | null
  deadline: Timestamp | null
}

/** What an item whose plan needs input wants to know: kept until an answer comes. */
export type InputWanted = {
  question: string
  /** In so many words, and not taken from the plan. */
  given: boolean
  /** It let go of the focus for it: the answer gives the focus back. */
  held_focus: boolean
}

/** What the ledger keeps of the plan file; the body is only ever in the file and its snapshots. */
export type PlanStored = {
  path: string
  sha256: string | null
  bytes: number
  /** The last text of the file that was whole, kept as a blob under this hash. */
  good_sha256: string | null
}

export type ImportedFrom = {
  /** Names of the home it came from: they name nothing here. */
  agent_id: string
  work_item_id: string
  exported_at: Timestamp
  /** The blob of the file it came in, as it was kept here. */
  file_sha256: string
}

export type Imported = ImportedFrom & {
  /** When the operator picked it; null: not yet. */
  adopted_at: Timestamp | null
}

export type AdoptedEvent = { type: 'work_item_adopted'; id: WorkItemId; by: 'operator' }

export type WorkItem = {
  id: WorkItemId
  agent_id: AgentId
  revision: number
  objective: string
  state: 'open' | 'completed'
  plan_status: PlanStatus
  /** Null where the plan needs no input, and where an earlier program asked for it. */
  input_wanted: InputWanted | null
  todo_list: readonly Todo[]
  blocked_by: string | null
  plan_artifact: PlanStored
  result_summary: string | null
  result_brief_id: BriefId | null
  /** The words of a completion that was refused: the report, should the next one have none. */
  report_draft: string | null
  budget: Budget | null
  /** What the operator wants to see of it once it is completed, and what that showed. */
  checks: readonly Check[]
  /** The agent's last completion that its checks had to be run for. Absent: there was none. */
  claim?: Claim
  created_at: Timestamp
  updated_at: Timestamp
  completed_at: Timestamp | null
  /** Event seq of the last change: "has it changed since?" without relying on clocks. */
  changed_seq: number
  /** Absent: it was made here. */
  imported?: Imported
  /** When the operator last had files put back. Absent: never. */
  reverted_at?: Timestamp
}

/** One file that is put back: what stood there is kept, and what is put in its place. */
export type RevertedFile = { path: string; name: string; replaced: KeptFile; put: KeptFile }

/**
 * `call_id`: the call that the newest runs were begun for. `refused`: completions in a row that
 * failing checks refused. `tree`: of a completion that was decided on passing ones, what all of
 * them passed on.
 */
export type Claim = { call_id: CallId; refused: number; tree?: string }

/** Who did it: the agent by a tool call, the operator, or the runtime. */
export type By = 'agent' | 'operator' | 'runtime'

export type Readiness = 'runnable' | 'waiting_for_operator' | 'blocked' | 'completed'

export type WorkItemChanges = Partial<
  Pick<
    WorkItem,
    'objective' | 'plan_status' | 'input_wanted' | 'todo_list' | 'blocked_by' | 'budget' | 'checks'
  >
>

export type WorkItemEvent =
  | {
      type: 'work_item_created'
      id: WorkItemId
      by: By
      objective: string
      plan_status: PlanStatus
      input_wanted: InputWanted | null
      todo_list: readonly Todo[]
      plan: PlanStored
      budget: Budget | null
      /** Absent: none. */
      checks?: readonly Check[]
      /** It was brought here in a file. Absent: it is made here. */
      imported?: ImportedFrom
    }
  | AdoptedEvent
  | { type: 'work_item_updated'; id: WorkItemId; by: By; changed: WorkItemChanges }
  | { type: 'plan_changed'; id: WorkItemId; plan: PlanStored }
  | {
      type: 'work_item_completed'
      id: WorkItemId
      by: By
      result_summary: string | null
      brief_id: BriefId | null
      completed_with_unfinished_todos: boolean
      unfinished_todo_count: number
      pending_todo_count: number
      in_progress_todo_count: number
      /** Its checks were run before, and passed on this git tree. */
      verified_on?: string
    }
  /** The agent's completion waits for the checks; their runs are owed in the same commit. */
  | { type: 'work_item_claimed'; id: WorkItemId; call_id: CallId }
  /** A check failed: the item stays open. */
  | { type: 'work_item_claim_refused'; id: WorkItemId; call_id: CallId }
  | { type: 'work_item_report_drafted'; id: WorkItemId; report: string }
  | { type: 'work_item_reported'; id: WorkItemId; result_summary: string; brief_id: BriefId }
  /** Committed before any of them is touched. `undo`: they are what an earlier one replaced. */
  | { type: 'files_reverted'; id: WorkItemId; undo: boolean; files: readonly RevertedFile[] }
  | CheckEvent

type Meta = { at: Timestamp; seq: number; agent_id: AgentId }

export function evolveWorkItem(item: WorkItem | null, event: WorkItemEvent, meta: Meta): WorkItem {
  if (event.type === 'work_item_created') return created(event, meta)
  if (item === null) throw new Error(`${event.type} before work_item_created: ${event.id}`)
  if (item.state === 'completed' && !afterCompletion.has(event.type)) {
    throw new Error(`${event.type} after the completion of ${event.id}`)
  }
  const moved = {
    ...item,
    revision: item.revision + 1,
    updated_at: meta.at,
    changed_seq: meta.seq,
  }
  switch (event.type) {
    case 'check_owed':
    case 'check_started':
    case 'check_finished':
      if (item.state === 'completed') return withRun(moved, event, meta.at)
      if (item.claim === undefined) throw new Error(`${event.type} before the end of ${event.id}`)
      // It says what became of a claim: the item is as it was.
      return withRun(item, event, meta.at)
    case 'work_item_claimed':
      return { ...item, claim: { refused: refusedBefore(item), call_id: event.call_id } }
    case 'work_item_claim_refused':
      return { ...item, claim: { refused: refusedBefore(item) + 1, call_id: event.call_id } }
    case 'work_item_adopted':
      if (!item.imported) throw new Error(`${event.id} was made here and is adopted`)
      return { ...moved, imported: { ...item.imported, adopted_at: meta.at } }
    case 'work_item_updated':
      return updated(moved, event.changed)
    case 'plan_changed':
      return { ...moved, plan_artifact: event.plan }
    case 'work_item_completed':
      return {
        ...moved,
        state: 'completed',
        completed_at: meta.at,
        result_summary: event.result_summary,
        result_brief_id: event.brief_id,
        ...(moved.claim && event.verified_on !== undefined
          ? { claim: { ...moved.claim, tree: event.verified_on } }
          : {}),
      }
    case 'work_item_report_drafted':
      // The item is as it was: no revision.
      return { ...item, report_draft: event.report }
    case 'files_reverted':
      // What became of files is no change of the item.
      return { ...item, reverted_at: meta.at }
    case 'work_item_reported':
      return { ...moved, result_summary: event.result_summary, result_brief_id: event.brief_id }
  }
}

const created = (event: WorkItemEvent & { type: 'work_item_created' }, meta: Meta): WorkItem => ({
  id: event.id,
  agent_id: meta.agent_id,
  revision: 1,
  objective: event.objective,
  state: 'open',
  plan_status: event.plan_status,
  input_wanted: event.input_wanted,
  todo_list: event.todo_list,
  blocked_by: null,
  plan_artifact: event.plan,
  result_summary: null,
  result_brief_id: null,
  report_draft: null,
  budget: event.budget,
  checks: event.checks ?? [],
  created_at: meta.at,
  updated_at: meta.at,
  completed_at: null,
  changed_seq: meta.seq,
  ...(event.imported ? { imported: { ...event.imported, adopted_at: null } } : {}),
})

const withRun = (item: WorkItem, event: CheckEvent, at: Timestamp): WorkItem => ({
  ...item,
  checks: evolveChecks(item.checks, event, at),
})

const refusedBefore = ({ claim }: WorkItem): number => claim?.refused ?? 0

/** Other checks have refused nothing. */
function updated({ claim, ...item }: WorkItem, changed: WorkItemChanges): WorkItem {
  const kept = changed.checks === undefined && claim !== undefined ? { claim } : {}
  return { ...item, ...kept, ...changed }
}

/** What may still be learnt of a completed item; nothing of it reopens. */
const afterCompletion: ReadonlySet<WorkItemEvent['type']> = new Set([
  'work_item_reported',
  'files_reverted',
  'check_owed',
  'check_started',
  'check_finished',
])

/** Brought in, and not yet picked by the operator. */
export const isUnadopted = ({ imported }: Pick<WorkItem, 'imported'>): boolean =>
  imported !== undefined && imported.adopted_at === null
