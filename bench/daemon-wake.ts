/**
 * From a trigger delivery to the model request it causes, in a daemon that is up and at rest, one
 * delivery at a time. Three moments: the delivery's commit is done, its 202 is read by the sender,
 * the headers of the model request arrive.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { atRest, clientOf, startDaemon } from './fixtures/daemon-process.ts'
import { load, quantile, spread, type Bench } from './fixtures/machine.ts'
import { nameFor, type ModelFixture } from './fixtures/model-fixture.ts'
import type { Line } from './report.ts'
import { writeWaitingHome } from './fixtures/waiting-home.ts'

/** Deliveries before the figures: the engine still compiles what it runs. */
const warmUp = 20
/** Milliseconds in which the turn of a delivery comes to its end. */
const rest = 40

export type WakeHome = { what: string; agents: number; items: number }

export async function daemonWake(
  bench: Bench,
  model: ModelFixture,
  { times, ...given }: WakeHome & { times: number },
): Promise<Line[]> {
  const name = nameFor({ kind: 'text', rounds: 0 })
  const home = bench.folder('wake-home')
  const agents = Array.from({ length: given.agents }, (_, i) => `agent-${i}`)
  const about = { agents, items: given.items, model: `openai-compatible/${name}` }
  await writeWaitingHome(home, about)
  const stamps = join(bench.folder('wake-stamps'), 'stamps.json')
  const preload = join(import.meta.dirname, 'fixtures/commit-stamps.ts')
  const daemon = await startDaemon(bench, home, { preload, env: { HOLON_BENCH_STAMPS: stamps } })
  const client = clientOf(daemon)
  const before = load()
  const agent = agents[Math.floor(agents.length / 2)]
  const { body } = await client.ask('GET', `${daemon.url}/agents/${agent}/triggers`)
  const { triggers } = JSON.parse(body) as { triggers: { url: string }[] }
  const sent: { from_us: number; told_us: number }[] = []
  await atRest(daemon)
  await model.take()
  for (let i = 0; i < times + warmUp; i++) {
    const answered = model.answered(name, i + 1)
    const { status, us, done_us } = await client.ask('POST', triggers[0]?.url ?? '', '{"n":1}')
    if (status !== 202) throw new Error(`a delivery was answered ${status}`)
    sent.push({ from_us: done_us - us, told_us: done_us })
    await answered
    await pause(rest)
  }
  const { arrivals } = await model.take()
  client.close()
  await daemon.end('SIGTERM')
  if (arrivals.length !== sent.length) throw new Error(`${arrivals.length} requests`)
  const commits = JSON.parse(readFileSync(stamps, 'utf8')) as [number, number][]
  const found = sent.flatMap(({ from_us, told_us }, i) => {
    const commit = commits.find(([began]) => began > from_us)
    const at_us = arrivals[i]?.at_us
    if (commit === undefined || at_us === undefined || i < warmUp) return []
    const [began, done] = commit
    return [
      { commit: done - began, above: at_us - done, told: at_us - told_us, us: told_us - from_us },
    ]
  })
  const line = (what: string, key: keyof (typeof found)[0], target = ''): Line => {
    const ms = found.map((one) => one[key] / 1_000)
    const ours = `${spread(ms)} ms, p95 ${quantile(ms, 0.95).toFixed(1)} ms`
    return { what: `${what}, ${given.what}`, ours, floor: '', ratio: null, target, load: before }
  }
  return [
    line('delivery committed to model request', 'above', 'p50 ≤ 5 ms'),
    line('202 received to model request', 'told'),
    line('delivery sent to 202', 'us'),
    line('the commit itself', 'commit'),
  ]
}
