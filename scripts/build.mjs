// Emits the installed program to dist/: ESM in chunks, dependencies included, so that a start
// reads few files and a command loads only the provider, server or screen it uses (each behind a
// dynamic import). The new bundle replaces the old one whole, dated when its sources were read: a
// source saved while it was built counts as newer.
import { existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { chdir } from 'node:process'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

chdir(fileURLToPath(new URL('..', import.meta.url)))
await import('./generate.mjs')

const started = new Date()
const bundle = await rolldown({
  input: { main: 'src/main.ts' },
  platform: 'node',
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
})
await bundle.close()
utimesSync('dist-next/main.js', started, started)
rmSync('dist', { recursive: true, force: true })
renameSync('dist-next', 'dist')

const files = readdirSync('dist').filter((name) => existsSync(`dist/${name}`))
for (const name of files) {
  console.log(`${String(statSync(`dist/${name}`).size).padStart(9)} dist/${name}`)
}
