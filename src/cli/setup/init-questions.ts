/**
 * How `holon init` asks: one line a question, each with the flag that answers it beforehand. Where
 * nobody can be asked, the flag is named and nothing happens. An interrupt, or the end of the
 * input, ends the set-up at any question; until the last one nothing has been written.
 */
import { problemOf } from '../../protocol/problem.ts'
import { safeLines } from '../../present/text/safe.ts'
import { width } from '../../present/text/width.ts'
import type { Context } from '../command/context.ts'
import { CliFailure, exits, usage } from '../command/failure.ts'

/** Cells that an answer has at the least beside its prompt. */
const answerCells = 12

export class Questions {
  readonly #context: Context
  readonly #may_ask: boolean
  readonly #stop = new AbortController()
  readonly #forget: () => void

  constructor(context: Context, may_ask: boolean) {
    this.#context = context
    this.#may_ask = may_ask && context.ports.terminal.stdin
    this.#forget = context.ports.on_interrupt(() => this.#stop.abort())
  }

  get may_ask(): boolean {
    return this.#may_ask
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  close(): void {
    this.#forget()
  }

  /** Progress and hints go to stderr, as the questions do. */
  tell(text: string): void {
    this.#say(rowsOf(shown(text), ' ', this.#columns))
  }

  /** A list to choose from: none of its choices is broken over two rows. */
  offer(head: string, choices: readonly string[]): void {
    this.#say(rowsOf(head + choices.map(shown).join('  '), '  ', this.#columns))
  }

  #say(rows: readonly string[]): void {
    if (this.#context.flags.quiet === true) return
    for (const row of rows) this.#context.ports.err(`${row}\n`)
  }

  get #columns(): number {
    const { terminal } = this.#context.ports
    return terminal.stderr ? terminal.columns() : Infinity
  }

  /** What does not fit beside its answer stands above it. */
  #prompt(text: string): string {
    const rows = rowsOf(shown(text), ' ', this.#columns - answerCells)
    this.#say(rows.slice(0, -1))
    return `${rows.at(-1) ?? ''} `
  }

  /** The answer without the blanks around it; `otherwise` for an empty one. */
  async line(prompt: string, flag: string, otherwise: string | null): Promise<string> {
    for (;;) {
      this.need(flag)
      const { answer } = this.#context.ports.ask(this.#prompt(prompt), this.signal)
      const text = await answer
      if (text === null) throw interrupted()
      const said = text.trim() === '' ? otherwise : text.trim()
      if (said !== null) return said
      this.tell('an answer is needed here; ctrl+c leaves everything as it was')
    }
  }

  /** What is typed is shown nowhere. */
  async secret(prompt: string, flag: string): Promise<string> {
    this.need(flag)
    const { setup } = this.#context.ports
    const text = await setup.ask_secret(this.#prompt(prompt), this.signal)
    if (text === null) throw interrupted()
    return text.trim()
  }

  async yes(prompt: string, flag: string): Promise<boolean> {
    for (;;) {
      const said = (await this.line(`${prompt} (Y/n)`, flag, 'y')).toLowerCase()
      if (['y', 'yes'].includes(said)) return true
      if (['n', 'no'].includes(said)) return false
      this.tell('y or n')
    }
  }

  /** Ends the set-up when the person left while something else was going on. */
  still(): void {
    if (this.signal.aborted) throw interrupted()
  }

  /** Ends the set-up where nobody can be asked for what this flag says. */
  need(flag: string): void {
    this.still()
    if (this.#may_ask) return
    const hint = `give ${flag}, or run this in a terminal`
    throw usage('input_needed', `${flag} is not given, and nobody can be asked`, hint)
  }
}

/** The text behind its label, or behind the blanks below one, goes on under itself. */
function rowsOf(text: string, between: ' ' | '  ', columns: number): string[] {
  const [head = ''] = /^(\d \S+ +| *)/.exec(text) ?? []
  const rows: string[] = []
  let row = head
  for (const part of text.slice(head.length).split(between)) {
    const isFirst = row.length === head.length
    const next = isFirst ? row + part : row + between + part
    if (isFirst || width(next) <= columns) row = next
    else {
      rows.push(row)
      row = ' '.repeat(head.length) + part.trimStart()
    }
  }
  return [...rows, row]
}

/** Columns are made with blanks, which stay. */
const shown = (text: string): string => safeLines(text).join(' ')

const interrupted = (): CliFailure =>
  new CliFailure(
    exits.interrupted,
    problemOf('interrupted', 'left before the end', 'nothing was written; holon init begins anew'),
  )
