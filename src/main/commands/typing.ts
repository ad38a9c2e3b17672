/**
 * Lines that are typed while the program prints: read key by key, so that the terminal echoes
 * nothing into what is printed and who prints can draw the line again. Pastes come marked where the
 * terminal can mark them. A program in the background has no keyboard: it reads nothing then, for
 * the system would stop it.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Typing, TypingListener } from '../../cli/command/ports.ts'
import { TypedLine, type Key } from '../../cli/command/typed-line.ts'
import { limits } from '../../domain/limits.ts'
import { beforeEnds } from '../machine/ended-from-outside.ts'

const markPastes = '\u001b[?2004h'
const leavePastes = '\u001b[?2004l'
const unmark = () => void process.stderr.write(leavePastes)

/** `interrupted` is what ctrl+c does, which is a key as any other while keys are read. */
export function typing(
  listener: TypingListener,
  interrupted: () => void,
  mayRead: () => boolean = isInForeground,
): Typing {
  return new Keyboard(listener, interrupted, mayRead)
}

class Keyboard implements Typing {
  readonly #listener: TypingListener
  readonly #interrupted: () => void
  readonly #mayRead: () => boolean
  readonly #line = new TypedLine(limits.operator_text.value)
  #isReading = false
  #forgetEnds: () => void = () => {}
  /** Keys that come together are drawn together, and what did not fit is said once. */
  #due: 'nothing' | 'draw' | 'say_full' = 'nothing'

  constructor(listener: TypingListener, interrupted: () => void, mayRead: () => boolean) {
    this.#listener = listener
    this.#interrupted = interrupted
    this.#mayRead = mayRead
    process.on('SIGCONT', this.#read)
    this.#read()
  }

  isBegun(): boolean {
    return this.#line.isBegun
  }

  /** They are read in the next whole turn of the loop: this one may have looked already. */
  keysRead(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    setImmediate(() => setImmediate(resolve))
    return promise
  }

  forget(): void {
    this.#line.clear()
  }

  stop(): string {
    process.off('SIGCONT', this.#read)
    this.#close()
    return this.#line.text
  }

  readonly #read = (): void => {
    if (this.#isReading || !this.#mayRead()) return
    this.#isReading = true
    const { stdin } = process
    process.getBuiltinModule('node:readline').emitKeypressEvents(stdin)
    stdin.on('keypress', this.#press)
    stdin.on('end', this.#end)
    stdin.setRawMode(true)
    stdin.resume()
    process.stderr.write(markPastes)
    process.on('exit', unmark)
    this.#forgetEnds = beforeEnds(() => void this.stop())
    if (this.#line.isBegun) this.#soon('draw')
  }

  #close(): void {
    if (!this.#isReading) return
    this.#isReading = false
    const { stdin } = process
    stdin.off('keypress', this.#press)
    stdin.off('end', this.#end)
    stdin.setRawMode(false)
    stdin.pause()
    process.off('exit', unmark)
    this.#forgetEnds()
    unmark()
  }

  readonly #end = (): void => {
    this.#close()
    process.off('SIGCONT', this.#read)
    this.#listener.ended()
  }

  readonly #press = (text: string | undefined, key: Key): void => {
    const { missing } = this.#line
    switch (this.#line.take(text, key)) {
      case 'nothing':
        return
      case 'changed':
        return this.#soon('draw')
      case 'full':
        return missing === 0 ? this.#soon('say_full') : undefined
      case 'line': {
        const typed = this.#line.text
        this.#line.clear()
        return this.#listener.line(typed)
      }
      case 'too_long':
        return this.#listener.tooLong(missing)
      case 'interrupted':
        return this.#interrupted()
      case 'suspended':
        this.#close()
        this.#listener.changed('', 0)
        process.kill(process.pid, 'SIGTSTP')
        return
      case 'ended':
        return this.#end()
    }
  }

  #soon(what: 'draw' | 'say_full'): void {
    if (this.#due === 'nothing') setImmediate(() => this.#draw())
    if (this.#due !== 'say_full') this.#due = what
  }

  #draw(): void {
    const was = this.#due
    this.#due = 'nothing'
    if (!this.#isReading) return
    if (was === 'say_full') this.#listener.tooLong(this.#line.missing)
    this.#listener.changed(this.#line.text, this.#line.cursor)
  }
}

/** Whether the terminal belongs to the processes of this one; where nobody says, it does not. */
function isInForeground(): boolean {
  try {
    if (process.platform === 'linux') {
      // Behind the name, which may be anything: state, parent, group, session, tty, its group.
      const stat = readFileSync('/proc/self/stat', 'utf8')
      const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return group === foreground
    }
    const asked = ['-o', 'pgid=,tpgid=', '-p', String(process.pid)]
    const [group, foreground] = execFileSync('ps', asked, { encoding: 'utf8' }).trim().split(/\s+/)
    return group === foreground
  } catch {
    return false
  }
}
