/**
 * A persistent map from ids to values in 64 parts: setting one copies the part it is in, and
 * nothing else, so that one event costs a page of history no more than a few entries. While a batch
 * is taken, parts that this batch copied are written in place (`Draft`).
 */
const parts = 64

type Part<T> = ReadonlyMap<string, T>
export type Shelf<T> = { readonly parts: readonly Part<T>[]; readonly size: number }

export const emptyShelf = <T>(): Shelf<T> => ({
  parts: Array.from({ length: parts }, () => new Map<string, T>()),
  size: 0,
})

/** By the last characters: those of an id are random. */
function partOf(id: string): number {
  const end = id.length
  return (
    (id.charCodeAt(end - 1) * 31 + id.charCodeAt(end - 2) * 7 + id.charCodeAt(end - 3)) &
    (parts - 1)
  )
}

export const onShelf = <T>(shelf: Shelf<T>, id: string): T | undefined =>
  shelf.parts[partOf(id)]?.get(id)

export function* shelved<T>(shelf: Shelf<T>): Generator<T> {
  for (const part of shelf.parts) yield* part.values()
}

/** One batch of changes to a shelf. The shelf it began with stays as it is. */
export class Draft<T> {
  readonly #parts: Part<T>[]
  readonly #own: (Map<string, T> | undefined)[] = []
  #size: number

  constructor(shelf: Shelf<T>) {
    this.#parts = [...shelf.parts]
    this.#size = shelf.size
  }

  get size(): number {
    return this.#size
  }

  get(id: string): T | undefined {
    return this.#parts[partOf(id)]?.get(id)
  }

  set(id: string, value: T): void {
    const part = this.#write(id)
    const before = part.size
    part.set(id, value)
    this.#size += part.size - before
  }

  delete(id: string): void {
    if (this.#write(id).delete(id)) this.#size -= 1
  }

  *values(): Generator<T> {
    for (const part of this.#parts) yield* part.values()
  }

  done(): Shelf<T> {
    return { parts: this.#parts, size: this.#size }
  }

  #write(id: string): Map<string, T> {
    const at = partOf(id)
    const own = (this.#own[at] ??= new Map(this.#parts[at]))
    this.#parts[at] = own
    return own
  }
}
