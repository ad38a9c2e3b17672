/**
 * A line that is one command in plain words and nothing beside it. What a line sets, exports, feeds
 * in, repeats or makes of the end of a command is not in its action, so two lines with the same
 * action do the same only where both are plain.
 */
import type { ActionBody } from './action.ts'
import type { PolicyDecision } from './decision.ts'

/** Its words. What is quoted has nothing in it that a shell reads. Null: it is another line. */
export function plainWords(line: string): string[] | null {
  const words: string[] = []
  const rest = line.trim().replaceAll(word, (_, quoted?: string, plain?: string) => {
    words.push(plain ?? quoted?.slice(1, -1) ?? '')
    return ''
  })
  return rest === '' && words.length > 0 ? words : null
}

/** One quoted or one plain word, up to the next space or the end. */
const word = /('[^']*'|"[^"$`\\!]*")(?:[ \t]+|$)|([\w@%+=:,./#^-]+)(?:[ \t]+|$)/g

/** No grant answers for a question about a line that says more than its action; null: no line. */
export function plainOnly(
  decision: PolicyDecision,
  { commands }: Pick<ActionBody, 'commands'>,
  line: string | null,
): PolicyDecision {
  if (decision.lifts === null || line === null) return decision
  const [command, ...more] = commands
  const words = plainWords(line)
  const isPlain =
    more.length === 0 &&
    words?.length === command?.argv.length &&
    command?.argv.every((word, at) => word === words?.[at]) === true
  return isPlain ? decision : { ...decision, lifts: null }
}
