/**
 * The screen, by hand: `node bench/studies/tui.ts [--times 15] [--events 100000]`. The installed
 * command on a real daemon whose one agent has a long history, in a real terminal device read by an
 * emulator: from the start of the process to the skeleton and to the first true frame, from a key
 * to its last byte, what is written while nothing happens, and memory.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startDaemon } from '../fixtures/daemon-process.ts'
import { Terminal, until } from '../fixtures/terminal.ts'
import { writeHistory } from '../fixtures/long-history.ts'
import { holon, load, nowUs, openBench, quantile, spread, type Bench } from '../fixtures/machine.ts'

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '15' },
    events: { type: 'string', default: '100000' },
    keys: { type: 'string', default: '200' },
    idle: { type: 'string', default: '10' },
  },
})
const [times, events] = [Number(values.times), Number(values.events)]
const [keys, idle_s] = [Number(values.keys), Number(values.idle)]
/** Milliseconds of processor time of all threads, and the resident memory in MB. */
function ownOf(pid: number): { cpu_ms: number; mb: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kb = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1])
  return { cpu_ms: (Number(fields[11]) + Number(fields[12])) * 10, mb: kb / 1024 }
}

async function firstFrames(bench: Bench, home: string, words: string[], frame: RegExp) {
  const [skeleton, whole, cpu]: [number[], number[], number[]] = [[], [], []]
  // The first start compiles and keeps what it compiled.
  for (let n = 0; n <= times; n += 1) {
    const terminal = new Terminal(bench, holon(bench, home, words), [120, 40])
    const first = await terminal.shows(/holon|reading/)
    const true_frame = await terminal.shows(frame)
    if (n > 0) {
      skeleton.push((first.at_us - terminal.started_us) / 1_000)
      whole.push((true_frame.at_us - terminal.started_us) / 1_000)
      cpu.push(ownOf(terminal.pid).cpu_ms)
    }
    await terminal.left()
  }
  return { skeleton, whole, cpu }
}

const bench = openBench('http://127.0.0.1:9/')
try {
  const home = bench.folder('tui-home')
  const written = await writeHistory(home, { agents: 1, open_items: 1_000, events })
  const daemon = await startDaemon(bench, home)
  const print = (what: string, figure: string) =>
    console.log(`${what.padEnd(44)} ${figure}   load ${load()}`)
  console.log(`${written} events of one agent, 500 open items, ${times} starts, 120x40`)
  const frames: [string, string[], RegExp][] = [
    ['home', ['tui'], /live \d\d:\d\d[\s\S]*NEEDS YOU[\s\S]*AGENTS/],
    ['the agent', ['tui', 'agent-0'], /live \d\d:\d\d[\s\S]*turn \d+|live \d\d:\d\d[\s\S]*you /],
  ]
  for (const [what, words, frame] of frames) {
    const { skeleton, whole, cpu } = await firstFrames(bench, home, words, frame)
    print(`${what}: first bytes of it`, `${spread(skeleton, 0)} ms`)
    print(
      `${what}: first true frame`,
      `${spread(whole, 0)} ms, p95 ${quantile(whole, 0.95).toFixed(0)}`,
    )
    print(`${what}: own processor time till then`, `${spread(cpu, 0)} ms`)
  }
  const terminal = new Terminal(bench, holon(bench, home, ['tui', 'agent-0']), [200, 50])
  await terminal.shows(frames[1]?.[2] ?? /live/)
  await until(
    () => nowUs() - terminal.last_us > 500_000,
    () => `a quiet screen:\n${terminal.text()}`,
  )
  const [ms, bytes]: [number[], number[]] = [[], []]
  for (let n = 0; n < keys; n += 1) {
    const painted = await terminal.typed(n % 20 < 10 ? 'k' : 'j')
    ms.push(painted.at_us / 1_000)
    bytes.push(painted.bytes)
  }
  print('key to its last byte, 200x50', `${spread(ms)} ms, p95 ${quantile(ms, 0.95).toFixed(1)}`)
  print('bytes of it', spread(bytes, 0))
  const before = { ...ownOf(terminal.pid), bytes: terminal.bytes }
  await new Promise((over) => setTimeout(over, idle_s * 1_000))
  const after = ownOf(terminal.pid)
  print(`idle for ${idle_s} s: bytes`, String(terminal.bytes - before.bytes))
  print(`idle for ${idle_s} s: own processor time`, `${after.cpu_ms - before.cpu_ms} ms`)
  print('memory then', `${after.mb.toFixed(0)} MB`)
  await terminal.left()
  await daemon.end('SIGTERM')
} finally {
  bench.close()
}
