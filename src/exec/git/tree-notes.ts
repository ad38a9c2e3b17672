/**
 * What stood in a working tree before each command that is under way, in a folder of the home: a
 * note a task, and the list of files that it names, written once for however many commands found
 * the tree so. A process that comes later reads both.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Seen, SeenFile } from './tree-look.ts'

export type TreeNote = { root: string } & ({ files: Seen } | { why: string })

/** As it is written. */
type Written = { root: string } & ({ list: string } | { why: string })

export class TreeNotes {
  readonly #notes: string
  readonly #lists: string
  /** The lists that are there, by the tree that they were made of. */
  #named = new WeakMap<Seen, string>()
  /** The list that each task under way names; null: its tree was not looked at. */
  readonly #of = new Map<string, string | null>()
  /** The newest list of each tree, for the next command in it. */
  readonly #newest = new Map<string, string>()
  /** What this process wrote itself, by task. */
  readonly #held = new Map<string, TreeNote>()

  constructor(folder: string) {
    this.#notes = join(folder, 'pending')
    this.#lists = join(folder, 'lists')
  }

  /** Reads what earlier processes left, and lets go of what no task names. */
  open(): void {
    for (const folder of [this.#notes, this.#lists]) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
    }
    for (const task of this.tasks()) {
      const note = this.#note(task)
      this.#of.set(task, note !== null && 'list' in note ? note.list : null)
    }
    this.#letGo()
  }

  /** The tasks that have one, from earlier processes too. */
  tasks(): string[] {
    return readdirSync(this.#notes)
      .filter((name) => name.endsWith('.json'))
      .map((name) => name.slice(0, -'.json'.length))
  }

  /** Throws what the file system throws; then the task has no note, or the one before. */
  write(task: string, note: TreeNote): void {
    const { root } = note
    const list = 'files' in note ? this.#listOf(root, note.files) : null
    const written: Written = 'why' in note ? { root, why: note.why } : { root, list: list ?? '' }
    const path = this.#pathOf(task)
    writeFileSync(`${path}.new`, JSON.stringify(written), { mode: 0o600 })
    renameSync(`${path}.new`, path)
    this.#of.set(task, list)
    this.#held.set(task, note)
  }

  /** Null: there is none, or what it names is gone. */
  read(task: string): TreeNote | null {
    const held = this.#held.get(task)
    if (held !== undefined) return held
    const note = this.#note(task)
    if (note === null || 'why' in note) return note
    const files = parsed(join(this.#lists, note.list)) as [string, SeenFile][] | null
    return files && { root: note.root, files: new Map(files) }
  }

  forget(task: string): void {
    this.#of.delete(task)
    this.#held.delete(task)
    rmSync(this.#pathOf(task), { force: true })
  }

  #listOf(root: string, files: Seen): string {
    const known = this.#named.get(files)
    if (known !== undefined) return known
    const text = JSON.stringify([...files])
    const name = createHash('sha256').update(text).digest('hex')
    const path = join(this.#lists, name)
    if (!existsSync(path)) {
      writeFileSync(`${path}.new`, text, { mode: 0o600 })
      renameSync(`${path}.new`, path)
    }
    this.#newest.set(root, name)
    this.#letGo()
    this.#named.set(files, name)
    return name
  }

  #letGo(): void {
    const needed = new Set([...this.#newest.values(), ...this.#of.values()])
    const gone = readdirSync(this.#lists).filter((name) => !needed.has(name))
    for (const name of gone) rmSync(join(this.#lists, name), { force: true })
    if (gone.length > 0) this.#named = new WeakMap()
  }

  #note(task: string): Written | null {
    return parsed(this.#pathOf(task)) as Written | null
  }

  #pathOf(task: string): string {
    return join(this.#notes, `${task}.json`)
  }
}

/** Null: none is there, or a full disk left half of one. */
function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}
