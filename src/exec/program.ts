/** Finding programs of this machine by name. */
import { accessSync, constants } from 'node:fs'
import { isAbsolute, join } from 'node:path'

/** The first of `names` that can be executed, as an absolute path; null when there is none. */
export function findProgram(names: readonly string[], path: string): string | null {
  const folders = ['/bin', '/usr/bin', '/usr/local/bin', ...path.split(':').filter(isAbsolute)]
  for (const name of names) {
    const found = folders.map((folder) => join(folder, name)).find(canExecute)
    if (found) return found
  }
  return null
}

/** Whether this process may execute the file. */
export function canExecute(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
