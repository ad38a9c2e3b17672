// Modes of private files on a real disk, and whole-file writes by many processes at once.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemFiles } from './files.ts'
import { checkPrivate, readSecretFile } from './private-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'holon-private-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** A home as the runtime makes it. */
function home(name: string): string {
  const path = join(folder, name)
  for (const below of ['', 'ledger']) mkdirSync(join(path, below), { mode: 0o700 })
  for (const file of ['control-token', 'trigger-secret']) {
    writeFileSync(join(path, file), 'x', { mode: 0o600 })
  }
  return path
}

function secretFile(name: string, text: string | Uint8Array, mode = 0o600): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

test('a home as it is made, and one that is not there, are private', async () => {
  assert.deepEqual(await checkPrivate(home('right'), [secretFile('right-key', 'x')]), [])
  assert.deepEqual(await checkPrivate(join(folder, 'none'), [join(folder, 'no-key')]), [])
  chmodSync(join(folder, 'right', 'control-token'), 0o400)
  chmodSync(join(folder, 'right'), 0o500)
  assert.deepEqual(await checkPrivate(join(folder, 'right')), [])
  chmodSync(join(folder, 'right'), 0o700)
})

const open: [what: string, file: string, mode: number, said: string, remedy: string][] = [
  ['the home listed by the group', '', 0o750, 'read by others (0750)', 'chmod 700'],
  ['the home entered by all', '', 0o711, 'entered by others (0711)', 'chmod 700'],
  ['the ledger', 'ledger', 0o755, 'read by others (0755)', 'chmod 700'],
  ['the token', 'control-token', 0o644, 'read by others (0644)', 'chmod 600'],
  ['the token of the group', 'control-token', 0o640, 'read by others (0640)', 'chmod 600'],
  [
    'the token written by the group',
    'control-token',
    0o620,
    'changed by others (0620)',
    'chmod 600',
  ],
  ['the secret of triggers', 'trigger-secret', 0o604, 'read by others (0604)', 'chmod 600'],
]
for (const [what, file, mode, said, remedy] of open) {
  test(`${what}: ${said}, and the line that closes it`, async () => {
    const path = join(home(what.replaceAll(' ', '-')), file).replace(/\/$/, '')
    chmodSync(path, mode)
    const at = join(folder, what.replaceAll(' ', '-'))
    const message = `${path} can be ${said}`
    const refusal = { code: 'not_private', path, message, hint: `${remedy} ${path}` }
    assert.deepEqual(await checkPrivate(at), [refusal])
    chmodSync(path, remedy.endsWith('700') ? 0o700 : 0o600)
    assert.deepEqual(await checkPrivate(at), [])
  })
}

test('a link counts as the file it leads to, and a path is quoted for the shell', async () => {
  const key = secretFile("ada's key", 'x', 0o644)
  const link = join(folder, 'link')
  symlinkSync(key, link)
  const [byPath, byLink] = await checkPrivate(home('quoted'), [key, link])
  assert.equal(byPath?.hint, `chmod 600 '${folder}/ada'\\''s key'`)
  assert.equal(byLink?.message, `${link} can be read by others (0644)`)
})

const isRoot = process.getuid?.() === 0
test('what belongs to another user is refused', { skip: !isRoot && 'needs root' }, async () => {
  const path = secretFile('foreign', 'x')
  chownSync(path, 4_321, 0)
  const message = `${path} belongs to another user (4321; this is 0)`
  const hint = `sudo chown 0 ${path}, or choose another place`
  const refusal = { code: 'not_private', path, message, hint }
  assert.deepEqual(await checkPrivate(home('foreign-key'), [path]), [refusal])
})

test('a secret is read without the white space around it', async () => {
  const path = secretFile('key', '  whsec_abc \n')
  assert.deepEqual(await readSecretFile(path), { ok: true, text: 'whsec_abc' })
})

test('a secret that is open, absent, no text, too large or no file is refused, and not shown', async () => {
  const hint = 'put one secret into that file and make it readable by this user only'
  const table: [string, string, string, string][] = [
    [secretFile('open', 'topsecret', 0o640), 'not_private', 'can be read by others (0640)', ''],
    [join(folder, 'absent'), 'unreadable', ': there is no such file or folder', hint],
    [secretFile('binary', Uint8Array.of(0xff, 0xfe)), 'unreadable', ': it is no text', hint],
    [secretFile('large', 'x'.repeat(65_537)), 'unreadable', 'at most 65536 are read', hint],
    [home('a-folder'), 'unreadable', ': it is a folder', hint],
  ]
  for (const [path, code, said, remedy] of table) {
    const read = await readSecretFile(path)
    assert(!read.ok)
    assert.equal(read.code, code)
    assert(read.message.startsWith(path) && read.message.endsWith(said), read.message)
    assert.equal(read.hint, remedy || `chmod 600 ${path}`)
  }
})

test('of 20 processes that write one JSON file at once none tears it', async () => {
  const shared = join(folder, 'shared')
  mkdirSync(shared)
  const path = join(shared, 'state.json')
  const files = new URL('./files.ts', import.meta.url).href
  const writer = `
    const { systemFiles } = await import(${JSON.stringify(files)})
    const files = systemFiles()
    let over = false
    process.stdin.once('end', () => { over = true })
    process.stdin.once('data', async () => {
      for (let n = 0; n < 10 || !over; n++) {
        const filling = process.argv[1].repeat(1 + (n % 10) * 4000)
        const text = JSON.stringify({ by: process.argv[1], n, filling })
        await files.write_atomic(${JSON.stringify(path)}, text, 0o600)
      }
      process.exit(0)
    })
    process.stdout.write('ready')`
  const writers = 'abcdefghijklmnopqrst'.split('').map((letter) =>
    spawn(process.execPath, ['--input-type=module', '-e', writer, letter], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  )
  await Promise.all(writers.map((child) => once(child.stdout, 'data')))
  const exits = Promise.all(writers.map((child) => once(child, 'exit')))
  for (const child of writers) child.stdin.write('go')
  const disk = systemFiles()
  const look = async () => {
    const { bytes, mode } = await disk.read(path)
    const { by, n, filling } = JSON.parse(Buffer.from(bytes).toString())
    assert.equal(filling, by.repeat(1 + (n % 10) * 4000))
    assert.equal(mode, 0o600)
    return `${by} ${n}`
  }
  // They write until enough of what they wrote was seen, however often each gets to run.
  const seen = new Set<string>()
  while (seen.size < 30) {
    await new Promise((next) => setImmediate(next))
    if (await disk.exists(path)) seen.add(await look())
  }
  for (const child of writers) child.stdin.end()
  assert.deepEqual(
    (await exits).map(([code]) => code),
    writers.map(() => 0),
  )
  await look()
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(shared), ['state.json'], 'no draft is left behind')
})
