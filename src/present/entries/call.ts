/**
 * Tool calls and tasks as entries: one line from start to finish, also when a call goes on as a
 * task. Pure.
 */
import { questionText, type FileDiff } from '../../protocol/records/records.ts'
import { endedWell, endWords } from '../lines/task-words.ts'
import { callLine, callSubject, changedWords, oneCommand } from '../lines/call-line.ts'
import { diffName } from '../lines/diff-lines.ts'
import type { Entry, Level } from './entry.ts'
import { entry, facts, line, lines, msBetween, type Sight } from './parts.ts'
import type { Group } from '../history/noun-fold.ts'
import type { Mark } from '../text/marks.ts'
import type { Safe } from '../text/safe.ts'
import { took } from '../text/span.ts'

/** Lines of an output that stand below a call that failed. */
const outputLines = 2

export function callEntry(group: Group, sight: Sight, level: Level): Entry | null {
  const recorded = group.heard.call_recorded
  if (recorded === undefined) return null
  const { tool_name: tool, input } = recorded.event
  const started = group.heard.call_started
  const finished = group.heard.call_finished
  const task_id = started?.event.task_id ?? null
  const task = task_id === null ? undefined : sight.group(task_id)
  const subject = task_id === null ? null : ({ noun: 'task', id: task_id } as const)
  const diffs = diffsOf(group)
  const cli = cliOf(task_id, diffs.length > 0 ? group.work_item_id : null)
  const body = level === 3 ? [...diffs.map(diffName), ...record(group)] : []
  const common = { subject, cli, body, diffs }
  const left = callSubject(tool, input)
  if (finished === undefined) {
    const since = started?.at ?? null
    return entry(group, 'call', {
      ...common,
      title: line(left),
      mark: since === null ? 'next' : 'working',
      since,
      facts: facts(since === null ? 'not begun' : ''),
    })
  }
  const { result } = finished.event
  // What an update changed has entries of its own: todos, plan, blocker.
  const isTold = tool === 'UpdateWorkItem' && result.status === 'success'
  const found = isTold ? null : callLine(tool, input, result)
  if (found === null) {
    if (level < 3) return null
    return entry(group, 'call', {
      ...common,
      mark: 'done',
      title: line(`${tool}: ${result.summary}`),
    })
  }
  if (found.mark === 'waiting' && task !== undefined) {
    return entry(group, 'call', { ...common, ...stateOfTask(task), title: line(found.left) })
  }
  const isOver = found.mark === 'done' || found.mark === 'failed'
  const isCommand = tool === 'ExecCommand' && started !== undefined && isOver
  const ran = isCommand ? took(ranMs(task) ?? msBetween(started.at, finished.at)) : ''
  const did = isCommand ? changedWords(diffs) : ''
  const time = [did, ran].filter(Boolean).join(', ')
  const [exit = '', ...words] = found.right.split(': ')
  const failed = found.mark === 'failed' && isCommand && /^exit \S+$/.test(exit)
  return entry(group, 'call', {
    ...common,
    mark: found.mark,
    title: line(found.left),
    facts: facts(
      failed ? `${exit}, ${time}` : [found.right, time].filter(Boolean).join(', '),
      allowedBy(task),
    ),
    body: [...(failed ? lines(words.join(': ')).slice(-outputLines) : []), ...body],
  })
}

function cliOf(task_id: string | null, changed_by: string | null): Safe | null {
  if (task_id !== null) return line(`holon tasks output ${task_id}`)
  return changed_by === null ? null : line(`holon work diff ${changed_by}`)
}

/** How long the command itself ran, whenever somebody looked; null: that is not known. */
function ranMs(task: Group | undefined): number | null {
  const { task_started: began, task_ended: end } = task?.heard ?? {}
  return began === undefined || end === undefined
    ? null
    : msBetween(began.event.started_at, end.event.ended_at)
}

function diffsOf({ heard }: Group): readonly FileDiff[] {
  const result = heard.call_finished?.event.result
  return result?.status === 'success' ? (result.diffs ?? []) : []
}

function record(group: Group) {
  const recorded = group.heard.call_recorded?.event
  if (recorded === undefined) return []
  const result = group.heard.call_finished?.event.result
  const shown = (value: unknown): string => (JSON.stringify(value) ?? '').slice(0, 2_000)
  return [
    line(`${group.id}  seq ${group.seq}  ${recorded.effect_class}`),
    line(`input   ${shown(recorded.input)}`),
    ...(result === undefined
      ? []
      : [line(`result  ${shown(result.status === 'error' ? result.error : result.result)}`)]),
  ]
}

/** A rule asks about it, and a person had said yes for longer than once. */
function allowedBy(task: Group | undefined): string {
  const grant = task?.heard.task_queued?.event.grant_id
  return grant === undefined ? '' : `allowed by ${grant}`
}

type TaskState = Pick<Entry, 'mark' | 'since' | 'facts'>

export function stateOfTask(task: Group): TaskState {
  const { task_started, task_cancelling, task_ended, task_readopted } = task.heard
  const again = task_readopted === undefined ? '' : 'taken up again'
  if (task_ended !== undefined) {
    const { status, ended_at, reason } = task_ended.event
    const kind = task.heard.task_queued?.event.kind ?? 'command'
    const from = task_started?.event.started_at
    const time = from === undefined ? '' : `, ${took(msBetween(from, ended_at))}`
    const how = endWords(task_ended.event)
    const well = endedWell({ ...task_ended.event, kind })
    const mark: Mark = status === 'interrupted' ? 'unknown' : well ? 'done' : 'failed'
    const why = reason === null || status === 'completed' ? '' : reason
    return { mark, since: null, facts: facts(again, why, `${how}${time}`, allowedBy(task)) }
  }
  if (task_cancelling !== undefined) {
    return { mark: 'working', since: null, facts: facts(again, 'being stopped') }
  }
  if (task_started === undefined) return { mark: 'next', since: null, facts: facts('queued') }
  const asks = isAsking(task)
  const mark = asks ? 'needs_me' : 'working'
  return {
    mark,
    since: task_started.event.started_at,
    facts: facts(again, asks ? 'asks' : '', allowedBy(task)),
  }
}

/** Each question of a child is followed by what ended it, or it is open. */
const isAsking = ({ heard }: Group): boolean =>
  heard.task_asked !== undefined && (heard.task_answered?.seq ?? 0) < heard.task_asked.seq

/** What a child asked last, and whether it was answered. */
function asked(task: Group): Safe[] {
  const { task_asked } = task.heard
  if (task_asked === undefined) return []
  const { of, ...asked } = task_asked.event.asking
  const verb = isAsking(task) ? 'asks' : 'asked'
  return lines(`${verb}${of === 'operator' ? ' you' : ''}: ${questionText(asked)}`)
}

/** A task that no call has started: of an operator, or a child's. */
export function taskEntry(group: Group, _sight: Sight, level: Level): Entry | null {
  const queued = group.heard.task_queued?.event
  if (queued === undefined) return null
  return entry(group, 'task', {
    ...stateOfTask(group),
    who: line('task'),
    title: line(queued.cmd === null ? queued.label : oneCommand(queued.cmd)),
    subject: { noun: 'task', id: group.id },
    cli: line(`holon tasks output ${group.id}`),
    body: [
      ...asked(group),
      ...(level === 3 ? [line(`${group.id}  seq ${group.seq}  in ${queued.workdir}`)] : []),
    ],
  })
}
