/**
 * Check: what the operator wants to see of a completed item before it counts as verified
 * (docs/spec/work-item.md#completion, docs/spec/check.md#claimed-and-verified). The agent's
 * completion is a claim; the runtime runs the checks itself and keeps what they showed on the item.
 * Whether all of that verifies the claim is derived in facts/verification.ts and never stored.
 */
import type { TaskId, WorkItemId } from '../ids.ts'
import type { Timestamp } from '../time.ts'

/** What must be true of a file. `sha256` is hex; `contains` is looked for as it is written. */
export type FileExpectation = { exists: boolean } | { sha256: string } | { contains: string }

/** A check as the operator asks for it. `name` is unique within the item. */
export type CheckSpec =
  | {
      kind: 'command'
      name: string
      cmd: string
      /** Inside the agent's workspace; null: its root. */
      workdir: string | null
      timeout_ms: number
    }
  | { kind: 'file'; name: string; path: string; expect: FileExpectation }
  /** A GET that follows no redirect: one that answers with a redirect has that status. */
  | { kind: 'http'; name: string; url: string; status: number }
  | { kind: 'person'; name: string; question: string }

/** The git tree of everything in the workspace that is not ignored, or why there is none. */
export type WorkspaceTree = { hash: string; problem: null } | { hash: null; problem: string }

export const checkOutcomes = ['passed', 'failed', 'unknown'] as const
/** `unknown`: it began, and nobody can say how it ended. */
export type CheckOutcome = (typeof checkOutcomes)[number]

type RunOf = {
  /** 1 for the run that the completion asked for; each later one is the operator's. */
  n: number
  owed_at: Timestamp
  /** A failure of the item's checks was told the agent and the operator with this one. */
  told: boolean
}

export type CheckRun =
  /** To be run; of a person's check: to be answered. */
  | ({ state: 'owed' } & RunOf)
  /** Of a command: its task is a row, and the tree is what it began on. */
  | ({ state: 'running'; task_id: TaskId; tree: WorkspaceTree; started_at: Timestamp } & RunOf)
  | ({
      state: 'finished'
      outcome: CheckOutcome
      /** Of a command its exit status, of an http check the status that came. */
      exit_status: number | null
      /** One sentence, or the words of the person; null: nothing to say. */
      reason: string | null
      /** The last of what was printed or received. A command's task has everything. */
      tail: string
      task_id: TaskId | null
      /** Null for a person's answer, which is about no tree. */
      tree: { before: WorkspaceTree; after: WorkspaceTree } | null
      started_at: Timestamp
      finished_at: Timestamp
    } & RunOf)

/** `run` is null until the item is completed. */
export type Check = CheckSpec & { run: CheckRun | null }

export type CheckEvent =
  | { type: 'check_owed'; id: WorkItemId; name: string; n: number; by: 'runtime' | 'operator' }
  | {
      type: 'check_started'
      id: WorkItemId
      name: string
      n: number
      task_id: TaskId
      tree: WorkspaceTree
    }
  | ({
      type: 'check_finished'
      id: WorkItemId
      name: string
      n: number
      by: 'runtime' | 'operator'
      told: boolean
    } & CheckRunEnd)

/** How a run ended: of a command, a look or an answer. */
export type CheckRunEnd = {
  outcome: CheckOutcome
  exit_status: number | null
  reason: string | null
  tail: string
  tree: { before: WorkspaceTree; after: WorkspaceTree } | null
  started_at: Timestamp
}

/** The check as it was asked for, without what became of it. */
export function specOf(check: Check): CheckSpec {
  const { run: _, ...spec } = check
  return spec
}

/** Owed or running: something, or somebody, is still to say how it ends. */
export const isAlive = ({ run }: Check): boolean => run !== null && run.state !== 'finished'

/** Run by the runtime itself, not answered by a person. */
export const isMachine = ({ kind }: CheckSpec): boolean => kind !== 'person'

/** The runtime itself has yet to run it or to see its end. */
export const isUnderWay = (check: Check): boolean => isMachine(check) && isAlive(check)

/** Whether a task is the command of one of these checks: nothing on the task says so. */
export const isCommandOf = (checks: readonly Check[], task: TaskId): boolean =>
  checks.some(({ run }) => run !== null && run.state !== 'owed' && run.task_id === task)

/** Folds an event into the checks of its item. Throws on an order of events that is a bug. */
export function evolveChecks(
  checks: readonly Check[],
  event: CheckEvent,
  at: Timestamp,
): readonly Check[] {
  const { id, name } = event
  const found = checks.find((check) => check.name === name)
  if (!found) throw new Error(`${event.type} of "${name}", which is no check of ${id}`)
  const run = evolveRun(found, event, at)
  return checks.map((check) => (check === found ? { ...found, run } : check))
}

function evolveRun({ run, name }: Check, event: CheckEvent, at: Timestamp): CheckRun {
  const bug = () => new Error(`${event.type} ${event.n} of "${name}", whose run is ${said(run)}`)
  switch (event.type) {
    case 'check_owed': {
      if ((run !== null && run.state !== 'finished') || event.n !== (run?.n ?? 0) + 1) throw bug()
      return { state: 'owed', n: event.n, owed_at: at, told: run?.told ?? false }
    }
    case 'check_started': {
      if (run?.state !== 'owed' || run.n !== event.n) throw bug()
      const { task_id, tree } = event
      return { ...run, state: 'running', task_id, tree, started_at: at }
    }
    case 'check_finished': {
      if (run === null || run.state === 'finished' || run.n !== event.n) throw bug()
      const { outcome, exit_status, reason, tail, tree, started_at } = event
      const { n, owed_at } = run
      const task_id = run.state === 'running' ? run.task_id : null
      const told = run.told || event.told
      const of = { n, owed_at, told, task_id, started_at, finished_at: at }
      return { state: 'finished', outcome, exit_status, reason, tail, tree, ...of }
    }
  }
}

const said = (run: CheckRun | null): string => (run === null ? 'none' : `${run.state} ${run.n}`)
