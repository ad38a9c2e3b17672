/**
 * What the number of agents costs, from ten to ten thousand: a daemon on a home in which each agent
 * has one open item that waits. From its start to ready, from a delivery's 202 to the model request
 * it causes, and the memory it takes.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { clientOf, memoryMb, startDaemon } from './fixtures/daemon-process.ts'
import { load, quantile, spread, type Bench } from './fixtures/machine.ts'
import { nameFor, type ModelFixture } from './fixtures/model-fixture.ts'
import type { Line } from './report.ts'
import { writeWaitingHome } from './fixtures/waiting-home.ts'

/** Milliseconds in which the turn of a delivery comes to its end. */
const rest = 40
/** Deliveries before the figures: the engine still compiles what it runs. */
const warmUp = 10
const starts = 3

export async function scaleAgents(
  bench: Bench,
  model: ModelFixture,
  { agents, times }: { agents: number; times: number },
): Promise<Line[]> {
  const name = nameFor({ kind: 'text', rounds: 0 })
  const home = bench.folder('scale-agents')
  const names = Array.from({ length: agents }, (_, i) => `agent-${i}`)
  await writeWaitingHome(home, { agents: names, items: agents, model: `openai-compatible/${name}` })
  // The first start gives every agent its trigger.
  await (await startDaemon(bench, home)).end('SIGKILL')
  const ready: number[] = []
  for (let i = 1; i < starts; i++) {
    const daemon = await startDaemon(bench, home)
    ready.push((daemon.ready_us - daemon.started_us) / 1_000)
    await daemon.end('SIGKILL')
  }
  const daemon = await startDaemon(bench, home)
  ready.push((daemon.ready_us - daemon.started_us) / 1_000)
  const client = clientOf(daemon)
  const middle = names[Math.floor(agents / 2)]
  const { body } = await client.ask('GET', `${daemon.url}/agents/${middle}/triggers`)
  const [trigger] = (JSON.parse(body) as { triggers: { url: string }[] }).triggers
  const resident = memoryMb(daemon.pid, 'VmRSS')
  await model.take()
  const told: number[] = []
  for (let i = 0; i < times + warmUp; i++) {
    const answered = model.answered(name, i + 1)
    const { status, done_us } = await client.ask('POST', trigger?.url ?? '', '{"n":1}')
    if (status !== 202) throw new Error(`a delivery was answered ${status}`)
    await answered
    const [first] = (await model.take()).arrivals
    if (i >= warmUp) told.push(((first?.at_us ?? Number.NaN) - done_us) / 1_000)
    await pause(rest)
  }
  client.close()
  await daemon.end('SIGTERM')
  const line = (what: string, ours: string, target = ''): Line => ({
    what: `${agents.toLocaleString('en')} agents: ${what}`,
    ours,
    floor: '',
    ratio: null,
    target,
    load: load(),
  })
  return [
    line('start to ready, after kill -9', `${spread(ready, 0)} ms`),
    line('memory then', `${resident.toFixed(0)} MB`),
    line(
      '202 received to model request',
      `${spread(told)} ms, p95 ${quantile(told, 0.95).toFixed(1)} ms`,
      'flat',
    ),
  ]
}
