/**
 * The files of a simulated machine: a map that outlives the process, behind the real port. A write
 * is there whole or not at all; while the disk is full none is. Paths of a model go through the
 * real policy.
 */
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { FileFault } from '../../src/exec/files/file-fault.ts'
import { judgePath, problemOfPath } from '../../src/exec/files/path-policy.ts'
import type { FileRead, Files, FileStat, OpenedPath, Standing } from '../../src/exec/ports.ts'
import { sha256 } from '../../src/exec/files/whole-file.ts'
import type { Agenda, Life } from './agenda.ts'

export const home = '/sim/home'
export const workspace = '/sim/work'

/** As `FILE_READ_MAX_BYTES`; nothing of a run comes near it. */
const readMax = 16 * 1024 * 1024

type Entry = { bytes: Uint8Array; at: string; mode: number }

const bytesOf = (given: Uint8Array | string): Uint8Array =>
  typeof given === 'string' ? new TextEncoder().encode(given) : Uint8Array.from(given)

export type DiskState = { full: boolean; failing: number }

export class SimDisk {
  readonly state: DiskState = { full: false, failing: 0 }
  readonly #files = new Map<string, Entry>()
  readonly #folders = new Set<string>(['/', '/sim', home, workspace])
  readonly #now: () => string

  constructor(now: () => string) {
    this.#now = now
  }

  /** Paths of files below a folder, for who changes them from outside. */
  below(folder: string): string[] {
    return [...this.#files.keys()].filter((path) => path.startsWith(`${folder}/`)).toSorted()
  }

  /** What is in a file; '' where there is none. */
  text(path: string): string {
    return new TextDecoder().decode(this.#files.get(path)?.bytes)
  }

  makeFolder(path: string): void {
    this.#makeFolder(path)
  }

  /** As another program would; null removes. */
  edit(path: string, text: string | null): void {
    if (text === null) this.#files.delete(path)
    else this.#put(path, bytesOf(text), 0o600)
  }

  portOf(life: Life, agenda: Agenda): Files {
    const act = <T>(label: string, body: () => T): Promise<T> =>
      agenda.perform(life, 'file', label, body)
    return {
      read: (path, options) => act('read', () => this.#read(path, options?.max_bytes)),
      write_atomic: (path, bytes, mode) =>
        act('write', () => this.#write(path, bytesOf(bytes), mode)),
      append: (path, bytes) =>
        act('append', () => {
          const before = this.#files.get(path)?.bytes ?? new Uint8Array()
          this.#write(path, new Uint8Array([...before, ...bytesOf(bytes)]))
        }),
      hash: (path) =>
        act('hash', () => {
          const { bytes } = this.#read(path)
          return { sha256: sha256(bytes), bytes: bytes.length }
        }),
      stat: (path) => act('stat', () => this.#stat(path)),
      list: (folder) => act('list', () => this.#list(folder)),
      make_folder: (path) => act('make_folder', () => this.#makeFolder(path)),
      exists: (path) => act('exists', () => this.#files.has(path) || this.#folders.has(path)),
      remove: (path) => act('remove', () => void this.#files.delete(path)),
      open_within: (roots, path, mode) =>
        act(`open ${mode}`, () => {
          const problem = problemOfPath(path)
          if (problem !== null) throw new FileFault('denied', path, `${path}: ${problem}`)
          const verdict = judgePath(roots, path, mode)
          if (!verdict.allowed) throw new FileFault('denied', path, `${path}: ${verdict.why}`)
          if (this.#folders.has(path)) {
            throw new FileFault('is_folder', path, `${path}: it is a folder`)
          }
          if (mode === 'read' && !this.#files.has(path)) throw missing(path)
          return this.#opened(act, path)
        }),
      look_within: (_, path) => act('look', () => this.#standing(path)),
      put_within: (_, path, expected, next) =>
        act('put', () => {
          if (!isDeepStrictEqual(this.#standing(path), expected)) return { put: false, aside: null }
          if (next.kind === 'file') this.#write(path, next.bytes, next.mode)
          else this.#files.delete(path)
          return { put: true, aside: null }
        }),
    }
  }

  #standing(path: string): Standing {
    const entry = this.#files.get(path)
    if (entry) return { kind: 'file', bytes: entry.bytes, mode: entry.mode }
    return { kind: this.#folders.has(path) ? 'other' : 'none' }
  }

  #opened(act: <T>(label: string, body: () => T) => Promise<T>, path: string): OpenedPath {
    return {
      path,
      read: (max_bytes) => act('read opened', () => this.#read(path, max_bytes)),
      replace: (bytes) => act('replace', () => this.#write(path, bytesOf(bytes))),
      remove: () => act('remove opened', () => void this.#files.delete(path)),
      close: async () => {},
    }
  }

  #read(path: string, max_bytes = readMax): FileRead {
    this.#mayFail(path)
    const entry = this.#files.get(path)
    if (!entry) {
      if (this.#folders.has(path)) throw new FileFault('is_folder', path, `${path}: it is a folder`)
      throw missing(path)
    }
    const { bytes, at, mode } = entry
    if (bytes.length > max_bytes) throw new FileFault('too_large', path, `${path}: too large`)
    const size = bytes.length
    return { path, bytes: bytes.slice(), size, sha256: sha256(bytes), updated_at: at, mode }
  }

  #write(path: string, bytes: Uint8Array, mode?: number): void {
    if (this.state.full) {
      throw new FileFault('disk_full', path, `${path}: injected: the disk is full`)
    }
    this.#mayFail(path)
    this.#put(path, bytes, mode ?? this.#files.get(path)?.mode ?? 0o600)
  }

  #put(path: string, bytes: Uint8Array, mode: number): void {
    this.#makeFolder(dirname(path))
    this.#files.set(path, { bytes, at: this.#now(), mode })
  }

  #mayFail(path: string): void {
    if (this.state.failing === 0) return
    this.state.failing -= 1
    throw new FileFault('io', path, `${path}: injected: the system said EIO`)
  }

  #stat(path: string): FileStat {
    this.#mayFail(path)
    const entry = this.#files.get(path)
    if (entry) {
      return { kind: 'file', size: entry.bytes.length, updated_at: entry.at, mode: entry.mode }
    }
    if (!this.#folders.has(path)) throw missing(path)
    return { kind: 'folder', size: 0, updated_at: this.#now(), mode: 0o700 }
  }

  #list(folder: string) {
    if (!this.#folders.has(folder)) throw missing(folder)
    const start = `${folder}/`
    const names = new Map<string, 'file' | 'folder'>()
    for (const path of [...this.#files.keys(), ...this.#folders]) {
      if (!path.startsWith(start)) continue
      const [name = '', ...rest] = path.slice(start.length).split('/')
      names.set(name, rest.length > 0 || this.#folders.has(path) ? 'folder' : 'file')
    }
    return [...names]
      .map(([name, kind]) => ({ name, kind }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  #makeFolder(path: string): void {
    for (let at = path; !this.#folders.has(at); at = dirname(at)) this.#folders.add(at)
  }
}

const missing = (path: string): FileFault =>
  new FileFault('not_found', path, `${path}: there is no such file or folder`)
