/** What a case of the torture is, and what may come of it. */
import type { Endpoint } from '../../src/testing/model-server/server.ts'
import type { Served } from './served.ts'

/**
 * What may become of the served answer, whatever the wire. `broken`: it must not count, nothing of
 * it runs. `whole`: it counts as it is. `any`: nobody can say which; but a call that runs is one
 * that came whole. `refused`: the provider does not want this request; the turn ends as failed.
 */
export type Fate = 'broken' | 'whole' | 'any' | 'refused'

export type Case = {
  says: string
  fate: Fate
  served: Served
  /** Files that the commands of a whole answer leave, when it counts; default: none. */
  runs?: readonly string[]
  /** Only on these wires. */
  only?: readonly Endpoint[]
}
