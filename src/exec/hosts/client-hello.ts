/**
 * The first words of a client of TLS (RFC 8446, 4.1.2), as far as they name the server: read from
 * bytes that a stranger may have written, and nothing is believed about their lengths. Pure.
 */

/** `broken`: it is no hello, or names its server in a way that no client does. */
export type Hello = { is: 'more' } | { is: 'broken' } | { is: 'hello'; server: string | null }

const handshake = 22
const clientHello = 1
const serverName = 0

/** What `bytes` are the beginning of. */
export function readHello(bytes: Buffer): Hello {
  const message = handshakeIn(bytes)
  if (message === 'more' || message === 'broken') return { is: message }
  const fields = new Fields(message)
  fields.skip(2 + 32)
  fields.skip(fields.number(1))
  fields.skip(fields.number(2))
  fields.skip(fields.number(1))
  // A client that has nothing to add names no server.
  if (fields.isAtEnd()) return { is: 'hello', server: null }
  const extensions = new Fields(fields.take(fields.number(2)))
  const names: (string | null)[] = []
  while (extensions.isWell() && !extensions.isAtEnd()) {
    const kind = extensions.number(2)
    const body = extensions.take(extensions.number(2))
    if (kind === serverName) names.push(nameIn(body))
  }
  if (!fields.isWell() || !extensions.isWell() || !fields.isAtEnd()) return { is: 'broken' }
  const [server = null] = names
  if (names.length > 1 || names.includes(null)) return { is: 'broken' }
  return { is: 'hello', server }
}

/** The hello, out of the records that it is cut into. */
function handshakeIn(bytes: Buffer): Buffer | 'more' | 'broken' {
  const parts: Buffer[] = []
  for (let at = 0; ;) {
    const [kind, major] = bytes.subarray(at)
    if ((kind ?? handshake) !== handshake || (major ?? 3) !== 3) return 'broken'
    if (bytes.length < at + 5) return 'more'
    const length = bytes.readUInt16BE(at + 3)
    // No record is empty, or longer.
    if (length === 0 || length > 16_384) return 'broken'
    parts.push(bytes.subarray(at + 5, at + 5 + length))
    const message = Buffer.concat(parts)
    if (message.length > 0 && message[0] !== clientHello) return 'broken'
    if (message.length >= 4) {
      const whole = 4 + message.readUIntBE(1, 3)
      if (message.length >= whole) return message.subarray(4, whole)
    }
    at += 5 + length
    if (bytes.length < at) return 'more'
  }
}

/** One name of a host is all that clients send, in ASCII. */
function nameIn(body: Buffer): string | null {
  const list = new Fields(body)
  const names = new Fields(list.take(list.number(2)))
  const kind = names.number(1)
  const name = names.take(names.number(2))
  const isWell = list.isWell() && list.isAtEnd() && names.isWell() && names.isAtEnd()
  if (!isWell || kind !== 0 || name.some((byte) => byte > 0x7e || byte < 0x21)) return null
  return name.toString('latin1').toLowerCase().replace(/\.$/, '') || null
}

/** Numbers and lengths one after another; once over the end it stays not well. */
class Fields {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  number(size: 1 | 2): number {
    const taken = this.take(size)
    return taken.length === size ? taken.readUIntBE(0, size) : 0
  }

  take(size: number): Buffer {
    const from = this.#at
    this.#at += size
    return this.#bytes.subarray(from, this.#at)
  }

  skip(size: number): void {
    this.#at += size
  }

  isWell(): boolean {
    return this.#at <= this.#bytes.length
  }

  isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }
}
