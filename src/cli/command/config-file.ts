/**
 * Reads `config.json`: strictly, and with errors that name the file, the line and the nearest valid
 * key. No file is an empty configuration. The schema is loaded only when there is a file.
 */
import type { Config } from '../../protocol/config.ts'
import { thereAre } from '../../present/text/names.ts'
import { isShallow } from '../../protocol/records/records.ts'
import { usage, type CliFailure } from './failure.ts'
import { lineOf } from './json-lines.ts'
import type { CliPorts } from './ports.ts'

export const configPath = (home: string): string => `${home}/config.json`

/** Bytes of a configuration file. */
const largest = 1024 * 1024
/** Brackets within brackets; the schema has 6. */
const deepest = 64

export type ConfigFile = { path: string; text: string | null; config: Config }

/** Throws a `CliFailure` for a file that cannot be read or is not valid. */
export async function readConfig(
  ports: Pick<CliPorts, 'read_text' | 'nearest'>,
  home: string,
): Promise<ConfigFile> {
  const path = configPath(home)
  const read = await ports.read_text(path, largest)
  if (!read.ok) {
    if (read.why === 'not_found') return { path, text: null, config: {} }
    throw usage('config_unreadable', `${path} cannot be read (${read.why})`, 'check the file')
  }
  return { path, text: read.text, config: await parseConfig(ports, path, read.text) }
}

/** `path`: the file that the text is of; null: the text is not in a file yet. */
export async function parseConfig(
  ports: Pick<CliPorts, 'nearest'>,
  path: string | null,
  text: string,
): Promise<Config> {
  if (!isShallow(text, deepest)) {
    const what = `${path ?? 'it'} is nested more than ${deepest} deep`
    throw usage('config_invalid', what, 'correct the file')
  }
  const value = parseJson(path, text)
  const { configSchema, keysAt } = await import('../../protocol/config.ts')
  const parsed = configSchema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  if (issue === undefined) throw new Error('a configuration is refused without a reason')
  if (issue.code !== 'unrecognized_keys') throw wrongValue(path, text, issue)
  const key = issue.keys[0] ?? ''
  const at = issue.path.map((part) => (typeof part === 'number' ? part : String(part)))
  const known = keysAt(at)
  const near = ports.nearest(key, known)
  const name = JSON.stringify(key)
  throw usage(
    'unknown_key',
    `unknown key ${name}${placeOf(path, text, [...issue.path, key])}`,
    near === null ? thereAre(known) : `did you mean "${near}"?`,
  )
}

const placeOf = (path: string | null, text: string, at: readonly PropertyKey[]): string =>
  path === null ? '' : ` in ${path} line ${lineOf(text, [...at])}`

function parseJson(path: string | null, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const line = /\(line (\d+)/.exec(message)?.[1] ?? String(text.split('\n').length)
    const what = message
      .replace(/ in JSON at position.*$/s, '')
      .replace(/^[A-Z]/, (first) => first.toLowerCase())
    throw usage(
      'config_not_json',
      `${path ?? 'the value'} line ${line} is not JSON: ${what}`,
      'correct that line',
    )
  }
}

type Issue = { path: PropertyKey[]; message: string }

function wrongValue(path: string | null, text: string, issue: Issue): CliFailure {
  const key = issue.path.map(String).join('.')
  const where = placeOf(path, text, issue.path)
  const subject = key === '' ? 'the configuration' : `"${key}"`
  if (issue.message.endsWith('received undefined')) {
    const wanted = issue.message.replace(/^Invalid input: expected (\w+),.*$/, '$1')
    return usage('config_invalid', `${subject} is missing${where}`, `it is of type ${wanted}`)
  }
  const message = issue.message.replace(/^Invalid (input|option): /, '').replaceAll('"|"', '", "')
  return usage('config_invalid', `${subject}${where} is not valid`, message)
}
