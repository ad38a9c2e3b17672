/**
 * Takes the folders of tasks whose rows retention has taken: what a command wrote is kept as long
 * as its row, and no longer. A row is there before its folder, so a folder without one is left
 * over, of this run or of one that was killed between the two.
 */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'

/** `task_…`, and `task_….2` for a second driver of the same child. */
const taskFolder = /^(task_[^.]+)(\.\d+)?$/

export async function sweepTaskFolders(home: string, database: DatabaseSync): Promise<void> {
  const folder = join(home, 'tasks')
  const names = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  })
  const known = database.prepare('select 1 from tasks where id = ?')
  for (const name of names) {
    const id = taskFolder.exec(name)?.[1]
    if (id === undefined || known.get(id) !== undefined) continue
    await rm(join(folder, name), { recursive: true, force: true })
  }
}
