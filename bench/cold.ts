/**
 * A start on a machine that has nothing of us in memory: before each one the page cache is dropped,
 * which only root may do; without that right the line says so. Other work on the machine suffers,
 * so this is measured when it is asked for only.
 */
import { writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
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

/** Null: it was dropped; else why not. */
function dropPageCache(): string | null {
  spawnSync('sync')
  try {
    writeFileSync('/proc/sys/vm/drop_caches', '3')
    return null
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}

export async function cold(bench: Bench, model: ModelFixture, times: number): Promise<Line[]> {
  const what = 'cold start to first request, page cache dropped'
  const target = ''
  const refused = dropPageCache()
  if (refused !== null) {
    const ours = `not measured: ${refused}`
    return [{ what, ours, floor: '', ratio: null, target, load: load() }]
  }
  const home = bench.folder('cold-home')
  const database = join(bench.folder('cold-floor'), 'floor.sqlite')
  const name = nameFor({ kind: 'text', rounds: 0 })
  const workspace = bench.folder('cold-work')
  const words = ['run', '--model', `openai-compatible/${name}`, '--workspace', workspace]
  words.push('Say that there is nothing to do.')
  const arrival = async (args: readonly string[]): Promise<number> => {
    dropPageCache()
    const running = runNode(bench, args)
    await mustEndWell(running)
    const [first] = (await model.take()).arrivals
    return ((first?.at_us ?? Number.NaN) - running.started_us) / 1_000
  }
  // The first one makes the home and fills the compile cache, which is on the disk.
  await arrival(holon(bench, home, words))
  const ours: number[] = []
  const floor: number[] = []
  for (let i = 0; i < times; i++) {
    ours.push(await arrival(holon(bench, home, words)))
    floor.push(
      await arrival([join(root, 'bench/floor/floor-start.mjs'), database, bench.base_url, name]),
    )
  }
  return [
    {
      what: `${what} (${times} times)`,
      ours: `${spread(ours, 0)} ms`,
      floor: `${spread(floor, 0)} ms`,
      ratio: median(ours) / median(floor),
      target,
      load: load(),
    },
  ]
}
