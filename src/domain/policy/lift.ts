/**
 * Which questions a person's standing yes may answer: those of a preset and of the operator's own
 * file, about what is known whole. Nothing that a repository asks or denies, nothing that a denial
 * could be about, and nothing that is in doubt.
 */
import type { ActionBody } from './action.ts'
import { matchRule } from './match.ts'
import type { ActionPart } from './part.ts'
import type { Policy, PolicyRule } from './rule.ts'
import { rulesAbout } from './rules-about.ts'

/** Whether nothing stands against it that gives way to nobody. */
export function mayBeLifted(
  action: ActionBody,
  parts: readonly ActionPart[],
  { rules }: Pick<Policy, 'rules'>,
): boolean {
  if (!action.commands.every(({ certain }) => certain)) return false
  return !parts.some((part) =>
    rulesAbout(rules, part).some(
      (rule) => isFirm(rule) && matchRule(rule, action, part).is !== 'no',
    ),
  )
}

const isFirm = ({ decide, source }: PolicyRule): boolean =>
  decide === 'deny' || (decide === 'ask' && source.from === 'repository')
