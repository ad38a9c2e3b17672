/** Whether a path is a folder itself: a link to one is none, nor is what cannot be seen. */
import { FileFault } from '../exec/files/file-fault.ts'
import type { Files } from '../exec/ports.ts'

export async function isFolder(files: Files, path: string): Promise<boolean> {
  try {
    return (await files.stat(path)).kind === 'folder'
  } catch (error) {
    if (error instanceof FileFault) return false
    throw error
  }
}
