// What `bin/holon` starts: the bundle, or the sources. On a Node that cannot run Holon it says so.
// Plain JavaScript that Node 18 parses: nothing newer may be imported at the top.

/** A module of Node's own. Not by `import` where it can be: that looks at all it exports first. */
const builtin = async (name) => process.getBuiltinModule?.(name) ?? (await import(name))
const { accessSync, constants, readdirSync, readFileSync, statSync } = await builtin('node:fs')
const module = await builtin('node:module')
const { homedir } = await builtin('node:os')
const { join } = await builtin('node:path')
const { fileURLToPath, pathToFileURL } = await builtin('node:url')

/** Ends in no slash. Paths here are joined by hand: the first use of `join` takes 2 ms. */
const root = fileURLToPath(new URL('..', import.meta.url)).slice(0, -1)

/** Node 24.16 is the first of its line with everything used here; 26 is what the tests run on. */
const isNewEnough = (version) => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major >= 26 || (major === 24 && minor >= 16)
}

/** Milliseconds since the epoch at which a file was written, or 0 if it does not exist. */
const writtenAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** The folder of the bundle that starts, and when its sources were read; null: there is none. */
const currentBundle = () => {
  try {
    const folder = `${root}/dist/${readFileSync(`${root}/dist/current`, 'latin1')}`
    return writtenAt(folder) === 0 ? null : { folder, built: writtenAt(`${root}/dist/current`) }
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return null
  }
}

/** Whether a clone has a source that the bundle does not know. An installed package has none. */
const hasNewerSource = (built) => {
  const sources = `${root}/src`
  if (writtenAt(sources) === 0) return false
  return readdirSync(sources, { recursive: true }).some(
    (name) => !name.includes('.test.') && writtenAt(`${sources}/${name}`) > built,
  )
}

/** Builds the bundle of a clone that has none; null where it cannot be built. */
const firstBundle = async () => {
  const script = `${root}/scripts/build.mjs`
  if (writtenAt(script) === 0 || writtenAt(`${root}/node_modules/rolldown`) === 0) return null
  process.stderr.write('holon: builds itself for its first start, which takes 3 seconds\n')
  const { spawnSync } = await builtin('node:child_process')
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
  if (status === 0) return currentBundle()
  const [why] = /^.*Error: .*$/m.exec(stderr) ?? ['npm run build says why']
  process.stderr.write(`holon: could not be built, and runs from its sources; ${why}\n`)
  return null
}

/**
 * Where compiled code is kept: beside what it was compiled from, never in a shared temporary folder
 * where someone else could plant it. A package owned by another user gets a private folder instead.
 */
const cacheBeside = (folder) => {
  try {
    accessSync(`${root}/${folder}`, constants.W_OK)
    return `${root}/${folder}/.cache/holon`
  } catch {
    const caches = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
    return join(caches, 'holon', 'compiled')
  }
}

/**
 * Imports the program: the bundle, or the sources where one of them is newer, with compiled code
 * kept. Building takes as long as ten starts from sources, so a change of one does not build.
 */
const becomeProgram = async () => {
  const bundle = currentBundle() ?? (await firstBundle())
  if (bundle !== null && !hasNewerSource(bundle.built)) {
    const { loadBundle } = await import('./bundle.mjs')
    loadBundle(bundle.folder, cacheBeside('dist'))
  } else {
    module.enableCompileCache(cacheBeside('node_modules'))
    await import(pathToFileURL(`${root}/src/main.ts`).href)
  }
}

if (isNewEnough(process.versions.node)) {
  await becomeProgram()
} else {
  process.stderr.write(
    `holon: needs Node 24.16 or newer, this is ${process.versions.node}, and the package carries ` +
      `none for ${process.platform}-${process.arch}, or bin/holon was passed by: install Node 26\n`,
  )
  process.exitCode = 1
}
