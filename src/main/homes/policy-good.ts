/**
 * The last good policy.json of a home: its text is kept in the home, beside the file, each time
 * that a call is judged by another one. It stays in force while the file itself is refused, also
 * over a restart. Only the home's own is kept, never what stands in a workspace; when it is read
 * its examples are tried again, as those of any file.
 */
import { lstat, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { FileFault } from '../../exec/files/file-fault.ts'
import { files } from '../machine/machine.ts'

const NAME = 'policy.good.json'

/** One file, as large as a policy may be. */
export const lastGoodPath = (home: string): string => join(home, NAME)

export function lastGoodPolicy(home: string): { keep(text: string | null): Promise<void> } {
  let kept: string | null = null
  return {
    /** Does not reject: what could not be written is tried again at the next call. */
    async keep(text) {
      if (text === null || text === kept) return
      try {
        await files.write_atomic(lastGoodPath(home), text, 0o600)
        kept = text
      } catch (error) {
        if (!(error instanceof FileFault)) throw error
      }
    },
  }
}

/** Whether a folder, which is no link, is that other one. */
export async function isSameFolder(path: string, other: string): Promise<boolean> {
  try {
    const [one, two] = await Promise.all([lstat(path), stat(other)])
    return one.dev === two.dev && one.ino === two.ino
  } catch {
    return false
  }
}
