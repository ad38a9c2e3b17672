/**
 * What of the daemon's environment a command may see (security.md 11): an allow-list, never the
 * whole. Pure. Names that look like credentials, and names that make a program load or run foreign
 * code, are refused even when someone declares them.
 */

/** Names taken from the daemon's environment without being asked for. */
const allowed = ['PATH', 'HOME', 'LANG', 'TERM', 'TZ'] as const

/** Used when the daemon itself has no PATH: an empty one would run programs of the work folder. */
const PATH_WITHOUT_PARENT = '/usr/local/bin:/usr/bin:/bin'

/** Words that make a name a credential's, wherever they stand between underscores. */
const credentialWords = new Set(
  `KEY KEYS APIKEY SECRET SECRETS TOKEN TOKENS PASSWORD PASSWD PASSPHRASE PAT CREDENTIAL
  CREDENTIALS AUTH COOKIE PRIVATE DSN`.split(/\s+/),
)

const loadsForeignCode = [
  /^LD_/,
  /^DYLD_/,
  /^GIT_/,
  /^BASH_/,
  /^(NODE_OPTIONS|NODE_PATH|ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS4|IFS|CDPATH|GLOBIGNORE)$/,
  /^(PYTHONSTARTUP|PYTHONPATH|PYTHONHOME|PERL5OPT|PERL5LIB|PERL5DB|RUBYOPT|RUBYLIB)$/,
  /^(JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS)$/,
]

/**
 * `pass` names variables to take from the daemon's environment beside the fixed list; `set` gives
 * values of the runtime's own (`HOLON_TRIGGER_URL`).
 */
export type DeclaredEnvironment = {
  pass: readonly string[]
  set: Readonly<Record<string, string>>
}

/** Why a name never reaches a command, or null when it may. */
export function refusedName(name: string): 'not_a_name' | 'credential' | 'loads_code' | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return 'not_a_name'
  const upper = name.toUpperCase()
  if (loadsForeignCode.some((pattern) => pattern.test(upper))) return 'loads_code'
  return upper.split('_').some((word) => credentialWords.has(word)) ? 'credential' : null
}

/** The environment of a command. Refused names, and values with a NUL, are left out. */
export function childEnvironment(
  declared: DeclaredEnvironment,
  parent: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const env: Record<string, string> = {}
  const give = (name: string, value: string | undefined) => {
    if (value === undefined || value.includes('\0') || refusedName(name) !== null) return
    env[name] = value
  }
  for (const name of [...allowed, ...declared.pass]) give(name, parent[name])
  for (const [name, value] of Object.entries(declared.set)) give(name, value)
  if (!env['PATH']) env['PATH'] = PATH_WITHOUT_PARENT
  return env
}
