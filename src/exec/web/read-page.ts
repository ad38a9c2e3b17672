/**
 * The page reader: fetches one page and turns it into text, in a process of its own, so that what a
 * stranger wrote can neither hold up nor fill the daemon. `main` is the whole program: the address
 * is a line of its input, its answer the only line of its output, both JSON.
 */
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { WebFault, WebPage } from '../ports.ts'
import type { Net } from '../hosts/net.ts'
import { fetchPage } from './fetch-page.ts'
import { PAGE_MS } from './limits.ts'
import { pageText } from './page-text.ts'

/** What the program is asked: one address, and whether it is to stay on its host. */
export type PageAsked = { url: string; stays: boolean }

export async function readPage(
  { url, stays }: PageAsked,
  net: Net,
  ms = PAGE_MS,
): Promise<WebPage | WebFault> {
  const signal = AbortSignal.timeout(ms)
  try {
    const fetched = await fetchPage(url, { net, signal, stays })
    return fetched.ok ? pageText(fetched) : fetched
  } catch (error) {
    if (!signal.aborted) throw error
    const message = `${url} was not read within ${ms / 1_000} s.`
    return { ok: false, code: 'too_slow', message }
  }
}

export async function main(net: Net): Promise<void> {
  const lines = createInterface({ input: process.stdin })
  const [line] = (await once(lines, 'line')) as [string]
  lines.close()
  const asked: PageAsked = JSON.parse(line)
  const answer = JSON.stringify(await readPage(asked, net))
  process.stdout.end(`${answer}\n`)
}
