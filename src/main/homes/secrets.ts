/**
 * The secrets of a home that is owned: their files are checked first, for what others can read
 * protects nothing, and their values are known to a redactor, so that none is ever written.
 */
import { createRedactor, type Redactor, type Secret } from '../../domain/secrets/redact.ts'
import { refusedName } from '../../exec/environment.ts'
import type { Config } from '../../protocol/config.ts'
import { env, expanded, readText } from '../machine/machine.ts'

/** What keeps the daemon from starting. `message` is a sentence without a full stop. */
export class SecretRefusal extends Error {
  readonly code: 'not_private' | 'webhook_without_secret'
  readonly retry = 'never'
  readonly hint: string
  constructor(code: SecretRefusal['code'], { message, hint }: { message: string; hint: string }) {
    super(message)
    this.name = 'SecretRefusal'
    this.code = code
    this.hint = hint
  }
}

type Filed = { name: string; path: string }

/** The files with secrets that the configuration names, each with the name of its handle. */
function filesOf(config: Config): Filed[] {
  const providers = Object.entries(config.providers ?? {}).flatMap(([id, { api_key_file }]) =>
    api_key_file === undefined ? [] : [{ name: `provider_${id}`, path: api_key_file }],
  )
  const webhooks = Object.entries(config.webhooks ?? {}).flatMap(([id, { secret_files }]) =>
    secret_files.map((path) => ({ name: `webhook_${id}`, path })),
  )
  const others = Object.entries(config.secrets ?? {}).flatMap(([name, { file }]) =>
    file === undefined ? [] : [{ name, path: file }],
  )
  const all = [...providers, ...webhooks, ...others]
  return all.map(({ name, path }) => ({ name, path: expanded(path) }))
}

/** Each once. */
export const secretPaths = (config: Config): string[] => [
  ...new Set(filesOf(config).map(({ path }) => path)),
]

/**
 * Throws `SecretRefusal` for the first file or folder that is open to others
 * (docs/spec/security.md#files).
 */
export async function refuseOpenSecrets(home: string, config: Config): Promise<void> {
  const { checkPrivate } = await import('../../exec/files/private-files.ts')
  const [first] = await checkPrivate(home, secretPaths(config))
  if (first !== undefined) throw new SecretRefusal('not_private', first)
}

/** Bytes of a file with one secret. */
const largestSecret = 64 * 1024

export type UnreadableSecret = { name: string; message: string; hint: string }

/**
 * The registered secrets whose value is not to be had: nothing could be kept from the ledger, logs
 * and requests that is not known. A provider's key is not among them: its model says so itself.
 */
export async function unreadableSecrets(config: Config): Promise<UnreadableSecret[]> {
  const found = await Promise.all(
    Object.entries(config.secrets ?? {}).map(async ([name, { file, env: variable }]) => {
      const why = file === undefined ? missingVariable(variable) : await missingFile(file)
      const hint = `put the secret there, or take secrets.${name} out of config.json; then restart`
      return why === null ? [] : [{ name, message: `the secret ${name}: ${why}`, hint }]
    }),
  )
  return found.flat()
}

const missingVariable = (name: string | undefined): string | null =>
  name !== undefined && (env[name] ?? '') === '' ? `${name} is not set` : null

async function missingFile(file: string): Promise<string | null> {
  const path = expanded(file)
  const read = await readText(path, largestSecret)
  if (read.ok) return read.text.trim() === '' ? `${path} is empty` : null
  return `${path} cannot be read (${read.why})`
}

/**
 * Knows the values this process could print by accident: those in the configured files, those of
 * the variables the configuration names, and those of variables whose name is a credential's.
 * `warnings` name what was configured and cannot be replaced, for the log.
 */
export async function secretsOf(
  config: Config,
): Promise<{ redactor: Redactor; warnings: string[] }> {
  const filed = await Promise.all(
    filesOf(config).map(async ({ name, path }): Promise<Secret[]> => {
      const read = await readText(path, largestSecret)
      if (!read.ok) return []
      const value = read.text.trim()
      // The key of a webhook is also shown without what says that it is one.
      const bare = value.replace(/^whsec_/, '')
      return [{ name, value }, ...(bare === value ? [] : [{ name, value: bare }])]
    }),
  )
  const variables = [
    ...Object.entries(config.providers ?? {}).map(([id, { api_key_env }]) => {
      return { name: `provider_${id}`, variable: api_key_env }
    }),
    ...Object.entries(config.secrets ?? {}).map(([name, secret]) => {
      return { name, variable: secret.env }
    }),
  ].flatMap(({ name, variable }): Secret[] => {
    const value = variable === undefined ? undefined : env[variable]
    return value === undefined || value === '' ? [] : [{ name, value }]
  })
  const { redactor, refused } = createRedactor([...filed.flat(), ...variables])
  for (const [name, value = ''] of Object.entries(env)) {
    // Not asked for by anybody, so nobody is told when one is too short to be replaced.
    if (refusedName(name) === 'credential') redactor.register(name.toLowerCase(), value)
  }
  const warnings = refused.map(
    ({ name, why }) => `the secret ${name} is not replaced where it is written: ${why}`,
  )
  return { redactor, warnings }
}
