/**
 * The place of a start on this machine (`StartPlace` in the domain): the id of the boot, and a
 * random mark that stands in the tasks folder and was on the disk before anything began there. A
 * folder that was restored, emptied or made anew gets another mark.
 */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { StartPlace } from '../../domain/start-place.ts'

/** Its name in the tasks folder: no task has such an id. */
export const TASKS_MARK = '.mark'

const bootFile = '/proc/sys/kernel/random/boot_id'

/**
 * What cannot be read is a name of its own, of this process: a start under it is never taken for a
 * start of a later one.
 */
const unread = `unread-${randomUUID()}`

/**
 * Read each time, for a tasks folder may be emptied under a running program. Whoever asks first in
 * a folder without a mark makes one, and it is on the disk before this returns.
 */
export function startPlace(tasks_folder: string): StartPlace {
  if (markIn(tasks_folder) === null) textOf(() => markTasks(tasks_folder))
  return { boot: (boot ??= bootNow() ?? unread), tasks: markIn(tasks_folder) ?? unread }
}

function markTasks(tasks_folder: string): string {
  const path = join(tasks_folder, TASKS_MARK)
  const draft = `${path}.${randomUUID()}`
  const mark = randomUUID()
  const file = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    writeSync(file, `${mark}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  try {
    linkSync(draft, path) // of two that make one, the first has made it
  } finally {
    unlinkSync(draft)
  }
  for (const folder of [tasks_folder, dirname(tasks_folder)]) syncFolder(folder)
  return mark
}

/** The same for the life of the process. */
let boot: string | null = null

function markIn(tasks_folder: string): string | null {
  return textOf(() => readFileSync(join(tasks_folder, TASKS_MARK), 'utf8'))
}

function bootNow(): string | null {
  if (process.platform !== 'darwin') return textOf(() => readFileSync(bootFile, 'utf8'))
  const args = ['-n', 'kern.bootsessionuuid']
  return textOf(() => execFileSync('/usr/sbin/sysctl', args, { encoding: 'utf8' }))
}

function textOf(read: () => string): string | null {
  try {
    return read().trim() || null
  } catch {
    return null
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
