/**
 * A worktree as one git tree, built beside it: the files under `worktree/`, git's private folder
 * under `admin/`, the blobs of the index under `index-<stage>/`, what a tree cannot say in
 * `meta.json`, and the index itself as `index.raw`. Files are stored byte for byte, without any
 * conversion. The same worktree gives the same tree, but for `index.raw`: git rewrites it.
 */
import { copyFile, mkdir, mkdtemp, readlink, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileFault } from '../files/file-fault.ts'
import { recordsOf, textOf } from '../git/git.ts'
import { GitFault } from '../git/git-fault.ts'
import {
  GIT_TREE_MS,
  SNAPSHOT_FILE_BYTES,
  SNAPSHOT_IGNORED_BYTES,
  SNAPSHOT_IGNORED_FILES,
  STATUS_SAMPLE,
} from '../git/git-limits.ts'
import { headsOf, type Heads, knownCommits, outermost } from './history.ts'
import { hashFiles, ignoredPaths, indexEntries, submodulesOf } from './git-index.ts'
import { gitOf, type WorktreeMarker, namesIn, type WorktreeLocation, readMark } from './place.ts'
import type { LeftOut, Some } from './port.ts'
import { diskPath, type Found, shown, walk } from './walk.ts'

/** Paths are strings of bytes (see `recordsOf`); `modes` are permissions a tree has no room for. */
export type Meta = {
  format: 1
  path: string
  admin: string
  heads: Heads
  /** Not the whole mark: a restored worktree is the same as the one before. */
  base_commit: string
  modes: [path: string, mode: number][]
  folders: string[]
  flags: [tag: string, path: string][]
  submodules: string[]
  left_out: Some<LeftOut>
}

export type Limits = { ignored_bytes: number; ignored_files: number; file_bytes: number }

export const snapshotLimits: Limits = {
  ignored_bytes: SNAPSHOT_IGNORED_BYTES,
  ignored_files: SNAPSHOT_IGNORED_FILES,
  file_bytes: SNAPSHOT_FILE_BYTES,
}

export type Built = { tree: string; parents: string[]; meta: Meta }

type Stored = { path: string; mode: string; blob: string }

/** Of the private folder: what is made anew with a worktree, and locks, which are nobody's work. */
const notStored = /^(index|gitdir|commondir|locked|holon|holon\.new|(?!modules\/).*\.lock)$/

/** A tree refuses `.git` as a name: it stands there with a `%` before it, as what has one has. */
const guarded = (path: string): string =>
  path
    .split('/')
    .map((name) => (/^(%|\.git$)/i.test(name) ? `%${name}` : name))
    .join('/')

export const unguarded = (path: string): string =>
  path
    .split('/')
    .map((name) => name.replace(/^%/, ''))
    .join('/')

export async function buildTree(place: WorktreeLocation, limits: Limits): Promise<Built> {
  const { admin, machine } = place
  if (admin === null) throw new GitFault('worktree_missing', `${place.path} is no worktree`)
  const mark = await readMark(admin)
  if (mark === null) throw new GitFault('worktree_busy', `${place.path} is not made to its end`)
  await machine.before('scratch folder')
  const scratch = await freshScratch(machine.scratch_folder, `${basename(place.path)}-`)
  try {
    return await buildIn(place, admin, mark, scratch, limits)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/**
 * A folder nobody had before: a git of an earlier process, cut off from its input, may still write
 * what it has into the folder it was given.
 */
async function freshScratch(folder: string, start: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of await namesIn(folder)) {
    if (name.startsWith(start))
      await rm(join(folder, name), { recursive: true, force: true, maxRetries: 5 })
  }
  return mkdtemp(join(folder, start))
}

async function buildIn(
  place: WorktreeLocation,
  admin: string,
  mark: WorktreeMarker,
  scratch: string,
  limits: Limits,
): Promise<Built> {
  const heads = await headsOf(place)
  const entries = await indexEntries(place)
  const chosen = choose(
    await walk(place.work, (path) => path === '.git'),
    new Set(entries.map(({ path }) => path)),
    await ignoredPaths(place),
    limits,
  )
  const own = await walk(admin, (path) => notStored.test(path))
  const meta: Meta = {
    format: 1,
    path: place.path,
    admin,
    heads,
    base_commit: mark.base_commit,
    modes: [...modesOf('worktree/', chosen.take), ...modesOf('admin/', own)],
    folders: [...foldersOf('worktree/', chosen.take), ...foldersOf('admin/', own)],
    flags: entries.filter(({ tag }) => tag !== 'H').map(({ tag, path }) => [tag, path]),
    submodules: submodulesOf(place, entries),
    left_out: chosen.left_out,
  }
  const stored = [
    ...(await store(place, place.work, 'worktree/', chosen.take, join(scratch, 'links'))),
    ...(await store(place, admin, 'admin/', own, join(scratch, 'own-links'))),
    ...entries.map(({ stage, path, mode, blob }) => ({
      path: `index-${stage}/${guarded(path)}`,
      mode,
      blob,
    })),
    ...(await storeText(place, admin, scratch, meta)),
  ]
  const parents = await outermost(place, await knownCommits(place, heads), heads.head)
  return { tree: await writeTree(place, join(scratch, 'index'), stored), parents, meta }
}

/** Everything but the largest ignored files, when all of those would be over the limit. */
function choose(
  found: readonly Found[],
  tracked: ReadonlySet<string>,
  ignored: readonly string[],
  limits: Limits,
): { take: Found[]; left_out: Some<LeftOut> } {
  const names = new Set(ignored)
  const isIgnored = (path: string): boolean => {
    if (tracked.has(path)) return false
    if (names.has(path) || names.has(`${path}/`)) return true
    for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
      if (names.has(path.slice(0, end + 1))) return true
    }
    return false
  }
  const take: Found[] = []
  const maybe: Found[] = []
  const left: LeftOut[] = []
  for (const file of [...found].sort(byPath)) {
    if (file.kind === 'special') left.push(leftOut(file, 'special'))
    else if (isIgnored(file.path)) maybe.push(file)
    else if (file.size <= limits.file_bytes) take.push(file)
    else {
      const says = `has ${file.size} bytes; a snapshot takes files of ${limits.file_bytes}`
      throw new GitFault('snapshot_too_large', `${shown(file.path)} ${says}`)
    }
  }
  let bytes = 0
  for (const [at, file] of maybe.sort((a, b) => a.size - b.size || byPath(a, b)).entries()) {
    bytes += file.size
    if (bytes <= limits.ignored_bytes && at < limits.ignored_files) take.push(file)
    else left.push(leftOut(file, 'ignored_limit'))
  }
  return { take, left_out: { count: left.length, sample: left.slice(0, STATUS_SAMPLE) } }
}

const byPath = (a: Found, b: Found): number => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)

const leftOut = ({ path, size }: Found, because: LeftOut['because']): LeftOut => ({
  path: shown(path),
  bytes: size,
  because,
})

const modesOf = (section: string, files: readonly Found[]): [string, number][] =>
  files
    .filter(({ kind, mode }) => kind === 'file' && mode !== 0o644 && mode !== 0o755)
    .sort(byPath)
    .map(({ path, mode }) => [section + path, mode])

const foldersOf = (section: string, files: readonly Found[]): string[] =>
  files
    .filter(({ kind }) => kind === 'folder')
    .sort(byPath)
    .map(({ path }) => section + path)

async function store(
  place: WorktreeLocation,
  root: string,
  section: string,
  found: readonly Found[],
  scratch: string,
): Promise<Stored[]> {
  const files = found.filter(({ kind }) => kind === 'file')
  const links = found.filter(({ kind }) => kind === 'link')
  const fileBlobs = await hashFiles(
    place,
    root,
    files.map(({ path }) => path),
    true,
  )
  await mkdir(scratch, { recursive: true })
  for (const [at, { path }] of links.entries()) {
    try {
      const target = await readlink(diskPath(root, path), 'buffer')
      await writeFile(join(scratch, String(at)), target)
    } catch (error) {
      throw fileFault(error, shown(path))
    }
  }
  const targets = links.map((_, at) => String(at))
  const linkBlobs = await hashFiles(place, scratch, targets, true)
  return [
    ...files.map(({ path, mode }, at) => ({
      path: section + guarded(path),
      mode: (mode & 0o100) === 0 ? '100644' : '100755',
      blob: fileBlobs[at] ?? '',
    })),
    ...links.map(({ path }, at) => ({
      path: section + guarded(path),
      mode: '120000',
      blob: linkBlobs[at] ?? '',
    })),
  ]
}

async function storeText(
  place: WorktreeLocation,
  admin: string,
  scratch: string,
  meta: Meta,
): Promise<Stored[]> {
  await writeFile(join(scratch, 'meta.json'), `${JSON.stringify(meta)}\n`)
  const names = ['meta.json']
  if (existsSync(join(admin, 'index'))) {
    names.push('index.raw')
    await copyFile(join(admin, 'index'), join(scratch, 'index.raw'))
  }
  const blobs = await hashFiles(place, scratch, names, true)
  return names.map((path, at) => ({ path, mode: '100644', blob: blobs[at] ?? '' }))
}

async function writeTree(
  place: WorktreeLocation,
  index_file: string,
  stored: readonly Stored[],
): Promise<string> {
  const lines = stored.map(({ path, mode, blob }) => `${mode} ${blob}\t${path}\0`).join('')
  const call = { index_file, durable: true, timeout_ms: GIT_TREE_MS }
  await gitOf(place, ['update-index', '-z', '--index-info'], {
    ...call,
    stdin: Buffer.from(lines, 'latin1'),
  })
  return textOf(await gitOf(place, ['write-tree', '--missing-ok'], call))
}

/** What two snapshots are compared by: all but the raw index. */
export async function comparable(place: WorktreeLocation, tree: string): Promise<string> {
  const { out } = await gitOf(place, ['ls-tree', '-z', tree])
  return recordsOf(out)
    .filter((record) => !record.endsWith('\tindex.raw'))
    .join('\n')
}
