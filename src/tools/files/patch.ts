/**
 * A unified diff applied to texts, as the ApplyPatch tool does it: all or nothing over several
 * files. Pure: the caller says what the files hold and writes what comes out. Context must match
 * exactly (another line number is fine); line ends and a byte order mark of the file are kept.
 */
import { createHash } from 'node:crypto'
import { applyPatch, parsePatch, type StructuredPatch } from 'diff'

export type PatchRejectionCode =
  | 'not_a_patch'
  | 'unsupported'
  | 'file_missing'
  | 'file_exists'
  | 'hunk_mismatch'
  | 'delete_mismatch'

/** `hunk` is 1-based within its file; both are null where the patch as a whole is meant. */
export type PatchRejection = {
  code: PatchRejectionCode
  path: string | null
  hunk: number | null
  message: string
  hint: string
}

/** Paths are as the patch writes them, without git's `a/` and `b/`; hashes are of the UTF-8. */
export type FileChange =
  | { kind: 'create'; path: string; after: string; after_sha256: string }
  | { kind: 'modify'; path: string; before_sha256: string; after: string; after_sha256: string }
  | { kind: 'delete'; path: string; before_sha256: string }
  | {
      kind: 'rename'
      from: string
      path: string
      before_sha256: string
      after: string
      after_sha256: string
    }

export type ParsedPatch = { ok: true; patch: Patch } | { ok: false; rejection: PatchRejection }
export type AppliedPatch =
  | { ok: true; changes: FileChange[] }
  | { ok: false; rejection: PatchRejection }

/** `paths`: every file the patch reads or writes, whose content `applyDiff` wants to know. */
export type Patch = { paths: readonly string[]; files: readonly FilePatch[] }
type FilePatch = { from: string | null; to: string | null; parsed: StructuredPatch }

export function parseDiff(text: string): ParsedPatch {
  const parsed = parseTolerant(text)
  if (typeof parsed === 'string') {
    const hint = 'Write a unified diff: --- and +++ lines, then @@ hunks with exact context.'
    return refuse('not_a_patch', null, null, parsed, hint)
  }
  const files: FilePatch[] = []
  for (const one of parsed) {
    const { from, to } = namesOf(one)
    const path = to ?? from
    if (path === null) {
      const hint = 'Begin each file with --- and +++ lines that name it.'
      return refuse('not_a_patch', null, null, 'a hunk belongs to no file', hint)
    }
    const odd = one.isBinary ? 'a binary change' : one.isCopy ? 'a copy' : modeChange(one)
    if (odd) {
      const hint = 'Use a command for that; this tool changes text.'
      return refuse('unsupported', path, null, `${path}: the patch holds ${odd}`, hint)
    }
    files.push({ from, to, parsed: one })
  }
  const paths = [...new Set(files.flatMap(({ from, to }) => [from, to].filter((p) => p !== null)))]
  return { ok: true, patch: { paths, files } }
}

/**
 * Applies the patch to `contents`: the text of each of its paths, null for a file that does not
 * exist. Files are taken in order, so a patch may touch one file twice.
 */
export function applyDiff(
  patch: Patch,
  contents: ReadonlyMap<string, string | null>,
): AppliedPatch {
  const texts = new Map(contents)
  const movedFrom = new Map<string, string>()
  for (const { from, to, parsed } of patch.files) {
    const outcome = applyFile(from, to, parsed, texts)
    if (outcome !== null) return { ok: false, rejection: outcome }
    if (from !== null && to !== null && from !== to) {
      movedFrom.set(to, movedFrom.get(from) ?? from)
      movedFrom.delete(from)
    }
  }
  return { ok: true, changes: changesOf(patch, contents, texts, movedFrom) }
}

/** Changes `texts`, or says why not. */
function applyFile(
  from: string | null,
  to: string | null,
  parsed: StructuredPatch,
  texts: Map<string, string | null>,
): PatchRejection | null {
  const before = from === null ? '' : (texts.get(from) ?? null)
  if (before === null) {
    const hint = 'Check the path; use --- /dev/null to create a file.'
    return rejection('file_missing', from, null, `${from}: there is no such file`, hint)
  }
  if (to !== null && to !== from && (texts.get(to) ?? null) !== null) {
    const hint = 'Change it with a patch that names it on both lines, or choose another path.'
    return rejection('file_exists', to, null, `${to}: the file exists already`, hint)
  }
  const mark = before.startsWith('\uFEFF') ? '\uFEFF' : ''
  const text = before.slice(mark.length)
  const after = applyPatch(text, parsed)
  if (after === false) return mismatch(to ?? from, text, parsed)
  if (to === null && after !== '' && parsed.hunks.length > 0) {
    const message = `${from}: the deletion does not cover the whole file`
    const hint = 'Remove every line, or change the file instead of deleting it.'
    return rejection('delete_mismatch', from, null, message, hint)
  }
  if (from !== null && from !== to) texts.set(from, null)
  if (to !== null) texts.set(to, mark + after)
  return null
}

/** Finds the first hunk that does not fit, by applying one more at a time. */
function mismatch(path: string | null, text: string, parsed: StructuredPatch): PatchRejection {
  const fits = (count: number) =>
    applyPatch(text, { ...parsed, hunks: parsed.hunks.slice(0, count) }) !== false
  let hunk = 1
  while (hunk < parsed.hunks.length && fits(hunk)) hunk++
  const at = parsed.hunks[hunk - 1]
  const total = parsed.hunks.length
  const message = `${path}: hunk ${hunk} of ${total} (line ${at?.oldStart}) does not match the file`
  const hint = 'Read the file again and copy the context lines exactly; nothing was changed.'
  return rejection('hunk_mismatch', path, hunk, message, hint)
}

/** What differs between before and after, one change per path, in the order of the patch. */
function changesOf(
  patch: Patch,
  before: ReadonlyMap<string, string | null>,
  after: ReadonlyMap<string, string | null>,
  movedFrom: ReadonlyMap<string, string>,
): FileChange[] {
  const renamed = new Set(movedFrom.values())
  return patch.paths.flatMap((path): FileChange[] => {
    const [old, now] = [before.get(path) ?? null, after.get(path) ?? null]
    const from = movedFrom.get(path)
    if (now !== null) {
      const news = { path, after: now, after_sha256: sha256(now) }
      const source = from === undefined ? null : (before.get(from) ?? null)
      const gone = from !== undefined && (after.get(from) ?? null) === null
      if (from !== undefined && source !== null && gone && old === null) {
        return [{ kind: 'rename', from, before_sha256: sha256(source), ...news }]
      }
      if (old === null) return [{ kind: 'create', ...news }]
      return old === now ? [] : [{ kind: 'modify', before_sha256: sha256(old), ...news }]
    }
    if (old === null || renamed.has(path)) return []
    return [{ kind: 'delete', path, before_sha256: sha256(old) }]
  })
}

function namesOf(one: StructuredPatch): { from: string | null; to: string | null } {
  const [old, now] = [one.oldFileName, one.newFileName]
  const prefixed = (name: string | undefined, prefix: string) =>
    name === undefined || name === '/dev/null' || name.startsWith(prefix)
  const strip = prefixed(old, 'a/') && prefixed(now, 'b/')
  const name = (text: string | undefined) => {
    if (text === undefined || text === '' || text === '/dev/null') return null
    return strip ? text.slice(2) : text
  }
  return { from: one.isCreate ? null : name(old), to: one.isDelete ? null : name(now) }
}

function modeChange(one: StructuredPatch): string | null {
  if (one.hunks.length > 0 || one.isCreate || one.isDelete || one.isRename) return null
  return one.newMode ? 'only a change of mode' : 'a file without hunks'
}

/** The parsed patch, or why it is none. Wrong line counts in hunk headers are put right first. */
function parseTolerant(text: string): StructuredPatch[] | string {
  const attempts = [text, recount(text)]
  let problem = 'the patch is empty'
  for (const attempt of attempts) {
    try {
      const parsed = parsePatch(attempt).filter((one) => one.hunks.length > 0 || one.isGit)
      if (parsed.length > 0) return parsed
    } catch (error) {
      // The parser's own sentence names the line; the second attempt's is about our own text.
      if (attempt === text) problem = error instanceof Error ? error.message : String(error)
    }
  }
  return problem
}

/** People and models miscount: takes the counts from the lines that follow each header. */
function recount(text: string): string {
  const lines = text.split('\n')
  const opens = (at: number) =>
    /^(@@|diff --git |Index: )/.test(lines[at] ?? '') ||
    (lines[at]?.startsWith('--- ') && lines[at + 1]?.startsWith('+++ '))
  return lines
    .map((line, at) => {
      const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line)
      if (!header) return line
      let [removed, added, end] = [0, 0, at + 1]
      for (; end < lines.length && !opens(end); end++) {
        const body = lines[end] ?? ''
        const last = end === lines.length - 1 || opens(end + 1)
        if (body === '' && last) break
        if (body[0] !== '+' && body[0] !== '\\') removed++
        if (body[0] !== '-' && body[0] !== '\\') added++
      }
      return `@@ -${header[1]},${removed} +${header[2]},${added} @@${header[3]}`
    })
    .join('\n')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function rejection(
  code: PatchRejectionCode,
  path: string | null,
  hunk: number | null,
  message: string,
  hint: string,
): PatchRejection {
  return { code, path, hunk, message, hint }
}

function refuse(...parts: Parameters<typeof rejection>): { ok: false; rejection: PatchRejection } {
  return { ok: false, rejection: rejection(...parts) }
}
