/**
 * What the model is saying, on the terminal of a run, as it comes: the last lines of it above the
 * status line, drawn at once and then at most twenty times a second. They go when the record of the
 * answer comes, and what is printed for good is printed from that.
 */
import { nothingHeard, withPiece } from '../../present/history/heard-text.ts'
import { safeLines } from '../../present/text/safe.ts'
import type { Context } from '../command/context.ts'
import type { RunHost } from '../command/run-ports.ts'
import type { RunScreen } from '../command/run-screen.ts'

/** Milliseconds between two drawings: a daemon's words have waited for up to a tenth already. */
const drawEvery = 50
/** Characters at the end of a text that are looked at: more than the lines that are shown. */
const tailLength = 8_192

export class LiveWords {
  readonly #context: Context
  readonly #host: RunHost
  readonly #screen: RunScreen
  readonly #agents: readonly string[]
  #cancel: (() => void) | null = null
  #isMore = false
  /** What was drawn last. */
  #drawn = ''

  constructor(context: Context, host: RunHost, screen: RunScreen, agents: readonly string[]) {
    this.#context = context
    this.#host = host
    this.#screen = screen
    this.#agents = agents
  }

  /** Something was said. */
  heard(): void {
    if (!this.#screen.showsWords) return
    this.#isMore = true
    if (this.#cancel === null) this.#draw()
  }

  /** Something was recorded: what it stands for goes. */
  settle(): void {
    if (!this.#screen.showsWords || this.#text() !== '') return
    this.#drawn = ''
    this.#screen.live([])
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  #draw(): void {
    this.#isMore = false
    const text = this.#text().slice(-tailLength)
    // A sign of life before the first words takes their turn from them otherwise.
    if (text === this.#drawn) return
    this.#drawn = text
    this.#screen.live(text === '' ? [] : safeLines(this.#context.ids.within(text.trimEnd())))
    this.#cancel = this.#context.ports.clock.after(drawEvery, () => {
      this.#cancel = null
      if (this.#isMore) this.#draw()
    })
  }

  #text(): string {
    for (const agent of this.#agents) {
      for (const said of this.#host.liveTexts(agent)) {
        if (said.length > 0) return said.after(0).reduce(withPiece, nothingHeard).text
      }
    }
    return ''
  }
}
