/**
 * One GET of a public web page, redirects included, with every address checked before it is
 * dialled (docs/spec/security.md#web-pages). The name is looked up once and the connection goes to
 * the address that was checked, so that a name cannot answer differently the second time.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { WebFault } from '../ports.ts'
import { isPublicAddress } from '../hosts/address.ts'
import type { Net } from '../hosts/net.ts'
import { PAGE_BYTES, PAGE_REDIRECTS, PAGE_URL_CHARS } from './limits.ts'

/** A page as it came. `cut`: only the first `PAGE_BYTES` of it, once unpacked, were taken. */
export type PageResponse = {
  ok: true
  url: string
  status: number
  content_type: string
  bytes: Buffer
  cut: boolean
}

class PageFault extends Error {
  readonly fault: WebFault
  constructor(code: WebFault['code'], message: string) {
    super(message)
    this.fault = { ok: false, code, message }
  }
}

/**
 * `stays`: a redirect to another host, or port, is not followed. What goes wrong outside is a
 * `WebFault`; an aborted `signal` rejects with its reason.
 */
export async function fetchPage(
  from: string,
  { net, signal, stays }: { net: Net; signal: AbortSignal; stays: boolean },
): Promise<PageResponse | WebFault> {
  try {
    let url = checkedUrl(from, undefined)
    for (let hops = 0; ; hops += 1) {
      const response = await answerOf(url, net, signal)
      const to = redirectOf(response)
      if (to === null) return await taken(url, response)
      response.destroy()
      if (hops === PAGE_REDIRECTS) {
        throw new PageFault('redirects', `${from} redirects more than ${PAGE_REDIRECTS} times.`)
      }
      const next = checkedUrl(to, url)
      if (stays && next.host !== url.host) {
        const message = `${from} leads to ${next.host}, another host, and is not followed there.`
        throw new PageFault('not_listed', message)
      }
      url = next
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof PageFault) return error.fault
    const why = error instanceof Error ? error.message || error.name : String(error)
    return { ok: false, code: 'no_connection', message: `${from} could not be read: ${why}` }
  }
}

function checkedUrl(text: string, base: URL | undefined): URL {
  const url = URL.parse(text, base?.href)
  // Where a page redirects to are a stranger's words: they do not stand in a sentence of ours.
  const what = base === undefined ? 'What is given' : `What ${base.host} redirects to`
  if (url === null) throw new PageFault('bad_url', `${what} is no address of a page.`)
  if (url.href.length > PAGE_URL_CHARS) {
    throw new PageFault('bad_url', `${what} is longer than ${PAGE_URL_CHARS} characters.`)
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new PageFault('bad_url', `${what} is neither http: nor https:.`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new PageFault('bad_url', `${what} has a user or a password, and is not read.`)
  }
  return url
}

/** A name, or an address as numbers: URLs put brackets round those of IPv6. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

/** The address that will be dialled; all of a name must be public, or none is. */
async function checkedAddress(url: URL, net: Net): Promise<string> {
  const name = hostOf(url)
  const addresses = isIP(name) === 0 ? await resolved(name, net) : [name]
  const inside = addresses.find((address) => !isPublicAddress(address))
  if (inside !== undefined) {
    const which = inside === name ? '' : ` (${inside})`
    const message = `${name}${which} is not on the public internet and is not read.`
    throw new PageFault('private_address', message)
  }
  const [first] = addresses
  if (first === undefined) throw new PageFault('unknown_name', `There is no host ${name}.`)
  return first
}

async function resolved(name: string, net: Net): Promise<readonly string[]> {
  try {
    return await net.resolve(name)
  } catch {
    throw new PageFault('unknown_name', `There is no host ${name}.`)
  }
}

async function answerOf(url: URL, net: Net, signal: AbortSignal): Promise<IncomingMessage> {
  const address = await checkedAddress(url, net)
  signal.throwIfAborted()
  const isSecure = url.protocol === 'https:'
  const dial = () => {
    const socket = net.connect(address, Number(url.port) || (isSecure ? 443 : 80))
    if (!isSecure) return socket
    const name = hostOf(url)
    return connectTls({ socket, ...(isIP(name) === 0 ? { servername: name } : { host: name }) })
  }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const send = isSecure ? httpsRequest : httpRequest
  const headers = {
    host: url.host,
    accept: 'text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5',
    'accept-encoding': 'gzip, deflate, br',
    'user-agent': 'holon',
  }
  // Without an agent: one would dial by itself, whatever is given here.
  const sent = send(url, { headers, signal, createConnection: dial })
  sent.on('response', resolve)
  sent.on('error', reject)
  sent.end()
  return promise
}

/** Where it leads. Node reads headers as Latin-1; senders that are not in ASCII write UTF-8. */
function redirectOf({ statusCode = 0, headers: { location } }: IncomingMessage): string | null {
  const leads = [301, 302, 303, 307, 308].includes(statusCode) && location !== undefined
  return leads ? Buffer.from(location, 'latin1').toString() : null
}

async function taken(url: URL, response: IncomingMessage): Promise<PageResponse> {
  const { statusCode: status = 0, headers } = response
  const content_type = headers['content-type'] ?? ''
  const { bytes, cut } = await bodyOf(response)
  return { ok: true, url: url.href, status, content_type, bytes, cut }
}

/** Unpacked, up to the limit: what is packed tighter than that is cut and not unpacked further. */
async function bodyOf(response: IncomingMessage): Promise<{ bytes: Buffer; cut: boolean }> {
  const packed = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  const unpack = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate }
  const make = { ...unpack, br: createBrotliDecompress }[packed]
  if (make === undefined && packed !== 'identity') {
    response.destroy()
    throw new PageFault('not_text', 'It is packed in a way that is not read.')
  }
  const body = make === undefined ? response : response.pipe(make())
  response.on('error', (error) => body.destroy(error))
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of body) {
    const left = PAGE_BYTES - size
    pieces.push(piece.subarray(0, left))
    size += piece.length
    if (size > PAGE_BYTES) {
      response.destroy()
      return { bytes: Buffer.concat(pieces), cut: true }
    }
  }
  return { bytes: Buffer.concat(pieces), cut: false }
}
