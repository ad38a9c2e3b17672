/**
 * A map that remembers at most so many things: over it the oldest is forgotten. For what is kept
 * between two notices, so that an end that never comes costs nothing for ever.
 */

export class BoundedMap<K, V> {
  readonly #kept = new Map<K, V>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#kept.size
  }

  get(key: K): V | undefined {
    return this.#kept.get(key)
  }

  set(key: K, value: V): void {
    this.#kept.delete(key)
    this.#kept.set(key, value)
    if (this.#kept.size <= this.#most) return
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest)
      return
    }
  }

  /** Removes it and hands it over. */
  take(key: K): V | undefined {
    const value = this.#kept.get(key)
    this.#kept.delete(key)
    return value
  }
}
