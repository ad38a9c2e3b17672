/**
 * Where a backup may go: into a folder outside the home, named by its absolute path. By what the
 * path really is, for a link that leads into the home would make a copy that copies itself.
 */
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, normalize, sep } from 'node:path'
import type { UpkeepEnd } from '../../protocol/upkeep.ts'

const no = (message: string): UpkeepEnd<never> => ({ ok: false, code: 'path_invalid', message })

/** The folder as it is to be used; it need not be there yet. */
export async function backupFolder(home: string, to: string): Promise<UpkeepEnd<string>> {
  if (!isAbsolute(to) || to.includes('\0')) return no(`${to} is not an absolute path.`)
  const [real, realHome] = await Promise.all([resolved(normalize(to)), resolved(home)])
  if (real === realHome || real.startsWith(`${realHome}${sep}`)) {
    return no(`${to} is in the home, and a backup of it would hold itself.`)
  }
  const found = await stat(real).catch(() => null)
  if (found !== null && !found.isDirectory()) return no(`${to} is a file, not a folder.`)
  return { ok: true, value: real }
}

/** With every link followed, as far as there is something on the way. */
async function resolved(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(await resolved(above), basename(path))
  }
}
