/**
 * The agent's two pipes as the SDK's stream. Reading is ours, because the SDK answers what it
 * cannot parse and goes on: here a line that is no message, or longer than the limit, ends the
 * connection with a sentence about it. No more is read while too many requests have no answer that
 * the agent has taken: the SDK itself would read on and let the answers pile up.
 */
import type { Readable, Writable } from 'node:stream'
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'

/** What the agent wrote is not the protocol. `message` quotes a little of it. */
export class WireFault extends Error {
  readonly retry = 'never'
  constructor(message: string) {
    super(message)
    this.name = 'WireFault'
  }
}

/**
 * `heard` is called for every message, before anyone else sees it. So many requests may be
 * `unanswered`.
 */
export function wire(output: Readable, input: Writable, options: WireOptions): Stream {
  const open = new Unanswered(options.unanswered)
  return {
    readable: ReadableStream.from(messages(output, options, open)),
    writable: new WritableStream<AnyMessage>({
      write: (message) =>
        new Promise((resolve, reject) => {
          input.write(`${JSON.stringify(message)}\n`, (error) => {
            if (!('method' in message)) open.answered()
            if (error) reject(error)
            else resolve()
          })
        }),
    }),
  }
}

type WireOptions = {
  line_bytes: number
  unanswered: number
  heard: (isRequest: boolean) => void
}

/** Requests of the agent that it has no answer to. */
class Unanswered {
  readonly #most: number
  #count = 0
  #fewer: () => void = () => {}

  constructor(most: number) {
    this.#most = most
  }

  /** Resolves when there is room for one more. */
  async asked(): Promise<void> {
    while (this.#count >= this.#most) await new Promise<void>((resolve) => (this.#fewer = resolve))
    this.#count += 1
  }

  answered(): void {
    this.#count -= 1
    this.#fewer()
  }
}

async function* messages(
  output: Readable,
  { line_bytes, heard }: WireOptions,
  open: Unanswered,
): AsyncGenerator<AnyMessage> {
  for await (const line of lines(output, line_bytes)) {
    if (/^\s*$/.test(line)) continue
    const message = messageOf(line)
    const isRequest = 'method' in message && 'id' in message
    heard(isRequest)
    if (isRequest) await open.asked()
    yield message
  }
}

async function* lines(output: Readable, limit: number): AsyncGenerator<string> {
  let held: Buffer[] = []
  let size = 0
  const taken = () => {
    const line = Buffer.concat(held).toString('utf8')
    held = []
    size = 0
    return line
  }
  for await (const chunk of output as AsyncIterable<Buffer>) {
    let from = 0
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, from)) {
      held.push(chunk.subarray(from, at))
      size += at - from
      from = at + 1
      if (size > limit) throw tooLong(limit)
      yield taken()
    }
    held.push(chunk.subarray(from))
    size += chunk.length - from
    if (size > limit) throw tooLong(limit)
  }
  // What has no end is no message: the process ended in the middle of it.
}

const tooLong = (limit: number) => new WireFault(`it wrote a line of more than ${limit} bytes`)

function messageOf(line: string): AnyMessage {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw new WireFault(`it wrote a line that is no JSON: ${quoted(line)}`)
  }
  const isMessage =
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    ('method' in value ? typeof value.method === 'string' : 'id' in value)
  if (!isMessage)
    throw new WireFault(`it wrote a line that is no JSON-RPC message: ${quoted(line)}`)
  return value as AnyMessage
}

const quoted = (line: string): string => JSON.stringify(line.slice(0, 100))
