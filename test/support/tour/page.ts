/** docs/tour.md as data: its walks, the steps of each, and the table of what they promise. */

export type Step = {
  /** As `A message 4`. */
  place: string
  file: string
  /** Entered in this order. */
  functions: readonly string[]
  way: { by: 'import' } | { by: 'port'; type: string } | { by: 'wire'; path: string }
  /** The events that are on the disk after it; null: it commits nothing. */
  commit: readonly string[] | null
}

export type Walk = { name: string; steps: readonly Step[] }
/** What the table says of a walk. */
export type Promised = { name: string; files: number; most: number; commits: number }

const namesIn = (text: string): string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)

/** Throws for a step that is not written as the others are. */
function stepOf(place: string, text: string): Step {
  const form = /^\[([^\]]+)\]\(\.\.\/([^)]+)\) ([^:]*): (.+)$/.exec(text)
  const [, said = '', file = '', head = '', sentence = ''] = form ?? []
  if (form === null || said !== file) throw new Error(`${place} is no step: ${text}`)
  const wire = /, over `POST (\/\w+)`$/.exec(head)?.[1]
  const port = /, through `(\w+)`$/.exec(head)?.[1]
  const functions = namesIn(head.replace(/, (?:over|through) `[^`]+`$/, ''))
  if (functions.length === 0) throw new Error(`${place} names no function`)
  const events = /\*\*Commit\*\* ((?:`\w+`(?:, )?)+)/.exec(sentence)?.[1]
  if (events === undefined && sentence.includes('**')) throw new Error(`${place}: what commit?`)
  return {
    place,
    file,
    functions,
    way:
      port !== undefined
        ? { by: 'port', type: port }
        : wire !== undefined
          ? { by: 'wire', path: wire }
          : { by: 'import' },
    commit: events === undefined ? null : namesIn(events),
  }
}

export function walksOf(page: string): Walk[] {
  return page
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const name = section.split('\n')[0] ?? ''
      const steps = [...section.matchAll(/^(\d+)\. ([^\n]+(?:\n {3,4}\S[^\n]*)*)/gm)]
      return {
        name,
        steps: steps.map(([, n = '', text = ''], i) => {
          if (Number(n) !== i + 1) throw new Error(`${name} has a step ${n} as its ${i + 1}th`)
          return stepOf(`${name} ${n}`, text.replaceAll(/\s+/g, ' '))
        }),
      }
    })
}

export const promisesOf = (page: string): Promised[] =>
  [...page.matchAll(/^\| \[([^\]]+)\]\(#[\w-]+\) \| (\d+) \| (\d+) \| (\d+) \|$/gm)].map(
    ([, name = '', files, most, commits]) => ({
      name: `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      files: Number(files),
      most: Number(most),
      commits: Number(commits),
    }),
  )
