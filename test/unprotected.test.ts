/**
 * What cannot be protected is told: output and log that cannot be written, registered secrets that
 * cannot be read, homes that others can change or that belong to another user.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, openSync } from 'node:fs'
import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { watch } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { unreadableSecrets } from '../src/main/homes/secrets.ts'
import type { Config } from '../src/protocol/config.ts'

const main = join(import.meta.dirname, '..', 'src', 'main.ts')
const environment = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' }
const full = { skip: existsSync('/dev/full') ? false : 'there is no /dev/full here' }

function place(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-told-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

type Told = { exit: number | null; err: string }

function holon(home: string, words: readonly string[], stdout: 'pipe' | number = 'pipe'): Told {
  const done = spawnSync(process.execPath, [main, ...words, '--home', home], {
    env: { ...environment, HOME: home },
    stdio: ['ignore', stdout, 'pipe'],
    encoding: 'utf8',
  })
  return { exit: done.status, err: done.stderr }
}

for (const words of [
  ['work', 'list'],
  ['--json', 'inbox'],
  ['--help'],
  ['doctor'],
  ['search', 'x'],
]) {
  test(`holon ${words.join(' ')} whose output cannot be written does not end well`, full, (t) => {
    const home = join(place(t), 'home')
    execFileSync(process.execPath, [main, 'agents', 'create', 'main', '--home', home], {
      env: { ...environment, HOME: home },
    })
    const { exit, err } = holon(home, words, openSync('/dev/full', 'w'))
    assert.equal(exit, 1)
    assert.match(err, /^holon: not all output could be written \(ENOSPC/m)
  })
}

/** Resolves when the daemon of the home says where it serves. */
async function served(home: string): Promise<string> {
  for await (const { filename } of watch(home)) {
    const path = join(home, 'door.json')
    if (filename !== 'door.json' || !existsSync(path)) continue
    return (JSON.parse(readFileSync(path, 'utf8')) as { url: string }).url
  }
  return assert.fail('nobody serves')
}

for (const lost of ['its log', 'what it prints', 'both']) {
  test(`a daemon of which ${lost} cannot be written serves all the same`, full, async (t) => {
    const home = join(place(t), 'home')
    mkdirSync(home, { mode: 0o700 })
    const nowhere = openSync('/dev/full', 'w')
    const serves = served(home)
    const [out, err] = [lost !== 'its log', lost !== 'what it prints']
    const daemon = spawn(process.execPath, [main, 'serve', '--port', '0', '--home', home], {
      env: { ...environment, HOME: home },
      stdio: ['ignore', out ? nowhere : 'ignore', err ? nowhere : 'ignore'],
    })
    t.after(() => daemon.kill('SIGKILL'))
    const url = await Promise.race([serves, once(daemon, 'exit').then(() => 'it ended')])
    for (let n = 0; n < 3; n += 1) assert.equal((await fetch(`${url}/healthz`)).status, 200)
    assert.equal((await fetch(`${url}/state`)).status, 401)
    assert.equal(daemon.exitCode, null)
    daemon.kill('SIGTERM')
    assert.deepEqual(await once(daemon, 'exit'), [0, null])
  })
}

test('a registered secret that cannot be read is named, however it cannot', async (t) => {
  const folder = place(t)
  const [empty, good, fifo] = ['empty', 'good', 'fifo'].map((name) => join(folder, name))
  assert.ok(empty && good && fifo)
  writeFileSync(empty, ' \n')
  writeFileSync(good, 'a-long-enough-secret')
  execFileSync('mkfifo', ['-m', '600', fifo])
  for (const file of [empty, good]) chmodSync(file, 0o600)
  const secrets: Config['secrets'] = {
    absent: { file: join(folder, 'absent') },
    folder: { file: folder },
    fifo: { file: fifo },
    empty: { file: empty },
    unset: { env: 'HOLON_TEST_NOT_SET' },
    good: { file: good },
  }
  const found = await unreadableSecrets({ secrets })
  assert.deepEqual(
    found.map(({ name }) => name),
    ['absent', 'folder', 'fifo', 'empty', 'unset'],
  )
  const home = join(folder, 'home')
  mkdirSync(home, { mode: 0o700 })
  writeFileSync(join(home, 'config.json'), JSON.stringify({ secrets }), { mode: 0o600 })
  const words = ['run', '--model', 'openai/gpt-5', '--no-input', 'Weed the garden']
  const run = holon(home, words)
  assert.notEqual(run.exit, 0)
  assert.match(run.err, /the secret absent: .*absent cannot be read/)
  const doctor = spawnSync(process.execPath, [main, 'doctor', '--home', home], {
    env: { ...environment, HOME: home },
    encoding: 'utf8',
  })
  for (const { name } of found) assert.match(doctor.stdout, new RegExp(`the secret ${name}: `))
})

const writing = [
  ['run', 'hello'],
  ['agents', 'create', 'other'],
  ['serve', '--port', '0'],
  ['retention', '--before', '30d'],
] as const

for (const words of writing) {
  test(`holon ${words.join(' ')} refuses a home that others can change`, (t) => {
    const home = join(place(t), 'home')
    mkdirSync(home, { mode: 0o777 })
    chmodSync(home, 0o777)
    const { exit, err } = holon(home, words)
    assert.equal(exit, 1)
    assert.match(err, /can be changed by others \(0777\)/)
    assert.equal(existsSync(join(home, 'ledger', 'ledger.sqlite')), false)
  })
}

const asRoot = { skip: process.getuid?.() === 0 ? false : 'needs root' }

for (const words of writing) {
  test(`root changes nothing in the home of another user: holon ${words[0]}`, asRoot, (t) => {
    const home = join(place(t), 'home')
    mkdirSync(home, { mode: 0o700 })
    chownSync(home, 65_534, 65_534)
    const { exit, err } = holon(home, words)
    assert.equal(exit, 1)
    assert.match(err, /belongs to another user \(65534; this is root\).*sudo -u '#65534'/)
    assert.equal(existsSync(join(home, 'ledger')), false)
  })
}

test('config.json is refused, and what could be a secret in it is not repeated', (t) => {
  const home = join(place(t), 'home')
  mkdirSync(home, { mode: 0o700 })
  const secret = 'sk-a-key-that-stands-in-a-wrong-place'
  const provider = (more: object) => ({ providers: { x: { kind: 'openai', ...more } } })
  const wrong: [string, RegExp][] = [
    [JSON.stringify(provider({ api_key_file: secret })), /write the path of a file/],
    [JSON.stringify(provider({ base_url: `https://me:${secret}@x.test/v1` })), /no password/],
    [JSON.stringify({ secrets: { a: { file: secret } } }), /absolute path/],
    [JSON.stringify({ secrets: { a: { env: secret } } }), /name of a variable/],
    [JSON.stringify({ [secret.slice(0, 2)]: secret }), /unknown key/],
    ['['.repeat(200_000), /nested more than 64 deep/],
    [`{"a": ${'['.repeat(65)}${']'.repeat(65)}}`, /nested more than 64 deep/],
  ]
  for (const [text, said] of wrong) {
    writeFileSync(join(home, 'config.json'), text, { mode: 0o600 })
    for (const words of [
      ['config', 'show'],
      ['run', 'x'],
    ]) {
      const { exit, err } = holon(home, words)
      assert.equal(exit, 2, err)
      assert.match(err, said)
      assert.equal(err.includes(secret) || /at .*\.ts:\d+/.test(err), false, err)
    }
    const { stdout, stderr } = spawnSync(process.execPath, [main, 'doctor', '--home', home], {
      env: { ...environment, HOME: home },
      encoding: 'utf8',
    })
    assert.match(stdout, said)
    assert.equal(stdout.includes(secret) || /at .*\.ts:\d+/.test(stdout + stderr), false, stderr)
  }
})
