/** Sixteen agents in one process, each in its own turn of commands, against as many bare loops. */
import { join } from 'node:path'
import { hostOver } from './fixtures/host.ts'
import type { FloorSpec } from './floor/floor-rounds.ts'
import {
  holon,
  load,
  median,
  mustEndWell,
  root,
  runNode,
  spread,
  type Bench,
} from './fixtures/machine.ts'
import {
  nameFor,
  requestsBefore,
  type Arrival,
  type ModelFixture,
} from './fixtures/model-fixture.ts'
import type { Line } from './report.ts'
import type { Run } from './rounds.ts'

/** A home in which each of the agents has one message and nobody works yet. */
async function prepare(bench: Bench, models: readonly string[]): Promise<string> {
  const home = bench.folder('agents-home')
  const nobody = { ok: false, code: 'none', message: 'nobody is asked here' } as const
  const { host, close } = await hostOver(home, async () => nobody)
  for (const [i, model] of models.entries()) {
    const id = `agent-${i + 1}`
    const workspace = { mode: 'explicit_root', root: bench.folder('agents-work') } as const
    await host.ensureAgent({ id, model: `openai-compatible/${model}`, workspace })
    await host.act({ do: 'send', agent_id: id, text: 'Go round.' })
  }
  await close()
  return home
}

/** Command rounds a second, from the first agent's first to the last agent's last. */
function throughput(arrivals: readonly Arrival[], rounds: number): number {
  const at = arrivals
    .filter(({ n }) => n > requestsBefore && n <= requestsBefore + rounds + 1)
    .map(({ at_us }) => at_us)
    .toSorted((a, b) => a - b)
  const [first = 0, last = 0] = [at[0], at.at(-1)]
  const done = arrivals.filter(
    ({ n }) => n > requestsBefore + 1 && n <= requestsBefore + rounds + 1,
  )
  return (done.length / (last - first)) * 1e6
}

export async function agents(
  bench: Bench,
  model: ModelFixture,
  { count, rounds, times, like }: { count: number; rounds: number; times: number; like: Run },
): Promise<Line[]> {
  const names = () => Array.from({ length: count }, () => nameFor({ kind: 'rounds', rounds }))
  const ours: number[] = []
  const peaks: number[] = []
  const floors: number[] = []
  for (let i = 0; i < times; i++) {
    const home = await prepare(bench, names())
    const running = runNode(bench, holon(bench, home, ['run', '--resume']), { sample: true })
    peaks.push((await mustEndWell(running)).peak_mb)
    ours.push(throughput((await model.take()).arrivals, rounds))
    const spec: FloorSpec = {
      database: join(bench.folder('agents-floor'), 'floor.sqlite'),
      base_url: bench.base_url,
      models: names(),
      rounds,
      opening: like.opening,
      each: like.each,
    }
    await mustEndWell(
      runNode(bench, [join(root, 'bench/floor/floor-rounds.ts'), JSON.stringify(spec)]),
    )
    floors.push(throughput((await model.take()).arrivals, rounds))
  }
  return [
    {
      what: `${count} agents in one process, ${rounds} rounds each`,
      ours: `${spread(ours, 0)} rounds/s`,
      floor: `${spread(floors, 0)} rounds/s`,
      ratio: median(ours) / median(floors),
      target: '≥ 0.85× floor, ≥ 200',
      load: load(),
    },
    {
      what: `peak memory, ${count} agents`,
      ours: `${spread(peaks)} MB`,
      floor: '',
      ratio: null,
      target: '≤ 180 MB',
      load: load(),
    },
  ]
}
