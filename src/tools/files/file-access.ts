/**
 * How the file tools reach a file: by a path relative to the working folder, under the agent's
 * roots, as text. What cannot be had is a result that says why and what to do, never a crash.
 */
import { imageHead, imageKind } from '../../domain/image.ts'
import { resolve } from 'node:path'
import type { ToolResult } from '../../domain/state/call.ts'
import type { FileFault } from '../../exec/files/file-fault.ts'
import type { FileEntry, FileRead, OpenedPath } from '../../exec/ports.ts'
import { isFileFault } from '../tool/faults.ts'
import { failed, type ToolContext } from '../tool/tool.ts'

/** What the tools need to reach a file that they change. */
export type FileContext = Pick<ToolContext, 'open' | 'workdir' | 'agent_home'>

/** A file as text, under its real path; all else is null when there is none. */
export type TextFile = {
  path: string
  text: string | null
  sha256: string | null
  mode: number | null
}

/** A refusal on its way to the model; thrown only inside this room, caught by `asResult`. */
export class ToolRefusal extends Error {
  readonly result: ToolResult
  constructor(result: ToolResult) {
    super(result.summary)
    this.result = result
  }
}

/**
 * Where a path leads that a model wrote: in the working folder, but for `memory/…`, which is the
 * agent's own memory in whatever folder it works. `./memory/…` is the working folder's.
 */
export const inWorkdir = (
  { workdir, agent_home }: Pick<FileContext, 'workdir' | 'agent_home'>,
  path: string,
): string => resolve(/^memory(\/|$)/.test(path) ? agent_home : workdir, path)

/** Runs `act`; faults of files and refusals become results of `tool_name`. */
export async function asResult<T>(
  tool_name: string,
  ctx: FileContext,
  act: () => Promise<T>,
): Promise<{ ok: true; value: T } | { ok: false; result: ToolResult }> {
  try {
    return { ok: true, value: await act() }
  } catch (error) {
    if (error instanceof ToolRefusal) return { ok: false, result: error.result }
    if (isFileFault(error)) return { ok: false, result: await told(tool_name, ctx, error) }
    throw error
  }
}

const lookAt = 'ViewImage shows it, where your model takes images.'

/** The bytes as text, to the byte (a byte order mark stays); refused when they are not UTF-8. */
export function textOf(tool_name: string, file: FileRead): string {
  const head = imageHead(file.bytes)
  if (head !== null) {
    const message = `${file.path} is an image (${imageKind(head)}).`
    throw new ToolRefusal(failed(tool_name, 'rejected', 'binary_file', message, lookAt))
  }
  if (file.bytes.includes(0)) {
    const hint = 'Look at it with a command: file, xxd or strings.'
    const message = `${file.path} is a binary file.`
    throw new ToolRefusal(failed(tool_name, 'rejected', 'binary_file', message, hint))
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(file.bytes)
  } catch {
    const message = `${file.path} is not UTF-8 text.`
    const hint = 'Convert it with a command (iconv), or look at it with file or xxd.'
    throw new ToolRefusal(failed(tool_name, 'rejected', 'not_utf8', message, hint))
  }
}

export const noText = (path: string): TextFile => ({
  path,
  text: null,
  sha256: null,
  mode: null,
})

/** A file that is about to be changed. Makes nothing; throws `FileFault` and `ToolRefusal`. */
export async function readToChange(
  tool_name: string,
  ctx: FileContext,
  path: string,
): Promise<TextFile> {
  const plain = inWorkdir(ctx, path)
  if (!(await canBeOpened(ctx, plain))) return noText(plain)
  // Only now for writing: on a missing file that would already make its folders.
  const opened = await ctx.open(plain, 'write')
  try {
    const file = await opened.read()
    const { sha256, mode } = file
    return { path: opened.path, text: textOf(tool_name, file), sha256, mode }
  } finally {
    await opened.close()
  }
}

async function canBeOpened(ctx: FileContext, path: string): Promise<boolean> {
  try {
    await (await ctx.open(path, 'read')).close()
    return true
  } catch (error) {
    if (isFileFault(error) && error.code === 'not_found') return false
    throw error
  }
}

async function told(tool_name: string, ctx: FileContext, fault: FileFault): Promise<ToolResult> {
  const refuse = (code: string, hint: string) =>
    failed(tool_name, 'rejected', code, `${fault.message}.`, hint)
  switch (fault.code) {
    case 'not_found':
      return refuse('file_not_found', `Relative paths begin in ${ctx.workdir}; check it with ls.`)
    case 'is_folder':
      return refuse('is_folder', 'ReadFile lists what is in it.')
    case 'not_regular':
      return refuse('not_regular', 'Only regular files are read and written.')
    case 'denied':
      return refuse('path_denied', 'Work on files under the workspace or your own agent folder.')
    case 'read_only':
      return refuse('read_only', 'Choose another place; this file system cannot be written.')
    case 'too_large':
      return refuse('too_large', 'Take the part you need with a command: sed -n, tail -c, rg.')
    case 'disk_full':
    case 'scarce':
    case 'io': {
      const retryable = fault.retry !== 'never'
      const hint = 'Nothing was changed. Try again later.'
      return failed(tool_name, 'fault', fault.code, `${fault.message}.`, hint, { retryable })
    }
  }
}

/** A folder under its real path, with what is in it. */
export type Folder = { path: string; entries: readonly FileEntry[] }

/**
 * A file to read, or what is in the folder of that name. A folder is judged before it is found to
 * be one, so its names may be told. Throws `FileFault` where this agent may not look.
 */
export async function openOrList(ctx: ToolContext, path: string): Promise<OpenedPath | Folder> {
  try {
    return await ctx.open(path, 'read')
  } catch (error) {
    if (!isFileFault(error) || error.code !== 'is_folder') throw error
    return { path: error.path, entries: await ctx.files.list(error.path) }
  }
}

/** A folder is marked by a slash at its end. */
export const entryName = ({ name, kind }: FileEntry): string =>
  kind === 'folder' ? `${name}/` : name
