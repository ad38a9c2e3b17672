/**
 * A disk whose power can be cut: a file system in a file, mounted through a loop device. What was
 * written and not synced is in the memory of the kernel and not in the file, so a copy of the file
 * is what a machine finds that lost its power at that moment. Linux, as root.
 */
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

/** Bytes of the disk; small, so that a copy takes no time in which more is written. */
const size = 48 * 1_048_576

/** Images stand in memory where that is possible: the disk below must not slow the copy down. */
export const newFolder = (): string =>
  mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'holon-power-'))

/** An empty file system in a file. */
export function makeImage(folder: string): string {
  const image = join(folder, 'empty.img')
  const fd = openSync(image, 'w')
  ftruncateSync(fd, size)
  closeSync(fd)
  run('mkfs.ext4', '-q', '-F', '-m', '0', '-J', 'size=4', image)
  return image
}

export type Disk = { at: string; eject(): void }

/** Mounts an image; its journal is replayed then, as at the next start of a machine. */
export function insert(image: string, at: string): Disk {
  mkdirSync(at, { recursive: true })
  const device = run('losetup', '--find', '--show', image)
  try {
    run('mount', '-t', 'ext4', device, at)
  } catch (error) {
    run('losetup', '--detach', device)
    throw error
  }
  return {
    at,
    eject() {
      run('umount', at)
      run('losetup', '--detach', device)
    },
  }
}

/** Why this machine cannot do it; null: it can. */
export function whyNot(): string | null {
  if (process.platform !== 'linux') return 'it needs Linux'
  if (process.getuid?.() !== 0) return 'it needs root, to mount a file system'
  const folder = newFolder()
  try {
    const image = makeImage(folder)
    insert(image, join(folder, 'try')).eject()
    return null
  } catch (error) {
    return `no loop device can be mounted here: ${error instanceof Error ? error.message : error}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * What the disk holds at one moment, nothing synced for it. The kernel writes in the background, so
 * one pass over the file could see two moments: what two passes agree on is one.
 */
export function cut(image: string, copy: string): void {
  let before = readFileSync(image)
  for (;;) {
    const now = readFileSync(image)
    if (now.equals(before)) break
    before = now
  }
  writeFileSync(copy, before)
}
