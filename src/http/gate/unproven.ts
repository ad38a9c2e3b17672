/**
 * Connections of which nobody knows yet whether they may come in: no valid token and no valid
 * signature came over them. They share a small pool, so that strangers who hold connections open
 * take none from those who may. In a full pool the one that has been silent longest makes room.
 *
 * A sign is a whole request head, not a byte: who sends one byte at a time is silent.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { httpLimits } from '../request/limits.ts'
import type { HttpClock } from '../request/ports.ts'

/** Contract: `destroy` ends the connection at once; twice is nothing. */
export type HttpConnection = { destroy(): unknown }

type Cancel = () => void

export class Unproven<C extends HttpConnection> {
  readonly #clock: HttpClock
  /** With what ends its patience for a request head; the one silent longest comes first. */
  readonly #pool = new Map<C, Cancel>()

  constructor(clock: HttpClock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#pool.size
  }

  opened(connection: C): void {
    const [silent] = this.#pool.keys()
    if (this.#pool.size >= httpLimits.unproven.value && silent !== undefined) this.#end(silent)
    this.#pool.set(connection, this.#patience(connection))
  }

  /** The head of a request came: it is the one heard of last. */
  asked(connection: C): void {
    if (!this.#take(connection)) return
    this.#pool.set(connection, () => {})
  }

  /** Its request is answered; the next head has the same time as the first. */
  answered(connection: C): void {
    if (!this.#pool.has(connection)) return
    // In its place: to be answered is no sign of the other side.
    this.#pool.get(connection)?.()
    this.#pool.set(connection, this.#patience(connection))
  }

  /** It may come in, and stays until it ends. */
  proved(connection: C): void {
    this.#take(connection)
  }

  gone(connection: C): void {
    this.#take(connection)
  }

  #take(connection: C): boolean {
    this.#pool.get(connection)?.()
    return this.#pool.delete(connection)
  }

  #end(connection: C): void {
    this.#take(connection)
    connection.destroy()
  }

  #patience(connection: C): Cancel {
    return this.#clock.after(httpLimits.headers_timeout.value, () => this.#end(connection))
  }
}

/** Puts the connections of a server into a pool; several servers may share one. */
export function watch(server: Server, pool: Unproven<Socket>): void {
  server.on('connection', (socket: Socket) => {
    pool.opened(socket)
    socket.once('close', () => pool.gone(socket))
  })
  server.on('request', ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
    pool.asked(socket)
    outgoing.once('close', () => pool.answered(socket))
  })
}
