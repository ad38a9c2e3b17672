// The path policy against a real disk: links, devices, and folders swapped while being opened.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { FileFault } from './file-fault.ts'
import type { Roots } from '../ports.ts'
import { openWithin } from './roots.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-roots-')))
const at = (name: string) => join(folder, name)
after(() => rmSync(folder, { recursive: true, force: true }))

for (const name of ['ws/sub', 'ws/.git/hooks', 'own', 'read', 'out', 'state/agents/main']) {
  mkdirSync(at(name), { recursive: true })
}
const written = ['ws/a', 'ws/sub/b', 'ws/.git/hooks/x', 'read/r', 'out/secret', 'state/token']
for (const name of written) writeFileSync(at(name), name)
const links: [string, string][] = [
  ['ws/in', 'sub/b'],
  ['ws/in-folder', 'sub'],
  ['ws/out', '../out/secret'],
  ['ws/out-folder', '../out'],
  ['ws/out-absolute', at('out/secret')],
  ['ws/twice', 'out'],
  ['ws/round', 'round'],
  ['ws/nowhere', '../out/not-yet'],
  ['ws/proc', '/proc/self/environ'],
  ['ws/dev', '/dev/zero'],
  ['ws/hooks', '.git/hooks'],
  ['ws/token', '../state/token'],
  ['ws-link', 'ws'],
]
for (const [name, target] of links) symlinkSync(target, at(name))
execFileSync('mkfifo', [at('ws/fifo')])

const roots: Roots = {
  write: [at('ws-link'), at('own'), at('state/agents/main')],
  read: [at('read')],
  read_only: [],
  deny: [at('state')],
}

async function read(path: string): Promise<string> {
  const opened = await openWithin(roots, path, 'read')
  try {
    return Buffer.from((await opened.read()).bytes).toString()
  } finally {
    await opened.close()
  }
}

async function write(path: string, text: string): Promise<string> {
  const opened = await openWithin(roots, path, 'write')
  try {
    await opened.replace(text)
    return opened.path
  } finally {
    await opened.close()
  }
}

/** What came of it: the value, or the fault's code. */
async function outcome(act: Promise<string>): Promise<string> {
  return act.catch((error: unknown) => {
    assert(error instanceof FileFault, String(error))
    return error.code
  })
}

test('reading follows links inside the roots and none that leads out', async () => {
  const table: [string, string][] = [
    ['ws/a', 'ws/a'],
    ['ws/in', 'ws/sub/b'],
    ['ws/in-folder/b', 'ws/sub/b'],
    ['ws-link/a', 'ws/a'],
    ['ws/sub/../a', 'ws/a'],
    ['ws//sub/./b', 'ws/sub/b'],
    ['read/r', 'read/r'],
    ['ws/../out/secret', 'denied'],
    ['ws/out', 'denied'],
    ['ws/out-folder/secret', 'denied'],
    ['ws/out-absolute', 'denied'],
    ['ws/twice', 'denied'],
    ['ws/proc', 'denied'],
    ['ws/dev', 'denied'],
    ['ws/hooks/x', 'denied'],
    ['ws/.git/hooks/x', 'denied'],
    ['ws/token', 'denied'],
    ['state/token', 'denied'],
    ['out/secret', 'denied'],
    ['ws/round', 'not_regular'],
    ['ws/fifo', 'not_regular'],
    ['ws/sub', 'is_folder'],
    ['ws/no', 'not_found'],
    ['ws/nowhere', 'not_found'],
    ['ws/a/b', 'not_found'],
  ]
  const seen = []
  for (const [name] of table) seen.push([name, await outcome(read(`${folder}/${name}`))])
  assert.deepEqual(seen, table)
})

test('writing keeps to the roots, through links and new folders too', async () => {
  const table: [string, string][] = [
    ['ws/new', 'ws/new'],
    ['ws/deep/er/new', 'ws/deep/er/new'],
    ['ws-link/new', 'ws/new'],
    ['ws/in', 'ws/sub/b'],
    ['ws/in-folder/new', 'ws/sub/new'],
    ['state/agents/main/notes/x', 'state/agents/main/notes/x'],
    ['state/agents/other/x', 'denied'],
    ['state/agents/main/../other/x', 'denied'],
    ['read/r', 'denied'],
    ['read/new', 'denied'],
    ['ws/out', 'denied'],
    ['ws/out-folder/new', 'denied'],
    ['ws/out-folder/deep/new', 'denied'],
    ['ws/nowhere', 'not_found'],
    ['ws/round', 'not_regular'],
    ['ws/dev', 'denied'],
    ['ws/hooks/new', 'denied'],
    ['ws/.git/hooks/new', 'denied'],
    ['ws/.git/config', 'denied'],
    ['ws/fifo', 'not_regular'],
    ['ws/sub', 'is_folder'],
    ['ws/a/b', 'not_found'],
  ]
  const seen = []
  for (const [name] of table) {
    const came = await outcome(write(`${folder}/${name}`, 'written'))
    seen.push([name, came.replace(`${folder}/`, '')])
  }
  assert.deepEqual(seen, table)
  assert.deepEqual(readdirSync(at('out')), ['secret'])
  assert.equal(readFileSync(at('out/secret'), 'utf8'), 'out/secret')
  assert.deepEqual(readdirSync(at('ws/.git/hooks')), ['x'])
})

test('an opened path is read, replaced with its mode, and removed', async () => {
  writeFileSync(at('own/script'), 'one')
  chmodSync(at('own/script'), 0o755)
  linkSync(at('own/script'), at('out/hard'))
  const opened = await openWithin(roots, at('own/script'), 'write')
  const first = await opened.read()
  await opened.replace('two')
  const second = await opened.read()
  assert.deepEqual(
    [first, second].map((file) => Buffer.from(file.bytes).toString()),
    ['one', 'two'],
  )
  assert.equal(statSync(at('own/script')).mode & 0o777, 0o755)
  // Another name of the old file, outside the roots, keeps the old bytes.
  assert.equal(readFileSync(at('out/hard'), 'utf8'), 'one')
  await opened.remove()
  assert.equal(existsSync(at('own/script')), false)
  await assert.rejects(opened.read(), { code: 'not_found' })
  await opened.close()
  await opened.close()
  rmSync(at('out/hard'))
})

test('what is no file is not written, nor what a link leads to, nor what took the place of a file', async () => {
  execFileSync('mkfifo', [at('own/pipe')])
  symlinkSync('pipe', at('own/to-pipe'))
  mkdirSync(at('own/folder'))
  symlinkSync('folder', at('own/to-folder'))
  for (const [name, code] of [
    ['pipe', 'not_regular'],
    ['to-pipe', 'not_regular'],
    ['folder', 'is_folder'],
    ['to-folder', 'is_folder'],
  ] as const) {
    await assert.rejects(openWithin(roots, at(`own/${name}`), 'write'), { code }, name)
  }
  writeFileSync(at('own/changes'), 'one')
  const opened = await openWithin(roots, at('own/changes'), 'write')
  rmSync(at('own/changes'))
  symlinkSync('script', at('own/changes'))
  await assert.rejects(opened.replace('two'), {
    code: 'not_regular',
    message: `${at('own/changes')}: it is not a regular file any more`,
  })
  assert.equal(lstatSync(at('own/changes')).isSymbolicLink(), true)
  await opened.close()
  for (const name of ['pipe', 'to-pipe', 'to-folder', 'changes']) rmSync(at(`own/${name}`))
  rmSync(at('own/folder'), { recursive: true })
})

test('a path opened for reading refuses to change, and reads the same bytes twice', async () => {
  const opened = await openWithin(roots, at('read/r'), 'read')
  const texts = [await opened.read(), await opened.read()].map((file) => file.sha256)
  assert.equal(texts[0], texts[1])
  await assert.rejects(opened.replace('x'), /opened for reading/)
  await assert.rejects(opened.read(2), { code: 'too_large' })
  await opened.close()
})

test('a refusal says what the path really is', async () => {
  const really = `${at('ws/out')} (really ${at('out/secret')})`
  await assert.rejects(openWithin(roots, at('ws/out'), 'read'), {
    message: `${really}: it is outside the folders this agent works in`,
  })
  await assert.rejects(openWithin(roots, 'a', 'read'), { message: '"a": the path is not absolute' })
})

test('a folder swapped for a link while it is opened never leads out', async () => {
  mkdirSync(at('ws/race-a'))
  writeFileSync(at('ws/race-a/f'), 'inside')
  writeFileSync(at('out/f'), 'outside')
  // Swaps ws/race between a real folder and a link to the outside, as fast as it can. A write may
  // make a folder of that name while neither is there; that one is removed.
  const swapper = `
    const { renameSync, rmSync, symlinkSync } = require('node:fs')
    process.chdir(${JSON.stringify(at('ws'))})
    symlinkSync('../out', 'race-b')
    process.stdout.write('ready')
    const swap = (name) => {
      try {
        renameSync(name, 'race')
      } catch {
        try { rmSync('race', { recursive: true, force: true }) } catch {}
        return
      }
      renameSync('race', name)
    }
    for (;;) { swap('race-a'); swap('race-b') }`
  const child = spawn(process.execPath, ['-e', swapper], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  await once(child.stdout, 'data')
  const seen = new Set<string>()
  // As long as it takes for the race to have been one, and a bound for when it never is.
  const raced = () => seen.has('inside') && seen.has('denied')
  for (let i = 0; i < 400 || (!raced() && i < 20_000); i++) {
    seen.add(await outcome(read(at('ws/race/f'))))
    const path = await outcome(write(at('ws/race/f'), 'inside'))
    seen.add(path.startsWith(at('ws')) ? 'written inside' : path)
  }
  child.kill('SIGKILL')
  assert.deepEqual(await exit, [null, 'SIGKILL'], 'it swapped to the end')
  assert.equal(readFileSync(at('out/f'), 'utf8'), 'outside')
  assert(raced(), `the race must have been one: ${[...seen]}`)
  const possible = ['inside', 'written inside', 'denied', 'not_found', 'io', 'not_regular']
  assert.deepEqual(
    [...seen].filter((one) => !possible.includes(one)),
    [],
  )
  assert.deepEqual(readdirSync(at('out')).toSorted(), ['f', 'secret'])
})

test('a file swapped for a link while it is opened never leads out', async () => {
  writeFileSync(at('ws/swap-a'), 'inside')
  writeFileSync(at('out/target'), 'outside')
  // Renames a file and a link to the outside over one name in turn: it always leads somewhere.
  const swapper = `
    const { renameSync, symlinkSync, writeFileSync } = require('node:fs')
    process.chdir(${JSON.stringify(at('ws'))})
    process.stdout.write('ready')
    for (;;) {
      writeFileSync('swap-b', 'inside')
      renameSync('swap-b', 'swap')
      symlinkSync('../out/target', 'swap-c')
      renameSync('swap-c', 'swap')
    }`
  const child = spawn(process.execPath, ['-e', swapper], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  await once(child.stdout, 'data')
  const seen = new Set<string>()
  // As long as it takes for the race to have been one, and a bound for when it never is.
  const raced = () => seen.has('inside') && seen.has('denied')
  for (let i = 0; i < 400 || (!raced() && i < 20_000); i++) {
    seen.add(await outcome(read(at('ws/swap'))))
    const path = await outcome(write(at('ws/swap'), 'inside'))
    seen.add(path.startsWith(at('ws')) ? 'written inside' : path)
  }
  child.kill('SIGKILL')
  assert.deepEqual(await exit, [null, 'SIGKILL'], 'it swapped to the end')
  assert.equal(readFileSync(at('out/target'), 'utf8'), 'outside')
  assert(raced(), `the race must have been one: ${[...seen]}`)
  const possible = ['inside', 'written inside', 'denied', 'not_found', 'io', 'not_regular']
  assert.deepEqual(
    [...seen].filter((one) => !possible.includes(one)),
    [],
  )
})
