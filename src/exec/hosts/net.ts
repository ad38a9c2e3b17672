/** How programs of ours reach the network: the port that tests take the place of. */
import { lookup, Resolver } from 'node:dns/promises'
import { connect, type Socket } from 'node:net'
import { HOST_LOOKUP_MS } from './limits.ts'

export interface Net {
  /** Every address of a name, as numbers; rejects where there is none. */
  resolve(name: string): Promise<readonly string[]>
  connect(address: string, port: number): Socket
}

/** For a program of its own: the machine's look-up may hold a thread for as long as it likes. */
export const systemNet: Net = {
  resolve: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  connect: (host, port) => connect({ host, port }),
}

/**
 * For the daemon: asks servers of names only, in bounded time and without a thread. IPv4 comes
 * first, since a machine without IPv6 refuses the other at once and one behind a tunnel slowly.
 */
export const daemonNet: Net = {
  async resolve(name) {
    const resolver = new Resolver({ timeout: HOST_LOOKUP_MS / 2, tries: 2 })
    const asked = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const found = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    if (found.length === 0) throw new Error(`${name} has no address`)
    return found
  },
  connect: (host, port) => connect({ host, port, allowHalfOpen: true }),
}
