/**
 * The examples of a rule, tried: a line that it is to be about, and one that it is not. They are
 * judged as on a machine that has every program, in the rule's own place.
 */
import type { ReadSyntax } from '../shell/syntax.ts'
import type { ActionBody, Area } from './action.ts'
import { builtOf, type ActionPlaces } from './build.ts'
import { partsOf } from './decision.ts'
import { matchRule } from './match.ts'
import type { PolicyRule } from './rule.ts'

export type ExampleGiven = { match: readonly string[]; not_match: readonly string[] }

/** The first example that says otherwise, as a sentence; null: all hold. */
export function wrongExample(
  rule: PolicyRule,
  given: ExampleGiven,
  read: ReadSyntax,
): string | null {
  const missed = given.match.find((line) => !isAbout(rule, line, read, ['yes']))
  if (missed !== undefined) return `match: the rule is not about "${missed}"`
  const caught = given.not_match.find((line) => isAbout(rule, line, read, ['yes', 'maybe']))
  return caught === undefined ? null : `not_match: the rule is, or could be, about "${caught}"`
}

function isAbout(
  rule: PolicyRule,
  line: string,
  read: ReadSyntax,
  wanted: readonly string[],
): boolean {
  const area = rule.in ?? 'workspace'
  const { subject } = rule
  const written = subject.kind === 'write' && !line.startsWith('/') ? `/workspace/${line}` : line
  const reach = {
    lines: subject.kind === 'run' ? [{ text: line, folder: '/workspace' }] : [],
    writes: subject.kind === 'write' ? [written] : [],
    urls: subject.kind === 'host' ? [`https://${line}`] : [],
  }
  const action: ActionBody = {
    tool: 'ExecCommand',
    class: 'reattachable',
    agent: rule.agent ?? 'main',
    item: null,
    origin: rule.origin ?? 'operator',
    workspace: '/workspace',
    confined: true,
    mcp: null,
    ...builtOf(reach, read, placesOf(area)),
  }
  return partsOf(action).some((part) => wanted.includes(matchRule(rule, action, part).is))
}

const placesOf = (area: Area): ActionPlaces => ({
  place: (path) => ({ real_path: path, area }),
  program: (name) =>
    name.includes('/')
      ? { kind: 'found', real_path: name, area: 'outside', by: 'path' }
      : { kind: 'found', real_path: `/usr/bin/${name}`, area: 'outside', by: 'search' },
})
