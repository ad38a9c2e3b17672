/**
 * Where things lie on this machine says nothing elsewhere, and who works here: in what leaves the
 * home, its folder is written `$HOLON_HOME` and the user's `~`, in texts and keys at any depth.
 */

import { withTexts } from './map-texts.ts'

export type Places = { home: string; user_home: string }

/** Contract: plain data; the same reference where nothing was in it. */
export function withoutPlaces({ home, user_home }: Places): <T>(value: T) => T {
  // The longer first: a home may lie within the user's folder, or hold it.
  const known = [
    [home, '$HOLON_HOME'],
    [user_home, '~'],
  ] as const
  const used = known
    .filter(([path]) => /^\/[^/]/.test(path))
    .toSorted(([a], [b]) => b.length - a.length)
  const text = (given: string): string => {
    let made = given
    for (const [path, name] of used) if (made.includes(path)) made = replaced(made, path, name)
    return made
  }
  return <T>(value: T) => withTexts(value, text)
}

/** `/u/ann` in `/u/ann/x`, not in `/u/anna` or `/mnt/u/ann`. */
function replaced(text: string, path: string, name: string): string {
  let made = ''
  let done = 0
  for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
    const end = at + path.length
    const within = /[A-Za-z0-9_-]/.test(`${text[at - 1] ?? ''}${text[end] ?? ''}`)
    if (within || at < done) continue
    made += text.slice(done, at) + name
    done = end
  }
  return made + text.slice(done)
}
