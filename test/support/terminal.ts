/** The program in a terminal, as a person has it before them: what it shows, and keys for it. */
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { spawn } from '@lydell/node-pty'
import type { ServedHome } from './served-home.ts'

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

/** The program in a terminal of 100 columns. `sees` resolves once the screen has said it. */
export function terminal(t: TestContext, at: ServedHome, args: readonly string[]) {
  const pty = spawn(process.execPath, [main, ...args], {
    cols: 100,
    rows: 30,
    cwd: at.folder,
    env: { ...at.env, TERM: 'xterm' },
  })
  t.after(() => pty.kill('SIGKILL'))
  let all = ''
  let from = 0
  const looks = new Set<() => void>()
  const ended = Promise.withResolvers<number>()
  pty.onData((text) => {
    all += text
    for (const look of looks) look()
  })
  pty.onExit(({ exitCode }) => ended.resolve(exitCode))
  const sees = async (pattern: RegExp): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const look = () => {
      const found = pattern.exec(all.slice(from))
      if (found === null) return
      from += found.index + found[0].length
      resolve()
    }
    looks.add(look)
    void ended.promise.then(() => reject(new Error(`ended before ${String(pattern)}: ${all}`)))
    look()
    await promise
    looks.delete(look)
  }
  const says = async (pattern: RegExp, answer: string): Promise<void> => {
    await sees(pattern)
    pty.write(answer)
  }
  /** All up to the last thing that was waited for. */
  const seen = () => all.slice(0, from)
  return { says, sees, seen, ended: ended.promise, screen: () => all, pty }
}
