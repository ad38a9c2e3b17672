/**
 * The rules of a policy that may be about a part of an action, in their order. Most rules are about
 * other programs, so those of commands are found by the names they have. Whether one of these is
 * about the part says `matchRule`, which says no of every rule that is left out here.
 */
import type { ActionPart } from './part.ts'
import { namesIn, namesOf } from './run-match.ts'
import type { PolicyRule, RuleSubject } from './rule.ts'

type RuleIndex = {
  of: Readonly<Record<RuleSubject['kind'], readonly PolicyRule[]>>
  /** Places in the rules about commands, by each name that their first word has. */
  named: ReadonlyMap<string, readonly number[]>
}

const indexes = new WeakMap<readonly PolicyRule[], RuleIndex>()

export function rulesAbout(rules: readonly PolicyRule[], part: ActionPart): readonly PolicyRule[] {
  const index = indexes.get(rules) ?? indexOf(rules)
  indexes.set(rules, index)
  const { of, named } = index
  const names = part.kind === 'run' ? namesIn(part.command) : null
  if (names === null) return of[part.kind]
  const found = new Set<number>()
  for (const name of names) for (const at of named.get(name) ?? []) found.add(at)
  return [...found].sort((a, b) => a - b).flatMap((at) => of.run[at] ?? [])
}

function indexOf(rules: readonly PolicyRule[]): RuleIndex {
  const about = (kind: RuleSubject['kind']) => rules.filter(({ subject }) => subject.kind === kind)
  const [run, write, host] = [about('run'), about('write'), about('host')]
  const named = new Map<string, number[]>()
  for (const [at, { subject }] of run.entries()) {
    const [first] = subject.kind === 'run' ? subject.tokens : []
    for (const name of first === undefined ? [] : namesOf(first)) {
      named.set(name, [...(named.get(name) ?? []), at])
    }
  }
  return { of: { run, write, host, mcp: about('mcp'), call: about('call') }, named }
}
