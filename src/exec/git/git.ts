/**
 * The git program, run without a shell: arguments as a list, an environment of our own, a time
 * limit and an output limit on every call. No program that a repository names may run: whatever
 * does more than read a setting or a name runs in a view (`git-view.ts`), where the repository's
 * configuration is not in force; `quiet` is a second lock on the same door.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { GitFault, saidByGit } from './git-fault.ts'
import { GIT_CALL_MS, GIT_GRACE_MS, GIT_MIN_VERSION, GIT_OUTPUT_MAX_BYTES } from './git-limits.ts'

/**
 * One call. `cwd` is an existing folder. `git_dir` and `work_tree` are given wherever we know
 * them, so that a `.git` file somebody rewrote leads nowhere. `viewed`: the git folder is one of
 * ours; without it only `readers` may run. `answers` are the exit codes that are no failure
 * (default 0). `durable`: objects and names are on the disk when it returns.
 */
export type GitCall = {
  cwd: string
  args: readonly string[]
  git_dir?: string
  work_tree?: string
  index_file?: string
  /** Where new objects are written, and where those that are there already are read. */
  objects?: { write: string; read: string }
  stdin?: Uint8Array | string
  viewed?: boolean
  durable?: boolean
  timeout_ms?: number
  max_bytes?: number
  answers?: readonly number[]
}

export type GitAnswer = { code: number; out: Buffer }

/** Contract: rejects with `GitFault` only. A call that ran out of time was ended before. */
export type Git = (call: GitCall) => Promise<GitAnswer>

/**
 * - `program`: the git to run (default `git` in PATH).
 * - `parent_env`: of it only PATH, HOME, XDG_CONFIG_HOME and TMPDIR are passed on.
 * - `before`: told of each step ahead of it; what it throws ends the work there (for tests).
 */
export type GitOptions = {
  parent_env: Readonly<Record<string, string | undefined>>
  program?: string
  before?: (step: string) => void | Promise<void>
  call_ms?: number
}

const passed = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'TMPDIR'] as const

/** Settings that outweigh every configuration file, because they come last. */
const quiet: Readonly<Record<string, string>> = {
  // What would run a program of the repository's choosing.
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.pager': 'cat',
  'core.editor': 'false',
  'sequence.editor': 'false',
  'core.sshCommand': 'false',
  'core.askPass': 'false',
  'core.alternateRefsCommand': 'false',
  'credential.helper': '',
  'commit.gpgSign': 'false',
  'gpg.program': 'false',
  'gpg.ssh.program': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  // A missing object of a partial clone is a fault, not a reason to go to the network.
  'protocol.allow': 'never',
  'submodule.recurse': 'false',
  'worktree.useRelativePaths': 'false',
  // What would hide a change from a status.
  'core.untrackedCache': 'false',
  'core.ignoreStat': 'false',
  'core.checkStat': 'default',
  'core.trustctime': 'true',
  'core.quotePath': 'false',
  // Names are stored as they are; the container trees are never checked out.
  'core.protectNTFS': 'false',
  'core.protectHFS': 'false',
  'advice.detachedHead': 'false',
  'advice.graftFileDeprecated': 'false',
}

const durable: Readonly<Record<string, string>> = { 'core.fsync': 'committed,reference' }

/**
 * All that may run where a repository's own configuration is in force: they read it, and names.
 * None of them looks at a file of the working tree, runs a hook, or changes anything.
 */
const readers: ReadonlySet<string> = new Set(['version', 'config', 'rev-parse', 'symbolic-ref'])

/** The whole environment of one call. */
export function gitEnvironment(
  parent: Readonly<Record<string, string | undefined>>,
  call: Pick<GitCall, 'index_file' | 'objects' | 'viewed' | 'durable'>,
): Record<string, string> {
  const env: Record<string, string> = {
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    GIT_SSH_COMMAND: 'false',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'false',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_LAZY_FETCH: '1',
    // Outweighs every `protocol.*.allow`: a missing object never leads to a transport.
    GIT_ALLOW_PROTOCOL: 'none',
    // Replaced or grafted history would make a lost commit look merged.
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_AUTHOR_NAME: 'holon',
    GIT_AUTHOR_EMAIL: 'holon@localhost',
    GIT_COMMITTER_NAME: 'holon',
    GIT_COMMITTER_EMAIL: 'holon@localhost',
  }
  for (const name of passed) if (parent[name] !== undefined) env[name] = parent[name]
  if (call.viewed === true) {
    // What of these is data was copied into the view.
    env['GIT_CONFIG_NOSYSTEM'] = '1'
    env['GIT_CONFIG_GLOBAL'] = '/dev/null'
  }
  if (call.index_file !== undefined) env['GIT_INDEX_FILE'] = call.index_file
  if (call.objects !== undefined) {
    env['GIT_OBJECT_DIRECTORY'] = call.objects.write
    env['GIT_ALTERNATE_OBJECT_DIRECTORIES'] = JSON.stringify(call.objects.read)
  }
  const settings = [
    ...Object.entries(quiet),
    ...Object.entries(call.durable === true ? durable : {}),
  ]
  env['GIT_CONFIG_COUNT'] = String(settings.length)
  settings.forEach(([name, value], at) => {
    env[`GIT_CONFIG_KEY_${at}`] = name
    env[`GIT_CONFIG_VALUE_${at}`] = value
  })
  return env
}

/** Makes a runner of git calls. The version is asked once, before the first call. */
export function createGit(options: GitOptions): Git {
  let fit: Promise<void> | null = null
  const run: Git = async (call) => {
    if (call.viewed !== true && !readers.has(call.args[0] ?? '')) {
      throw new Error(`git ${call.args[0]} outside of a view`)
    }
    await options.before?.(`git ${call.args.slice(0, 2).join(' ')}`)
    return execute(options, call)
  }
  return async (call) => {
    fit ??= checkVersion((args) => execute(options, { cwd: '/', args }))
    try {
      await fit
    } catch (error) {
      fit = null
      throw error
    }
    return run(call)
  }
}

async function checkVersion(ask: (args: string[]) => Promise<GitAnswer>): Promise<void> {
  const text = (await ask(['version'])).out.toString().trim()
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(text) ?? []
  const [wantMajor, wantMinor] = GIT_MIN_VERSION
  const is = Number(major)
  if (is > wantMajor || (is === wantMajor && Number(minor) >= wantMinor)) return
  const want = GIT_MIN_VERSION.join('.')
  throw new GitFault('git_too_old', `this is ${text}; worktrees need git ${want} or newer`)
}

function execute(options: GitOptions, call: GitCall): Promise<GitAnswer> {
  const program = options.program ?? 'git'
  const args = [
    ...(call.git_dir === undefined ? [] : [`--git-dir=${call.git_dir}`]),
    ...(call.work_tree === undefined ? [] : [`--work-tree=${call.work_tree}`]),
    ...call.args,
  ]
  const what = `git ${call.args.slice(0, 2).join(' ')}`
  const limit = call.timeout_ms ?? options.call_ms ?? GIT_CALL_MS
  return new Promise((resolve, reject) => {
    let late = false
    const child = execFile(
      program,
      args,
      {
        cwd: call.cwd,
        env: gitEnvironment(options.parent_env, call),
        encoding: 'buffer',
        maxBuffer: call.max_bytes ?? GIT_OUTPUT_MAX_BYTES,
      },
      (error, out, stderr) => {
        clearTimeout(term)
        clearTimeout(kill)
        if (late) return reject(new GitFault('timeout', `${what}: no end after ${limit} ms`))
        const code = error === null ? 0 : error.code
        if (typeof code === 'number' && (call.answers ?? [0]).includes(code)) {
          return resolve({ code, out })
        }
        reject(faultOf(what, program, call.cwd, code, stderr.toString(), error))
      },
    )
    // A git that ends early closes its input; its own words say why.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(call.stdin ?? '')
    const term = setTimeout(() => {
      late = true
      child.kill('SIGTERM')
    }, limit)
    const kill = setTimeout(() => child.kill('SIGKILL'), limit + GIT_GRACE_MS)
  })
}

function faultOf(
  what: string,
  program: string,
  cwd: string,
  code: unknown,
  stderr: string,
  error: unknown,
): GitFault {
  if (code === 'ENOENT' && existsSync(cwd)) {
    return new GitFault('git_missing', `there is no program ${program}: install git`, error)
  }
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new GitFault('not_a_repository', `${cwd} is not a folder`, error)
  }
  if (code === 'EACCES') return new GitFault('denied', `${program} may not be run`, error)
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
    return new GitFault('too_much_output', `${what} printed more than it may`, error)
  }
  return saidByGit(what, stderr)
}

/** The text git printed, without the line end behind it. */
export const textOf = (answer: GitAnswer): string => answer.out.toString().replace(/\n$/, '')

/**
 * Paths are bytes to git and to the disk, and need not be UTF-8. Inside, a path is a string of
 * bytes: one character of code 0 to 255 for each.
 */
export const recordsOf = (out: Buffer): string[] => {
  const records = out.toString('latin1').split('\0')
  if (records.at(-1) === '') records.pop()
  return records
}
