/**
 * The door as a machine: strangers and the operator open connections and ask, in any order, over
 * two peers, while time goes on and the token is rotated. A plain model says what each is answered.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Webhook as Sender } from 'standardwebhooks'
import { agentRow, done, fakeHome, port, triggerRow } from '../testing/http/http-home.ts'
import { httpLimits, lockout, rates } from './request/limits.ts'
import { Unproven } from './gate/unproven.ts'

const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`
const triggers = ['a', 'b'].map((letter) => letter.repeat(43))
const peers = ['192.0.2.1', '192.0.2.2'] as const
type Peer = (typeof peers)[number]

type Connection = { peer: Peer; open: boolean; destroy(): void }

/** What is asked over a connection; `name` makes up another path each time. */
type Ask =
  | { kind: 'token'; token: 'right' | 'wrong' | 'former' | 'none' }
  | { kind: 'webhook'; signed: boolean; name: number }
  | { kind: 'callback'; known: 0 | 1 | null; name: number }
  | { kind: 'probe' }

const ask: fc.Arbitrary<Ask> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('token' as const),
      token: fc.constantFrom('right', 'wrong', 'former', 'none'),
    }),
  },
  fc.record({
    kind: fc.constant('webhook' as const),
    signed: fc.boolean(),
    name: fc.nat(1_000_000),
  }),
  fc.record({
    kind: fc.constant('callback' as const),
    known: fc.constantFrom(0 as const, 1 as const, null),
    name: fc.nat(1_000_000),
  }),
  fc.constant({ kind: 'probe' as const }),
)

/** How full a bucket is, by the rule: what is there, what came back since, at most the burst. */
type Level = { tokens: number; at: number }

/** What the door must know, in the plainest form. */
class Model {
  now = 0
  /** By the order in which they were last heard of; `until`: when their patience ends. */
  strangers: { id: number; until: number }[] = []
  proven = new Set<number>()
  peers: Peer[] = []
  failures = new Map<Peer, { count: number; since: number; locked_until: number }>()
  buckets = new Map<string, Level>()

  isOpen(id: number): boolean {
    return this.proven.has(id) || this.strangers.some((one) => one.id === id)
  }

  takes(rate: keyof typeof rates, key: string): boolean {
    const { burst, per_second } = rates[rate]
    const { tokens, at } = this.buckets.get(`${rate} ${key}`) ?? { tokens: burst, at: this.now }
    const full = Math.min(burst, tokens + ((this.now - at) / 1_000) * per_second)
    this.buckets.set(`${rate} ${key}`, { tokens: full >= 1 ? full - 1 : full, at: this.now })
    return full >= 1
  }

  wrongToken(peer: Peer): number {
    const fresh = { count: 0, since: this.now, locked_until: 0 }
    const found = this.failures.get(peer) ?? fresh
    if (found.locked_until > this.now) return 429
    const counted = this.now - found.since >= lockout.window_ms ? fresh : found
    const count = counted.count + 1
    const locked_until = count === lockout.failures ? this.now + lockout.lock_ms : 0
    this.failures.set(peer, { ...counted, count, locked_until })
    return 401
  }

  /** The status, and whether what came proves something. */
  answer(peer: Peer, asked: Ask): { status: number; proves: boolean } {
    const stranger = (status: number) => ({ status, proves: false })
    switch (asked.kind) {
      case 'probe':
        return stranger(this.takes('probe', peer) ? 200 : 429)
      case 'token': {
        if (asked.token === 'right') return { status: 200, proves: true }
        const locked = (this.failures.get(peer)?.locked_until ?? 0) > this.now
        return stranger(asked.token === 'none' ? (locked ? 429 : 401) : this.wrongToken(peer))
      }
      case 'webhook': {
        // Made-up names, names of agents and signed ones draw from one bucket.
        if (!this.takes('webhook', peer)) return stranger(429)
        return asked.signed ? { status: 202, proves: true } : stranger(404)
      }
      case 'callback': {
        if (asked.known === null) return stranger(this.takes('unknown_trigger', peer) ? 404 : 429)
        const taken = this.takes('callback', `trig_${asked.known}`)
        return { status: taken ? 202 : 429, proves: true }
      }
    }
  }
}

type Request = { path: string; method: string; headers: Record<string, string>; body?: string }

class Real {
  readonly fake = fakeHome()
  readonly pool = new Unproven<Connection>(this.fake.clock)
  readonly connections: Connection[] = []
  #former = 'no-token-of-any-time-0123456789abcdefghijkl'
  #rotations = 0

  constructor() {
    this.fake.put('agents', agentRow('main'))
    triggers.forEach((token, n) =>
      this.fake.put('triggers', triggerRow('main', token, { id: `trig_${n}` })),
    )
    const config = { scheme: 'standard' as const, secret_files: [] }
    this.fake.webhooks.set('billing', { config, secrets: [secret], also_from: [] })
    this.fake.state.reply = () => done({ message_id: 'msg_0001', id: 'dlv_0001' })
  }

  rotate(): void {
    this.#former = this.fake.state.token ?? ''
    this.#rotations += 1
    this.fake.state.token = `${this.#rotations}-${'n'.repeat(43)}`
  }

  async ask({ peer }: Connection, asked: Ask, proved: () => void): Promise<number> {
    const { path, headers, ...init } = this.#request(asked)
    const all = { host: `127.0.0.1:${port}`, ...headers }
    const answer = await this.fake.app.request(
      path,
      { ...init, headers: all },
      { remote: peer, proved },
    )
    return answer.status
  }

  #request(asked: Ask): Request {
    switch (asked.kind) {
      case 'probe':
        return { path: '/healthz', method: 'GET', headers: {} }
      case 'token': {
        const right = this.fake.state.token ?? ''
        const token = { right, wrong: 'x'.repeat(43), former: this.#former }
        const headers: Record<string, string> =
          asked.token === 'none' ? {} : { authorization: `Bearer ${token[asked.token]}` }
        return { path: '/openapi.json', method: 'GET', headers }
      }
      case 'webhook': {
        const at = new Date(this.fake.clock.now())
        const headers = {
          'content-type': 'application/json',
          'webhook-id': `id_${asked.name}`,
          'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
          'webhook-signature': new Sender(secret).sign(`id_${asked.name}`, at, '{}'),
        }
        const path = asked.signed ? '/webhooks/main/billing' : `/webhooks/a${asked.name}/b`
        return { path, method: 'POST', headers, body: '{}' }
      }
      case 'callback': {
        const token = asked.known === null ? `u${asked.name}` : triggers[asked.known]
        const headers = { 'content-type': 'text/plain' }
        const path = `/callbacks/${token}`
        return { path, method: 'POST', headers, body: 'news' }
      }
    }
  }
}

type Step = fc.AsyncCommand<Model, Real>

/** After each step the same connections are open, and the pool holds as many strangers. */
function compare(model: Model, real: Real): void {
  const open = real.connections.flatMap(({ open }, id) => (open ? [id] : []))
  const wanted = [...model.proven, ...model.strangers.map(({ id }) => id)]
  assert.deepEqual(
    open,
    wanted.toSorted((a, b) => a - b),
  )
  assert.equal(real.pool.size, model.strangers.length)
  assert.ok(real.pool.size <= httpLimits.unproven.value)
}

const opens = (peer: Peer, count: number): Step => ({
  check: () => true,
  run(model, real) {
    for (let n = 0; n < count; n += 1) {
      const connection = { peer, open: true, destroy: () => void (connection.open = false) }
      if (model.strangers.length >= httpLimits.unproven.value) model.strangers.shift()
      const until = model.now + httpLimits.headers_timeout.value
      model.strangers.push({ id: real.connections.push(connection) - 1, until })
      model.peers.push(peer)
      real.pool.opened(connection)
    }
    compare(model, real)
    return Promise.resolve()
  },
  toString: () => `${count} connections of ${peer}`,
})

/** Over the open connection that `which` counts to, so that runs shrink. */
const asks = (which: number, asked: Ask, times: number): Step => ({
  check: (model) => model.proven.size + model.strangers.length > 0,
  async run(model, real) {
    const open = real.connections.flatMap(({ open }, id) => (open ? [id] : []))
    const id = open[which % open.length] ?? assert.fail()
    const connection = real.connections[id] ?? assert.fail()
    for (let n = 0; n < times; n += 1) {
      const one = 'name' in asked ? { ...asked, name: asked.name + n } : asked
      const wanted = model.answer(connection.peer, one)
      real.pool.asked(connection)
      const status = await real.ask(connection, one, () => real.pool.proved(connection))
      real.pool.answered(connection)
      assert.equal(status, wanted.status)
      if (model.proven.has(id)) continue
      model.strangers = model.strangers.filter((other) => other.id !== id)
      const until = model.now + httpLimits.headers_timeout.value
      if (wanted.proves) model.proven.add(id)
      else model.strangers.push({ id, until })
    }
    compare(model, real)
  },
  toString: () => `${times} times over ${which}: ${JSON.stringify(asked)}`,
})

const passes = (ms: number): Step => ({
  check: () => true,
  async run(model, real) {
    await real.fake.clock.advance(ms)
    model.now += ms
    model.strangers = model.strangers.filter(({ until }) => until > model.now)
    compare(model, real)
  },
  toString: () => `${ms} ms`,
})

const rotates: Step = {
  check: () => true,
  run: (_, real) => Promise.resolve(real.rotate()),
  toString: () => 'a new token',
}

const goes = (which: number): Step => ({
  check: (model) => model.proven.size + model.strangers.length > 0,
  run(model, real) {
    const open = real.connections.flatMap(({ open }, id) => (open ? [id] : []))
    const id = open[which % open.length] ?? assert.fail()
    const connection = real.connections[id] ?? assert.fail()
    connection.destroy()
    real.pool.gone(connection)
    model.proven.delete(id)
    model.strangers = model.strangers.filter((other) => other.id !== id)
    compare(model, real)
    return Promise.resolve()
  },
  toString: () => `${which} goes`,
})

const peer = fc.constantFrom(...peers)
const steps = fc.commands<Model, Real, false>(
  [
    fc.tuple(peer, fc.constantFrom(1, 3, 70)).map(([peer, count]) => opens(peer, count)),
    fc
      .tuple(fc.nat(100), ask, fc.constantFrom(1, 1, 4, 25))
      .map(([which, asked, times]) => asks(which, asked, times)),
    // More than any burst of strangers: the names do not multiply the bucket.
    fc
      .nat(100)
      .map((which) => asks(which, { kind: 'webhook', signed: false, name: 2_000_000 }, 600)),
    fc.constantFrom(1, 999, 4_999, 5_000, 30_000, 60_000).map(passes),
    fc.constant(rotates),
    fc.nat(100).map(goes),
  ],
  { maxCommands: 60, size: 'max' },
)

test('in any order of strangers and operators the door answers by its rules', async () => {
  await fc.assert(
    fc.asyncProperty(steps, (commands) =>
      fc.asyncModelRun(() => ({ model: new Model(), real: new Real() }), commands),
    ),
    { numRuns: 40 },
  )
})
