/**
 * From a verified delivery to what a wait may name: `source`, `resource` and one line of summary,
 * by the templates of the configuration or the presets below. Pure, and total over hostile JSON:
 * it reads own properties only, never walks what it was not pointed at, and bounds what it makes.
 */
import {
  longestName,
  longestSummary,
  parseTemplate,
  type TemplatePart,
  type WebhookMapping,
} from '../../protocol/webhook.ts'
import type { HeaderReader } from './signature.ts'

/** `json` is the parsed body, or undefined when it is none (or has none). */
export type Mappable = { json: unknown; headers: HeaderReader }

/**
 * `mapping_failed` is the reason of a dead letter: the webhook is configured for something the
 * delivery does not have. `event_ignored` is no failure: the configuration asks for other events,
 * so the sender gets its 2xx and nothing is stored.
 */
export type Mapped =
  | { ok: true; source: string; resource: string | null; summary: string | null }
  | { ok: false; code: 'mapping_failed' | 'event_ignored'; message: string }

type Filled = { ok: true; text: string } | { ok: false; why: string }

export function mapDelivery(mapping: WebhookMapping, delivery: Mappable): Mapped {
  const event = eventOf(mapping, delivery)
  const ignored = whyIgnored(mapping, event)
  if (ignored !== null) return { ok: false, code: 'event_ignored', message: ignored }
  const resource = mapping.resource
    ? fill(mapping.resource, delivery)
    : preset(resourcesOf(mapping, event), delivery)
  if (resource !== null && !resource.ok) return failed('resource', resource.why)
  if (resource !== null && resource.text === '') return failed('resource', 'it is empty')
  if (resource !== null && resource.text.length > longestName) {
    // Cut short it could be the name of something else.
    const says = `it has ${resource.text.length} characters, at most ${longestName} are a name`
    return failed('resource', says)
  }
  const summary = mapping.summary
    ? fill(mapping.summary, delivery)
    : preset(summariesOf(mapping, event), delivery)
  if (summary !== null && !summary.ok) return failed('summary', summary.why)
  return {
    ok: true,
    source: mapping.source ?? mapping.name,
    resource: resource?.text ?? null,
    summary: summary === null || summary.text === '' ? null : cut(summary.text),
  }
}

const failed = (what: string, why: string): Mapped => ({
  ok: false,
  code: 'mapping_failed',
  message: `The ${what} cannot be made: ${why}.`,
})

/** What happened: `{X-GitHub-Event}[.action]` of GitHub, the `type` of Standard Webhooks. */
function eventOf(mapping: WebhookMapping, delivery: Mappable): string {
  switch (mapping.scheme) {
    case 'github':
      return (
        filled('{header:x-github-event}.{/action}', delivery) ||
        filled('{header:x-github-event}', delivery)
      )
    case 'standard':
      return filled('{/type}', delivery)
  }
}

/** A name in `events` takes that event and those below it: `invoice` takes `invoice.paid`. */
function whyIgnored(mapping: WebhookMapping, event: string): string | null {
  const { events } = mapping
  if (events === undefined) {
    const isPing = mapping.scheme === 'github' && event === 'ping'
    return isPing
      ? 'A ping says that the webhook was set up; it is answered and not delivered.'
      : null
  }
  if (event === '') return 'The delivery does not say what event it is.'
  if (events.some((taken) => event === taken || event.startsWith(`${taken}.`))) return null
  return `The event ${JSON.stringify(cut(event))} is not among those this webhook takes.`
}

const onNumber = (place: string): string[] => [`{/repository/full_name}#{/${place}/number}`]
const onSha = (place: string): string[] => [`{/repository/full_name}@{/${place}}`]

/** What GitHub's events are about, by their name without the action. */
const githubResources: Readonly<Record<string, readonly string[]>> = {
  pull_request: onNumber('pull_request'),
  pull_request_review: onNumber('pull_request'),
  pull_request_review_comment: onNumber('pull_request'),
  pull_request_review_thread: onNumber('pull_request'),
  issues: onNumber('issue'),
  issue_comment: onNumber('issue'),
  check_suite: onSha('check_suite/head_sha'),
  check_run: onSha('check_run/head_sha'),
  workflow_run: onSha('workflow_run/head_sha'),
  workflow_job: onSha('workflow_job/head_sha'),
  push: onSha('after'),
  status: onSha('sha'),
  deployment: onSha('deployment/sha'),
  deployment_status: onSha('deployment/sha'),
}

const titled = (what: string, place: string): string[] => [`${what} {/action}: {/${place}/title}`]
const concluded = (what: string, place: string, name: string): string[] => [
  `${what} {/${place}/conclusion}: {/${place}/${name}}`,
  `${what} {/action}: {/${place}/${name}}`,
]

/** The first that the body has everything for. */
const githubSummaries: Readonly<Record<string, readonly string[]>> = {
  pull_request: titled('pull request', 'pull_request'),
  pull_request_review: [
    'review {/review/state} by {/review/user/login}: {/pull_request/title}',
    ...titled('review', 'pull_request'),
  ],
  pull_request_review_comment: titled('review comment', 'pull_request'),
  issues: titled('issue', 'issue'),
  issue_comment: [
    'comment {/action} by {/comment/user/login}: {/issue/title}',
    ...titled('comment', 'issue'),
  ],
  check_suite: concluded('check suite', 'check_suite', 'head_branch'),
  check_run: concluded('check run', 'check_run', 'name'),
  workflow_run: concluded('workflow run', 'workflow_run', 'name'),
  workflow_job: concluded('workflow job', 'workflow_job', 'name'),
  push: ['push to {/ref}: {/head_commit/message}', 'push to {/ref}'],
  status: ['status {/state}: {/context}'],
  deployment_status: ['deployment {/deployment_status/state}: {/deployment/environment}'],
}

/** `pull_request` of `pull_request.opened`. */
const kindOf = (event: string): string => event.split('.')[0] ?? ''

const listed = (table: Readonly<Record<string, readonly string[]>>, kind: string) =>
  Object.hasOwn(table, kind) ? (table[kind] ?? []) : []

function resourcesOf(mapping: WebhookMapping, event: string): readonly string[] {
  if (mapping.scheme === 'standard') return []
  return [...listed(githubResources, kindOf(event)), '{/repository/full_name}']
}

function summariesOf(mapping: WebhookMapping, event: string): readonly string[] {
  if (mapping.scheme === 'standard') return ['{/type}']
  const general = ['{header:x-github-event} {/action}', '{header:x-github-event}']
  return [...listed(githubSummaries, kindOf(event)), ...general]
}

/** The first of the templates that can be filled; null when none can: a preset asks for nothing. */
function preset(templates: readonly string[], delivery: Mappable): Filled | null {
  for (const template of templates) {
    const made = fill(template, delivery)
    if (made.ok && made.text !== '') return made
  }
  return null
}

/** The text, or '' when a part is missing. */
function filled(template: string, delivery: Mappable): string {
  const made = fill(template, delivery)
  return made.ok ? made.text : ''
}

function fill(template: string, delivery: Mappable): Filled {
  const read = parseTemplate(template)
  // The configuration was checked when it was read: this is a bug, not a delivery's doing.
  if (!read.ok) throw new Error(`template ${JSON.stringify(template)}: ${read.why}`)
  let text = ''
  for (const part of read.parts) {
    const piece = pieceOf(part, delivery)
    if (!piece.ok) return piece
    text += piece.text
  }
  return { ok: true, text: oneLine(text) }
}

/** Characters read of one value: enough for any name, and no work for a huge one. */
const longestPiece = 1_000

function pieceOf(part: TemplatePart, { json, headers }: Mappable): Filled {
  switch (part.kind) {
    case 'text':
      return { ok: true, text: part.text }
    case 'header': {
      const value = headers.get(part.name)
      if (value === null) return { ok: false, why: `the header ${part.name} is missing` }
      return { ok: true, text: value.slice(0, longestPiece) }
    }
    case 'pointer': {
      if (json === undefined) return { ok: false, why: `${part.pointer}: the body is not JSON` }
      const value = valueAt(json, part.steps)
      if (value === undefined) return { ok: false, why: `the body has nothing at ${part.pointer}` }
      if (value === null || typeof value === 'object') {
        const kind = value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object'
        return { ok: false, why: `${part.pointer} is ${kind}, not a text or a number` }
      }
      return { ok: true, text: String(value).slice(0, longestPiece) }
    }
  }
}

/** RFC 6901 over own properties and elements; undefined when nothing is there. */
function valueAt(json: unknown, steps: readonly string[]) {
  let value = json
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined
    if (Array.isArray(value) && !/^(0|[1-9][0-9]*)$/.test(step)) return undefined
    if (!Object.hasOwn(value, step)) return undefined
    value = (value as Record<string, unknown>)[step]
  }
  return value as string | number | boolean | object | null | undefined
}

/** Control characters, line ends, and what changes the direction or hides: gone or one blank. */
function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll(/\p{Cf}+/gu, '')
    .trim()
}

function cut(text: string): string {
  if (text.length <= longestSummary) return text
  return `${text
    .slice(0, longestSummary - 1)
    .toWellFormed()
    .replace(/\uFFFD$/, '')}…`
}
