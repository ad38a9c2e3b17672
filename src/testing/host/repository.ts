/**
 * A real repository in a temporary folder with the worktrees of one child, and pictures of them
 * that can be compared whole. `interrupt` makes the next run stop ahead of the n-th step that
 * changes something, as if killed; `watch.step` hears of every step.
 */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Worktrees } from '../../exec/worktrees/port.ts'
import { createWorktrees, type WorktreeOptions } from '../../exec/worktrees/worktrees.ts'

export class Interrupted extends Error {}

/** Steps that change nothing: to be killed ahead of one is to be killed behind the one before. */
const reads = new RegExp(
  '^git (config|rev-parse|symbolic-ref|ls-files|status|cat-file|rev-list|for-each-ref|ls-tree|' +
    'show-ref|check-ref-format|check-attr|diff-index)',
)

export type Bench = ReturnType<typeof worktreeBench>

const environment = (home: string) => ({
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: home,
  LC_ALL: 'C',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
  GIT_ALLOW_PROTOCOL: 'file',
})

export function worktreeBench(options: Partial<WorktreeOptions> = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-worktree-')))
  const root = join(folder, 'project')
  const path = join(folder, 'worktrees', 'task_1')
  const env = environment(folder)
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
      .toString()
      .trimEnd()
  const put = (file: string, text: string | Uint8Array, mode = 0o644): void => {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { mode })
  }
  const commit = (cwd: string, file: string, text: string, says = `change ${file}`): string => {
    put(join(cwd, file), text)
    git(cwd, 'add', '--', file)
    git(cwd, 'commit', '-q', '-m', says)
    return git(cwd, 'rev-parse', 'HEAD')
  }

  let steps = 0
  let stopAt = Infinity
  const watch = { step: (_: string): void => undefined }
  const before = (step: string): void => {
    watch.step(step)
    if (reads.test(step)) return
    steps += 1
    if (steps >= stopAt) throw new Interrupted(`stopped ahead of step ${steps}: ${step}`)
  }
  const make = (): Worktrees =>
    createWorktrees({
      parent_env: env,
      scratch_folder: join(folder, 'scratch'),
      before,
      ...options,
    })
  /** Runs `act` on a fresh start of the program; stops ahead of step `at` when there is one. */
  const interrupt = async <T>(at: number, act: (trees: Worktrees) => Promise<T>) => {
    steps = 0
    stopAt = at
    try {
      return { ended: true as const, value: await act(make()) }
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error
      return { ended: false as const }
    } finally {
      stopAt = Infinity
    }
  }

  git(folder, 'init', '-q', '-b', 'main', root)
  const first = commit(root, 'readme.md', 'first\n')
  const repository = join(root, '.git')
  return {
    folder,
    root,
    repository,
    path,
    env,
    first,
    git,
    put,
    commit,
    make,
    interrupt,
    watch,
    trees: make(),
    add: { repository: root, path, branch: 'holon/child' },
    status: { repository, path, into: 'main' },
    remove: { repository, path, into: 'main', branch: 'holon/child', leases: () => [] },
    end: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Everything below a folder: kind, permission bits and content, by the bytes of its name. */
export function filesIn(root: string): Record<string, string> {
  const picture: Record<string, string> = {}
  const look = (relative: Buffer): void => {
    const path = Buffer.concat([Buffer.from(`${root}/`), relative])
    const stat = lstatSync(path)
    const name = relative.toString('latin1')
    if (name === '.git') return
    if (stat.isDirectory()) {
      const names = readdirSync(path, { encoding: 'buffer' })
      if (names.length === 0 && name !== '') picture[name] = 'empty folder'
      for (const inner of names) {
        look(name === '' ? inner : Buffer.concat([relative, Buffer.from('/'), inner]))
      }
      return
    }
    const mode = (stat.mode & 0o7777).toString(8)
    if (stat.isSymbolicLink()) picture[name] = `link to ${readlinkSync(path, 'latin1')}`
    else if (stat.isFile()) picture[name] = `${mode} ${readFileSync(path).toString('latin1')}`
    else picture[name] = 'special'
  }
  if (existsSync(root)) look(Buffer.alloc(0))
  return picture
}

/** A worktree as its user would compare it: files, index, HEAD, status and reflog. */
export function pictureOf(bench: Pick<Bench, 'git'>, path: string) {
  return {
    files: filesIn(path),
    index: bench.git(path, 'ls-files', '--stage', '-v', '-z'),
    status: bench.git(path, 'status', '--porcelain=v2', '-z', '--branch', '-uall'),
    head: bench.git(path, 'rev-parse', '--symbolic-full-name', 'HEAD'),
    reflog: bench.git(path, 'reflog', 'HEAD', '--format=%H %gs'),
  }
}
