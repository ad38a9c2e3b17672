/**
 * The git of a simulated machine: one repository, the workspace, and worktrees of it whose files
 * are those of the disk. It outlives the process, as git's own folders do, and each call is whole:
 * what a death in the middle of one leaves is tried on real git. It refuses what real git refuses,
 * so no change is lost unless the host loses it; `strays` names what the host forgot.
 */
import { GitFault } from '../../src/exec/git/git-fault.ts'
import type {
  Refused,
  LeftOut,
  Removed,
  Snapshot,
  Some,
  Worktrees,
} from '../../src/exec/worktrees/port.ts'
import type { Agenda, Life } from './agenda.ts'
import { workspace, type SimDisk } from './disk.ts'

type Tree = { path: string; branch: string; base: string }
type Kept = Snapshot & { files: ReadonlyMap<string, string> }

const common = `${workspace}/.git`
const head = 'commit-0'
const nothing: Some<LeftOut> = { count: 0, sample: [] }
const none: Some<never> = { count: 0, sample: [] }

export class SimWorktrees {
  readonly #disk: SimDisk
  readonly #trees = new Map<string, Tree>()
  readonly #snapshots: Kept[] = []

  constructor(disk: SimDisk) {
    this.#disk = disk
  }

  /** Folders of worktrees that are there. */
  paths(): string[] {
    return [...this.#trees.keys()]
  }

  portOf(life: Life, agenda: Agenda): Worktrees {
    const act = <T>(label: string, body: () => T): Promise<T> =>
      agenda.perform(life, 'process', `worktree ${label}`, body)
    return {
      repository: (folder) =>
        act('repository', () =>
          this.#isInside(folder)
            ? { root: workspace, common_dir: common, head, branch: 'main' }
            : null,
        ),
      add: ({ path, branch }) =>
        act('add', () => {
          const made = this.#trees.has(path) ? 'before' : 'now'
          this.#trees.set(path, { path, branch, base: head })
          this.#disk.makeFolder(path)
          return { path, branch, base_commit: head, made, parent_dirty: 0, unfiltered: null }
        }),
      status: ({ path }) => act('status', () => this.#status(path)),
      snapshot: ({ path, key }) => act('snapshot', () => this.#snapshot(path, key)),
      list_snapshots: () => act('list', () => [...this.#snapshots]),
      restore: ({ ref, path }) => act('restore', () => this.#restore(ref, path)),
      remove: ({ path, leases, discard }) =>
        act('remove', () => this.#remove(path, leases(), discard?.snapshot ?? null)),
      objection: ({ path }) => act('objection', () => this.#objection(path)),
      facts: () => act('facts', () => null),
      prune: () => act('prune', () => ({ finished: [], cleared: [] })),
    }
  }

  #isInside(folder: string): boolean {
    const roots = [workspace, ...this.#trees.keys()]
    return roots.some((root) => folder === root || folder.startsWith(`${root}/`))
  }

  /** Every file in it is a change: nothing is ever committed there. */
  #files(path: string): Map<string, string> {
    return new Map(this.#disk.below(path).map((file) => [file, this.#disk.text(file)]))
  }

  #status(path: string) {
    const tree = this.#trees.get(path)
    if (!tree) return { kind: 'absent' as const }
    const sample = [...this.#files(path).keys()]
    return {
      ...{ kind: 'present' as const, head, branch: tree.branch },
      ...{ staged: none, unstaged: none, untracked: { count: sample.length, sample } },
      ...{ ignored: 0, unmerged: none, reflog_only: none, operation: null },
      ...{ submodules: none, locked: null, used_by: [] },
    }
  }

  #snapshot(path: string, key: string): Snapshot {
    const tree = this.#trees.get(path)
    if (!tree) throw new GitFault('worktree_missing', `${path} is not a worktree`)
    const files = this.#files(path)
    const before = this.#snapshots.findLast((one) => one.key === key)
    if (before && isSame(before.files, files)) return before
    const n = (before?.n ?? 0) + 1
    const made: Kept = {
      ...{ ref: `refs/holon/snapshots/${key}/${n}`, commit: `snap-${this.#snapshots.length}` },
      ...{ key, n, taken_at: '2026-01-05T09:00:00.000Z', left_out: nothing, files },
      of: { path, branch: tree.branch, head },
    }
    this.#snapshots.push(made)
    return made
  }

  #restore(ref: string, path: string) {
    const kept = this.#snapshots.find((one) => one.ref === ref)
    if (!kept) throw new GitFault('snapshot_missing', `${ref} names no snapshot`)
    const branch = kept.of.branch ?? ''
    if (!this.#trees.has(path)) {
      this.#trees.set(path, { path, branch, base: head })
      this.#disk.makeFolder(path)
      for (const [file, text] of kept.files) this.#disk.edit(file, text)
    }
    return { path, head, branch, detached_because: null, left_out: nothing }
  }

  #objection(path: string): Refused | null {
    const { size } = this.#trees.has(path) ? this.#files(path) : { size: 0 }
    return size === 0 ? null : refusal('worktree_dirty', `${size} files are not committed`)
  }

  #remove(path: string, leases: readonly string[], snapshot: string | null): Removed {
    if (!this.#trees.has(path)) return { ok: true, branch: 'absent', left: null }
    if (leases.length > 0) return refusal('worktree_leased', `${leases[0]} works in it`)
    const files = this.#files(path)
    const kept = this.#snapshots.find(({ ref }) => ref === snapshot)
    if (snapshot !== null && !(kept && isSame(kept.files, files))) {
      return refusal('snapshot_stale', 'it is not what the snapshot holds')
    }
    if (snapshot === null && files.size > 0) {
      return refusal('worktree_dirty', `${files.size} files are not committed`)
    }
    this.#trees.delete(path)
    for (const file of files.keys()) this.#disk.edit(file, null)
    return { ok: true, branch: 'deleted', left: null }
  }
}

const refusal = (code: Refused['code'], message: string): Refused => ({
  ok: false,
  ...{ code, message, hint: 'Take a snapshot first.', status: null },
})

const isSame = (some: ReadonlyMap<string, string>, others: ReadonlyMap<string, string>): boolean =>
  some.size === others.size && [...some].every(([path, text]) => others.get(path) === text)
