/**
 * A worktree made again out of a snapshot: every file and link with its bits, empty folders, the
 * index, and git's private folder with reflog and unfinished operation. Nobody sees it as whole
 * before the mark; interrupted, it is cleared away and begun again.
 */
import { chmod, lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileFault } from '../files/file-fault.ts'
import { recordsOf, textOf } from '../git/git.ts'
import { GitFault } from '../git/git-fault.ts'
import { GIT_OUTPUT_MAX_BYTES, GIT_TREE_MS, RESTORE_CHUNK_BYTES } from '../git/git-limits.ts'
import { beginMaking, finish, freePath, makingPath } from './add.ts'
import { headsOf, tipOf } from './history.ts'
import { registerWorktree } from './make.ts'
import { adminOf, baseRef, gitOf, type WorktreeLocation, readMark } from './place.ts'
import type { WorktreeRestore } from './port.ts'
import { readMeta, snapshotNamed } from './snapshot.ts'
import { type Meta, unguarded } from './tree.ts'
import { diskPath } from './walk.ts'

type Entry = { mode: string; blob: string; size: number; path: string }

export async function restoreWorktree(
  place: WorktreeLocation,
  ref: string,
): Promise<WorktreeRestore> {
  const { commit } = await snapshotNamed(place, ref)
  const meta = await readMeta(place, commit)
  const mark = place.admin === null ? null : await readMark(place.admin)
  if (mark?.restored !== ref || !existsSync(place.path)) await rebuild(place, ref, commit, meta)
  else await rm(makingPath(place.path), { force: true })
  const admin = await adminOf(place.common, 'worktrees', place.path)
  const heads = await headsOf({ ...place, admin })
  const was = meta.heads.branch
  const on = heads.branch === was
  return {
    path: place.path,
    head: heads.head,
    branch: heads.branch,
    detached_because: on ? null : `the branch ${was} has moved on or is in use elsewhere`,
    left_out: meta.left_out,
  }
}

async function rebuild(
  place: WorktreeLocation,
  ref: string,
  commit: string,
  meta: Meta,
): Promise<void> {
  const free = await freePath(place)
  await beginMaking(free)
  const admin = await registerWorktree(free, meta.heads.head ?? commit)
  const target = { ...free, admin }
  await writeSection(target, commit, 'worktree/', free.path, meta)
  await writeSection(target, commit, 'admin/', admin, meta)
  await writeIndex(target, commit, admin)
  for (const path of meta.submodules) await relinkSubmodule(target, admin, meta, path)
  await place.machine.before('HEAD')
  const head = await headFor(target, meta)
  await writeFile(join(admin, 'HEAD'), `${head}\n`)
  const { base_commit, heads } = meta
  await finish(target, { branch: heads.made ?? '', base_commit, restored: ref })
}

/** What HEAD says: the branch of then, made again when it is gone, or else just the commit. */
async function headFor(place: WorktreeLocation, { heads, base_commit }: Meta): Promise<string> {
  if (heads.made !== null && heads.made_tip !== null) {
    await makeBranch(place, heads.made, heads.made_tip)
    const base = ['update-ref', baseRef(heads.made), base_commit]
    await gitOf(place, base)
  }
  const { branch, head } = heads
  if (branch === null) return head ?? ''
  const name = `refs/heads/${branch}`
  if (head === null) {
    if ((await tipOf(place, branch)) === null) return `ref: ${name}`
    throw new GitFault('branch_taken', `${branch} had no commit then and has one now`)
  }
  await makeBranch(place, branch, head)
  const used = textOf(await gitOf(place, ['for-each-ref', '--format=%(worktreepath)', name]))
  const free = (await tipOf(place, branch)) === head && (used === '' || used === place.path)
  return free ? `ref: ${name}` : head
}

async function makeBranch(place: WorktreeLocation, branch: string, tip: string): Promise<void> {
  if ((await tipOf(place, branch)) !== null) return
  const name = `refs/heads/${branch}`
  await gitOf(place, ['update-ref', name, tip, '0'.repeat(tip.length)])
}

async function entriesIn(
  place: WorktreeLocation,
  commit: string,
  section: string,
): Promise<Entry[]> {
  const args = ['ls-tree', '-r', '-l', '-z', '--full-tree', commit, '--', section]
  const { out } = await gitOf(place, args, { timeout_ms: GIT_TREE_MS })
  return recordsOf(out).map((record) => {
    const tab = record.indexOf('\t')
    const [mode = '', , blob = '', size = ''] = record.slice(0, tab).split(/ +/)
    const path = unguarded(record.slice(tab + 1 + section.length))
    return { mode, blob, size: Number(size), path }
  })
}

async function writeSection(
  place: WorktreeLocation,
  commit: string,
  section: string,
  root: string,
  meta: Meta,
): Promise<void> {
  await place.machine.before(`write ${section}`)
  const modes = new Map(meta.modes)
  for (const folder of meta.folders) {
    if (folder.startsWith(section)) await makeFolder(root, folder.slice(section.length))
  }
  for (const chunk of chunksOf(await entriesIn(place, commit, section))) {
    const bytes = await contentsOf(place, chunk)
    for (const [at, entry] of chunk.entries()) {
      const content = bytes[at] ?? Buffer.alloc(0)
      const mode = modes.get(section + entry.path) ?? (entry.mode === '100755' ? 0o755 : 0o644)
      await writeEntry(root, entry, content, mode)
    }
  }
}

async function makeFolder(root: string, path: string): Promise<void> {
  const file = diskPath(root, path)
  await mkdir(file, { recursive: true }).catch((error: unknown) => {
    throw fileFault(error, file.toString())
  })
}

async function writeEntry(root: string, entry: Entry, bytes: Buffer, mode: number) {
  const parent = entry.path.lastIndexOf('/')
  if (parent !== -1) await makeFolder(root, entry.path.slice(0, parent))
  const file = diskPath(root, entry.path)
  try {
    if (entry.mode === '120000') return await symlink(bytes, file)
    await writeFile(file, bytes, { mode: 0o600 })
    await chmod(file, mode)
  } catch (error) {
    throw fileFault(error, file.toString())
  }
}

/** Entries in groups whose contents fit into memory. */
function chunksOf(entries: readonly Entry[]): Entry[][] {
  const chunks: Entry[][] = []
  let chunk: Entry[] = []
  let bytes = 0
  for (const entry of entries) {
    if (bytes + entry.size > RESTORE_CHUNK_BYTES) {
      chunks.push(chunk)
      chunk = []
      bytes = 0
    }
    chunk.push(entry)
    bytes += entry.size
  }
  return [...chunks, chunk].filter(({ length }) => length > 0)
}

async function contentsOf(place: WorktreeLocation, entries: readonly Entry[]): Promise<Buffer[]> {
  const wanted = entries.reduce((sum, { size }) => sum + size + 128, 0)
  const { out } = await gitOf(place, ['cat-file', '--batch'], {
    stdin: entries.map(({ blob }) => `${blob}\n`).join(''),
    max_bytes: Math.max(wanted, GIT_OUTPUT_MAX_BYTES),
    timeout_ms: GIT_TREE_MS,
  })
  let from = 0
  return entries.map(({ blob, size, path }) => {
    const start = out.indexOf(0x0a, from) + 1
    if (out.toString('latin1', from, start) !== `${blob} blob ${size}\n`) {
      throw new GitFault('snapshot_missing', `the snapshot's content of ${path} is gone`)
    }
    from = start + size + 1
    return out.subarray(start, start + size)
  })
}

async function writeIndex(place: WorktreeLocation, commit: string, admin: string): Promise<void> {
  const call = { answers: [0, 128], max_bytes: GIT_OUTPUT_MAX_BYTES * 2 }
  const { code, out } = await gitOf(place, ['cat-file', 'blob', `${commit}:index.raw`], call)
  await place.machine.before('write index')
  if (code === 0) await writeFile(join(admin, 'index'), out)
}

/** A submodule and its repository name each other by path: both are told where they are now. */
async function relinkSubmodule(place: WorktreeLocation, admin: string, meta: Meta, path: string) {
  if (admin === meta.admin && place.path === meta.path) return
  const link = diskPath(place.path, `${path}/.git`)
  const text = (await readFile(link, 'utf8').catch(() => '')).trim()
  const named = /^gitdir: (.*)$/.exec(text)?.[1]
  if (named === undefined) return
  const shown = Buffer.from(path, 'latin1').toString()
  const inside = relative(meta.admin, resolve(meta.path, shown, named))
  if (!inside.startsWith('modules/')) return
  const repository = join(admin, inside)
  // Both came out of the snapshot: a link in their place would have us write somewhere else.
  if (!(await isPlainFile(link)) || !(await isPlainFile(join(repository, 'config')))) return
  const tree = join(place.path, shown)
  await writeFile(link, `gitdir: ${relative(tree, repository)}\n`)
  const key = ['config', '--file', join(repository, 'config'), 'core.worktree']
  await gitOf(place, [...key, relative(dirname(join(repository, 'HEAD')), tree)])
}

const isPlainFile = async (path: string | Buffer): Promise<boolean> =>
  (await lstat(path).catch(() => null))?.isFile() === true
