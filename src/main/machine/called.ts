/**
 * How this command was called, as a person would call it again: `npx holon` where npx ran the
 * clone's own command, `holon` where PATH finds this one, else the path. Hints name it so.
 */
import { delimiter, dirname, join, sep } from 'node:path'

export type Invocation = {
  /** The script that runs, which `bin/holon` beside it has started. */
  path: string
  folder: string
  /** What npm says that it does; undefined: it started nothing here. */
  npm_command: string | undefined
  /** PATH. */
  search: string
  /** The file behind links; null: there is none. */
  real: (path: string) => string | null
}

export function calledAs({ path, folder, npm_command, search, real }: Invocation): string {
  const file = real(path)
  // Started from its sources, by a test or by who works on them.
  if (file === null || !file.endsWith(join('bin', 'holon.mjs'))) return 'holon'
  const clone = dirname(dirname(file))
  // By a link of npm's own, in the clone or elsewhere. In another folder npx asks the registry.
  const isInside = `${real(folder)}${sep}`.startsWith(`${clone}${sep}`)
  if (npm_command !== undefined && isInside) return 'npx holon'
  const command = join(clone, 'bin', 'holon')
  const found = search.split(delimiter).flatMap((one) => {
    const at = one === '' ? null : real(join(one, 'holon'))
    return at === null ? [] : [at]
  })
  return found[0] === command ? 'holon' : inShell(command)
}

/** A path as a shell takes it. */
const inShell = (path: string): string =>
  /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
