/**
 * What the benchmarks need of the machine: folders that stay until the end, an installed copy of
 * the program, processes with their start and their peak memory, and the numbers made of samples.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import {
  cpSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { TEST_KEY } from '../src/testing/model-server.ts'

export const root = join(import.meta.dirname, '..')

/** Microseconds on the clock that all processes of the machine share. */
export const nowUs = (): number => Number(process.hrtime.bigint() / 1_000n)

export type Bench = {
  /** A new folder, empty. Nothing is removed before the end: see docs/benchmarks.md. */
  folder(name: string): string
  /** The command as a user has it: bin and bundle, no sources beside them. */
  installed: string
  /** The sources without a bundle, with their dependencies. */
  sources: string
  base_url: string
}

export function openBench(base_url: string): Bench & { close(): void } {
  const all = realpathSync(mkdtempSync(join(tmpdir(), 'holon-bench-')))
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: 'pipe' })
  const [installed, sources] = [join(all, 'installed'), join(all, 'sources')]
  for (const place of [installed, sources]) {
    mkdirSync(place)
    for (const name of ['package.json', 'bin']) {
      cpSync(join(root, name), join(place, name), { recursive: true })
    }
  }
  cpSync(join(root, 'dist'), join(installed, 'dist'), {
    recursive: true,
    filter: (path) => !path.includes('.cache'),
  })
  cpSync(join(root, 'src'), join(sources, 'src'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(sources, 'node_modules'))
  let count = 0
  return {
    installed,
    sources,
    base_url,
    folder(name) {
      const path = join(all, `${name}-${++count}`)
      mkdirSync(path, { mode: 0o700 })
      return path
    },
    close: () => rmSync(all, { recursive: true, force: true }),
  }
}

export type Ran = { code: number | null; signal: string | null; stderr: string; peak_mb: number }
export type Running = {
  child: ChildProcess
  started_us: number
  /** NaN while it runs. */
  ended_us: () => number
  ran: Promise<Ran>
}

/** Runs Node on `args`; samples the peak of its resident memory until it ends. */
export function runNode(
  bench: Bench,
  args: readonly string[],
  more: { env?: Record<string, string>; sample?: boolean } = {},
): Running {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(bench.installed, '..'),
    OPENAI_COMPATIBLE_BASE_URL: bench.base_url,
    OPENAI_COMPATIBLE_API_KEY: TEST_KEY,
    ...more.env,
  }
  const started_us = nowUs()
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  let peak_mb = 0
  const sampling = setInterval(() => {
    if (more.sample) peak_mb = Math.max(peak_mb, peakOf(child.pid ?? 0))
  }, 10)
  let ended_us = Number.NaN
  child.on('exit', () => (ended_us = nowUs()))
  const { promise, resolve } = Promise.withResolvers<Ran>()
  child.on('close', (code, signal) => {
    clearInterval(sampling)
    resolve({ code, signal, stderr, peak_mb })
  })
  return { child, started_us, ended_us: () => ended_us, ran: promise }
}

/** `VmHWM` of a process in MB; 0 once it is gone. */
function peakOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

/** The bin of the installed copy, on a home of its own, as a person would type it. */
export const holon = (bench: Bench, home: string, words: readonly string[]): string[] => [
  join(bench.installed, 'bin/holon.mjs'),
  ...words,
  '--home',
  home,
]

export const mustEndWell = async ({ ran }: Running): Promise<Ran> => {
  const done = await ran
  if (done.code !== 0) throw new Error(`ended with ${done.code} ${done.signal}: ${done.stderr}`)
  return done
}

/** Microseconds to make an empty file, median of many: a disk that is slow today shows here. */
export function inodeCreateUs(bench: Bench): number {
  const folder = bench.folder('probe')
  const times: number[] = []
  for (let i = 0; i < 200; i++) {
    const from = nowUs()
    closeSync(openSync(join(folder, `f${i}`), 'wx'))
    times.push(nowUs() - from)
  }
  return median(times)
}

export const load = (): string => (loadavg()[0] ?? 0).toFixed(2)

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [low = Number.NaN, high = low] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return (low + high) / 2
}

/** `12.3 (11.9–13.0)`: the median, and the quarters around it as the noise. */
export function spread(values: readonly number[], digits = 1): string {
  const of = (value: number) => value.toFixed(digits)
  if (values.length < 2) return of(median(values))
  return `${of(median(values))} (${of(quantile(values, 0.25))}–${of(quantile(values, 0.75))})`
}
