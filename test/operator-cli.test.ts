/**
 * What an operator types beside a daemon, and what goes wrong when it does: each refusal says what,
 * why and what to do, with the exit code of its kind.
 */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { said, ServedHome } from './support/served-home.ts'

const options = { timeout: 300_000 }

const asking = '# Ask\n\n## Q\n\nask: Shall I go on?\n'
const step = '# One\n\n## Step\n\n```sh\ntrue\n```\n'

type Entries = { attention: { id: string; kind: string }[] }

/** A home whose agent has asked something. */
async function asked(t: TestContext) {
  const at = new ServedHome(t)
  const daemon = await at.serve()
  assert.equal((await at.holon('run', at.write('ask.md', asking))).exit, 3)
  const { attention } = await at.json<Entries>('inbox')
  const [question] = attention
  assert.ok(question !== undefined && attention.length === 1, JSON.stringify(attention))
  return { at, daemon, question }
}

const shown = async (at: ServedHome) =>
  (await at.json<Entries>('inbox')).attention.map(({ id }) => id)

describe('acts of the operator', options, () => {
  test('an entry of the inbox is put away for a while, or until it changes', async (t) => {
    const { at, daemon, question } = await asked(t)
    const short = `wait_${question.id.slice(-6)}`
    const list = await at.holon('inbox')
    assert.match(list.out, /later {3}holon inbox snooze wait_[0-9a-f]{4,} --for 2h/)
    const away = await at.holon('inbox', 'snooze', short, '--for', '2h')
    assert.equal(away.exit, 0, away.err)
    assert.match(away.out, /^wait_[0-9a-f]+ is put away until /)
    assert.deepEqual(await shown(at), [])
    // A later word about what is put away holds, also without a daemon.
    daemon.child.kill('SIGTERM')
    await daemon.ended
    const dismissed = await at.holon('inbox', 'dismiss', short)
    assert.match(dismissed.out, /^wait_[0-9a-f]+ is put away until it changes\.\n$/)
    assert.deepEqual(await shown(at), [])
    assert.match((await at.holon('inbox')).out, /^nothing needs you$/m)
  })

  test('a run is aborted without its id, and its agent stopped', async (t) => {
    const at = new ServedHome(t)
    await at.serve()
    const slow = at.write('slow.md', '# Slow\n\n## Wait\n\n```sh\nsleep 60\n```\n')
    const run = at.start(['run', slow])
    await said(run.child.stderr, /todos 0\/1/)
    const aborted = await at.holon('agents', 'abort', 'runbooks')
    assert.equal(aborted.exit, 0, aborted.err)
    assert.match(aborted.out, /^turn_[0-9a-f]+ is aborted, and runbooks is stopped\.\n$/)
    await run.ended
    const again = await at.holon('agents', 'abort', 'runbooks')
    assert.equal(again.exit, 1)
    assert.match(
      again.err,
      /^holon: runbooks has no open turn.*; holon agents shows what each does/,
    )
  })

  test('an item is made by hand; a stopped agent is named with what starts it', async (t) => {
    const at = new ServedHome(t)
    await at.serve()
    await at.json('agents', 'create', 'main')
    await at.json('agents', 'stop', 'main')
    const made = await at.holon('work', 'create', 'Port the fixtures')
    assert.equal(made.exit, 0, made.err)
    const [id] = /work_[0-9a-f]+/.exec(made.out) ?? []
    assert.equal(made.out, `${id} is created.\nmain is stopped: holon agents start main\n`)
    const { work_items } = await at.json<{ work_items: { objective: string }[] }>('work', 'list')
    assert.deepEqual(
      work_items.map(({ objective }) => objective),
      ['Port the fixtures'],
    )
  })

  test('every action that the API names by a shell line is one the shell knows', async (t) => {
    const { at } = await asked(t)
    type Lines = { can: { key: string; cli: string | null }[] }
    const { agents } = await at.json<{ agents: Lines[] }>('agents')
    const { attention } = await at.json<{ attention: Lines[] }>('inbox')
    const lines = [...agents, ...attention].flatMap(({ can }) =>
      can.flatMap(({ cli }) => cli ?? []),
    )
    assert.ok(lines.some((line) => line.startsWith('holon agents abort')))
    const commands = new Set(
      lines.map((line) => {
        const [, ...words] = line.split(' ')
        const named = words.slice(0, 2)
        return named.every((word) => /^[a-z]+$/.test(word)) ? named.join(' ') : `${named[0]}`
      }),
    )
    for (const command of commands) {
      const { exit, out } = await at.holon(...command.split(' '), '--help')
      assert.equal(exit, 0, command)
      assert.match(out, new RegExp(`^Usage: holon ${command} `), command)
    }
  })
})

describe('what goes wrong says what, why and what to do', options, () => {
  const cases: [name: string, args: string[], exit: number, says: RegExp][] = [
    ['no log', ['logs'], 1, /there is no log in .*daemon\.log; holon start writes one/],
    ['no such webhook', ['webhook', 'test', 'gh'], 2, /no webhook "gh".*; add it under "webhooks"/],
    [
      'a bad minute',
      ['schedule', 'add', 'x', '--cron', '61 * * * *'],
      2,
      /Invalid value for minute: 61; write it like --cron "0 9 \* \* 1-5"/,
    ],
    [
      'a bad time zone',
      ['schedule', 'add', 'x', '--cron', '0 9 * * *', '--zone', 'Mars/Olympus'],
      2,
      /"Mars\/Olympus" is not an IANA time zone; write it like/,
    ],
    [
      'a time that has passed',
      ['schedule', 'add', 'x', '--at', '2020-01-01T00:00'],
      2,
      /has passed already; name a moment that is still to come/,
    ],
    ['no time at all', ['schedule', 'add', 'x'], 2, /say when, in one way; --at .* --in 30m/],
    ['an entry nobody needs', ['inbox', 'dismiss', 'wait_0000'], 2, /nothing of "wait_0000" needs/],
    ['a snooze without a time', ['inbox', 'snooze', 'wait_0000'], 2, /say for how long.*--for 2h/],
    ['a stopped agent', ['send', 'hello'], 1, /main is stopped; holon agents start main, or send/],
    ['a home that is not empty', ['restore', 'copy'], 1, /is not empty; a backup is restored into/],
    ['no backup at all', ['restore', '.'], 2, /is no backup: it has no manifest\.json; name the/],
    ['a folder that is not there', ['restore', 'nowhere'], 2, /there is no folder .*nowhere; name/],
  ]

  test('with a daemon', async (t) => {
    const at = new ServedHome(t)
    await at.serve()
    await at.json('agents', 'create', 'main', '--model', 'runbook')
    await at.json('agents', 'stop', 'main')
    mkdirSync(join(at.folder, 'copy'))
    writeFileSync(join(at.folder, 'copy', 'manifest.json'), '{}')
    for (const [name, args, exit, says] of cases) {
      const ended = await at.holon(...args)
      assert.deepEqual([ended.exit, ended.out], [exit, ''], `${name}: ${ended.err}`)
      assert.match(ended.err, says, name)
    }
  })

  test('a second trigger of the same label is made, and said to be', async (t) => {
    const at = new ServedHome(t)
    await at.serve()
    await at.json('agents', 'create', 'main', '--model', 'runbook')
    assert.equal((await at.holon('trigger', 'create', 'CI')).err, '')
    const again = await at.holon('trigger', 'create', 'CI')
    assert.equal(again.exit, 0)
    assert.match(again.err, /^! main has another trigger of this label: trig_[0-9a-f]+\n$/)
  })

  test('a wrong token is told by where it comes from, whatever was asked', async (t) => {
    const at = new ServedHome(t)
    await at.serve()
    const file = at.write('one.md', step)
    assert.equal((await at.holon('run', file)).exit, 0)
    const commands = [
      ['agents', 'stop', 'runbooks'],
      ['agents', '--json'],
      ['run', file],
      ['trigger', 'list'],
      ['retention', '--keep-days', '30'],
    ]
    for (const words of commands) {
      const { exit, err } = await at.start(words, { HOLON_CONTROL_TOKEN: 'another' }).ended
      assert.equal(exit, 1, words.join(' '))
      assert.match(err, /does not know this control token.*unset HOLON_CONTROL_TOKEN/, err)
    }
    const doctor = await at.start(['doctor'], { HOLON_CONTROL_TOKEN: 'another' }).ended
    assert.equal(doctor.exit, 1)
    assert.match(doctor.out, /fail {2}daemon .*does not know this control token/)
  })

  test('a webhook without a secret keeps the daemon from starting', async (t) => {
    const at = new ServedHome(t)
    mkdirSync(at.home, { mode: 0o700 })
    const configure = (webhook: object) =>
      writeFileSync(
        join(at.home, 'config.json'),
        JSON.stringify({ webhooks: { gh: { scheme: 'github', ...webhook } } }),
        { mode: 0o600 },
      )
    const refused: [webhook: object, exit: number, says: RegExp][] = [
      [{}, 2, /a webhook without a secret cannot be enabled: name a 0600 file/],
      [{ secret_files: [] }, 2, /a webhook without a secret cannot be enabled: name a 0600 file/],
      [{ secret_files: ['/nowhere'] }, 1, /webhook gh cannot be enabled.*: \/nowhere: there is no/],
    ]
    for (const [webhook, exit, says] of refused) {
      configure(webhook)
      const ended = await at.holon('serve', '--port', '0')
      assert.equal(ended.exit, exit, ended.err)
      assert.match(ended.err, says)
    }
  })

  test('a start that fails prints the complaint, and not what went well before', async (t) => {
    const at = new ServedHome(t)
    const { ready } = await at.json<{ ready: { pid: number } }>('start', '--port', '0')
    assert.ok(ready.pid > 0)
    await at.json('stop')
    chmodSync(join(at.home, 'control-token'), 0o644)
    for (const _ of ['once', 'twice']) {
      const { exit, err } = await at.holon('start', '--port', '0')
      assert.equal(exit, 1)
      const lines = err.trimEnd().split('\n')
      assert.equal(lines.length, 2, err)
      assert.match(lines[1] ?? '', /^ {2}holon: .*control-token can be read by others/)
    }
  })
})

describe('what holds, and where it comes from', options, () => {
  test('config show lists every setting; secrets are only named', async (t) => {
    const at = new ServedHome(t)
    mkdirSync(at.home, { mode: 0o700 })
    const secret = join(at.folder, 'secret')
    writeFileSync(secret, 'a secret of GitHub', { mode: 0o600 })
    const config = {
      webhooks: { gh: { scheme: 'github', secret_files: [secret], summary: '{/action}' } },
      secrets: { db: { file: secret } },
      retention: { keep_days: 90 },
      http: { port: 0 },
    }
    writeFileSync(join(at.home, 'config.json'), JSON.stringify(config), { mode: 0o600 })
    const { out } = await at.start(['config', 'show', '--json'], { HOLON_LOG: 'warn' }).ended
    const { settings } = JSON.parse(out) as {
      settings: { key: string; value: unknown; source: string }[]
    }
    const file = '~/h/config.json'
    const rows = settings.filter(({ key }) => key !== 'home')
    assert.deepEqual(
      rows.map(({ key, value, source }) => [key, value, source]),
      [
        ['model', null, 'default'],
        ['fallback_model', null, 'default'],
        ['summary_model', null, 'default'],
        ['workspace', null, 'default'],
        ['environment', [], 'default'],
        ['providers', null, 'default'],
        ['models', null, 'default'],
        ['acp', null, 'default'],
        ['command_caps', null, 'default'],
        ['sandbox', null, 'default'],
        ['hooks', [], 'default'],
        ['http.host', '127.0.0.1', 'default'],
        ['http.port', 0, file],
        ['http.hosts', [], 'default'],
        ['webhooks.gh', { scheme: 'github', summary: '{/action}' }, file],
        ['budget', null, 'default'],
        ['secrets', ['db'], file],
        ['retention.keep_days', 90, file],
        ['log_level', 'warn', 'HOLON_LOG'],
      ],
    )
    assert.ok(!out.includes(secret), 'it says where the secret is')
  })

  test('HOLON_LOG is the level of the daemon', async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve(undefined, { HOLON_LOG: 'error' })
    daemon.child.kill('SIGTERM')
    assert.equal((await daemon.ended).err, '')
  })

  test('doctor names the daemon, and each secret that is open or missing', async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve()
    const well = await at.holon('doctor')
    assert.equal(well.exit, 0, well.out)
    assert.match(well.out, new RegExp(`ok {4}daemon +pid ${daemon.pid}, up .*, ${daemon.url}\n`))
    const open = join(at.folder, 'open')
    writeFileSync(open, 'a secret', { mode: 0o644 })
    const gh = { scheme: 'github', secret_files: [open, '/nowhere'] }
    const config = { webhooks: { gh }, secrets: { db: { file: open } } }
    writeFileSync(join(at.home, 'config.json'), JSON.stringify(config), { mode: 0o600 })
    chmodSync(join(at.home, 'trigger-secret'), 0o644)
    const ill = await at.holon('doctor', '--json')
    assert.equal(ill.exit, 1)
    const { checks } = JSON.parse(ill.out) as { checks: { level: string; says: string }[] }
    assert.deepEqual(
      checks.filter(({ level }) => level === 'fail').map(({ says }) => says),
      [
        `${join(at.home, 'trigger-secret')} can be read by others (0644)`,
        `${open} can be read by others (0644)`,
        'webhook gh: /nowhere: there is no such file or folder',
      ],
    )
  })
})
