/**
 * The screen without a machine: a session whose API answers from a table, whose clock is a test's,
 * and whose terminal is an emulator that reads the very bytes a real one would get.
 */
import { PassThrough } from 'node:stream'
import xterm from '@xterm/headless'
import type { StateRecord } from '../../protocol/views/state-record.ts'
import type { TuiOptions, TuiPorts } from '../../tui/ports.ts'
import { virtualClock, type VirtualClock } from '../virtual-clock.ts'

export type StageRequest = { method: string; path: string; body: unknown }
/**
 * The answer of a path; what is not there is 404. A function is asked each time: what it throws
 * breaks the connection, and a response of its own goes as it is.
 */
export type Answers = Record<string, unknown>

export type TuiStage = {
  ports: TuiPorts
  clock: VirtualClock
  asked: StageRequest[]
  /** The `Idempotency-Key` of each POST; null: it had none. */
  keys: (string | null)[]
  drafts: Record<string, string>
  copied: string[]
  /** Sends server-sent events into the open stream. */
  say(frame: { id?: number; event: string; data: unknown }): void
  /** Breaks the stream, and lets nobody listen any more. */
  hangUp(): void
  /** Ends the stream; whoever listens goes on listening. */
  endStream(): void
}

export const options: TuiOptions = {
  home: '~/.local/state/holon',
  colour: false,
  ascii: false,
  motion: true,
  called: 'holon',
  utc: true,
  opens: null,
  says: null,
  first: { model: 'anthropic/claude-sonnet-5-5', fallback_model: null, root: '/home/ada/app' },
}

/** As an answer: there is none, until the caller gives up. */
export const silent = Symbol('silent')

function answerOf(found: unknown, signal: AbortSignal): Response | Promise<never> {
  const value = typeof found === 'function' ? (found as () => unknown)() : found
  if (value instanceof Response) return value
  if (value === silent) return unanswered(signal)
  const status = value === undefined ? 404 : 200
  const problem = { code: 'not_found', detail: 'There is none.' }
  return new Response(JSON.stringify(value ?? problem), { status })
}

function unanswered(signal: AbortSignal): Promise<never> {
  const never = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => never.reject(signal.reason as Error))
  return never.promise
}

export function aStage(state: () => StateRecord, answers: Answers = {}): TuiStage {
  const clock = virtualClock(Date.parse(state().now))
  const asked: StageRequest[] = []
  const sentKeys: (string | null)[] = []
  const drafts: Record<string, string> = {}
  const copied: string[] = []
  let stream: ReadableStreamDefaultController<Uint8Array> | null = null
  let isUp = true
  const fetch: TuiPorts['api']['fetch'] = async (url, { method, body, headers, signal }) => {
    const { pathname } = new URL(url)
    if (!isUp) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    if (headers['accept'] === 'text/event-stream') {
      const opened = new ReadableStream<Uint8Array>({ start: (one) => void (stream = one) })
      signal.addEventListener('abort', () => stream?.error(new Error('aborted')))
      return new Response(opened, { status: 200, headers: { 'content-type': 'text/event-stream' } })
    }
    asked.push({ method, path: pathname, body: body === undefined ? null : JSON.parse(body) })
    if (method === 'POST') sentKeys.push(headers['idempotency-key'] ?? null)
    const found = answers[pathname] ?? (pathname === '/state' ? state() : undefined)
    return answerOf(found, signal)
  }
  let keys = 0
  return {
    clock,
    asked,
    keys: sentKeys,
    drafts,
    copied,
    say({ id, event, data }) {
      const head = id === undefined ? '' : `id: ${id}\n`
      const text = `${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
      stream?.enqueue(new TextEncoder().encode(text))
    },
    endStream: () => stream?.close(),
    hangUp() {
      isUp = false
      stream?.close()
    },
    ports: {
      door: () => Promise.resolve(isUp ? { url: 'http://127.0.0.1:7777', of: 'daemon' } : null),
      start: () => Promise.resolve('a test starts nothing'),
      api: {
        fetch,
        clock,
        mint_key: () => `key_${(keys += 1)}`,
        token: () => Promise.resolve('t'),
      },
      clock,
      stdin: aTerminal(80, 24).stdin,
      stdout: aTerminal(80, 24).stdout,
      drafts: {
        read: () => Promise.resolve({ ...drafts }),
        write: (next) => {
          for (const key of Object.keys(drafts)) delete drafts[key]
          Object.assign(drafts, next)
          return Promise.resolve()
        },
      },
      copy: (text) => {
        copied.push(text)
        return Promise.resolve('a test')
      },
      page: () => Promise.resolve(),
      edit: (text) => Promise.resolve(`${text} (edited)\n`),
      example: () => Promise.resolve('# Health\n\n## Look\n\n```sh\ndf\n```\n'),
      suspend: () => Promise.resolve(),
      at_work: () => {},
    },
  }
}

/** A terminal that keeps every byte it was sent, and reads them as a screen. */
export function aTerminal(columns: number, rows: number) {
  const screen = new xterm.Terminal({
    cols: columns,
    rows,
    allowProposedApi: true,
    // As the device of a terminal does it, also in raw mode.
    convertEol: true,
  })
  const stdout = Object.assign(new PassThrough(), { columns, rows, isTTY: true })
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => stdin,
    ref: () => stdin,
    unref: () => stdin,
  })
  const bytes: string[] = []
  const read = Promise.withResolvers<void>()
  read.resolve()
  let settled: Promise<void> = read.promise
  stdout.on('data', (chunk: Buffer) => {
    bytes.push(chunk.toString())
    settled = new Promise((done) => screen.write(chunk, done))
  })
  return {
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    bytes,
    type: (text: string) => void stdin.write(text),
    /** As when a person pulls at the window: what stood there is moved by the terminal. */
    resize(width: number, height: number): void {
      screen.resize(width, height)
      Object.assign(stdout, { columns: width, rows: height })
      stdout.emit('resize')
    },
    async lines(): Promise<string[]> {
      await settled
      const { active } = screen.buffer
      return Array.from(
        { length: screen.rows },
        (_, n) => active.getLine(n)?.translateToString(true) ?? '',
      )
    },
  }
}
