/**
 * Who comes in, in one order for every route (docs/spec/http.md#who-comes-in,
 * docs/spec/http.md#limits-of-strangers): method, Host, Origin, length, capability, rate, recovery,
 * and only then the body is read. A refusal here has read nothing and done nothing. Loopback gets
 * no exception.
 */
import { createHash } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { jsonExcess } from '../../protocol/records/records.ts'
import type { HttpEnv } from '../request/app-env.ts'
import { readBody, utf8 } from '../request/body.ts'
import { httpLimits } from '../request/limits.ts'
import { nothingHere } from '../inbound/delivery.ts'
import { ownHosts } from './own-hosts.ts'
import type { GatePorts, HomePort, TriggerCapability } from '../request/ports.ts'
import { refuse, type Refusal } from '../request/problem.ts'
import { Lockout, RateLimit } from './rate-limit.ts'
import { checkAgainst } from './token.ts'

const methods = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE']

/** What a path is to the gate: who needs which capability. */
export type RouteAccess =
  | { kind: 'probe' }
  | { kind: 'callback'; token: string }
  | { kind: 'webhook' }
  | { kind: 'api'; takes_files: boolean }

/** The routes that an item comes in by, or words with images. */
const takesFiles = /^\/(?:operator|agents\/[^/]+\/(?:imports|messages))$/

/** By the same path the router goes by; whatever is not one of the three public forms is `api`. */
export function doorOf(path: string): RouteAccess {
  if (path === '/healthz' || path === '/readyz') return { kind: 'probe' }
  const [, first, second, third, ...rest] = path.split('/')
  const takes_files = takesFiles.test(path)
  if (rest.length > 0 || second === undefined || second === '') return { kind: 'api', takes_files }
  if (first === 'callbacks' && third === undefined) return { kind: 'callback', token: second }
  if (first === 'webhooks' && third !== undefined && third !== '') {
    return { kind: 'webhook' }
  }
  return { kind: 'api', takes_files }
}

/** The hash under which the token of a trigger is stored. */
export const tokenHash = (token: string): string => createHash('sha256').update(token).digest('hex')

export function gate(ports: GatePorts, home: HomePort): MiddlewareHandler<HttpEnv> {
  const monotonic = () => ports.clock.monotonic()
  const state: State = {
    ports,
    home,
    limit: new RateLimit(monotonic),
    lockout: new Lockout(monotonic),
    tokenIsValid: checkAgainst(() => ports.control_token()),
  }
  return async (c, next) => {
    const door = doorOf(c.req.path)
    const own = ownHosts(ports.port(), ports.hosts)
    const refusal =
      methodRefusal(c) ??
      hostRefusal(c, own) ??
      originRefusal(c, own) ??
      lengthRefusal(c, door) ??
      (await capabilityRefusal(c, door, state)) ??
      recoveryRefusal(door, ports) ??
      (await bodyRefusal(c, door, state))
    if (refusal !== null) return refusal
    return next()
  }
}

type State = {
  ports: GatePorts
  home: HomePort
  limit: RateLimit
  lockout: Lockout
  tokenIsValid: (token: string) => Promise<boolean>
}

type C = Context<HttpEnv>

function methodRefusal(c: C): Refusal | null {
  if (methods.includes(c.req.method)) return null
  const message = 'No route takes this method.'
  return refuse({ code: 'method_not_allowed', message }, { allow: methods.join(', ') })
}

function hostRefusal(c: C, own: ReadonlySet<string>): Refusal | null {
  const host = c.req.header('host')?.toLowerCase()
  if (host !== undefined && own.has(host)) return null
  return refuse({ code: 'wrong_host', message: 'This server answers to its own names only.' })
}

function originRefusal(c: C, own: ReadonlySet<string>): Refusal | null {
  const origin = c.req.header('origin')
  const site = c.req.header('sec-fetch-site')
  const isOwn = (text: string) => {
    const found = /^https?:\/\/([^/]+)$/.exec(text.toLowerCase())
    return found?.[1] !== undefined && own.has(found[1])
  }
  if (
    (origin === undefined || isOwn(origin)) &&
    (site === undefined || site === 'same-origin' || site === 'none')
  ) {
    return null
  }
  return refuse({ code: 'foreign_origin', message: 'A page of another origin sent this request.' })
}

const capOf = (door: RouteAccess) => {
  if (door.kind !== 'api') return httpLimits.ingress_body
  return door.takes_files ? httpLimits.import_body : httpLimits.api_body
}

function tooLarge(door: RouteAccess): Refusal {
  const message = `A body of this route has at most ${capOf(door).value} bytes.`
  return refuse({ code: 'too_large', message }, { connection: 'close' })
}

function lengthRefusal(c: C, door: RouteAccess): Refusal | null {
  const length = c.req.header('content-length')
  if (length === undefined) return null
  if (!/^\d{1,15}$/.test(length)) {
    return refuse({ code: 'bad_request', message: 'The content-length is not a number.' })
  }
  return Number(length) > capOf(door).value ? tooLarge(door) : null
}

const later = (code: 'rate_limited' | 'locked_out', message: string, wait_ms: number): Refusal =>
  refuse({ code, message }, { 'retry-after': String(Math.max(1, Math.ceil(wait_ms / 1_000))) })

const busy = (wait_ms: number): Refusal | null =>
  wait_ms === 0 ? null : later('rate_limited', 'Too many requests in a short time.', wait_ms)

const peerOf = (c: C): string => c.env?.remote ?? ''

/** The capability, and then its rate: nobody else can use up the bucket of a capability. */
async function capabilityRefusal(c: C, door: RouteAccess, state: State): Promise<Refusal | null> {
  const { limit, home } = state
  switch (door.kind) {
    case 'probe':
      return busy(limit.take('probe', peerOf(c)))
    case 'webhook':
      // Its capability is the signature over the body, which the route checks. Until then it is a
      // stranger: what a path names is made up as easily as not, and makes no bucket of its own.
      return busy(limit.take('webhook', peerOf(c)))
    case 'callback': {
      const trigger = await triggerOf(home, door.token)
      if (trigger === null) return busy(limit.take('unknown_trigger', peerOf(c))) ?? nothingHere()
      c.env?.proved?.()
      c.set('trigger', trigger)
      return busy(limit.take('callback', trigger.id))
    }
    case 'api':
      return (
        (await tokenRefusal(c, state)) ?? busy(limit.take(isRead(c) ? 'read' : 'write', 'control'))
      )
  }
}

/** Null for a token that never was, is revoked, or whose agent is private or gone. */
async function triggerOf({ reads }: HomePort, token: string): Promise<TriggerCapability | null> {
  const trigger = await reads.triggerByToken(tokenHash(token))
  if (trigger?.status !== 'active') return null
  const agent = await reads.row('agents', trigger.agent_id)
  const reachable = agent?.visibility === 'public' && agent.state !== 'deleted'
  return reachable ? trigger : null
}

/** What comes from outside is stored all the same; its sender need not come again. */
function recoveryRefusal({ kind }: RouteAccess, { recovering }: GatePorts): Refusal | null {
  if (kind !== 'api' || recovering?.() !== true) return null
  const message = 'The home is still being recovered.'
  return refuse({ code: 'not_ready', message }, { 'retry-after': '1' })
}

const isRead = (c: C): boolean => c.req.method === 'GET' || c.req.method === 'HEAD'

/**
 * The right token is always served: everybody on this machine, and behind one proxy, is one peer,
 * and whoever sends wrong tokens must not lock the operator out. Only wrong ones are slowed.
 */
async function tokenRefusal(c: C, { lockout, tokenIsValid }: State): Promise<Refusal | null> {
  const [, token] = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '') ?? []
  if (token !== undefined && (await tokenIsValid(token))) {
    c.env?.proved?.()
    return null
  }
  const locked = lockout.locked(peerOf(c))
  if (locked > 0) return later('locked_out', 'Too many wrong tokens came from here.', locked)
  // Without any token nothing was guessed.
  if (token !== undefined) lockout.failed(peerOf(c))
  const message = 'The control token of the home is missing or wrong.'
  return refuse({ code: 'unauthorized', message }, { 'www-authenticate': 'Bearer' })
}

/** Reads the body. Nothing of it is parsed here but its nesting. */
async function bodyRefusal(c: C, door: RouteAccess, { ports }: State): Promise<Refusal | null> {
  if (isRead(c)) return null
  const encoding = c.req.header('content-encoding')
  if (encoding !== undefined && encoding !== 'identity') {
    const message = 'Encoded bodies are not taken.'
    return refuse({ code: 'unsupported_media_type', message, hint: 'Send the body as it is.' })
  }
  const read = await readBody(c.req.raw, capOf(door).value, ports.clock)
  if (!read.ok) return unread(read.code, door)
  c.set('body', read.bytes)
  // Who parses later gets these bytes, and never reads the request itself.
  Object.assign(c.req.bodyCache, { arrayBuffer: Promise.resolve(read.bytes.buffer) })
  return door.kind === 'api' && read.bytes.length > 0 ? jsonRefusal(c, read.bytes) : null
}

function unread(code: 'too_large' | 'body_timeout' | 'bad_request', door: RouteAccess): Refusal {
  switch (code) {
    case 'too_large':
      return tooLarge(door)
    case 'body_timeout':
      return refuse({ code, message: 'The body did not arrive.' }, { connection: 'close' })
    case 'bad_request':
      return refuse({ code, message: 'The body broke off.' })
  }
}

/** The API takes JSON and nothing else, so that no plain form of a web page is ever a request. */
function jsonRefusal(c: C, bytes: Uint8Array): Refusal | null {
  const type = c.req.header('content-type') ?? ''
  if (!/^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(type)) {
    const message = 'A request has a body of application/json.'
    return refuse({ code: 'unsupported_media_type', message })
  }
  const most = { depth: httpLimits.json_depth.value, values: httpLimits.json_values.value }
  switch (jsonExcess(bytes, most)) {
    case 'depth':
      return refuse({ code: 'too_deep', message: 'The body is too deep.' })
    case 'values':
      return refuse({ code: 'too_large', message: `It has more than ${most.values} values.` })
    case null:
  }
  const text = utf8(bytes)
  if (text === null) return refuse({ code: 'not_json', message: 'The body is not UTF-8.' })
  Object.assign(c.req.bodyCache, { text: Promise.resolve(text) })
  return null
}
