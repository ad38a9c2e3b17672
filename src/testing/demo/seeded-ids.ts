/**
 * Ids that are the same at every start: for the daemon of the demonstration, which is preloaded
 * with this, so that its screens show the same names each time. Each prefix is counted by itself.
 * The variable says which life of the home it is, for no two lives may mint the same id. Never for
 * a home that is not thrown away.
 */

import { idOfDigits } from '../../domain/ids.ts'
import { stableHash } from '../../domain/stable-hash.ts'
import { env, ids } from '../../main/machine/machine.ts'

const life = env['HOLON_DEMO_LIFE'] ?? '0'
const counts = new Map<string, number>()

ids.mint = (prefix) => {
  const n = (counts.get(prefix) ?? 0) + 1
  counts.set(prefix, n)
  const name = `${life} ${prefix} ${n}`
  const hex = `${stableHash(name)}${stableHash(`${name} again`)}`
  return idOfDigits(prefix, n.toString(16).padStart(12, '0') + hex)
}
