/**
 * What `bin/holon` starts in a clone: its bundle, its sources where one is newer, and before
 * anything was built a build. Each clone is a small one, whose build writes a small bundle.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'

const root = join(import.meta.dirname, '..')
const building = 'holon: builds itself for its first start, which takes 3 seconds\n'

/** A build that keeps count, and writes a bundle that says so. */
const script = `
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { openDraft, placeBundle } from './bundle-folder.mjs'
process.chdir(new URL('..', import.meta.url).pathname)
appendFileSync('builds', 'built ')
const draft = openDraft('dist')
const code = "console.log('from the bundle')"
writeFileSync(draft + '/main.cjs', '(function (exports, require, module, __filename) {' + code + '})')
placeBundle('dist', { draft, build: 'a'.repeat(16), started: new Date(), alone: false })
`

function cloneIn(t: TestContext, { build = script, rolldown = true } = {}) {
  const clone = realpathSync(mkdtempSync(join(tmpdir(), 'holon-clone-')))
  t.after(() => rmSync(clone, { recursive: true, force: true }))
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(clone, path)), { recursive: true })
    writeFileSync(join(clone, path), content)
  }
  cpSync(join(root, 'bin'), join(clone, 'bin'), { recursive: true })
  write('package.json', '{ "type": "module" }')
  write('src/main.ts', `console.log('from its sources')`)
  write('scripts/build.mjs', build)
  for (const name of ['bundle-folder.mjs', 'prepare.mjs']) {
    cpSync(join(root, 'scripts', name), join(clone, 'scripts', name))
  }
  if (rolldown) write('node_modules/rolldown/package.json', '{}')
  const aged = (path: string, by_ms: number) => {
    const at = new Date(Date.now() + by_ms)
    utimesSync(join(clone, path), at, at)
  }
  const command = [join(clone, 'bin/holon.mjs')]
  const start = () => {
    const { stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', env: {} })
    return { stdout, stderr }
  }
  const builds = () =>
    existsSync(join(clone, 'builds')) ? readFileSync(join(clone, 'builds'), 'utf8') : ''
  const prepare = () => {
    const options = { cwd: clone, encoding: 'utf8', env: {} } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/prepare.mjs'], options)
    return { status, stdout, stderr }
  }
  return { clone, command, write, aged, start, builds, prepare }
}

test('the first start builds, says so in one line, and the next ones start what was built', (t) => {
  const { start, builds } = cloneIn(t)
  assert.deepEqual(start(), { stdout: 'from the bundle\n', stderr: building })
  assert.deepEqual(start(), { stdout: 'from the bundle\n', stderr: '' })
  assert.equal(builds(), 'built ')
})

test('an install builds, and its first start does not', (t) => {
  const { prepare, start, builds } = cloneIn(t)
  assert.deepEqual(prepare(), { status: 0, stdout: '', stderr: '' })
  assert.deepEqual(start(), { stdout: 'from the bundle\n', stderr: '' })
  assert.equal(builds(), 'built ')
})

test('an install goes on where nothing can be built', (t) => {
  for (const lacking of [{ build: 'throw new Error()' }, { rolldown: false }]) {
    const { prepare, clone, write } = cloneIn(t, lacking)
    write('node_modules/.package-lock.json', '{}')
    assert.deepEqual(prepare(), { status: 0, stdout: '', stderr: '' })
    assert.equal(existsSync(join(clone, 'node_modules/.bin/holon')), true)
    assert.equal(existsSync(join(clone, 'dist')), false)
  }
})

test('a source that is newer than the bundle is run as it is; a test is no source', (t) => {
  const { start, builds, write, aged } = cloneIn(t)
  start()
  write('src/main.test.ts', '')
  aged('src/main.test.ts', 60_000)
  assert.deepEqual(start(), { stdout: 'from the bundle\n', stderr: '' })
  aged('src/main.ts', 60_000)
  assert.deepEqual(start(), { stdout: 'from its sources\n', stderr: '' })
  assert.equal(builds(), 'built ')
})

test('a clone without what builds it starts from its sources, and says nothing', (t) => {
  const { start, builds } = cloneIn(t, { rolldown: false })
  assert.deepEqual(start(), { stdout: 'from its sources\n', stderr: '' })
  assert.equal(builds(), '')
})

test('a build that fails is told, and the command does its work all the same', (t) => {
  const { start } = cloneIn(t, { build: `throw new TypeError('no such option')` })
  assert.deepEqual(start(), {
    stdout: 'from its sources\n',
    stderr:
      building +
      'holon: could not be built, and runs from its sources; TypeError: no such option\n',
  })
})

test('a bundle that is named and gone is built again', (t) => {
  const { start, builds, clone } = cloneIn(t)
  start()
  rmSync(join(clone, 'dist', 'a'.repeat(16)), { recursive: true })
  assert.deepEqual(start(), { stdout: 'from the bundle\n', stderr: building })
  assert.equal(builds(), 'built built ')
})

test('first starts at once each end well', async (t) => {
  const { command } = cloneIn(t)
  const said = await Promise.all(
    Array.from({ length: 4 }, () => {
      const { stdout } = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'ignore'] })
      return text(stdout)
    }),
  )
  assert.deepEqual(said, Array(4).fill('from the bundle\n'))
})
