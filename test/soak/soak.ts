/**
 * The soak (docs/spec/recovery.md): one home, one daemon that is killed with SIGKILL at random
 * moments, also while it starts, and senders that go on all the time. At the end it is left alone
 * until nothing is left to do, stopped, and its ledger is audited. The seed decides every moment
 * that is not up to the machine.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { next } from '../../src/domain/scheduler/next.ts'
import { openReader } from '../../src/ledger/store/open.ts'
import type { LedgerReads } from '../../src/ledger/port.ts'
import { factsOf } from '../../src/protocol/agent-view.ts'
import { startModelServer } from '../../src/testing/model-server/server.ts'
import { audit, type Audit } from './audit.ts'
import { daemonIn, startDaemon, type DaemonOptions, type Life } from './daemon.ts'
import { answerOf } from './model.ts'
import { randomOf } from './random.ts'
import { writeUnguarded } from './unguarded.ts'
import { Sender, type Acknowledged, type Door, type Kind } from './senders.ts'
import { leftProcesses } from '../support/processes.ts'

export type SoakOptions = {
  seed: number
  kills: number
  /** A scratch folder, whose `home` may be there already. */
  folder: string
  program: readonly string[]
  /** Agents that get messages; made when the home has none of the name. */
  agents: string[]
  /** The model of agents that are made. */
  model: string
  /** Mean milliseconds between two ids of each sender. */
  pace: number
  /** Milliseconds a life may last after it is ready. */
  longest_life: number
  /** Told of each life: what a person wants to see pass by. */
  on_life?: (line: string) => void
}

export type Soaked = Audit & {
  acknowledged: Record<Kind, number>
  /** Ids that needed more than one try, and repetitions of what was acknowledged. */
  retried: number
  repeated: number
  killed_before_ready: number
  /** Milliseconds from the start of the process, one for each restart. */
  ready_ms: number[]
  /** To the first model request, of restarts that found work to do. */
  first_request_ms: number[]
}

/** Milliseconds in which what was accepted must have come to its end. */
const drainPatience = 120_000

export async function soak(options: SoakOptions): Promise<Soaked> {
  const { folder } = options
  const log = join(folder, 'commands.log')
  let asked_at = Number.NaN
  const server = await startModelServer((view) => {
    if (Number.isNaN(asked_at)) asked_at = performance.now()
    return answerOf(view, log)
  })
  const secrets = writeConfig(folder)
  const daemon = daemonIn(folder, options.program, server)
  const lives: { life: Life | null } = { life: null }
  try {
    const first = (lives.life = startDaemon(daemon, 0))
    const { url } = await first.ready
    const door = await prepared(daemon.home, url, options, secrets)
    const senders = sendersOf(options, door)
    const times = await killed(options, daemon, lives, { url, asked: () => asked_at }, () => {
      asked_at = Number.NaN
    })
    await Promise.all(senders.map((sender) => sender.stop()))
    await removeSchedules(door, options.agents)
    await quiet(daemon.home)
    lives.life?.kill('SIGTERM')
    const end = await lives.life?.ended
    const acknowledged = senders.flatMap((sender) => sender.acknowledged)
    const refused = senders.flatMap((sender) => sender.refused)
    const found = await audit(daemon.home, log, { acknowledged, refused })
    const problems = [
      ...(end?.exit === 0 ? [] : [`the last stop ended with ${end?.exit ?? end?.signal}`]),
      ...senders.flatMap((sender) => sender.problems),
      ...server.violations.map((violation) => `a request to the model: ${violation}`),
      ...found.problems,
      ...(await leftProcesses(folder)),
    ]
    return { ...found, ...times, ...countsOf(acknowledged), problems }
  } finally {
    lives.life?.kill('SIGKILL')
    await server.close()
  }
}

type Secrets = Pick<Door, 'standard_secret' | 'github_secret'>

/** Two webhooks, with secrets of this run. */
export function writeConfig(folder: string): Secrets {
  const standard_secret = `whsec_${randomBytes(32).toString('base64')}`
  const github_secret = randomBytes(20).toString('hex')
  mkdirSync(join(folder, 'home'), { recursive: true, mode: 0o700 })
  const file = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  const standard = { scheme: 'standard', secret_files: [file('standard.secret', standard_secret)] }
  const github = { scheme: 'github', secret_files: [file('github.secret', github_secret)] }
  writeUnguarded(join(folder, 'home'), { webhooks: { standard, github } })
  return { standard_secret, github_secret }
}

/** Agents, their trigger URLs, and a schedule of every minute for the first of them. */
export async function prepared(
  home: string,
  base_url: string,
  { agents, model }: Pick<SoakOptions, 'agents' | 'model'>,
  secrets: Secrets,
): Promise<Door> {
  const token = readFileSync(join(home, 'control-token'), 'utf8').trim()
  const api = apiOf(base_url, token)
  const callbacks: Record<string, string> = {}
  for (const id of agents) {
    if ((await api('GET', `/agents/${id}`)).status === 404) {
      await expected(api('POST', '/agents', { id, model }), 201)
    }
    const { triggers } = await expected(api('GET', `/agents/${id}/triggers`), 200)
    callbacks[id] = (triggers as { url: string }[])[0]?.url ?? ''
  }
  const spec = { kind: 'cron', expression: '* * * * *', time_zone: 'UTC' }
  const words = { label: 'every minute', text: 'A minute has passed.', spec }
  const schedule = { ...words, missed: 'all', overlap: 'queue' }
  await expected(api('POST', `/agents/${agents[0]}/schedules`, schedule), 201)
  return { base_url, token, callbacks, ...secrets }
}

type Answered = { status: number; body: Record<string, unknown> }

const apiOf =
  (base_url: string, token: string) =>
  async (method: string, path: string, body?: unknown): Promise<Answered> => {
    const response = await fetch(base_url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Answered['body'] }
  }

async function expected(answer: Promise<Answered>, status: number) {
  const { status: got, body } = await answer
  if (got !== status) throw new Error(`expected ${status}, got ${got} ${JSON.stringify(body)}`)
  return body
}

const kinds: readonly Kind[] = ['trigger', 'standard', 'github', 'message', 'schedule']

export function sendersOf(
  { seed, agents, pace }: Pick<SoakOptions, 'seed' | 'agents' | 'pace'>,
  door: Door,
): Sender[] {
  return kinds.map((kind) => {
    const random = randomOf(seed, kind)
    return new Sender(kind, { agents, door, random, pace })
  })
}

type Times = Pick<Soaked, 'ready_ms' | 'first_request_ms' | 'killed_before_ready'>

/** Kills the life that is there and starts the next, as often as it was asked for. */
async function killed(
  options: SoakOptions,
  daemon: DaemonOptions,
  lives: { life: Life | null },
  { url, asked }: { url: string; asked: () => number },
  forget: () => void,
): Promise<Times> {
  const random = randomOf(options.seed, 'kills')
  const port = Number(new URL(url).port)
  const times: Times = { ready_ms: [], first_request_ms: [], killed_before_ready: 0 }
  let early = false
  for (let n = 1; n <= options.kills; n++) {
    if (!early) await pause(random.between(0, options.longest_life))
    lives.life?.kill('SIGKILL')
    await lives.life?.ended
    const hasWork = await mustAsk(daemon.home)
    forget()
    const life = (lives.life = startDaemon(daemon, port))
    early = n < options.kills && random.chance(0.2)
    if (early) {
      times.killed_before_ready += 1
      await pause(random.between(20, 400))
      options.on_life?.(`${n}: killed while it starts`)
      continue
    }
    const { at } = await life.ready
    times.ready_ms.push(at - life.started_at)
    if (hasWork) times.first_request_ms.push((await firstRequest(asked)) - life.started_at)
    options.on_life?.(`${n}: ready after ${Math.round(at - life.started_at)} ms`)
  }
  return times
}

/** Resolves when the model was asked; it is known that it must be. */
async function firstRequest(asked: () => number): Promise<number> {
  for (let waited = 0; Number.isNaN(asked()); waited += 5) {
    if (waited > drainPatience) throw new Error('there was work and the model was not asked')
    await pause(5)
  }
  return asked()
}

/** Whether the ledger holds what cannot wait: an open turn, or the operator's word. */
async function mustAsk(home: string): Promise<boolean> {
  const reader = await openReader(home)
  const limit = { order: 'newest', limit: 1 } as const
  const open = await reader.page('turns', { ...limit, status: ['open'] })
  const prompt = { ...limit, status: ['queued'], kind: ['operator_prompt'] }
  const queued = await reader.page('messages', prompt)
  await reader.close()
  return open.entries.length + queued.entries.length > 0
}

export async function removeSchedules({ base_url, token }: Door, agents: readonly string[]) {
  const api = apiOf(base_url, token)
  const { schedules } = await expected(api('GET', `/agents/${agents[0]}/schedules`), 200)
  for (const { id, spec } of schedules as { id: string; spec: { kind: string } }[]) {
    if (spec.kind !== 'cron') continue
    await expected(api('DELETE', `/agents/${agents[0]}/schedules/${id}`), 200)
  }
}

/**
 * Resolves when nothing is left to do: every message, turn, task and schedule is over, and no agent
 * is about to begin a turn by itself.
 */
export async function quiet(home: string): Promise<void> {
  const live = {
    messages: ['queued', 'claimed'],
    turns: ['open'],
    tasks: ['queued', 'running', 'cancelling'],
    schedules: ['active'],
  }
  for (let waited = 0; ; waited += 100) {
    const reader = await openReader(home)
    const left: string[] = []
    for (const [table, status] of Object.entries(live)) {
      const filter = { order: 'newest', limit: 1, status } as const
      const { entries } = await reader.page(table as keyof typeof live, filter)
      left.push(...entries.map(({ row }) => row.id))
    }
    if (left.length === 0) left.push(...(await aboutToBegin(reader)))
    await reader.close()
    // What is left after so long is told by the audit.
    if (left.length === 0 || waited > drainPatience) return
    await pause(100)
  }
}

async function aboutToBegin(reader: LedgerReads): Promise<string[]> {
  const found: string[] = []
  for (const { id } of await reader.agents()) {
    const live = await reader.live(id)
    const now = new Date().toISOString()
    if (live !== null && next(factsOf(id, live), now, false).do === 'start_turn') found.push(id)
  }
  return found
}

function countsOf(acknowledged: readonly Acknowledged[]) {
  const count = (kind: Kind) => acknowledged.filter((one) => one.kind === kind).length
  const repeated = acknowledged.reduce((sum, one) => sum + one.repeated, 0)
  return {
    acknowledged: Object.fromEntries(kinds.map((kind) => [kind, count(kind)])) as Record<
      Kind,
      number
    >,
    retried: acknowledged.filter(({ tries }) => tries > 1).length,
    repeated,
  }
}
