/**
 * What a policy says of an action. Each part of it is judged: every command, every file that is
 * written, every host, the tool of a server, and the call as a whole; the strictest part decides.
 * Of one part a denial is stronger than a question and that stronger than a permission, and among
 * equals the longest match has the words. What could match, once it runs, is asked; what nobody
 * can say is never allowed.
 */
import type { ActionBody } from './action.ts'
import { mayBeLifted } from './lift.ts'
import { matchRule } from './match.ts'
import type { ActionPart, Because, Match } from './part.ts'
import type { Policy, PolicyRule, Verdict } from './rule.ts'
import { rulesAbout } from './rules-about.ts'
import { whyOf } from './words.ts'

export type PolicyDecision = {
  decide: Verdict
  because: Because
  part: ActionPart
  /** A sentence for whoever asked: the rule's own words, where it has some. */
  why: string
  /** Of the policy. */
  revision: string
  /** All parts that are asked about, where a grant may answer for them; null: none may. */
  lifts: readonly ActionPart[] | null
}

type Ruling = Pick<PolicyDecision, 'decide' | 'because'>
type Judged = { ruling: Ruling; part: ActionPart }

export const strictness: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 }

export function decideAction(action: ActionBody, policy: Policy): PolicyDecision {
  return decideParts(action, partsOf(action), policy)
}

function decideParts(
  action: ActionBody,
  parts: readonly ActionPart[],
  policy: Policy,
): PolicyDecision {
  let strictest: Judged | null = null
  const asked: ActionPart[] = []
  for (const part of parts) {
    const ruling = ruleOn(action, part, policy)
    if (ruling === null) continue
    if (ruling.decide === 'ask') asked.push(part)
    if (strictest && strictness[ruling.decide] <= strictness[strictest.ruling.decide]) continue
    strictest = { ruling, part }
  }
  if (strictest === null) return unjudged(policy)
  const isLifted = strictest.ruling.decide === 'ask' && mayBeLifted(action, parts, policy)
  return decided(strictest, policy, isLifted ? asked : null)
}

/** Of what has no part that is judged. */
export function unjudged(policy: Pick<Policy, 'asking' | 'preset' | 'revision'>): PolicyDecision {
  const ruling = { decide: 'allow', because: { by: 'no_part' } } as const
  return decided({ ruling, part: { kind: 'call' } }, policy, null)
}

/**
 * What becomes of a ruling: where nobody is there to be asked, a question is a refusal. `lifts` is
 * what a grant may answer of a question.
 */
export function decided(
  { ruling, part }: Judged,
  policy: Pick<Policy, 'asking' | 'preset' | 'revision'>,
  lifts: PolicyDecision['lifts'],
): PolicyDecision {
  const why = whyOf(ruling.because, part)
  const { revision } = policy
  if (ruling.decide !== 'ask') return { ...ruling, part, why, revision, lifts: null }
  if (policy.asking === 'operator') return { ...ruling, part, why, revision, lifts }
  const unasked = `Nobody is asked with the preset ${policy.preset}, so it is refused. ${why}`
  return { ...ruling, decide: 'deny', part, why: unasked, revision, lifts: null }
}

/**
 * What the strictest of several policies says; of equals the first. There is one at least. A grant
 * answers only for all that any of them asks about, and for nothing where one lets none answer.
 */
export function decideByAll(action: ActionBody, policies: readonly Policy[]): PolicyDecision {
  const parts = partsOf(action)
  const decisions = policies.map((policy) => decideParts(action, parts, policy))
  const strictest = strictestOf(decisions)
  if (strictest.decide !== 'ask') return strictest
  const asking = decisions.filter(({ decide }) => decide === 'ask')
  if (asking.some(({ lifts }) => lifts === null)) return { ...strictest, lifts: null }
  const lifts = parts.filter((part) => asking.some((one) => one.lifts?.includes(part)))
  return { ...strictest, lifts }
}

/** Of equals the first. */
export const strictestOf = (decisions: readonly PolicyDecision[]): PolicyDecision =>
  decisions.reduce((all, one) => (strictness[one.decide] > strictness[all.decide] ? one : all))

export function partsOf(action: ActionBody): ActionPart[] {
  return [
    ...action.commands.map((command): ActionPart => ({ kind: 'run', command })),
    ...action.paths
      .filter(({ op }) => op === 'write')
      .map((path): ActionPart => ({ kind: 'write', path })),
    ...action.hosts.map((host): ActionPart => ({ kind: 'host', host })),
    ...(action.mcp === null ? [] : [{ kind: 'mcp', mcp: action.mcp } satisfies ActionPart]),
    { kind: 'call' },
  ]
}

type Found = { rule: PolicyRule; match: Match & { is: 'yes' | 'maybe' } }

/** What the policy says of one part; null: nothing, and nothing else has to. */
function ruleOn(action: ActionBody, part: ActionPart, policy: Policy): Ruling | null {
  const found = standing(
    rulesAbout(policy.rules, part).flatMap((rule): Found[] => {
      if (rule.source.from === 'preset' && keepsRecords(action)) return []
      const match = matchRule(rule, action, part)
      return match.is === 'no' ? [] : [{ rule, match: { ...match, is: match.is } }]
    }),
  )
  const denied = longest(found, ({ rule, match }) => rule.decide === 'deny' && match.is === 'yes')
  if (denied) return by('deny', denied)
  const asked = longest(found, ({ rule, match }) => rule.decide === 'ask' && match.is === 'yes')
  if (asked) return by('ask', asked)
  if (part.kind === 'run' && !part.command.certain) {
    const { doubt, in_doubt } = part.command
    return { decide: 'ask', because: { by: 'doubt', doubt, in_doubt } }
  }
  const possible = longest(found, ({ rule }) => rule.decide !== 'allow')
  if (possible) return by('ask', possible)
  const allowed = longest(found, ({ match }) => match.is === 'yes')
  return allowed ? by('allow', allowed) : otherwise(action, part, policy)
}

/**
 * A question of the preset gives way to a permission that the operator wrote and that says at least
 * as much. Nothing else gives way: a repository's rules only come on top.
 */
function standing(found: readonly Found[]): readonly Found[] {
  const own = longest(
    found,
    ({ rule, match }) =>
      rule.decide === 'allow' && rule.source.from === 'home' && match.is === 'yes',
  )
  if (own === null) return found
  return found.filter(
    ({ rule, match }) =>
      rule.decide === 'allow' || rule.source.from !== 'preset' || match.length > own.match.length,
  )
}

/**
 * Memory, notes and plans are what an agent is told to keep, and no effect on what is a person's: a
 * call that writes nothing else is judged by the rules that somebody wrote.
 */
const keepsRecords = ({ commands, paths, hosts, mcp }: ActionBody): boolean =>
  commands.length + hosts.length === 0 &&
  mcp === null &&
  paths.length > 0 &&
  paths.every(({ area }) => area === 'records')

function by(decide: Verdict, { rule, match }: Found): Ruling {
  return { decide, because: { by: 'rule', rule, match: match.is === 'yes' ? 'is' : 'could_be' } }
}

function longest(found: readonly Found[], fits: (one: Found) => boolean): Found | null {
  let best: Found | null = null
  for (const one of found) {
    if (fits(one) && (best === null || one.match.length > best.match.length)) best = one
  }
  return best
}

function otherwise(action: ActionBody, part: ActionPart, { otherwise }: Policy): Ruling | null {
  const { run, write, host, mcp } = otherwise
  switch (part.kind) {
    case 'run': {
      const decide = run !== 'sandboxed' ? run : action.confined ? 'allow' : 'ask'
      return { decide, because: { by: 'otherwise', of: 'run', has: run, decide } }
    }
    case 'write': {
      const { area } = part.path
      if (area === 'records') return null
      const isFree = area === 'workspace' || area === 'own'
      const decide = write !== 'workspace' ? write : isFree ? 'allow' : 'ask'
      return { decide, because: { by: 'otherwise', of: 'write', has: write, decide } }
    }
    case 'host':
      return { decide: host, because: { by: 'otherwise', of: 'host', has: host, decide: host } }
    case 'mcp':
      return { decide: mcp, because: { by: 'otherwise', of: 'mcp', has: mcp, decide: mcp } }
    case 'call':
      return null
  }
}
