/**
 * A short mark of a text, the same on every machine and in every version: says whether what a
 * person saw is still what is there. It guards against change, not against malice; what must
 * withstand an attacker is hashed with SHA-256 outside the rules.
 */

/** 16 hex digits: two mixed 32-bit lanes over the UTF-16 units of `text`. */
export function stableHash(text: string): string {
  let a = 0x811c9dc5
  let b = 0x9747b28c
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ (unit + i), 0x85ebca6b)
    b ^= b >>> 13
  }
  return hex(mixed(a ^ text.length)) + hex(mixed(b ^ a))
}

/** Every bit of the input moves about half of the output's (the finalizer of MurmurHash3). */
function mixed(lane: number): number {
  let h = lane
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

const hex = (lane: number): string => lane.toString(16).padStart(8, '0')
