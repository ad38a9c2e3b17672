/**
 * The pinned block: what no pressure and no compaction takes from a request about an item.
 * Objective, plan descriptor, todos, blocker, wait, open tasks, and what the operator or a parent
 * said about it. A function of the rows alone, without the time of the request: while they
 * do not change, neither does a byte of it.
 */
import type { Check } from '../../domain/state/check.ts'
import { asked } from '../../domain/checks/words.ts'
import { isStanding } from '../../domain/inbox/standing-words.ts'
import type { Message } from '../../domain/state/message.ts'
import type { PlanDescriptor } from '../../domain/state/plan.ts'
import { isTerminal, type Task } from '../../domain/state/task.ts'
import { waitWords as saidByWait, type Wait } from '../../domain/state/wait.ts'
import type { Todo, Imported } from '../../domain/state/work-item.ts'
import { boxes } from '../boxes.ts'
import type { TokenEstimator } from '../estimate.ts'
import { cutBlock } from '../fence.ts'
import { contextLimits } from '../limits.ts'
import { clip, clock, counted, oneLine, quoted, thousands } from '../phrase.ts'
import { fenceOf } from './rounds.ts'
import { wordsWithImages, type QuotedImages } from '../sent-images.ts'
import type { ItemView } from './situation.ts'
import { subject } from './wait-line.ts'

/** The lines of the item itself. */
export function pinnedLines({ projection: { item, wait }, plan, tasks }: ItemView): string[] {
  const open = tasks.filter((task) => !isTerminal(task))
  return [
    `id: ${item.id}`,
    `objective: ${oneLine(item.objective)}`,
    ...importedLines(item.imported),
    `plan: ${planLine(item.plan_status, plan)}`,
    ...planProblem(plan),
    ...todoLines(item.todo_list),
    ...checkLines(item.checks),
    ...(item.blocked_by === null ? [] : [`blocked by: ${quoted(item.blocked_by, 2_000)}`]),
    ...(wait === null ? [] : [`wait: ${waitWords(wait)}`]),
    ...(open.length === 0 ? [] : ['open tasks:', ...open.map((task) => `- ${taskWords(task)}`)]),
  ]
}

/** The operator picked it: its words say what is wanted, and nothing of what is so. */
const importedLines = (from: Imported | undefined): string[] =>
  from === undefined
    ? []
    : [
        `imported: its words were written elsewhere, by ${oneLine(from.agent_id)}, and ` +
          'the operator picked it. What they say of files and rights is to be checked.',
      ]

function planLine(status: string, plan: PlanDescriptor): string {
  const path = oneLine(plan.path)
  if (plan.problem !== undefined) return `${status}, ${path}`
  if (plan.bytes === 0) return `${status}, ${path}, nothing written yet`
  return plan.preview_complete
    ? `${status}, ${path}`
    : `${status}, ${path}, ${thousands(plan.bytes)} bytes`
}

function planProblem(plan: PlanDescriptor): string[] {
  if (plan.problem === undefined) return []
  const { code, message, last_good } = plan.problem
  const snapshot =
    last_good === null ? 'No good snapshot was kept' : `The last good text is ${oneLine(last_good)}`
  return [
    `plan problem (${code}): ${clip(message, 500)}`,
    `${snapshot}. The runtime repairs nothing: restore or rewrite the file before relying on it.`,
  ]
}

const todoLines = (todos: readonly Todo[]): string[] =>
  todos.length === 0
    ? []
    : ['todos:', ...todos.map(({ state, text }) => `${boxes[state]} ${oneLine(text)}`)]

/** What was asked; of an open item also what refused its completion. */
const checkLines = (checks: readonly Check[]): string[] =>
  checks.length === 0
    ? []
    : [
        'checks that the operator has the runtime run when you complete it; one that fails ' +
          'refuses it:',
        ...checks.map((check) => `- ${oneLine(checkLine(check))}`),
      ]

function checkLine(check: Check): string {
  const { run } = check
  const failed = run?.state === 'finished' && run.outcome === 'failed'
  const went = failed ? `; failed at ${run.finished_at}` : ''
  return `${check.name} (${check.kind}): ${asked(check)}${went}`
}

function waitWords(wait: Wait): string {
  const parts = [
    `${wait.id} ${wait.wake}`,
    quoted(saidByWait(wait), 500),
    ...subject(wait),
    `since ${clock(wait.created_at)}`,
  ]
  if (wait.wake_at !== null) parts.push(`wakes at ${clock(wait.wake_at)}`)
  if (wait.wake === 'external') {
    const last =
      wait.last_triggered_at === null ? '' : `, the last at ${clock(wait.last_triggered_at)}`
    parts.push(`${counted(wait.trigger_count, 'trigger')}${last}`)
  }
  if (wait.recheck_at !== null) parts.push(`recheck at ${clock(wait.recheck_at)}`)
  return parts.join(', ')
}

/** Where to look for what it says. */
export const placeOf = ({ output }: Task): string =>
  output.path === null ? 'TaskOutput' : oneLine(output.path)

/**
 * Where what it says is, and for whose answer it waits. The question itself is a child's words,
 * which stand in a result: here they would pass for the runtime's.
 */
export function saysWhere(task: Task): string {
  const place = `output in ${placeOf(task)}`
  switch (task.asking?.of) {
    case undefined:
      return place
    case 'supervisor':
      return `asks you and waits for TaskInput, question and ${place}`
    case 'operator':
      return `asks the operator, ${place}`
  }
}

function taskWords(task: Task): string {
  const since = task.started_at ?? task.created_at
  return `${task.id} ${quoted(task.label)} ${task.status} since ${clock(since)}, ${saysWhere(task)}`
}

/**
 * What was said about the item, each message under marks of its own. Within `max_tokens` the first
 * message stays, which is mostly what it is all about, then, up to half of the room, the newest
 * that may hold for work to come, and then the newest; the others are one line each, as far as half
 * as much again goes.
 */
export function wordsLines(
  words: readonly Message[],
  { tokens, ...images }: { tokens: TokenEstimator } & QuotedImages,
  max_tokens: number,
): { lines: string[]; left_out: number } {
  const [first, ...later] = words
  if (first === undefined) return { lines: [], left_out: 0 }
  const most = Math.min(contextLimits.word.value, max_tokens)
  const text = (message: Message) => wordsText(message, tokens, most, images)
  const head = text(first)
  const shown = new Map<Message, string>()
  let left = max_tokens - tokens(head)
  const show = (some: readonly Message[], least: number): void => {
    for (const message of some.toReversed()) {
      if (shown.has(message)) continue
      const words = text(message)
      if (left - tokens(words) - 1 < least) break
      left -= tokens(words) + 1
      shown.set(message, words)
    }
  }
  show(
    later.filter(({ body }) => isStanding(body)),
    left / 2,
  )
  show(later, 0)
  const short = shortLines(
    later.filter((message) => !shown.has(message)),
    tokens,
    max_tokens / 2,
  )
  const texts = later.flatMap((message) => shown.get(message) ?? [])
  return {
    lines: ['what was said about it:', head, ...short.lines, ...texts],
    left_out: short.left_out,
  }
}

/** The newest lines that fit, oldest first, and how many messages have none. */
function shortLines(
  messages: readonly Message[],
  tokens: TokenEstimator,
  max_tokens: number,
): { lines: string[]; left_out: number } {
  const lines: string[] = []
  let left = max_tokens
  for (const { id, kind, created_at, body } of messages.toReversed()) {
    const head = quoted(body, contextLimits.word_head.value)
    const line = `- ${kind} ${id} at ${clock(created_at)}: ${head}`
    left -= tokens(line) + 1
    if (left < 0) break
    lines.unshift(line)
  }
  const left_out = messages.length - lines.length
  const gone = left_out === 0 ? [] : [`(${counted(left_out, 'message')} left out here)`]
  return { lines: [...gone, ...lines], left_out }
}

function wordsText(
  message: Message,
  tokens: TokenEstimator,
  max_tokens: number,
  { image_path, sees_images }: QuotedImages,
): string {
  const label = `${message.kind} ${message.id} at ${clock(message.created_at)}`
  const full_path = `MemoryGet ${message.id}`
  const words = wordsWithImages(message, image_path, sees_images)
  return cutBlock(fenceOf(message), label, words, { max_tokens, tokens, full_path })
}
