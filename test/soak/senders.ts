/**
 * The outside world of the soak: programs that deliver and do not believe that anything arrived
 * before they were told so. Each keeps its own ledger of what was acknowledged, sends again under
 * the same id whatever was not, and now and then what was, which must be answered with the first.
 */
import { createHash, createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { eventOf, pleaseWatch } from './model.ts'
import type { Random } from './random.ts'

export type Kind = 'trigger' | 'standard' | 'github' | 'message' | 'schedule'

/** What a sender was told: of a schedule the id is the schedule's, else the message's. */
export type Acknowledged = {
  kind: Kind
  agent_id: string
  /** What the sender calls it; of GitHub the digest of what it signed. */
  sender_id: string
  /** The body as it was sent. */
  body: string
  id: string
  delivery_id: string | null
  /** Requests until the first answer, and repetitions after it. */
  tries: number
  repeated: number
}

/** Where the senders find the daemon; the address stays the same over every restart. */
export type Door = {
  base_url: string
  token: string
  /** By agent. */
  callbacks: Readonly<Record<string, string>>
  standard_secret: string
  github_secret: string
}

type Sending = Pick<Acknowledged, 'kind' | 'agent_id' | 'sender_id' | 'body'>
type Request = { url: string; headers: Record<string, string>; status: number }
type Told = { id: string; delivery_id: string | null }

/** Of the operator's messages every third asks to watch something. */
const watchEvery = 3
/** Ids of a sender, however short its time was. */
const least = 3
/** Milliseconds between two tries of what was not acknowledged. */
const beforeNextTry = 60
/** Milliseconds until a request is given up: the daemon died with the connection half open. */
const patience = 5_000

export class Sender {
  readonly acknowledged: Acknowledged[] = []
  /** Labels of schedules too late for their only moment: nothing may be stored of them. */
  readonly refused: string[] = []
  /** What must never be: a wrong status, two answers for one id. */
  readonly problems: string[] = []
  readonly #kind: Kind
  readonly #agents: readonly string[]
  readonly #door: Door
  readonly #random: Random
  readonly #pace: number
  #count = 0
  #stopped = false
  readonly #done: Promise<void>

  /** `pace` is the mean of the milliseconds between two ids. */
  constructor(
    kind: Kind,
    { agents, door, random, pace }: { agents: string[]; door: Door; random: Random; pace: number },
  ) {
    this.#kind = kind
    this.#agents = agents
    this.#door = door
    this.#random = random
    this.#pace = pace
    this.#done = this.#run()
  }

  /** Sends nothing new; resolves when the last id is acknowledged. */
  stop(): Promise<void> {
    this.#stopped = true
    return this.#done
  }

  async #run(): Promise<void> {
    while (!this.#stopped || this.#count < least) {
      const sending = this.#next()
      const { told, tries } = await this.#untilTold(sending)
      if (told === 'refused') {
        this.refused.push(sending.sender_id)
        continue
      }
      const entry = { ...sending, ...told, tries, repeated: 0 }
      this.acknowledged.push(entry)
      if (this.#random.chance(0.15)) await this.#repeat(entry)
      await pause(this.#random.between(0, 2 * this.#pace))
    }
  }

  #next(): Sending {
    const n = ++this.#count
    const name = `${this.#kind}-${n}`
    // A trigger is about one of the latest things that were asked to be watched, or about to be.
    const about = this.#random.between(1, 1 + Math.ceil(n / watchEvery))
    const turn = this.#kind === 'trigger' ? about * watchEvery : n
    const agent_id = this.#agents[turn % this.#agents.length] ?? ''
    const body = this.#body(n, name, about)
    const sender_id = this.#kind === 'github' ? `sha256:${sha256(body)}` : name
    return { kind: this.#kind, agent_id, sender_id, body }
  }

  #body(n: number, name: string, about: number): string {
    switch (this.#kind) {
      case 'message':
        return `${name}: ${n % watchEvery === 0 ? pleaseWatch(n / watchEvery) : 'a word.'}`
      case 'trigger':
        return JSON.stringify({ says: name, ...eventOf(about) })
      case 'standard':
      case 'github':
        return JSON.stringify({ says: name, number: n })
      case 'schedule': {
        const spec = { kind: 'once', at: soon(this.#random.between(300, 2_500)) }
        return JSON.stringify({ label: name, text: `${name} is due.`, spec })
      }
    }
  }

  async #untilTold(sending: Sending): Promise<{ told: Told | 'refused'; tries: number }> {
    for (let tries = 1; ; tries++) {
      const told = await this.#once(sending)
      if (told !== null) return { told, tries }
      await pause(beforeNextTry)
    }
  }

  /** The same id once more: whoever answers, the answer is the first one. */
  async #repeat(entry: Acknowledged): Promise<void> {
    const again = await this.#once(entry)
    if (again === null || again === 'refused') return
    entry.repeated += 1
    if (again.id !== entry.id || again.delivery_id !== entry.delivery_id) {
      this.problems.push(`${entry.sender_id} is ${entry.id} and then ${again.id}`)
    }
  }

  /** Null: nobody answered, or was not able to take it now. */
  async #once(sending: Sending): Promise<Told | 'refused' | null> {
    const { url, headers, status } = this.#request(sending)
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body: this.#wire(sending),
        signal: AbortSignal.timeout(patience),
      })
      const answer = (await response.json()) as Record<string, unknown>
      if (response.status === status) return toldBy(sending.kind, answer)
      if (answer['code'] === 'schedule_never') return 'refused'
      if (response.status < 500 && response.status !== 429) {
        const said = `${response.status} ${JSON.stringify(answer)}`
        this.problems.push(`${sending.sender_id} was answered ${said}`)
      }
      return null
    } catch {
      // A daemon that is dead, or died just now. Whether it was stored shows at the next try.
      return null
    }
  }

  #wire({ kind, body }: Sending): string {
    return kind === 'message' ? JSON.stringify({ text: body }) : body
  }

  #request({ kind, agent_id, sender_id, body }: Sending): Request {
    const { base_url, token, callbacks } = this.#door
    const json = { 'content-type': 'application/json' }
    const keyed = { ...json, 'idempotency-key': sender_id, authorization: `Bearer ${token}` }
    switch (kind) {
      case 'trigger': {
        const headers = { ...json, 'idempotency-key': sender_id }
        return { url: callbacks[agent_id] ?? '', headers, status: 202 }
      }
      case 'standard': {
        const url = `${base_url}/webhooks/${agent_id}/standard`
        const at = new Date()
        const signature = new Webhook(this.#door.standard_secret).sign(sender_id, at, body)
        const signed = {
          'webhook-id': sender_id,
          'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
          'webhook-signature': signature,
        }
        return { url, headers: { ...json, ...signed }, status: 202 }
      }
      case 'github': {
        const url = `${base_url}/webhooks/${agent_id}/github`
        const sum = createHmac('sha256', this.#door.github_secret).update(body).digest('hex')
        const signed = {
          'x-github-event': 'push',
          'x-github-delivery': sender_id,
          'x-hub-signature-256': `sha256=${sum}`,
        }
        return { url, headers: { ...json, ...signed }, status: 202 }
      }
      case 'message':
        return { url: `${base_url}/agents/${agent_id}/messages`, headers: keyed, status: 202 }
      case 'schedule':
        return { url: `${base_url}/agents/${agent_id}/schedules`, headers: keyed, status: 201 }
    }
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const soon = (ms: number): string => new Date(Date.now() + ms).toISOString()

function toldBy(kind: Kind, answer: Record<string, unknown>): Told {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '')
  if (kind === 'schedule') {
    const { id } = (answer['schedule'] ?? {}) as { id?: unknown }
    return { id: text(id), delivery_id: null }
  }
  const delivery_id = kind === 'message' ? null : text(answer['delivery_id'])
  return { id: text(answer['message_id']), delivery_id }
}
