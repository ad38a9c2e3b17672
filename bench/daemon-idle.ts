/** What a daemon costs while nothing happens: processor time over a minute, and memory. */
import { setTimeout as pause } from 'node:timers/promises'
import { cpuMs, cpuTicks, memoryMb, startDaemon } from './fixtures/daemon-process.ts'
import { load, type Bench } from './fixtures/machine.ts'
import type { Line } from './report.ts'
import { writeWaitingHome } from './fixtures/waiting-home.ts'

/**
 * Milliseconds until the start has come to rest: the collector of garbage gives memory back once,
 * half a minute after it.
 */
const settling = 60_000

export async function daemonIdle(
  bench: Bench,
  { agents, items, seconds }: { agents: number; items: number; seconds: number },
): Promise<Line[]> {
  const home = bench.folder('idle-home')
  const names = Array.from({ length: agents }, (_, i) => `agent-${i}`)
  await writeWaitingHome(home, { agents: names, items, model: 'openai-compatible/idle' })
  // The first start gives every agent its trigger; what is measured is a later one.
  await (await startDaemon(bench, home)).end('SIGTERM')
  const daemon = await startDaemon(bench, home)
  await pause(settling)
  const [ms, ticks] = [cpuMs(daemon.pid), cpuTicks(daemon.pid)]
  await pause(seconds * 1_000)
  const used = cpuMs(daemon.pid) - ms
  const ticked = cpuTicks(daemon.pid) - ticks
  const [resident, peak] = [memoryMb(daemon.pid, 'VmRSS'), memoryMb(daemon.pid, 'VmHWM')]
  await daemon.end('SIGTERM')
  const what = `idle, ${agents} agents with ${items} waiting items`
  const share = ((used / (seconds * 1_000)) * 100).toFixed(3)
  const line = (what: string, ours: string, target = ''): Line => ({
    what,
    ours,
    floor: '',
    ratio: null,
    target,
    load: load(),
  })
  return [
    line(`${what}: processor`, `${share} % (${used.toFixed(0)} ms, ${ticked} ticks)`, '≤ 0.1 %'),
    line('the same: memory', `${resident.toFixed(0)} MB, peak ${peak.toFixed(0)} MB`),
  ]
}
