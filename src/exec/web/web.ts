/** Reading web pages: one page reader for each, which is ended with the call that wants it. */
import { spawn } from 'node:child_process'
import type { Clock, HostGate, Web, WebFault, WebPage } from '../ports.ts'
import { programBeside, type NodeProgram } from '../program.ts'
import type { PageAsked } from './read-page.ts'
import { PAGE_GRACE_MS, PAGE_MEMORY_MB, PAGE_MS } from './limits.ts'

export type WebOptions = {
  clock: Pick<Clock, 'after'>
  /** Where hosts are listed: who judges them. */
  hosts?: HostGate
  /** Default: the program beside. */
  reader?: NodeProgram
  /** Milliseconds until a reader that does not answer is killed. */
  patience_ms?: number
}

/** Bytes of an answer: each of its characters may take six as JSON, and the rest is short. */
const ANSWER_BYTES = 8 * 1024 * 1024

export function createWeb(options: WebOptions): Web {
  const reader = options.reader ?? programBeside('page-reader', import.meta.url)
  const patience_ms = options.patience_ms ?? PAGE_MS + PAGE_GRACE_MS
  const { clock, hosts } = options
  return {
    async read(url, signal, agent_id) {
      const why = hosts === undefined ? null : await refusedBy(hosts, url, agent_id)
      if (why !== null) return { ok: false, code: 'not_listed', message: `${why}.` }
      const asked = { url, stays: hosts !== undefined }
      return readBy(reader, { asked, signal, patience_ms, clock })
    },
  }
}

/** What is no address is not judged: it is not read either. */
async function refusedBy(hosts: HostGate, text: string, agent_id: string): Promise<string | null> {
  const url = URL.parse(text)
  if (url === null) return null
  const usual = url.protocol === 'http:' ? '80' : '443'
  const verdict = await hosts.judge(agent_id, `${url.hostname}:${url.port || usual}`)
  return verdict.ok ? null : verdict.why
}

type Reading = Pick<WebOptions, 'clock'> & {
  asked: PageAsked
  signal: AbortSignal
  patience_ms: number
}

function readBy(
  { node, script }: NodeProgram,
  { asked, signal, patience_ms, clock }: Reading,
): Promise<WebPage | WebFault> {
  const { promise, resolve } = Promise.withResolvers<WebPage | WebFault>()
  const { url } = asked
  const failed = (code: WebFault['code'], message: string) => resolve({ ok: false, code, message })
  // Nothing of our environment: a page must not be read through what it may say.
  const child = spawn(node, [`--max-old-space-size=${PAGE_MEMORY_MB}`, script], {
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const late = clock.after(patience_ms, () => {
    failed('too_slow', `${url} was not read within ${patience_ms / 1_000} s.`)
    child.kill('SIGKILL')
  })
  const stop = () => {
    failed('aborted', `${url} was not read to its end.`)
    child.kill('SIGKILL')
  }
  signal.addEventListener('abort', stop, { once: true })
  const pieces: Buffer[] = []
  let size = 0
  child.stdout.on('data', (piece: Buffer) => {
    size += piece.length
    if (size <= ANSWER_BYTES) pieces.push(piece)
  })
  child.stdin.on('error', () => undefined)
  child.on('error', ({ message }) => failed('no_reader', `The page reader: ${message}.`))
  child.on('close', (code, by) => {
    const answer = size <= ANSWER_BYTES ? answerIn(Buffer.concat(pieces)) : null
    if (answer !== null) resolve(answer)
    else failed('no_reader', `The page reader ended without an answer (${by ?? code}).`)
  })
  if (signal.aborted) stop()
  else child.stdin.end(`${JSON.stringify(asked)}\n`)
  return promise.finally(() => {
    late()
    signal.removeEventListener('abort', stop)
  })
}

/** Null: it ended before it had said all. */
function answerIn(bytes: Buffer): WebPage | WebFault | null {
  const text = bytes.toString()
  if (!text.endsWith('\n')) return null
  const answer: WebPage | WebFault = JSON.parse(text)
  return answer
}
