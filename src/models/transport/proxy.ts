/**
 * Which proxy a request goes through, by `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` as other
 * programs read them: written small they go first; `NO_PROXY` lists names, each with all below it,
 * and addresses, each with a port if only that is meant, or is `*`. What runs on this machine is
 * never asked through one. Pure. A proxy is named without its user and password.
 */

export type ProxyEnv = Readonly<Record<string, string | undefined>>

export type Proxy = {
  /** With user and password: for Node's agent alone. */
  href: string
  /** `http://host:port (HTTPS_PROXY)`, for messages. */
  name: string
}

/** Why a proxy let nothing through. Its message names the proxy; it never has a password. */
export class ProxyError extends Error {}

/** Null: straight there. Throws a `ProxyError` for an address that is none. */
export function proxyOf(url: URL, env: ProxyEnv): Proxy | null {
  if (isLoopback(url.hostname)) return null
  const variable = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const given = settingIn(env, variable)
  if (given === '' || isExcluded(url, settingIn(env, 'NO_PROXY'))) return null
  const proxy = URL.parse(given)
  if (proxy === null || !/^https?:$/.test(proxy.protocol) || !isReadable(proxy)) {
    throw new ProxyError(`the proxy of ${variable} is no http:// or https:// address`)
  }
  return { href: proxy.href, name: `${proxy.protocol}//${proxy.host} (${variable})` }
}

/** By the name, which is not looked up: `127.0.0.1.example.com` is far away. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)

const settingIn = (env: ProxyEnv, name: string): string =>
  (env[name.toLowerCase()] ?? env[name] ?? '').trim()

function isReadable({ username, password }: URL): boolean {
  try {
    return decodeURIComponent(username + password) !== null
  } catch {
    return false
  }
}

function isExcluded({ hostname, port, protocol }: URL, list: string): boolean {
  const used = port === '' ? (protocol === 'https:' ? '443' : '80') : port
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true
    // An address of version 6 has more colons than one, and its port only behind brackets.
    const [, name = '', only] = /^(\[.*\]|[^:]*|.*:.*:.*)(?::(\d+))?$/.exec(entry) ?? []
    const bare = name.toLowerCase().replace(/^\*?\./, '')
    if (bare === '' || (only !== undefined && only !== used)) return false
    return hostname === bare || hostname === `[${bare}]` || hostname.endsWith(`.${bare}`)
  })
}
