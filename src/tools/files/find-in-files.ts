/**
 * FindInFiles: lines that have a text, or files whose name fits, below one folder. Plain text and
 * `*` only: a pattern language of a model's choosing could take for ever. Every folder and file is
 * opened under the agent's roots as the other file tools do, so a link leads nowhere.
 */
import { join, relative } from 'node:path'
import { z } from 'zod'
import type { ToolResult, Warning } from '../../domain/state/call.ts'
import { limits } from '../../domain/limits.ts'
import { isFileFault } from '../tool/faults.ts'
import { asResult, inWorkdir, openOrList, textOf, ToolRefusal, type Folder } from './file-access.ts'
import {
  failed,
  nothingNew,
  pureTool,
  succeeded,
  type EffectOutcome,
  type ToolContext,
} from '../tool/tool.ts'

const NAME = 'FindInFiles'
/** Lines or files shown when a call does not say how many. */
const FOUND_DEFAULT = 100
/** Files looked at in one call: more is a search for a command. */
const FILES_MAX = 10_000
/** Bytes of one file: larger ones are data. */
const BYTES_MAX = 2 * 1024 * 1024
/** Folders below each other. */
const DEPTH_MAX = 32
/** Milliseconds a call looks: what it has found by then is the answer. */
const LOOK_MS = 20_000
/** Characters of a line that are shown, around what was found. */
const LINE_CHARS = 200

const leftOut = new Set(['.git', 'node_modules'])

const input = () =>
  z.strictObject({
    query: z.string().min(1).max(limits.search_query.value).optional(),
    path: z.string().min(1).optional(),
    glob: z.string().min(1).max(limits.search_query.value).optional(),
    limit: z.int().min(1).max(1_000).optional().describe(`Default ${FOUND_DEFAULT}.`),
  })
type Input = z.infer<ReturnType<typeof input>>

export const findInFiles = pureTool<Input>({
  name: NAME,
  input,
  title: ({ query, glob }) => query ?? glob ?? '',
  run: find,
})

type Search = {
  given: Input
  root: string
  most: number
  until: number
  lines: string[]
  files: number
  stopped: Stop | null
}

/** Why it did not look at all there is: what was asked for is found, or it was not let. */
type Stop = { how: 'full' | 'bound' | 'aborted'; why: string; on: string }

async function find(given: Input, ctx: ToolContext): Promise<EffectOutcome> {
  if (given.query === undefined && given.glob === undefined) {
    const message = 'Neither query nor glob is given.'
    const result = failed(NAME, 'invalid_input', 'missing_field', message, 'Give one of them.')
    return { result, ...nothingNew }
  }
  const found = await asResult(NAME, ctx, () => search(given, ctx))
  return { result: found.ok ? told(found.value) : found.result, ...nothingNew }
}

async function search(given: Input, ctx: ToolContext): Promise<Search> {
  const start = inWorkdir(ctx, given.path ?? '.')
  const folder = await folderAt(ctx, start)
  if (folder === null) {
    const hint = 'Name the folder to look in; ReadFile reads one file.'
    throw new ToolRefusal(failed(NAME, 'rejected', 'not_a_folder', `${start} is no folder.`, hint))
  }
  const run: Search = {
    given,
    root: folder.path,
    most: given.limit ?? FOUND_DEFAULT,
    until: ctx.monotonic() + LOOK_MS,
    lines: [],
    files: 0,
    stopped: null,
  }
  await lookIn(run, folder, 0, ctx)
  return run
}

/** Null: a file has that name. */
async function folderAt(ctx: ToolContext, path: string): Promise<Folder | null> {
  const opened = await openOrList(ctx, path)
  if ('entries' in opened) return opened
  await opened.close()
  return null
}

/** Files first, then folders, each by name: what lies near is found first. */
async function lookIn(run: Search, folder: Folder, depth: number, ctx: ToolContext): Promise<void> {
  for (const { name, kind } of folder.entries) {
    if (kind !== 'file') continue
    run.stopped ??= whyStop(run, ctx)
    if (run.stopped !== null) return
    await lookAt(run, join(folder.path, name), ctx)
  }
  for (const { name, kind } of folder.entries) {
    if (kind !== 'folder' || leftOut.has(name)) continue
    if (run.stopped !== null) return
    if (depth === DEPTH_MAX) continue
    const path = join(folder.path, name)
    const inner = await allowed(() => folderAt(ctx, path))
    // Elsewhere by now: a link was put in its place.
    if (inner?.path === path) await lookIn(run, inner, depth + 1, ctx)
  }
}

function whyStop(run: Search, ctx: ToolContext): Stop | null {
  const below = 'Name a folder below.'
  if (run.lines.length >= run.most) {
    return { how: 'full', why: `${run.most} were found`, on: 'A higher limit shows more.' }
  }
  if (run.files >= FILES_MAX) {
    return { how: 'bound', why: `${FILES_MAX} files were looked at`, on: below }
  }
  if (ctx.monotonic() > run.until) {
    return { how: 'bound', why: `${LOOK_MS / 1_000} s were over`, on: below }
  }
  if (ctx.signal.aborted || ctx.closing.aborted) {
    return { how: 'aborted', why: 'it was aborted', on: 'Look again if it is still wanted.' }
  }
  return null
}

async function lookAt(run: Search, path: string, ctx: ToolContext): Promise<void> {
  const { query, glob } = run.given
  const shown = relative(run.root, path)
  if (glob !== undefined && !fits(glob, shown)) return
  run.files += 1
  if (query === undefined) {
    run.lines.push(shown)
    return
  }
  const text = await allowed(() => readText(ctx, path))
  if (text === null) return
  const wanted = query.toLowerCase()
  for (const [i, line] of text.split('\n').entries()) {
    const at = line.toLowerCase().indexOf(wanted)
    if (at < 0) continue
    run.lines.push(`${shown}:${i + 1}: ${around(line, at)}`)
    if (run.lines.length >= run.most) return
  }
}

async function readText(ctx: ToolContext, path: string): Promise<string | null> {
  const opened = await ctx.open(path, 'read')
  try {
    return textOf(NAME, await opened.read(BYTES_MAX))
  } finally {
    await opened.close()
  }
}

/** Null: not for this agent, or no text, or gone; the search goes on with the next. */
async function allowed<T>(read: () => Promise<T | null>): Promise<T | null> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ToolRefusal || isFileFault(error)) return null
    throw error
  }
}

function around(line: string, at: number): string {
  const text = line.trimEnd()
  if (text.length <= LINE_CHARS) return text.trimStart()
  const from = Math.max(0, at - LINE_CHARS / 2)
  return `${from > 0 ? '…' : ''}${text.slice(from, from + LINE_CHARS)}…`.toWellFormed()
}

/** That not all was looked at stands in the one line that is left of a result after a recap. */
function told({ given, lines, files, stopped, root }: Search): ToolResult {
  const what = given.query === undefined ? 'file' : 'line'
  const count = `${lines.length} ${what}${lines.length === 1 ? '' : 's'}`
  const looked = `below ${root}, ${files} files looked at`
  if (stopped === null) {
    return succeeded(NAME, `${count} found ${looked}`, resultOf(root, lines, files))
  }
  const { how, why, on } = stopped
  const message = `The search stopped (${why}): ${count} found ${looked}.`
  if (how === 'aborted') return failed(NAME, 'aborted', 'search_stopped', message, on)
  if (lines.length === 0) return failed(NAME, 'timeout', 'search_stopped', message, on)
  const warnings: Warning[] = [{ kind: 'incomplete', message: `The search stopped: ${why}. ${on}` }]
  const summary = `the first ${count} found ${looked}: it stopped, ${why}`
  return succeeded(NAME, summary, resultOf(root, lines, files), warnings)
}

const resultOf = (path: string, lines: readonly string[], files: number) => ({
  path,
  text: lines.join('\n'),
  files,
})

/**
 * Whether a path fits a pattern of `*` (anything) and `?` (one character). One without a slash is
 * about the name alone. Linear in both but for the last `*`, which is tried again at each place.
 */
export function fits(glob: string, path: string): boolean {
  const text = glob.includes('/') ? path : path.slice(path.lastIndexOf('/') + 1)
  let [g, t] = [0, 0]
  let [star, from] = [-1, 0]
  while (t < text.length) {
    if (glob[g] === '*') {
      star = g++
      from = t
    } else if (g < glob.length && (glob[g] === '?' || glob[g] === text[t])) {
      g++
      t++
    } else if (star >= 0) {
      g = star + 1
      t = ++from
    } else return false
  }
  while (glob[g] === '*') g++
  return g === glob.length
}
