/** Finding programs of this machine by name. */
import { accessSync, constants } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'

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

/** A program of our own, and the Node that runs it: absolute paths. */
export type NodeProgram = { node: string; script: string }

/**
 * Beside `here`, the URL of a module: a source beside sources, an entry of its own beside the
 * bundle's chunks.
 */
export function programBeside(
  name: 'terminal' | 'output-reader' | 'standby' | 'page-reader' | 'relay',
  here: string,
): NodeProgram {
  const suffix = here.endsWith('.ts') ? 'ts' : 'js'
  return { node: execPath, script: fileURLToPath(new URL(`${name}.${suffix}`, here)) }
}
