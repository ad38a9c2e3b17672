/**
 * The commits a worktree knows and nobody else might: of HEAD, its branch, its reflogs, and the
 * private names git keeps while it merges or rebases. Reads only.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { textOf } from '../git/git.ts'
import { STATUS_SAMPLE } from '../git/git-limits.ts'
import { baseRef, gitIn, gitOf, type WorktreeLocation, readMark, textIn } from './place.ts'
import type { CommitLine, Some } from './port.ts'
import { diskPath, walk } from './walk.ts'

/** `branch` is the short name HEAD stands on; `made` the branch the worktree was made for. */
export type Heads = {
  head: string | null
  branch: string | null
  made: string | null
  made_tip: string | null
}

export async function headsOf(place: WorktreeLocation): Promise<Heads> {
  const quiet = { answers: [0, 1, 128] }
  const head = await gitIn(place, ['rev-parse', '--verify', '-q', 'HEAD^{commit}'], quiet)
  const branch = await gitIn(place, ['symbolic-ref', '-q', 'HEAD'], quiet)
  const mark = place.admin === null ? null : await readMark(place.admin)
  const made = mark?.branch || null
  return {
    head: head.code === 0 ? textOf(head) : null,
    branch: branch.code === 0 ? textOf(branch).replace(/^refs\/heads\//, '') : null,
    made,
    made_tip: made === null ? null : await tipOf(place, made),
  }
}

/** Where a branch stands; null: there is none of that name. */
export async function tipOf(place: WorktreeLocation, branch: string): Promise<string | null> {
  const args = ['rev-parse', '--verify', '-q', `refs/heads/${branch}^{commit}`]
  const answer = await gitOf(place, args, { answers: [0, 1] })
  return answer.code === 0 ? textOf(answer) : null
}

/** Files of the private folder that name no work of this worktree. */
const foreign = /^(index|gitdir|commondir|locked|holon|FETCH_HEAD|modules\/.*|.*\.lock)$/

/** Every commit the worktree names anywhere, each once, sorted. */
export async function knownCommits(place: WorktreeLocation, heads: Heads): Promise<string[]> {
  const texts: string[] = [heads.head ?? '', heads.made_tip ?? '']
  if (place.admin !== null) {
    const files = await walk(place.admin, (path) => foreign.test(path) || path === 'modules')
    for (const { path, kind } of files) {
      if (kind === 'file' && !path.startsWith('sharedindex.')) {
        texts.push(await readFile(diskPath(place.admin, path), 'latin1'))
      }
    }
  }
  for (const branch of new Set([heads.branch, heads.made])) {
    if (branch !== null) {
      texts.push((await textIn(join(place.common, 'logs/refs/heads', branch))) ?? '')
    }
  }
  const ids = new Set(texts.join('\n').match(/\b([0-9a-f]{64}|[0-9a-f]{40})\b/g) ?? [])
  return commitsAmong(place, [...ids].sort())
}

async function commitsAmong(place: WorktreeLocation, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const args = ['cat-file', '--batch-check=%(objecttype) %(objectname)']
  const { out } = await gitOf(place, args, { stdin: `${ids.join('\n')}\n` })
  const lines = out.toString().split('\n')
  return lines.flatMap((line) => (line.startsWith('commit ') ? [line.slice(7)] : []))
}

/** The commits that `from` reach and the revisions of `not` (arguments of rev-list) do not. */
async function commitLines(
  place: WorktreeLocation,
  from: readonly string[],
  not: readonly string[],
): Promise<Some<CommitLine>> {
  if (from.length === 0) return { count: 0, sample: [] }
  const call = { stdin: `${from.join('\n')}\n` }
  const list = ['rev-list', '--stdin', ...not]
  const count = Number(textOf(await gitOf(place, [...list, '--count'], call)))
  if (count === 0) return { count, sample: [] }
  const format = [`--max-count=${STATUS_SAMPLE}`, '--no-commit-header', '--format=%H%x09%s']
  const lines = textOf(await gitOf(place, [...list, ...format], call)).split('\n')
  const sample = lines.map((line) => {
    const [commit = '', ...subject] = line.split('\t')
    return { commit, subject: subject.join('\t').slice(0, 200) }
  })
  return { count, sample }
}

export async function unmerged(
  place: WorktreeLocation,
  heads: Heads,
  into: string,
): Promise<{ unmerged: Some<CommitLine>; reflog_only: Some<CommitLine> }> {
  const tips = [heads.head, heads.made_tip].filter((tip) => tip !== null)
  const missing = await commitLines(place, tips, ['--not', into])
  const own = [heads.branch, heads.made].filter((branch) => branch !== null)
  // Names that go away with the worktree protect nothing; all others, and snapshots, do.
  const going = own.flatMap((branch) => [`refs/heads/${branch}`, baseRef(branch)])
  const others = [...going.map((ref) => `--exclude=${ref}`), '--all']
  const known = await knownCommits(place, heads)
  const from = known.filter((commit) => !tips.includes(commit))
  const lost = await commitLines(place, from, ['--not', into, ...tips, ...others])
  return { unmerged: missing, reflog_only: lost }
}

/** The fewest of `commits` that reach all of them, HEAD first: the parents of a snapshot. */
export async function outermost(
  place: WorktreeLocation,
  commits: readonly string[],
  head: string | null,
): Promise<string[]> {
  if (commits.length === 0) return []
  const not = head === null ? [] : ['--not', head]
  const call = { stdin: `${commits.join('\n')}\n` }
  const { out } = await gitOf(place, ['rev-list', '--stdin', '--parents', ...not], call)
  const lines = out
    .toString()
    .split('\n')
    .filter((line) => line !== '')
  const reached = new Set(lines.flatMap((line) => line.split(' ').slice(1)))
  const ends = lines.map((line) => line.slice(0, line.search(/ |$/)))
  const outer = ends.filter((commit) => !reached.has(commit)).sort()
  return head === null ? outer : [head, ...outer]
}
