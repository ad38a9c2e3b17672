/**
 * The second and third step of `holon init`: which provider, its key, one of its models, and one
 * request that proves them. Everything stays in memory here; `init.ts` writes it down.
 */
import type { Config } from '../../protocol/config.ts'
import { problemOf } from '../../protocol/problem.ts'
import { CliFailure, exits, usage } from '../command/failure.ts'
import type { Context } from '../command/context.ts'
import type { Questions } from './init-questions.ts'
import { expand } from '../command/settings.ts'
import type { WireKind } from '../../ports/provider.ts'
import type { Candidate } from '../command/setup-ports.ts'
import { provider } from './init-provider.ts'

export type ModelFlags = {
  provider?: string
  baseUrl?: string
  keyFile?: string
  keyEnv?: string
  model?: string
  /** False with `--no-test`. */
  test?: boolean
}

/** Where the key is to come from later. `typed` is to be stored in a file of its own. */
export type KeySource =
  | { from: 'nowhere' }
  | { from: 'typed'; key: string }
  | { from: 'file'; path: string }
  | { from: 'environment'; variable: string }

export type ModelChoice =
  /** The configuration stays as it is; or there is none, and runbooks need none. */
  | { chosen: 'kept'; model: string }
  | { chosen: 'none' }
  | ({ chosen: 'provider'; id: string; kind: WireKind; base_url: string | null } & {
      source: KeySource
      model: string
    })

export async function chooseModel(
  context: Context,
  questions: Questions,
  flags: ModelFlags,
  config: Config,
): Promise<ModelChoice> {
  const kind = await provider(context, questions, flags.provider, config)
  if (kind === 'kept') return { chosen: 'kept', model: config.model ?? '' }
  if (kind === 'none') return { chosen: 'none' }
  if (typeof kind === 'string') return answered(context, questions, flags, kind)
  // It has just said what it has, and asked for no key.
  const given = { ...flags, baseUrl: kind.base_url }
  const keyed: Keyed = { source: { from: 'nowhere' }, key: null }
  return answered(context, questions, given, 'openai-compatible', keyed)
}

/** What may be wrong with a choice that does not work: it is asked again, the rest is kept. */
type Part = 'address' | 'key' | 'model'
type Listed = { ok: true; model: string } | { ok: false; wrong: Part }
type Keyed = { source: KeySource; key: string | null }

const flagsOf = {
  address: ['baseUrl'],
  key: ['keyFile', 'keyEnv'],
  model: ['model'],
} as const satisfies { readonly [P in Part]: readonly (keyof ModelFlags)[] }

/** Each answer is asked once, and again only where it was the wrong one. */
async function answered(
  context: Context,
  questions: Questions,
  flags: ModelFlags,
  kind: WireKind,
  known: Keyed | null = null,
): Promise<ModelChoice> {
  let given = flags
  let base_url: string | null = null
  let keyed = known
  let model: string | null = null
  for (;;) {
    base_url ??= await address(questions, given, kind)
    keyed ??= await keyOf(context, questions, given, kind, base_url)
    const candidate: Candidate = { kind, base_url, key: keyed.key }
    const listed: Listed =
      model === null ? await modelOf(context, questions, given, candidate) : { ok: true, model }
    const wrong: Part | null = listed.ok
      ? await prove(context, questions, given, candidate, listed.model)
      : listed.wrong
    if (listed.ok && wrong === null) {
      const id = idOf(kind, base_url)
      return { chosen: 'provider', id, kind, base_url, source: keyed.source, model: listed.model }
    }
    if (listed.ok) model = listed.model
    switch (wrong) {
      case 'address':
        base_url = null
        break
      case 'key':
        questions.tell('another key, or ctrl+c')
        keyed = null
        break
      case 'model':
        model = null
        break
      case null:
    }
    if (wrong !== null) given = without(given, flagsOf[wrong])
  }
}

/** An answer that was given beforehand and was wrong is asked for. */
const without = (flags: ModelFlags, names: readonly (keyof ModelFlags)[]): ModelFlags =>
  Object.fromEntries(
    Object.entries(flags).filter(([name]) => !names.includes(name as keyof ModelFlags)),
  )

async function address(
  questions: Questions,
  { baseUrl }: ModelFlags,
  kind: WireKind,
): Promise<string | null> {
  if (kind !== 'openai-compatible') return baseUrl === undefined ? null : url(baseUrl)
  if (baseUrl !== undefined) return url(baseUrl)
  for (;;) {
    const said = await questions.line(
      '         address, like http://127.0.0.1:11434/v1:',
      '--base-url',
      null,
    )
    try {
      return url(said)
    } catch {
      questions.tell('         an http or https address without user, query or fragment')
    }
  }
}

function url(text: string): string {
  const found = URL.parse(text)
  const usable = found !== null && /^https?:$/.test(found.protocol)
  if (!usable || found.search !== '' || found.hash !== '' || found.username !== '') {
    throw usage(
      'bad_base_url',
      `--base-url ${text} is no base URL`,
      'write it like https://host/v1',
    )
  }
  return text.replace(/\/+$/, '')
}

const isHere = (base_url: string | null): boolean => {
  const host = base_url === null ? '' : (URL.parse(base_url)?.hostname ?? '')
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.')
}

/** The name before the slash of a model: the kind, or where an address is. */
const idOf = (kind: WireKind, base_url: string | null): string =>
  kind !== 'openai-compatible' ? kind : isHere(base_url) ? 'local' : 'compatible'

/** A key that others can read is refused before it is sent anywhere, as the daemon would refuse. */
async function refuseOpenFile(ports: Context['ports'], path: string): Promise<void> {
  const { mode } = await ports.home_facts(path)
  if (mode === null || (mode & 0o077) === 0) return
  const says = `${path} can be read by others (${(mode & 0o777).toString(8).padStart(4, '0')})`
  throw usage('key_not_private', says, `chmod 600 ${path}`)
}

async function keyOf(
  { ports }: Context,
  questions: Questions,
  { keyFile, keyEnv }: ModelFlags,
  kind: WireKind,
  base_url: string | null,
): Promise<{ source: KeySource; key: string | null }> {
  if (keyFile !== undefined) {
    const path = ports.absolute(expand(ports, keyFile))
    const read = await ports.read_text(path, 65_536)
    if (read.ok && read.text.trim() !== '') {
      await refuseOpenFile(ports, path)
      return { source: { from: 'file', path }, key: read.text.trim() }
    }
    const why = read.ok ? 'is empty' : `cannot be read (${read.why})`
    throw usage('key_unreadable', `${path} ${why}`, 'put the key into a file of mode 0600')
  }
  const { key_variable } = await ports.setup.usual(kind)
  const variable = keyEnv ?? (questions.may_ask ? null : key_variable)
  if (variable !== null) return fromEnvironment(ports.setup.key_in(variable), variable)
  if (!questions.may_ask && isHere(base_url)) return { source: { from: 'nowhere' }, key: null }
  const otherwise =
    key_variable !== null
      ? ` (enter takes ${key_variable})`
      : kind === 'openai-compatible'
        ? ' (enter for none)'
        : ''
  for (;;) {
    const key = await questions.secret(
      `         key, not shown${otherwise}:`,
      '--key-file or --key-env',
    )
    if (key !== '' && !/[\s\p{C}]/u.test(key)) return { source: { from: 'typed', key }, key }
    if (key === '' && key_variable !== null) {
      return fromEnvironment(ports.setup.key_in(key_variable), key_variable)
    }
    if (key === '' && kind === 'openai-compatible')
      return { source: { from: 'nowhere' }, key: null }
    questions.tell(key === '' ? '         a key is needed' : '         a key has no blanks in it')
  }
}

function fromEnvironment(key: string | null, variable: string) {
  if (key !== null) return { source: { from: 'environment', variable } as const, key }
  throw usage('no_key', `${variable} is not set`, 'set it, or give --key-file')
}

/** At most so many are listed: the rest is typed. */
const mostShown = 9

/** The name without its provider, or what is wrong where nothing could be listed. */
async function modelOf(
  { ports }: Context,
  questions: Questions,
  { model: flag }: ModelFlags,
  candidate: Candidate,
): Promise<Listed> {
  const named = (model: string): Listed => ({ ok: true, model })
  if (flag !== undefined) return named(flag.slice(flag.indexOf('/') + 1))
  const found = await ports.setup.list_models(candidate, questions.signal).catch(left(questions))
  if (!found.ok) {
    questions.tell(`         ${found.message}`)
    if (found.refused_key && questions.may_ask) return { ok: false, wrong: 'key' }
    const isAsked = candidate.kind === 'openai-compatible' && questions.may_ask
    const or = isAsked ? ', or enter for another address:' : ':'
    const said = await questions.line(
      `         name of the model${or}`,
      '--model',
      isAsked ? '' : null,
    )
    return said === '' ? { ok: false, wrong: 'address' } : named(said)
  }
  const shown = found.models.slice(0, mostShown)
  const list = shown.map((name, at) => `${at + 1} ${name}`)
  const more =
    found.models.length > shown.length ? [`and ${found.models.length - shown.length} more`] : []
  const [only] = found.models
  if (found.models.length === 1 && only !== undefined && questions.may_ask) {
    questions.tell(`         model there: ${only}; holon init --model names another`)
    return named(only)
  }
  const all = list.length === 0 ? ['none is named'] : [...list, ...more]
  questions.offer('         models there: ', all)
  const said = await questions.line('         > number or name:', '--model', shown[0] ?? null)
  return named(shown[Number(said) - 1] ?? said)
}

/** An interrupt while something is under way is an interrupt. */
const left =
  (questions: Questions) =>
  (error: unknown): never => {
    questions.still()
    throw error
  }

async function prove(
  { ports }: Context,
  questions: Questions,
  { test = true }: ModelFlags,
  candidate: Candidate,
  model: string,
): Promise<Part | null> {
  if (!test) return null
  const done = await ports.setup
    .try_model(candidate, model, questions.signal)
    .catch(left(questions))
  questions.still()
  if (done.ok) {
    const { ms, tokens, usd } = done
    const counted = tokens === null ? 'tokens not counted' : `${tokens} tokens`
    const price = usd === null ? 'no price known' : `$${usd.toFixed(usd < 0.01 ? 5 : 2)}`
    questions.tell(`3 test     answered in ${(ms / 1_000).toFixed(1)} s, ${counted}, ${price}`)
    return done.calls ? null : silentTools(questions, candidate, model)
  }
  questions.tell(`3 test     ${model} does not work: ${done.message}`)
  if (questions.may_ask) {
    return done.refused_key ? 'key' : wrongPart(questions, candidate.kind === 'openai-compatible')
  }
  const hint = 'nothing was written; --no-test sets it up all the same'
  const detail = `${model} does not work: ${done.message}`
  throw new CliFailure(exits.failed, problemOf('test_failed', detail, hint))
}

/** It talks and calls nothing: an agent of it can do nothing. Where nobody is asked it is said. */
async function silentTools(
  questions: Questions,
  { kind }: Candidate,
  model: string,
): Promise<Part | null> {
  questions.tell(`           ${model} was asked to call a tool and called none: as an agent it can`)
  questions.tell('           answer, and do nothing. Take a model that was trained to call tools.')
  return questions.may_ask ? wrongPart(questions, kind === 'openai-compatible', 'model') : null
}

/** Which answer was the wrong one; null: none, it is set up as it is. */
async function wrongPart(
  questions: Questions,
  has_address: boolean,
  most: Part | null = null,
): Promise<Part | null> {
  const all: readonly Part[] = has_address ? ['address', 'key', 'model'] : ['key', 'model']
  const parts = most === null ? all : [most, ...all.filter((part) => part !== most)]
  const list = parts.map((part, at) => `${at + 1} another ${part}`)
  const last = parts.length + 1
  for (;;) {
    questions.offer('           ', [...list, `${last} set it up as it is`, '(enter: 1)'])
    const at = Number(await questions.line('           >', '--no-test', '1'))
    if (at === last) return null
    const part = parts[at - 1]
    if (part !== undefined) return part
    questions.tell(`           a number from 1 to ${last}`)
  }
}

/** Where the key of a provider is kept, so that agents' tools refuse to read it. */
export const keyPath = (context: Context, id: string): string =>
  `${context.ports.user_home}/.config/holon/keys/${id}`
