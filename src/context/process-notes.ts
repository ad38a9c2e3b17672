/**
 * Process notes: what is worth knowing about the way an item has gone, as lines with a handle each,
 * folded from its events (docs/spec/context.md#notes). Nothing stores them: the same events give
 * the same notes. What came later about the same thing replaces what came before; bodies of outside
 * events never enter, only that they came.
 */
import type { EffectClass } from '../domain/effect-class.ts'
import type { Event, EventType, StoredEvent } from '../domain/state/event.ts'
import type { CallId, TaskId, WaitId } from '../domain/ids.ts'
import { imageWords } from '../domain/image.ts'
import { isForeign } from '../domain/state/message.ts'
import { waitWords as waitSays, type Wait } from '../domain/state/wait.ts'
import type { Todo, WorkItemChanges } from '../domain/state/work-item.ts'
import { revertWords } from '../domain/work/revert.ts'
import { diffWords, type FileDiff } from '../domain/state/file-diff.ts'
import type { TokenEstimator } from './estimate.ts'
import { contextLimits } from './limits.ts'
import { counted, quoted, clip } from './phrase.ts'

/** The six kinds of docs/spec/context.md#notes. */
export type NoteKind = 'decision' | 'step' | 'blocker' | 'external' | 'output' | 'scope'

/** `handle` names the record that says more: an item, wait, task, call, brief or message. */
export type Note = { kind: NoteKind; text: string; handle: string; times: number }

export type ProcessNotes = {
  /** Oldest first. */
  notes: readonly Note[]
  /** Notes left out for being older than these. */
  older: number
}

/** What of a stored event the notes are folded from. */
export type NoteEvent = Pick<StoredEvent, 'seq' | 'turn_id' | 'work_item_id' | 'event'>

/** The notes of events of one item (or of none), in order of `seq`: the `max` newest. */
export function processNotes(events: readonly NoteEvent[], max: number): ProcessNotes {
  const fold = new Fold()
  for (const stored of [...events].sort((a, b) => a.seq - b.seq)) {
    const read = readers[stored.event.type] as Reader<Event> | undefined
    read?.(stored.event, fold, stored)
  }
  const all = [...fold.notes.values()]
  const notes = all.slice(Math.max(0, all.length - max))
  return { notes, older: all.length - notes.length }
}

/** `- kind: text [handle]`: one line whatever the text. */
export const noteLine = ({ kind, text, handle, times }: Note): string =>
  `- ${kind}: ${text}${times > 1 ? ` (${counted(times, 'time')})` : ''} [${handle}]`

/** The newest lines within `max_tokens`, oldest first, the rest counted in front; '' for none. */
export function noteLines(
  { notes, older }: ProcessNotes,
  tokens: TokenEstimator,
  max_tokens: number,
): { text: string; left_out: number } {
  const lines: string[] = []
  let left = max_tokens - countTokens
  for (const note of notes.toReversed()) {
    const line = noteLine(note)
    left -= tokens(line) + 1
    if (left < 0) break
    lines.unshift(line)
  }
  const left_out = notes.length - lines.length + older
  if (lines.length === 0) return { text: '', left_out }
  const count = left_out === 0 ? [] : [`(${counted(left_out, 'older note')} left out)`]
  return { text: [...count, ...lines].join('\n'), left_out }
}

/** What the line with the count takes. */
const countTokens = 12

/** Notes by what they are about, in order of their last change, and what later events refer to. */
class Fold {
  readonly notes = new Map<string, Note>()
  readonly tasks = new Map<TaskId, { label: string; child: boolean; promoted: boolean }>()
  readonly waits = new Map<WaitId, Pick<Wait, 'reason' | 'resource' | 'source'>>()
  readonly effects = new Map<CallId, EffectClass>()
  /** Messages that are not the operator's own, by whose they are. */
  readonly answerers = new Map<string, string>()
  /** What the operator, or a parent, said, by message. */
  readonly words = new Map<string, string>()
  todos: readonly Todo[] = []

  note(about: string, kind: NoteKind, text: string, handle: string): void {
    const before = this.notes.get(about)
    const times = before?.text === text && before.kind === kind ? before.times + 1 : 1
    this.notes.delete(about)
    this.notes.set(about, { kind, text, handle, times })
  }

  forget(about: string): void {
    this.notes.delete(about)
  }
}

type Reader<E> = (event: E, fold: Fold, at: NoteEvent) => void
type Of<T extends EventType> = Extract<Event, { type: T }>

const said = (text: string): string => quoted(text, contextLimits.glance.value)

/** The events that leave a note; every other event says nothing about the way of the work. */
const readers: { readonly [T in EventType]?: Reader<Of<T>> } = {
  work_item_created: (event, fold, at) => {
    todosRead(event.todo_list, fold, at)
  },
  work_item_updated: (event, fold, at) => changesRead(event.changed, event, fold, at),
  plan_changed: (event, fold) => {
    fold.note('plan', 'scope', 'plan rewritten', event.id)
  },
  work_item_completed: (event, fold) => {
    const report = event.result_summary === null ? '' : `, report ${said(event.result_summary)}`
    fold.note('end', 'output', `completed by the ${event.by}${report}`, event.id)
  },
  work_item_reported: (event, fold) => {
    fold.note('end', 'output', `completed, report ${said(event.result_summary)}`, event.id)
  },
  files_reverted: (event, fold, at) => {
    const about = `reverted ${String(at.seq)}`
    fold.note(about, 'decision', `the operator ${revertWords(event)}`, event.id)
  },
  wait_registered: waitRead,
  wait_triggered: (event, fold) => {
    const wait = fold.waits.get(event.id)
    const came = `${counted(event.count, 'event')} came`
    fold.note(event.id, 'external', `${came} for ${waitWords(wait)}`, event.id)
  },
  wait_resolved: (event, fold) => {
    if (event.by.kind !== 'operator') return fold.forget(event.id)
    const { reason = 'what was asked' } = fold.waits.get(event.id) ?? {}
    const { message_id } = event.by
    const who = fold.answerers.get(message_id) ?? 'the operator'
    const words = fold.words.get(message_id)
    const answer = words === undefined ? '' : ` ${words}`
    // The question and the answer are one note, with the words of each where they belong.
    fold.forget(message_id)
    fold.note(event.id, 'decision', `asked ${said(reason)}, ${who} answered${answer}`, message_id)
  },
  wait_cancelled: (event, fold) => fold.forget(event.id),
  message_admitted: (event, fold) => {
    if (event.provenance.origin === 'agent') fold.answerers.set(event.id, 'the parent')
    if (isForeign(event.provenance)) return
    if (event.provenance.kind !== 'operator_prompt' && event.provenance.kind !== 'delegation')
      return
    // The agent of these notes is the one that reads them.
    const who = event.provenance.origin === 'agent' ? 'parent' : event.provenance.origin
    const with_images = (event.images ?? []).map((image) => `, with ${imageWords(image)}`).join('')
    fold.words.set(event.id, `${said(event.body)}${with_images}`)
    fold.note(event.id, 'decision', `the ${who} said ${fold.words.get(event.id)}`, event.id)
  },
  message_taken_back: (event, fold) => fold.forget(event.id),
  call_recorded: (event, fold) => {
    fold.effects.set(event.id, event.effect_class)
  },
  call_finished: callRead,
  task_queued: (event, fold) => {
    const child = event.kind === 'child_agent'
    fold.tasks.set(event.id, { label: event.label, child, promoted: false })
  },
  task_promoted: (event, fold) => {
    const task = fold.tasks.get(event.id)
    if (task !== undefined) task.promoted = true
  },
  task_ended: taskRead,
  task_changes_seen: ({ id, changes }, fold) => {
    const label = fold.tasks.get(id)?.label
    const by = label === undefined ? 'a command' : said(label)
    filesRead(by, 'diffs' in changes ? changes.diffs : [], id, fold)
  },
  turn_ended: (event, fold) => {
    if (event.outcome !== 'aborted') return
    fold.note(event.id, 'decision', 'the operator aborted a turn about it', event.id)
  },
  brief_delivered: (event, fold) => {
    const kind = briefKinds[event.kind]
    // A question and its wait are one thing: the answer to the wait replaces both. Without a wait
    // it is about the budget, and over with that.
    const about = event.wait_id ?? (event.kind === 'question' ? 'budget' : event.id)
    fold.note(about, kind, `${event.kind} ${said(event.text)}`, event.id)
  },
}

/** The events of an item that its notes are folded from: the newest so many, of these types. */
export const notedEvents = {
  looked: contextLimits.note_events.value,
  types: Object.keys(readers) as EventType[],
} as const

const briefKinds = {
  progress: 'step',
  reply: 'decision',
  question: 'blocker',
  result: 'output',
  failure: 'blocker',
} as const satisfies Record<Of<'brief_delivered'>['kind'], NoteKind>

function changesRead(
  changed: WorkItemChanges,
  { id, by }: Of<'work_item_updated'>,
  fold: Fold,
  at: NoteEvent,
): void {
  const { objective, plan_status, todo_list, blocked_by, budget } = changed
  if (objective !== undefined) {
    fold.note('objective', 'scope', `the ${by} set the objective ${said(objective)}`, id)
  }
  if (plan_status !== undefined) {
    const kind = plan_status === 'needs_input' ? 'blocker' : 'decision'
    fold.note('plan_status', kind, `plan status ${plan_status}`, id)
  }
  if (todo_list !== undefined) todosRead(todo_list, fold, at)
  if (budget !== undefined) fold.forget('budget')
  if (blocked_by === null) fold.forget('blocked_by')
  else if (blocked_by !== undefined) {
    fold.note('blocked_by', 'blocker', `blocked by ${said(blocked_by)}`, id)
  }
}

/** Entries that were not completed in the list before. */
function todosRead(todos: readonly Todo[], fold: Fold, at: NoteEvent): void {
  const done = new Set(fold.todos.filter(isDone).map(({ text }) => text))
  for (const { text } of todos.filter((todo) => isDone(todo) && !done.has(todo.text))) {
    const handle = at.turn_id ?? at.work_item_id ?? String(at.seq)
    fold.note(`todo ${text}`, 'step', `done ${said(text)}`, handle)
  }
  fold.todos = todos
}

const isDone = ({ state }: Todo): boolean => state === 'completed'

function waitRead(event: Of<'wait_registered'>, fold: Fold): void {
  const { id, resource, source } = event
  const reason = waitSays(event)
  fold.waits.set(id, { reason, resource, source })
  switch (event.wake) {
    case 'external':
      return fold.note(id, 'external', `waits for ${waitWords(event)}`, id)
    case 'operator_input':
      return fold.note(id, 'blocker', `asked ${said(reason)}`, id)
    case 'task_result':
      return fold.note(id, 'blocker', `waits for ${clip(resource ?? '', 80)}, ${said(reason)}`, id)
    case 'timer':
      return fold.note(id, 'blocker', `waits for a time, ${said(reason)}`, id)
    case 'system':
      return
  }
}

const waitWords = (wait: Pick<Wait, 'reason' | 'resource' | 'source'> | undefined): string =>
  wait === undefined
    ? 'a wait'
    : [
        said(wait.reason),
        ...(wait.source === null ? [] : [`source ${said(wait.source)}`]),
        ...(wait.resource === null ? [] : [`resource ${said(wait.resource)}`]),
      ].join(', ')

/** Changed files, and calls nobody knows the outcome of; commands speak through their tasks. */
function callRead(event: Of<'call_finished'>, fold: Fold): void {
  const { id, result } = event
  const summary = clip(result.summary, contextLimits.glance.value)
  if (result.status === 'error') {
    if (result.error.kind !== 'outcome_unknown') return
    return fold.note(id, 'blocker', `outcome unknown of ${result.tool_name}: ${summary}`, id)
  }
  const isTool = event.changed_something && fold.effects.get(id) === 'content_checked'
  if (isTool) fold.note(`${result.tool_name} ${summary}`, 'output', summary, id)
  else filesRead(result.tool_name, result.diffs ?? [], id, fold)
}

/** Files of one command in its note. */
const notedFiles = 5

/** What a command did to files, as it is recorded. */
function filesRead(by: string, diffs: readonly FileDiff[], handle: string, fold: Fold): void {
  if (diffs.length === 0) return
  const named = diffs.slice(0, notedFiles).map((diff) => clip(diffWords(diff), 120))
  const more = diffs.length - named.length
  const what = `${by} changed ${named.join('; ')}${more === 0 ? '' : `; ${more} more`}`
  fold.note(`${by} ${diffs.map(({ path }) => path).join(' ')}`, 'output', what, handle)
}

/** Ends that came as messages: a command that ended in its call is the call's own result. */
function taskRead(event: Of<'task_ended'>, fold: Fold): void {
  const task = fold.tasks.get(event.id)
  if (task !== undefined && !task.promoted && !task.child) return
  const name = task === undefined ? 'a task' : said(task.label)
  const exit = event.exit_status === null ? '' : ` with exit status ${event.exit_status}`
  const why = event.reason === null ? '' : ` (${clip(event.reason, 120)})`
  fold.note(event.id, 'output', `${name} ${event.status}${exit}${why}`, event.id)
}
