/**
 * The text of a page that was fetched: HTML as Markdown, other text as it is. Pure, but slow for a
 * large page, and its library recurses: it belongs in a process of its own.
 */
import { tables } from '@joplin/turndown-plugin-gfm'
import TurndownService from 'turndown'
import type { WebFault, WebPage } from '../ports.ts'
import type { PageResponse } from './fetch-page.ts'
import { PAGE_CHARS } from './limits.ts'

const textTypes = /^(text\/|application\/([a-z.+-]*\+)?(json|xml|yaml|javascript|x-ndjson|toml)$)/
const htmlTypes = new Set(['text/html', 'application/xhtml+xml'])
/** Elements without words for a reader. */
const unread = ['title', 'script', 'style', 'noscript', 'template', 'iframe', 'canvas'] as const

/** The bytes of an image in the place of its address. */
const embedded = /\bsrc\s*=\s*(?:"data:[^"]*"|'data:[^']*')/gi

/** A page that is no text is a fault, which says what it is instead. */
export function pageText(fetched: PageResponse): WebPage | WebFault {
  const { url, status, bytes } = fetched
  const type = fetched.content_type.split(';')[0]?.trim().toLowerCase() ?? ''
  const found = decoded(bytes, fetched.content_type)
  const isHtml = htmlTypes.has(type) || (type === '' && /^\s*<(!doctype|html)/i.test(found))
  if (!isHtml && (found.includes('\0') || (type !== '' && !textTypes.test(type)))) {
    const what = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? type : 'no text'
    return { ok: false, code: 'not_text', message: `${url} is ${what}, ${bytes.length} bytes.` }
  }
  const whole = isHtml ? markdownOf(found) : found
  const text = whole.slice(0, PAGE_CHARS).toWellFormed()
  const cut = fetched.cut || text.length < whole.length
  return { ok: true, url, status, title: isHtml ? titleOf(found) : null, text, cut }
}

/** In the charset that its sender names, or UTF-8 where none or an unknown one is named. */
function decoded(bytes: Buffer, content_type: string): string {
  const [, charset = 'utf-8'] = /charset="?([\w.:-]+)/i.exec(content_type) ?? []
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}

function titleOf(html: string): string | null {
  const [, title = ''] = /<title[^>]{0,200}>([^<]{1,1000})<\/title>/i.exec(html) ?? []
  const text = title.replaceAll(/\s+/g, ' ').trim()
  return text === '' ? null : markdownOf(text)
}

/** Its words without the markup where it is nested deeper than the library can follow. */
function markdownOf(html: string): string {
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' })
  service.use(tables)
  service.remove([...unread])
  try {
    return service.turndown(html.replaceAll(embedded, '')).trim()
  } catch (error) {
    if (error instanceof RangeError) return html.replaceAll(/<[^<>]*>/g, ' ').trim()
    throw error
  }
}
