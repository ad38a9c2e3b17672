/**
 * Names of hosts and the patterns that allow them: one form for both, by the rules of URLs, before
 * anything is compared. Pure. An address as numbers, however it is spelled, is no name.
 */
import type { ActionHost } from './action.ts'
import type { PolicyRule } from './rule.ts'

/** `name` is in the form of URLs; `*` and `*.name` stand for names, no port for every port. */
export type HostPattern = { is: 'one' | 'below' | 'any'; name: string; port: number | null }

/** Characters of a whole name: DNS has no longer one. */
const LONGEST = 253

/** What `name`, `name:port`, `*.name` or `*` means; null: it is none of them. */
export function hostPattern(text: string): HostPattern | null {
  const [, written = '', digits] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? []
  const port = digits === undefined ? null : portOf(digits)
  if (written === '' || (digits !== undefined && port === null)) return null
  if (written === '*') return { is: 'any', name: '', port }
  const is = written.startsWith('*.') ? 'below' : 'one'
  const name = urlName(is === 'below' ? written.slice(2) : written)
  if (name === null || !(isName(name) || (is === 'one' && isAddress(name)))) return null
  return { is, name, port }
}

export function matchHost(text: string, host: ActionHost): boolean {
  const pattern = hostPattern(text)
  if (pattern === null || (pattern.port ?? host.port) !== host.port) return false
  switch (pattern.is) {
    case 'any':
      return true
    case 'below':
      return host.name.endsWith(`.${pattern.name}`)
    case 'one':
      return host.name === pattern.name
  }
}

/** What a client of a proxy asks for, `name:port`; null: it names no host by a name. */
export function askedHost(text: string): ActionHost | null {
  const [, written = '', digits = ''] = /^([^:]+):(\d{1,5})$/.exec(text) ?? []
  const [name, port] = [urlName(written), portOf(digits)]
  return name === null || port === null || !isName(name) ? null : { name, port }
}

function portOf(digits: string): number | null {
  const port = Number(digits)
  return port >= 1 && port <= 65_535 ? port : null
}

/** As a URL has it: lower case, punycode, no dot at the end, an address in its usual spelling. */
function urlName(written: string): string | null {
  // What would end the name, or stand before it, in a URL; and what a URL leaves out of it.
  if (/[\s/\\?#@%]/.test(written)) return null
  const url = URL.parse(`http://${written}/`)
  if (url === null || url.port !== '') return null
  const name = url.hostname.replace(/\.$/, '')
  return name === '' ? null : name
}

/** As URLs write them; a rule may be about one, though none is ever a name. */
const isAddress = (name: string): boolean => /^(\[[\da-f:.]+\]|[\d.]+)$/.test(name)

function isName(name: string): boolean {
  const labels = name.split('.')
  const isLabel = (label: string) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)
  return name.length <= LONGEST && labels.every(isLabel) && !/^\d+$/.test(labels.at(-1) ?? '')
}

/** What of a policy is in force for a connection: of its rules those about hosts. */
export type HostRules = { rules: readonly PolicyRule[]; agent: string }

export type HostRuling =
  | { allow: true }
  /** `rule`: the one that refuses; null: nothing allows it. */
  | { allow: false; rule: PolicyRule | null }

/**
 * Whether a confined command may reach the host: what the configuration lists and what rules of
 * the operator's file allow is one list, and a rule of any file that denies or asks takes from it,
 * since nobody is asked about a connection. What a preset says, or holds otherwise, adds nothing.
 * On whose words a command connects is not known: a rule with an origin counts where it takes.
 */
export function ruleOnHost(
  host: ActionHost,
  listed: readonly string[],
  { rules, agent }: HostRules,
): HostRuling {
  const about = rules.filter(
    ({ subject, agent: only }) =>
      subject.kind === 'host' &&
      (only === null || only === agent) &&
      subject.hosts.some((pattern) => matchHost(pattern, host)),
  )
  const against = about.find(({ decide }) => decide === 'deny')
  const asking = about.find(({ decide }) => decide === 'ask')
  if (against ?? asking) return { allow: false, rule: against ?? asking ?? null }
  const isAllowed = about.some(
    ({ decide, origin, source }) => decide === 'allow' && origin === null && source.from === 'home',
  )
  if (isAllowed || listed.some((pattern) => matchHost(pattern, host))) return { allow: true }
  return { allow: false, rule: null }
}
