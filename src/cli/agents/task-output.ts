/** `holon tasks output`: what a command wrote, or what a child has told, as it is now. */
import { isHeld, type Task } from '../../protocol/records/records.ts'
import { safeLines } from '../../present/text/safe.ts'
import { clock } from '../../present/text/span.ts'
import { printJson, printLines, reading, zoneOf, type Context } from '../command/context.ts'
import { exits, usage, type Exit } from '../command/failure.ts'
import type { HomeReader } from '../command/ports.ts'
import { answerLine, taskOf } from './tasks.ts'

export type OutputOptions = { stream?: string; tail?: string }

/** Bytes of a stream, and reports of a child, that are shown at most. */
const mostOutput = 32 * 1024 * 1024
const mostBriefs = 1_000

type Stream = 'stdout' | 'stderr'
const streams: readonly Stream[] = ['stdout', 'stderr']

/**
 * The output itself: as it is into a pipe, made visible on a terminal. Output of a task is foreign
 * text, and a terminal would obey it.
 */
export function taskOutput(context: Context, text: string, options: OutputOptions): Promise<Exit> {
  const wanted = streamsOf(options.stream)
  const tail = tailOf(options.tail)
  return reading(context, async (reader) => {
    const task = await taskOf(context, reader, text)
    if (isHeld(task)) {
      const why = `${text} has not begun: it waits for your answer`
      throw usage('not_begun', why, answerLine(context.ids.short(task.id)))
    }
    if (task.child_agent_id !== null) {
      return words(context, reader, task, task.child_agent_id, tail)
    }
    const read = await Promise.all(
      wanted.map((stream) => context.ports.read_text(`${task.output.path}/${stream}`, mostOutput)),
    )
    const texts = read.map((one) => (one.ok ? lastLines(one.text, tail) : null))
    if (texts.every((one) => one === null)) {
      const why = read[0]?.ok === false ? read[0].why : 'not_found'
      if (why === 'not_found') {
        const hint = `holon tasks show ${text} has how it ended`
        throw usage('no_output', `the output of ${text} is not there any more`, hint)
      }
      throw usage('no_output', `the output of ${text} cannot be read (${why})`, 'see its folder')
    }
    if (context.flags.json === true) {
      const named = wanted.map((stream, at) => [stream, texts[at] ?? ''] as const)
      printJson(context, { task_id: task.id, ...Object.fromEntries(named) })
      return exits.done
    }
    const whole = texts.map((one) => one ?? '').join('')
    if (context.ports.terminal.stdout) printLines(context, safeLines(whole.replace(/\n$/, '')))
    else context.ports.out(whole)
    return exits.done
  })
}

function streamsOf(name: string | undefined): readonly Stream[] {
  const found = streams.filter((one) => name === undefined || one === name)
  if (found.length > 0) return found
  throw usage('bad_stream', `there is no stream "${name}"`, 'there are stdout and stderr')
}

function tailOf(text: string | undefined): number | null {
  if (text === undefined) return null
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw usage('bad_number', `--tail ${text} is not a whole number from 1 on`, 'give a count')
}

/** The last lines, with the break at the end that the last one has or has not. */
function lastLines(text: string, tail: number | null): string {
  if (tail === null) return text
  const end = text.endsWith('\n') ? '\n' : ''
  const lines = text.slice(0, text.length - end.length).split('\n')
  return lines.slice(-tail).join('\n') + end
}

/** A child has no streams: it reports, replies and asks. */
async function words(
  context: Context,
  reader: HomeReader,
  task: Task,
  child: string,
  tail: number | null,
): Promise<Exit> {
  const limit = Math.min(tail ?? mostBriefs, mostBriefs)
  const briefs = await reader.list('briefs', { agent_id: child, limit })
  if (context.flags.json === true) {
    printJson(context, { task_id: task.id, briefs })
    return exits.done
  }
  const zone = zoneOf(context)
  const lines = briefs.flatMap(({ kind, text, created_at }) => [
    `${clock(created_at, zone)}  ${kind}`,
    ...safeLines(context.ids.within(text.trim())).map((line) => `  ${line}`.trimEnd()),
  ])
  printLines(context, lines.length === 0 ? [`${child} has told nothing yet`] : lines)
  return exits.done
}
