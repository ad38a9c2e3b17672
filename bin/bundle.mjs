// Loads the bundle: chunks that are scripts, each compiled with what an earlier run had compiled of
// it by the time it was at work. Node's own cache keeps only what was compiled when a module was
// loaded, so every function that a start calls would be compiled again at every start.

const builtin = (name) => process.getBuiltinModule(name)
const fs = builtin('node:fs')
const { hash } = builtin('node:crypto')
const { Script } = builtin('node:vm')

/** Bytes of a hash, behind the code it is of: V8 copies what does not begin at a whole word. */
const HASH_BYTES = 20

/** Commands call different functions, and what was kept for one is much too little for another. */
const kinds = new Set(['run', 'serve', 'tui'])

/**
 * Runs `main.cjs` of the folder `dist`, an absolute path. Compiled code is kept in `cache`, by the
 * build, the version of Node and the kind of command, each file with its hash: V8 compares no more
 * than the length of a script, and runs what a flipped bit made of its code.
 */
export const loadBundle = (dist, cache) => {
  const [, , command = 'tui'] = process.argv
  const kind = kinds.has(command) ? command : 'other'
  const build = fs.readFileSync(`${dist}/build-id`, 'latin1')
  const kept = `${cache}/${build}-${process.version}-${process.arch}-${kind}`
  const isOff = process.env['NODE_DISABLE_COMPILE_CACHE'] === '1'
  const loaded = new Map()
  const unkept = new Map()

  const load = (name) => {
    if (!name.startsWith('./')) return builtin(name)
    const known = loaded.get(name)
    if (known !== undefined) return known.exports
    const chunk = { exports: {} }
    loaded.set(name, chunk)
    const path = `${dist}/${name.slice(2)}`
    const script = new Script(fs.readFileSync(path, 'latin1'), {
      filename: path,
      cachedData: isOff ? undefined : keptIn(`${kept}/${name}`),
    })
    if (script.cachedDataRejected !== false) unkept.set(name, script)
    script.runInThisContext()(chunk.exports, load, chunk, path)
    return chunk.exports
  }

  const keep = () => {
    try {
      if (unkept.size > 0 && fs.mkdirSync(kept, { recursive: true, mode: 0o700 }) !== undefined) {
        clearOthers(cache, build)
      }
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

/** What was compiled of a bundle that was replaced is of no use to anybody. */
const clearOthers = (cache, build) => {
  for (const name of fs.readdirSync(cache)) {
    const isOurs = /^[0-9a-f]{16}-v/.test(name)
    if (isOurs && !name.startsWith(build)) fs.rmSync(`${cache}/${name}`, { recursive: true })
  }
}

const hashOf = (bytes) => hash('sha1', bytes, 'buffer')

/** Undefined: there is none, or not the bytes that were kept. */
const keptIn = (path) => {
  try {
    const bytes = fs.readFileSync(path)
    const code = bytes.subarray(0, -HASH_BYTES)
    return hashOf(code).equals(bytes.subarray(-HASH_BYTES)) ? code : undefined
  } catch {
    return undefined
  }
}

const keepFile = (folder, name, code) => {
  const draft = `${folder}/${name}.${process.pid}`
  fs.writeFileSync(draft, Buffer.concat([code, hashOf(code)]), { mode: 0o600 })
  fs.renameSync(draft, `${folder}/${name}`)
}
