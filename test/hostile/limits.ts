/**
 * A daemon that the system gives too little: few descriptors, a small heap. It says so in words,
 * and goes on when there is more again; whatever it had acknowledged is there, once, when it is
 * started with enough. Each size is a home of its own, with senders that keep their own ledger.
 */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startModelServer } from '../../src/testing/model-server/server.ts'
import { audit } from '../soak/audit.ts'
import { daemonIn, startDaemon, type DaemonOptions, type Life } from '../soak/daemon.ts'
import { answerOf } from '../soak/model.ts'
import { prepared, quiet, removeSchedules, sendersOf, writeConfig } from '../soak/soak.ts'
import type { Door, Sender } from '../soak/senders.ts'
import { leftProcesses } from '../support/processes.ts'

/** What there is too little of, and how much of it there is. */
export type Limit = { of: 'descriptors' | 'heap'; size: number }

/** From too little for Node to what is enough for all. Megabytes, of the heap. */
export const sizes: readonly Limit[] = [
  ...[16, 22, 24, 26, 28, 30, 32, 34, 36, 40, 48, 64].map((size): Limit => ({
    of: 'descriptors',
    size,
  })),
  ...[16, 20, 24, 32, 40, 48, 64].map((size): Limit => ({ of: 'heap', size })),
]

export function limitOf(words: string): Limit {
  const found = sizes.find((limit) => wordsOf(limit) === words)
  if (found === undefined) throw new Error(`no such limit; there are ${sizes.map(wordsOf).join()}`)
  return found
}

export type Limited = {
  runs: number
  /** Sizes with which not even Node starts, and with which the daemon said why it does not. */
  no_node: number
  refused: number
  /** Lives that the size ended later: V8 ends a process whose heap is full. */
  ended: number
  /** Lives that answered again once there was more. */
  came_back: number
  acknowledged: number
  problems: string[]
}

const agents = ['agent-0', 'agent-1']
const model = 'openai-compatible/soak'
const program = join(import.meta.dirname, '../../src/main.ts')

/** Milliseconds in which a life under a limit is sent things. */
const life_ms = 3_000
/** Milliseconds in which it must answer again when there is more. */
const patience = 90_000
/** Descriptors with which it has to come back: for itself, its senders, model and commands. */
const enough = 48
/** Senders of large bodies at a time. */
const floods = 16
/** Connections that nobody uses, which take what descriptors there are. */
const idle = 64

export async function limited(sizes: readonly Limit[], seed: number): Promise<Limited> {
  const figures = { runs: 0, no_node: 0, refused: 0, ended: 0, came_back: 0, acknowledged: 0 }
  const done: Limited = { ...figures, problems: [] }
  for (const limit of sizes) {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-limits-')))
    const before = done.problems.length
    try {
      await one(limit, seed, folder, done)
    } catch (error) {
      done.problems.push(`${wordsOf(limit)}: ${String((error as Error).stack ?? error)}`)
    }
    done.runs += 1
    console.error(`${wordsOf(limit)}: ${done.problems.length - before} problems`)
    const found = done.problems.slice(before)
    for (const problem of found) console.error(`problem: ${problem}`)
    if (found.length === 0) rmSync(folder, { recursive: true, force: true })
    else console.error(`the home is kept: ${folder}`)
  }
  return done
}

const wordsOf = ({ of, size }: Limit): string => `${size} ${of === 'heap' ? 'MB of heap' : of}`

/** The words that run Node with so much and no more. */
function nodeUnder({ of, size }: Limit): string[] {
  switch (of) {
    case 'descriptors':
      return ['/bin/sh', '-c', `ulimit -n ${size} && exec "$@"`, 'sh', process.execPath]
    case 'heap':
      return [process.execPath, `--max-old-space-size=${size}`]
  }
}

async function one(limit: Limit, seed: number, folder: string, done: Limited): Promise<void> {
  const log = join(folder, 'commands.log')
  const server = await startModelServer((view) => answerOf(view, log))
  const secrets = writeConfig(folder)
  const daemon = daemonIn(folder, [process.execPath, program], server)
  const under = { ...daemon, program: [...nodeUnder(limit), program] }
  under.log = join(folder, 'limited.log')
  let life: Life | null = null
  const problem = (says: string) => void done.problems.push(`${wordsOf(limit)}: ${says}`)
  try {
    life = startDaemon(daemon, 0)
    const { url } = await life.ready
    const door = await prepared(daemon.home, url, { agents, model }, secrets)
    life.kill('SIGKILL')
    await life.ended
    const senders = sendersOf({ seed: seed + limit.size, agents, pace: 40 }, door)
    await livesUnder(limit, under, door, done, problem)
    life = startDaemon(daemon, Number(new URL(url).port))
    await life.ready
    await Promise.all(senders.map((sender) => sender.stop()))
    await removeSchedules(door, agents)
    await quiet(daemon.home)
    life.kill('SIGTERM')
    const end = await life.ended
    if (end.exit !== 0) problem(`the last stop ended with ${end.exit ?? end.signal}`)
    await judged(daemon.home, log, senders, done, problem)
    for (const one of server.violations) problem(`a request to the model: ${one}`)
    for (const one of await leftProcesses(folder)) problem(one)
  } finally {
    life?.kill('SIGKILL')
    await server.close()
  }
}

async function judged(
  home: string,
  log: string,
  senders: readonly Sender[],
  done: Limited,
  problem: (says: string) => void,
): Promise<void> {
  const acknowledged = senders.flatMap((sender) => sender.acknowledged)
  const refused = senders.flatMap((sender) => sender.refused)
  done.acknowledged += acknowledged.length
  const found = await audit(home, log, { acknowledged, refused })
  for (const one of [...senders.flatMap((sender) => sender.problems), ...found.problems]) {
    problem(one)
  }
}

/** Lives under the limit, while things are sent: up to one that is given more, or two that end. */
async function livesUnder(
  limit: Limit,
  under: DaemonOptions,
  door: Door,
  done: Limited,
  problem: (says: string) => void,
): Promise<void> {
  if (!nodeStarts(limit)) {
    done.no_node += 1
    return
  }
  const life = startDaemon(under, Number(new URL(door.base_url).port))
  const sockets: Socket[] = []
  try {
    const ready = await Promise.race([life.ready.then(() => true), life.ended.then(() => false)])
    if (ready) {
      await Promise.race([pressed(limit, door, sockets), life.ended])
      await Promise.race([relieved(limit, door, sockets, done, problem), life.ended])
    }
  } finally {
    for (const socket of sockets) socket.destroy()
  }
  life.kill('SIGKILL')
  const { exit, signal } = await life.ended
  told(limit, readFileSync(under.log, 'utf8'), { exit, signal }, done, problem)
}

const nodeStarts = (limit: Limit): boolean => {
  const [word = '', ...words] = nodeUnder(limit)
  return spawnSync(word, [...words, '-e', '0'], { stdio: 'ignore' }).status === 0
}

/** Senders send; and beside them comes what takes the rest of it. */
async function pressed(limit: Limit, door: Door, sockets: Socket[]): Promise<void> {
  await pause(life_ms / 3)
  switch (limit.of) {
    case 'descriptors':
      await idleConnections(door, sockets)
      break
    case 'heap':
      await Promise.all(Array.from({ length: floods }, () => flood(door)))
      break
  }
  await pause((life_ms * 2) / 3)
}

async function idleConnections({ base_url }: Door, sockets: Socket[]): Promise<void> {
  for (let n = 0; n < idle; n += 1) {
    const socket = createConnection(Number(new URL(base_url).port), '127.0.0.1')
    // The daemon ends those it has no descriptor for.
    socket.on('error', () => {})
    sockets.push(socket)
    await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  }
}

/** Bodies that are parsed and refused: in memory they are many times what they are on the wire. */
async function flood({ base_url, token }: Door): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = `{"text":"x","pad":[${'[],'.repeat(340_000)}[]]}`
  for (let n = 0; n < 5; n += 1) {
    const signal = AbortSignal.timeout(5_000)
    const sent = { method: 'POST', headers, body, signal }
    const answer = await fetch(`${base_url}/agents/agent-0/messages`, sent).catch(() => null)
    await answer?.arrayBuffer().catch(() => null)
  }
}

/** There is more again: it must take something, and come to the end of it. */
async function relieved(
  limit: Limit,
  door: Door,
  sockets: readonly Socket[],
  done: Limited,
  problem: (says: string) => void,
): Promise<void> {
  if (limit.of === 'heap') return
  for (const socket of sockets) socket.destroy()
  const from = performance.now()
  const headers = { authorization: `Bearer ${door.token}` }
  for (;;) {
    // A connection that nobody could take may never be answered.
    const signal = AbortSignal.timeout(2_000)
    const state = await fetch(`${door.base_url}/readyz`, { headers, signal }).catch(() => null)
    await state?.arrayBuffer().catch(() => null)
    if (state?.status === 200) break
    if (performance.now() - from > patience) {
      if (limit.size < enough) return
      return problem('it did not come back when descriptors were free again')
    }
    await pause(50)
  }
  done.came_back += 1
}

/** What the life said, and how it ended: in words for a person, not as a bug. */
function told(
  { of }: Limit,
  said: string,
  { exit, signal }: { exit: number | null; signal: string | null },
  done: Limited,
  problem: (says: string) => void,
): void {
  const full = /heap out of memory|heap limit/i.test(said)
  const short = /too many open files|open files/i.test(said)
  if (signal === 'SIGKILL') {
    for (const line of said.split('\n')) if (isBug(line)) problem(`it said: ${line}`)
    return
  }
  const served = said.includes('"serving"')
  if (served) done.ended += 1
  else done.refused += 1
  if (of === 'heap' && full) return
  // Who serves stays, whatever is short: it answers that it cannot, until it can.
  const isClear = short && exit === 1 && !/^ {4}at /m.test(said)
  if (of === 'descriptors' && isClear && !served) return
  problem(`it ended with ${exit ?? signal} and said: ${said.slice(0, 2_000)}`)
}

/** A line that says more than that something was short: a bug, or an answer that hides it. */
function isBug(line: string): boolean {
  if (!line.startsWith('{')) return /Error\b|^ {4}at /.test(line)
  return line.includes('\\n    at ') || line.includes('"status":500')
}
