/**
 * `GET /openapi.json`: OpenAPI 3.1, generated from the schemas that validate. The same document is
 * kept in `docs/reference/openapi.json`, where a check finds it stale.
 */
import { z } from '@hono/zod-openapi'
import type { HttpApp } from './request/app-env.ts'
import { httpLimits } from './request/limits.ts'

type Document = ReturnType<HttpApp['getOpenAPI31Document']>
type Operation = NonNullable<NonNullable<Document['paths']>[string]['get']>

const methods = ['get', 'post', 'patch', 'delete'] as const

const about = `The control API of one home. It listens on loopback, and every request but probes,
callbacks and webhooks needs the home's control token. A write answers 2xx when it is durable; a
refusal is a problem document (RFC 9457), and each type has a page in docs/reference/problems.
Wherever an id stands, its noun and last four characters will do while that is unique.`

/** The whole document of what is registered. */
export function documentOf(app: HttpApp, version: string): Document {
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Holon',
      version,
      description: about.replaceAll('\n', ' '),
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:7777' }],
    security: [{ control_token: [] }],
  })
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const method of methods) {
      const operation = item[method]
      if (operation !== undefined) complete(operation, method, path)
    }
  }
  return document
}

/** What holds for every operation of a kind is said in one place. */
function complete(operation: Operation, method: string, path: string): void {
  operation.operationId = operationId(method, path)
  const { responses = {} } = operation
  if (method === 'post' && operation.security === undefined && makes(responses)) {
    operation.parameters = [
      ...(operation.parameters ?? []),
      { $ref: '#/components/parameters/IdempotencyKey' },
    ]
  }
  operation.responses = Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      isRefusal(response) ? { $ref: '#/components/responses/Problem' } : response,
    ]),
  )
}

const makes = (responses: object): boolean => '201' in responses || '202' in responses

const isRefusal = (response: object): boolean =>
  'content' in response && Object.hasOwn(response.content as object, 'application/problem+json')

/** `postAgentsByAgentMessages` of `POST /agents/{agent}/messages`. */
function operationId(method: string, path: string): string {
  const words = path.replace('.', '-').replaceAll('{', 'by-').replaceAll('}', '')
  return [method, ...words.split(/[/_-]+/).filter((word) => word !== '')]
    .map((word, n) => (n === 0 ? word : `${word.charAt(0).toUpperCase()}${word.slice(1)}`))
    .join('')
}

export function register(app: HttpApp, version: string): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'control_token', {
    type: 'http',
    scheme: 'bearer',
    description: 'The text of `control-token` in the home, or of `HOLON_CONTROL_TOKEN`.',
  })
  app.openAPIRegistry.registerComponent('parameters', 'IdempotencyKey', {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'The same key with the same request within 24 hours is answered with the first reply; with ' +
      'another request it is refused.',
    schema: { type: 'string', minLength: 1, maxLength: httpLimits.idempotency_key.value },
  })
  app.openAPIRegistry.registerComponent('responses', 'Problem', {
    description: 'Refused: the problem document says why, and what to do.',
    content: {
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
    },
  })
  app.openAPIRegistry.registerPath({
    method: 'get',
    path: '/openapi.json',
    tags: ['health'],
    summary: 'This document',
    responses: {
      200: {
        description: 'OpenAPI 3.1.',
        content: { 'application/json': { schema: z.record(z.string(), z.unknown()) } },
      },
    },
  })
  let text: string | null = null
  app.get('/openapi.json', (c) => {
    text ??= JSON.stringify(documentOf(app, version))
    return c.body(text, 200, { 'content-type': 'application/json' })
  })
}
