/**
 * Whether a rule is about a part of an action: yes, no, or only running it would say. A permission
 * is read strictly and the rest broadly: a program of the same name elsewhere is not allowed by it.
 */
import type { ActionMcp, ActionPath, ActionBody } from './action.ts'
import { matchGlob } from './glob.ts'
import { matchHost } from './host.ts'
import type { ActionPart, Match } from './part.ts'
import { matchRun } from './run-match.ts'
import type { PolicyRule, RuleSubject } from './rule.ts'

const no: Match = { is: 'no', length: 0 }

export function matchRule(rule: PolicyRule, action: ActionBody, part: ActionPart): Match {
  if (rule.origin !== null && rule.origin !== action.origin) return no
  if (rule.agent !== null && rule.agent !== action.agent) return no
  const { subject } = rule
  switch (subject.kind) {
    case 'run': {
      if (part.kind !== 'run') return no
      const match = matchRun(subject.tokens, part.command, rule.decide)
      return inside(rule, part.command.cwd?.area ?? null, match)
    }
    case 'write':
      if (part.kind !== 'write') return no
      return inside(rule, part.path.area, matchWrite(subject.globs, part.path, action.workspace))
    case 'host':
      return part.kind === 'host'
        ? longestOf(subject.hosts, (one) => matchHost(one, part.host))
        : no
    case 'mcp':
      return part.kind === 'mcp' ? matchMcp(subject, part.mcp) : no
    case 'call':
      return part.kind === 'call' ? matchCall(subject, action) : no
  }
}

/** A place that is not known could be the rule's. */
function inside(rule: PolicyRule, area: string | null, match: Match): Match {
  if (rule.in === null || match.is === 'no') return match
  if (area === null) return { ...match, is: 'maybe' }
  const isThere = area === rule.in || (rule.in === 'own' && area === 'records')
  return isThere ? match : no
}

function longestOf(patterns: readonly string[], fits: (pattern: string) => boolean): Match {
  const lengths = patterns.filter(fits).map((pattern) => pattern.length)
  return lengths.length === 0 ? no : { is: 'yes', length: Math.max(...lengths) }
}

/** Patterns begin in the workspace, unless they begin with a slash. */
function matchWrite(globs: readonly string[], { real_path }: ActionPath, workspace: string): Match {
  const below = `${workspace === '/' ? '' : workspace}/`
  const within = real_path.startsWith(below) ? real_path.slice(below.length) : null
  return longestOf(globs, (glob) => {
    if (glob.startsWith('/') || glob.startsWith('**/')) return matchGlob(glob, real_path)
    return within !== null && matchGlob(glob, within)
  })
}

function matchMcp({ tools, unless }: RuleSubject & { kind: 'mcp' }, mcp: ActionMcp): Match {
  const conditions = Object.keys(unless).length
  const spared =
    conditions > 0 &&
    (unless.pinned ?? mcp.pinned) === mcp.pinned &&
    (unless.read_only ?? mcp.read_only) === mcp.read_only
  if (spared) return no
  return longestOf(tools, (one) => matchGlob(one, `${mcp.server}/${mcp.tool}`))
}

function matchCall(subject: RuleSubject & { kind: 'call' }, action: ActionBody): Match {
  const { tools, classes } = subject
  if (tools.length > 0 && !tools.includes(action.tool)) return no
  if (classes.length > 0 && !classes.includes(action.class)) return no
  return { is: 'yes', length: tools.length > 0 ? 2 : 1 }
}
