/**
 * Snapshots of worktrees under `refs/holon/snapshots/<key>/<n>`: taken, listed, and compared with
 * what is there now. Taking one changes no file, no index and no other name.
 */
import { textOf } from '../git/git.ts'
import { GitFault } from '../git/git-fault.ts'
import { gitOf, type WorktreeLocation } from './place.ts'
import type { Snapshot } from './port.ts'
import { type Built, buildTree, comparable, type Limits, type Meta } from './tree.ts'

const ROOT = 'refs/holon/snapshots/'

type Named = { ref: string; commit: string; taken_at: string }

async function named(place: WorktreeLocation, under: string): Promise<Named[]> {
  const format = '--format=%(refname) %(objectname) %(committerdate:iso-strict)'
  const text = textOf(await gitOf(place, ['for-each-ref', format, under]))
  return text.split('\n').flatMap((line) => {
    const [ref = '', commit = '', at = ''] = line.split(' ')
    return /\/[1-9]\d*$/.test(ref) ? [{ ref, commit, taken_at: new Date(at).toISOString() }] : []
  })
}

const numberOf = (ref: string): number => Number(ref.slice(ref.lastIndexOf('/') + 1))

export async function readMeta(place: WorktreeLocation, commit: string): Promise<Meta> {
  const { out } = await gitOf(place, ['cat-file', 'blob', `${commit}:meta.json`])
  const meta = JSON.parse(out.toString()) as Meta
  if (meta.format === 1) return meta
  throw new GitFault('snapshot_missing', `${commit} was written by another version`)
}

async function described(
  place: WorktreeLocation,
  { ref, commit, taken_at }: Named,
): Promise<Snapshot> {
  const { path, heads, left_out } = await readMeta(place, commit)
  const key = ref.slice(ROOT.length, ref.lastIndexOf('/'))
  const of = { path, branch: heads.branch, head: heads.head }
  return { ref, commit, key, n: numberOf(ref), taken_at, of, left_out }
}

export async function listSnapshots(place: WorktreeLocation): Promise<Snapshot[]> {
  const all = (await named(place, ROOT)).sort(
    (a, b) => a.taken_at.localeCompare(b.taken_at) || numberOf(a.ref) - numberOf(b.ref),
  )
  const snapshots: Snapshot[] = []
  for (const one of all) snapshots.push(await described(place, one))
  return snapshots
}

export async function snapshotNamed(place: WorktreeLocation, ref: string): Promise<Named> {
  const found = ref.startsWith(ROOT) ? await named(place, ref) : []
  const one = found.find((snapshot) => snapshot.ref === ref)
  if (one !== undefined) return one
  throw new GitFault('snapshot_missing', `${ref} names no snapshot of this repository`)
}

export async function takeSnapshot(
  place: WorktreeLocation,
  key: string,
  limits: Limits,
): Promise<Snapshot> {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_-]*$/.test(key)) {
    throw new GitFault('invalid_name', `${key} cannot be part of a snapshot's name`)
  }
  const built = await buildTree(place, limits)
  const before = (await named(place, `${ROOT}${key}`)).sort(
    (a, b) => numberOf(a.ref) - numberOf(b.ref),
  )
  const last = before.at(-1)
  if (last !== undefined && (await holds(place, last.commit, built))) return described(place, last)
  const commit = await writeCommit(place, built)
  const n = last === undefined ? 1 : numberOf(last.ref) + 1
  const ref = `${ROOT}${key}/${n}`
  await gitOf(place, ['update-ref', ref, commit, '0'.repeat(commit.length)], { durable: true })
  return described(place, await snapshotNamed(place, ref))
}

async function writeCommit(
  place: WorktreeLocation,
  { tree, parents, meta }: Built,
): Promise<string> {
  const on = meta.heads.branch ?? 'a detached HEAD'
  const stdin = `snapshot of ${meta.path}\n\non ${on} at ${meta.heads.head ?? 'no commit'}\n`
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])]
  return textOf(await gitOf(place, args, { stdin, durable: true }))
}

/** Whether a snapshot's commit holds just what was built: the same files, index and commits. */
export async function holds(
  place: WorktreeLocation,
  commit: string,
  built: Built,
): Promise<boolean> {
  const args = ['rev-list', '--parents', '--max-count=1', commit]
  const parents = textOf(await gitOf(place, args))
    .split(' ')
    .slice(1)
  if (parents.join(' ') !== built.parents.join(' ')) return false
  const [kept, now] = [await comparable(place, commit), await comparable(place, built.tree)]
  return kept === now
}
