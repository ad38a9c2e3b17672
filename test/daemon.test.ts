/**
 * The daemon as a process: what it refuses before it serves, what ready means, how it stops, what a
 * kill leaves, and the commands that run it in the background and talk to it.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Api, type FetchInit } from '../src/client/api.ts'
import { Holon } from '../src/client/holon.ts'
import { follow } from '../src/client/stream.ts'
import { systemClock } from '../src/exec/clock.ts'
import { startModelServer, TEST_KEY } from '../src/testing/model-server/server.ts'
import { said, ServedHome } from './support/served-home.ts'

const options = { timeout: 300_000 }

describe('holon serve', options, () => {
  test('the ready line means that it serves; a stop gives the home back', async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve()
    assert.equal(daemon.pid, daemon.child.pid)
    assert.deepEqual(
      [
        (await at.fetch(daemon.url, '/healthz')).status,
        (await at.fetch(daemon.url, '/readyz')).status,
        (await fetch(`${daemon.url}/openapi.json`)).status,
        (await at.fetch(daemon.url, '/openapi.json')).status,
      ],
      [200, 200, 401, 200],
    )
    const door = JSON.parse(at.file('door.json') ?? '') as Record<string, unknown>
    assert.deepEqual(
      [door['pid'], door['url'], typeof door['port'], typeof door['started_at']],
      [daemon.pid, daemon.url, 'number', 'string'],
    )
    const modes = ['control-token', 'door.json', 'daemon.pid', 'control.sock'].map(
      (name) => statSync(join(at.home, name)).mode & 0o777,
    )
    assert.deepEqual(modes, [0o600, 0o600, 0o600, 0o600])
    assert.ok(statSync(join(at.home, 'control.sock')).isSocket())
    daemon.child.kill('SIGTERM')
    const ended = await daemon.ended
    assert.deepEqual([ended.exit, ended.signal], [0, null], ended.err)
    assert.deepEqual([at.file('door.json'), at.file('daemon.pid')], [null, null])
    assert.equal(existsSync(join(at.home, 'control.sock')), false)
  })

  test('it serves a home without any agent, and its log is lines of JSON on stderr', async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve(['--port', '0', '--log-level', 'debug'])
    await at.fetch(daemon.url, '/readyz')
    daemon.child.kill('SIGINT')
    const { exit, err } = await daemon.ended
    const lines = err
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: string; msg: string })
    assert.equal(exit, 0)
    assert.deepEqual(
      lines.filter(({ level }) => level === 'info').map(({ msg }) => msg),
      ['serving', 'stopping', 'stopped'],
    )
    assert.ok(lines.some(({ level }) => level === 'debug'))
    assert.ok(!err.includes(at.token), 'the token is in the log')
  })

  test('a second owner ends with exit 4 and names the first', async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve()
    const second = await at.holon('serve', '--port', '0')
    assert.equal(second.exit, 4)
    assert.match(second.err, new RegExp(`already served by process ${daemon.pid} `))
    assert.equal((await at.fetch(daemon.url, '/readyz')).status, 200)
  })

  test('a port in use is told, and nothing is left of the start', async (t) => {
    const at = new ServedHome(t)
    const other = createServer()
    const listening = Promise.withResolvers<void>()
    other.listen(0, '127.0.0.1', () => listening.resolve())
    await listening.promise
    t.after(() => other.close())
    const { port } = other.address() as AddressInfo
    const { exit, err } = await at.holon('serve', '--port', String(port))
    assert.equal(exit, 1)
    assert.match(
      err,
      new RegExp(`port ${port} is in use.*choose another port: holon start --port <n>`),
    )
    assert.deepEqual([at.file('door.json'), at.file('daemon.pid')], [null, null])
    assert.equal((await at.serve()).child.exitCode, null)
  })

  const refused: [name: string, args: string[], exit: number, says: RegExp][] = [
    ['a port that is none', ['--port', 'http'], 2, /--port http is no port/],
    ['an address others reach', ['--host', '0.0.0.0'], 1, /not a loopback address.*--allow-remote/],
    ['a level that is none', ['--log-level', 'loud'], 2, /--log-level loud is no level/],
  ]
  for (const [name, args, exit, says] of refused) {
    test(`${name} is refused`, async (t) => {
      const ended = await new ServedHome(t).holon('serve', ...args)
      assert.equal(ended.exit, exit, ended.err)
      assert.match(ended.err, says)
    })
  }

  test('a token that others can read is refused with what to do', async (t) => {
    const at = new ServedHome(t)
    const first = await at.serve()
    first.child.kill('SIGTERM')
    await first.ended
    chmodSync(join(at.home, 'control-token'), 0o644)
    const { exit, err } = await at.holon('serve', '--port', '0')
    assert.equal(exit, 1)
    assert.match(err, /control-token can be read by others.*chmod 600 /)
    chmodSync(join(at.home, 'control-token'), 0o600)
    assert.equal((await at.serve()).child.exitCode, null)
  })

  test('a kill leaves what the next start goes on with', async (t) => {
    const at = new ServedHome(t)
    const gate = join(at.folder, 'gate')
    const wait = `while [ -d ${at.folder} ] && [ ! -e ${gate} ]; do sleep 0.05; done`
    const file = at.write('slow.md', `# Slow\n\n## Wait\n\n\`\`\`sh\n${wait}\n\`\`\`\n`)
    const first = await at.serve()
    const run = at.start(['run', file])
    await said(run.child.stderr, /todos 0\/1/)
    first.child.kill('SIGKILL')
    await first.ended
    // What it left behind names a process that is gone.
    assert.equal((await at.holon('status')).exit, 3)
    const port = new URL(first.url).port
    const second = await at.serve(['--port', port])
    writeFileSync(gate, '')
    const ended = await run.ended
    assert.equal(ended.exit, 0, ended.err)
    assert.match(ended.out, /Slow: all 1 step done/)
    second.child.kill('SIGTERM')
    assert.equal((await second.ended).exit, 0)
    assert.equal((await at.holon('doctor', '--verify')).exit, 0)
  })

  test('a second signal does not wait for a model that thinks', async (t) => {
    const at = new ServedHome(t)
    const asked = Promise.withResolvers<void>()
    const server = await startModelServer(() => {
      asked.resolve()
      return new Promise<never>(() => {})
    })
    t.after(() => server.close())
    const daemon = await at.serve(undefined, {
      OPENAI_COMPATIBLE_BASE_URL: server.base_url,
      OPENAI_COMPATIBLE_API_KEY: TEST_KEY,
    })
    const run = at.start(['run', 'think', '--model', 'openai-compatible/test'])
    await asked.promise
    // A stop that is told once leaves after nine seconds, whatever the model does.
    const from = performance.now()
    const stopping = said(daemon.child.stderr, /"msg":"stopping"/)
    daemon.child.kill('SIGTERM')
    // Two signals that meet are one.
    await stopping
    daemon.child.kill('SIGTERM')
    const ended = await daemon.ended
    assert.equal(ended.exit, 0, ended.err)
    assert.ok(performance.now() - from < 9_000, 'it waited for the model')
    run.child.kill('SIGINT')
    await run.ended
  })
})

describe('in the background', options, () => {
  test('start, status, logs, stop', async (t) => {
    const at = new ServedHome(t)
    assert.equal((await at.holon('status')).exit, 3)
    const { ready } = await at.json<{ ready: { pid: number; url: string } }>('start', '--port', '0')
    assert.equal((await at.fetch(ready.url, '/readyz')).status, 200)
    const again = await at.holon('start')
    assert.deepEqual(
      [again.exit, again.out],
      [0, `it runs already: pid ${ready.pid} on ${ready.url}\n`],
    )
    const status = await at.json<Record<string, unknown>>('status')
    assert.deepEqual(
      [status['running'], status['pid'], status['url'], status['ready'], status['agents']],
      [true, ready.pid, ready.url, true, 0],
    )
    const stopped = await at.holon('stop')
    assert.equal(stopped.exit, 0, stopped.err)
    assert.deepEqual(await at.json('stop'), { stopped: null })
    const logs = await at.holon('logs')
    const messages = logs.out
      .trimEnd()
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [(JSON.parse(line) as { msg: string }).msg] : []))
    assert.deepEqual(messages, ['serving', 'stopping', 'stopped'])
    assert.equal(statSync(join(at.home, 'daemon.log')).mode & 0o777, 0o600)
  })

  test('a start that fails says what its log says, with its exit code', async (t) => {
    const at = new ServedHome(t)
    const first = await at.serve()
    first.child.kill('SIGTERM')
    await first.ended
    chmodSync(join(at.home, 'control-token'), 0o644)
    const { exit, err } = await at.holon('start', '--port', '0')
    assert.equal(exit, 1)
    assert.match(err, /the daemon did not start: exit 1/)
    assert.match(err, /control-token can be read by others \(0644\)/)
  })

  test('stop signals nobody but the owner: a pid that is used again is left alone', async (t) => {
    const at = new ServedHome(t)
    const first = await at.serve()
    first.child.kill('SIGKILL')
    await first.ended
    const bystander = spawn('sleep', ['60'], { stdio: 'ignore' })
    t.after(() => bystander.kill('SIGKILL'))
    const left = (at.file('daemon.pid') ?? '').replace(/^\d+/, String(bystander.pid))
    writeFileSync(join(at.home, 'daemon.pid'), left)
    const { exit, out } = await at.holon('stop')
    assert.deepEqual([exit, out], [0, 'no daemon runs\n'])
    assert.equal(bystander.exitCode, null)
  })

  test('a run that owns the home is no daemon: it is not stopped, and none is started', async (t) => {
    const at = new ServedHome(t)
    const file = at.write('slow.md', '# Slow\n\n## Wait\n\n```sh\nsleep 5\n```\n')
    const run = at.start(['run', file])
    await said(run.child.stderr, /todos 0\/1/)
    for (const command of ['stop', 'start']) {
      const { exit, err } = await at.holon(command)
      assert.equal(exit, 4, command)
      assert.match(err, new RegExp(`process ${run.child.pid} owns this home and is not its daemon`))
    }
    run.child.kill('SIGINT')
    assert.equal((await run.ended).exit, 130)
  })
})

describe('with a daemon every command talks to it', options, () => {
  const runbook = '# Check\n\n## Hello\n\n```sh\necho hello\n```\n\n## Ask\n\nask: Shall I go on?\n'

  test('holon run sends, follows and ends with the same exit codes', async (t) => {
    const at = new ServedHome(t)
    await at.serve()
    const file = at.write('check.md', runbook)
    const first = await at.holon('run', file)
    assert.equal(first.exit, 3, first.err)
    assert.match(first.out, /Shall I go on\?/)
    assert.match(first.err, /your answer resumes it at once/)
    const [, wait = ''] = /holon answer (wait_[0-9a-f]{4,}) <text>/.exec(first.err) ?? []
    const following = at.start(['run', '--resume'])
    const answered = await at.holon('answer', wait, 'yes')
    assert.equal(answered.exit, 0, answered.err)
    const resumed = await following.ended
    const { work_items } = await at.json<{ work_items: { state: string }[] }>(
      ...['work', 'list', '--all'],
    )
    assert.deepEqual(
      work_items.map(({ state }) => state),
      ['completed'],
    )
    assert.ok(resumed.exit === 0 || resumed.exit === 3, resumed.err)
  })

  test('ctrl+c leaves the run; the daemon goes on with it', async (t) => {
    const at = new ServedHome(t)
    await at.serve()
    const gate = join(at.folder, 'gate')
    const wait = `while [ -d ${at.folder} ] && [ ! -e ${gate} ]; do sleep 0.05; done`
    const file = at.write('slow.md', `# Slow\n\n## Wait\n\n\`\`\`sh\n${wait}\n\`\`\`\n`)
    const run = at.start(['run', file])
    await said(run.child.stderr, /todos 0\/1/)
    run.child.kill('SIGINT')
    const left = await run.ended
    assert.equal(left.exit, 130)
    assert.match(
      left.err,
      /the daemon goes on with it\. Follow it again with {3}holon run --resume/,
    )
    const again = at.start(['run', '--resume'])
    await said(again.child.stderr, /agent runbooks/)
    writeFileSync(gate, '')
    const ended = await again.ended
    assert.deepEqual(
      [ended.exit, ended.out.split('\n')[0]],
      [0, 'Slow: all 1 step done.'],
      ended.err,
    )
  })

  test('what ended while nobody followed is told by the run that resumes', async (t) => {
    const at = new ServedHome(t)
    await at.serve()
    const gate = join(at.folder, 'gate')
    const wait = `while [ -d ${at.folder} ] && [ ! -e ${gate} ]; do sleep 0.05; done`
    const file = at.write('slow.md', `# Slow\n\n## Wait\n\n\`\`\`sh\n${wait}\n\`\`\`\n`)
    const done = at.write('done.md', '# Done before\n\n## Do\n\n```sh\ntrue\n```\n')
    assert.equal((await at.holon('run', done)).exit, 0)
    const run = at.start(['run', file])
    await said(run.child.stderr, /todos 0\/1/)
    run.child.kill('SIGINT')
    assert.equal((await run.ended).exit, 130)
    const other = at.start(['run', '--resume'])
    writeFileSync(gate, '')
    await other.ended
    const again = await at.holon('run', '--resume')
    assert.deepEqual(
      [again.exit, again.out.split('\n')[0]],
      [0, 'Slow: all 1 step done.'],
      again.err,
    )
    assert.match(
      again.err,
      /before this run, at \S+: the report of work_\w+: \S*holon\S* work show work_\w+\n/,
    )
    // What was delivered before it was asked for this is not told again.
    assert.doesNotMatch(again.out, /Done before/)
    const quiet = await at.holon('run', '--resume', '--quiet')
    assert.deepEqual([quiet.err, quiet.out.split('\n')[0]], ['', 'Slow: all 1 step done.'])
  })

  test('a model that this daemon cannot ask is refused before anything is stored', async (t) => {
    const at = new ServedHome(t)
    await at.serve()
    const { exit, err } = await at.holon('run', 'do it', '--model', 'openai/gpt-5.2')
    assert.equal(exit, 1, err)
    assert.match(err, /provider openai needs a key/)
    assert.deepEqual(await at.json('agents'), { agents: [] })
  })

  test('a trigger is made, fires, is reset and revoked', async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve()
    await at.json('agents', 'create', 'main', '--model', 'runbook')
    await at.json('agents', 'stop', 'main')
    type Trigger = { id: string; url: string; delivered: number; label: string; status: string }
    const made = await at.json<Trigger>('trigger', 'create', 'CI', '--source', 'ci')
    assert.ok(made.url.startsWith(`${daemon.url}/callbacks/`), made.url)
    const fire = async (url: string) =>
      (await fetch(url, { method: 'POST', body: 'it is done' })).status
    assert.equal(await fire(made.url), 202)
    const reset = await at.json<Trigger>('trigger', 'reset', made.id)
    assert.deepEqual([await fire(made.url), await fire(reset.url)], [404, 202])
    await at.json('trigger', 'revoke', made.id)
    assert.equal(await fire(reset.url), 404)
    const { triggers } = await at.json<{ triggers: Trigger[] }>('trigger', 'list', '--all')
    assert.deepEqual(
      triggers.map(({ label, status, delivered }) => ({ label, status, delivered })),
      [
        { label: 'default', status: 'active', delivered: 0 },
        { label: 'CI', status: 'revoked', delivered: 2 },
      ],
    )
    const { deliveries } = await at.json<{ deliveries: { source: string }[] }>(
      ...['webhook', 'deliveries'],
    )
    assert.deepEqual(
      deliveries.map(({ source }) => source),
      ['ci', 'ci'],
    )
  })

  test('a schedule is due, and its slot says what became of it', async (t) => {
    const at = new ServedHome(t)
    await at.serve()
    await at.json('agents', 'create', 'main', '--model', 'runbook')
    const made = await at.json<{ id: string }>('schedule', 'add', 'Look at it.', '--in', '1s')
    const due = at.start(['events', '--follow', '--after', '0', '--json'])
    await said(due.child.stdout, /slot_settled/)
    due.child.kill('SIGINT')
    await due.ended
    const { slots } = await at.json<{ slots: { status: string }[] }>('schedule', 'slots', made.id)
    assert.deepEqual(
      slots.map(({ status }) => status),
      ['fired'],
    )
  })

  test('a rotated token holds at once, and the old one no longer', async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve()
    const old = at.token
    await at.json('token', 'rotate')
    assert.notEqual(at.token, old)
    const answers = await Promise.all(
      [old, at.token].map((token) =>
        fetch(`${daemon.url}/openapi.json`, { headers: { authorization: `Bearer ${token}` } }),
      ),
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      [401, 200],
    )
  })

  test('a backup is taken beside the daemon, and becomes a home that is whole', async (t) => {
    const at = new ServedHome(t)
    await at.serve()
    assert.equal((await at.holon('run', at.write('check.md', runbook))).exit, 3)
    const { path } = await at.json<{ path: string }>('backup', at.folder)
    const again = join(at.folder, 'again')
    await at.json('restore', path, '--home', again)
    assert.ok(existsSync(join(again, 'ledger')))
    assert.ok(!readdirSync(again).includes('control-token'), 'a secret came along')
    const doctor = await at.holon('doctor', '--verify', '--home', again)
    assert.equal(doctor.exit, 0, doctor.out)
  })

  test('backup and retention say the same with a daemon and without one', async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve()
    const step = '# One\n\n## Step\n\n```sh\ntrue\n```\n'
    assert.equal((await at.holon('run', at.write('one.md', step))).exit, 0)
    const words: [args: string[], exit: number, says: RegExp][] = [
      [['retention'], 2, /nothing says what may go; give --before 90d or --keep-days 90/],
      [['retention', '--keep-days', '3'], 2, /--keep-days 3 is no number of days/],
      [['retention', '--before', '2126-01-01'], 2, /is still to come; name a time that is past/],
      [['backup', at.home], 2, /is in the home.*; name a folder outside the home/],
      [['backup', '/proc/nowhere'], 1, /no backup is made in \/proc\/nowhere: .*another folder/],
      [['retention', '--before', '0d', '--dry-run'], 0, /^\d+ events and .*1 message.* would go/],
      [['retention', '--keep-days', '30'], 0, /^0 events and no rows are gone/],
      [['backup', at.folder], 0, /holon-backup-.*\n\d+ files, /],
    ]
    const asked = async () => {
      for (const [args, exit, says] of words) {
        const ended = await at.holon(...args)
        assert.equal(ended.exit, exit, `${args.join(' ')}: ${ended.err}`)
        assert.match(ended.out + ended.err, says)
      }
    }
    await asked()
    daemon.child.kill('SIGTERM')
    await daemon.ended
    await asked()
  })
})

describe('real clients', options, () => {
  test('the typed client makes, follows, and reads what it made', async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve()
    const ports = {
      fetch: (url: string, init: FetchInit) => fetch(url, init),
      clock: systemClock(),
      mint_key: () => `key-${Math.random()}`,
      token: () => Promise.resolve(at.token),
    }
    const api = new Api(ports, { base_url: daemon.url })
    const holon = new Holon(api)
    const made = await holon.ask('POST /agents', { body: { id: 'main', model: 'runbook' } })
    assert.ok(made.ok, JSON.stringify(made))
    const stop = new AbortController()
    const seen: string[] = []
    const follows = (async () => {
      const from = { path: '/agents/main/events', after: 0, signal: stop.signal }
      for await (const item of follow(api, ports, from)) {
        if (item.kind !== 'event') continue
        seen.push(item.event.event.type)
        if (item.event.event.type === 'turn_ended') stop.abort()
      }
    })()
    const text = '# One\n\n## Step\n\n```sh\ntrue\n```\n'
    const send = { agent: 'main', body: { text } }
    const options = { idempotency_key: 'once' }
    const first = await holon.ask('POST /agents/{agent}/messages', send, options)
    const again = await holon.ask('POST /agents/{agent}/messages', send, options)
    assert.ok(first.ok && again.ok, JSON.stringify([first, again]))
    assert.equal(again.value.message_id, first.value.message_id)
    await follows
    assert.ok(seen.includes('work_item_completed'), seen.join(' '))
    const query = { filter: 'completed' as const }
    const items = await holon.ask('GET /agents/{agent}/work-items', { agent: 'main', query })
    assert.deepEqual(items.ok && items.value.work_items.map(({ objective }) => objective), ['One'])
    const gone = await holon.ask('GET /agents/{agent}', { agent: 'nobody' })
    assert.deepEqual(
      !gone.ok &&
        gone.failure.kind === 'problem' && [gone.failure.status, gone.failure.problem.code],
      [404, 'agent_not_found'],
    )
  })

  test('a signed webhook is tried out, logged, and kept out when its secret changes', async (t) => {
    const at = new ServedHome(t)
    mkdirSync(at.home, { mode: 0o700 })
    const secret = join(at.folder, 'secret')
    writeFileSync(secret, 'a secret of GitHub', { mode: 0o600 })
    const webhooks = {
      gh: {
        scheme: 'github',
        secret_files: [secret],
        resource: '{/repository}',
        summary: '{/action}',
      },
    }
    const config = join(at.home, 'config.json')
    writeFileSync(config, JSON.stringify({ webhooks }), { mode: 0o600 })
    await at.serve()
    await at.json('agents', 'create', 'main', '--model', 'runbook')
    await at.json('agents', 'stop', 'main')
    const body = '{"repository":"parser","action":"opened"}'
    const sent = await at.json<{ duplicate: boolean }>(...['webhook', 'test', 'gh', '--body', body])
    assert.equal(sent.duplicate, false)
    const { deliveries } = await at.json<{ deliveries: Record<string, unknown>[] }>(
      ...['webhook', 'deliveries'],
    )
    assert.deepEqual(
      deliveries.map(({ source, resource, summary, status }) => [
        source,
        resource,
        summary,
        status,
      ]),
      [['gh', 'parser', 'opened', 'accepted']],
    )
    const { url } = await at.json<{ url: string }>('status')
    const wrong = { 'content-type': 'application/json', 'x-hub-signature-256': 'sha256=00' }
    const forged = await at.fetch(url, '/webhooks/main/gh', {
      method: 'POST',
      body,
      headers: { ...wrong, 'x-github-event': 'test', 'x-github-delivery': 'forged' },
    })
    assert.equal(forged.status, 401)
    const twice = { 'idempotency-key': 'the-same', 'content-type': 'text/plain' }
    const trigger = await at.json<{ url: string }>('trigger', 'create', 'CI')
    for (const duplicate of [false, true]) {
      const response = await fetch(trigger.url, { method: 'POST', body: 'done', headers: twice })
      assert.equal(((await response.json()) as { duplicate: boolean }).duplicate, duplicate)
    }
    const metrics = await fetch(`${url}/metrics`, {
      headers: { authorization: `Bearer ${at.token}` },
    })
    const counted = (await metrics.text())
      .split('\n')
      .filter((line) => /^holon_deliveries_total\{.* [1-9]/.test(line))
    assert.deepEqual(counted.toSorted(), [
      'holon_deliveries_total{via="trigger",result="accepted"} 1',
      'holon_deliveries_total{via="trigger",result="duplicate"} 1',
      'holon_deliveries_total{via="webhook",result="accepted"} 1',
      'holon_deliveries_total{via="webhook",result="refused"} 1',
    ])
    const again = await at.json<{ message_id: string }>(
      'webhook',
      'redeliver',
      String(deliveries[0]?.['id']),
    )
    assert.match(again.message_id, /^msg_/)
    chmodSync(secret, 0o644)
    const refused = await at.holon('webhook', 'test', 'gh', '--body', body)
    assert.equal(refused.exit, 1)
    assert.match(refused.err, /can be read by others/)
  })

  test('--json says the same with a daemon and without one', async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve()
    const file = at.write('ask.md', '# Ask\n\n## Hello\n\n```sh\ntrue\n```\n\n## Q\n\nask: Yes?\n')
    assert.equal((await at.holon('run', file)).exit, 3)
    const { work_items } = await at.json<{ work_items: { id: string }[] }>('work', 'list')
    const reads = [
      ['agents'],
      ['work', 'list', '--all'],
      ['work', 'show', work_items[0]?.id ?? ''],
      ['waits'],
      ['tasks', '--all'],
      ['inbox'],
      ['briefs'],
      ['schedule', 'list'],
      ['webhook', 'deliveries'],
    ]
    const served = await Promise.all(reads.map((words) => at.json<unknown>(...words)))
    daemon.child.kill('SIGTERM')
    await daemon.ended
    const alone = await Promise.all(reads.map((words) => at.json<unknown>(...words)))
    assert.deepEqual(alone, served)
  })
})

test('a service is printed with absolute paths, and nothing is written', options, async (t) => {
  const at = new ServedHome(t)
  const printed = await at.holon('service', 'show', '--manager', 'systemd')
  assert.match(printed.out, /^ExecStart="\/.*" "\/.*src\/main\.ts" "serve"/m)
  const shown = await at.json<{ path: string; text: string }>(
    'service',
    'show',
    '--manager',
    'systemd',
  )
  assert.equal(shown.text, printed.out)
  assert.ok(shown.path.startsWith(`${at.folder}/.config/systemd/user/`), shown.path)
  assert.equal(existsSync(shown.path), false)
})
