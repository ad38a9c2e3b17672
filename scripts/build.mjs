// Emits the installed program to dist/: ESM in chunks, dependencies included, so that a start
// reads few files and a command loads only the provider, server or screen it uses (each behind a
// dynamic import). The new bundle replaces the old one whole, dated when its sources were read: a
// source saved while it was built counts as newer.
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { resolve } from 'node:path'
import { chdir } from 'node:process'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

chdir(fileURLToPath(new URL('..', import.meta.url)))
await import('./generate.mjs')

/**
 * A chunk that Node loads faster. Text beyond ASCII, even one character of it, makes Node keep the
 * whole file at two bytes a character and read it by the slow way; and a module of Node's own that
 * is imported has every export looked at, which runs the loaders of those that were lazy.
 */
const quickToLoad = (code) =>
  code
    .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/^import (.+) from "(node:[a-z/_]+)";$/gm, (_, names, builtin) => {
      const [, whole, some] = /^(?:([\w$]+))?(?:, )?(\{.*\})?$/.exec(names)
      const from = `process.getBuiltinModule("${builtin}")`
      return [whole, some?.replaceAll(' as ', ': ')]
        .filter((name) => name !== undefined)
        .map((name) => `const ${name} = ${from};`)
        .join(' ')
    })

/**
 * What is loaded together is one chunk: each file costs a start a millisecond. First match wins;
 * everything else (a provider, a read, a migration) is a chunk of its own, loaded when it is used.
 */
const groups = [
  {
    name: 'base',
    test: /src\/(domain|protocol\/(?!config)|exec|present|cli|client|models\/nearest)|commander/,
  },
  { name: 'zod', test: /node_modules\/zod\// },
  { name: 'ledger', test: /src\/ledger\/(?!migrations)|node_modules\/kysely\// },
  { name: 'runtime', test: /src\/(runtime|context|tools\/(?!patch\.ts))|node_modules\/tokenx\// },
  {
    name: 'model',
    test: /src\/models\/(?!anthropic|google|openai|runbook)|@ai-sdk\/provider|eventsource-parser/,
  },
].map((group, at, { length }) => ({ ...group, priority: length - at }))

const started = new Date()
const bundle = await rolldown({
  input: { main: 'src/main.ts' },
  platform: 'node',
  // The provider libraries make a `Headers` for every request; Node's own comes with all of undici,
  // which costs a start 40 ms. Ours does the same for them: src/models/fetch-conformance.test.ts.
  transform: { inject: { Headers: [resolve('src/models/fetch-response.ts'), 'PlainHeaders'] } },
  // A bundle that warns is a bundle that breaks at the user's: unresolved imports are errors.
  onLog: (level, log) => {
    if (level === 'warn') throw new Error(log.message)
  },
})
rmSync('dist-next', { recursive: true, force: true })
await bundle.write({
  dir: 'dist-next',
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunk-[name].js',
  minify: { mangle: false, compress: true, codegen: { removeWhitespace: false } },
  codeSplitting: { groups },
  comments: { legal: true, annotation: false, jsdoc: false },
})
await bundle.close()
for (const name of readdirSync('dist-next')) {
  const path = `dist-next/${name}`
  writeFileSync(path, quickToLoad(readFileSync(path, 'utf8')))
}
utimesSync('dist-next/main.js', started, started)
rmSync('dist', { recursive: true, force: true })
renameSync('dist-next', 'dist')

const files = readdirSync('dist').filter((name) => existsSync(`dist/${name}`))
for (const name of files) {
  console.log(`${String(statSync(`dist/${name}`).size).padStart(9)} dist/${name}`)
}
