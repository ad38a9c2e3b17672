/**
 * From `provider/model` to a model that can be asked. It checks everything that can be known
 * without the network (the name, the provider, the key, the address) and says no as a value with
 * one sentence and its remedy. Only the adapter in use is loaded.
 */
import type { AcpPort, AcpSetting } from '../../ports/acp.ts'
import type { Adapted, AdapterPorts } from '../providers/ai-sdk.ts'
import { adaptedModel } from '../providers/ai-sdk.ts'
import type { AdapterConnection } from '../providers/connection.ts'
import type { WireKind } from '../../ports/provider.ts'
import type { FetchFunction } from '../transport/fetch.ts'
import { modelLimits } from '../limits.ts'
import type { Model } from '../model.ts'
import { nearest } from '../nearest.ts'
import type { PatienceLimits } from '../patience.ts'
import { isLoopback } from '../transport/proxy.ts'

export type ProviderKind = WireKind | 'runbook'

/** One entry of `providers` in the configuration. */
export type ProviderSetting = {
  kind: ProviderKind
  base_url?: string
  api_key_file?: string
  api_key_env?: string
  /** Default: only where the provider itself is at the address. */
  tool_streaming?: boolean
  /** Seconds that a stream may be silent, before its first event and after. */
  stream_idle?: number
  /** The only model names it takes, when given. */
  models?: readonly string[]
}

export type ModelSettings = {
  providers: Readonly<Record<string, ProviderSetting>>
  /** Agents of other makers, by the id behind `acp/`. */
  acp?: Readonly<Record<string, AcpSetting>>
  env: Readonly<Record<string, string | undefined>>
  /** Rejects when the file cannot be read. */
  read_file: (path: string) => Promise<string>
}

export type OpenModelPorts = AdapterPorts & {
  fetch: FetchFunction
  /** The deterministic model, for the id `runbook`; absent where there is none. */
  runbook?: () => Promise<Model>
  /** The sessions of agents of other makers; absent where none can be run. */
  acp?: () => Promise<AcpPort>
}

export type ModelRejectionCode =
  | 'bad_model_name'
  | 'unknown_provider'
  | 'unknown_model'
  | 'program_not_found'
  | 'no_key'
  | 'secret_unreadable'
  | 'key_unreadable'
  | 'no_base_url'
  | 'bad_base_url'

/** `message` is one sentence that names what is wrong and what to do. */
export type ModelRejection = { code: ModelRejectionCode; message: string }

export type OpenedModel = { ok: true; model: Model } | { ok: false; rejection: ModelRejection }

type Defaults = { base_url: string | null; key_env: string; base_url_env: string | null }

/** What each kind takes when nothing is configured. */
const defaults: Readonly<Record<WireKind, Defaults>> = {
  anthropic: {
    base_url: 'https://api.anthropic.com/v1',
    key_env: 'ANTHROPIC_API_KEY',
    base_url_env: 'ANTHROPIC_BASE_URL',
  },
  openai: {
    base_url: 'https://api.openai.com/v1',
    key_env: 'OPENAI_API_KEY',
    base_url_env: 'OPENAI_BASE_URL',
  },
  'openai-compatible': {
    base_url: null,
    key_env: 'OPENAI_COMPATIBLE_API_KEY',
    base_url_env: 'OPENAI_COMPATIBLE_BASE_URL',
  },
  google: {
    base_url: 'https://generativelanguage.googleapis.com/v1beta',
    key_env: 'GOOGLE_GENERATIVE_AI_API_KEY',
    base_url_env: null,
  },
}

/** Where a kind is reached and which variable has its key, when nothing is configured. */
export const usualOf = (kind: WireKind): { base_url: string | null; key_env: string } =>
  defaults[kind]

const builtIn: readonly ProviderKind[] = [
  'anthropic',
  'openai',
  'google',
  'openai-compatible',
  'runbook',
]

export async function openModel(
  id: string,
  settings: ModelSettings,
  ports: OpenModelPorts,
): Promise<OpenedModel> {
  const slash = id.indexOf('/')
  const provider = slash < 0 ? id : id.slice(0, slash)
  const model = slash < 0 ? '' : id.slice(slash + 1)

  const setting = settingOf(provider, settings)
  if (setting?.kind === 'runbook') return openRunbook(provider, ports)
  if (slash < 0 || provider === '' || model === '' || /\s/.test(id)) {
    return no('bad_model_name', `"${id}" is no model: write provider/model, ${example(settings)}.`)
  }
  if (provider === 'acp') return openAcp(model, settings, ports)
  if (setting === null) return no('unknown_provider', unknownProvider(provider, settings))
  if (setting.models !== undefined && !setting.models.includes(model)) {
    return no('unknown_model', unknownModel(provider, model, setting.models))
  }

  const kind = setting.kind
  const base = baseUrlOf(provider, { ...setting, kind }, settings)
  if ('code' in base) return { ok: false, rejection: base }
  const key = await keyOf(provider, { ...setting, kind }, settings, base.url)
  if ('code' in key) return { ok: false, rejection: key }

  const connection = {
    provider,
    model,
    base_url: base.url,
    fetch: ports.fetch,
    api_key: key.key,
    tool_streaming: setting.tool_streaming ?? base.url === defaults[kind].base_url,
  }
  const patience = patienceOf(setting.stream_idle, isLoopback(new URL(base.url).hostname))
  return { ok: true, model: adaptedModel(await adapt(kind, connection), { ...ports, patience }) }
}

/** `seconds`: how long a stream may be silent, as configured. */
function patienceOf(seconds: number | undefined, isLocal: boolean): Partial<PatienceLimits> {
  if (seconds !== undefined) return { first_ms: seconds * 1_000, idle_ms: seconds * 1_000 }
  return isLocal ? { first_ms: modelLimits.first_event_local.value } : {}
}

async function adapt(kind: WireKind, connection: AdapterConnection): Promise<Adapted> {
  switch (kind) {
    case 'anthropic':
      return (await import('../providers/anthropic.ts')).adapt(connection)
    case 'openai':
      return (await import('../providers/openai.ts')).adapt(connection)
    case 'openai-compatible':
      return (await import('../providers/openai-compatible.ts')).adapt(connection)
    case 'google':
      return (await import('../providers/google.ts')).adapt(connection)
  }
}

async function openRunbook(provider: string, ports: OpenModelPorts): Promise<OpenedModel> {
  if (ports.runbook) return { ok: true, model: await ports.runbook() }
  return no('unknown_provider', `The ${provider} model is not available here: choose another.`)
}

/** Never loaded by who has no such agent. */
async function openAcp(
  name: string,
  settings: ModelSettings,
  ports: OpenModelPorts,
): Promise<OpenedModel> {
  const known = settings.acp ?? {}
  const setting = Object.hasOwn(known, name) ? known[name] : undefined
  if (setting === undefined) {
    const closest = nearest(name, Object.keys(known))
    const choice = closest === null ? '' : `choose acp/${closest}, or `
    return no('unknown_model', `There is no agent "${name}": ${choice}add it to acp.${name}.`)
  }
  if (!ports.acp) return no('unknown_provider', 'Agents of other makers cannot be run from here.')
  const port = await ports.acp()
  const { command, args = [], env = {} } = setting
  const program = { command, args, env: { pass: env.pass ?? [], set: env.set ?? {} } }
  if (!port.finds(program)) {
    const remedy = `install it, or set acp.${name}.command to its path`
    return no('program_not_found', `The program ${command} of acp/${name} is not found: ${remedy}.`)
  }
  const { acpModel } = await import('../acp/acp.ts')
  return { ok: true, model: acpModel(name, program, port) }
}

function settingOf(provider: string, settings: ModelSettings): ProviderSetting | null {
  if (Object.hasOwn(settings.providers, provider)) return settings.providers[provider] ?? null
  const kind = builtIn.find((name) => name === provider)
  return kind === undefined ? null : { kind }
}

type Wire = ProviderSetting & { kind: WireKind }

function baseUrlOf(
  provider: string,
  setting: Wire,
  settings: ModelSettings,
): { url: string } | ModelRejection {
  const { base_url, base_url_env } = defaults[setting.kind]
  const fromEnv = base_url_env === null ? undefined : settings.env[base_url_env]
  // The libraries read their variable themselves and fail on a blank one, used or not.
  if (base_url_env !== null && fromEnv?.trim() === '') {
    return reject('bad_base_url', `${base_url_env} is set but blank: unset it or give it a URL.`)
  }
  const isBuiltIn = provider === setting.kind
  const text = setting.base_url ?? (isBuiltIn ? fromEnv : undefined) ?? base_url
  const source = setting.base_url === undefined ? base_url_env : `providers.${provider}.base_url`
  if (text === null || text === undefined) {
    const where = isBuiltIn ? `${base_url_env} or ` : ''
    const remedy = `set ${where}providers.${provider}.base_url to a URL that ends in /v1`
    return reject('no_base_url', `Provider ${provider} has no address: ${remedy}.`)
  }
  const url = URL.parse(text)
  const usable = url !== null && /^https?:$/.test(url.protocol)
  if (!usable || url.search !== '' || url.hash !== '' || url.username !== '') {
    const wanted = 'an http or https URL without user, query or fragment, like https://host/v1'
    return reject('bad_base_url', `${source} is not a base URL: it must be ${wanted}.`)
  }
  return { url: text.replace(/\/+$/, '') }
}

type Key = { key: string | null } | ModelRejection

async function keyOf(
  provider: string,
  setting: Wire,
  settings: ModelSettings,
  baseUrl: string,
): Promise<Key> {
  const file = setting.api_key_file
  if (file !== undefined) return keyInFile(provider, file, settings)

  const usual = provider === setting.kind ? defaults[setting.kind].key_env : null
  const variable = setting.api_key_env ?? usual
  const key = variable === null ? '' : (settings.env[variable] ?? '').trim()
  if (key !== '') return plainKey(key, variable ?? '')
  if (setting.kind === 'openai-compatible' && isLoopback(new URL(baseUrl).hostname))
    return { key: null }
  const own = `providers.${provider}`
  const place = variable ?? `${own}.api_key_env to the name of a variable that holds it`
  const remedy = `set ${place}, or name a file that holds it in ${own}.api_key_file`
  return reject('no_key', `Provider ${provider} needs a key: ${remedy}.`)
}

async function keyInFile(provider: string, file: string, settings: ModelSettings): Promise<Key> {
  const setting = `providers.${provider}.api_key_file`
  const text = await settings.read_file(file).catch(() => null)
  if (text === null) {
    return reject('key_unreadable', `The key file ${file} cannot be read: check ${setting}.`)
  }
  const key = text.trim()
  if (key !== '') return plainKey(key, file)
  return reject('no_key', `The key file ${file} of ${setting} is empty: put the key into it.`)
}

/** A key goes into a header: anything else in there is a wrong file, or worse. */
const plainKey = (key: string, place: string): Key =>
  /^[\x21-\x7e]+$/.test(key)
    ? { key }
    : reject('key_unreadable', `The key in ${place} is not one word of plain characters: check it.`)

function unknownProvider(provider: string, settings: ModelSettings): string {
  const known = [...new Set([...Object.keys(settings.providers), ...builtIn])]
  const closest = nearest(provider, known)
  const hint = closest === null ? '' : ` Did you mean ${closest}?`
  const named = known.map((name) => `"${name}"`)
  return `There is no provider "${provider}"; there are: ${named.join(', ')}.${hint}`
}

function unknownModel(provider: string, model: string, listed: readonly string[]): string {
  const closest = nearest(model, listed) ?? listed[0]
  const choice = closest === undefined ? '' : `choose ${provider}/${closest}, or `
  const remedy = `${choice}add it to providers.${provider}.models`
  return `Provider ${provider} has no model "${model}": ${remedy}.`
}

const example = (settings: ModelSettings): string => {
  const named = Object.entries(settings.providers).find(([, setting]) => setting.models?.length)
  return named ? `like ${named[0]}/${named[1].models?.[0]}` : 'like anthropic/claude-sonnet-5-5'
}

const reject = (code: ModelRejectionCode, message: string): ModelRejection => ({ code, message })

const no = (code: ModelRejectionCode, message: string): OpenedModel => ({
  ok: false,
  rejection: reject(code, message),
})
