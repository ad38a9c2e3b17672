/**
 * The runbook's memory: what became of each step and where the current one stands. It travels as
 * provider metadata on the model's own rounds, which the ledger keeps, so it survives any crash and
 * the model object holds nothing. Reading it back folds in what the last round's calls answered.
 */
import type { JsonObject } from '../../ports/json.ts'
import { commandSeen } from './command-result.ts'
import type { RunbookRound, RunbookSituation } from './situation.ts'

/** `done: false` is an optional step that was left. */
export type StepResult = { step: number; done: boolean; note: string }

/** Where the command (or wait) of the current step stands; steps count from 1. */
export type Attempt =
  /** Its calls are in the round that carries this. */
  | { step: number; kind: 'begun' }
  /** In the background; `waited`: a wait for its end was made. */
  | { step: number; kind: 'running'; task_id: string; waited: boolean }
  | { step: number; kind: 'ended'; exit_status: number; output: string }
  | { step: number; kind: 'failed'; why: string; output: string }
  | { step: number; kind: 'unknown'; why: string }

export type RunbookMemo = {
  /** The work item it is about, or null. */
  item: string | null
  results: readonly StepResult[]
  attempt: Attempt | null
  /** What the operator answered, by wait. */
  answers: Readonly<Record<string, string>>
  /** Waits whose answer was no: they do not count any more. */
  spent: readonly string[]
  /** Messages of this turn that were seen to. */
  handled: readonly string[]
}

export type Recalled = {
  memo: RunbookMemo
  /** Whether an earlier round knew the item: without one, an action may have run unseen. */
  found: boolean
}

const answerLimit = 500
/** Every so many rounds all results are written, so that the last 20 rounds hold them. */
const wholeEvery = 10

export function recall(s: RunbookSituation): Recalled {
  const item = s.item?.projection.item.id ?? null
  const rounds = s.rounds.filter(isRecorded)
  const views = item === null ? [] : [...s.earlier.filter(isRecorded), ...rounds]
  const known = views.flatMap((view) => {
    const memo = memoOf(view)
    return memo?.item === item ? [{ memo, view }] : []
  })
  const last = known.at(-1)
  const results = new Map<number, StepResult>()
  for (const { memo } of known) for (const result of memo.results) results.set(result.step, result)
  return {
    found: last !== undefined,
    memo: {
      item,
      results: [...results.values()].toSorted((a, b) => a.step - b.step),
      attempt: last ? settle(last.memo.attempt, last.view) : null,
      answers: { ...last?.memo.answers, ...answersIn(s) },
      spent: last?.memo.spent ?? [],
      handled: rounds.flatMap((view) => memoOf(view)?.handled ?? []),
    },
  }
}

/** As provider metadata; `before` is what was recalled, of which only news are repeated. */
export function written(
  memo: RunbookMemo,
  before: RunbookMemo,
  round: number,
  mayEndTurn: boolean,
): JsonObject {
  const whole = mayEndTurn || round % wholeEvery === 1
  return {
    runbook: {
      ...memo,
      results: whole ? memo.results : memo.results.filter((one) => !before.results.includes(one)),
      handled: memo.handled.filter((id) => !before.handled.includes(id)),
    },
  }
}

export const isRecorded = ({ round }: RunbookRound): boolean => round.state === 'recorded'

function memoOf({ round }: RunbookRound): RunbookMemo | null {
  for (const part of round.parts) {
    const { provider_metadata: metadata } = part
    if (typeof metadata === 'object' && metadata !== null && 'runbook' in metadata) {
      // Written by this file, and handed back as it was.
      return metadata.runbook as RunbookMemo
    }
  }
  return null
}

const answersIn = (s: RunbookSituation): Record<string, string> =>
  Object.fromEntries(
    s.messages.flatMap(({ wait_id, origin, body }) =>
      wait_id !== null && origin === 'operator'
        ? [[wait_id, body.trim().slice(0, answerLimit)]]
        : [],
    ),
  )

/** What an attempt has become by the answers of the round that carries it. */
function settle(attempt: Attempt | null, { calls }: RunbookRound): Attempt | null {
  if (attempt === null) return null
  const last = (name: string) => calls.findLast((call) => call.tool_name === name)
  const { step } = attempt
  switch (attempt.kind) {
    case 'begun': {
      const wait = last('WaitFor')?.result
      if (wait) return refusedWait(step, wait)
      const exec = last('ExecCommand')
      if (!exec) return null
      if (!exec.result) return { step, kind: 'unknown', why: 'its call has no result' }
      return seen(step, exec.result, exec.task_id, false)
    }
    case 'running': {
      const output = last('TaskOutput')?.result
      if (output) return seen(step, output, attempt.task_id, true)
      const wait = last('WaitFor')?.result
      return (wait && refusedWait(step, wait)) ?? attempt
    }
    case 'ended':
    case 'failed':
    case 'unknown':
      return attempt
  }
}

type Result = NonNullable<RunbookRound['calls'][number]['result']>

/** A wait that was not granted; null: it was, or never came to it. */
const refusedWait = (step: number, result: Result): Attempt | null =>
  result.status === 'error' && result.error.kind !== 'not_executed'
    ? { step, kind: 'failed', why: `the wait was refused: ${result.error.message}`, output: '' }
    : null

function seen(step: number, result: Result, taskId: string | null, again: boolean): Attempt | null {
  const now = commandSeen(result)
  switch (now.kind) {
    case 'not_begun':
      // A read that did not happen tells nothing about the task: ask again.
      return again && taskId !== null
        ? { step, kind: 'running', task_id: taskId, waited: true }
        : null
    case 'running': {
      const task_id = taskId ?? now.task_id
      if (task_id !== null) return { step, kind: 'running', task_id, waited: false }
      return { step, kind: 'unknown', why: 'it runs in the background under no id' }
    }
    case 'ended':
    case 'failed':
    case 'unknown':
      return { step, ...now }
  }
}
