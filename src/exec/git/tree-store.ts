/**
 * The bytes of working trees, by their hash, in a folder of the home: what a command is about to
 * change is there before it begins. A cache: a start that finds no command under way empties it
 * when it is half full, and whoever needs bytes for longer copies them.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

export class TreeStore {
  readonly #folder: string
  readonly #made = new Set<string>()
  #bytes = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  get bytes(): number {
    return this.#bytes
  }

  /** What earlier processes left in it. */
  measure(): void {
    this.#bytes = 0
    for (const part of existsSync(this.#folder) ? readdirSync(this.#folder) : []) {
      const folder = join(this.#folder, part)
      for (const name of readdirSync(folder)) this.#bytes += statSync(join(folder, name)).size
    }
  }

  put(sha256: string, bytes: Uint8Array): void {
    const path = this.#path(sha256)
    const folder = join(this.#folder, sha256.slice(0, 2))
    if (!this.#made.has(folder)) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      this.#made.add(folder)
    }
    if (existsSync(path)) return
    // Half of it, which a kill may leave, never has its name.
    writeFileSync(`${path}.new`, bytes, { mode: 0o600 })
    renameSync(`${path}.new`, path)
    this.#bytes += bytes.length
  }

  /** Null: it is not there. */
  get(sha256: string): Uint8Array | null {
    const path = this.#path(sha256)
    return existsSync(path) ? readFileSync(path) : null
  }

  empty(): void {
    rmSync(this.#folder, { recursive: true, force: true })
    this.#made.clear()
    this.#bytes = 0
  }

  #path(sha256: string): string {
    return join(this.#folder, sha256.slice(0, 2), sha256)
  }
}
