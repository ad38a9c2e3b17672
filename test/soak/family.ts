/**
 * The soak of supervised children (docs/spec/recovery.md): a real daemon, a real repository, a
 * model behind HTTP; one ship after the other, each split over three children in worktrees. The
 * daemon is killed with SIGKILL at random moments, also while it starts. Then it is left alone
 * until nothing is left to do, and everything must be as if nobody had killed it.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { setTimeout as pause } from 'node:timers/promises'
import { isGone } from '../../src/domain/state/worktree.ts'
import type { LedgerReads } from '../../src/ledger/port.ts'
import { openReader } from '../../src/ledger/store/open.ts'
import {
  expectedEnd,
  familyEnd,
  notedCommits,
  notedPerShip,
  type FamilyEnd,
} from '../../src/testing/scenarios/family-end.ts'
import { startModelServer } from '../../src/testing/model-server/server.ts'
import { familyPolicy, shipIt } from '../../src/testing/scenarios/three-children.ts'
import { makeRepository } from '../support/repository.ts'
import { daemonIn, startDaemon, type DaemonOptions, type Life } from './daemon.ts'
import { randomOf } from './random.ts'
import { writeUnguarded } from './unguarded.ts'
import { leftProcesses } from '../support/processes.ts'

export type FamilySoakOptions = {
  seed: number
  kills: number
  /** A scratch folder. */
  folder: string
  program: readonly string[]
  /** Milliseconds a life may last after it is ready. */
  longest_life: number
  on_life?: (line: string) => void
}

export type FamilySoaked = {
  ships: number
  killed_before_ready: number
  requests: number
  commits_noted: number
  problems: string[]
}

/** Milliseconds in which a ship that nobody disturbs must have come to its end. */
const drainPatience = 180_000

export async function familySoak(options: FamilySoakOptions): Promise<FamilySoaked> {
  const { folder } = options
  const places = { home: join(folder, 'home'), workspace: join(folder, 'work') }
  mkdirSync(places.home, { mode: 0o700 })
  mkdirSync(places.workspace)
  writeUnguarded(places.home)
  makeRepository(places.workspace)
  const server = await startModelServer(({ messages_text }) => familyPolicy(messages_text))
  const daemon = daemonIn(folder, options.program, server)
  const run = new Run(options, daemon, places.workspace)
  try {
    await run.killed()
    await run.drained()
    const exit = await run.stopped()
    const reader = await openReader(places.home)
    const end = await familyEnd(reader, places)
    await reader.close()
    const noted = notedCommits(places.workspace).length
    const { ships } = run
    return {
      ships: ships.length,
      killed_before_ready: run.killed_before_ready,
      requests: server.requests.length,
      commits_noted: noted,
      problems: [
        ...(exit === 0 ? [] : [`the last stop ended with ${exit}`]),
        ...server.violations.map((violation) => `a request to the model: ${violation}`),
        ...differences(end, expectedEnd(ships)),
        ...(noted === notedPerShip * ships.length
          ? []
          : [`${noted} commits were noted, of ${notedPerShip} for each ship`]),
        ...(await leftProcesses(folder)).map((one) => `still there: ${one}`),
      ],
    }
  } finally {
    await run.close()
    await server.close()
  }
}

class Run {
  readonly ships: string[] = []
  killed_before_ready = 0
  readonly #options: FamilySoakOptions
  readonly #daemon: DaemonOptions
  readonly #workspace: string
  #life: Life | null = null
  #port = 0

  constructor(options: FamilySoakOptions, daemon: DaemonOptions, workspace: string) {
    this.#options = options
    this.#daemon = daemon
    this.#workspace = workspace
  }

  /** Kills the life that is there and starts the next, as often as it was asked for. */
  async killed(): Promise<void> {
    const { seed, kills, longest_life, on_life } = this.#options
    const random = randomOf(seed, 'kills')
    await this.#start()
    await this.#api('POST', '/agents', {
      id: 'main',
      model: 'openai-compatible/family',
      workspace: { mode: 'explicit_root', root: this.#workspace },
    })
    for (let n = 1; n <= kills; n++) {
      await this.#nextShip()
      await pause(random.between(0, longest_life))
      await this.#kill()
      if (random.chance(0.2) && n < kills) {
        this.#life = startDaemon(this.#daemon, this.#port)
        await pause(random.between(20, 400))
        await this.#kill()
        n += 1
        this.killed_before_ready += 1
        on_life?.(`${n}: killed while it starts`)
      }
      await this.#start()
      on_life?.(`${n}: ${this.ships.length} ships`)
    }
  }

  /** Sends nothing more, and waits until everything has come to its end. */
  async drained(): Promise<void> {
    for (let waited = 0; !(await this.#isShipped()); waited += 100) {
      if (waited > drainPatience) return
      await pause(100)
    }
  }

  async stopped(): Promise<number | string | null> {
    this.#life?.kill('SIGTERM')
    const end = await this.#life?.ended
    return end?.exit ?? end?.signal ?? null
  }

  async close(): Promise<void> {
    await this.#kill()
  }

  async #start(): Promise<void> {
    this.#life = startDaemon(this.#daemon, this.#port)
    const { url } = await this.#life.ready
    this.#port = Number(new URL(url).port)
  }

  async #kill(): Promise<void> {
    this.#life?.kill('SIGKILL')
    await this.#life?.ended
  }

  /** One ship at a time: the next when the last is in. */
  async #nextShip(): Promise<void> {
    if (!(await this.#isShipped())) return
    const ship = `r${this.ships.length + 1}`
    await this.#api('POST', '/agents/main/messages', { text: shipIt(ship) })
    this.ships.push(ship)
  }

  async #isShipped(): Promise<boolean> {
    const reader = await openReader(this.#daemon.home)
    try {
      return await restsAll(reader, this.ships.length)
    } finally {
      await reader.close()
    }
  }

  async #api(method: string, path: string, body: unknown): Promise<void> {
    const token = readFileSync(join(this.#daemon.home, 'control-token'), 'utf8').trim()
    const response = await fetch(`http://127.0.0.1:${this.#port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  }
}

/** Both items of each ship are completed, and nothing of it runs or waits to be removed. */
async function restsAll(reader: LedgerReads, ships: number): Promise<boolean> {
  const newest = { order: 'newest', limit: 1 } as const
  const live = await Promise.all([
    reader.page('messages', { ...newest, status: ['queued', 'claimed'] }),
    reader.page('turns', { ...newest, status: ['open'] }),
    reader.page('tasks', { ...newest, status: ['queued', 'running', 'cancelling'] }),
  ])
  if (live.some(({ entries }) => entries.length > 0)) return false
  const worktrees = await reader.page('worktrees', { order: 'oldest', limit: 2_000 })
  if (!worktrees.entries.every(({ row }) => isGone(row))) return false
  const items = await reader.page('work_items', { order: 'oldest', limit: 2_000 })
  const done = items.entries.filter(({ row }) => row.state === 'completed').length
  return done === items.entries.length && done === ships * 5
}

/** Field by field, so that a sentence stays readable. */
function differences(end: FamilyEnd, expected: Omit<FamilyEnd, 'tasks'>): string[] {
  const { tasks: _, ...rest } = end
  return Object.entries(expected).flatMap(([name, wanted]) => {
    const got = rest[name as keyof typeof expected]
    if (isDeepStrictEqual(got, wanted)) return []
    if (name === 'problems') return end.problems
    const [is, wants] = [rowsOf(got), rowsOf(wanted)]
    return [
      ...[...wants.difference(is)].map((row) => `${name} lacks ${row}`),
      ...[...is.difference(wants)].map((row) => `${name} has ${row}`),
      ...(Array.isArray(got) && got.length !== (wanted as unknown[]).length
        ? [`${name} has ${got.length} entries`]
        : []),
    ]
  })
}

const rowsOf = (value: object | number): Set<string> => {
  const rows = Array.isArray(value) ? value : Object.entries(value)
  return new Set(rows.map((row) => JSON.stringify(row)))
}
