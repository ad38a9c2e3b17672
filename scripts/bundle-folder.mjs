// Where bundles lie: each in a folder of dist/ that is named by the hash of what is in it, and
// dist/current names the one that starts. A bundle is made under another name and renamed when it
// is whole: a build may be killed anywhere, and two may build at once, and what starts is not half.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pid } from 'node:process'

/** Milliseconds after which no build is at work on what it made, to the end of placing it. */
const BUILD_ABANDONED_MS = 3_600_000

/** An empty folder in which this process may build. */
export function openDraft(dist) {
  const draft = join(dist, `.next-${pid}`)
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true })
  return draft
}

/**
 * Makes the draft the bundle that starts, under the name `build`, dated `started`, when its sources
 * were read. What runs from the bundle before it keeps its files. Others go with the first build an
 * hour later, or at once where this is to be `alone`, as in a package.
 */
export function placeBundle(dist, { draft, build, started, alone }) {
  // What was compiled of one bundle must never be taken for another's.
  writeFileSync(join(draft, 'build-id'), build)
  const before = currentIn(dist)
  try {
    renameSync(draft, join(dist, build))
  } catch (error) {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    // The same was built before.
    rmSync(draft, { recursive: true })
  }
  const pointer = `${draft}.current`
  writeFileSync(pointer, build)
  utimesSync(pointer, started, started)
  renameSync(pointer, join(dist, 'current'))
  // The clock has whole milliseconds, and what was written in this one is dated behind it.
  const until = alone ? Infinity : Date.now() - BUILD_ABANDONED_MS
  removeOthers(dist, new Set([build, alone ? build : before]), until)
}

function currentIn(dist) {
  try {
    return readFileSync(join(dist, 'current'), 'latin1')
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return null
  }
}

/** Earlier bundles, and what builds that were killed left behind, written until then. */
function removeOthers(dist, kept, until) {
  for (const name of readdirSync(dist)) {
    if (kept.has(name) || name === 'current' || name === '.cache') continue
    try {
      if (statSync(join(dist, name)).mtimeMs <= until) remove(dist, name)
    } catch (error) {
      // Another build removes it, too.
      if (error.code !== 'ENOENT') throw error
    }
  }
}

/** Under another name first: what is half removed must not be taken for a bundle. */
function remove(dist, name) {
  const gone = join(dist, `.gone-${pid}-${name}`)
  renameSync(join(dist, name), gone)
  rmSync(gone, { recursive: true, force: true })
}
