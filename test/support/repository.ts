/**
 * A real repository for a test: one branch, one commit, a committer of its own, and nothing that
 * the machine's configuration adds. Git runs as a person would run it.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Without the configuration of the machine or of a repository around. */
export function git(folder: string, ...args: string[]): string {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CEILING_DIRECTORIES: join(folder, '..'),
  }
  return execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' }).trimEnd()
}

/** Makes `folder` a repository with one commit of one file on `main`. */
export function makeRepository(folder: string): void {
  git(folder, 'init', '--quiet', '--initial-branch', 'main')
  git(folder, 'config', 'user.name', 'Holon')
  git(folder, 'config', 'user.email', 'holon@example.org')
  writeFileSync(join(folder, 'README.md'), 'The whole.\n')
  git(folder, 'add', '.')
  git(folder, 'commit', '--quiet', '-m', 'begin')
}
