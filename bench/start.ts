/** From the start of the process to its first model request, and the same for the bare script. */
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
import { nameFor, type ModelFixture } from './fixtures/model-fixture.ts'
import type { Line } from './report.ts'

/** Milliseconds from process start to request, by kind of start, interleaved. */
export async function start(bench: Bench, model: ModelFixture, times: number): Promise<Line[]> {
  const home = bench.folder('start-home')
  const workspace = bench.folder('start-work')
  const database = join(bench.folder('start-floor'), 'floor.sqlite')
  // One model for all, so that no start has a setting to store.
  const name = nameFor({ kind: 'text', rounds: 0 })
  const words = ['run', '--model', `openai-compatible/${name}`, '--workspace', workspace]
  words.push('Say that there is nothing to do.')
  const sourceCache = { NODE_COMPILE_CACHE: join(bench.folder('start-cache'), 'cache') }
  const kinds = {
    floor: () => [[join(root, 'bench/floor/floor-start.mjs'), database, bench.base_url, name], {}],
    bundle: () => [holon(bench, home, words), {}],
    fresh_home: () => [holon(bench, bench.folder('start-fresh'), words), {}],
    no_cache: () => [holon(bench, home, words), { NODE_DISABLE_COMPILE_CACHE: '1' }],
    sources: () => [[join(bench.sources, 'bin/holon.mjs'), ...words, '--home', home], sourceCache],
    node: () => [['-e', '0'], {}],
  } satisfies Record<string, () => [string[], Record<string, string>]>
  type Kind = keyof typeof kinds
  const ms = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, [] as number[]])) as Record<
    Kind,
    number[]
  >
  for (let i = -2; i < times; i++) {
    for (const kind of Object.keys(kinds) as Kind[]) {
      const [args, env] = kinds[kind]() as [string[], Record<string, string>]
      const running = runNode(bench, args, { env })
      await mustEndWell(running)
      const { arrivals } = await model.take()
      const [first] = arrivals
      // The first two of each fill the caches.
      const ended = kind === 'node' ? running.ended_us() : first?.at_us
      if (i >= 0) ms[kind].push(((ended ?? Number.NaN) - running.started_us) / 1_000)
    }
  }
  const floor = median(ms.floor)
  const line = (what: string, kind: Kind, target: string): Line => ({
    what: `start to first request, ${what}`,
    ours: `${spread(ms[kind])} ms`,
    floor: `${spread(ms.floor)} ms`,
    ratio: median(ms[kind]) / floor,
    target,
    load: load(),
  })
  return [
    line('bundle with warm compile cache', 'bundle', '≤ 1.35× floor'),
    line('the same on a new home', 'fresh_home', ''),
    line('bundle without the cache', 'no_cache', '≤ 5× floor'),
    line('from sources', 'sources', ''),
    line('`node -e 0`, start to end', 'node', ''),
  ]
}
