/**
 * What the index of a worktree lists, and what git ignores in it. Reads only.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { recordsOf } from '../git/git.ts'
import { GIT_TREE_MS } from '../git/git-limits.ts'
import { gitIn, gitOf, type WorktreeLocation } from './place.ts'
import { diskPath } from './walk.ts'

/** `tag` as `git ls-files -v` has it: `H` plain, lower case assumed unchanged, `S` skipped. */
export type GitIndexEntry = { tag: string; mode: string; blob: string; stage: number; path: string }

export async function indexEntries(place: WorktreeLocation): Promise<GitIndexEntry[]> {
  if (place.admin === null || !existsSync(join(place.admin, 'index'))) return []
  const args = ['ls-files', '-z', '-v', '--stage']
  const { out } = await gitIn(place, args, { timeout_ms: GIT_TREE_MS })
  return recordsOf(out).map((record) => {
    const tab = record.indexOf('\t')
    const [tag = '', mode = '', blob = '', stage = ''] = record.slice(0, tab).split(' ')
    return { tag, mode, blob, stage: Number(stage), path: record.slice(tab + 1) }
  })
}

/** Ignored paths; a folder that is ignored whole ends in a slash. */
export async function ignoredPaths(place: WorktreeLocation): Promise<string[]> {
  if (!existsSync(place.work)) return []
  const args = ['ls-files', '-z', '-o', '-i', '--exclude-standard', '--directory']
  return recordsOf((await gitIn(place, args, { timeout_ms: GIT_TREE_MS })).out)
}

export const submodulesOf = (
  place: WorktreeLocation,
  entries: readonly GitIndexEntry[],
): string[] =>
  entries
    .filter(({ mode, path }) => mode === '160000' && hasRepository(place, path))
    .map(({ path }) => path)

const hasRepository = (place: WorktreeLocation, path: string): boolean =>
  existsSync(diskPath(place.work, `${path}/.git`))

/** A path as `git hash-object --stdin-paths` reads it: in quotes, bytes as octal. */
const quoted = (path: string): string =>
  `"${path.replace(/[^ !#-[\]-~]/g, (byte) => `\\${octal(byte)}`)}"`

const octal = (byte: string): string => byte.charCodeAt(0).toString(8).padStart(3, '0')

/**
 * The ids of files as they are on the disk, without any conversion, in the order given. With
 * `keep` the objects are stored. Paths are relative to `folder`.
 */
export async function hashFiles(
  place: WorktreeLocation,
  folder: string,
  paths: readonly string[],
  keep: boolean,
): Promise<string[]> {
  if (paths.length === 0) return []
  const args = ['hash-object', ...(keep ? ['-w'] : []), '--no-filters', '--stdin-paths']
  const { out } = await gitOf(place, args, {
    cwd: folder,
    stdin: `${paths.map(quoted).join('\n')}\n`,
    durable: keep,
    timeout_ms: GIT_TREE_MS,
  })
  return out.toString().trimEnd().split('\n')
}
