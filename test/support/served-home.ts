/**
 * A daemon as a person has it: the real program on a scratch home, in a process of its own, on any
 * free port of the loopback. Whatever a test leaves running is killed at its end, by its pid.
 */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { spawn as openTerminal } from '@lydell/node-pty'

const main = join(dirname(dirname(import.meta.dirname)), 'src', 'main.ts')

export type Ended = { exit: number | null; signal: string | null; out: string; err: string }
export type Ready = { url: string; pid: number; home: string }

type Init = { method?: string; body?: string; headers?: Record<string, string> }

export class ServedHome {
  readonly folder: string
  readonly home: string
  readonly env: Record<string, string>
  /** What each process is started by, with its arguments; empty: as it is. */
  within: readonly string[] = []
  readonly #children = new Set<ChildProcess>()

  constructor(t: TestContext) {
    this.folder = mkdtempSync(join(tmpdir(), 'holon-daemon-'))
    this.home = join(this.folder, 'h')
    this.env = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      HOLON_HOME: this.home,
      LANG: 'C.UTF-8',
    }
    t.after(() => {
      for (const child of this.#children) child.kill('SIGKILL')
      this.#killBackground()
      rmSync(this.folder, { recursive: true, force: true })
    })
  }

  /** A daemon that `holon start` made is no child of ours: its home says which one it is. */
  #killBackground(): void {
    const pid = this.file('daemon.pid')?.split('\n')[0]
    if (pid === undefined) return
    try {
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It has ended.
    }
  }

  /** The text of a file of the home; null when it is not there. */
  file(name: string): string | null {
    const path = join(this.home, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : null
  }

  write(name: string, content: string): string {
    writeFileSync(join(this.folder, name), content)
    return name
  }

  /** The program and its arguments, as they are started. */
  command(args: readonly string[]): [program: string, args: string[]] {
    const [program = process.execPath, ...rest] = [...this.within, process.execPath, main, ...args]
    return [program, rest]
  }

  start(args: readonly string[], env: Record<string, string> = {}) {
    const child = spawn(...this.command(args), {
      cwd: this.folder,
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // What hangs is a failure of its test, not of the whole run.
      timeout: 60_000,
      killSignal: 'SIGKILL',
    })
    this.#children.add(child)
    const exit = Promise.withResolvers<Pick<Ended, 'exit' | 'signal'>>()
    child.on('exit', (code, signal) => {
      this.#children.delete(child)
      exit.resolve({ exit: code, signal })
    })
    const ended = Promise.all([exit.promise, text(child.stdout), text(child.stderr)]).then(
      ([how, out, err]): Ended => ({ ...how, out, err }),
    )
    return { child, ended }
  }

  holon(...args: string[]): Promise<Ended> {
    return this.start(args).ended
  }

  async json<T>(...args: string[]): Promise<T> {
    const { exit, out, err } = await this.holon(...args, '--json')
    assert.deepEqual([exit, err], [0, ''], args.join(' '))
    return JSON.parse(out) as T
  }

  /** `holon serve`, once it says that it is ready. */
  async serve(args: readonly string[] = ['--port', '0'], env: Record<string, string> = {}) {
    const { child, ended } = this.start(['serve', '--json', ...args], env)
    const line = await Promise.race([firstLine(child), ended])
    assert.equal(typeof line, 'string', `it never got ready: ${JSON.stringify(line)}`)
    const { ready } = JSON.parse(line as string) as { ready: Ready }
    return { child, ended, ...ready }
  }

  get token(): string {
    return (this.file('control-token') ?? '').trim()
  }

  /** A request with the home's token, on a connection that nobody has taken before. */
  async fetch(url: string, path: string, init: Init = {}) {
    const own = { authorization: `Bearer ${this.token}`, connection: 'close' }
    const response = await fetch(url + path, { ...init, headers: { ...own, ...init.headers } })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let said = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString()
    const end = said.indexOf('\n')
    if (end >= 0) resolve(said.slice(0, end))
  })
  return promise
}

/** Resolves when the stream has said something that matches. */
export function said(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let all = ''
  stream.on('data', (chunk: Buffer | string) => {
    all += chunk.toString()
    if (pattern.test(all)) resolve(all)
  })
  stream.on('end', () => reject(new Error(`never said ${pattern}: ${all}`)))
  return promise
}

/** The program in a terminal. `sees` resolves once the screen has said it. */
export function terminal(
  t: TestContext,
  at: ServedHome,
  args: readonly string[],
  size: { cols: number; rows: number } = { cols: 100, rows: 30 },
) {
  const pty = openTerminal(...at.command(args), {
    ...size,
    cwd: at.folder,
    env: { ...at.env, TERM: 'xterm' },
  })
  t.after(() => pty.kill('SIGKILL'))
  let all = ''
  let from = 0
  const looks = new Set<() => void>()
  const ended = Promise.withResolvers<number>()
  pty.onData((text) => {
    all += text
    for (const look of looks) look()
  })
  pty.onExit(({ exitCode }) => ended.resolve(exitCode))
  const sees = async (pattern: RegExp): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const look = () => {
      const found = pattern.exec(all.slice(from))
      if (found === null) return
      from += found.index + found[0].length
      resolve()
    }
    looks.add(look)
    void ended.promise.then(() => reject(new Error(`ended before ${String(pattern)}: ${all}`)))
    look()
    await promise
    looks.delete(look)
  }
  const says = async (pattern: RegExp, answer: string): Promise<void> => {
    await sees(pattern)
    pty.write(answer)
  }
  /** All up to the last thing that was waited for. */
  const seen = () => all.slice(0, from)
  return { says, sees, seen, ended: ended.promise, screen: () => all, pty }
}
