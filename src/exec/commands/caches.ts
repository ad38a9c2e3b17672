/**
 * Where a confined command keeps what it may lose: the caches of package managers stand in folders
 * of the user, which it may only read, and npm ends at once where it cannot write there. They are
 * named anew, in the `/tmp` that stays for the agent's later commands; a folder that the operator
 * made writable is left as it is.
 */
import { join } from 'node:path'

/** The variable that names each, and the folder of the user that it is without it. */
const caches = [
  ['XDG_CACHE_HOME', '.cache'],
  ['npm_config_cache', '.npm'],
] as const

export function withCaches(
  env: Readonly<Record<string, string>>,
  writable: readonly string[],
): Record<string, string> {
  const { HOME: user } = env
  const isWritable = (folder: string) =>
    user !== undefined &&
    writable.some((root) => `${join(user, folder)}/`.startsWith(`${root.replace(/\/$/, '')}/`))
  const named = caches.flatMap(([name, folder]) =>
    name in env || isWritable(folder) ? [] : [[name, join('/tmp', folder)] as const],
  )
  return { ...env, ...Object.fromEntries(named) }
}
