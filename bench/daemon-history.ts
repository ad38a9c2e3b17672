/**
 * What a long history costs: from the start of the process to ready, and reads over HTTP, for
 * ledgers that differ in the length of their history and in nothing else.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { openReader } from '../src/ledger/store/open.ts'
import { clientOf, memoryMb, startDaemon, type Daemon } from './fixtures/daemon-process.ts'
import { writeHistory } from './fixtures/long-history.ts'
import { load, quantile, spread, type Bench } from './fixtures/machine.ts'
import type { Line } from './report.ts'

/** The same of each home: as many agents, and open items of which each is two events. */
const shape = { agents: 100, open_items: 2_000 }
const starts = 5
const agent = 'agent-1'

export async function daemonHistory(
  bench: Bench,
  { events, times }: { events: number; times: number },
): Promise<Line[]> {
  const home = bench.folder('history-home')
  const from = performance.now()
  const written = await writeHistory(home, { ...shape, events })
  const wrote_s = (performance.now() - from) / 1_000
  const verified_s = await verified(home)
  // The first start gives every agent its trigger.
  await (await startDaemon(bench, home)).end('SIGKILL')
  const ready: number[] = []
  for (let i = 0; i < starts; i++) {
    const daemon = await startDaemon(bench, home)
    ready.push((daemon.ready_us - daemon.started_us) / 1_000)
    await daemon.end('SIGKILL')
  }
  const many = `${events.toLocaleString('en')} events`
  const line = (what: string, ours: string, target = ''): Line => ({
    what: `${many}: ${what}`,
    ours,
    floor: '',
    ratio: null,
    target,
    load: load(),
  })
  const file = statSync(join(home, 'ledger', 'ledger.sqlite'))
  const lines = [
    line(
      'written, and verified',
      `${written.toLocaleString('en')}, ${wrote_s.toFixed(1)} s, ${verified_s.toFixed(1)} s`,
    ),
    line('size of the database', `${(file.size / 2 ** 20).toFixed(0)} MB`),
    line('start to ready after kill -9', `${spread(ready, 0)} ms`, '≤ 1 s'),
  ]
  const daemon = await startDaemon(bench, home)
  for (const path of paths) {
    const { ms, bytes, first } = await measured(daemon, path, times)
    const p95 = quantile(ms, 0.95).toFixed(1)
    const once = `first ${first.toFixed(0)} ms, ${(bytes / 1024).toFixed(0)} KB`
    lines.push(line(`GET ${path}`, `${spread(ms)} ms, p95 ${p95} ms (${once})`, 'p95 ≤ 20 ms'))
  }
  lines.push(line('memory then', `${memoryMb(daemon.pid, 'VmRSS').toFixed(0)} MB`))
  await daemon.end('SIGTERM')
  return lines
}

const paths = [
  '/state',
  '/agents',
  `/agents/${agent}/work-items`,
  `/agents/${agent}/work-items?filter=completed`,
  `/agents/${agent}/events`,
  `/agents/${agent}/turns`,
  '/events',
  '/attention',
]

async function measured(daemon: Daemon, path: string, times: number) {
  const client = clientOf(daemon)
  const ms: number[] = []
  let bytes = 0
  // One after another, so that only the answer is measured and no line of others before it.
  for (let i = 0; i <= times; i++) {
    const { status, body, us } = await client.ask('GET', daemon.url + path)
    if (status !== 200) throw new Error(`GET ${path} was answered ${status} ${body}`)
    bytes = body.length
    ms.push(us / 1_000)
  }
  client.close()
  const [first = Number.NaN, ...rest] = ms
  return { ms: rest, bytes, first }
}

/** Seconds; throws when the history does not fold into its rows. */
async function verified(home: string): Promise<number> {
  const reader = await openReader(home)
  const from = performance.now()
  const { problems } = await reader.verify()
  await reader.close()
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return (performance.now() - from) / 1_000
}
