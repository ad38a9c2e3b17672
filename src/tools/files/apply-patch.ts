/**
 * ApplyPatch: a unified diff over one or more files, all or nothing. Everything is computed and
 * checked before the first byte is written; files are then replaced one by one, each atomically,
 * and put back when a later one fails.
 */
import { z } from 'zod'
import type { ToolResult } from '../../domain/state/call.ts'
import type { FileChange, Patch, PatchRejection } from './patch.ts'
import {
  asResult,
  readToChange,
  ToolRefusal,
  type FileContext,
  type TextFile,
} from './file-access.ts'
import {
  changedMeanwhile,
  hashOf,
  made,
  planChange,
  shownChange,
  statesOf,
  unknownChange,
  writeAll,
  type ChangeIntent,
  type FileState,
} from './file-change.ts'
import type { FileVersions } from './file-diff.ts'
import {
  effectTool,
  failed,
  nothingNew,
  succeeded,
  type EffectOutcome,
  type ToolContext,
} from '../tool/tool.ts'

const NAME = 'ApplyPatch'

const input = () =>
  z.strictObject({
    patch: z.string().min(1),
  })
type Input = z.infer<ReturnType<typeof input>>

/** `name`: the path as the patch writes it. */
type NamedFile = ChangeIntent['files'][number] & { name: string }
type PatchIntent = Omit<ChangeIntent, 'files'> & {
  files: readonly NamedFile[]
  changes: readonly Told[]
}
type Told = { path: string; change: FileChange['kind']; from?: string }

export const applyPatch = effectTool<Input, PatchIntent>({
  name: NAME,
  effect_class: 'content_checked',
  input,
  title: ({ patch }) => `${patch.match(/^\+\+\+ /gm)?.length ?? 0} files`,

  async intent(given, ctx) {
    const planned = await asResult(NAME, ctx, () => plan(given, ctx))
    return planned.ok ? { ok: true, intent: planned.value, task_id: null } : planned
  },

  run: (given, intent, ctx) => write(given, intent, ctx),
  recover: (given, intent, ctx) => recover(given, intent, ctx),
  later: { shown: (_, intent) => shownChange(intent), run: write, recover },
})

async function write(given: Input, intent: PatchIntent, ctx: FileContext): Promise<EffectOutcome> {
  const written = await asResult(NAME, ctx, async () => {
    const states = await statesOf(NAME, ctx, intent.files)
    const moved = states.filter((state) => state.now.sha256 !== state.before_sha256)
    if (moved.length > 0) {
      throw new ToolRefusal(
        changedMeanwhile(
          NAME,
          moved.map(({ path }) => path),
        ),
      )
    }
    await finish(given, intent, states, ctx)
  })
  return written.ok ? done(intent) : notDone(written.result)
}

async function recover(
  given: Input,
  intent: PatchIntent,
  ctx: FileContext,
): Promise<EffectOutcome> {
  const written = await asResult(NAME, ctx, async () => {
    const states = await statesOf(NAME, ctx, intent.files)
    if (states.some(({ is }) => is === 'other')) {
      throw new ToolRefusal(unknownChange(NAME, intent, states))
    }
    await finish(given, intent, states, ctx)
  })
  return written.ok ? done(intent) : notDone(written.result)
}

async function plan(given: Input, ctx: ToolContext): Promise<PatchIntent> {
  const patch = await parsed(given.patch)
  const files = new Map<string, TextFile>()
  for (const name of patch.paths) files.set(name, await readToChange(NAME, ctx, name))
  const contents = new Map([...files].map(([name, file]) => [name, file.text]))
  const changes = await applied(patch, contents)
  const after = afterTexts(changes)
  const touched = [...files].filter(([name]) => after.has(name))
  const replacements = touched.map(([name, { path, text, mode }]) => ({
    path,
    before: text,
    after: after.get(name) ?? null,
    mode,
  }))
  const twice = replacements.find(
    ({ path }, at) => replacements.findIndex((r) => r.path === path) < at,
  )
  if (twice) {
    const message = `The patch names ${twice.path} in two ways.`
    const hint = 'Name each file by one path.'
    throw new ToolRefusal(failed(NAME, 'rejected', 'same_file_twice', message, hint))
  }
  const change = await planChange(ctx, replacements)
  return {
    ...change,
    files: change.files.map((file, at) => ({ ...file, name: touched[at]?.[0] ?? file.path })),
    changes: changes.map(told),
  }
}

/** Writes what is not written yet, after computing it again from what is there. */
async function finish(
  given: Input,
  intent: PatchIntent,
  states: readonly FileState[],
  ctx: FileContext,
): Promise<void> {
  const open = new Map<string, FileState>()
  intent.files.forEach((file, at) => {
    const state = states[at]
    if (state && state.is === 'before') open.set(file.name, state)
  })
  if (open.size === 0) return
  const after = await remaining(given, intent, open)
  const replacements = [...open].map(([name, state]): FileVersions => {
    const text = state.after_sha256 === null ? null : (after.get(name) ?? null)
    if (hashOf(text) !== state.after_sha256) {
      throw new ToolRefusal(unknownChange(NAME, intent, states))
    }
    return { path: state.path, before: state.now.text, after: text }
  })
  await writeAll(NAME, ctx, replacements)
}

/**
 * The texts still to be written. A part of the patch whose source is done already has nothing left
 * to say; a target that is done counts as not there yet, so that a rename half made can be read.
 */
async function remaining(
  given: Input,
  intent: PatchIntent,
  open: ReadonlyMap<string, FileState>,
): Promise<Map<string, string | null>> {
  const patch = await parsed(given.patch)
  const planned = new Set(intent.files.map(({ name }) => name))
  const isOpen = (name: string) => open.has(name) || !planned.has(name)
  const files = patch.files.filter(({ from, to }) => isOpen(from ?? to ?? ''))
  const contents = new Map(patch.paths.map((name) => [name, open.get(name)?.now.text ?? null]))
  return afterTexts(await applied({ ...patch, files }, contents))
}

async function parsed(text: string): Promise<Patch> {
  // The parser is only loaded by the calls that need it.
  const { parseDiff } = await import('./patch.ts')
  const outcome = parseDiff(text)
  if (!outcome.ok) throw new ToolRefusal(refusal(outcome.rejection))
  return outcome.patch
}

async function applied(patch: Patch, contents: ReadonlyMap<string, string | null>) {
  const { applyDiff } = await import('./patch.ts')
  const outcome = applyDiff(patch, contents)
  if (!outcome.ok) throw new ToolRefusal(refusal(outcome.rejection))
  return outcome.changes
}

/** What each named path holds afterwards; null: it is gone. */
function afterTexts(changes: readonly FileChange[]): Map<string, string | null> {
  const after = new Map<string, string | null>()
  for (const change of changes) {
    switch (change.kind) {
      case 'create':
      case 'modify':
        after.set(change.path, change.after)
        break
      case 'rename':
        after.set(change.from, null)
        after.set(change.path, change.after)
        break
      case 'delete':
        after.set(change.path, null)
        break
    }
  }
  return after
}

const told = (change: FileChange): Told =>
  change.kind === 'rename'
    ? { path: change.path, change: 'rename', from: change.from }
    : { path: change.path, change: change.kind }

const refusal = ({ code, message, hint }: PatchRejection): ToolResult =>
  failed(NAME, 'rejected', code, `${message}.`, hint)

function done(intent: PatchIntent): EffectOutcome {
  const count = intent.changes.length
  const result = succeeded(NAME, `${count} ${count === 1 ? 'file' : 'files'} changed`, {
    files: intent.changes,
  })
  return { result: made(result, intent), result_hash: null, changed_something: count > 0 }
}

const notDone = (result: ToolResult): EffectOutcome => ({
  result,
  ...nothingNew,
})
