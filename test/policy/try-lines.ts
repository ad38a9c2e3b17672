/** Lines of the grammar, judged by a policy that denies `forbid`, and run. */
import { openShellParser } from '../../src/exec/shell/parser.ts'
import { judgeLine, policyOf, rulesOf } from './judge-line.ts'
import { drawing, lineOf } from './lines.ts'
import { linesThatRun } from './oracle.ts'

export type TriedLines = {
  lines: number
  ran: number
  decided: { allow: number; ask: number; deny: number }
  /** Of those that ran what is forbidden, the ones that were allowed. */
  wrong: string[]
}

export async function tryLines(folder: string, cases: number, seed: number): Promise<TriedLines> {
  const { read } = await openShellParser({ monotonic: () => performance.now() })
  const policy = policyOf(rulesOf([{ decide: 'deny', run: ['forbid'] }]))
  const draw = drawing(seed)
  const lines = Array.from({ length: cases }, () => lineOf(draw))
  const decisions = lines.map((line) => judgeLine(line, policy, read).decide)
  const ran = linesThatRun(folder, lines)
  const decided = { allow: 0, ask: 0, deny: 0 }
  for (const decide of decisions) decided[decide] += 1
  const wrong = lines.filter((_, at) => ran.has(at) && decisions[at] === 'allow')
  return { lines: cases, ran: ran.size, decided, wrong }
}
