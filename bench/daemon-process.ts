/**
 * The daemon as the benchmarks run it: the installed command as `holon serve` in a process of its
 * own, asked over the loopback by a client that keeps its connections.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { Agent, request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { holon, nowUs, type Bench } from './machine.ts'
import { TEST_KEY } from '../src/testing/model-server.ts'

export type Daemon = {
  pid: number
  url: string
  token: string
  started_us: number
  ready_us: number
  /** Resolves when it is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

/** Resolves when it says that it is ready. `preload` is imported before the command. */
export async function startDaemon(
  bench: Bench,
  home: string,
  more: { preload?: string; env?: Record<string, string> } = {},
): Promise<Daemon> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(bench.installed, '..'),
    OPENAI_COMPATIBLE_BASE_URL: bench.base_url,
    OPENAI_COMPATIBLE_API_KEY: TEST_KEY,
    ...more.env,
  }
  const preload = more.preload === undefined ? [] : ['--import', more.preload]
  const words = ['serve', '--json', '--port', '0', '--log-level', 'warn']
  const started_us = nowUs()
  const args = [...preload, ...holon(bench, home, words)]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const line = await Promise.race([firstLine(child.stdout), ended])
  const ready_us = nowUs()
  if (typeof line !== 'string') throw new Error(`the daemon ended with ${line.join()}`)
  const { ready } = JSON.parse(line) as { ready: { url: string } }
  return {
    pid: child.pid ?? 0,
    url: ready.url,
    token: readFileSync(join(home, 'control-token'), 'utf8').trim(),
    started_us,
    ready_us,
    async end(signal) {
      child.kill(signal)
      await ended
    },
  }
}

function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let said = ''
  stream.on('data', (chunk: Buffer) => {
    said += chunk.toString()
    const end = said.indexOf('\n')
    if (end >= 0) resolve(said.slice(0, end))
  })
  return promise
}

export type Asked = { status: number; body: string; us: number; done_us: number }

/** A client on one kept connection; times are from before the request to the end of its answer. */
export function clientOf({ token }: Pick<Daemon, 'token'>) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = async (method: 'GET' | 'POST', url: string, body = ''): Promise<Asked> => {
    const json = body === '' ? {} : { 'content-type': 'application/json' }
    const headers = { authorization: `Bearer ${token}`, ...json }
    const from = nowUs()
    const sent = request(url, { method, agent, headers })
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const said = await text(response)
    const done_us = nowUs()
    return { status: response.statusCode ?? 0, body: said, us: done_us - from, done_us }
  }
  return { ask, close: () => agent.destroy() }
}

/** Milliseconds of processor time all threads of a process have had. */
export function cpuMs(pid: number): number {
  const tasks = join('/proc', String(pid), 'task')
  const ns = readdirSync(tasks).map((tid) =>
    Number(readFileSync(join(tasks, tid, 'schedstat'), 'utf8').split(' ')[0]),
  )
  return ns.reduce((sum, one) => sum + one, 0) / 1e6
}

/**
 * Resolves when it has done nothing to speak of for a second. Of a home with ten thousand items a
 * new index is made in a quarter of a minute, which is nothing that a wake costs.
 */
export async function atRest({ pid }: Pick<Daemon, 'pid'>): Promise<void> {
  for (;;) {
    const before = cpuMs(pid)
    await pause(1_000)
    if (cpuMs(pid) - before < 5) return
  }
}

/** The same by the clock of the kernel's accounting, which counts hundredths of a second. */
export function cpuTicks(pid: number): number {
  const stat = readFileSync(join('/proc', String(pid), 'stat'), 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** A line of `/proc/<pid>/status` in MB. */
export function memoryMb(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(join('/proc', String(pid), 'status'), 'utf8')
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024
}
