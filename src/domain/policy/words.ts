/** What a policy says, in sentences for a person and for a model. */
import type { ShellDoubt } from '../shell/command.ts'
import { wordText } from '../shell/words.ts'
import type { Area } from './action.ts'
import type { ActionPart, Because } from './part.ts'
import type { Otherwise, PolicyRule, RuleSource, RuleSubject, RunToken } from './rule.ts'

const doubts: Readonly<Record<ShellDoubt, string>> = {
  unparsed: 'it is no valid line of the shell',
  too_long: 'the line is too long to be read',
  too_deep: 'commands in it stand too deep in others',
  no_parser: 'there is no parser of shell lines',
  unknown_program: 'which program it runs is known only when it runs',
  runs_text: 'it runs a text that comes from elsewhere',
  redefined: 'the line gives the name of a program another meaning',
  environment: 'it sets a variable that decides what runs',
  unknown_wrapper: 'it runs another program in a way that is not known',
}

/** The rule's own words, or what it is. */
export function whyOf(because: Because, part: ActionPart): string {
  const of = partWords(part)
  switch (because.by) {
    case 'rule': {
      const { rule, match } = because
      const says = rule.why === '' ? `${sourceWords(rule.source)} says ${rule.decide}` : rule.why
      return match === 'is' ? `${of}: ${says}.` : `${of} could be what a rule is about: ${says}.`
    }
    case 'doubt':
      return `${because.in_doubt ?? of}: ${doubts[because.doubt]}.`
    case 'otherwise':
      return otherwiseWords(because, part)
    case 'hook':
      return `${of}: the hook ${because.program} says ${because.why.replace(/\.$/, '')}.`
    case 'no_part':
      return 'Nothing of it is judged.'
  }
}

/** In words of what it does: the person who reads it may never have seen a file of rules. */
function otherwiseWords(
  { of, has, decide }: Because & { by: 'otherwise' },
  part: ActionPart,
): string {
  const { does, such } = deeds[of]
  const would = `It would ${does} ${partWords(part).replace(/^writing /, '')}`
  switch (has) {
    case 'workspace':
      return part.kind === 'write'
        ? `${would}, which is ${areaWords[part.path.area]}.`
        : `${would}.`
    case 'sandboxed':
      return `${would}, and ${decide === 'allow' ? 'it is' : 'nothing is'} confined here.`
    case 'allow':
      return `${would}: ${such} that no rule is about is free here.`
    case 'ask':
      return `${would}: ${such} that no rule allows is asked about here.`
    case 'deny':
      return `${would}: ${such} that no rule allows is refused here.`
  }
}

const deeds: Readonly<Record<keyof Otherwise, { does: string; such: string }>> = {
  run: { does: 'run', such: 'every command' },
  write: { does: 'write', such: 'every file' },
  host: { does: 'reach', such: 'every host' },
  mcp: { does: 'use', such: 'every tool of a server' },
}

const areaWords: Readonly<Record<Area, string>> = {
  workspace: 'in the workspace',
  own: "in the agent's own folder",
  records: "in the agent's own records",
  home: 'in the folder of Holon itself',
  git: 'in what git keeps of a repository',
  credentials: 'a place of credentials',
  outside: 'outside of the workspace',
}

export function partWords(part: ActionPart): string {
  switch (part.kind) {
    case 'run':
      return part.command.argv.length === 0 ? 'the line' : part.command.argv.map(wordText).join(' ')
    case 'write':
      return `writing ${part.path.as ?? part.path.real_path}`
    case 'host':
      return `${part.host.name}:${part.host.port}`
    case 'mcp':
      return `${part.mcp.server}/${part.mcp.tool}`
    case 'call':
      return 'the call'
  }
}

export function sourceWords(source: RuleSource): string {
  switch (source.from) {
    case 'preset':
      return `preset ${source.preset}`
    case 'home':
    case 'repository':
      return `${source.file}:${source.line}`
  }
}

/** What a rule is about, in a line. */
export function ruleWords({ subject, in: area, origin, agent }: PolicyRule): string {
  const about = subjectWords(subject)
  const only = [area && `in ${area}`, origin && `from ${origin}`, agent && `by ${agent}`]
  return [about, ...only.filter((one) => one !== null)].join(' ')
}

function subjectWords(subject: RuleSubject): string {
  switch (subject.kind) {
    case 'run':
      return `run ${subject.tokens.map(tokenText).join(' ')}`
    case 'write':
      return `write ${subject.globs.join(', ')}`
    case 'host':
      return `host ${subject.hosts.join(', ')}`
    case 'mcp':
      return `mcp ${subject.tools.join(', ')}`
    case 'call':
      return ['call', ...subject.tools, ...subject.classes].join(' ')
  }
}

function tokenText(token: RunToken): string {
  if (typeof token === 'string') return wordText(token)
  return 'any' in token ? `{${token.any.join('|')}}` : token.map(wordText).join('|')
}
