/**
 * The daemon of a soak: a real `holon serve` on one home and one port, started and killed as often
 * as it is asked for, and what of it the outside can see: when it is ready, when it asks the model,
 * and which processes it leaves behind.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { TEST_KEY } from '../../src/testing/model-server/server.ts'

export type DaemonOptions = {
  /** The words that run Holon: a Node, and what it runs. */
  program: readonly string[]
  home: string
  /** Everything it says goes there. */
  log: string
  env: Readonly<Record<string, string>>
}

/** A daemon at home in a scratch folder, which asks the model server and inherits nothing else. */
export const daemonIn = (
  folder: string,
  program: readonly string[],
  { base_url }: { base_url: string },
): DaemonOptions => ({
  program,
  home: join(folder, 'home'),
  log: join(folder, 'daemon.log'),
  env: {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    LANG: 'C.UTF-8',
    OPENAI_COMPATIBLE_BASE_URL: base_url,
    OPENAI_COMPATIBLE_API_KEY: TEST_KEY,
  },
})

/** One life of it. `ready` rejects when it ends before. */
export type Life = {
  pid: number
  started_at: number
  ready: Promise<{ url: string; at: number }>
  ended: Promise<{ exit: number | null; signal: string | null }>
  kill(signal: 'SIGKILL' | 'SIGTERM'): void
}

export function startDaemon(options: DaemonOptions, port: number): Life {
  const { program, home, log, env } = options
  const [node = process.execPath, ...words] = program
  const output = openSync(log, 'a', 0o600)
  const started_at = performance.now()
  const args = [...words, 'serve', '--json', '--port', String(port), '--home', home]
  const child = spawn(node, args, { env, stdio: ['ignore', 'pipe', output] })
  closeSync(output)
  const ended = Promise.withResolvers<{ exit: number | null; signal: string | null }>()
  child.on('exit', (exit, signal) => ended.resolve({ exit, signal }))
  const ready = readyOf(child)
  // Whoever kills it before it is ready does not ask when it was.
  ready.catch(() => {})
  return {
    pid: child.pid ?? 0,
    started_at,
    ready,
    ended: ended.promise,
    kill: (signal) => void child.kill(signal),
  }
}

function readyOf(child: ChildProcess): Promise<{ url: string; at: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ url: string; at: number }>()
  let said = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text
    const end = said.indexOf('\n')
    if (end < 0) return
    const { ready } = JSON.parse(said.slice(0, end)) as { ready: { url: string } }
    resolve({ url: ready.url, at: performance.now() })
  })
  child.on('exit', (exit, signal) => reject(new Error(`it ended with ${exit ?? signal}`)))
  return promise
}
