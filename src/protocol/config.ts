/**
 * `config.json` in the home, as the one schema that validates it; its published JSON Schema is
 * generated from here. Keys are checked strictly: an unknown one is an error, never ignored.
 */
import { z } from 'zod'
import { hostPattern } from '../domain/policy/host.ts'
import { hookCalls, hookFields, hooksConfig } from './hook-config.ts'
import { webhookConfig, webhookName } from './webhook.ts'

/** `provider/model`, or `runbook`. Whether it can be opened is found out when it is used. */
const modelName = z
  .string()
  .regex(
    /^(runbook|[^\s/]+\/\S+)$/,
    'write it as provider/model, for example anthropic/claude-sonnet-5-5',
  )

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'write the name of a variable')

/** What stands before the slash of a model, or behind it. */
const idName = /^[a-z0-9][a-z0-9._-]*$/

/** A path and no secret: what was put in its place by mistake must not be shown by a command. */
const keyFile = z
  .string()
  .regex(/^([/.~]|[A-Za-z]:)/, 'write the path of a file, beginning with /, ~ or .')

const providerSchema = z.strictObject({
  kind: z
    .enum(['anthropic', 'openai', 'openai-compatible', 'google'])
    .describe('The wire format the provider speaks.'),
  base_url: z
    .url({ protocol: /^https?$/ })
    .regex(/^[^@]*$/, 'it holds no user and no password: put the key into api_key_file')
    .optional()
    .describe('Ends in /v1, as the SDKs expect.'),
  api_key_file: keyFile.optional().describe('Absolute path of a 0600 file with the key.'),
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'write the name of a variable')
    .optional()
    .describe('Name of the environment variable with the key.'),
  tool_streaming: z
    .boolean()
    .optional()
    .describe('Asks for calls as they are written; default: only from the provider itself.'),
  stream_idle: z
    .int()
    .min(10)
    .max(86_400)
    .optional()
    .describe('Seconds a stream may be silent; default: 600 (local 1800) at first, then 120.'),
  models: z
    .array(z.string().min(1))
    .optional()
    .describe('The only model names it takes, when given.'),
})

const acpEnvSchema = z.strictObject({
  pass: z
    .array(variableName)
    .optional()
    .describe('Variables of this process that it may see besides PATH, HOME, LANG, TERM and TZ.'),
  set: z
    .record(variableName, z.string())
    .optional()
    .describe('Variables with their values; no credentials: pass those by name.'),
})

const acpSchema = z.strictObject({
  command: z
    .string()
    .regex(/^([^/\s][^/]*|(\/|~\/).+)$/, 'write a name to be found in PATH, or an absolute path')
    .describe('The program, which speaks the Agent Client Protocol on its stdin and stdout.'),
  args: z.array(z.string()).optional().describe('Its arguments; no shell reads them.'),
  env: acpEnvSchema.optional().describe('What of the environment it sees.'),
})

const httpSchema = z.strictObject({
  host: z
    .string()
    .min(1)
    .optional()
    .describe('The address `holon serve` listens on; default 127.0.0.1.'),
  port: z.int().min(0).max(65_535).optional().describe('Its port; default 7777, 0: any free one.'),
  hosts: z
    .array(z.string().min(1))
    .optional()
    .describe('Further names it answers to, as `name` or `name:port`.'),
})

const secretSchema = z
  .strictObject({
    file: z
      .string()
      .regex(/^(\/|~\/|[A-Za-z]:[\\/])/, 'write an absolute path, or one that begins with ~/')
      .optional()
      .describe('A 0600 file with the value.'),
    env: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'write the name of a variable')
      .optional()
      .describe('The environment variable with the value.'),
  })
  .refine(
    ({ file, env }) => (file === undefined) !== (env === undefined),
    'name a file or an environment variable, one of the two',
  )

/** Days that history of ended work is kept. */
export const keepDays = z
  .int()
  .min(8, 'delivery ids are remembered for 8 days, so that is the least')
  .max(3_660)

const retentionSchema = z.strictObject({
  keep_days: keepDays.describe('Days that history of ended work is kept.'),
})

const cap = (what: string) => z.int().min(1).optional().describe(what)
const capsSchema = z.strictObject({
  open_files: cap('Files, sockets and pipes open at once.'),
  processes: cap('Processes and threads of the whole user, whoever started them; binds no root.'),
  memory_bytes: cap('Address space, of which Node, Java and Go reserve far more than they use.'),
  cpu_seconds: cap('Time on the processor, after which a process is killed.'),
})

const hosts = z
  .array(
    z
      .string()
      .max(300)
      .refine((text) => hostPattern(text) !== null, 'write name, name:port or *.name'),
  )
  .min(1, 'write a host, or "none"')
  .max(200)
  .describe('Hosts, as name, name:port or *.name; rules of policy.json add and take.')

const sandboxSchema = z.strictObject({
  network: z
    .union([z.enum(['none', 'open']), z.strictObject({ allow: hosts })], {
      error: 'write "none", "open", or {"allow": ["registry.npmjs.org:443"]}',
    })
    .optional()
    .describe('What commands may connect to: nothing (default), all, or hosts by a proxy.'),
  writable: z
    .array(z.string().regex(/^(\/|~\/)/, 'write an absolute path, or one that begins with ~/'))
    .optional()
    .describe('Folders commands may change besides the workspace and their own, as a cache.'),
})

const dollars = (what: string) => z.number().min(0).describe(what)
const priceShape = {
  input: dollars('US dollars per million tokens of input.'),
  output: dollars('US dollars per million tokens of output.'),
  cached_input: dollars('Of input read from a cache; default: as input.').optional(),
  cache_write: dollars('Of input written to a cache; default: as input.').optional(),
}

/** Tokens of a window below which an agent is told to be short of room. */
export const workableWindow = 16_000

const limit = (what: string) => z.int().min(1).optional().describe(what)
const spendLimits = z.strictObject({
  max_tokens: limit('Tokens in and out, as providers count them.'),
  max_usd: z.number().gt(0).optional().describe('US dollars, where prices are known.'),
  max_rounds: limit('Requests to models.'),
})

/** What is known of one model; each field replaces the one that came with the program. */
const modelSchema = z.strictObject({
  context_window: z
    .int()
    .min(8_000, 'tools, system text and one round need that much')
    .optional()
    .describe('Tokens of one request and its answer.'),
  max_output: z.int().min(1).optional().describe('Tokens of one answer.'),
  request_minutes: z
    .int()
    .min(1)
    .max(1_440)
    .optional()
    .describe('Minutes that one request may take; default 60.'),
  effort: z
    .enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
    .optional()
    .describe('How much it thinks, as far as it can be told; default: see docs/concepts/model.md.'),
  vision: z
    .boolean()
    .optional()
    .describe('Whether it takes images; default: as known, and false where nothing is.'),
  price: z.strictObject(priceShape).optional().describe('What it costs.'),
  long_price: z
    .strictObject({ ...priceShape, above_input_tokens: z.int().min(1) })
    .optional()
    .describe('What a request with more input than that costs instead.'),
})

export const configSchema = z.strictObject({
  $schema: z.string().optional().describe('Where this schema is, for editors.'),
  model: modelName.optional().describe('The model of agents that have none of their own.'),
  fallback_model: modelName.optional().describe('Takes over when the first model is spent.'),
  summary_model: modelName
    .regex(/^(?!runbook$|acp\/)/, 'write a model that answers requests: not runbook, not acp/…')
    .optional()
    .describe('Writes a summary beneath the recap of a compaction; default: none is written.'),
  workspace: z
    .string()
    .regex(/^(\/|~\/|~$|[A-Za-z]:[\\/])/, 'write an absolute path, or one that begins with ~/')
    .optional()
    .describe('The folder agents work in; default: the home folder of each agent.'),
  providers: z
    .record(z.string().regex(idName, 'use lower-case letters, digits, . _ -'), providerSchema)
    .refine((providers) => !Object.hasOwn(providers, 'acp'), {
      path: ['acp'],
      message: 'acp/ is for the agents under the key "acp": take another id',
    })
    .optional()
    .describe('Model providers by the id that stands before the slash of a model.'),
  models: z
    .record(modelName, modelSchema)
    .optional()
    .describe('Windows, limits and prices of models, by provider/model.'),
  acp: z
    .record(z.string().regex(idName, 'use lower-case letters, digits, . _ -'), acpSchema)
    .optional()
    .describe('Agents of other makers by the id behind `acp/`, to be spawned as children.'),
  environment: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'write the name of a variable'))
    .optional()
    .describe('Environment variables commands may see besides PATH, HOME, LANG, TERM and TZ.'),
  command_caps: capsSchema
    .optional()
    .describe('What each process of a command may use at most; default: what the machine allows.'),
  sandbox: z
    .union([z.literal('off'), sandboxSchema])
    .optional()
    .describe(
      'Shuts commands in (Linux, with bubblewrap); where it cannot, none runs. "off": none is. ' +
        'Default: those of agents with a language model, where it can; in an older home none.',
    ),
  hooks: hooksConfig
    .optional()
    .describe('Programs that are asked before a call has an effect, and may deny it or ask you.'),
  budget: z
    .strictObject({
      day: spendLimits.optional().describe('Of each UTC day.'),
      all: spendLimits.optional().describe('Of everything that ever was.'),
    })
    .optional()
    .describe('What all agents of the home together may spend; default: no limit.'),
  http: httpSchema.optional().describe('Where the daemon listens.'),
  webhooks: z
    .record(webhookName, webhookConfig)
    .optional()
    .describe('Signed deliveries at /webhooks/{agent}/{name}, by that name.'),
  secrets: z
    .record(z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'use letters, digits, . _ -'), secretSchema)
    .optional()
    .describe('Further values to be replaced by {{secret:name}} wherever something is written.'),
  retention: retentionSchema
    .optional()
    .describe('What is removed from the old end of the ledger; default: nothing.'),
  log_level: z
    .enum(['debug', 'info', 'warn', 'error'])
    .optional()
    .describe('The least important lines the daemon logs; default info.'),
})

export type Config = z.infer<typeof configSchema>

/** The valid keys at a place of the file, for naming the nearest one. */
export function keysAt(path: readonly (string | number)[]): readonly string[] {
  if (path.length === 0) return Object.keys(configSchema.shape)
  if (path.length === 1 && path[0] === 'http') return Object.keys(httpSchema.shape)
  if (path.length === 1 && path[0] === 'command_caps') return Object.keys(capsSchema.shape)
  if (path.length === 1 && path[0] === 'sandbox') return Object.keys(sandboxSchema.shape)
  if (path.length === 1 && path[0] === 'retention') return Object.keys(retentionSchema.shape)
  if (path.length === 2 && path[0] === 'secrets') return Object.keys(secretSchema.shape)
  if (path.length === 2 && path[0] === 'webhooks') return Object.keys(webhookConfig.shape)
  if (path.length === 2 && path[0] === 'providers') return Object.keys(providerSchema.shape)
  if (path.length === 2 && path[0] === 'models') return Object.keys(modelSchema.shape)
  if (path.length === 2 && path[0] === 'acp') return Object.keys(acpSchema.shape)
  if (path.length === 2 && path[0] === 'hooks') return Object.keys(hookFields.shape)
  if (path.length === 3 && path[0] === 'hooks') return Object.keys(hookCalls.shape)
  if (path.length === 3 && path[0] === 'acp') return Object.keys(acpEnvSchema.shape)
  return []
}

/**
 * A key as somebody types it, `models.openai/gpt-5.2.context_window`, as its places in the file.
 * The name of a model may have dots in it: it ends before the last part that is a key of it.
 */
export function partsOf(key: string): readonly string[] {
  const [first = '', ...rest] = key.split('.')
  const known = keysAt([first, ''])
  if (known.length === 0 || rest.length === 0) return [first, ...rest]
  const field = rest.findLastIndex((part, at) => at > 0 && known.includes(part))
  const end = field < 0 ? rest.length : field
  return [first, rest.slice(0, end).join('.'), ...rest.slice(end)]
}
