/**
 * What a tool round costs in one agent's long turn, against the bare loop that does the same
 * physical work; whether it stays flat; and the peak of the memory.
 */
import { join } from 'node:path'
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
import type { FloorSpec } from './floor/floor-rounds.ts'
import {
  nameFor,
  requestsBefore,
  type Arrival,
  type ModelFixture,
} from './fixtures/model-fixture.ts'
import type { Line } from './report.ts'

export type Run = {
  round_ms: number[]
  peak_mb: number
  /** Of the whole run. */
  cpu_ms: number
  written: number
  opening: number
  each: number
}

/** One `holon run` of so many commands. `home`: one that is there, else a new one is made. */
export async function ourRun(
  bench: Bench,
  model: ModelFixture,
  rounds: number,
  home: string = bench.folder('rounds-home'),
): Promise<Run> {
  const name = nameFor({ kind: 'rounds', rounds })
  const words = ['run', '--model', `openai-compatible/${name}`]
  words.push('--workspace', bench.folder('rounds-work'), 'Go round.')
  const ran = await mustEndWell(runNode(bench, holon(bench, home, words), { sample: true }))
  const { peak_mb, cpu_ms, written } = ran
  return { ...roundsOf((await model.take()).arrivals, rounds), peak_mb, cpu_ms, written }
}

type FloorRun = { round_ms: number[]; cpu_ms: number; written: number }

async function floorRun(
  bench: Bench,
  model: ModelFixture,
  like: Run,
  rounds: number,
): Promise<FloorRun> {
  const spec: FloorSpec = {
    database: join(bench.folder('rounds-floor'), 'floor.sqlite'),
    base_url: bench.base_url,
    models: [nameFor({ kind: 'rounds', rounds })],
    rounds,
    opening: like.opening,
    each: like.each,
  }
  const floor = [join(root, 'bench/floor/floor-rounds.ts'), JSON.stringify(spec)]
  const { cpu_ms, written } = await mustEndWell(runNode(bench, floor, { sample: true }))
  return { ...roundsOf((await model.take()).arrivals, rounds), cpu_ms, written }
}

/** From the request whose answer is a command to the request with its result. */
function roundsOf(arrivals: readonly Arrival[], rounds: number) {
  const at = arrivals.toSorted((a, b) => a.n - b.n).slice(requestsBefore)
  const [first, last] = [at[0], at[rounds]]
  if (!first || !last) throw new Error(`${at.length} requests for ${rounds} rounds`)
  return {
    round_ms: at.slice(1, rounds + 1).map((one, i) => (one.at_us - (at[i]?.at_us ?? 0)) / 1_000),
    opening: first.bytes,
    each: Math.round((last.bytes - first.bytes) / rounds),
  }
}

/** Rounds of a run that stands for what a start costs: it is taken off before a round is told. */
const startRounds = 5

/** What a round costs in all processes and to the disk, whatever else the machine does. */
function usageLines(
  count: number,
  runs: { ours: readonly Run[]; floor: readonly FloorRun[] },
  start: { ours: Run; floor: FloorRun },
): Line[] {
  const per = (of: 'cpu_ms' | 'written', who: 'ours' | 'floor') =>
    runs[who].map((run) => (run[of] - start[who][of]) / (count - startRounds))
  const line = (what: string, of: 'cpu_ms' | 'written', shown: (value: number[]) => string) => ({
    what: `${what}, of ${count}`,
    ours: shown(per(of, 'ours')),
    floor: shown(per(of, 'floor')),
    ratio: median(per(of, 'ours')) / median(per(of, 'floor')),
    target: '',
    load: load(),
  })
  return [
    line('processor time of all processes in a round', 'cpu_ms', (of) => `${spread(of, 2)} ms`),
    line('written to the disk in a round', 'written', (of) => `${spread(kilo(of), 0)} kB`),
  ]
}

const kilo = (bytes: readonly number[]) => bytes.map((one) => one / 1_000)

export async function rounds(
  bench: Bench,
  model: ModelFixture,
  { counts, times }: { counts: readonly number[]; times: number },
): Promise<Line[]> {
  const short = await ourRun(bench, model, startRounds)
  const start = { ours: short, floor: await floorRun(bench, model, short, startRounds) }
  const lines: Line[] = []
  for (const count of counts) {
    const [ours, floors]: [Run[], FloorRun[]] = [[], []]
    for (let i = 0; i < times; i++) {
      const run = await ourRun(bench, model, count)
      ours.push(run)
      floors.push(await floorRun(bench, model, run, count))
    }
    const of = (runs: readonly { round_ms: number[] }[]) =>
      runs.map(({ round_ms }) => median(round_ms))
    const ends = (runs: readonly { round_ms: number[] }[]) => [
      runs.map(({ round_ms }) => median(round_ms.slice(0, 20))),
      runs.map(({ round_ms }) => median(round_ms.slice(-20))),
    ]
    const [first = [], last = []] = ends(ours)
    const [floorFirst = [], floorLast = []] = ends(floors)
    lines.push(
      {
        what: `a round, of ${count}`,
        ours: `${spread(of(ours), 2)} ms`,
        floor: `${spread(of(floors), 2)} ms`,
        ratio: median(of(ours)) / median(of(floors)),
        target: '≤ 1.5× floor',
        load: load(),
      },
      {
        what: `the last 20 of ${count} to the first 20`,
        ours: `${median(last).toFixed(2)} to ${median(first).toFixed(2)} ms`,
        floor: `${median(floorLast).toFixed(2)} to ${median(floorFirst).toFixed(2)} ms`,
        ratio: median(last.map((ms, i) => ms / (first[i] ?? 0))),
        target: '≤ 1.15×',
        load: load(),
      },
      {
        what: `peak memory, ${count} rounds`,
        ours: `${spread(ours.map(({ peak_mb }) => peak_mb))} MB`,
        floor: '',
        ratio: null,
        target: count <= 200 ? '≤ 130 MB' : '≤ 140 MB',
        load: load(),
      },
      ...usageLines(count, { ours, floor: floors }, start),
    )
  }
  return lines
}
