/** `holon config show|path|get|set`: what is configured, and where each value comes from. */
import type { Config } from '../protocol/config.ts'
import { safeLine } from '../present/safe.ts'
import { table } from '../present/table.ts'
import { configPath, parseConfig, readConfig } from './config-file.ts'
import { printJson, printLines, type Context } from './context.ts'
import { exits, usage, type Exit } from './failure.ts'
import { modelSetting, tilde, type Source } from './settings.ts'

type Shown = { key: string; value: unknown; source: Source }

export async function configShow(context: Context): Promise<Exit> {
  const { ports, home } = context
  const file = await readConfig(ports, home.value)
  const name = tilde(ports, file.path)
  const model = modelSetting(ports, undefined, file.config, name)
  const from = (value: unknown) => (value === undefined ? 'default' : name)
  const { fallback_model, workspace, environment, http, log_level, providers = {} } = file.config
  const settings: Shown[] = [
    { key: 'home', ...home },
    { key: 'model', ...model },
    { key: 'fallback_model', value: fallback_model ?? null, source: from(fallback_model) },
    { key: 'workspace', value: workspace ?? null, source: from(workspace) },
    { key: 'environment', value: environment ?? [], source: from(environment) },
    { key: 'http', value: http ?? null, source: from(http) },
    { key: 'log_level', value: log_level ?? 'info', source: from(log_level) },
    ...Object.entries(providers).map(([id, provider]) => {
      return { key: `providers.${id}`, value: provider, source: name }
    }),
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

function said(key: string, value: unknown): string {
  if (value === null) {
    if (key === 'http') return '127.0.0.1, port 7777'
    return key === 'workspace' ? "each agent's own home" : 'none'
  }
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function configPathCommand(context: Context): Exit {
  const path = configPath(context.home.value)
  if (context.flags.json === true) printJson(context, { path })
  else printLines(context, [path])
  return exits.done
}

export async function configGet(context: Context, key: string): Promise<Exit> {
  const { config } = await readConfig(context.ports, context.home.value)
  const value = valueAt(config, key.split('.'))
  if (value === undefined) {
    const known = Object.keys((await import('../protocol/config.ts')).configSchema.shape)
    const near = context.ports.nearest(key, known)
    const hint = known.includes(key.split('.')[0] ?? '')
      ? `holon config set ${key} <value>`
      : near === null
        ? `the keys are ${known.join(', ')}`
        : `did you mean "${near}"?`
    throw usage('not_set', `"${key}" is not in ${configPath(context.home.value)}`, hint)
  }
  if (context.flags.json === true) printJson(context, { key, value })
  else printLines(context, [typeof value === 'string' ? value : JSON.stringify(value)])
  return exits.done
}

function valueAt(config: unknown, path: readonly string[]): unknown {
  let value = config
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<string, unknown>)[part]
  }
  return value
}

/** Writes the whole file anew, after the result was checked; a wrong value changes nothing. */
export async function configSet(context: Context, key: string, text: string): Promise<Exit> {
  const { ports, home } = context
  const { path, config } = await readConfig(ports, home.value)
  const changed = structuredClone(config) as Record<string, unknown>
  const parts = key.split('.')
  let at = changed
  for (const part of parts.slice(0, -1)) {
    const below = Object.hasOwn(at, part) ? at[part] : undefined
    const next = typeof below === 'object' && below !== null ? below : {}
    at[part] = next
    at = next as Record<string, unknown>
  }
  // Lists, objects and whole numbers are written as JSON; everything else is text.
  at[parts.at(-1) ?? key] = /^([[{]|\d{1,9}$)/.test(text.trim()) ? jsonOf(text) : text
  const whole = `${JSON.stringify(changed, null, 2)}\n`
  const valid: Config = await parseConfig(ports, path, whole)
  await ports.write_private(path, whole)
  if (context.flags.json === true) printJson(context, { key, value: valueAt(valid, parts) })
  else if (context.flags.quiet !== true) printLines(context, [`${key} is set in ${path}`])
  return exits.done
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usage('bad_value', `the value is not JSON: ${text}`, 'lists are written ["A","B"]')
  }
}
