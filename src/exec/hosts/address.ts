/**
 * Which network addresses a page may be fetched from: those of the public internet and no others,
 * by the special-purpose registries of IANA. Pure.
 */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The only block of IPv6 that is given out for the public internet. */
const global6 = ipaddr.parseCIDR('2000::/3')

/**
 * Whether `text`, an address as numbers, is a public host's. An IPv4 address inside an IPv6 one is
 * judged as itself; tunnels and translators that hide one (6to4, Teredo, NAT64) are none.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false
  const address = ipaddr.process(text)
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(global6)
}
