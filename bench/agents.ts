/** Sixteen agents in one process, each in its own turn of commands, against as many bare loops. */
import { join } from 'node:path'
import { systemClock, systemIds } from '../src/exec/clock.ts'
import { memoryIn } from './memory.ts'
import { systemFiles } from '../src/exec/files.ts'
import { createProcesses } from '../src/exec/processes.ts'
import { createInspect } from '../src/exec/inspect.ts'
import { createWorktrees } from '../src/exec/worktrees.ts'
import { openLedger } from '../src/ledger/open.ts'
import { createHost } from '../src/runtime/host.ts'
import type { FloorSpec } from './floor-rounds.ts'
import { holon, load, median, mustEndWell, root, runNode, spread, type Bench } from './machine.ts'
import { nameFor, requestsBefore, type Arrival, type ModelFixture } from './model-fixture.ts'
import type { Line } from './report.ts'
import type { Run } from './rounds.ts'

/** A home in which each of the agents has one message and nobody works yet. */
async function prepare(bench: Bench, models: readonly string[]): Promise<string> {
  const home = bench.folder('agents-home')
  const clock = systemClock()
  const ids = systemIds()
  const ledger = await openLedger(home, {
    clock_now: () => clock.now(),
    mint: (prefix) => ids.mint(prefix),
  })
  const processes = createProcesses({
    tasks_folder: join(home, 'tasks'),
    clock,
    parent_env: process.env,
  })
  const nobody = { ok: false, code: 'none', message: 'nobody is asked here' } as const
  const host = createHost({
    home,
    ledger,
    clock,
    ids,
    files: systemFiles(),
    processes,
    worktrees: createWorktrees({ parent_env: process.env, scratch_folder: join(home, 'scratch') }),
    inspect: createInspect({ parent_env: process.env, scratch_folder: join(home, 'scratch') }),
    memory: memoryIn({ home, ledger, clock, processes }),
    models: {
      open: async () => nobody,
      facts: () => ({ context_window: 128_000, max_output: null }),
      price: () => null,
    },
    environment: {},
    user_home: home,
    has_listener: false,
  })
  for (const [i, model] of models.entries()) {
    const id = `agent-${i + 1}`
    const workspace = { mode: 'explicit_root', root: bench.folder('agents-work') } as const
    await host.ensureAgent({ id, model: `openai-compatible/${model}`, workspace })
    await host.act({ do: 'send', agent_id: id, text: 'Go round.' })
  }
  await host.close('now')
  await processes.close()
  await ledger.close()
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
    await mustEndWell(runNode(bench, [join(root, 'bench/floor-rounds.ts'), JSON.stringify(spec)]))
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
