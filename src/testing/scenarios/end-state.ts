/**
 * The end of a run in words that do not depend on ids, times or how often it was killed: what two
 * runs of one scenario must agree on.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Ledger, LedgerReads } from '../../ledger/port.ts'

export type EndState = {
  items: unknown[]
  results: string[]
  other_briefs: string[]
  waits: unknown[]
  tasks: unknown[]
  messages: unknown[]
  open_turns: number
  log: string[]
  unanswered_calls: string[]
  problems: readonly string[]
}

const many = 1_000

export async function endState(ledger: Ledger | LedgerReads, workspace: string): Promise<EndState> {
  const items = await ledger.list('work_items', { limit: many })
  const objective = (id: string | null) => items.find((item) => item.id === id)?.objective ?? null
  const briefs = await ledger.list('briefs', { limit: many })
  const log = join(workspace, 'log.txt')
  const calls = await ledger.list('calls', { limit: many })
  const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
  return {
    items: items
      .map((item) => ({
        objective: item.objective,
        state: item.state,
        plan_status: item.plan_status,
        todos: item.todo_list,
        blocked_by: item.blocked_by,
        report: item.result_summary,
        plan: item.plan_artifact.sha256,
      }))
      .sort(byText),
    results: briefs.filter((brief) => brief.kind === 'result').map((brief) => brief.text),
    other_briefs: briefs.filter((brief) => brief.kind !== 'result').map((brief) => brief.kind),
    waits: (await ledger.list('waits', { limit: many })).map((wait) => ({
      on: objective(wait.work_item_id),
      wake: wait.wake,
      status: wait.status,
    })),
    tasks: (await ledger.list('tasks', { limit: many }))
      .map((task) => ({ label: task.label, status: task.status, exit_status: task.exit_status }))
      .sort(byText),
    messages: (await ledger.list('messages', { limit: many })).map((message) => ({
      kind: message.kind,
      status: message.status,
    })),
    open_turns: (await ledger.list('turns', { limit: many, status: ['open'] })).length,
    log: existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [],
    unanswered_calls: calls.filter((call) => call.result === null).map((call) => call.tool_name),
    problems: (await ledger.verify()).problems,
  }
}
