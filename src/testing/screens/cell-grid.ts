/**
 * A command in a real terminal device, and what an emulator makes of its bytes: a grid of cells
 * with their styles. Whoever starts one ends it; it holds a process.
 */
import { spawn, type IPty } from '@lydell/node-pty'
import xterm from '@xterm/headless'

/** How a run of cells looks. Colours are the sixteen of the terminal's theme. */
export type CellStyle = {
  readonly colour: number | null
  readonly bold: boolean
  readonly dim: boolean
  readonly inverse: boolean
}
/** Neighbouring cells that look alike. `cells` is how wide the text stands. */
export type CellRun = CellStyle & {
  readonly text: string
  readonly at: number
  readonly cells: number
}
export type GridRow = readonly CellRun[]

export type Started = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly columns: number
  readonly rows: number
  readonly cwd?: string
}

export class CellGrid {
  readonly #pty: IPty
  readonly #screen: xterm.Terminal
  readonly #ended = Promise.withResolvers<number>()
  readonly #looks = new Set<() => void>()
  #parsed: Promise<void> = Promise.resolve()
  /** Every byte it wrote, as text. */
  written = ''

  constructor({ command, args, env, columns: cols, rows, cwd }: Started) {
    this.#screen = new xterm.Terminal({ cols, rows, allowProposedApi: true })
    const of = { name: 'xterm-256color', cols, rows, env: { ...env } }
    this.#pty = spawn(command, [...args], cwd === undefined ? of : { ...of, cwd })
    this.#pty.onData((text) => {
      this.written += text
      this.#parsed = new Promise((done) => this.#screen.write(text, done))
      void this.#parsed.then(() => {
        for (const look of [...this.#looks]) look()
      })
    })
    this.#pty.onExit(({ exitCode }) => void this.#parsed.then(() => this.#ended.resolve(exitCode)))
  }

  get pid(): number {
    return this.#pty.pid
  }

  /** Resolves with the exit status once all that it wrote is on the grid. */
  get ended(): Promise<number> {
    return this.#ended.promise
  }

  type(text: string): void {
    this.#pty.write(text)
  }

  resize(columns: number, rows: number): void {
    this.#screen.resize(columns, rows)
    this.#pty.resize(columns, rows)
  }

  kill(): void {
    this.#pty.kill('SIGKILL')
  }

  lines(): string[] {
    return this.grid().map(textOf)
  }

  /** Resolves with the first frame that `is` accepts. Rejects when the command ends before. */
  async until(is: (grid: CellGrid) => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = () => is(this) && resolve()
    this.#looks.add(look)
    look()
    const ended = this.#ended.promise.then(() => Promise.reject(new Error(this.lines().join('\n'))))
    await Promise.race([promise, ended]).finally(() => this.#looks.delete(look))
  }

  grid(): GridRow[] {
    const { active } = this.#screen.buffer
    return Array.from({ length: this.#screen.rows }, (_, y) => {
      const line = active.getLine(active.viewportY + y)
      const runs: CellRun[] = []
      for (let x = 0; x < this.#screen.cols; x += 1) {
        const cell = line?.getCell(x)
        const cells = cell?.getWidth() ?? 1
        if (cell === undefined || cells === 0) continue
        const text = cell.getChars() === '' ? ' ' : cell.getChars()
        const look: CellStyle = {
          colour: cell.isFgPalette() ? cell.getFgColor() : null,
          bold: cell.isBold() !== 0,
          dim: cell.isDim() !== 0,
          inverse: cell.isInverse() !== 0,
        }
        const last = runs.at(-1)
        if (last !== undefined && isAlike(last, look)) {
          runs[runs.length - 1] = { ...last, text: last.text + text, cells: last.cells + cells }
        } else runs.push({ ...look, text, at: x, cells })
      }
      return runs
    })
  }
}

const isAlike = (a: CellStyle, b: CellStyle): boolean =>
  a.colour === b.colour && a.bold === b.bold && a.dim === b.dim && a.inverse === b.inverse

export const textOf = (row: GridRow): string =>
  row
    .map(({ text }) => text)
    .join('')
    .trimEnd()
