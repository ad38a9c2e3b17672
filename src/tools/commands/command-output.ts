/**
 * A command's output as a result shows it: whole when it fits, else the head and the tail of each
 * stream with a line that says what is missing and where the whole is. Never more than asked for in
 * memory, however much was written.
 */
import type { TaskId } from '../../domain/ids.ts'
import type { OutputSize, TaskProcess } from '../../exec/ports.ts'
import { sha256 } from '../tool/sha256.ts'
import { terminalText } from './terminal-text.ts'
import type { ToolContext } from '../tool/tool.ts'

/** Bytes of output per token of the limit: low, so that what is cut here is not cut again. */
const BYTES_PER_TOKEN = 3

type Stream = 'stdout' | 'stderr'

export type CommandOutput = {
  stdout: string
  stderr: string
  bytes: OutputSize
  /** Where each stream is whole; null when nothing was cut. */
  full_output: { stdout: string; stderr: string } | null
}

export const bytesOfTokens = (tokens: number): number => tokens * BYTES_PER_TOKEN

export const outputFiles = (ctx: ToolContext, id: TaskId) => ({
  stdout: `${ctx.taskFolder(id)}/stdout`,
  stderr: `${ctx.taskFolder(id)}/stderr`,
})

export const sizeOf = (process: TaskProcess): OutputSize =>
  process.state === 'absent' ? { stdout_bytes: 0, stderr_bytes: 0 } : process.output

export const totalBytes = (size: OutputSize): number => size.stdout_bytes + size.stderr_bytes

/** Both streams within `max_bytes` together: each has at least half, or what the other leaves. */
export async function readOutput(
  ctx: ToolContext,
  id: TaskId,
  process: TaskProcess,
  max_bytes: number,
): Promise<CommandOutput> {
  const bytes = sizeOf(process)
  const half = Math.floor(max_bytes / 2)
  const forStdout = Math.max(half, max_bytes - bytes.stderr_bytes)
  const forStderr = Math.max(half, max_bytes - bytes.stdout_bytes)
  const [stdout, stderr] = await Promise.all([
    readStream(ctx, id, 'stdout', bytes.stdout_bytes, forStdout),
    readStream(ctx, id, 'stderr', bytes.stderr_bytes, forStderr),
  ])
  const cut = bytes.stdout_bytes > forStdout || bytes.stderr_bytes > forStderr
  return { stdout, stderr, bytes, full_output: cut ? outputFiles(ctx, id) : null }
}

async function readStream(
  ctx: ToolContext,
  id: TaskId,
  stream: Stream,
  size: number,
  max_bytes: number,
): Promise<string> {
  if (size === 0) return ''
  const inTerminal = ctx.processes.stdin_of(id) === 'terminal'
  const read = async (max: number, tail: boolean) => {
    const found = await ctx.processes.output(id, { stream, max_bytes: Math.max(4, max), tail })
    return inTerminal ? { ...found, text: terminalText(found.text) } : found
  }
  if (size <= max_bytes) return (await read(max_bytes, false)).text
  const part = Math.floor(max_bytes / 2)
  const [head, tail] = await Promise.all([read(part, false), read(part, true)])
  const missing = Math.max(0, size - head.bytes - tail.bytes)
  const where = outputFiles(ctx, id)[stream]
  const line = `[… ${missing} of ${size} bytes left out; the whole is in ${where} …]`
  return `${upToLine(head.text)}\n${line}\n${fromLine(tail.text)}`
}

export type Streams = Record<Stream, string>

/** What each stream got behind `from`, its first `max_bytes`: TaskOutput shows the rest. */
export async function outputSince(
  ctx: ToolContext,
  id: TaskId,
  from: OutputSize,
  max_bytes: number,
): Promise<Streams> {
  const inTerminal = ctx.processes.stdin_of(id) === 'terminal'
  const read = async (stream: Stream) => {
    const at = from[`${stream}_bytes`]
    const { text } = await ctx.processes.output(id, { stream, from: at, max_bytes })
    return inTerminal ? terminalText(text) : text
  }
  const [stdout, stderr] = await Promise.all([read('stdout'), read('stderr')])
  return { stdout, stderr }
}

/** Whole lines where the text has any: a cut inside a line reads as something it is not. */
const upToLine = (text: string): string => {
  const end = text.lastIndexOf('\n')
  return end > text.length / 2 ? text.slice(0, end) : text
}

const fromLine = (text: string): string => {
  const start = text.indexOf('\n') + 1
  return start > 0 && start < text.length / 2 ? text.slice(start) : text
}

/** The streams as a result shows them; the paths only when something was left out. */
export const streamsOf = (output: CommandOutput) => ({
  stdout: output.stdout,
  stderr: output.stderr,
  ...(output.full_output === null ? {} : { full_output: output.full_output }),
})

/** Both streams in one text, for a handle or a message: what is not stdout is labelled. */
export const asOneText = (output: CommandOutput): string =>
  output.stderr === '' ? output.stdout : `${output.stdout}\n[stderr]\n${output.stderr}`.trimStart()

/** Identity of a command and what came back, whole output included, for the progress rule. */
export async function resultHash(
  ctx: ToolContext,
  command: { task_id: TaskId; cmd: string; workdir: string },
  exit_status: number | null,
  output: CommandOutput,
): Promise<string> {
  const files = outputFiles(ctx, command.task_id)
  const hashOf = async (stream: Stream) =>
    output.full_output === null
      ? sha256(output[stream])
      : (await ctx.files.hash(files[stream])).sha256
  const [stdout, stderr] = [await hashOf('stdout'), await hashOf('stderr')]
  return sha256(JSON.stringify([command.cmd, command.workdir, exit_status, stdout, stderr]))
}
