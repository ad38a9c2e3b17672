/**
 * What a retention has taken, or would take, so far.
 */
import type { Table } from '../../domain/state/event.ts'
import type { Retained } from '../port.ts'

export class Tally {
  #events = 0
  #blobs = 0
  #bytes = 0
  readonly #rows: Partial<Record<Table, number>> = {}

  event(bytes: number): void {
    this.#events++
    this.#bytes += bytes
  }

  row(table: Table, bytes: number): void {
    this.#rows[table] = (this.#rows[table] ?? 0) + 1
    this.#bytes += bytes
  }

  blob(bytes: number): void {
    this.#blobs++
    this.#bytes += bytes
  }

  report(of: Pick<Retained, 'dry_run' | 'before' | 'global_seq'>): Retained {
    return {
      ...of,
      events: this.#events,
      rows: { ...this.#rows },
      blobs: this.#blobs,
      bytes: this.#bytes,
    }
  }
}
