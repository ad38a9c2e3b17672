/** `holon config show|path|get|set|unset`: what is configured, and where each value comes from. */
import type { Config } from '../../protocol/config.ts'
import { safeLine } from '../../present/text/safe.ts'
import { table } from '../../present/text/table.ts'
import { configPath, parseConfig, readConfig } from '../command/config-file.ts'
import { printJson, printLines, type Context } from '../command/context.ts'
import { CliFailure, exits, usage, type Exit } from '../command/failure.ts'
import type { CliPorts } from '../command/ports.ts'
import { usualPort } from '../daemon/serve.ts'
import { logLevelSetting, modelSetting, tilde, type SettingSource } from '../command/settings.ts'

type Shown = { key: string; value: unknown; source: SettingSource }

export async function configShow(context: Context): Promise<Exit> {
  const { ports, home } = context
  const file = await readConfig(ports, home.value)
  const name = tilde(ports, file.path)
  const model = modelSetting(ports, undefined, file.config, name)
  const settings: Shown[] = [
    { key: 'home', ...home },
    { key: 'model', ...model },
    ...configured(file.config, name),
    { key: 'log_level', ...logLevelSetting(ports, undefined, file.config, name) },
  ]
  if (context.flags.json === true) {
    printJson(context, { settings })
    return exits.done
  }
  const rows = settings.map(({ key, value, source }) =>
    [key, said(key, value), source].map(safeLine),
  )
  const columns = [{ title: 'KEY' }, { title: 'VALUE', min: 12 }, { title: 'FROM' }]
  printLines(context, table(columns, rows, context.medium))
  return exits.done
}

/** A key of the file with what holds where it is not set. */
type Row = [key: string, value: unknown, otherwise: unknown]

/** What the schema knows beside this, which the environment or a flag may say otherwise. */
type Elsewhere = '$schema' | 'model' | 'log_level'

/**
 * The rows of each key of the file; a key of the schema that has none breaks the build. Secrets are
 * named, and never read for this.
 */
const rowsOf: { readonly [K in Exclude<keyof Config, Elsewhere>]-?: (config: Config) => Row[] } = {
  fallback_model: (c) => [['fallback_model', c.fallback_model, null]],
  summary_model: (c) => [['summary_model', c.summary_model, null]],
  workspace: (c) => [['workspace', c.workspace, null]],
  environment: (c) => [['environment', c.environment, []]],
  providers: (c) => each('providers', c.providers),
  models: (c) => each('models', c.models),
  acp: (c) => each('acp', c.acp),
  command_caps: (c) => [['command_caps', c.command_caps, null]],
  sandbox: (c) => [['sandbox', c.sandbox, null]],
  hooks: (c) => [['hooks', c.hooks, []]],
  http: ({ http = {} }) => [
    ['http.host', http.host, '127.0.0.1'],
    ['http.port', http.port, usualPort],
    ['http.hosts', http.hosts, []],
  ],
  webhooks: ({ webhooks = {} }) =>
    each(
      'webhooks',
      Object.fromEntries(
        Object.entries(webhooks).map(([id, { secret_files: _, ...one }]) => [id, one]),
      ),
    ),
  budget: (c) => [['budget', c.budget, null]],
  secrets: ({ secrets }) => [['secrets', secrets && Object.keys(secrets), []]],
  retention: ({ retention }) => [['retention.keep_days', retention?.keep_days, null]],
}

/** What may be set has a row, also where there is none yet. */
function each(key: string, known: Readonly<Record<string, unknown>> = {}): Row[] {
  const rows = Object.entries(known).map(([id, one]): Row => [`${key}.${id}`, one, null])
  return rows.length === 0 ? [[key, undefined, null]] : rows
}

/** What only the file says, or its default. */
const configured = (config: Config, file: string): Shown[] =>
  Object.values(rowsOf)
    .flatMap((rows) => rows(config))
    .map(([key, value, otherwise]) =>
      value === undefined
        ? { key, value: otherwise, source: 'default' }
        : { key, value, source: file },
    )

/** What nothing means, where it is not simply none. */
const unset: Readonly<Record<string, string>> = {
  workspace: "each agent's own home",
  command_caps: 'what the machine allows',
  sandbox: 'as told by holon doctor.',
  'retention.keep_days': 'everything is kept',
}

function said(key: string, value: unknown): string {
  if (value === null) return unset[key] ?? 'none'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(inList).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const inList = (one: unknown): string => (typeof one === 'string' ? one : JSON.stringify(one))

export function configPathCommand(context: Context): Exit {
  const path = configPath(context.home.value)
  if (context.flags.json === true) printJson(context, { path })
  // Whoever reads it from a pipe means to open it.
  else printLines(context, [context.ports.terminal.stdout ? safeLine(path) : path])
  return exits.done
}

export async function configGet(context: Context, key: string): Promise<Exit> {
  const { config } = await readConfig(context.ports, context.home.value)
  const value = valueAt(config, await placesIn(key))
  if (value === undefined) {
    throw await notSet(context, key)
  }
  if (context.flags.json === true) printJson(context, { key, value })
  else printLines(context, [typeof value === 'string' ? value : JSON.stringify(value)])
  return exits.done
}

/** The schema is loaded for it. */
const placesIn = async (key: string): Promise<readonly string[]> =>
  (await import('../../protocol/config.ts')).partsOf(key)

async function notSet({ ports, home }: Context, key: string): Promise<CliFailure> {
  const known = Object.keys((await import('../../protocol/config.ts')).configSchema.shape)
  const near = ports.nearest(key, known)
  const hint = known.includes(key.split('.')[0] ?? '')
    ? `holon config set ${key} <value>`
    : near === null
      ? `the keys are ${known.join(', ')}`
      : `did you mean "${near}"?`
  return usage('not_set', `"${key}" is not in ${configPath(home.value)}`, hint)
}

function valueAt(config: unknown, path: readonly string[]): unknown {
  let value = config
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<string, unknown>)[part]
  }
  return value
}

/** A key that is missing beside the one that was set: then both are set at once. */
function setWhole(failure: CliFailure, key: string): CliFailure {
  const { detail } = failure.problem
  const whole = key.split('.').slice(0, -1).join('.')
  const [, wrong = ''] = /^"([^"]+)" (?:is missing|is not valid)/.exec(detail) ?? []
  if (whole === '' || wrong === key || !wrong.startsWith(`${whole}.`)) return failure
  const hint = `${failure.problem.hint}; set them at once: holon config set ${whole} '{…}'`
  return new CliFailure(failure.exit, { ...failure.problem, hint })
}

/** Writes the whole file anew, after the result was checked; a wrong value changes nothing. */
async function writeChecked(
  ports: CliPorts,
  path: string,
  { changed, key }: { changed: object; key: string },
  isChanged: (valid: Config) => boolean,
): Promise<Config> {
  const whole = `${JSON.stringify(changed, null, 2)}\n`
  const valid = await parseConfig(ports, null, whole).catch((error: unknown) => {
    throw error instanceof CliFailure ? setWhole(error, key) : error
  })
  // A name that JSON, or an object, has for itself, as `__proto__`.
  if (!isChanged(valid)) throw usage('unknown_key', 'no key can have that name', 'take another')
  await ports.write_private(path, whole)
  return valid
}

export async function configSet(context: Context, key: string, text: string): Promise<Exit> {
  const { ports, home } = context
  const { path, config } = await readConfig(ports, home.value)
  const changed = structuredClone(config) as Record<string, unknown>
  const parts = await placesIn(key)
  let at = changed
  for (const part of parts.slice(0, -1)) {
    const below = Object.hasOwn(at, part) ? at[part] : undefined
    const next = typeof below === 'object' && below !== null ? below : {}
    at[part] = next
    at = next as Record<string, unknown>
  }
  // Lists, objects, numbers, true and false are written as JSON; everything else is text.
  at[parts.at(-1) ?? key] = /^([[{]|(\d{1,9}(\.\d{1,9})?|true|false)$)/.test(text.trim())
    ? jsonOf(text)
    : text
  const isSet = (of: Config) => valueAt(of, parts) !== undefined
  const valid = await writeChecked(ports, path, { changed, key }, isSet)
  if (context.flags.json === true) printJson(context, { key, value: valueAt(valid, parts) })
  else if (context.flags.quiet !== true) printLines(context, [safeLine(`${key} is set in ${path}`)])
  return exits.done
}

/** Takes one key out of the file, and what was left empty around it; the rest stays as it is. */
export async function configUnset(context: Context, key: string): Promise<Exit> {
  const { ports, home } = context
  const { path, config } = await readConfig(ports, home.value)
  const parts = await placesIn(key)
  if (valueAt(config, parts) === undefined) throw await notSet(context, key)
  const given = { changed: without(config, parts), key }
  await writeChecked(ports, path, given, (of) => valueAt(of, parts) === undefined)
  if (context.flags.json === true) printJson(context, { key, value: null })
  else if (context.flags.quiet !== true)
    printLines(context, [safeLine(`${key} is no longer set in ${path}`)])
  return exits.done
}

function without(config: unknown, [first = '', ...rest]: readonly string[]): object {
  const left = { ...(config as Record<string, unknown>) }
  const below = rest.length === 0 ? {} : without(left[first], rest)
  if (Object.keys(below).length === 0) delete left[first]
  else left[first] = below
  return left
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usage('bad_value', `the value is not JSON: ${text}`, 'lists are written ["A","B"]')
  }
}
