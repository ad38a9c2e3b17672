/**
 * A question at the foot of the terminal: its prompt and the line that is typed as its answer. What
 * was typed before the prompt stood there answers nothing.
 */
import { erasing, lineFoot, type FootDrawn } from '../../cli/command/line-foot.ts'
import type { TerminalPrompt, Typing } from '../../cli/command/ports.ts'
import { tooLong } from '../../cli/command/typed-line.ts'
import { limits } from '../../domain/limits.ts'
import { safeLines } from '../../present/text/safe.ts'
import { width } from '../../present/text/width.ts'
import { typing } from './typing.ts'

const nothing: FootDrawn = { cells: [], back: 0 }

/** One line with a prompt. Its own ctrl+c is an interrupt of the whole program. */
export function asking(
  prompt: string,
  signal: AbortSignal,
  interrupted: () => void,
): TerminalPrompt {
  const { stderr } = process
  const answer = Promise.withResolvers<string | null>()
  let state: 'opens' | 'stands' | 'over' = 'opens'
  let typed = { text: '', cursor: 0 }
  let drawn = nothing
  const columns = () => stderr.columns || 80
  const toLineStart = () => erasing(drawn, columns())
  const redraw = () => {
    if (state !== 'stands') return
    const { line, back } = lineFoot(prompt, typed, { columns: columns(), mark: ' ' })
    stderr.write(`${toLineStart()}${line}${back === 0 ? '' : `\u001b[${back}D`}`)
    drawn = { cells: [width(line)], back }
  }
  const done = (text: string | null) => {
    if (state === 'over') return
    state = 'over'
    reading.stop()
    if (text !== null) {
      stderr.write(`${toLineStart()}${prompt}${safeLines(text).join('\r\n')}\r\n`)
    }
    answer.resolve(text)
  }
  const begin = (): Typing =>
    typing(
      {
        changed(text, cursor) {
          typed = { text, cursor }
          redraw()
        },
        line: (text) => (state === 'stands' ? done(text) : undefined),
        tooLong(missing) {
          if (state !== 'stands') return
          stderr.write(`${toLineStart()}${tooLong(missing, limits.operator_text.value)}\r\n`)
          drawn = nothing
          redraw()
        },
        ended() {
          if (state === 'opens') reading = begin()
          else done(null)
        },
      },
      interrupted,
      () => true,
    )
  let reading = begin()
  signal.addEventListener('abort', () => done(null), { once: true })
  const stands = () => {
    if (state !== 'opens') return
    reading.forget()
    typed = { text: '', cursor: 0 }
    state = 'stands'
    redraw()
  }
  reading.keysRead().then(stands, answer.reject)
  return {
    answer: answer.promise,
    // Something was printed: the row is a new one.
    redraw() {
      drawn = nothing
      redraw()
    },
  }
}
