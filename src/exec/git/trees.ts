/**
 * What a command did to the working tree that it ran in: the tree is looked at before it begins and
 * after it has ended. What was there before is a file in the home until somebody took the
 * difference, so it can be had after a restart too. Contract: `ports.ts`.
 */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../domain/limits.ts'
import type { Roots, TreeEnd, TreeFile, Trees } from '../ports.ts'
import { clearViews } from './git-view.ts'
import type { Git } from './git.ts'
import {
  lookAt,
  treeOf,
  type Known,
  type Look,
  type OpenView,
  type Seen,
  type SeenFile,
} from './tree-look.ts'
import { TREE_STORE_BYTES } from './tree-limits.ts'
import { TreeNotes } from './tree-notes.ts'
import { TreeStore } from './tree-store.ts'

export type TreesOptions = {
  git: Git
  /** A folder of the home, made when missing. */
  folder: string
  isSecret: (bytes: Uint8Array) => boolean
  /** Milliseconds, as file times have them. */
  now: () => number
}

export function createTrees({ git, folder, isSecret, now }: TreesOptions): Trees {
  const scratch_folder = join(folder, 'scratch')
  const store = new TreeStore(join(folder, 'bytes'))
  const notes = new TreeNotes(folder)
  const known = new Map<string, Known>()
  const views = new Map<string, OpenView>()
  const ports = { git, scratch_folder, store, isSecret, now, views }
  let begun: Promise<void> | null = null

  /** What a process before this one left is needed by commands that are under way alone. */
  const begin = () =>
    (begun ??= (async () => {
      notes.open()
      await clearViews(scratch_folder, 'tree-')
      store.measure()
      const isIdle = notes.tasks().length === 0
      if (isIdle && store.bytes > TREE_STORE_BYTES / 2) store.empty()
    })())

  /** One after the other in a tree: a view of its repository serves one call of git at a time. */
  const lines = new Map<string, Promise<unknown>>()
  function look(root: string, roots: Roots): Promise<Look> {
    const mine = (lines.get(root) ?? Promise.resolve()).then(() => lookInTurn(root, roots))
    // A failure is its caller's; the line goes on behind it.
    const over = mine.catch(() => {})
    lines.set(root, over)
    return mine
  }

  async function lookInTurn(root: string, roots: Roots): Promise<Look> {
    const key = `${root}\n${JSON.stringify(roots)}`
    const of: Known = known.get(key) ?? { files: new Map(), last: null }
    known.set(key, of)
    try {
      return await lookAt(ports, { root, roots }, of)
    } catch (error) {
      if (!isOfSystem(error)) throw error
      return { ok: false, why: error.message }
    }
  }

  return {
    async before(task, workdir, roots) {
      const root = rootOf(workdir)
      if (root === null) return
      try {
        await begin()
        // Full, and nobody needs what is in it.
        if (store.bytes > TREE_STORE_BYTES && notes.tasks().length === 0) {
          store.empty()
          known.clear()
        }
        const seen = await look(root, roots)
        notes.write(task, { root, ...seen })
      } catch (error) {
        // Half a note is none: the command runs, and what it did is not known.
        if (!isOfSystem(error)) throw error
      }
    },

    async changes(task, roots) {
      const note = notes.read(task)
      if (note === null) return null
      if ('why' in note) return { ok: false, why: note.why }
      const after = await look(note.root, roots)
      if (!after.ok) return after
      return { ok: true, ...changesOf(store, note.files, after.files) }
    },

    forget: async (task) => notes.forget(task),

    async pending() {
      try {
        await begin()
        return notes.tasks()
      } catch (error) {
        if (isOfSystem(error)) return []
        throw error
      }
    },
  }
}

function changesOf(store: TreeStore, before: Seen, after: Seen) {
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  const changed = paths.filter((path) => !isSame(before.get(path), after.get(path)))
  const files = changed.slice(0, limits.kept_files.value).map((path): TreeFile => {
    const [from, to] = [before.get(path), after.get(path)]
    return { path, before: endOf(store, from), after: endOf(store, to) }
  })
  return { files, more: changed.length - files.length }
}

function rootOf(workdir: string): string | null {
  try {
    return treeOf(realpathSync(workdir))
  } catch (error) {
    if (isOfSystem(error)) return null
    throw error
  }
}

const isOfSystem = (error: unknown): error is Error => error instanceof Error && 'code' in error

function isSame(one: SeenFile | undefined, other: SeenFile | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  if (one.kind === 'unkept' || other.kind === 'unkept') {
    return one.kind === 'unkept' && other.kind === 'unkept' && one.stamp === other.stamp
  }
  const isMode = one.kind === 'link' || one.mode === other.mode
  return one.kind === other.kind && one.sha256 === other.sha256 && isMode
}

function endOf(store: TreeStore, file: SeenFile | undefined): TreeEnd {
  if (file === undefined) return { kind: 'none' }
  if (file.kind === 'unkept') return { kind: 'unkept', because: file.because }
  const bytes = store.get(file.sha256)
  if (bytes === null) return { kind: 'unkept', because: 'too_many' }
  return file.kind === 'link' ? { kind: 'link', bytes } : { kind: 'file', bytes, mode: file.mode }
}
