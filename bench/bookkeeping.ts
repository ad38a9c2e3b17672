/**
 * What a turn costs when nobody thinks and nothing runs: a host in this process, from the sources,
 * whose model answers at once. What is left is our own bookkeeping and the disk. The floor makes
 * the same syncs in the same order of magnitude of bytes, and nothing else.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Change, Ledger } from '../src/ledger/port.ts'
import type { ModelPart } from '../src/ports/model-message.ts'
import type { Model } from '../src/models/model.ts'
import { hostOver } from './fixtures/host.ts'
import { load, median, spread, type Bench } from './fixtures/machine.ts'
import type { Line } from './report.ts'

type Written = { commits: number; blobs: number; events: number }

/** Answers at once: `calls` rounds with a call that only reads our store, then words. */
function instantModel(calls: number): Model {
  return {
    async request(request) {
      const n = request.messages.filter(({ role }) => role === 'assistant').length + 1
      const call: ModelPart = {
        type: 'tool_call',
        provider_call_id: `call_${n}`,
        tool_name: 'ListWorkItems',
        input_json: '{}',
      }
      const ends = n > calls
      return {
        ok: true,
        round: {
          parts: ends ? [{ type: 'text', text: 'Nothing is left to do.' }] : [call],
          finish: ends ? 'stop' : 'tool_calls',
          usage: {
            input_tokens: 1_000,
            output_tokens: 20,
            reasoning_tokens: null,
            cached_input_tokens: null,
            cache_write_tokens: null,
          },
          model: request.model,
          response_id: null,
        },
      }
    },
  }
}

/** The ledger, counting what it is told to make durable. */
function counting(ledger: Ledger, written: Written): Ledger {
  return new Proxy(ledger, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (typeof value !== 'function') return value
      const method = value.bind(target) as (...args: unknown[]) => unknown
      if (name === 'commit') {
        return (...args: Change[]) => {
          written.commits += 1
          for (const { events, blobs = [] } of args) {
            written.events += events.length
            written.blobs += blobs.length
          }
          return method(...args)
        }
      }
      return method
    },
  })
}

async function hostWith(bench: Bench, model: Model, agents: readonly string[], written: Written) {
  const { host, close } = await hostOver(
    bench.folder('bookkeeping-home'),
    async () => ({ ok: true, model }),
    (ledger) => counting(ledger, written),
  )
  const workspace = { mode: 'explicit_root', root: bench.folder('bookkeeping-work') } as const
  for (const id of agents) await host.ensureAgent({ id, model: 'scripted/instant', workspace })
  await host.open()
  return { host, close }
}

type Host = Awaited<ReturnType<typeof hostWith>>['host']

/** Resolves when each of the agents has ended so many turns from now on. */
function ends(host: Host, agents: readonly string[], turns: number): Promise<void> {
  const left = new Map(agents.map((agent) => [agent, turns]))
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const stop = host.subscribe((notice) => {
    if (notice.kind === 'fault') reject(new Error(notice.message))
    if (notice.kind !== 'committed') return
    const ended = notice.events.filter(({ event }) => event.type === 'turn_ended').length
    const rest = (left.get(notice.agent_id) ?? 0) - ended
    if (rest > 0) left.set(notice.agent_id, rest)
    else left.delete(notice.agent_id)
    if (left.size === 0) resolve()
  })
  return promise.finally(stop)
}

/** Each agent has its next message when its turn before has ended; all of them side by side. */
async function turnsOf(host: Host, agents: readonly string[], turns: number): Promise<void> {
  await Promise.all(
    agents.map(async (agent_id) => {
      for (let n = 0; n < turns; n++) {
        const ended = ends(host, [agent_id], 1)
        const sent = await host.act({ do: 'send', agent_id, text: `Message ${n}.` })
        if (!sent.ok) throw new Error(sent.message)
        await ended
      }
    }),
  )
}

/** Seconds for as many commits and blobs in them as were counted, with nothing around them. */
function floorSeconds(bench: Bench, { commits, blobs, events }: Written): number {
  const folder = bench.folder('bookkeeping-floor')
  const database = new DatabaseSync(join(folder, 'floor.sqlite'))
  database.exec('pragma journal_mode = wal')
  database.exec('pragma synchronous = full')
  database.exec('create table events (id integer primary key, data text) strict')
  database.exec('create table blobs (id integer primary key, bytes blob) strict')
  const insert = database.prepare('insert into events (data) values (?)')
  const keep = database.prepare('insert into blobs (bytes) values (?)')
  const bytes = new Uint8Array(20_000).fill(120)
  const row = 'x'.repeat(400)
  const each = Math.max(1, Math.round(events / commits))
  const from = performance.now()
  for (let n = 0; n < commits; n++) {
    database.exec('begin immediate')
    for (let i = 0; i < each; i++) insert.run(row)
    if (n < blobs) keep.run(bytes)
    database.exec('commit')
  }
  const seconds = (performance.now() - from) / 1_000
  database.close()
  return seconds
}

type Kind = { what: string; agents: number; calls: number; turns: number }

async function measured(bench: Bench, kind: Kind, times: number): Promise<Line[]> {
  const names = Array.from({ length: kind.agents }, (_, i) => `agent-${i}`)
  const written: Written = { commits: 0, blobs: 0, events: 0 }
  const up = await hostWith(bench, instantModel(kind.calls), names, written)
  // Before this the engine still compiles what it runs.
  await turnsOf(up.host, names, Math.ceil(kind.turns / 4))
  const ours: number[] = []
  const floor: number[] = []
  const cpu: number[] = []
  const all = kind.turns * kind.agents
  let each: Written = written
  for (let run = 0; run < times; run++) {
    const before = { ...written }
    const [from, used] = [performance.now(), process.cpuUsage()]
    await turnsOf(up.host, names, kind.turns)
    const seconds = (performance.now() - from) / 1_000
    const { user, system } = process.cpuUsage(used)
    each = {
      commits: written.commits - before.commits,
      blobs: written.blobs - before.blobs,
      events: written.events - before.events,
    }
    ours.push(all / seconds)
    cpu.push((user + system) / 1_000 / all)
    floor.push(all / floorSeconds(bench, each))
  }
  const resident = process.memoryUsage.rss() / 2 ** 20
  await up.close()
  const per = (count: number) => (count / all).toFixed(1)
  const line = (what: string, more: Partial<Line> & { ours: string }): Line => ({
    what: `bookkeeping, ${kind.what}${what}`,
    floor: '',
    ratio: null,
    target: '',
    load: load(),
    ...more,
  })
  return [
    line(` (${times} times ${all} turns)`, {
      ours: `${spread(ours, 0)} turns/s`,
      floor: `${spread(floor, 0)} turns/s`,
      ratio: median(ours) / median(floor),
    }),
    line(': own processor time', { ours: `${spread(cpu, 2)} ms a turn` }),
    line(': written', {
      ours:
        `${per(each.commits)} commits, ${per(each.events)} events, ` +
        `${per(each.blobs)} blobs a turn`,
    }),
    line(': memory then', { ours: `${resident.toFixed(0)} MB` }),
  ]
}

/** Turns per second of pure bookkeeping: no provider, no command, no plan file of a worker. */
export async function bookkeeping(bench: Bench, times: number): Promise<Line[]> {
  const kinds: Kind[] = [
    { what: 'one agent, one request a turn', agents: 1, calls: 0, turns: 200 },
    { what: 'one agent, eleven requests and ten calls a turn', agents: 1, calls: 10, turns: 40 },
    { what: '16 agents, one request a turn', agents: 16, calls: 0, turns: 40 },
  ]
  const lines: Line[] = []
  for (const kind of kinds) lines.push(...(await measured(bench, kind, times)))
  return lines
}
