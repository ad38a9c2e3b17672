/**
 * What a run is asked to do, checked before anything is admitted: the words or the file, the model
 * that will take them, and the folder it works in.
 */
import { limits, type Agent } from '../../protocol/records/records.ts'
import { safeLine } from '../../present/text/safe.ts'
import type { Context } from '../command/context.ts'
import { usage, type CliFailure } from '../command/failure.ts'
import type { CheckedRunbook } from '../command/ports.ts'
import type { OwnedHome } from '../command/run-ports.ts'
import { expand, type ModelSetting } from '../command/settings.ts'

/** `text` goes to a model as words, `runbook` is a program for the runbook model. */
export type RunTarget =
  | { kind: 'text'; text: string; from: string | null; images: readonly { base64: string }[] }
  | { kind: 'runbook'; text: string; from: string; checked: CheckedRunbook | null }
  | { kind: 'resume' }

export type RunOptions = {
  agent?: string
  model?: string
  workspace?: string
  resume?: boolean
  input?: boolean
  image?: string[]
}

export async function readTarget(
  context: Context,
  words: readonly string[],
  options: RunOptions,
): Promise<RunTarget> {
  const target = await readWords(context, words, options)
  const paths = options.image ?? []
  if (paths.length === 0) return target
  if (target.kind !== 'text') {
    const what = target.kind === 'resume' ? '--resume sends nothing' : 'a runbook takes no images'
    throw usage('images_want_words', what, 'leave --image out, or say something with it')
  }
  const { readImages } = await import('./given-images.ts')
  return { ...target, images: await readImages(context, paths) }
}

/** What the agent is told, with the images that were named. */
export const wordsOf = (target: Exclude<RunTarget, { kind: 'resume' }>) =>
  target.kind === 'text' && target.images.length > 0
    ? { text: target.text, images: [...target.images] }
    : { text: target.text }

async function readWords(
  context: Context,
  words: readonly string[],
  options: RunOptions,
): Promise<RunTarget> {
  if (options.resume === true) {
    if (words.length === 0) return { kind: 'resume' }
    throw usage(
      'resume_sends_nothing',
      '--resume goes on with what is open and sends nothing',
      'leave the text out, or leave --resume out',
    )
  }
  const text = words.join(' ')
  if (words.length === 1 && words[0] === '-') return fromStdin(context)
  if (text.trim() === '') {
    throw usage(
      'objective_empty',
      'there is nothing to do',
      'say it, like holon run "list what is slow in this build", or name a runbook file',
    )
  }
  const file = words.length === 1 ? await readFileTarget(context, text, options) : null
  return file ?? fitting({ kind: 'text', text, from: null, images: [] })
}

async function fromStdin({ ports }: Context): Promise<RunTarget> {
  const from = 'the standard input'
  const read = await ports.read_stdin(limits.operator_text.value)
  if (!read.ok) throw fileFailure(from, read.why)
  if (read.text.trim() === '') throw usage('objective_empty', `${from} is empty`)
  return { kind: 'text', text: read.text, from, images: [] }
}

/** Null when the words name no file. A name that ends in .md and holds no blank is a file. */
async function readFileTarget(
  context: Context,
  text: string,
  options: RunOptions,
): Promise<RunTarget | null> {
  if (!/\.(md|markdown)$/i.test(text)) return null
  const path = context.ports.absolute(expand(context.ports, text))
  const read = await context.ports.read_text(path, limits.operator_text.value)
  if (!read.ok) {
    if (read.why === 'not_found' && /\s/.test(text)) return null
    throw fileFailure(text, read.why)
  }
  if (read.text.trim() === '') {
    throw usage('file_empty', `${text} is empty`, 'write an objective and its steps into it')
  }
  const asText = options.model !== undefined && options.model !== 'runbook'
  return asText
    ? { kind: 'text', text: read.text, from: text, images: [] }
    : { kind: 'runbook', text: read.text, from: text, checked: null }
}

type Why = Exclude<Awaited<ReturnType<Context['ports']['read_text']>>, { ok: true }>['why']

function fileFailure(name: string, why: Why): CliFailure {
  switch (why) {
    case 'not_found':
      return usage('file_not_found', `there is no file ${name}`, 'check the path')
    case 'denied':
      return usage('file_denied', `${name} cannot be read`, 'check who may read it')
    case 'is_folder':
      return usage('file_is_folder', `${name} is a folder`, 'name a file in it')
    case 'not_regular':
      return usage('file_not_regular', `${name} is no regular file`, 'name a text file')
    case 'too_large':
      return usage(
        'file_too_large',
        `${name} is larger than ${limits.operator_text.value} bytes`,
        `keep it within ${limits.operator_text.value} bytes`,
      )
    case 'binary':
      return usage('file_binary', `${name} is not a text in UTF-8`, 'name a text file')
    case 'io':
      return usage('file_unreadable', `${name} cannot be read`, 'check the disk it is on')
  }
}

function fitting(target: RunTarget & { kind: 'text' }): RunTarget {
  const bytes = new TextEncoder().encode(target.text).length
  const { value } = limits.operator_text
  if (bytes <= value) return target
  const hint = `keep it within ${value} bytes; put the rest into a file it can read`
  throw usage('over_limit', `the text is ${bytes} bytes; the limit is ${value}`, hint)
}

/**
 * Every error of a runbook with its line, before anything is admitted; with the checks that it
 * brings. Sent to another model a file has no checks: an agent cannot set any.
 */
export async function checkRunbook({ ports }: Context, target: RunTarget): Promise<RunTarget> {
  if (target.kind === 'resume' || target.from === null) return target
  const { errors, checked } = await ports.check_runbook(target.text)
  if (target.kind === 'text') {
    if (checked === null) return target
    throw usage(
      'checks_need_runbook',
      `${target.from} brings checks, which only the runbook model takes from a file`,
      'leave --model out, or: holon work check add',
    )
  }
  if (errors.length === 0) return { ...target, checked }
  const count = errors.length === 1 ? 'an error' : `${errors.length} errors`
  throw usage(
    'runbook_invalid',
    `${target.from} has ${count}`,
    'correct it and run it again',
    errors.map(({ line, message }) => `  ${safeLine(`${target.from}:${line}  ${message}`)}`),
  )
}

/**
 * The model the agent has after this: what is stored holds unless the flag says another. A file
 * without `--model` is carried out by the runbook model, in an agent that has it: no other agent is
 * turned into one, and words are never left to the runbook model. `store`: it is a new setting.
 */
export function chooseModel(
  target: RunTarget,
  given: ModelSetting,
  stored: string | null,
): ChosenModel {
  const decided = (model: string) => ({ model, store: model !== stored })
  const flag = given.source === '--model' ? given.value : null
  if (target.kind === 'runbook') {
    if (stored === null || stored === 'runbook') return decided('runbook')
    return {
      refused: `works with the model ${stored}, and a runbook runs in an agent of its own`,
      hint: `leave --agent out, or give --model ${stored} to send that model the text`,
    }
  }
  if (flag !== null) return decided(flag)
  if (target.kind === 'resume') {
    const model = stored ?? given.value
    return model === null
      ? { missing: 'no model is set', hint: 'give --model provider/model' }
      : decided(model)
  }
  if (stored !== null && stored !== 'runbook') return decided(stored)
  if (given.value !== null) return decided(given.value)
  return stored === 'runbook'
    ? {
        missing: 'this agent runs runbooks, and words need another model',
        hint: 'give --model provider/model, set HOLON_MODEL, or name a runbook file',
      }
    : {
        missing: 'no model is set',
        hint:
          'holon init sets one up; or give --model provider/model, or set HOLON_MODEL; ' +
          'a runbook file needs none',
      }
}

/** Refuses a model that cannot be asked: unknown, or without its key. */
export async function checkModel(owned: OwnedHome, model: string): Promise<void> {
  const opened = await owned.open_model(model)
  if (opened.ok) return
  // Its sentence ends in what to do, behind the first colon.
  const [detail = '', ...rest] = opened.message.split(': ')
  throw usage(opened.code, detail, rest.length === 0 ? null : rest.join(': '))
}

export type ChosenModel =
  | { model: string; store: boolean }
  | { missing: string; hint: string }
  | { refused: string; hint: string }

export type RunWorkspace = { mode: 'inherit' | 'explicit_root'; root: string }

/**
 * The folder to store for the agent, or null: the stored one holds. Either way it must exist. The
 * configured folder counts for an agent that is made now.
 */
export async function chooseWorkspace(
  context: Context,
  options: { flag: string | undefined; configured: string | undefined; agent: Agent | null },
): Promise<RunWorkspace | null> {
  const { ports, home } = context
  const { flag, configured, agent } = options
  const asked = flag ?? (agent === null ? configured : undefined)
  if (asked === undefined) {
    const root = agent?.workspace.root
    const own = agent !== null && root === `${home.value}/agents/${agent.id}`
    if (root === undefined || own || (await ports.folder_exists(root))) return null
    throw usage(
      'workspace_gone',
      `the workspace ${root} of agent ${agent?.id} is no longer there`,
      'put it back, or give another with --workspace',
    )
  }
  const root = ports.absolute(expand(ports, asked))
  if (await ports.folder_exists(root)) return { mode: 'explicit_root', root }
  throw usage('workspace_missing', `there is no folder ${root}`, 'make it, or name another')
}
