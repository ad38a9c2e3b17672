/**
 * Confined commands that may reach listed hosts: real bubblewrap, real programs, and a network on
 * which every public address is a server of this test.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, watch, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { test, type TestContext } from 'node:test'
import { serveLoopback } from '../../testing/http/loopback.ts'
import { providerCertificate, serveTls } from '../../testing/http/proxy.ts'
import { noBubblewrap, without } from '../../testing/programs.ts'
import { systemClock } from '../clock.ts'
import { agentRoots } from '../files/path-policy.ts'
import type { Net } from '../hosts/net.ts'
import type { HostGate, Processes, StdinMode } from '../ports.ts'
import { createProcesses } from './processes.ts'

const clock = systemClock()
const never = new AbortController().signal
const noCurl = noBubblewrap || without('curl')

/** A home and a workspace, and what is started there. */
async function worldOf(t: TestContext, answer: RequestListener = (_, it) => it.end('reached\n')) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'holon-hosts-')))
  // A path of a socket has a hundred bytes.
  const [home, workspace] = [join(root, 'home'.padEnd(120, 'e')), join(root, 'app')]
  for (const folder of [join(home, 'tasks'), join(home, 'agents/main'), workspace]) {
    mkdirSync(folder, { recursive: true })
  }
  const authority = join(workspace, 'ca.pem')
  writeFileSync(authority, providerCertificate)
  const { port: plain } = await serveLoopback(t, answer)
  const secure = await serveTls(t, plain)
  const dialled: string[] = []
  const asked: string[] = []
  const net: Net = {
    resolve: async (name) => [name.startsWith('inside.') ? '10.0.0.7' : '93.184.216.34'],
    connect: (address, port) => {
      dialled.push(`${address} ${port}`)
      const to = port === 443 ? secure : plain
      return connect({ host: '127.0.0.1', port: to, allowHalfOpen: true })
    },
  }
  const gate: HostGate = {
    judge: async (agent_id, host) => {
      asked.push(`${agent_id} ${host}`)
      const [name = '', port] = host.split(':')
      const isListed = /^(api\.provider|inside\.provider)\.test$/.test(name)
      return isListed
        ? { ok: true, name, port: Number(port) }
        : { ok: false, why: `${host} is not listed` }
    },
  }
  const open = new Set<Processes>()
  t.after(async () => {
    for (const processes of open) await processes.close()
    rmSync(root, { recursive: true, force: true, maxRetries: 3 })
  })
  /** As a daemon has them; the next one stands in the same home. */
  const daemon = (): Processes => {
    const processes = createProcesses({
      tasks_folder: join(home, 'tasks'),
      clock,
      parent_env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: root },
      confinement: {
        folder: join(home, 'sandbox'),
        whom: 'everyone',
        network: { allow: ['api.provider.test'], gate, net },
        writable: [],
      },
    })
    open.add(processes)
    return processes
  }
  const roots = agentRoots({ home, agent_id: 'main', workspace, user_home: root, owned: [] })
  const confine = { agent_id: 'main', roots, repository: null }
  let count = 0
  const begin = async (processes: Processes, cmd: string, stdin: StdinMode = 'none') => {
    const task_id = `task_hosts_${(count += 1)}`
    const spec = { task_id, cmd, workdir: workspace, env: {}, timeout_ms: 60_000, stdin, confine }
    await processes.prepare(spec)
    await processes.start(task_id)
    return task_id
  }
  const end = async (processes: Processes, task_id: string) => {
    const seen = await processes.ended(task_id, never)
    assert.equal(seen.state, 'ended')
    const text = async (stream: 'stdout' | 'stderr') =>
      (await processes.output(task_id, { stream, max_bytes: 100_000 })).text
    const status = seen.state === 'ended' && seen.exit_status
    return { status, stdout: await text('stdout'), stderr: await text('stderr') }
  }
  const sh = async (processes: Processes, cmd: string, stdin: StdinMode = 'none') =>
    end(processes, await begin(processes, cmd, stdin))
  return { daemon, sh, begin, end, home, workspace, dialled, asked, plain, secure }
}

const get = 'curl -sS --cacert ca.pem https://api.provider.test/'

test('curl reaches a listed host, and no other', { skip: noCurl }, async (t) => {
  const world = await worldOf(t)
  const processes = world.daemon()
  assert.deepEqual(await processes.confinement(), {
    state: 'on',
    network: { allow: ['api.provider.test'] },
    whom: 'everyone',
  })
  assert.deepEqual(await world.sh(processes, get), { status: 0, stdout: 'reached\n', stderr: '' })
  assert.deepEqual(world.dialled, ['93.184.216.34 443'])
  const other = await world.sh(
    processes,
    `${get.replace('api', 'evil')}; ${get.replace('api', 'evil')}`,
  )
  assert.equal(other.status, 56)
  assert.match(other.stderr, /response 403/)
  // What was wanted stands in the output of the task, once.
  assert.deepEqual(other.stderr.match(/^holon: .*$/gm), [
    'holon: evil.provider.test:443 is not listed',
  ])
  const inside = await world.sh(processes, get.replace('api', 'inside'))
  assert.match(inside.stderr, /holon: inside\.provider\.test is 10\.0\.0\.7, which is not on/)
  assert.deepEqual(world.dialled, ['93.184.216.34 443'])
})

test('git and Node reach a listed host as they are', { skip: noBubblewrap }, async (t) => {
  const refs = `${'a'.repeat(40)}\trefs/heads/main\n`
  const world = await worldOf(t, (_, answer) => answer.end(refs))
  const processes = world.daemon()
  const git = 'git -c http.sslCAInfo="$PWD/ca.pem" ls-remote https://api.provider.test/r.git'
  const cloned = await world.sh(processes, git)
  assert.deepEqual([cloned.status, cloned.stdout], [0, refs], cloned.stderr)
  const fetches = `fetch('https://api.provider.test/').then((it) => it.text()).then(console.log)`
  const node = `NODE_EXTRA_CA_CERTS=ca.pem /run/holon/node -e "${fetches}"`
  const fetched = await world.sh(processes, node)
  assert.deepEqual([fetched.status, fetched.stdout.trim()], [0, refs.trim()], fetched.stderr)
})

test('a command in a terminal has the same proxy', { skip: noCurl }, async (t) => {
  const world = await worldOf(t)
  const processes = world.daemon()
  if ((await processes.terminal_problem()) !== null) return t.skip('there are no terminals here')
  assert.match((await world.sh(processes, get, 'terminal')).stdout, /reached/)
})

test('nothing is reached past the proxy', { skip: noBubblewrap }, async (t) => {
  const world = await worldOf(t)
  const processes = world.daemon()
  const own = join(world.home, 'control.sock')
  const hidden = createServer((socket) => socket.end('out'))
  const abstract = createServer((socket) => socket.end('out'))
  // By its descriptor the path of the home is short enough.
  process.chdir(world.home)
  await once(hidden.listen('control.sock'), 'listening')
  process.chdir('/')
  await once(abstract.listen('\0holon-hosts-test'), 'listening')
  t.after(() => [hidden, abstract].map((server) => server.close()))
  const other = await world.begin(processes, 'sleep 60')
  const node = (code: string) => `/run/holon/node -e ${JSON.stringify(code)}`
  const dial = (where: string) =>
    node(
      `require('net').connect(${where}).on('connect', () => console.log('out')).on('error', () => {})`,
    )
  const door = join(world.home, 'tasks', other, 'hosts/door')
  const ways: readonly (readonly [string, string])[] = [
    ['a server of this machine', `exec 3<>/dev/tcp/127.0.0.1/${world.plain} && echo out`],
    ['an address outside', 'exec 3<>/dev/tcp/93.184.216.34/443 && echo out'],
    ['an address of the machine that names it', 'exec 3<>/dev/tcp/169.254.169.254/80 && echo out'],
    ['a server of names', 'exec 3<>/dev/udp/9.9.9.9/53 && echo x >&3 && echo out'],
    ['a name', node(`require('dns').lookup('example.org', (e) => e || console.log('out'))`)],
    ['the door of the home', `cd / && ${dial(`{ path: '${own}' }`)}`],
    ['an abstract socket', dial(`{ path: '\\\\0holon-hosts-test' }`)],
    ['the door of another command', `ls ${door} && echo out`],
  ]
  for (const [way, cmd] of ways) {
    const { stdout } = await world.sh(processes, `{ ${cmd}; } 2>/dev/null`)
    assert.doesNotMatch(stdout, /out/, way)
  }
  const replaced = await world.sh(
    processes,
    [
      'cd /run/holon/hosts',
      'rm -f door agent',
      'mv door door2',
      'echo other >agent',
      'mv /run/holon/hosts /run/holon/hosts2',
      `cd ${world.workspace}`,
      get,
    ].join('; '),
  )
  assert.match(replaced.stdout, /reached/)
  assert.deepEqual(world.asked, ['main api.provider.test:443'])
  await processes.stop(other, 100)
})

/** A daemon of its own that starts one command in the home, says so, and can be killed. */
const starter = (settings: object) => `
  import { createProcesses } from ${JSON.stringify(join(import.meta.dirname, 'processes.ts'))}
  import { systemClock } from ${JSON.stringify(join(import.meta.dirname, '../clock.ts'))}
  import { connect } from 'node:net'
  const { home, root, secure, spec } = ${JSON.stringify(settings)}
  const net = {
    resolve: async () => ['93.184.216.34'],
    connect: () => connect({ host: '127.0.0.1', port: secure, allowHalfOpen: true }),
  }
  const judge = async () => ({ ok: true, name: 'api.provider.test', port: 443 })
  const network = { allow: ['api.provider.test'], gate: { judge }, net }
  const processes = createProcesses({
    tasks_folder: home + '/tasks',
    clock: systemClock(),
    parent_env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: root },
    confinement: { folder: home + '/sandbox', network, writable: [] },
  })
  await processes.prepare(spec)
  await processes.start(spec.task_id)
  setInterval(() => {}, 1e6)
`

test(
  'a daemon that is killed ends connections, the next one at the same place makes them again',
  { skip: noCurl },
  async (t) => {
    const world = await worldOf(t)
    const { home, workspace, secure } = world
    const there = async (name: string) => {
      const looks = watch(workspace)
      t.after(() => looks.close())
      const { promise, resolve } = Promise.withResolvers<void>()
      looks.on('change', (_, changed) => changed === name && resolve())
      return { promise }
    }
    const wait = (name: string) => `until [ -e ${name} ]; do sleep 0.02; done`
    const cmd = [get, 'touch one', wait('go1'), get, 'echo "$?"', 'touch two', wait('go2'), get]
    const roots = agentRoots({
      home,
      agent_id: 'main',
      workspace,
      user_home: join(home, '..'),
      owned: [],
    })
    const spec = {
      ...{ task_id: 'task_killed', cmd: cmd.join('; '), workdir: workspace, env: {} },
      ...{ timeout_ms: 60_000, stdin: 'none' },
      confine: { agent_id: 'main', roots, repository: null },
    }
    const [one, two] = [await there('one'), await there('two')]
    const code = starter({ home, root: join(home, '..'), secure, spec })
    const first = spawn(execPath, ['--input-type=module', '-e', code], { stdio: 'inherit' })
    await one.promise
    first.kill('SIGKILL')
    await once(first, 'exit')
    writeFileSync(join(workspace, 'go1'), '')
    await two.promise
    const next = world.daemon()
    const ended = world.end(next, 'task_killed')
    // What is asked of the next one goes behind the opening of its door.
    await next.observe('task_killed')
    await new Promise((resolve) => setImmediate(resolve))
    writeFileSync(join(workspace, 'go2'), '')
    const { status, stdout, stderr } = await ended
    assert.equal(stdout, 'reached\n56\nreached\n', stderr)
    assert.equal(status, 0)
    assert.match(
      stderr,
      /^holon: no connection: the daemon of Holon, which makes it, is not there/m,
    )
  },
)
