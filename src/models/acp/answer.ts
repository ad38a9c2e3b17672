/**
 * From a question of an agent to words a person can answer, and back. Pure. An answer that is not
 * clearly one of the options allows nothing: it is a refusal, and its words are for the agent.
 */
import type { AcpOption, AcpQuestion } from '../../ports/acp.ts'

/** Characters of a rendered question: a wait's reason takes 2,000. */
const QUESTION_CHARS = 1_900

/** The question with its options by number, as the reason of a wait and for the screen. */
export function questionText({ title, options }: AcpQuestion): string {
  const lines = [`Permission asked: ${title}`, 'Options:']
  let left = QUESTION_CHARS - lines.join('\n').length
  for (const [at, { name, kind }] of options.entries()) {
    const line = `${at + 1} ${name} (${kind})`
    left -= line.length + 1
    if (left < 0) return [...lines, `and ${options.length - at} more`].join('\n')
    lines.push(line)
  }
  return lines.join('\n')
}

const allows = new Set(['allow', 'yes', 'y', 'ok', 'allow once'])
const denies = new Set(['deny', 'no', 'n', 'reject', 'reject once'])

/**
 * The number of the option that an answer names, from 1: by number, id or name in either case, or a
 * plain yes or no where exactly one option is `allow_once` or `reject_once`. Null: none of them.
 */
export function optionNamed(answer: string, options: readonly AcpOption[]): number | null {
  const said = plain(answer)
  if (said === '') return null
  if (/^\d{1,3}$/.test(said)) {
    const n = Number(said)
    return n >= 1 && n <= options.length ? n : null
  }
  const named = only(options, ({ option_id, name }) =>
    [option_id, name].some((word) => plain(word) === said),
  )
  if (named !== null) return named
  if (allows.has(said)) return only(options, ({ kind }) => kind === 'allow_once')
  if (denies.has(said)) return only(options, ({ kind }) => kind === 'reject_once')
  return null
}

/** Two that fit are none: what is not clear is not allowed. */
function only(options: readonly AcpOption[], fits: (option: AcpOption) => boolean): number | null {
  const at = options.findIndex(fits)
  return at >= 0 && at === options.findLastIndex(fits) ? at + 1 : null
}

const plain = (text: string): string =>
  text
    .trim()
    .replace(/^["'`(]+|["'`).!]+$/g, '')
    .replace(/\s+/g, ' ')
    .toLowerCase()
