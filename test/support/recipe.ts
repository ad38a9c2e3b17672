/**
 * Recipes of `docs/recipes` as data: a fenced block with a path behind its language is a step. A
 * `diff` changes a file that is there, any other block is a new file; lines of a `sh` block are
 * commands. What stands between the blocks is for people.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type Step =
  | { do: 'make'; path: string; text: string }
  | { do: 'change'; path: string; hunks: readonly Hunk[] }
  | { do: 'run'; command: string }

/** Lines that are there, and what stands in their place afterwards. */
export type Hunk = { from: string; to: string }

/** The steps of a page, in its order. */
export function stepsOf(page: string): Step[] {
  return [...page.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].flatMap(
    ([, language, path, text = '']): Step[] => {
      if (path === undefined) {
        if (language !== 'sh') return []
        const commands = text.split('\n').filter((line) => line !== '')
        return commands.map((command): Step => ({ do: 'run', command }))
      }
      if (language !== 'diff') return [{ do: 'make', path, text }]
      return [{ do: 'change', path, hunks: text.split(/^@@\n/m).map(hunkOf) }]
    },
  )
}

/** Lines begin with a blank, `-` or `+`, as in any diff. */
function hunkOf(text: string): Hunk {
  const lines = text.split('\n').slice(0, -1)
  const side = (mark: string) =>
    lines
      .filter((line) => line === '' || line.startsWith(' ') || line.startsWith(mark))
      .map((line) => `${line.slice(1)}\n`)
      .join('')
  return { from: side('-'), to: side('+') }
}

/** A step that does not fit the files under `root` any more, with what to mend. */
export class StaleRecipe extends Error {}

/** Writes what a step writes. Lines of a hunk that do not stand there exactly once are stale. */
export function apply(root: string, step: Exclude<Step, { do: 'run' }>): void {
  const file = join(root, step.path)
  if (step.do === 'make') {
    if (existsSync(file)) throw new StaleRecipe(`${step.path} is there already`)
    mkdirSync(dirname(file), { recursive: true })
    return writeFileSync(file, step.text)
  }
  if (!existsSync(file)) throw new StaleRecipe(`${step.path} is gone`)
  let text = readFileSync(file, 'utf8')
  for (const { from, to } of step.hunks) {
    const parts = `\n${text}`.split(`\n${from}`)
    if (parts.length !== 2) {
      throw new StaleRecipe(`${step.path} has these lines ${parts.length - 1} times:\n${from}`)
    }
    text = parts.join(`\n${to}`).slice(1)
  }
  writeFileSync(file, text)
}
