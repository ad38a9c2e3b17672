/**
 * The parts of a fork that show the parent's item: what it is, its plan, and how it stands. Times
 * are as recorded and never counted from now, so that the same rows give the same text.
 */
import { schedulingState } from '../../domain/facts/readiness.ts'
import type { Task } from '../../domain/state/task.ts'
import { waitWords as saidByWait, type Wait } from '../../domain/state/wait.ts'
import type { Todo } from '../../domain/state/work-item.ts'
import type { TokenEstimator } from '../estimate.ts'
import { block, cutBlock } from '../fence.ts'
import { omitted, partSeed, type ForkPart, type ForkSource } from './source.ts'
import { contextLimits } from '../limits.ts'
import { clip, counted, oneLine, quoted } from '../phrase.ts'
import { boxes } from '../boxes.ts'
import { subject } from '../sections/wait-line.ts'

export function itemPart({ item }: ForkSource): ForkPart {
  if (item === null) return omitted('item', 'the turn had no item')
  const { id, objective } = item.item
  const text = `## Its work item\n\nid: ${id}\nobjective: ${oneLine(objective)}`
  return { section: 'item', text, form: 'full', why: 'the item of the spawning turn' }
}

/** The plan within `max_tokens`, else its middle is cut: the child cannot read the file. */
export function planPart(source: ForkSource, tokens: TokenEstimator, max_tokens: number): ForkPart {
  const { item } = source
  if (item === null) return omitted('plan', 'the turn had no item')
  const title = `## Its plan, ${item.item.plan_status}`
  const bare = (line: string, why: string): ForkPart => ({
    section: 'plan',
    text: `${title}\n\n${line}`,
    form: 'full',
    why,
  })
  const { plan_text } = item
  if (plan_text === null) return bare('The plan file could not be read.', 'unreadable')
  if (plan_text === '') return bare('Nothing is written yet.', 'empty')
  const room = max_tokens - tokens(title) - 2
  if (room < contextLimits.fork_least.value) return omitted('plan', 'no room')
  const cut = { max_tokens: room, tokens, full_path: null }
  const seed = partSeed('plan', plan_text)
  const shown = cutBlock(seed, 'plan', plan_text, cut)
  const form = shown === block(seed, 'plan', plan_text) ? 'full' : 'cut'
  const why = form === 'full' ? 'the plan of the item' : `over ${room} tokens`
  return { section: 'plan', text: `${title}\n\n${shown}`, form, why }
}

/** State, blocker, wait, todos and running commands; todos and commands give way in that order. */
export function statePart(source: ForkSource, tokens: TokenEstimator): ForkPart {
  const { item, running } = source
  const id = item?.item.id ?? null
  const tasks = running
    .filter((task) => task.work_item_id === id && task.kind === 'command')
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  if (item === null && tasks.length === 0) return omitted('state', 'the turn had no item')
  const fixed =
    item === null ? ['## Running commands', ''] : ['## How it stands', '', ...held(item)]
  const left = { tokens: contextLimits.fork_state.value - tokens(fixed.join('\n')) - slack }
  const within = (lines: readonly string[]): string[] => {
    const kept: string[] = []
    for (const line of lines) {
      const cost = tokens(line) + 1
      if (cost > left.tokens) break
      left.tokens -= cost
      kept.push(line)
    }
    return kept
  }
  const lines = tasks.slice(0, contextLimits.fork_tasks.value).map((task) => `- ${taskWords(task)}`)
  const commands = within(lines)
  const todos = todoLines(item?.item.todo_list ?? [], within)
  const more = tasks.length - commands.length
  const text = [
    ...fixed,
    ...(item === null ? [] : todos.lines),
    ...(tasks.length > 0 && item !== null ? ['running commands:'] : []),
    ...commands,
    ...(more > 0 ? [`- and ${counted(more, 'other command')}`] : []),
  ]
  const form = more > 0 || todos.left_out > 0 ? 'cut' : 'full'
  const why = form === 'cut' ? 'todos or commands over their room' : 'state of the item'
  return { section: 'state', text: text.join('\n'), form, why }
}

/** Title lines and counts. */
const slack = 60

function held({ item, wait }: NonNullable<ForkSource['item']>): string[] {
  const { blocked_by, result_summary } = item
  return [
    `state: ${item.state}, ${schedulingState(item, wait).state}, revision ${item.revision}`,
    ...(blocked_by === null ? [] : [`blocked by: ${quoted(blocked_by, 1_000)}`]),
    ...(wait === null ? [] : [`wait: ${waitWords(wait)}`]),
    ...(result_summary === null ? [] : [`report: ${quoted(result_summary, 1_000)}`]),
  ]
}

function waitWords(wait: Wait): string {
  return [
    `${wait.id} ${wait.wake}`,
    quoted(saidByWait(wait)),
    ...subject(wait),
    ...(wait.wake_at === null ? [] : [`wakes at ${wait.wake_at}`]),
    ...(wait.wake === 'external' ? [counted(wait.trigger_count, 'trigger')] : []),
    ...(wait.recheck_at === null ? [] : [`recheck at ${wait.recheck_at}`]),
  ].join(', ')
}

const taskWords = (task: Task): string =>
  `${task.id} ${quoted(task.label)} ${task.status} in ${clip(task.workdir, 200)}`

/** In order; where they are too many, completed ones are counted first, then those at the end. */
function todoLines(
  todos: readonly Todo[],
  within: (lines: readonly string[]) => string[],
): { lines: string[]; left_out: number } {
  if (todos.length === 0) return { lines: ['todos: none'], left_out: 0 }
  const line = ({ state, text }: Todo) => `${boxes[state]} ${oneLine(text)}`
  const isOpen = ({ state }: Todo) => state !== 'completed'
  const shownOpen = new Set(within(todos.filter(isOpen).map(line)))
  const done = within(
    todos
      .filter((todo) => !isOpen(todo))
      .map(line)
      .toReversed(),
  )
  const shown = new Set([...shownOpen, ...done])
  const lines = todos.map(line).filter((text) => shown.has(text))
  const left_out = todos.length - lines.length
  const count = left_out === 0 ? [] : [`(${counted(left_out, 'more entry', 'more entries')})`]
  return { lines: ['todos:', ...lines, ...count], left_out }
}
