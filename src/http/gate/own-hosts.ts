/** The names a server answers to: a page of another name must not reach it (DNS rebinding). */

/** Host names this server answers to, as they stand in a Host header. */
export function ownHosts(port: number | null, further: readonly string[]): Set<string> {
  const own = port === null ? [] : ['127.0.0.1', 'localhost', '[::1]'].map((h) => `${h}:${port}`)
  // A browser leaves the port out where it is the scheme's own.
  const bare = port === 80 ? ['127.0.0.1', 'localhost', '[::1]'] : []
  return new Set([...own, ...bare, ...further.map((name) => name.toLowerCase())])
}
