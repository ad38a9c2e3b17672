/**
 * A persistent map from ids to values, in chunks of 64 in the order in which ids came: what happens
 * now happens to the newest few, so a batch of events copies one chunk or two and nothing else. An
 * id has the same slot in every version that has it, so all versions share one index, which only
 * grows; a version that does not have an id has nothing in its slot. What a batch has copied is
 * written in place (`ChunkedMapBatch`).
 */
const chunkSize = 64

type Chunk<T> = readonly (T | undefined)[]
export type Shelf<T> = {
  /** Shared by versions; never read but to find a slot. */
  readonly index: Map<string, number>
  readonly chunks: readonly Chunk<T>[]
  readonly size: number
}

export const emptyShelf = <T>(): Shelf<T> => ({ index: new Map(), chunks: [], size: 0 })

export function onShelf<T>({ index, chunks }: Shelf<T>, id: string): T | undefined {
  const slot = index.get(id)
  return slot === undefined ? undefined : chunks[slot >> 6]?.[slot & 63]
}

export function* shelved<T>({ chunks }: Pick<Shelf<T>, 'chunks'>): Generator<T> {
  for (const chunk of chunks) for (const value of chunk) if (value !== undefined) yield value
}

/** One batch of changes to a shelf. The shelf it began with stays as it is. */
export class ChunkedMapBatch<T> {
  readonly #index: Map<string, number>
  readonly #chunks: Chunk<T>[]
  readonly #own: ((T | undefined)[] | undefined)[] = []
  #size: number

  constructor(shelf: Shelf<T>) {
    this.#index = shelf.index
    this.#chunks = [...shelf.chunks]
    this.#size = shelf.size
  }

  get size(): number {
    return this.#size
  }

  get(id: string): T | undefined {
    return onShelf({ index: this.#index, chunks: this.#chunks, size: this.#size }, id)
  }

  set(id: string, value: T): void {
    let slot = this.#index.get(id)
    if (slot === undefined) this.#index.set(id, (slot = this.#index.size))
    const chunk = this.#write(slot >> 6)
    if (chunk[slot & 63] === undefined) this.#size += 1
    chunk[slot & 63] = value
  }

  delete(id: string): void {
    const slot = this.#index.get(id)
    if (slot === undefined || this.get(id) === undefined) return
    this.#write(slot >> 6)[slot & 63] = undefined
    this.#size -= 1
  }

  values(): Generator<T> {
    return shelved({ chunks: this.#chunks })
  }

  /** Slots that nothing is in any more are given up once they are many. */
  done(): Shelf<T> {
    const shelf = { index: this.#index, chunks: this.#chunks, size: this.#size }
    return this.#index.size > 2 * this.#size + chunkSize ? packed(shelf) : shelf
  }

  #write(at: number): (T | undefined)[] {
    let own = this.#own[at]
    if (own === undefined) {
      own = [...(this.#chunks[at] ?? emptyChunk)]
      this.#own[at] = own
      // Chunks between, which another version has begun, are empty in this one.
      while (this.#chunks.length < at) this.#chunks.push(emptyChunk)
      this.#chunks[at] = own
    }
    return own
  }
}

const emptyChunk: readonly undefined[] = Array.from<undefined>({ length: chunkSize })

/** The same values under an index of their own. */
function packed<T>({ index, chunks, size }: Shelf<T>): Shelf<T> {
  const made: { index: Map<string, number>; chunks: (T | undefined)[][] } = {
    index: new Map(),
    chunks: [],
  }
  for (const [id, slot] of index) {
    const value = chunks[slot >> 6]?.[slot & 63]
    if (value === undefined) continue
    const at = made.index.size
    const chunk = (made.chunks[at >> 6] ??= [...emptyChunk])
    chunk[at & 63] = value
    made.index.set(id, at)
  }
  return { ...made, size }
}
