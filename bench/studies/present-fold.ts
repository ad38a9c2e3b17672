/**
 * How many events a second the presentation reducer takes, in own CPU time, by hand: `node
 * bench/studies/present-fold.ts [--events 100000] [--batch 100] [--rounds 7]`. The history is the
 * fixtures one after another, again and again, each time under ids of its own, as a stream brings
 * them.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { StoredEvent } from '../../src/domain/state/event.ts'
import { apply, open } from '../../src/present/presentation.ts'
import { scenes } from '../../src/testing/screens/scenes.ts'
import { aState } from '../../src/testing/screens/state.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '100000' },
    batch: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '7' },
  },
})
const [wanted, batch, rounds] = [values.events, values.batch, values.rounds].map(Number) as [
  number,
  number,
  number,
]

const folder = join(import.meta.dirname, '..', '..', 'src', 'present', 'fixtures')
const fixtures = Object.keys(scenes).flatMap((name) => {
  const lines = readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
  return name === 'hostile' ? [] : [lines]
})

/** The same fixture with ids as long and as random as real ones. */
function again(lines: readonly string[], n: number): StoredEvent[] {
  const mark = n.toString(16).padStart(8, '0')
  const named = (text: string) =>
    text.replaceAll(/\b(turn|call|msg|work|wait|task|brief|dec|evt)_(t?\d{3,})/g, (_, noun, id) => {
      return `${noun}_${mark}-0000-7000-8000-${String(id).padStart(12, '0')}`
    })
  return lines.map((line) => JSON.parse(named(line)) as StoredEvent)
}

function history(): StoredEvent[] {
  const made: StoredEvent[] = []
  for (let n = 0; made.length < wanted; n++)
    made.push(...again(fixtures[n % fixtures.length] ?? [], n))
  return made.slice(0, wanted).map((event, n) => ({ ...event, seq: n + 1, global_seq: n + 1 }))
}

const events = history()
const batches: StoredEvent[][] = []
for (let n = 0; n < events.length; n += batch) batches.push(events.slice(n, n + batch))

function once(): number {
  const from = process.cpuUsage()
  let p = apply(open(aState()), { kind: 'watch', agent_id: 'main' })
  for (const one of batches) p = apply(p, { kind: 'events', events: one })
  const { user, system } = process.cpuUsage(from)
  if (p.last_seq !== events.length) throw new Error(`it heard ${p.last_seq}`)
  return (user + system) / 1_000
}

const ms = Array.from({ length: rounds }, once)
const perSecond = (took: number) => Math.round((wanted / took) * 1_000)
const sorted = ms.toSorted((a, b) => a - b)
const [best = 1, median = 1] = [sorted[0], sorted[Math.floor(sorted.length / 2)]]
console.log(
  JSON.stringify({
    events: wanted,
    batch,
    cpu_ms: ms.map(Math.round),
    median_per_second: perSecond(median),
    best_per_second: perSecond(best),
  }),
)
