// Loads the bundle: chunks that are scripts, each compiled with what an earlier run had compiled of
// it by the time it was at work. Node's own cache keeps only what was compiled when a module was
// loaded, so every function that a start calls would be compiled again at every start.

const builtin = (name) => process.getBuiltinModule(name)
const fs = builtin('node:fs')
const { join } = builtin('node:path')
const { constants, Script } = builtin('node:vm')

/** Commands call different functions, and what was kept for one is much too little for another. */
const kinds = new Set(['run', 'serve', 'tui'])

/**
 * Runs `main.cjs` of the folder `dist`. Compiled code is kept in `cache`, by the build, the version
 * of Node and the kind of command: V8 itself compares no more than the length of a script.
 */
export const loadBundle = (dist, cache) => {
  const kind = kinds.has(process.argv[2]) ? process.argv[2] : 'other'
  const build = fs.readFileSync(join(dist, 'build-id'), 'latin1')
  const kept = join(cache, `${build}-${process.version}-${process.arch}-${kind}`)
  const isOff = process.env['NODE_DISABLE_COMPILE_CACHE'] === '1'
  const loaded = new Map()
  const unkept = new Map()

  const load = (name) => {
    if (!name.startsWith('./')) return builtin(name)
    const known = loaded.get(name)
    if (known !== undefined) return known.exports
    const chunk = { exports: {} }
    loaded.set(name, chunk)
    const path = join(dist, name)
    const script = new Script(
      `(function (exports, require, module, __filename) {${fs.readFileSync(path, 'latin1')}\n})`,
      {
        filename: path,
        cachedData: isOff ? undefined : bytesOf(join(kept, name)),
        importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      },
    )
    if (script.cachedDataRejected !== false) unkept.set(name, script)
    script.runInThisContext()(chunk.exports, load, chunk, path)
    return chunk.exports
  }

  const keep = () => {
    try {
      for (const [name, script] of unkept) {
        unkept.delete(name)
        keepFile(kept, name, script.createCachedData())
      }
    } catch {
      // A disk that is full or may not be written: the next start compiles once more.
    }
  }
  if (!isOff) process.on('exit', keep)
  process.once('holon_at_work', () => {
    if (!isOff) keep()
    keepHeapSmall()
  })
  load('./main.cjs')
}

/**
 * Keeps the heap near what is in use. Left alone, V8 lets the space for young objects grow to 16 MB
 * and more, and the old one to several times what a run keeps: a third of a long run's memory, for
 * nothing. Both are read when a space would grow, so they may be set while the program runs, and
 * they must not be set before: code compiled under other flags is refused, Node's own included, and
 * a start would take 40 ms longer.
 */
const keepHeapSmall = () => {
  const { setFlagsFromString } = builtin('node:v8')
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=50')
}

const bytesOf = (path) => {
  try {
    return fs.readFileSync(path)
  } catch {
    return undefined
  }
}

/** Whole or not at all, since V8 would believe a torn one. */
const keepFile = (folder, name, bytes) => {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const draft = join(folder, `${name}.${process.pid}`)
  const file = fs.openSync(draft, 'w', 0o600)
  try {
    fs.writeFileSync(file, bytes)
    fs.fsyncSync(file)
  } finally {
    fs.closeSync(file)
  }
  fs.renameSync(draft, join(folder, name))
}
