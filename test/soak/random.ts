/**
 * Numbers that look random and are the same for the same seed: what a run did can be asked for
 * again. Each part of a run draws from a stream of its own, so one more draw here moves nothing
 * there.
 */
export type Random = {
  /** From 0 up to, not including, 1. */
  next(): number
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number
  chance(of: number): boolean
}

/** `part` names the stream: `kills`, the name of a sender. */
export function randomOf(seed: number, part: string): Random {
  let state = seed >>> 0
  for (const char of part) state = Math.imul(state ^ char.charCodeAt(0), 0x01000193) >>> 0
  // Mulberry32, by Tommy Ettinger: one word of state and good enough to choose moments.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let word = Math.imul(state ^ (state >>> 15), state | 1)
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return { next, between, chance: (of) => next() < of }
}
