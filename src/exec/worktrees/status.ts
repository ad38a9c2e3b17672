/**
 * What a worktree holds that its removal would lose. Reads only: git takes no lock and writes no
 * index for it. A change that a flag of the index hides from git is found here all the same.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { recordsOf } from '../git/git.ts'
import { GitFault } from '../git/git-fault.ts'
import { GIT_TREE_MS, STATUS_SAMPLE } from '../git/git-limits.ts'
import { headsOf, unmerged } from './history.ts'
import { processesIn } from './in-use.ts'
import {
  hashFiles,
  ignoredPaths,
  type GitIndexEntry,
  indexEntries,
  submodulesOf,
} from './git-index.ts'
import { commitNamed, gitIn, type WorktreeLocation, readMark, textIn } from './place.ts'
import type { Operation, Some, WorktreeState, WorktreeStatus } from './port.ts'
import { halfRemoved } from './trash.ts'
import { shown, walk } from './walk.ts'

/** The reason of the lock that keeps `git worktree prune` away while a removal has moved it. */
export const LOCKED_FOR_REMOVAL = 'holon removes it'

const some = (paths: readonly string[]): Some<string> => ({
  count: paths.length,
  sample: paths.slice(0, STATUS_SAMPLE).map(shown),
})

export async function statusOf(place: WorktreeLocation, into: string): Promise<WorktreeStatus> {
  if ((await halfRemoved(place)) !== null) return { kind: 'removing' }
  const isThere = existsSync(place.path)
  if (place.admin === null) return { kind: 'absent' }
  if ((await readMark(place.admin)) === null) return { kind: 'half_made' }
  if (!isThere) return { kind: 'missing' }
  return { kind: 'present', ...(await stateOf(place, into)) }
}

/** The state of a registered worktree; of a missing one, what its private folder holds. */
export async function stateOf(place: WorktreeLocation, into: string): Promise<WorktreeState> {
  if (place.admin === null) throw new Error(`no state of ${place.path}: it is not registered`)
  const target = await commitNamed(place, into)
  if (target === null) {
    throw new GitFault('unknown_revision', `${into} names no commit of this repository`)
  }
  const heads = await headsOf(place)
  const entries = await indexEntries(place)
  return {
    head: heads.head,
    branch: heads.branch,
    ...(await changesOf(place, entries)),
    ignored: (await ignoredPaths(place)).length,
    ...(await unmerged(place, heads, target)),
    operation: operationOf(place.admin),
    submodules: some(submodulesOf(place, entries)),
    locked: await textIn(join(place.admin, 'locked')),
    used_by: await processesIn([place.work, place.admin]),
  }
}

type Changes = Pick<WorktreeState, 'staged' | 'unstaged' | 'untracked'>

async function changesOf(
  place: WorktreeLocation,
  entries: readonly GitIndexEntry[],
): Promise<Changes> {
  if (!existsSync(place.work)) {
    const args = ['diff-index', '--cached', '--name-only', '-z', '--no-renames', 'HEAD']
    const { out } = await gitIn(place, args, { answers: [0, 128] })
    return { staged: some(recordsOf(out)), unstaged: some([]), untracked: some([]) }
  }
  const changes = await changedPaths(place)
  const hidden = await hiddenChanges(place, entries)
  return {
    staged: some(changes.staged),
    unstaged: some([...new Set([...changes.unstaged, ...hidden])]),
    untracked: some(changes.untracked),
  }
}

/** How many paths of a working tree differ from its HEAD. */
export async function changeCount(place: WorktreeLocation): Promise<number> {
  const { staged, unstaged, untracked } = await changedPaths(place)
  return new Set([...staged, ...unstaged, ...untracked]).size
}

async function changedPaths(place: WorktreeLocation) {
  const args = ['status', '--porcelain=v2', '-z', '--untracked-files=all', '--ignored=no']
  const more = ['--ignore-submodules=dirty', '--no-renames', '--no-ahead-behind']
  const { out } = await gitIn(place, [...args, ...more], { timeout_ms: GIT_TREE_MS })
  const staged: string[] = []
  const unstaged: string[] = []
  const untracked: string[] = []
  for (const record of recordsOf(out)) {
    const kind = record[0]
    if (kind === '?') untracked.push(record.slice(2))
    if (kind === 'u') unstaged.push(afterFields(record, 10))
    if (kind !== '1') continue
    const path = afterFields(record, 8)
    if (record[2] !== '.') staged.push(path)
    if (record[3] !== '.') unstaged.push(path)
  }
  return { staged, unstaged, untracked }
}

/** What stands behind the first `count` fields of a record. */
const afterFields = (record: string, count: number): string =>
  record.split(' ').slice(count).join(' ')

/** Files whose index entry says "do not look": looked at, byte by byte. */
async function hiddenChanges(
  place: WorktreeLocation,
  entries: readonly GitIndexEntry[],
): Promise<string[]> {
  const flagged = new Map(
    entries.filter(({ tag, stage }) => tag !== 'H' && stage === 0).map((is) => [is.path, is]),
  )
  if (flagged.size === 0) return []
  const files = await walk(place.work, (path) => path === '.git')
  const there = files.filter(({ path }) => flagged.has(path))
  const plain = there.filter(({ kind }) => kind === 'file').map(({ path }) => path)
  const blobs = await hashFiles(place, place.work, plain, false)
  const same = new Set(plain.filter((path, at) => blobs[at] === flagged.get(path)?.blob))
  const gone = [...flagged.values()].filter(
    ({ tag, path }) => tag !== 'S' && !there.some((file) => file.path === path),
  )
  return [...there, ...gone].map(({ path }) => path).filter((path) => !same.has(path))
}

const operations: readonly [string, Operation][] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry_pick'],
  ['REVERT_HEAD', 'revert'],
  ['sequencer', 'cherry_pick'],
  ['BISECT_LOG', 'bisect'],
]

const operationOf = (admin: string): Operation | null =>
  operations.find(([name]) => existsSync(join(admin, name)))?.[1] ?? null
