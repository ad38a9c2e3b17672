/**
 * What of the daemon's environment a command may see
 * (docs/spec/security.md#environment-of-commands): an allow-list, never the whole. Pure. Names that
 * look like credentials pass only where the configuration spells them out; names that make a
 * program load or run foreign code, and our own token, never.
 */

/** Names taken from the daemon's environment without being asked for. */
const allowed = ['PATH', 'HOME', 'LANG', 'TERM', 'TZ'] as const

/** Used when the daemon itself has no PATH: an empty one would run programs of the work folder. */
const PATH_WITHOUT_PARENT = '/usr/local/bin:/usr/bin:/bin'

/** Words that make a name a credential's, wherever they stand between underscores. */
const credentialWords = new Set(
  `KEY KEYS APIKEY SECRET SECRETS TOKEN TOKENS PASSWORD PASSWD PASSPHRASE PWD PASS PAT CREDENTIAL
  CREDENTIALS CREDS AUTH COOKIE COOKIES PRIVATE DSN BEARER JWT`.split(/\s+/),
)

/** `PWD` alone is a folder. */
const noCredential = new Set(['PWD', 'OLDPWD'])

const loadsForeignCode = [
  /^LD_/,
  /^DYLD_/,
  /^GIT_/,
  /^BASH_/,
  /^NPM_CONFIG_/,
  /^(NODE_OPTIONS|NODE_PATH|NODE_REPL_EXTERNAL_MODULE)$/,
  /^(ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS4|IFS|CDPATH|GLOBIGNORE|ZDOTDIR|FPATH)$/,
  /^(PYTHONSTARTUP|PYTHONPATH|PYTHONHOME|PYTHONUSERBASE|PYTHONBREAKPOINT|PYTHONINSPECT)$/,
  /^(PERL5OPT|PERL5LIB|PERLLIB|PERL5DB|RUBYOPT|RUBYLIB)$/,
  /^(JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS)$/,
  /^(GCONV_PATH|GLIBC_TUNABLES|LESSOPEN|LESSCLOSE)$/,
]

/** What opens our own door: a command that held it would act as the operator. */
const ours = new Set(['HOLON_CONTROL_TOKEN'])

/**
 * `pass` names variables to take from the daemon's environment beside the fixed list, as the
 * configuration declares them; `set` gives values of the runtime's own (`HOLON_TRIGGER_URL`).
 */
export type DeclaredEnvironment = {
  pass: readonly string[]
  set: Readonly<Record<string, string>>
}

export type RefusedName = 'not_a_name' | 'credential' | 'loads_code' | 'ours'

/**
 * Why a name does not reach a command by itself, or null when it may. `credential` is the only
 * reason that a declaration outweighs.
 */
export function refusedName(name: string): RefusedName | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return 'not_a_name'
  const upper = name.toUpperCase()
  if (ours.has(upper)) return 'ours'
  if (loadsForeignCode.some((pattern) => pattern.test(upper))) return 'loads_code'
  if (noCredential.has(upper)) return null
  return upper.split('_').some((word) => credentialWords.has(word)) ? 'credential' : null
}

/** The environment of a command. Refused names, and values with a NUL, are left out. */
export function childEnvironment(
  declared: DeclaredEnvironment,
  parent: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const env: Record<string, string> = {}
  const give = (name: string, value: string | undefined, refused: RefusedName | null) => {
    if (value === undefined || value.includes('\0') || refused !== null) return
    env[name] = value
  }
  for (const name of allowed) give(name, parent[name], null)
  for (const name of declared.pass) give(name, parent[name], refusalOfDeclared(name))
  for (const [name, value] of Object.entries(declared.set)) give(name, value, refusedName(name))
  env['PATH'] = absoluteOnly(env['PATH'] ?? '') || PATH_WITHOUT_PARENT
  return env
}

function refusalOfDeclared(name: string): RefusedName | null {
  const refused = refusedName(name)
  return refused === 'credential' ? null : refused
}

/** An empty or relative entry means the work folder: a program there would run by its name. */
function absoluteOnly(path: string): string {
  return path
    .split(':')
    .filter((entry) => entry.startsWith('/'))
    .join(':')
}
