/**
 * A fuzz of the whole HTTP API from its own document: every operation in turn, with everything
 * right or one thing wrong, by a seed. Every answer is held against the document; nothing may fail
 * inside, nothing wrong may be taken, and the home must be whole at the end.
 */
import { problemCatalogue } from '../../../src/protocol/problem.ts'
import type { Scope } from '../../../src/testing/host/host-fixture.ts'
import { controlToken, port } from '../../../src/testing/http/http-home.ts'
import { anotherSignature, strayRequest, validRequest, wrongRequest } from './cases.ts'
import type { Request } from './cases.ts'
import { brokenIn, openFuzzHome, signed, type FuzzHome } from './fuzz-home.ts'
import { knownText, Seen } from './known.ts'
import { Live } from './live.ts'
import { apiOf, type Api, type Document, type Operation } from './operations.ts'
import { Cases, seeded } from '../schema-cases.ts'
import { misfits } from '../schema-fit.ts'

export type Fuzzed = {
  seed: number
  cases: number
  valid: number
  wrong: number
  stray: number
  accepted: number
  /** How often each code refused a request. */
  refused: Record<string, number>
  /** Operations that never said 2xx to a valid request. */
  never_accepted: string[]
  events: number
  /** What should not be, each with the request that showed it. */
  complaints: string[]
  /** What is wrong with the home afterwards. */
  broken: string[]
}

type Answer = { status: number; type: string; text: string }

/** As many cases as are asked for, or as there is time for until `stop`; cleans up after both. */
export async function fuzz(
  t: Scope,
  cases: number,
  seed: number,
  stop?: AbortSignal,
): Promise<Fuzzed> {
  const home = await openFuzzHome(t, seeded(seed + 1))
  const run = new Run(home, seed, await documentOf(home))
  try {
    for (let n = 0; n < cases; n += 1) {
      if (stop?.aborted) break
      await run.step(n)
    }
    return await run.end()
  } finally {
    await run.close()
  }
}

async function documentOf({ api }: FuzzHome): Promise<Api> {
  const response = await api.app.request('/openapi.json', { headers: ownHeaders })
  return apiOf((await response.json()) as Document)
}

const ownHeaders = { host: `127.0.0.1:${port}`, authorization: `Bearer ${controlToken}` }

/** Without these there is nothing to ask about: no item, no turn, no wait, no delivery. */
const often = [
  'POST /agents/{agent}/messages',
  'POST /agents/{agent}/work-items',
  'PATCH /agents/{agent}/work-items/{item}',
  'POST /agents/{agent}/schedules',
  'POST /agents/{agent}/start',
  'POST /agents/{agent}/abort',
  'POST /agents/{agent}/waits/{wait}/answer',
  'POST /agents/{agent}/waits/{wait}/trigger',
  'POST /callbacks/{token}',
  'POST /webhooks/{agent}/{source}',
]

/** Requests that an operation gets at the end when none of it was taken. */
const lastTries = 20

class Run {
  readonly #home: FuzzHome
  readonly #api: Api
  /** Every operation once, and those that the others live on more often. */
  readonly #turns: readonly Operation[]
  readonly #seen = new Seen()
  readonly #cases: Cases
  readonly #done: Fuzzed
  readonly #accepted = new Set<string>()
  readonly #live: Live
  #path = ''

  constructor(home: FuzzHome, seed: number, api: Api) {
    this.#home = home
    this.#api = api
    this.#live = new Live(home)
    const again = api.operations.filter(({ name }) => often.includes(name))
    this.#turns = [...api.operations, ...again, ...again]
    const known = knownText(() => this.#cases, {
      seen: this.#seen,
      now_ms: () => home.clock.now(),
      workspace: home.api.box.workspace,
      path: () => this.#path,
    })
    this.#cases = new Cases(seeded(seed), api.components, known)
    this.#done = {
      ...{ seed, cases: 0, valid: 0, wrong: 0, stray: 0, accepted: 0, events: 0 },
      ...{ refused: {}, never_accepted: [], complaints: [], broken: [] },
    }
  }

  async step(n: number): Promise<void> {
    const operation = this.#turns[n % this.#turns.length]
    if (operation === undefined) throw new Error('the document has no operations')
    await this.#tick(n)
    await this.#try(n, await this.#request(operation))
  }

  async #tick(n: number): Promise<void> {
    // Enough for every bucket of the rate limits, and now and then for timers to come due.
    await this.#home.clock.advance(n % 20 === 0 ? 60_000 : 250)
    if (n % 10 === 0) this.#seen.harvest('/state', await this.#state())
  }

  async #try(n: number, request: Request): Promise<void> {
    const answer = await this.#ask(request)
    this.#done.cases += 1
    this.#count(request, answer)
    for (const complaint of this.#complaintsOf(request, answer)) {
      this.#done.complaints.push(`case ${n}, ${told(request)}: ${complaint}; ${shown(answer)}`)
    }
  }

  /** What was never taken is asked some more, each time about something that should do. */
  async #insist(): Promise<void> {
    const { operations } = this.#api
    const refused = operations.filter(({ name }) => !this.#accepted.has(name))
    for (const operation of refused) {
      for (let tries = 0; tries < lastTries && !this.#accepted.has(operation.name); tries += 1) {
        await this.#tick(tries)
        this.#done.valid += 1
        await this.#try(this.#done.cases, await this.#valid(operation, 1))
      }
    }
  }

  async close(): Promise<void> {
    await this.#live.close()
  }

  async end(): Promise<Fuzzed> {
    await this.#insist()
    for (const agent of this.#home.api.home.agent_ids()) {
      await this.#home.api.box.host.act({ do: 'stop_agent', agent_id: agent })
    }
    const { operations } = this.#api
    this.#done.never_accepted = operations
      .map(({ name }) => name)
      .filter((name) => !this.#accepted.has(name))
    this.#done.broken = [...(await brokenIn(this.#home)), ...(await this.#replayed())]
    return this.#done
  }

  async #request(operation: Operation): Promise<Request> {
    this.#path = operation.path
    if (this.#cases.chance(0.03)) {
      this.#done.stray += 1
      return strayRequest(this.#cases, operation)
    }
    const wrong = this.#cases.chance(0.45) ? wrongRequest(this.#cases, this.#seen, operation) : null
    this.#done[wrong === null ? 'valid' : 'wrong'] += 1
    // A worktree costs a child and many calls of git.
    return wrong ?? this.#valid(operation, operation.path.includes('/worktrees/') ? 0.15 : 0.4)
  }

  /** Everything right; that often about something that is there to be asked about. */
  async #valid(operation: Operation, often: number): Promise<Request> {
    this.#path = operation.path
    const place = this.#cases.chance(often) ? await this.#live.of(operation.name) : null
    return validRequest(this.#cases, this.#seen, operation, place)
  }

  async #ask({ operation, method, path, headers, body, wrong }: Request): Promise<Answer> {
    const isSigned = operation.path.startsWith('/webhooks/')
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body ?? undefined)
    const signature = isSigned
      ? signed(
          `sent-${this.#done.cases % 400}`,
          this.#home.clock.now(),
          wrong === anotherSignature ? `${text} ` : text,
        )
      : {}
    const response = await this.#home.api.app.request(path, {
      method,
      headers: {
        ...(operation.isOpen ? { host: ownHeaders.host } : ownHeaders),
        ...headers,
        ...signature,
      },
      ...(body === null || method === 'GET' ? {} : { body }),
    })
    const type = response.headers.get('content-type') ?? ''
    return { status: response.status, type, text: await textOf(response, type) }
  }

  #count({ operation, wrong, method, isStray }: Request, { status, text }: Answer): void {
    if (status >= 400) {
      const code =
        method === 'HEAD' ? String(status) : ((jsonOf(text) as { code?: string })?.code ?? '?')
      this.#done.refused[code] = (this.#done.refused[code] ?? 0) + 1
      return
    }
    this.#done.accepted += 1
    if (wrong === null && !isStray) this.#accepted.add(operation.name)
    const value = jsonOf(text)
    this.#seen.harvest(operation.path, value)
    const made = (value as { agent?: { id?: unknown } } | null)?.agent?.id
    if (operation.name === 'POST /agents' && typeof made === 'string') this.#seen.add('agent', made)
  }

  #complaintsOf({ operation, method, wrong, isStray }: Request, answer: Answer): string[] {
    const { status, type, text } = answer
    if (status >= 500) return ['it failed inside']
    if (method === 'HEAD') return []
    if (status >= 400) {
      const fits = wrong === null && !isStray
      return [...this.#problemComplaints(answer), ...(fits ? narrowness(text) : [])]
    }
    if (wrong !== null) return ['it was taken all the same']
    if (isStray) return []
    const content = operation.answers[String(status)]
    const declared = Object.entries(content ?? {}).find(([name]) => name === type.toLowerCase())
    const plain = Object.entries(content ?? {}).find(([name]) => name === type.split(';')[0])
    const [, found] = declared ?? plain ?? []
    if (found === undefined) return [`no answer ${status} of ${type} is declared`]
    const value = type.startsWith('application/json') ? jsonOf(text) : text
    return misfits(found.schema, value, this.#api.components)
  }

  #problemComplaints({ status, type, text }: Answer): string[] {
    if (type !== 'application/problem+json') return [`it is ${type}`]
    const problem = jsonOf(text) as { type: string; code: string; status: number }
    const found = misfits({ $ref: '#/components/schemas/Problem' }, problem, this.#api.components)
    if (found.length > 0) return found
    const known = Object.hasOwn(problemCatalogue, problem.code)
    return [
      ...(known ? [] : [`${problem.code} is in no catalogue`]),
      ...(problem.type === `urn:holon:problem:${problem.code}`
        ? []
        : [`its type is ${problem.type}`]),
      ...(problem.status === status ? [] : [`it says ${problem.status}`]),
      ...(problemCatalogue[problem.code]?.status === status
        ? []
        : ['another status than its code has']),
    ]
  }

  async #state(): Promise<unknown> {
    const response = await this.#home.api.app.request('/state', { headers: ownHeaders })
    return response.json()
  }

  /** Every event over HTTP, each as its schema has it, without a gap. */
  async #replayed(): Promise<string[]> {
    const found: string[] = []
    const { first } = await this.#home.api.home.reads.eventRange(null)
    for (let after = first - 1; ;) {
      await this.#home.clock.advance(100)
      const path = `/events?after=${after}&limit=500`
      const response = await this.#home.api.app.request(path, { headers: ownHeaders })
      const page = (await response.json()) as { events: { global_seq: number }[] }
      found.push(...misfits({ $ref: '#/components/schemas/EventPage' }, page, this.#api.components))
      for (const { global_seq } of page.events) {
        if (global_seq !== after + 1) found.push(`${global_seq} follows ${after}`)
        after = global_seq
      }
      this.#done.events = after
      if (page.events.length === 0) return found
    }
  }
}

/** What fits the document is not refused for its form: the rules behind it may still say no. */
function narrowness(text: string): string[] {
  const { errors } = jsonOf(text) as { errors?: unknown }
  return errors === undefined ? [] : ['its form is refused, though the document takes it']
}

/** A stream goes on for ever: its first frames are enough. */
async function textOf(response: Response, type: string): Promise<string> {
  if (!type.startsWith('text/event-stream') || response.body === null) return response.text()
  const reader = response.body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

const told = ({ method, path, headers, body, wrong }: Request): string => {
  const said = body === null ? '' : ` ${typeof body === 'string' ? body.slice(0, 300) : 'bytes'}`
  return `${method} ${path} ${JSON.stringify(headers)}${said} (${wrong ?? 'nothing is wrong'})`
}
const shown = ({ status, text }: Answer): string => `answered ${status} ${text.slice(0, 400)}`
