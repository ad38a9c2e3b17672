/**
 * What a parent has to know of a child's worktree before it acts on it: where it stands, how much
 * is in it, and whether it would merge. Reads only: a merge is tried on objects of our own.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileFault } from '../files/file-fault.ts'
import { textOf } from '../git/git.ts'
import { GitFault } from '../git/git-fault.ts'
import { headsOf } from './history.ts'
import { ignoredPaths } from './git-index.ts'
import { commitNamed, gitOf, type WorktreeLocation, readMark } from './place.ts'
import type { WorktreeFacts } from './port.ts'
import { changeCount } from './status.ts'

/** Null: there is no whole worktree, or nothing it could be merged into. */
export async function factsOf(
  place: WorktreeLocation,
  into: string,
): Promise<WorktreeFacts | null> {
  if (place.admin === null || (await readMark(place.admin)) === null) return null
  const { head, branch } = await headsOf(place)
  const target = await commitNamed(place, into)
  if (head === null || target === null) return null
  const ahead = Number(textOf(await gitOf(place, ['rev-list', '--count', `${target}..${head}`])))
  const uncommitted = await changeCount(place)
  const ignored = (await ignoredPaths(place)).length
  const merges = ahead === 0 ? true : await merged(place, target, head)
  return { branch, head, ahead, uncommitted, ignored, merges }
}

/** Whether it merges without a conflict; null: this git cannot try (before 2.38). */
async function merged(
  place: WorktreeLocation,
  into: string,
  head: string,
): Promise<boolean | null> {
  const write = join(place.view.folder, 'merge-objects')
  try {
    await mkdir(write, { mode: 0o700 })
  } catch (error) {
    throw fileFault(error, write)
  }
  try {
    const { code } = await gitOf(place, ['merge-tree', '--write-tree', into, head], {
      objects: { write, read: join(place.common, 'objects') },
      answers: [0, 1],
    })
    return code === 0
  } catch (error) {
    if (error instanceof GitFault && error.code === 'failed') return null
    throw error
  }
}
