/**
 * Takes what lies beside the ledger for rows that retention has taken: the folder of a task with
 * what a command wrote, and the file of what was too long for a request. It is kept as long as its
 * row, and no longer. A row is there before its file, so a file without one is left over, of this
 * run or of one that was killed between the two.
 */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Table } from '../../domain/state/event.ts'

/** What is in a folder of the home by the id of a row; other names are somebody else's. */
const beside: readonly { folder: string; name: RegExp; table: Table }[] = [
  // `task_…`, and `task_….2` for a second driver of the same child.
  { folder: 'tasks', name: /^(task_[^.]+)(\.\d+)?$/, table: 'tasks' },
  { folder: 'outputs', name: /^(call_[^.]+)\.txt$/, table: 'calls' },
  // `msg_….txt`, and `msg_….2.png` for its second image.
  {
    folder: 'outputs',
    name: /^(msg_[^.]+)\.(?:txt|\d+\.(?:png|jpeg|gif|webp))$/,
    table: 'messages',
  },
  { folder: 'outputs', name: /^(turn_[^.]+)\.txt$/, table: 'turns' },
]

export async function sweepFolders(home: string, database: DatabaseSync): Promise<void> {
  for (const { folder, name, table } of beside) {
    const known = database.prepare(`select 1 from ${table} where id = ?`)
    for (const found of await namesIn(join(home, folder))) {
      const id = name.exec(found)?.[1]
      if (id === undefined || known.get(id) !== undefined) continue
      await rm(join(home, folder, found), { recursive: true, force: true })
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
