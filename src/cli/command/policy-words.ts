/** What is said of a policy.json that is refused, wherever a person looks. */
import type { PolicyStanding } from './policy-ports.ts'

export const mendPolicy = 'correct the file: none of its rules counts until all of it holds'

type Refused = Pick<PolicyStanding, 'file' | 'line' | 'why' | 'in_force'>

export function refusedWords({ file, line, why, in_force }: Refused): string {
  const where = line === null ? file : `${file} line ${line}`
  const until =
    in_force === null
      ? 'everything is asked until it holds'
      : `the last good rules stay in force until it holds (${in_force})`
  return `${where} is refused: ${why}; ${until}`
}
