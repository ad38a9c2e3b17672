/**
 * The real git worktrees (contract: `Worktrees` in `port.ts`): opens the place, waits for
 * its turn in the repository, and clears a lock that no living process can hold.
 */
import { statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { uptime } from 'node:os'
import { dirname, join } from 'node:path'
import { fileFault } from '../files/file-fault.ts'
import { createGit, type GitOptions } from '../git/git.ts'
import { GitFault, lockNamed } from '../git/git-fault.ts'
import { clearViews } from '../git/git-view.ts'
import { within } from '../git/within.ts'
import { addWorktree, clearHalfMade } from './add.ts'
import { adminOf, commonDir, findRepository, type WorktreePorts, namesIn } from './place.ts'
import { openPlace, type WorktreeLocation, readMark, VIEW_PREFIX } from './place.ts'
import type { Pruned, Worktrees } from './port.ts'
import { factsOf } from './facts.ts'
import { objectionTo, removeWorktree } from './remove.ts'
import { restoreWorktree } from './restore.ts'
import { listSnapshots, takeSnapshot } from './snapshot.ts'
import { statusOf } from './status.ts'
import { deleteVerified, halfRemoved } from './trash.ts'
import { type Limits, snapshotLimits } from './tree.ts'

/**
 * `scratch_folder`: ours alone, for files needed during a call (0700; made when missing).
 * `started_at`: when the machine started, in milliseconds since 1970 (default: as it says).
 */
export type WorktreeOptions = GitOptions & {
  scratch_folder: string
  limits?: Partial<Limits>
  started_at?: () => number
}

export function createWorktrees(options: WorktreeOptions): Worktrees {
  const git = createGit(options)
  const before = async (step: string) => options.before?.(step)
  const machine: WorktreePorts = { git, before, scratch_folder: options.scratch_folder }
  const limits = { ...snapshotLimits, ...options.limits }
  const started = options.started_at ?? (() => Date.now() - uptime() * 1_000)
  const turns = new Map<string, Promise<unknown>>()
  let cleared: Promise<void> | null = null

  /** One call after the other in a repository: each sees what the one before left. */
  async function inTurn<T>(repository: string, act: (common: string) => Promise<T>): Promise<T> {
    await (cleared ??= clearViews(options.scratch_folder, VIEW_PREFIX))
    const common = await commonDir(git, repository)
    if (common === null) throw new GitFault('not_a_repository', `${repository} has no repository`)
    const run = () => act(common)
    const turn = (turns.get(common) ?? Promise.resolve()).then(run, run)
    turns.set(common, turn)
    try {
      return await turn
    } finally {
      if (turns.get(common) === turn) turns.delete(common)
    }
  }
  const at = <T>(repository: string, path: string, act: (place: WorktreeLocation) => Promise<T>) =>
    inTurn(repository, async (common) => {
      const run = async () => {
        const place = await openPlace(machine, common, path)
        try {
          return await act(place)
        } finally {
          await place.view.close()
        }
      }
      try {
        return await run()
      } catch (error) {
        if (await clearedDeadLock(error, started())) return run()
        throw typed(error, path)
      }
    })

  return {
    repository: (folder) => findRepository(git, folder),
    add: (request) => at(request.repository, request.path, (place) => addWorktree(place, request)),
    status: ({ repository, path, into }) => at(repository, path, (place) => statusOf(place, into)),
    snapshot: ({ repository, path, key }) =>
      at(repository, path, async (place) => {
        if ((await halfRemoved(place)) === null) return takeSnapshot(place, key, limits)
        throw new GitFault('worktree_busy', `${place.path} is being removed`)
      }),
    list_snapshots: (repository) => at(repository, repository, listSnapshots),
    restore: ({ repository, ref, path }) =>
      at(repository, path, (place) => restoreWorktree(place, ref)),
    remove: (request) =>
      at(request.repository, request.path, (place) => removeWorktree(place, request, limits)),
    objection: (request) =>
      at(request.repository, request.path, (place) => objectionTo(place, request, limits)),
    facts: ({ repository, path, into, within_ms }) =>
      within(
        within_ms,
        at(repository, path, (place) => factsOf(place, into)),
      ),
    prune: ({ repository, folder }) => at(repository, join(folder, 'any'), (place) => prune(place)),
  }
}

/** What the system said about a file gets a name; a fault has one, and a bug stays a bug. */
const typed = (error: unknown, path: string): unknown =>
  error instanceof Error && 'syscall' in error ? fileFault(error, path) : error

/**
 * A lock that stood there before the machine last started has no holder. Any other is left alone:
 * the fault names it, and a person who knows that no git runs can delete it.
 */
async function clearedDeadLock(error: unknown, started: number): Promise<boolean> {
  const lock = error instanceof GitFault ? lockNamed(error) : null
  if (lock === null) return false
  const made = statSync(lock, { throwIfNoEntry: false })
  if (made !== undefined && made.ctimeMs >= started) return false
  await rm(lock, { force: true })
  return true
}

/** Ends what was interrupted in the folder of `place`: deletions that were verified, half-made. */
async function prune(place: WorktreeLocation): Promise<Pruned> {
  const folder = dirname(place.path)
  const finished: string[] = []
  const cleared: string[] = []
  for (const name of await namesIn(folder)) {
    const path = /^(.*)\.removed-\d+$/.exec(name)?.[1]
    const parked = path && (await adminOf(place.common, 'holon-removed', join(folder, path)))
    if (!path || !parked) continue
    const one = { ...place, path: join(folder, path) }
    const half = await halfRemoved(one)
    if (half === null || half.verified === null) continue
    finished.push(one.path)
    await deleteVerified(one, { folder: half.folder, verified: half.verified })
  }
  for (const name of await namesIn(folder)) {
    const path = join(folder, /^(.*)\.making$/.exec(name)?.[1] ?? '')
    const admin = path === folder ? null : await adminOf(place.common, 'worktrees', path)
    if (admin === null || (await readMark(admin)) !== null) continue
    cleared.push(path)
    await clearHalfMade({ ...place, path, work: path, admin }, admin)
  }
  return { finished, cleared }
}
