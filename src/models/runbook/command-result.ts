/**
 * What a call's result says about a command: ended with a status, running in the background,
 * unknown, or failed without one. Reads results of ExecCommand and TaskOutput. Pure.
 */
import type { ToolResult } from '../../domain/state/call.ts'

export type CommandSeen =
  | { kind: 'ended'; exit_status: number; output: string }
  /** The result's own task id, when it names one. */
  | { kind: 'running'; task_id: string | null }
  /** It ended without an exit status: it never started, was stopped, ran out of time. */
  | { kind: 'failed'; why: string; output: string }
  | { kind: 'unknown'; why: string }
  /** It never began and never will. */
  | { kind: 'not_begun' }

/** Characters and lines of output kept: a reason in a list, not a log. */
const keptChars = 1_200
const keptLines = 12

export function commandSeen(result: ToolResult): CommandSeen {
  if (result.status === 'error') {
    const { kind, message, detail } = result.error
    if (kind === 'not_executed') return { kind: 'not_begun' }
    if (kind === 'outcome_unknown') return { kind: 'unknown', why: message }
    return { kind: 'failed', why: message, output: outputOf(fieldsOf(detail)) }
  }
  const fields = fieldsOf(result.result)
  const task = { ...fields, ...fieldsOf(fields['task_handle']) }
  const task_id = typeof task['task_id'] === 'string' ? task['task_id'] : null
  const { status, exit_status } = task
  if (status === 'queued' || status === 'running' || status === 'cancelling') {
    return { kind: 'running', task_id }
  }
  const why = typeof task['reason'] === 'string' ? `: ${task['reason']}` : ''
  if (status === 'interrupted') return { kind: 'unknown', why: `its end is not on record${why}` }
  if (status === 'cancelled') {
    return { kind: 'failed', why: `it was stopped${why}`, output: outputOf(task) }
  }
  if (status !== 'failed' && typeof exit_status === 'number') {
    return { kind: 'ended', exit_status, output: outputOf(task) }
  }
  return { kind: 'failed', why: `it failed${why}`, output: outputOf(task) }
}

/** Both streams, stdout first: the last lines of what was said. */
function outputOf(fields: Record<string, unknown>): string {
  const texts = ['stdout', 'stderr'].map((name) => fields[name])
  const said = texts.filter((text) => typeof text === 'string')
  return lastLines(said.map((text) => text.trimEnd()).join('\n'))
}

function lastLines(text: string): string {
  const lines = text
    .split(/\r\n|\n|\r/)
    .map(plain)
    .filter((line) => line.trim() !== '')
  const tail = lines.slice(-keptLines).join('\n')
  return tail.length <= keptChars ? tail : `…${tail.slice(1 - keptChars)}`
}

const colours = new RegExp(`${String.fromCharCode(27)}\\[[\\d;?]*[A-Za-z]`, 'g')

/** Terminal colours and control characters are for the command's own screen. */
const plain = (line: string): string =>
  line
    .replaceAll(colours, '')
    .replaceAll('\t', ' ')
    .replaceAll(/\p{Cc}/gu, '')

/** The last line with words of a kept output; empty when there was none. */
export const lastLine = (output: string): string =>
  output.slice(output.lastIndexOf('\n') + 1).trim()

export const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
