/**
 * EditFile: an exact replacement in a text file, or a new file. The change is computed before it is
 * committed to; the write is atomic and is only made on the content it was computed from.
 */
import { z } from 'zod'
import type { ToolResult } from '../../domain/state/call.ts'
import { editText, linesAround } from './edit.ts'
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
} from './file-change.ts'
import { effectTool, failed, succeeded, type EffectOutcome } from '../tool/tool.ts'

const NAME = 'EditFile'

const input = () =>
  z.strictObject({
    path: z.string().min(1),
    old_text: z.string().min(1).optional(),
    new_text: z.string(),
    replace_all: z.boolean().optional(),
  })
type Input = z.infer<ReturnType<typeof input>>

type EditIntent = ChangeIntent & {
  replacements: number
  lines: readonly number[]
  /** How it stands around the first change; absent: nothing was replaced. */
  around?: string
}

export const editFile = effectTool<Input, EditIntent>({
  name: NAME,
  effect_class: 'content_checked',
  input,
  title: ({ path }) => path,

  async intent(given, ctx) {
    const planned = await asResult(NAME, ctx, async () => {
      const file = await readToChange(NAME, ctx, given.path)
      const { after, replacements, lines } = edited(given, file)
      const { path, text: before, mode } = file
      const change = await planChange(ctx, [{ path, before, after, mode }])
      const [first] = lines
      const around =
        first === undefined ? {} : { around: linesAround(after, first, given.new_text) }
      return { ...change, replacements, lines, ...around }
    })
    return planned.ok ? { ok: true, intent: planned.value, task_id: null } : planned
  },

  run: (given, intent, ctx) => write(given, intent, ctx),
  recover: (given, intent, ctx) => recover(given, intent, ctx),
  later: { shown: (_, intent) => shownChange(intent), run: write, recover },
})

type Edited = { after: string; replacements: number; lines: readonly number[] }

function edited(given: Input, file: TextFile): Edited {
  const no = (code: string, message: string, hint: string) =>
    new ToolRefusal(failed(NAME, 'rejected', code, message, hint))
  if (given.old_text === undefined) {
    if (file.text) {
      const hint = 'Give old_text to change a part of it; remove it first to start anew.'
      throw no('file_exists', `${file.path} exists and is not empty.`, hint)
    }
    return { after: given.new_text, replacements: 0, lines: [] }
  }
  if (file.text === null) {
    const hint = 'Leave old_text out to create it, or check the path.'
    throw no('file_not_found', `${file.path}: there is no such file.`, hint)
  }
  const replace_all = given.replace_all ?? false
  const outcome = editText(file.text, { old: given.old_text, new: given.new_text, replace_all })
  if (!outcome.ok) throw no(outcome.code, `${file.path}: ${outcome.message}.`, outcome.hint)
  return outcome
}

async function write(given: Input, intent: EditIntent, ctx: FileContext): Promise<EffectOutcome> {
  const planned = fileOf(intent)
  const written = await asResult(NAME, ctx, async () => {
    const file = await readToChange(NAME, ctx, planned.path)
    if (file.sha256 !== planned.before_sha256) {
      throw new ToolRefusal(changedMeanwhile(NAME, [planned.path]))
    }
    const { after } = edited(given, file)
    if (hashOf(after) !== planned.after_sha256) throw new Error('an edit is not repeatable')
    const changes = planned.before_sha256 !== planned.after_sha256
    if (changes) await writeAll(NAME, ctx, [{ path: planned.path, before: file.text, after }])
  })
  return written.ok ? outcome(intent, done(intent)) : outcome(null, written.result)
}

async function recover(given: Input, intent: EditIntent, ctx: FileContext): Promise<EffectOutcome> {
  const looked = await asResult(NAME, ctx, () => statesOf(NAME, ctx, intent.files))
  if (!looked.ok) return outcome(null, looked.result)
  const states = looked.value
  switch (states[0]?.is ?? 'other') {
    case 'before':
      return write(given, intent, ctx)
    case 'after':
      return outcome(intent, done(intent))
    case 'other':
      return outcome(null, unknownChange(NAME, intent, states))
  }
}

function done(intent: EditIntent): ToolResult {
  const { path, before_sha256, after_sha256 } = fileOf(intent)
  const created = before_sha256 === null
  const count = intent.replacements
  const what = created ? 'created' : count === 0 ? 'filled' : `${count} replaced in`
  const result = succeeded(NAME, `${what} ${path}`, {
    path,
    change: created ? 'created' : 'changed',
    ...(count > 0 ? { replacements: count, lines: intent.lines } : {}),
    ...(intent.around === undefined ? {} : { text: intent.around }),
    sha256: after_sha256,
  })
  return made(result, intent)
}

function outcome(intent: EditIntent | null, result: ToolResult): EffectOutcome {
  const file = intent === null ? null : fileOf(intent)
  const changed_something = file !== null && file.before_sha256 !== file.after_sha256
  return { result, result_hash: null, changed_something }
}

function fileOf(intent: EditIntent) {
  const file = intent.files[0]
  if (!file) throw new Error('an edit intent without its file')
  return file
}
