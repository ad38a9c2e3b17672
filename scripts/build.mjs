// Emits the installed program to dist/: scripts in chunks, dependencies included, so that a start
// reads few files and a command loads only the provider or server it uses (each behind a dynamic
// import). bin/bundle.mjs loads them, each with what an earlier run had compiled of it. The
// programs beside are modules. With `--alone` earlier bundles go at once.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { argv, chdir } from 'node:process'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { openDraft, placeBundle } from './bundle-folder.mjs'
import { englishOnly, libraryChanges } from './library-changes.mjs'

chdir(fileURLToPath(new URL('..', import.meta.url)))
await import('./generate.mjs')

/**
 * Modules of Node's own that a start does not need: their functions are looked up when they are
 * called, since loading `node:util` takes 4 ms, and what `node:child_process` loads more.
 */
const whenCalled = {
  name: 'when-called',
  resolveId: (id) => (/^(node:)?(child_process|util)$/.test(id) ? `\0${id}` : null),
  load(id) {
    if (!id.startsWith('\0')) return null
    const name = id.slice(1)
    const all = Object.entries(process.getBuiltinModule(name))
    const late = (of) => `new Proxy({}, { get: (_, key) => it()${of}[key] })`
    const are = (kind) => all.filter(([, value]) => typeof value === kind).map(([key]) => key)
    return [
      `const it = () => process.getBuiltinModule('${name}')`,
      ...are('object').map((key) => `export const ${key} = ${late(`.${key}`)}`),
      ...are('function').map((key) => `export const ${key} = (...of) => it().${key}(...of)`),
      `export default ${late('')}`,
    ].join('\n')
  },
}

/**
 * A chunk that Node loads faster: text beyond ASCII, even one character of it, makes V8 keep the
 * whole file at two bytes a character and read it by the slow way.
 */
const inAscii = (code) =>
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** As bin/bundle.mjs runs it: made here, so that a start joins no text. */
const inFunction = (code) => {
  const [left] = /^.*\bimport\(.*$/m.exec(code) ?? []
  if (left !== undefined) throw new Error(`a script cannot import: ${left}`)
  return `(function (exports, require, module, __filename) {${code}\n})\n`
}

/**
 * What is loaded together is one chunk: each file costs a start a millisecond, and each module in
 * it that nobody needs yet its evaluation. A group is what its roots import statically, whatever
 * that reaches; the first that has a module keeps it. `base` is what `holon run` needs to begin,
 * `http` what only requests and reads through the routes need, `rules` what both that and the
 * runtime decide by; everything else (a provider, a command, a migration) is a chunk of its own,
 * loaded when it is used.
 */
const roots = {
  base: [
    'main',
    'cli/run/run',
    'main/homes/secrets',
    'exec/daemon/daemon',
    'exec/commands/processes',
    'models/transport/fetch',
    /node_modules\/eventsource-parser\//,
  ],
  rules: [
    'domain/agents/task-end',
    'domain/memory/memory',
    'domain/memory/words',
    'domain/operator/can',
    'domain/operator/take-back',
    'domain/scheduler/excluded',
    'domain/work/item-record',
    'domain/work/recorded-changes',
  ],
  ledger: ['ledger/store/open', 'ledger/search/search-index'],
  schema: [/node_modules\/zod\//],
  runtime: ['runtime/host/host', 'runtime/memory/memory', 'exec/web/web'],
  model: ['models/catalogue/open-model', 'models/model-data', /@ai-sdk\/provider/],
  prose: ['present/markdown/lines'],
  present: ['cli/run/end', /src\/present\//],
  skeleton: ['main/commands/tui'],
  tui: ['tui/follow'],
  draw: ['tui/app'],
  door: [
    'http/control-endpoint',
    'http/gate/token',
    'http/gate/own-hosts',
    'http/inbound/signature',
  ],
  serve: ['main/serve/serve', 'http/server'],
  http: [/src\/(http|protocol)\/(?!answering)|node_modules\/(@hono\/zod|hono|@asteasolutions)/],
  answering: ['http/answering'],
}

const isRoot = (id) => (root) =>
  typeof root === 'string' ? id === resolve(`src/${root}.ts`) : root.test(id)

/** The chunks that hold a library which most starts do without. */
const late = { marked: ['prose'], ink: ['draw'], react: ['draw'], diff: ['libesm', 'patch'] }

/** The chunks without which a list is read: what the owner of a home, or a server, works with. */
const unread = ['runtime', 'model', 'serve', 'answering']

/** The group of every module that has one, by its id, once all are known. */
const groupOf = new Map()
const grouping = {
  name: 'grouping',
  buildEnd() {
    const all = [...this.getModuleIds()]
    for (const [name, of] of Object.entries(roots)) {
      const reached = all.filter((id) => of.some(isRoot(id)))
      if (reached.length < of.length) throw new Error(`the chunk ${name} has a root that is gone`)
      for (const id of reached) {
        if (groupOf.has(id)) continue
        groupOf.set(id, name)
        reached.push(...(this.getModuleInfo(id)?.importedIds ?? []))
      }
    }
  },
}
const groups = Object.keys(roots).map((name, at, { length }) => ({
  name,
  test: (id) => groupOf.get(id) === name,
  priority: length - at,
}))

/** A script cannot import, and Node's own modules need not be. */
const builtinsAtOnce = {
  name: 'builtins-at-once',
  transform(code) {
    const asked = /\bimport\((['"](?:node:[a-z/]+|https?)['"])\)/g
    return asked.test(code)
      ? code.replace(asked, 'Promise.resolve(process.getBuiltinModule($1))')
      : null
  },
}

/**
 * A bundle that warns is a bundle that breaks at the user's: unresolved imports are errors. That a
 * module is loaded late by one and imported by another, itself late, is how it should be.
 */
const strict = (level, log) => {
  if (level === 'warn' && log.code !== 'INEFFECTIVE_DYNAMIC_IMPORT') throw new Error(log.message)
}

/**
 * Programs that the daemon starts as processes of their own, by their own path. Each is one module
 * that shares no chunk with the rest: loading one must not load, nor run, the main program.
 */
const modules = {
  'acp-driver': 'src/exec/acp/driver.ts',
  terminal: 'src/exec/commands/terminal.ts',
  'output-reader': 'src/exec/commands/output-reader.ts',
  standby: 'src/main/serve/standby.ts',
  'page-reader': 'src/exec/web/page-reader.ts',
  relay: 'src/exec/hosts/relay.ts',
}
/** Loaded from node_modules as they are: native parts cannot be bundled. */
const external = ['@lydell/node-pty']
const draft = openDraft('dist')
/** How every file of a bundle is written. */
const written = {
  dir: draft,
  minify: { mangle: false, compress: true, codegen: { removeWhitespace: false } },
  comments: { legal: true, annotation: false, jsdoc: false },
}
const transform = { define: { 'process.env.NODE_ENV': '"production"' } }

const started = new Date()
const bundle = await rolldown({
  input: { main: 'src/main.ts' },
  platform: 'node',
  plugins: [builtinsAtOnce, whenCalled, ...libraryChanges, grouping],
  transform,
  onLog: strict,
})
const { output } = await bundle.write({
  ...written,
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunk-[name].cjs',
  codeSplitting: { groups },
})
await bundle.close()
for (const [library, chunks] of Object.entries(late)) {
  const holds = ({ moduleIds = [] }) =>
    moduleIds.some((id) => id.includes(`/node_modules/${library}/`))
  const where = output.filter(holds).map(({ name }) => name)
  const [meant, found] = [chunks.join(', '), where.toSorted().join(', ')]
  if (found !== meant) {
    throw new Error(`${library} is to be loaded late, in the chunks ${meant}, and is in ${found}`)
  }
}
const known = new Map(output.map((chunk) => [chunk.fileName, chunk]))
const loaded = new Set(['chunk-http.cjs'])
for (const file of loaded) {
  const { name, imports = [] } = known.get(file) ?? { name: file }
  if (unread.includes(name)) throw new Error(`what reads a list would load the chunk ${name}`)
  for (const one of imports) loaded.add(one)
}
for (const [name, path] of Object.entries(modules)) {
  const program = await rolldown({
    input: { [name]: path },
    platform: 'node',
    plugins: [englishOnly],
    transform,
    external,
    onLog: strict,
  })
  await program.write({
    ...written,
    format: 'esm',
    entryFileNames: '[name].js',
    codeSplitting: false,
  })
  await program.close()
}
const built = createHash('sha256')
for (const name of readdirSync(draft).toSorted()) {
  const path = `${draft}/${name}`
  const text = inAscii(readFileSync(path, 'utf8'))
  const code = name.endsWith('.cjs') ? inFunction(text) : text
  writeFileSync(path, code)
  built.update(`${name} ${code.length}\n${code}`)
}
const build = built.digest('hex').slice(0, 16)
placeBundle('dist', { draft, build, started, alone: argv.includes('--alone') })

for (const name of readdirSync(`dist/${build}`)) {
  const { size } = statSync(`dist/${build}/${name}`)
  console.log(`${String(size).padStart(9)} dist/${build}/${name}`)
}
