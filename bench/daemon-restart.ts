/**
 * From the start of the process to ready, and to the first model request, when the daemon before
 * was killed with SIGKILL and an operator's message waits. The agent it is for is the last one.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { startDaemon } from './fixtures/daemon-process.ts'
import {
  holon,
  load,
  mustEndWell,
  quantile,
  runNode,
  spread,
  type Bench,
} from './fixtures/machine.ts'
import { nameFor, type ModelFixture } from './fixtures/model-fixture.ts'
import type { Line } from './report.ts'
import { writeWaitingHome } from './fixtures/waiting-home.ts'

export async function daemonRestart(
  bench: Bench,
  model: ModelFixture,
  { agents, items, times }: { agents: number; items: number; times: number },
): Promise<Line[]> {
  const name = nameFor({ kind: 'text', rounds: 0 })
  const home = bench.folder('daemon-restart')
  const names = Array.from({ length: agents }, (_, i) => `agent-${i}`)
  await writeWaitingHome(home, { agents: names, items, model: `openai-compatible/${name}` })
  await (await startDaemon(bench, home)).end('SIGKILL')
  const ready: number[] = []
  const first: number[] = []
  // The first life fills the compile cache.
  for (let i = -1; i < times; i++) {
    const words = ['send', '--agent', `agent-${agents - 1}`, `Message ${i}.`]
    await mustEndWell(runNode(bench, holon(bench, home, words)))
    await model.take()
    const daemon = await startDaemon(bench, home)
    const first_us = await firstArrival(model)
    const ms = (at_us: number) => (at_us - daemon.started_us) / 1_000
    await daemon.end('SIGKILL')
    if (i < 0) continue
    ready.push(ms(daemon.ready_us))
    first.push(ms(first_us))
  }
  const p95 = (ms: number[]) => `${spread(ms, 0)} ms, p95 ${quantile(ms, 0.95).toFixed(0)} ms`
  const line = (what: string, ours: string, target = ''): Line => ({
    what: `${what}, ${items} open items of ${agents === 1 ? 'one agent' : `${agents} agents`}`,
    ours,
    floor: '',
    ratio: null,
    target,
    load: load(),
  })
  return [
    line('restart to first request', p95(first), 'p50 ≤ 300 ms'),
    line('restart to ready', p95(ready)),
  ]
}

/** A request that a kill cut off is sent again, so nobody knows the number of the next one. */
async function firstArrival(model: ModelFixture): Promise<number> {
  for (;;) {
    const [first] = (await model.take()).arrivals
    if (first !== undefined) return first.at_us
    await pause(10)
  }
}
