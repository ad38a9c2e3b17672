/**
 * A line that is being typed, from keys as `node:readline` names them. A key costs the same however
 * long the line is. A paste never ends it: its line breaks are part of it. Pure.
 */
import { graphemes } from '../../present/text/graphemes.ts'

export type Key = {
  name?: string | undefined
  ctrl?: boolean | undefined
  meta?: boolean | undefined
}

/** What came of a key. `full`: it found no room; `too_long`: such a line was to be sent. */
export type KeyDeed =
  | 'nothing'
  | 'changed'
  | 'full'
  | 'line'
  | 'too_long'
  | 'ended'
  | 'interrupted'
  | 'suspended'

/** Characters that are looked at for the one beside the cursor, which may be a family of emoji. */
const beside = 64
/** They are no text, but for the two that a paste may hold. */
const controls = /^[^\P{Cc}\t\n]/u

export class TypedLine {
  readonly #most: number
  #before = ''
  #after = ''
  #bytes = 0
  #missing = 0
  /** `return`: a paste whose last key was a carriage return, of which a line feed is a part. */
  #paste: 'none' | 'text' | 'return' = 'none'

  constructor(max_bytes: number) {
    this.#most = max_bytes
  }

  get text(): string {
    return this.#before + this.#after
  }

  get cursor(): number {
    return this.#before.length
  }

  /** Characters that found no room since something was erased. */
  get missing(): number {
    return this.#missing
  }

  /** Something stands there, or a paste is on its way. */
  get isBegun(): boolean {
    return this.#paste !== 'none' || this.#bytes > 0
  }

  clear(): void {
    this.#before = ''
    this.#after = ''
    this.#bytes = 0
    this.#missing = 0
  }

  take(text: string | undefined, key: Key): KeyDeed {
    if (key.ctrl === true && key.name === 'c') return 'interrupted'
    if (key.name === 'paste-start' || key.name === 'paste-end') {
      this.#paste = key.name === 'paste-start' ? 'text' : 'none'
      return 'changed'
    }
    if (this.#paste !== 'none') return this.#pasted(text, key)
    if (key.ctrl === true) return this.#control(key.name)
    if (key.meta === true) return this.#word(key.name)
    return this.#plain(text, key)
  }

  #pasted(text: string | undefined, { name }: Key): KeyDeed {
    const isPart = name === 'enter' && this.#paste === 'return'
    this.#paste = name === 'return' ? 'return' : 'text'
    if (isPart) return 'nothing'
    return this.#insert(name === 'return' || name === 'enter' ? '\n' : text)
  }

  #plain(text: string | undefined, { name }: Key): KeyDeed {
    switch (name) {
      case 'return':
      case 'enter':
        return this.#missing > 0 ? 'too_long' : 'line'
      case 'backspace':
        return this.#keep(this.#before.slice(0, this.#before.length - this.#last()), this.#after)
      case 'delete':
        return this.#keep(this.#before, this.#after.slice(this.#first()))
      case 'left':
        return this.#move(this.#before.length - this.#last())
      case 'right':
        return this.#move(this.#before.length + this.#first())
      case 'home':
        return this.#move(0)
      case 'end':
        return this.#move(this.text.length)
      case undefined:
      default:
        return this.#insert(text)
    }
  }

  #control(name: string | undefined): KeyDeed {
    switch (name) {
      case 'd':
        return this.isBegun ? this.#plain(undefined, { name: 'delete' }) : 'ended'
      case 'z':
        return 'suspended'
      case 'h':
        return this.#plain(undefined, { name: 'backspace' })
      case 'b':
        return this.#plain(undefined, { name: 'left' })
      case 'f':
        return this.#plain(undefined, { name: 'right' })
      case 'a':
        return this.#move(0)
      case 'e':
        return this.#move(this.text.length)
      case 'u':
        return this.#keep('', this.#after)
      case 'k':
        return this.#keep(this.#before, '')
      case 'w':
        return this.#word('backspace')
      case 'left':
        return this.#word('b')
      case 'right':
        return this.#word('f')
      case undefined:
      default:
        return 'nothing'
    }
  }

  /** Keys that go by words. */
  #word(name: string | undefined): KeyDeed {
    const start = startOfWord(this.#before)
    const end = /^\s*\S*/.exec(this.#after)?.[0].length ?? 0
    switch (name) {
      case 'backspace':
        return this.#keep(this.#before.slice(0, start), this.#after)
      case 'd':
        return this.#keep(this.#before, this.#after.slice(end))
      case 'b':
      case 'left':
        return this.#move(start)
      case 'f':
      case 'right':
        return this.#move(this.#before.length + end)
      case undefined:
      default:
        return 'nothing'
    }
  }

  #insert(text: string | undefined): KeyDeed {
    if (text === undefined || controls.test(text)) return 'nothing'
    const bytes = bytesOf(text)
    // What comes behind a part that is missing would stand where it does not belong.
    if (this.#missing > 0 || this.#bytes + bytes > this.#most) {
      this.#missing += text.length
      return 'full'
    }
    this.#before += text
    this.#bytes += bytes
    return 'changed'
  }

  #move(to: number): KeyDeed {
    const { text } = this
    this.#before = text.slice(0, to)
    this.#after = text.slice(to)
    return 'changed'
  }

  /** Something is erased. */
  #keep(before: string, after: string): KeyDeed {
    this.#before = before
    this.#after = after
    this.#bytes = bytesOf(before + after)
    this.#missing = 0
    return 'changed'
  }

  /** How long what stands before the cursor is. */
  #last(): number {
    let last = 0
    for (const { segment } of graphemes.segment(this.#before.slice(-beside))) last = segment.length
    return last
  }

  #first(): number {
    return graphemes.segment(this.#after.slice(0, beside)).containing(0)?.segment.length ?? 0
  }
}

/** Where the last word begins. Goes back letter by letter: a pattern tries every start there is. */
function startOfWord(text: string): number {
  let at = text.trimEnd().length
  while (at > 0 && text.charAt(at - 1).trim() !== '') at -= 1
  return at
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/** Said as soon as it happens, and instead of sending a part. */
export const tooLong = (missing: number, max_bytes: number): string =>
  `the line is full at ${max_bytes} bytes: ${missing} characters more are not taken, and it ` +
  'is not sent so; ctrl+u erases it, any shorter line is sent'
