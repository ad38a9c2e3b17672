/**
 * `config.json` in the home, as the one schema that validates it; its published JSON Schema is
 * generated from here. Keys are checked strictly: an unknown one is an error, never ignored.
 */
import { z } from 'zod'

/** `provider/model`, or `runbook`. Whether it can be opened is found out when it is used. */
const modelName = z
  .string()
  .regex(
    /^(runbook|[^\s/]+\/\S+)$/,
    'write it as provider/model, for example anthropic/claude-sonnet-4-6',
  )

const providerSchema = z.strictObject({
  kind: z
    .enum(['anthropic', 'openai', 'openai-compatible', 'google'])
    .describe('The wire format the provider speaks.'),
  base_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Ends in /v1, as the SDKs expect.'),
  api_key_file: z.string().min(1).optional().describe('Absolute path of a 0600 file with the key.'),
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'write the name of a variable')
    .optional()
    .describe('Name of the environment variable with the key.'),
  models: z
    .array(z.string().min(1))
    .optional()
    .describe('The only model names it takes, when given.'),
})

export const configSchema = z.strictObject({
  $schema: z.string().optional().describe('Where this schema is, for editors.'),
  model: modelName.optional().describe('The model of agents that have none of their own.'),
  fallback_model: modelName.optional().describe('Takes over when the first model is spent.'),
  workspace: z
    .string()
    .regex(/^(\/|~\/|~$|[A-Za-z]:[\\/])/, 'write an absolute path, or one that begins with ~/')
    .optional()
    .describe('The folder agents work in; default: the home folder of each agent.'),
  providers: z
    .record(
      z.string().regex(/^[a-z0-9][a-z0-9._-]*$/, 'use lower-case letters, digits, . _ -'),
      providerSchema,
    )
    .optional()
    .describe('Model providers by the id that stands before the slash of a model.'),
  environment: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'write the name of a variable'))
    .optional()
    .describe('Environment variables commands may see besides PATH, HOME, LANG, TERM and TZ.'),
})

export type Config = z.infer<typeof configSchema>

/** The valid keys at a place of the file, for naming the nearest one. */
export function keysAt(path: readonly (string | number)[]): readonly string[] {
  if (path.length === 0) return Object.keys(configSchema.shape)
  if (path.length === 2 && path[0] === 'providers') return Object.keys(providerSchema.shape)
  return []
}
