/**
 * A signed webhook as the configuration describes it: whose signature, where its secrets are, which
 * agents it may reach, and how a delivery becomes `source`, `resource` and one line. Templates are
 * parsed here, so that a wrong one is an error of the configuration, with its place.
 */
import { z } from 'zod'

export const webhookSchemes = ['standard', 'github'] as const
export type WebhookScheme = (typeof webhookSchemes)[number]

/** The name stands in the URL, `/webhooks/{agent}/{name}`, and is the default source. */
export const webhookName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'use lower-case letters, digits, . _ -, at most 64')

/** Secrets of one endpoint at a time: the present one, and those it replaces. */
export const mostSecrets = 4
/** Characters of a source or a resource: a name, compared with what a wait names. */
export const longestName = 200
/** Characters of a summary: one line in lists and prompts. */
export const longestSummary = 200
/** Characters of a template. */
const longestTemplate = 500

/**
 * A piece of a template: text as it stands, a value of the JSON body by its pointer (RFC 6901, as
 * its decoded steps), or a header.
 */
export type TemplatePart =
  | { kind: 'text'; text: string }
  | { kind: 'pointer'; pointer: string; steps: readonly string[] }
  | { kind: 'header'; name: string }

export type TemplateRead = { ok: true; parts: TemplatePart[] } | { ok: false; why: string }

/**
 * Reads `text {/json/pointer} {header:name}`; `{{` and `}}` are braces. `why` is a sentence without
 * a full stop, for the error of a configuration.
 */
export function parseTemplate(template: string): TemplateRead {
  const parts: TemplatePart[] = []
  const pattern = /\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+/g
  for (const [found, inside] of template.matchAll(pattern)) {
    if (found === '{' || found === '}') {
      return { ok: false, why: `a single "${found}" stands alone; write it twice` }
    }
    if (inside === undefined) parts.push({ kind: 'text', text: plain(found) })
    else {
      const part = placeholder(inside)
      if (typeof part === 'string') return { ok: false, why: part }
      parts.push(part)
    }
  }
  return { ok: true, parts }
}

const plain = (found: string): string => (found === '{{' ? '{' : found === '}}' ? '}' : found)

function placeholder(inside: string): TemplatePart | string {
  const header = /^header:([A-Za-z0-9-]+)$/.exec(inside)?.[1]
  if (header !== undefined) return { kind: 'header', name: header.toLowerCase() }
  if (!inside.startsWith('/')) {
    return `{${inside}} is neither {/json/pointer} nor {header:name}`
  }
  if (/~(?![01])/.test(inside)) return `{${inside}} has a ~ that is neither ~0 nor ~1`
  const steps = inside.slice(1).split('/')
  const decoded = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return { kind: 'pointer', pointer: inside, steps: decoded }
}

const template = z
  .string()
  .min(1)
  .max(longestTemplate)
  .superRefine((text, context) => {
    const read = parseTemplate(text)
    if (!read.ok) context.addIssue({ code: 'custom', message: read.why })
  })

const absolutePath = z
  .string()
  .regex(/^(\/|~\/|[A-Za-z]:[\\/])/, 'write an absolute path, or one that begins with ~/')

const noSecret = 'a webhook without a secret cannot be enabled: name a 0600 file with its secret'

export const webhookConfig = z.strictObject({
  scheme: z
    .enum(webhookSchemes)
    .describe('Whose signature: standard (Standard Webhooks, webhook-signature) or github.'),
  secret_files: z
    .array(absolutePath, {
      error: ({ input }) => (input === undefined ? noSecret : undefined),
    })
    .min(1, noSecret)
    .max(mostSecrets)
    .describe('Files of mode 0600 with one secret each; several while one replaces another.'),
  agents: z
    .array(z.string().min(1))
    .min(1, 'name an agent, or leave agents out to allow every public one')
    .optional()
    .describe('The only agents it may reach; default: every public one.'),
  source: z
    .string()
    .min(1)
    .max(longestName)
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'write one line without control characters')
    .optional()
    .describe('What a wait names as its source; default: the name of the webhook.'),
  resource: template.optional().describe('What a delivery is about, as a template.'),
  summary: template.optional().describe('One line that says what happened, as a template.'),
  events: z
    .array(z.string().min(1).max(longestName))
    .min(1, 'name an event, or leave events out to take all')
    .optional()
    .describe('The only events taken, as type or type.action; others are answered and dropped.'),
})

export type WebhookConfig = z.infer<typeof webhookConfig>

/** What mapping a delivery takes of a webhook. */
export type WebhookMapping = { name: string } & Pick<
  WebhookConfig,
  'scheme' | 'source' | 'resource' | 'summary' | 'events'
>
