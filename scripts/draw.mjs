// Draws that only a seed decides, so that a sample can be had again.

/** Numbers from 0 to 1 in an order that only the seed decides (mulberry32). */
export function drawing(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The same things in an order that `draw` decides (Fisher and Yates). */
export function shuffled(things, draw) {
  const all = [...things]
  for (let at = all.length - 1; at > 0; at--) {
    const other = Math.floor(draw() * (at + 1))
    ;[all[at], all[other]] = [all[other], all[at]]
  }
  return all
}
