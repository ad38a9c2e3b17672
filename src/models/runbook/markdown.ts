/**
 * The few blocks of Markdown that matter to a runbook, line by line: headings (both kinds), list
 * items, fences, paragraph lines. It follows CommonMark where a reader would see the difference
 * (nested fences, lists, comments) and never throws. Pure.
 */

export type Block =
  | { kind: 'heading'; level: number; text: string; line: number }
  /** The first line of a list item that is in no other list. */
  | { kind: 'item'; text: string; line: number }
  /** `nested`: inside a list item. `closed`: its end was found. `line` is the opening line. */
  | {
      kind: 'fence'
      language: string
      body: string
      line: number
      closed: boolean
      nested: boolean
    }
  /** A line of a paragraph, its list marker and indentation taken off. */
  | { kind: 'text'; text: string; line: number; nested: boolean }

type Fence = { mark: string; indent: number; language: string; body: string[]; line: number }

/** List items inside each other; what is deeper is words. */
const deepest = 16

/** 'list': the open paragraph belongs to a list item, so an unindented line may still go on. */
type Paragraph = 'none' | 'top' | 'list'

export const linesOf = (text: string): string[] => text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)

/** Lines are counted from 1. */
export function blocksOf(text: string): Block[] {
  const scanner = new Scanner()
  linesOf(text).forEach((line, index) => scanner.take(line, index + 1))
  return scanner.end()
}

class Scanner {
  readonly #blocks: Block[] = []
  /** Columns at which the content of each open list item begins, outermost first. */
  #lists: number[] = []
  #paragraph: Paragraph = 'none'
  #fence: Fence | null = null
  #inComment = false

  take(raw: string, line: number): void {
    if (this.#fence !== null) return this.#inFence(raw, this.#fence)
    if (this.#inComment) {
      this.#inComment = !raw.includes('-->')
      return
    }
    if (raw.trim() === '') {
      this.#paragraph = 'none'
      return
    }
    this.#leaveLists(raw)
    this.#block(raw, line, null)
  }

  end(): Block[] {
    if (this.#fence !== null) this.#close(this.#fence, false)
    return this.#blocks
  }

  /** An unindented line ends the lists it is outside of, unless it goes on with their words. */
  #leaveLists(raw: string): void {
    const indent = indentOf(raw)
    const inside = this.#lists.filter((column) => column <= indent)
    if (inside.length === this.#lists.length) return
    if (this.#paragraph === 'list' && isPlain(raw)) return
    if (this.#paragraph === 'list') this.#paragraph = 'none'
    this.#lists = inside
  }

  /** What one line, or what stands behind a list marker, begins. */
  #block(raw: string, line: number, item: { top: boolean } | null): void {
    const indent = indentOf(raw) - (this.#lists.at(-1) ?? 0)
    const text = raw.trim()
    if (indent >= 4 && item === null) {
      // Indented code, or the next line of a paragraph.
      if (this.#paragraph !== 'none') this.#text(text, line)
      return
    }
    if (item === null && this.#setext(text)) return
    const fence = /^(`{3,}|~{3,})\s*(.*)$/.exec(text)
    if (fence?.[1] && !(fence[1].startsWith('`') && fence[2]?.includes('`'))) {
      if (item?.top) this.#blocks.push({ kind: 'item', text: '', line })
      this.#open(fence[1], fence[2] ?? '', indentOf(raw), line)
      return
    }
    if (text.startsWith('<!--')) {
      this.#inComment = !text.slice(4).includes('-->')
      this.#paragraph = 'none'
      return
    }
    const heading = /^(#{1,6})(?:[ \t]+(.*))?$/.exec(text)
    if (heading?.[1] && item === null && this.#lists.length === 0) {
      const words = (heading[2] ?? '').replace(/(^|[ \t]+)#+$/, '').trim()
      this.#blocks.push({ kind: 'heading', level: heading[1].length, text: words, line })
      this.#paragraph = 'none'
      return
    }
    if (isBreak(text)) {
      this.#paragraph = 'none'
      return
    }
    if (this.#item(raw, line, item)) return
    if (item?.top) {
      this.#blocks.push({ kind: 'item', text, line })
      this.#paragraph = 'list'
      return
    }
    this.#text(text, line)
  }

  /** A list marker, and whatever stands behind it on the same line. */
  #item(raw: string, line: number, within: { top: boolean } | null): boolean {
    const marker = /^([ \t]*)([-*+]|(\d{1,9})[.)])([ \t]+|$)/.exec(raw)
    if (!marker || this.#lists.length >= deepest) return false
    const rest = raw.slice(marker[0].length)
    const interrupts = rest.trim() !== '' && (marker[3] === undefined || marker[3] === '1')
    if (this.#paragraph === 'top' && !interrupts) return false
    const top = within?.top ?? this.#lists.length === 0
    const start = indentOf(raw) + (marker[2]?.length ?? 0)
    const gap = marker[4]?.length ?? 0
    const content = start + (rest.trim() === '' || gap > 4 ? 1 : gap)
    this.#lists.push(content)
    this.#paragraph = 'none'
    if (rest.trim() === '') {
      if (top) this.#blocks.push({ kind: 'item', text: '', line })
      return true
    }
    this.#block(' '.repeat(content) + rest, line, { top })
    return true
  }

  #text(text: string, line: number): void {
    const nested = this.#lists.length > 0
    this.#blocks.push({ kind: 'text', text, line, nested })
    this.#paragraph = nested ? 'list' : 'top'
  }

  /** A line of `=` or `-` turns the paragraph above it into a heading. */
  #setext(text: string): boolean {
    if (this.#paragraph !== 'top' || !/^(=+|-+)$/.test(text)) return false
    const words: Extract<Block, { kind: 'text' }>[] = []
    for (let last = this.#blocks.at(-1); last?.kind === 'text'; last = this.#blocks.at(-1)) {
      const below = words[0]?.line ?? last.line + 1
      if (last.nested || last.line !== below - 1) break
      words.unshift(last)
      this.#blocks.pop()
    }
    const first = words[0]
    if (first === undefined) return false
    this.#blocks.push({
      kind: 'heading',
      level: text.startsWith('=') ? 1 : 2,
      text: words.map((word) => word.text).join(' '),
      line: first.line,
    })
    this.#paragraph = 'none'
    return true
  }

  #open(mark: string, info: string, indent: number, line: number): void {
    const language = info.trim().split(/\s+/)[0]?.toLowerCase() ?? ''
    this.#fence = { mark, indent, language, body: [], line }
    this.#paragraph = 'none'
  }

  #inFence(raw: string, fence: Fence): void {
    const mark = raw.trim()
    const closes =
      mark.length >= fence.mark.length &&
      mark === fence.mark.charAt(0).repeat(mark.length) &&
      indentOf(raw) <= fence.indent + 3
    if (closes) this.#close(fence, true)
    else fence.body.push(dedent(raw, fence.indent))
  }

  #close({ language, body, line }: Fence, closed: boolean): void {
    const nested = this.#lists.length > 0
    this.#blocks.push({ kind: 'fence', language, body: body.join('\n'), line, closed, nested })
    this.#fence = null
  }
}

/** Three or more of one mark and nothing else: a line across the page. */
const isBreak = (text: string): boolean =>
  /^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(text)

/** Words and nothing that could begin a block of its own. */
const isPlain = (raw: string): boolean =>
  !/^[ \t]*(?:#{1,6}(?:\s|$)|`{3,}|~{3,}|<!--|[-*+](?:\s|$)|\d{1,9}[.)](?:\s|$))/.test(raw) &&
  !isBreak(raw.trim())

/** Columns of white space before the text; a tab goes to the next multiple of four. */
function indentOf(line: string): number {
  let columns = 0
  for (const char of line) {
    if (char === ' ') columns += 1
    else if (char === '\t') columns += 4 - (columns % 4)
    else break
  }
  return columns
}

/** Takes off at most `columns` columns of white space. */
function dedent(line: string, columns: number): string {
  let at = 0
  let done = 0
  while (done < columns && (line[at] === ' ' || line[at] === '\t')) {
    done += line[at] === '\t' ? 4 - (done % 4) : 1
    at += 1
  }
  return ' '.repeat(Math.max(0, done - columns)) + line.slice(at)
}
