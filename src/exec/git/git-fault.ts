/**
 * What can go wrong with git itself: one typed error, with what a caller may do about it. A
 * worktree that must not be removed is no fault but a value (`worktrees/port.ts`).
 */
export type GitFaultCode =
  | 'git_missing'
  | 'git_too_old'
  | 'not_a_repository'
  | 'no_commit'
  | 'unknown_revision'
  | 'invalid_name'
  | 'branch_taken'
  | 'path_taken'
  | 'worktree_missing'
  | 'worktree_busy'
  | 'snapshot_missing'
  | 'snapshot_too_large'
  | 'denied'
  | 'disk_full'
  | 'locked'
  | 'timeout'
  | 'too_much_output'
  | 'failed'

export class GitFault extends Error {
  readonly code: GitFaultCode
  readonly retry: 'now' | 'later' | 'never'

  constructor(code: GitFaultCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'GitFault'
    this.code = code
    this.retry = later.has(code) ? 'later' : 'never'
  }
}

const later: ReadonlySet<GitFaultCode> = new Set([
  'worktree_busy',
  'disk_full',
  'locked',
  'timeout',
  'failed',
])

const said: readonly [RegExp, GitFaultCode][] = [
  [/not a git repository|must be run in a work tree/, 'not_a_repository'],
  [/dubious ownership|Permission denied|Operation not permitted/i, 'denied'],
  [/No space left on device|Disk quota exceeded/, 'disk_full'],
  [/\.lock': File exists|cannot lock ref|unable to lock/i, 'locked'],
  [/unknown revision|Needed a single revision|bad revision/, 'unknown_revision'],
]

/** The fault for what git printed on stderr; `what` names the command that failed. */
export function saidByGit(what: string, stderr: string): GitFault {
  const text = stderr.trim().slice(0, 2_000)
  const code = said.find(([pattern]) => pattern.test(text))?.[1] ?? 'failed'
  return new GitFault(code, `${what}: ${text || 'it failed and did not say why'}`)
}

/** The lock file git found in its way, as its message names it; null when it is another fault. */
export const lockNamed = (fault: GitFault): string | null =>
  /'([^']+\.lock)': File exists/.exec(fault.message)?.[1] ?? null
