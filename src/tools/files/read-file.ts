/**
 * ReadFile: lines of a text file, numbered, within a bound that says where to go on; of a folder
 * what is in it.
 */
import { z } from 'zod'
import { limits } from '../../domain/limits.ts'
import { bytesOfTokens } from '../commands/command-output.ts'
import { asResult, entryName, inWorkdir, openOrList, textOf, type Folder } from './file-access.ts'
import {
  failed,
  nothingNew,
  pureTool,
  succeeded,
  type EffectOutcome,
  type ToolContext,
} from '../tool/tool.ts'

const NAME = 'ReadFile'
const LINES_DEFAULT = 2_000
/** Entries of a folder, and how many a call may ask for. */
const ENTRIES_DEFAULT = 200
const ENTRIES_MAX = 2_000
/** Characters of one line that are shown: minified files have lines without end. */
const LINE_CHARS = 2_000

const input = () =>
  z.strictObject({
    path: z.string().min(1),
    offset: z.int().min(1).optional().describe('First line, from 1.'),
    limit: z.int().min(1).optional().describe(`Lines; default ${LINES_DEFAULT}.`),
  })
type Input = z.infer<ReturnType<typeof input>>

export const readFile = pureTool<Input>({
  name: NAME,
  input,
  title: ({ path }) => path,
  run: read,
})

async function read(given: Input, ctx: ToolContext): Promise<EffectOutcome> {
  const found = await asResult(NAME, ctx, () => look(inWorkdir(ctx, given.path), ctx))
  const result = !found.ok
    ? found.result
    : 'entries' in found.value
      ? listing(given, found.value)
      : show(given, found.value)
  return { result, ...nothingNew }
}

async function look(path: string, ctx: ToolContext) {
  const opened = await openOrList(ctx, path)
  if ('entries' in opened) return opened
  try {
    const found = await opened.read()
    return { path: opened.path, bytes: found.size, text: textOf(NAME, found) }
  } finally {
    await opened.close()
  }
}

/** What is in a folder, a line each, folders with a slash. */
function listing(given: Input, { path, entries }: Folder) {
  const first = given.offset ?? 1
  const most = Math.min(given.limit ?? ENTRIES_DEFAULT, ENTRIES_MAX)
  const shown = entries.slice(first - 1, first - 1 + most)
  const next = first + shown.length
  const count = entries.length === 1 ? '1 entry' : `${entries.length} entries`
  return succeeded(
    NAME,
    entries.length === 0 ? `${path} is an empty folder` : `${path}, ${count}`,
    {
      path,
      total_entries: entries.length,
      text: shown.map(entryName).join('\n'),
      ...(next <= entries.length ? { next_offset: next } : {}),
    },
  )
}

function show(given: Input, file: { path: string; bytes: number; text: string }) {
  const lines = linesOf(file.text)
  const first = given.offset ?? 1
  if (first > Math.max(1, lines.length)) {
    const message = `${file.path} has ${lines.length} lines; there is no line ${first}.`
    return failed(NAME, 'rejected', 'no_such_line', message, 'Begin at an earlier line.')
  }
  const shown = numbered(lines, first, given.limit ?? LINES_DEFAULT)
  const last = first + shown.length - 1
  const rest = lines.length - last
  const where = `${file.path}, ${lines.length} lines`
  return succeeded(NAME, lines.length === 0 ? `${file.path} is empty` : where, {
    path: file.path,
    total_lines: lines.length,
    bytes: file.bytes,
    first_line: first,
    last_line: last,
    text: shown.join('\n'),
    ...(rest > 0 ? { next_offset: last + 1 } : {}),
  })
}

/** A line end at the very end of the file begins no further line. */
function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** At least one line, then as many as the bound allows. */
function numbered(lines: readonly string[], first: number, limit: number): string[] {
  const budget = bytesOfTokens(limits.result_tokens.value)
  const shown: string[] = []
  let used = 0
  for (let at = first - 1; at < lines.length && shown.length < limit; at++) {
    const line = lines[at]?.replace(/\r$/, '') ?? ''
    const over = line.length - LINE_CHARS
    const cut = over > 0 ? `${line.slice(0, LINE_CHARS)} [… ${over} characters more]` : line
    const text = `${at + 1}\t${cut}`
    used += Buffer.byteLength(text) + 1
    if (used > budget && shown.length > 0) break
    shown.push(text)
  }
  return shown
}
