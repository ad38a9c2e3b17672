/**
 * Where a run is printed: lines are appended, answers to stdout and progress to stderr; on a
 * terminal one status line below them is redrawn at most four times a second, or the line that is
 * being typed. It keeps these from tearing each other.
 */
import { clockSeconds, type Zone } from '../../present/text/span.ts'
import { dim, glyph, painted, type Ink } from '../../present/text/marks.ts'
import type { RunLine } from '../../present/lines/run-lines.ts'
import type { Safe } from '../../present/text/safe.ts'
import { apart } from '../../present/text/table.ts'
import { cut, width, wrap } from '../../present/text/width.ts'
import { erasing, lineFoot, type FootDrawn, type Typed } from './line-foot.ts'
import type { CliPorts } from './ports.ts'
import type { Painter } from './prose.ts'

/** Lines of live words at a time: they are looked at, and are printed whole when they are over. */
const liveLines = 12
const nothing: FootDrawn = { cells: [], back: 0 }

export type ScreenOptions = {
  /** Cells of the terminal on stderr; null: a pipe. */
  columns: () => number | null
  /** The terminal's stdout gets answers indented, a pipe gets them as they are. */
  answersOnTerminal: boolean
  ink: Ink
  quiet: boolean
  /** Nothing of an agent's words is printed: the events carry them. */
  silent: boolean
  zone: () => Zone
}

export class RunScreen {
  readonly #ports: Pick<CliPorts, 'out' | 'err'>
  readonly #options: ScreenOptions
  #drawn = false
  /** The last lines of what the model is saying, above the status line. */
  #live: readonly string[] = []
  #status = ''
  /** What is being typed and where the cursor stands in it; it takes the place of the status. */
  #typed: Typed = { text: '', cursor: 0 }
  #prose: Painter | null = null
  /** What stands at the foot now. */
  #foots: FootDrawn = nothing
  /** Draws again what stood at the bottom: the prompt of an open question. */
  #bottom: (() => void) | null = null

  constructor(ports: Pick<CliPorts, 'out' | 'err'>, options: ScreenOptions) {
    this.#ports = ports
    this.#options = options
  }

  /** While set, a prompt stands at the bottom and no status line is drawn. */
  set bottom(redraw: (() => void) | null) {
    this.#clear()
    this.#bottom = redraw
  }

  get isTerminal(): boolean {
    return this.#options.columns() !== null
  }

  status(text: string): void {
    const columns = this.#options.columns()
    if (columns === null || this.#options.quiet || this.#bottom !== null) return
    this.#status = cut(text, columns - 1)
    this.#draw()
  }

  /** Whether words are shown as they come. */
  get showsWords(): boolean {
    const { quiet, silent, answersOnTerminal } = this.#options
    return this.isTerminal && answersOnTerminal && !quiet && !silent
  }

  /** What the model is saying, in place of what it had said before; none: it is over. */
  live(lines: readonly Safe[]): void {
    const columns = this.#options.columns()
    if (columns === null || !this.showsWords || (lines.length === 0 && this.#live.length === 0)) {
      return
    }
    this.#live = lines
      .slice(-liveLines)
      .flatMap((line) => wrap(`  ${line}`.trimEnd(), columns - 1))
      .map((line) => cut(line, columns - 1))
      .slice(-liveLines)
    if (this.#bottom === null) this.#draw()
  }

  /** A line that somebody types, as it is now: nothing of it is lost by what is printed. */
  typed(text: string, cursor: number): void {
    const was = this.#typed.text
    this.#typed = { text, cursor }
    if (this.#bottom !== null || (was === '' && text === '')) return
    this.#draw()
  }

  /** The foot, its cells, and how many of them its cursor stands before its end. */
  #foot(): { line: string; cells: number; back: number } {
    const { columns, ink } = this.#options
    if (this.#typed.text === '') {
      return { line: dim(this.#status, ink), cells: width(this.#status), back: 0 }
    }
    const mark = ink.ascii ? ' ' : '⏎'
    const foot = lineFoot('> ', this.#typed, { columns: columns() ?? 80, mark })
    return { ...foot, cells: width(foot.line) }
  }

  #draw(): void {
    const { line, cells, back } = this.#foot()
    const all = [...this.#live, line]
    const moved = back === 0 ? '' : `\u001b[${back}D`
    this.#ports.err(`${this.#erased()}${all.join('\n')}${moved}`)
    this.#foots = { cells: [...this.#live.map(width), cells], back }
    this.#drawn = true
  }

  #erased(): string {
    return erasing(this.#foots, this.#options.columns() ?? 80)
  }

  /** The last line is gone; what is printed next stands where it was. */
  end(): void {
    this.#live = []
    this.#clear()
    this.#bottom = null
  }

  /** Progress and hints. */
  say(lines: readonly string[]): void {
    if (lines.length === 0 || this.#options.quiet) return
    this.#clear()
    this.#ports.err(`${this.#wrapped(lines).join('\n')}\n`)
    this.#drawFoot()
  }

  /** What stands below all that is printed: a prompt, or what is being typed. */
  #drawFoot(): void {
    if (this.#bottom !== null) this.#bottom()
    else if (this.#typed.text !== '') this.#draw()
  }

  lines(lines: readonly RunLine[]): void {
    for (const line of lines) this.#line(line)
  }

  #line(line: RunLine): void {
    switch (line.kind) {
      case 'step':
        return this.say([this.#step(line)])
      case 'title':
      case 'note':
        return this.say([line.text])
      case 'words':
        return this.#words(line)
    }
  }

  #step({ at, mark, left, right }: RunLine & { kind: 'step' }): string {
    const { ink, zone, columns } = this.#options
    const drawn = mark === null ? '' : `${glyph(mark, ink)} `
    const line = apart(`${clockSeconds(at, zone())}  ${drawn}${left}`, right, columns())
    return mark === null ? line : painted(line, mark, ink)
  }

  #words({ brief, text }: RunLine & { kind: 'words' }): void {
    const { ink } = this.#options
    switch (brief) {
      case 'progress':
        return this.say(text.map((line) => `          ${line}`.trimEnd()))
      case 'failure':
        return this.say(
          this.#wrapped(
            text.map((line, at) => (at === 0 ? `${glyph('failed', ink)} ${line}` : `  ${line}`)),
          ).map((line, at) => (at === 0 ? painted(line, 'failed', ink) : line)),
        )
      case 'question':
        return this.#answer(
          text.map((line, at) => (at === 0 ? `? ${line}` : `  ${line}`.trimEnd())),
        )
      case 'reply':
      case 'result':
        return this.#report(text)
    }
  }

  /** Makes ready what reads Markdown, where there will be somebody to read it. */
  async ready(): Promise<void> {
    const { answersOnTerminal, silent } = this.#options
    if (!this.isTerminal || !answersOnTerminal || silent) return
    const { painter } = await import('./prose.ts')
    this.#prose = painter(this.#options.ink)
  }

  /** What an agent wrote for people: rendered on a terminal, as it stands in a pipe. */
  #report(text: readonly Safe[]): void {
    const columns = this.#options.columns()
    if (columns === null || this.#prose === null) return this.#answer(text)
    this.#answer(this.#prose(text, columns - 2))
  }

  #answer(text: readonly string[]): void {
    const { answersOnTerminal, silent } = this.#options
    if (silent) return
    this.#clear()
    const indented = text.map((line) => `  ${line}`.trimEnd())
    const lines = answersOnTerminal ? ['', ...this.#wrapped(indented), ''] : text
    this.#ports.out(`${lines.join('\n')}\n`)
    this.#drawFoot()
  }

  /** Between words, on a terminal. What has colours was laid out to fit before it got them. */
  #wrapped(lines: readonly string[]): readonly string[] {
    const columns = this.#options.columns()
    if (columns === null) return lines
    return lines.flatMap((line) => (line.includes('\u001b') ? [line] : wrap(line, columns)))
  }

  #clear(): void {
    if (this.#drawn || this.#bottom !== null) this.#ports.err(this.#erased())
    this.#drawn = false
    this.#foots = nothing
  }
}
