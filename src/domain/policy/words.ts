/** What a policy says, in sentences for a person and for a model. */
import type { ShellDoubt, ShellWord } from '../shell/command.ts'
import type { ActionPart, Because } from './part.ts'
import type { PolicyRule, RuleSource, RuleSubject, RunToken } from './rule.ts'

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
      return `${of}: ${doubts[because.doubt]}.`
    case 'otherwise':
      return `${of}: no rule is about it, and otherwise has ${because.setting}.`
    case 'hook':
      return `${of}: the hook ${because.program} says ${because.why.replace(/\.$/, '')}.`
    case 'no_part':
      return 'Nothing of it is judged.'
  }
}

export function partWords(part: ActionPart): string {
  switch (part.kind) {
    case 'run':
      return part.command.argv.length === 0 ? 'the line' : part.command.argv.map(wordText).join(' ')
    case 'write':
      return `writing ${part.path.real_path}`
    case 'host':
      return `${part.host.name}:${part.host.port}`
    case 'mcp':
      return `${part.mcp.server}/${part.mcp.tool}`
    case 'call':
      return 'the call'
  }
}

export const wordText = (word: ShellWord): string =>
  typeof word === 'string'
    ? /^[\w@%+=:,./-]+$/.test(word)
      ? word
      : quoted(word)
    : `${word.starts}…`

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

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
