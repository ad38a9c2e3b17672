/** The table of lines, rules and decisions in pairs.txt. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Otherwise, PolicyRule, Verdict } from '../../src/domain/policy/rule.ts'
import { rulesOf } from './judge-line.ts'

export type Pair = {
  rules: readonly PolicyRule[]
  otherwise: Otherwise | null
  decide: Verdict
  line: string
}

type Written = { rules: unknown; otherwise: Otherwise | null }

export function readPairs(): Pair[] {
  const pairs: Pair[] = []
  let [rules, otherwise]: [readonly PolicyRule[], Otherwise | null] = [[], null]
  for (const text of readFileSync(join(import.meta.dirname, 'pairs.txt'), 'utf8').split('\n')) {
    if (text.startsWith('rules ')) {
      const written = JSON.parse(text.slice('rules '.length)) as unknown[] | Written
      const given: Written = Array.isArray(written) ? { rules: written, otherwise: null } : written
      ;[rules, otherwise] = [rulesOf(given.rules), given.otherwise]
    }
    const [, decide, line] = /^(deny|ask|allow) *\| (.+)$/.exec(text) ?? []
    if (decide === undefined || line === undefined) continue
    pairs.push({ rules, otherwise, decide: decide as Verdict, line: line.replaceAll('<NL>', '\n') })
  }
  return pairs
}
