/** A line judged by rules, on a machine that has every program. */
import { sealAction, type PolicyAction } from '../../src/domain/policy/action.ts'
import { builtOf, type ActionPlaces } from '../../src/domain/policy/build.ts'
import { decideAction, type PolicyDecision } from '../../src/domain/policy/decision.ts'
import type { Policy, PolicyRule } from '../../src/domain/policy/rule.ts'
import type { ReadSyntax } from '../../src/domain/shell/syntax.ts'
import { readPolicyValue } from '../../src/protocol/policy-file.ts'
import { actionBody } from '../../src/testing/action-body.ts'
import { sha256 } from '../../src/tools/tool/sha256.ts'

/** The workspace is /w; what is named by a path elsewhere is there, too. */
const places: ActionPlaces = {
  place: (path) => {
    const real_path = new URL(path, 'file:///').pathname
    const isIn = real_path === '/w' || real_path.startsWith('/w/')
    return { real_path, area: isIn ? 'workspace' : 'outside' }
  },
  program: (name, folder) => {
    if (!name.includes('/')) {
      return { kind: 'found', real_path: `/usr/bin/${name}`, area: 'outside', by: 'search' }
    }
    const place = places.place(name.startsWith('/') ? name : `${folder}/${name}`)
    const by = place.real_path.startsWith('/usr/bin/') ? 'search' : 'path'
    return { kind: 'found', ...place, by }
  },
}

export function rulesOf(rules: unknown, from: 'home' | 'repository' = 'home'): PolicyRule[] {
  const read = readPolicyValue({ rules }, from, { file: 'policy.json', line: () => 1 })
  if (!read.ok) throw new Error(`${read.at.join('.')}: ${read.why}`)
  return read.policy.rules.map(({ rule }) => rule)
}

export const policyOf = (rules: readonly PolicyRule[], more: Partial<Policy> = {}): Policy => ({
  revision: 'r',
  preset: 'work',
  rules,
  otherwise: { run: 'allow', write: 'allow', host: 'allow', mcp: 'allow' },
  asking: 'operator',
  ...more,
})

export const judgeLine = (line: string, policy: Policy, read: ReadSyntax): PolicyDecision =>
  decideAction(actionOfLine(line, read), policy)

export function actionOfLine(line: string, read: ReadSyntax): PolicyAction {
  const built = builtOf(
    { lines: [{ text: line, folder: '/w' }], writes: [], urls: [] },
    read,
    places,
  )
  return sealAction(actionBody({ confined: true, ...built }), sha256)
}
