/**
 * What the runbook model does next, from the situation alone. The modes, first that applies:
 *
 *   asked for a report   tools are off: the report is said again, nothing is called
 *   refused              a work-item call of the last round was refused: say so, end the turn
 *   intake               messages that are runbooks become work items, one call each
 *   reply                other words are answered, and end the turn
 *   pick                 no item: take the one just made, or the first of the queue
 *   idle                 no item, none to take: say so, end the turn
 *   over                 the item is completed: say so, end the turn
 *   held                 the item waits or is blocked: say by what, end the turn
 *   changed              the plan no longer fits what was done: block the item
 *   run                  the current step (step.ts): begin, follow, judge, go on, finish
 *
 * Pure: the same situation gives the same round, also after a crash.
 */
import type { Message } from '../../domain/state/message.ts'
import { fieldsOf } from './command-result.ts'
import { isRecorded, recall, type RunbookMemo, type Recalled } from './memo.ts'
import type { ParseError } from './parse-error.ts'
import { parseRunbook, type Program } from './parse.ts'
import { positionOf } from './position.ts'
import type { RunbookItem, RunbookSituation } from './situation.ts'
import { advance, block, conditionOf, type RunbookReply, type ToolUse } from './step.ts'
import * as words from './words.ts'

export type DecidedRound = RunbookReply & {
  /** What was known before the decision. */
  before: RunbookMemo
  /** Number of this round in its turn, from 1. */
  round: number
}

export function decideRound(s: RunbookSituation, toolChoice: 'auto' | 'none'): DecidedRound {
  const recalled = recall(s)
  const decision = toolChoice === 'none' ? reportAgain(s, recalled.memo) : next(s, recalled)
  const round = s.rounds.filter(isRecorded).length + 1
  return { ...decision, before: recalled.memo, round }
}

function next(s: RunbookSituation, recalled: Recalled): RunbookReply {
  const { memo } = recalled
  const refusal = refusedCall(s)
  if (refusal !== null) return say(refusal, memo)
  const { runbooks, others } = sorted(s, memo)
  if (runbooks.length > 0) return intake(runbooks, memo)
  if (others.length > 0) return reply(s, others, memo)
  if (s.item === null) return pickNext(s, memo)
  return aboutItem(s, s.item, recalled)
}

const say = (text: string, memo: RunbookMemo): RunbookReply => ({ text, calls: [], memo })

function reportAgain(s: RunbookSituation, memo: RunbookMemo): RunbookReply {
  const parsed = s.plan_text === null ? null : parseRunbook(s.plan_text)
  if (s.item === null || !parsed?.ok) return say('There is nothing more to report.', memo)
  return say(words.report(s.item.projection.item, parsed.program, memo), memo)
}

const itemTools = ['CreateWorkItem', 'PickWorkItem', 'UpdateWorkItem', 'CompleteWorkItem']

function refusedCall(s: RunbookSituation): string | null {
  for (const { tool_name, result } of s.rounds.findLast(isRecorded)?.calls ?? []) {
    if (!itemTools.includes(tool_name) || result?.status !== 'error') continue
    const { kind, message, hint } = result.error
    if (kind === 'not_executed') continue
    return `The run stopped: ${tool_name} was refused. ${message}${hint === null ? '' : ` ${hint}`}`
  }
  return null
}

type Sorted = {
  runbooks: readonly { message: Message; program: Program }[]
  others: readonly { message: Message; errors: readonly ParseError[] | null }[]
}

/** People's messages of this turn that nobody has seen to. Answers to a wait are the step's. */
function sorted(s: RunbookSituation, memo: RunbookMemo): Sorted {
  const runbooks: { message: Message; program: Program }[] = []
  const others: { message: Message; errors: readonly ParseError[] | null }[] = []
  for (const message of s.messages) {
    const { id, origin, wait_id, work_item_id, body } = message
    const isPerson = origin === 'operator' || origin === 'agent'
    if (!isPerson || wait_id !== null || memo.handled.includes(id)) continue
    if (work_item_id !== null) {
      others.push({ message, errors: null })
      continue
    }
    const parsed = parseRunbook(body)
    if (parsed.ok) runbooks.push({ message, program: parsed.program })
    else others.push({ message, errors: meansToBeOne(body) ? parsed.errors : null })
  }
  return { runbooks, others }
}

const meansToBeOne = (text: string): boolean => /^\uFEFF?\s*#{1,2}\s/.test(text)

function intake(runbooks: Sorted['runbooks'], memo: RunbookMemo): RunbookReply {
  const calls = runbooks.map(({ message, program: { objective, steps } }): ToolUse => {
    const todo_list = steps.map(({ title }) => ({ text: title, state: 'pending' }))
    const input = { objective, plan: message.body, plan_status: 'ready', todo_list }
    return { tool_name: 'CreateWorkItem', input }
  })
  const lines = runbooks.map(({ program: { objective, steps } }) => {
    return `Recorded as work: ${objective} (${steps.length} step${steps.length === 1 ? '' : 's'})`
  })
  const ids = runbooks.map(({ message }) => message.id)
  return { text: lines.join('\n'), calls, memo: { ...memo, handled: [...memo.handled, ...ids] } }
}

function reply(s: RunbookSituation, others: Sorted['others'], memo: RunbookMemo): RunbookReply {
  const item = s.item
  const isComment = others.some(({ message }) => message.work_item_id !== null)
  const loose = others.filter(({ message }) => message.work_item_id === null)
  const open = loose.length > 0 ? words.open(s) : null
  const paragraphs = [
    ...(open === null ? [] : [open]),
    ...loose.flatMap(({ errors }) => (errors === null ? [] : [words.broken(errors)])),
    ...(loose.some(({ errors }) => errors === null) ? [words.notARunbook] : []),
    ...(isComment && item !== null ? about(item) : []),
  ]
  const ids = others.map(({ message }) => message.id)
  return say(paragraphs.join('\n\n'), { ...memo, handled: [...memo.handled, ...ids] })
}

function about(item: RunbookItem): string[] {
  const { item: row, readiness } = item.projection
  if (row.state === 'completed') return [over(item)]
  return readiness === 'runnable' ? [words.comment(item)] : [words.comment(item), words.held(item)]
}

const over = ({ projection }: RunbookItem): string =>
  `"${projection.item.objective}" is completed. For more work, run a new runbook.`

function pickNext(s: RunbookSituation, memo: RunbookMemo): RunbookReply {
  const calls = s.rounds.filter(isRecorded).flatMap((view) => view.calls)
  const picked = calls.some((call) => {
    return call.tool_name === 'PickWorkItem' && call.result?.status === 'success'
  })
  if (picked) throw new Error('PickWorkItem succeeded, and the situation has no item')
  const work_item_id = createdIn(calls) ?? queuedIn(s)
  if (work_item_id === null) return say(idle(s), memo)
  return { text: '', calls: [{ tool_name: 'PickWorkItem', input: { work_item_id } }], memo }
}

function createdIn(calls: RunbookSituation['rounds'][number]['calls']): string | null {
  for (const { tool_name, result } of calls) {
    if (tool_name !== 'CreateWorkItem' || result?.status !== 'success') continue
    const { id } = fieldsOf(fieldsOf(result.result)['item'])
    if (typeof id !== 'string') throw new Error('CreateWorkItem succeeded and named no work item')
    return id
  }
  return null
}

/** The first ready item of the queue that is still there. */
function queuedIn(s: RunbookSituation): string | null {
  const { cause } = s.turn
  if (cause.kind !== 'queued_available') return null
  const queued = s.candidates.queued_runnable.map(({ item }) => item.id)
  return cause.work_item_ids.find((id) => queued.includes(id)) ?? cause.work_item_ids[0] ?? null
}

const idle = (s: RunbookSituation): string =>
  s.messages.length > 0
    ? 'An event came that no step of a runbook waits for. It is kept, and changes nothing.'
    : 'There is nothing for the runbook model to do here.'

function aboutItem(s: RunbookSituation, view: RunbookItem, recalled: Recalled): RunbookReply {
  const { item, wait, readiness } = view.projection
  const { memo } = recalled
  if (item.state === 'completed') return say(over(view), memo)
  const arrived = wait !== null && wait.wake === 'external' && wait.trigger_count > 0
  if (readiness !== 'runnable' && !arrived) return say(words.held(view), memo)

  if (s.plan_text === null) {
    const why = view.plan.problem?.message ?? 'there is no plan'
    return block({ view, memo }, null, words.changed(`the plan cannot be read: ${why}`))
  }
  const parsed = parseRunbook(s.plan_text)
  if (!parsed.ok) return block({ view, memo }, null, words.changed(words.brokenPlan(parsed.errors)))
  const { program } = parsed
  const position = positionOf(program.steps, item.todo_list)
  if (!position.ok) return block({ view, memo }, null, words.changed(position.why))

  const { at, todos } = position
  if (arrived && (at === null || wait.condition !== conditionOf(at))) {
    return say(words.held(view), memo)
  }
  return advance({ s, view, program, todos, recalled, memo, unblock: arrived }, at)
}
