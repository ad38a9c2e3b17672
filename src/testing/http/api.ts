/**
 * The HTTP application over a host in a box: real rows, real files, real commands, and no network.
 * Every answer is held against the schema that the document declares for it, strictly, so that a
 * test of a route is also a test of what is said about it.
 */
import assert from 'node:assert/strict'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { ZodType } from 'zod'
import { createRedactor } from '../../domain/secrets/redact.ts'
import { buildApp, type Application } from '../../http/app.ts'
import type { HttpEnv } from '../../http/request/app-env.ts'
import type { HomePort } from '../../http/request/ports.ts'
import type { Webhook } from '../../http/inbound/webhooks.ts'
import { homePort } from '../../main/homes/home-port.ts'
import { UpkeepDesk, upkeepPort } from '../../main/serve/upkeep-lock.ts'
import type { Problem } from '../../protocol/problem.ts'
import { problemSchema } from '../../protocol/problem-schema.ts'
import { openBox, type HostFixture, type BoxOptions, type Scope } from '../host/host-fixture.ts'
import { controlToken, port } from './http-home.ts'

export type JsonBody = Record<string, unknown>

export type ApiResponse<T = JsonBody> = { status: number; headers: Headers; body: T }

export type ApiBox = {
  box: HostFixture
  home: HomePort
  app: Application
  /** Faults that came out of a route; a test that expects none asserts so. */
  errors: unknown[]
  /** Acts that reached the host, in order. */
  acts: string[]
  /** A request whose answer must be JSON of the declared schema. */
  ask<T = JsonBody>(
    method: string,
    path: string,
    body?: unknown,
    headers?: JsonBody,
  ): Promise<ApiResponse<T>>
  get<T = JsonBody>(path: string): Promise<T>
  post<T = JsonBody>(path: string, body?: unknown, headers?: JsonBody): Promise<T>
  /** The problem a request must be refused with: its status, code and sentence. */
  refused(method: string, path: string, body?: unknown, headers?: JsonBody): Promise<Problem>
}

export type ApiBoxOptions = Partial<BoxOptions> & {
  /** What the owner's process hears of open requests and running tasks. */
  liveSigns?: HomePort['liveSigns']
  /** Made before the laps begin. */
  agents?: readonly string[]
  /** Agents that the home has already. */
  known?: readonly string[]
  /** Configured webhooks by their names; none without it. */
  webhooks?: Readonly<Record<string, Webhook>>
  /** In the place of the real upkeep, which is configured to keep everything. */
  upkeep?: (box: HostFixture) => HomePort['upkeep']
}

export async function openApi(t: Scope, options: ApiBoxOptions = {}): Promise<ApiBox> {
  const { liveSigns, agents = ['main'], known = [], webhooks = {}, ...more } = options
  const { upkeep = realUpkeep, ...given } = more
  const box = await openBox(t, { models: {}, ...given })
  for (const id of agents) {
    const made = await box.host.ensureAgent({ id, model: 'scripted/model' })
    assert.ok(made.ok, `${id} was not made`)
  }
  box.host.listens(`http://127.0.0.1:${port}`)
  const acts: string[] = []
  const made = new Set([...known, ...agents])
  box.host.subscribe((notice) => {
    if (notice.kind === 'committed') made.add(notice.agent_id)
  })
  const home = homeOf(box, acts, made, { liveSigns, upkeep: upkeep(box) })
  const errors: unknown[] = []
  const app = buildApp(
    home,
    { clock: home.clock, control_token: async () => controlToken, port: () => port, hosts: [] },
    {
      version: '0.0.0',
      webhooks: {
        find: async (name) => webhooks[name] ?? null,
        now_ms: () => Date.parse(home.now()),
      },
      on_error: (error) => void errors.push(error),
    },
  )
  t.after(() => app.close())
  const ask = asking(app)
  return {
    box,
    home,
    app,
    errors,
    acts,
    ask,
    get: async (path) => accepted(path, await ask('GET', path)),
    post: async (path, body, headers) => accepted(path, await ask('POST', path, body, headers)),
    async refused(method, path, body, headers) {
      const answer = await ask(method, path, body, headers)
      assert.ok(answer.status >= 400, `${path} was not refused: ${JSON.stringify(answer.body)}`)
      return problemSchema.parse(answer.body)
    },
  }
}

const realUpkeep = ({ ledger, home }: HostFixture) =>
  upkeepPort(new UpkeepDesk(), ledger, { home, config: {} })

function homeOf(
  { host, ledger, ports }: HostFixture,
  acts: string[],
  made: Set<string>,
  {
    liveSigns,
    upkeep,
  }: { liveSigns: ApiBoxOptions['liveSigns'] | undefined; upkeep: HomePort['upkeep'] },
): HomePort {
  const home = homePort(ledger, host, {
    home: ports.home,
    started_at: '2026-01-05T09:00:00.000Z',
    async act(command) {
      acts.push(command.do)
      return host.act(command)
    },
    agent_ids: () => [...made],
    ready: () => true,
    redactor: () => Promise.resolve(ports.redactor ?? createRedactor().redactor),
    metrics: async () => '',
    upkeep,
    search: (asked) => ports.memory.search(null, asked),
  })
  const now = () => new Date(ports.clock.now()).toISOString()
  return { ...home, now, ...(liveSigns === undefined ? {} : { liveSigns }) }
}

const accepted = (path: string, { status, body }: ApiResponse<unknown>): never => {
  assert.ok(status < 300, `${path}: ${status} ${JSON.stringify(body)}`)
  // The caller names the type; the schema has been held against the answer.
  return body as never
}

function asking(application: Application): ApiBox['ask'] {
  return async (method: string, path: string, body?: unknown, headers: JsonBody = {}) => {
    const response = await application.request(path, {
      method,
      headers: {
        host: `127.0.0.1:${port}`,
        authorization: `Bearer ${controlToken}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(headers as Record<string, string>),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer: unknown = await response.json()
    holds(application.app, method, path, response.status, answer)
    return { status: response.status, headers: response.headers, body: answer as never }
  }
}

/** The answer fits the schema of its route, and nothing is in it that the schema has not. */
function holds(
  app: OpenAPIHono<HttpEnv>,
  method: string,
  path: string,
  status: number,
  answer: unknown,
): void {
  if (status >= 400) {
    problemSchema.parse(answer)
    return
  }
  const [plain = ''] = path.split('?')
  const found = app.openAPIRegistry.definitions.flatMap((one) =>
    one.type === 'route' &&
    one.route.method === method.toLowerCase() &&
    patternOf(one.route.path).test(plain)
      ? [one.route]
      : [],
  )
  const [route] = found.toSorted((a, b) => variables(a.path) - variables(b.path))
  assert.ok(route, `no route for ${method} ${plain}`)
  const declared = route.responses[String(status)]
  assert.ok(declared && 'content' in declared, `${method} ${route.path} never answers ${status}`)
  const content = declared.content?.['application/json']
  const schema = content && 'schema' in content ? (content.schema as ZodType) : undefined
  assert.ok(schema, `${method} ${route.path} declares no JSON`)
  const parsed = schema.safeParse(answer)
  if (!parsed.success) {
    const issues = JSON.stringify(parsed.error.issues, null, 1)
    assert.fail(`${method} ${route.path} ${status} does not fit its schema: ${issues}`)
  }
  assert.deepEqual(parsed.data, answer, `${method} ${route.path} answers what its schema drops`)
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`)
const variables = (path: string): number => path.split('{').length
