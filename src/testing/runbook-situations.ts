/**
 * Builders for the tests of the runbook model: a situation in a few words, the round that the model
 * makes of it, and that round as the ledger would keep it. Nothing here runs anything.
 */
import assert from 'node:assert/strict'
import type { ErrorKind, ToolResult } from '../domain/state/call.ts'
import type { Message } from '../domain/state/message.ts'
import type { Wait } from '../domain/state/wait.ts'
import type { Todo, WorkItem, Readiness } from '../domain/state/work-item.ts'
import type { ModelRequest, ModelRound } from '../models/model.ts'
import { parseRunbook } from '../models/runbook/parse.ts'
import { runbookModel } from '../models/runbook/runbook-model.ts'
import type { RunbookItem, RunbookRound, RunbookSituation } from '../models/runbook/situation.ts'
import { anItem, aPrompt, aWait } from './rows.ts'

export const plan = `# Check the house

## Lock
\`\`\`sh
lock
\`\`\`

## Lights (optional)
\`\`\`sh
lights off
\`\`\`

## Settle
wait: 2s

## Approve
Walk around once.

ask: Is it quiet?

## Alarm
callback: alarm/armed
`
const titlesOf = (text: string): string[] => {
  const parsed = parseRunbook(text)
  return parsed.ok ? parsed.program.steps.map(({ title }) => title) : []
}
const titles = titlesOf(plan)

/** `x` completed, `>` in progress, `.` pending: one character a step. */
export const todos = (marks: string, texts = titles): Todo[] =>
  marks.split('').map((mark, index) => ({
    text: texts[index] ?? `step ${index + 1}`,
    state: mark === 'x' ? 'completed' : mark === '>' ? 'in_progress' : 'pending',
  }))

export const at = (second: number) => `2026-01-31T09:00:${String(second).padStart(2, '0')}.000Z`

export const row = (marks: string, more: Partial<WorkItem> = {}): WorkItem =>
  anItem('work_1', {
    objective: 'Check the house',
    plan_status: 'ready',
    plan_artifact: { path: '/p/plan.md', sha256: null, bytes: 1, good_sha256: null },
    todo_list: todos(marks),
    ...more,
  })

type WaitParts = Pick<Wait, 'wake'> & Partial<Wait>
export const wait = (parts: WaitParts): Wait =>
  aWait('wait_1', {
    work_item_id: 'work_1',
    reason: 'a reason',
    status: 'resolved',
    released_focus: true,
    focus_settled: true,
    created_at: at(1),
    ...parts,
  })

export const view = (
  item: WorkItem,
  waits: Wait[] = [],
  more: Partial<RunbookItem> = {},
): RunbookItem => {
  const active = waits.find(({ status }) => status === 'active') ?? null
  const isHeld = active !== null || item.blocked_by !== null
  const readiness: Readiness =
    item.state === 'completed' ? 'completed' : isHeld ? 'blocked' : 'runnable'
  return { projection: { item, wait: active, readiness }, plan: {}, waits, tasks: [], ...more }
}

export const message = (body: string, more: Partial<Message> = {}): Message =>
  aPrompt('msg_1', body, { turn_id: 'turn_1', round: 1, ...more })

export const nobody = {
  queued_runnable: [],
  triggered_blocked: [],
  waiting_for_operator: [],
  blocked: [],
}
export const situation = (more: Partial<RunbookSituation> = {}): RunbookSituation => ({
  agent: { current_work_item_id: 'work_1' },
  turn: { id: 'turn_1', cause: { kind: 'continue_current', work_item_id: 'work_1' } },
  item: null,
  candidates: nobody,
  messages: [],
  earlier: [],
  rounds: [],
  plan_text: plan,
  trigger_url: null,
  ...more,
})

export const request = (s: unknown, tool_choice: 'auto' | 'none' = 'auto'): ModelRequest => ({
  model: 'runbook',
  system: '',
  tools: [],
  tool_choice,
  messages: [],
  max_output_tokens: null,
  situation: s,
})

export async function roundOf(
  s: RunbookSituation,
  choice: 'auto' | 'none' = 'auto',
): Promise<ModelRound> {
  const { signal } = new AbortController()
  const outcome = await runbookModel().request(request(s, choice), { signal })
  assert.ok(outcome.ok)
  return outcome.round
}

export const textOf = (round: ModelRound): string =>
  round.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
export const callsOf = (round: ModelRound): [string, unknown][] =>
  round.parts.flatMap((part) =>
    part.type === 'tool_call' ? [[part.tool_name, JSON.parse(part.input_json)]] : [],
  )

export const ok = (result: unknown = {}): ToolResult => ({
  tool_name: 't',
  status: 'success',
  summary: '',
  result,
})
export const exit = (exit_status: number, stdout = '', stderr = '') =>
  ok({ exit_status, stdout, stderr })
export const handle = ok({
  task_handle: { task_id: 'task_1', task_kind: 'command', status: 'running' },
})
export const error = (kind: ErrorKind, message: string, detail?: unknown): ToolResult => ({
  tool_name: 't',
  status: 'error',
  summary: message,
  error: { kind, code: 'c', message, hint: null, retryable: false, detail },
})

/** A round as the ledger keeps it, with what its calls answered. */
export function kept(round: ModelRound, ...results: ToolResult[]): RunbookRound {
  const names = callsOf(round).map(([name]) => name)
  assert.equal(results.length, names.length, `results for ${names.join(', ')}`)
  const calls = names.map((tool_name, index) => {
    const task_id = tool_name === 'ExecCommand' ? ('task_1' as const) : null
    return { tool_name, task_id, result: results[index] ?? null }
  })
  return { round: { state: 'recorded', parts: round.parts }, calls }
}

export const todoList = (marks: string) => todos(marks).map(({ text, state }) => ({ text, state }))
export const update = (marks: string): [string, unknown] => [
  'UpdateWorkItem',
  { work_item_id: 'work_1', todo_list: todoList(marks) },
]
export const exec = (cmd: string): [string, unknown] => ['ExecCommand', { cmd }]
export const blocked = (blocked_by: string): [string, unknown] => [
  'UpdateWorkItem',
  { work_item_id: 'work_1', blocked_by },
]
export const timer: [string, unknown] = [
  'WaitFor',
  {
    wake: 'timer',
    wait_ms: 2_000,
    reason: 'Step 3 of 5: Settle, waits 2s',
    condition: 'runbook step 3',
  },
]
export const question: [string, unknown] = [
  'WaitFor',
  {
    wake: 'operator_input',
    reason: 'Step 4 of 5: Approve',
    question: 'Walk around once.\n\nIs it quiet?',
    condition: 'runbook step 4',
  },
]
export const callback: [string, unknown] = [
  'WaitFor',
  {
    wake: 'external',
    resource: 'alarm/armed',
    reason: 'Step 5 of 5: Alarm, waits for the callback alarm/armed',
    condition: 'runbook step 5',
    delivery_mode: 'enqueue_message',
  },
]

/** A step that is running: the round that began it, answered with `result`. */
export async function begun(marks: string, result: ToolResult): Promise<RunbookRound> {
  const round = await roundOf(situation({ item: view(row(marks)) }))
  return kept(round, ok(), result)
}
