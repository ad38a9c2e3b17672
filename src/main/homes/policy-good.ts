/**
 * The last good policy.json of a home: its text is kept in the home, beside the file, each time
 * that a call is judged by another one. It stays in force while the file itself is refused, also
 * over a restart. Only the home's own is kept, never what stands in a workspace; when it is read
 * its examples are tried again, as those of any file.
 */
import { lstat, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { PolicyRefused, PolicyStanding } from '../../cli/command/policy-ports.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import { openShellParser } from '../../exec/shell/parser.ts'
import type { WrittenPolicy } from '../../protocol/policy-file.ts'
import { clock, files } from '../machine/machine.ts'
import { homePolicyPath, policyFiles, policyIsThere, type ReadPolicyFile } from './policy-files.ts'

const NAME = 'policy.good.json'

/** One file, as large as a policy may be. */
const lastGoodPath = (home: string): string => join(home, NAME)

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

export type OwnPolicy = {
  ok: true
  policy: WrittenPolicy
  text: string | null
  path: string
  refused: PolicyRefused | null
}

/**
 * What the policy.json of a home says. A file that is refused says nothing: the last good one stays
 * in force, as the home has kept it, and where none was kept that is the refusal.
 */
export async function ownPolicy(
  home: string,
  readFile: ReadPolicyFile,
): Promise<OwnPolicy | PolicyRefused> {
  const path = homePolicyPath(home)
  const own = await readFile(path, 'home')
  if (own.ok) return { ...own, path, refused: null }
  const kept = lastGoodPath(home)
  const before = await readFile(kept, 'home')
  if (!before.ok || before.text === null) return own
  return { ...before, path: kept, refused: own }
}

/** `written`: of the last good one while the file is refused; null: there is none. */
export type OwnStanding = { written: WrittenPolicy | null; refused: PolicyStanding | null }

/** What stands in the policy.json of a home now, for who tells it. */
export async function ownNow(home: string): Promise<OwnStanding> {
  if (!(await policyIsThere(home))) return { written: null, refused: null }
  const { read } = await openShellParser(clock)
  const own = await ownPolicy(home, policyFiles(read))
  if (!own.ok) return { written: null, refused: { ...own, in_force: null } }
  const { policy: written, refused, path } = own
  return { written, refused: refused && { ...refused, in_force: path } }
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
