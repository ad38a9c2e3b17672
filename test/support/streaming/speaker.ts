/**
 * A model that says the same twelve words in every answer, each when it is let, and everybody who
 * can be told of them while it does: a terminal that is looked at in every frame, and the event
 * stream of the API.
 */
import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { createServer, connect, type Socket } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { StoredEvent } from '../../../src/protocol/records/records.ts'
import { textOfFrame } from '../../../src/testing/model-server/chat.ts'
import { startModelServer, type ServerAnswer } from '../../../src/testing/model-server/server.ts'
import { CellGrid } from '../../../src/testing/screens/cell-grid.ts'
import type { ServedHome } from '../served-home.ts'

const words = Array.from({ length: 12 }, (_, n) => `word${String(n + 1).padStart(2, '0')}`)
export const wholeText = words.join(' ')
export const saidText = (count: number): string => words.slice(0, count).join(' ')

/** Frames of an answer before its first word. */
export const framesBefore = 1

export async function startSpeaker(t: TestContext, answers: readonly ServerAnswer[] = []) {
  const gate = { allowed: 0, opened: Promise.withResolvers<void>() }
  const before_frame = async (frame: string) => {
    const count = words.indexOf(textOfFrame(frame).trim()) + 1
    while (count > gate.allowed) await gate.opened.promise
  }
  const script = ({ n }: { n: number }): ServerAnswer => {
    // A part is sent in halves: each word in a frame of its own.
    const parts = words.flatMap((word, at) =>
      at % 2 === 0 ? [{ text: `${word} ${words[at + 1]} ` }] : [],
    )
    return { parts, ...answers[n - 1] }
  }
  const server = await startModelServer(script, { key: null, before_frame })
  t.after(() => server.close())
  return {
    server,
    /** Of every answer, those under way and those to come, so many words may be said. */
    lets(count: number): void {
      gate.allowed = count
      gate.opened.resolve()
      gate.opened = Promise.withResolvers()
    },
  }
}

/** A command on a terminal: no frame of it ever has a word twice, or one without those before. */
export class Onlooker {
  readonly #grid: CellGrid
  readonly wrong: string[] = []

  constructor(t: TestContext, at: ServedHome, args: readonly string[], env: ServedHome['env']) {
    const main = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts')
    this.#grid = new CellGrid({
      command: process.execPath,
      args: [main, ...args],
      env: { ...at.env, ...env, TERM: 'xterm-256color' },
      columns: 120,
      rows: 40,
      cwd: at.folder,
    })
    t.after(() => this.#grid.kill())
    const look = (): boolean => {
      const seen = this.#seen()
      if (seen !== saidText(seen.split(' ').filter(Boolean).length)) {
        this.wrong.push(this.#grid.lines().join('\n'))
      }
      return false
    }
    // It looks for as long as the command runs.
    void this.#grid.until(look).catch(() => {})
  }

  #seen = (): string =>
    (
      this.#grid
        .lines()
        .join('\n')
        .match(/word\d\d/g) ?? []
    ).join(' ')

  /** Resolves with the first frame that has all these words, which no frame before had wrong. */
  async sees(count: number): Promise<void> {
    await this.#grid.until(() => this.#seen().endsWith(saidText(count)) || this.wrong.length > 0)
    assert.deepEqual(this.wrong, [])
    assert.equal(this.#seen(), saidText(count))
  }

  async shows(pattern: RegExp): Promise<void> {
    await this.#grid.until((grid) => pattern.test(grid.lines().join('\n')))
  }

  get ended(): Promise<number> {
    return this.#grid.ended
  }

  async kill(): Promise<void> {
    this.#grid.kill()
    await this.#grid.ended
  }
}

type Frame = { kind: string; at: number; text: string }

/**
 * Who reads the event stream: what is being said by its pieces, each of which goes on where the
 * last one ended, and the recorded texts.
 */
export class Listener {
  readonly #asked = new AbortController()
  readonly #looks = new Set<() => void>()
  readonly over: Promise<void>
  heard = ''
  recorded: string[] = []
  last_seq = 0

  constructor(t: TestContext, at: ServedHome, { url, after }: { url: string; after: number }) {
    t.after(() => this.hangUp())
    this.last_seq = after
    // A connection that breaks is the end of it: who listens begins another.
    this.over = this.#read(`${url}/events`, at.token).catch(() => {})
  }

  async #read(url: string, token: string): Promise<void> {
    const response = await fetch(url, {
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'text/event-stream',
        'last-event-id': String(this.last_seq),
      },
      signal: this.#asked.signal,
    })
    assert.equal(response.status, 200)
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of response.body ?? assert.fail('no body')) {
      const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
      rest = frames.pop() ?? ''
      for (const frame of frames) this.#hear(frame)
      for (const look of [...this.#looks]) look()
    }
  }

  #hear(frame: string): void {
    const id = /^id: (.*)$/m.exec(frame)?.[1]
    const data: unknown = JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? 'null')
    if (id !== undefined) {
      assert.equal(Number(id), this.last_seq + 1, 'an event twice, or one left out')
      this.last_seq = Number(id)
      const { event } = data as StoredEvent
      if (event.type !== 'round_recorded') return
      const texts = event.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
      this.recorded.push(texts.join('').trim())
      return
    }
    const live = data as Frame | null
    if (live?.kind !== 'text_delta') return
    if (live.at === 0) this.heard = ''
    assert.equal(live.at, this.heard.length, 'a piece twice, or one left out')
    this.heard += live.text
  }

  async until(is: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = () => is() && resolve()
    this.#looks.add(look)
    look()
    const over = this.over.then(() => Promise.reject(new Error(`it ended: ${this.heard}`)))
    await Promise.race([promise, over]).finally(() => this.#looks.delete(look))
  }

  hangUp(): void {
    this.#asked.abort()
  }
}

/** Stands where clients find the home's socket, and breaks every connection when it is told to. */
export async function standBetween(t: TestContext, { home }: ServedHome) {
  const [path, behind] = [join(home, 'control.sock'), join(home, 'behind.sock')]
  renameSync(path, behind)
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const door = connect(behind)
    for (const socket of [client, door]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        for (const end of [client, door]) end.destroy()
        open.delete(socket)
      })
    }
    client.pipe(door).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const cut = (): number => {
    const count = open.size
    for (const socket of open) socket.destroy()
    return count
  }
  t.after(() => {
    cut()
    server.close()
  })
  return { cut }
}
