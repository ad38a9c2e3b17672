/**
 * A home behind the HTTP application, for tests: rows and events that a test puts in, a virtual
 * clock, and a record of every read and act that a request caused.
 */
import type { LiveText } from '../../ports/host.ts'
import type { Rows, StoredEvent, Table } from '../../domain/state/event.ts'
import { systemClock } from '../../exec/clock.ts'
import {
  buildApp,
  type AccessLogEntry,
  type Application,
  type HttpOptions,
} from '../../http/app.ts'
import type { EventPage } from '../../ports/ledger-filters.ts'
import type { GatePorts, HomePort, HomeReads, StreamNotice } from '../../http/request/ports.ts'
import { tokenHash } from '../../http/gate/gate.ts'
import type { Webhook } from '../../http/inbound/webhooks.ts'
import type { OperatorCommand, OperatorReply } from '../../protocol/acts/operator.ts'
import { anAgent, aTrigger } from '../rows.ts'
import { virtualClock, type VirtualClock } from '../virtual-clock.ts'

export const controlToken = 'control-token-of-the-home-0123456789abcdefghi'
export const port = 7777
/** For tests over a socket, which no virtual clock moves. */
export const machineClock = systemClock()

export type HomeRequest = Omit<RequestInit, 'headers'> & {
  remote?: string
  headers?: Readonly<Record<string, string>>
}

export type FakeHome = {
  home: HomePort
  gate: GatePorts
  app: Application
  clock: VirtualClock
  /** Names of the reads that were asked for, and the acts, in order. */
  reads: string[]
  acts: OperatorCommand[]
  answered: AccessLogEntry[]
  /** What was told to the log: which request, and the error. */
  errors: [request: string, error: unknown][]
  rows: Map<string, Rows[Table]>
  events: StoredEvent[]
  webhooks: Map<string, Webhook>
  state: {
    token: string | null
    ready: boolean
    degraded: ReturnType<HomePort['degraded']>
    first: number
    reply: (command: OperatorCommand) => OperatorReply | Promise<OperatorReply>
    fails: Error | null
    texts: LiveText[]
    /** Nothing is ever old, and no copy is made. */
    upkeep: HomePort['upkeep']
  }
  put<T extends Table>(table: T, row: Rows[T]): void
  /** Adds an event of the agent, as the next commit of the home, and tells of it. */
  commit(agent_id: string, event: { type: string; id: string } & Record<string, unknown>): void
  tell(notice: StreamNotice): void
  listeners(): number
  /** A request with everything it needs; `init` wins. */
  ask(path: string, init?: HomeRequest): Promise<Response>
}

export const done = (more: Partial<Extract<OperatorReply, { ok: true }>> = {}): OperatorReply => ({
  ok: true,
  message_id: null,
  resolved: [],
  triggered: [],
  id: null,
  said: 'Done.',
  warnings: [],
  ...more,
})

const nothingWent = { global_seq: 0, events: 0, rows: {}, blobs: 0, bytes: 0 }

const nothingFound = { match: 'all', complete: true, incomplete_because: null, hits: [] } as const

export const goodHeaders = { host: `127.0.0.1:${port}`, authorization: `Bearer ${controlToken}` }

export function fakeHome(options: Partial<HttpOptions> = {}): FakeHome {
  const clock = virtualClock()
  const listeners = new Set<(notice: StreamNotice) => void>()
  const state: FakeHome['state'] = {
    token: controlToken,
    ready: true,
    degraded: null,
    first: 1,
    reply: () => done(),
    fails: null,
    texts: [],
    upkeep: {
      keep_days: null,
      retain: (asked) => Promise.resolve({ ok: true, value: { ...asked, ...nothingWent } }),
      backup: () => Promise.resolve({ ok: false, code: 'backup_failed', message: 'No.' }),
    },
  }
  const held = {
    reads: [] as string[],
    acts: [] as OperatorCommand[],
    answered: [] as AccessLogEntry[],
    errors: [] as FakeHome['errors'],
    rows: new Map<string, Rows[Table]>(),
    events: [] as StoredEvent[],
    webhooks: new Map<string, Webhook>(),
  }
  const home = homeOver(held, state, clock, listeners)
  const gate: GatePorts = {
    clock,
    control_token: () => Promise.resolve(state.token),
    port: () => port,
    hosts: ['holon.example'],
  }
  const app = buildApp(home, gate, {
    version: '0.0.0',
    webhooks: {
      find: (name) => Promise.resolve(held.webhooks.get(name) ?? null),
      now_ms: () => clock.now(),
    },
    on_error: (error, request) => void held.errors.push([request, error]),
    on_answer: (one) => void held.answered.push(one),
    ...options,
  })
  const tell = (notice: StreamNotice) => {
    for (const listener of [...listeners]) listener(notice)
  }
  return {
    home,
    gate,
    app,
    clock,
    ...held,
    state,
    put: (table, row) => void held.rows.set(`${table} ${row.id}`, row),
    commit(agent_id, event) {
      held.events.push(storedEvent(held.events, clock, agent_id, event))
      tell({ kind: 'committed', agent_id })
    },
    tell,
    listeners: () => listeners.size,
    ask: async (path, { remote = '127.0.0.1', ...init } = {}) =>
      app.request(path, { ...init, headers: { ...goodHeaders, ...init.headers } }, { remote }),
  }
}

type Held = Pick<FakeHome, 'reads' | 'acts' | 'rows' | 'events'>

function homeOver(
  held: Held,
  state: FakeHome['state'],
  clock: VirtualClock,
  listeners: Set<(notice: StreamNotice) => void>,
): HomePort {
  const now = () => new Date(clock.now()).toISOString()
  return {
    reads: readsOver(held, state),
    clock,
    now,
    started_at: now(),
    async act(command) {
      held.acts.push(command)
      return state.reply(command)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    liveSigns: () => [],
    liveTexts: (agent_id) =>
      state.texts.filter((text) => agent_id === null || text.agent_id === agent_id),
    plan: () => Promise.reject(new Error('this home has no plan files')),
    taskOutput: () => Promise.resolve(null),
    ready: () => state.ready,
    degraded: () => state.degraded,
    upkeep: state.upkeep,
    search: () => Promise.resolve({ ok: true, answer: nothingFound }),
    metrics: () => Promise.resolve('holon_up 1\n'),
    triggerUrl: () => Promise.resolve(null),
    facts: () => null,
    agent_ids: () => [],
    plan_text: () => Promise.resolve(null),
    process_notes: () => Promise.resolve({ notes: [], older: 0 }),
    instructions: () => Promise.resolve({ instructions: [], skills: [], not_looked_at: 0 }),
    request_text: () => Promise.resolve(null),
    export_item: () => Promise.resolve({ file: '', records: 0, cut: {} }),
  }
}

function readsOver(held: Held, state: FakeHome['state']): HomeReads {
  const read = async <T>(name: string, value: () => T): Promise<T> => {
    held.reads.push(name)
    if (state.fails !== null) throw state.fails
    return Promise.resolve(value())
  }
  const all = <T extends Table>(table: T): Rows[T][] =>
    [...held.rows].filter(([key]) => key.startsWith(`${table} `)).map(([, row]) => row as Rows[T])
  return {
    agents: () => read('agents', () => all('agents')),
    live: () => read('live', () => null),
    row: (table, id) =>
      read(`row ${table}`, () => (held.rows.get(`${table} ${id}`) ?? null) as never),
    idsLike: (table, text, agent_id) =>
      read('idsLike', () =>
        all(table).flatMap((row) => {
          const of = 'agent_id' in row ? row.agent_id : row.id
          return row.id === text && (agent_id ?? of) === of ? [{ id: row.id, agent_id: of }] : []
        }),
      ),
    list: (table) => read('list', () => all(table)),
    events: (page) => read('events', () => pageOf(held.events, page)),
    eventRange: (agent_id) =>
      read('eventRange', () => {
        const seqs = held.events.filter((e) => agent_id === null || e.agent_id === agent_id)
        const last = seqs.at(-1)
        const seq = agent_id === null ? last?.global_seq : last?.seq
        return { first: state.first, last: seq ?? 0 }
      }),
    roundsOfTurn: () => read('roundsOfTurn', () => []),
    spend: () => read('spend', () => []),
    counts: () => read('counts', () => ({ completed_items: 0 })),
    blob: () => read('blob', () => null),
    triggerByToken: (sha) =>
      read('triggerByToken', () => all('triggers').find((t) => t.token_sha256 === sha) ?? null),
  }
}

function pageOf(events: readonly StoredEvent[], page: EventPage): StoredEvent[] {
  const { agent_id, after = 0, before, limit } = page
  const seq = (e: StoredEvent) => (agent_id === undefined ? e.global_seq : e.seq)
  const own = events.filter((e) => agent_id === undefined || e.agent_id === agent_id)
  if (before !== undefined) return own.filter((e) => seq(e) < before).slice(-limit)
  return own.filter((e) => seq(e) > after).slice(0, limit)
}

function storedEvent(
  events: readonly StoredEvent[],
  clock: VirtualClock,
  agent_id: string,
  event: { type: string; id: string },
): StoredEvent {
  const global_seq = events.length + 1
  return {
    id: `evt_${global_seq}`,
    global_seq,
    agent_id,
    seq: events.filter((e) => e.agent_id === agent_id).length + 1,
    at: new Date(clock.now()).toISOString(),
    v: 1,
    work_item_id: null,
    turn_id: null,
    causation_id: null,
    event: event as StoredEvent['event'],
  }
}

/** An agent of the public kind, as its row. */
export const agentRow = (id: string, more: Partial<Rows['agents']> = {}): Rows['agents'] =>
  anAgent({
    id,
    model: null,
    workspace: { mode: 'inherit', root: '/srv/work' },
    created_at: '2026-01-05T09:00:00.000Z',
    ...more,
  })

/** A trigger whose token is `token`. */
export const triggerRow = (
  agent_id: string,
  token: string,
  more: Partial<Rows['triggers']> = {},
): Rows['triggers'] => aTrigger(agent_id, { token_sha256: tokenHash(token), ...more })

/** The problem document of a refusal, with its status and code first. */
export async function problemIn(response: Response): Promise<[number, string]> {
  const body = (await response.json()) as { status: number; code: string; type: string }
  if (response.headers.get('content-type') !== 'application/problem+json') {
    throw new Error(`${response.status} is no problem document`)
  }
  if (body.status !== response.status || body.type !== `urn:holon:problem:${body.code}`) {
    throw new Error(`the problem document contradicts its answer: ${JSON.stringify(body)}`)
  }
  return [response.status, body.code]
}
