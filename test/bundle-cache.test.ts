/**
 * The loader of the bundle (`bin/bundle.mjs`) on small bundles, each start a process: what it keeps
 * of one, and what it does not believe.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

const loader = new URL('../bin/bundle.mjs', import.meta.url).href

const wrapped = (code: string) => `(function (exports, require, module, __filename) {${code}\n})\n`

function bundleIn(t: TestContext, greeting = 'hello', build = 'aaaaaaaaaaaaaaaa') {
  const folder = mkdtempSync(join(tmpdir(), 'holon-bundle-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [dist, cache] = [join(folder, 'dist'), join(folder, 'cache')]
  mkdirSync(dist)
  write(dist, greeting, build)
  return { dist, cache }
}

function write(dist: string, greeting: string, build: string) {
  writeFileSync(join(dist, 'build-id'), build)
  writeFileSync(join(dist, 'main.cjs'), wrapped(`require('./chunk-a.cjs').greet(process.argv[2])`))
  writeFileSync(
    join(dist, 'chunk-a.cjs'),
    wrapped(`exports.greet = (to) => console.log('${greeting}', to)`),
  )
}

type Bundle = ReturnType<typeof bundleIn>

function run({ dist, cache }: Bundle, word = 'run', env: Record<string, string> = {}): string {
  const script = join(dist, '..', 'start.mjs')
  const asked = [dist, cache].map((path) => JSON.stringify(path)).join(', ')
  writeFileSync(script, `import { loadBundle } from '${loader}'\nloadBundle(${asked})\n`)
  return execFileSync(process.execPath, [script, word], { env, encoding: 'utf8' }).trim()
}

/** Every kept file, with what changes when it is written again. */
function kept({ cache }: Bundle): Record<string, string> {
  const found = readdirSync(cache, { recursive: true, encoding: 'utf8' }).toSorted()
  const files = found.map((name) => [name, statSync(join(cache, name), { bigint: true })] as const)
  return Object.fromEntries(
    files
      .filter(([, stat]) => stat.isFile())
      .map(([name, stat]) => [name, `${stat.ino} ${stat.mtimeNs}`]),
  )
}

const pathOf = (bundle: Bundle, chunk: string) =>
  join(
    bundle.cache,
    Object.keys(kept(bundle)).find((name) => name.endsWith(chunk)) ?? 'nothing is kept',
  )

test('what a run compiled is kept and used by the next', (t) => {
  const bundle = bundleIn(t)
  assert.equal(run(bundle), 'hello run')
  const before = kept(bundle)
  assert.equal(Object.keys(before).length, 2)
  assert.equal(run(bundle), 'hello run')
  assert.deepEqual(kept(bundle), before)
})

test('kinds of commands keep their own', (t) => {
  const bundle = bundleIn(t)
  run(bundle, 'run')
  run(bundle, 'serve')
  run(bundle, 'doctor')
  const kinds = Object.keys(kept(bundle)).map((name) => /-([a-z]+)\/main/.exec(name)?.[1])
  assert.deepEqual(
    kinds.filter((kind) => kind !== undefined),
    ['other', 'run', 'serve'],
  )
})

test('another build of the same length runs as it is written, and the first is cleared away', (t) => {
  const bundle = bundleIn(t)
  run(bundle)
  write(bundle.dist, 'howdy', 'bbbbbbbbbbbbbbbb')
  assert.equal(run(bundle), 'howdy run')
  assert.deepEqual(
    Object.keys(kept(bundle)).map((name) => name.slice(0, 16)),
    ['bbbbbbbbbbbbbbbb', 'bbbbbbbbbbbbbbbb'],
  )
})

const damages: [name: string, damage: (bytes: Buffer) => Buffer][] = [
  [
    'a flipped bit',
    (bytes) => (bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 4, bytes.length >> 1), bytes),
  ],
  ['a torn file', (bytes) => bytes.subarray(0, bytes.length >> 1)],
  ['an empty file', () => Buffer.alloc(0)],
  ['zeros', (bytes) => bytes.fill(0)],
]
for (const [name, damage] of damages) {
  test(`${name} is not believed, and replaced`, (t) => {
    const bundle = bundleIn(t)
    run(bundle)
    const path = pathOf(bundle, 'chunk-a.cjs')
    const whole = readFileSync(path)
    writeFileSync(path, damage(Buffer.from(whole)))
    assert.equal(run(bundle), 'hello run')
    assert.equal(readFileSync(path).length, whole.length)
    const after = kept(bundle)
    run(bundle)
    assert.deepEqual(kept(bundle), after)
  })
}

test('a cache that cannot be written changes nothing', (t) => {
  const bundle = bundleIn(t)
  writeFileSync(bundle.cache, 'a file where the folder should be')
  assert.equal(run(bundle), 'hello run')
})

test('with the cache of Node switched off nothing is kept', (t) => {
  const bundle = bundleIn(t)
  mkdirSync(bundle.cache)
  assert.equal(run(bundle, 'run', { NODE_DISABLE_COMPILE_CACHE: '1' }), 'hello run')
  assert.deepEqual(kept(bundle), {})
})
