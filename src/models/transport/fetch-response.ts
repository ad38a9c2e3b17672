/**
 * The parts of WHATWG `Headers` and `Response` that the provider libraries read, without loading
 * the real ones. `fetch-conformance.test.ts` holds both against the real thing.
 */

type Pairs = Iterable<readonly [string, string]> | Readonly<Record<string, string>>

/** Names are lower case; repeated values join with a comma; iteration is sorted by name. */
export class PlainHeaders implements Iterable<[string, string]> {
  readonly #values = new Map<string, string>()

  constructor(from?: Pairs) {
    if (from === undefined) return
    const pairs = Symbol.iterator in from ? from : Object.entries(from)
    for (const [name, value] of pairs) this.append(name, value)
  }

  /** From Node's flat list of names and values. */
  static fromRaw(raw: readonly string[]): PlainHeaders {
    const headers = new PlainHeaders()
    for (let at = 0; at + 1 < raw.length; at += 2) headers.append(raw[at] ?? '', raw[at + 1] ?? '')
    return headers
  }

  append(name: string, value: string): void {
    const key = name.toLowerCase()
    const before = this.#values.get(key)
    this.#values.set(key, before === undefined ? value.trim() : `${before}, ${value.trim()}`)
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), value.trim())
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase())
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase())
  }

  forEach(visit: (value: string, name: string) => void): void {
    for (const [name, value] of this) visit(value, name)
  }

  entries(): IterableIterator<[string, string]> {
    return [...this.#values].sort(([a], [b]) => (a < b ? -1 : 1)).values()
  }

  keys(): IterableIterator<string> {
    return [...this].map(([name]) => name).values()
  }

  values(): IterableIterator<string> {
    return [...this].map(([, value]) => value).values()
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries()
  }

  toRecord(): Record<string, string> {
    return Object.fromEntries(this)
  }
}

export type ResponseParts = {
  url: string
  status: number
  status_text: string
  headers: PlainHeaders
  body: ReadableStream<Uint8Array> | null
}

/** The body is read once, as text, JSON, bytes or through its stream. */
export class PlainResponse {
  readonly url: string
  readonly status: number
  readonly statusText: string
  readonly headers: PlainHeaders
  readonly body: ReadableStream<Uint8Array> | null
  readonly redirected = false
  readonly type = 'basic'
  #used = false

  constructor(parts: ResponseParts) {
    this.url = parts.url
    this.status = parts.status
    this.statusText = parts.status_text
    this.headers = parts.headers
    this.body = parts.body
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300
  }

  get bodyUsed(): boolean {
    return this.#used || this.body?.locked === true
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    if (this.bodyUsed) throw new TypeError('Body is unusable: Body has already been read')
    this.#used = true
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of this.body ?? []) {
      chunks.push(chunk)
      size += chunk.byteLength
    }
    const whole = new Uint8Array(size)
    let at = 0
    for (const chunk of chunks) {
      whole.set(chunk, at)
      at += chunk.byteLength
    }
    return whole.buffer
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.arrayBuffer())
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }
}
