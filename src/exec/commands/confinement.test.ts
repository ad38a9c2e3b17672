/**
 * Commands that try to get out, run as the agent's commands are: real bubblewrap, real processes.
 * Each prints `out` when it got out; a few must work, or nobody would use it.
 */
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
  symlinkSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { systemClock } from '../clock.ts'
import type { ConfinementOptions } from './confinement.ts'
import { agentRoots } from '../files/path-policy.ts'
import type { Processes } from '../ports.ts'
import { createProcesses } from './processes.ts'
import { noBubblewrap } from '../../testing/programs.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'holon-confined-')))
const person = join(root, 'ann')
const home = join(person, 'state')
const workspace = join(person, 'app')
const beside = join(person, 'beside')
const at = (...parts: string[]) => join(person, ...parts)

const open: Processes[] = []
let port = 0
const server = createServer((_, response) => response.end('reached'))

before(async () => {
  for (const folder of [
    'state/tasks',
    'state/agents/main/memory',
    'state/agents/other/memory',
    'state/ledger',
    'app/.git/hooks',
    'beside',
    '.ssh',
    '.aws',
    '.config/gh',
    '.config/holon/keys',
    '.claude',
  ]) {
    mkdirSync(at(folder), { recursive: true })
  }
  for (const file of [
    'state/control-token',
    'state/ledger/ledger.sqlite',
    'state/agents/other/memory/notes.md',
    'app/.git/config',
    'beside/file',
    '.ssh/id_ed25519',
    '.aws/credentials',
    '.config/gh/hosts.yml',
    '.config/holon/keys/anthropic',
    '.claude/.credentials.json',
    '.netrc',
    '.npmrc',
    '.bashrc',
  ]) {
    writeFileSync(at(file), `canary of ${file}\n`)
  }
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  port = (server.address() as AddressInfo).port
})

after(async () => {
  for (const processes of open) await processes.close()
  server.close()
  rmSync(root, { recursive: true, force: true })
})

function confined(more: Partial<ConfinementOptions> = {}): Processes {
  const made = createProcesses({
    tasks_folder: join(home, 'tasks'),
    clock: systemClock(),
    parent_env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', HOME: person },
    confinement: {
      ...{ folder: join(home, 'sandbox'), whom: 'everyone', network: 'none', writable: [] },
      ...more,
    },
  })
  open.push(made)
  return made
}

let tasks = 0

const rootsOf = () =>
  agentRoots({ home, agent_id: 'main', workspace, user_home: person, owned: [] })

/** stdout, stderr and exit status of a command of the agent. */
async function sh(
  processes: Processes,
  cmd: string,
  stdin: 'none' | 'terminal' = 'none',
  roots = rootsOf(),
) {
  const task_id = `task_confined-${process.pid}-${(tasks += 1)}`
  await processes.prepare({
    task_id,
    cmd,
    workdir: workspace,
    env: {},
    timeout_ms: 30_000,
    stdin,
    confine: { agent_id: 'main', roots, repository: null },
  })
  await processes.start(task_id)
  const end = await processes.ended(task_id, new AbortController().signal)
  const text = async (stream: 'stdout' | 'stderr') =>
    (await processes.output(task_id, { stream, max_bytes: 65_536 })).text
  const status = end.state === 'ended' ? end.exit_status : end.state
  return { status, stdout: await text('stdout'), stderr: await text('stderr') }
}

/** Every file of the person that is not the agent's, with what is in it. */
function others(): Record<string, string> {
  const own = ['app/l', 'state/tasks', 'state/sandbox', 'state/agents/main']
  const names = readdirSync(person, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(person, join(parentPath, name)))
    .filter((name) => !own.some((one) => name === one || name.startsWith(`${one}/`)))
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(at(name), 'utf8')]))
}

const secrets = [
  'state/control-token',
  'state/ledger/ledger.sqlite',
  'state/agents/other/memory/notes.md',
  '.ssh/id_ed25519',
  '.aws/credentials',
  '.config/gh/hosts.yml',
  '.config/holon/keys/anthropic',
  '.claude/.credentials.json',
  '.netrc',
  '.npmrc',
]

const ways: readonly (readonly [string, string])[] = [
  ...secrets.map((name) => [`reads ${name}`, `grep -q canary ${at(name)} && echo out`] as const),
  ...secrets.map(
    (name) =>
      [`reads ${name} by a link`, `ln -sf ${at(name)} l; grep -q canary l && echo out`] as const,
  ),
  ['finds a secret anywhere', `grep -rqs 'canary of [.]ssh' ${person} && echo out`],
  ['writes beside the workspace', `echo x >${beside}/new`],
  ['changes a file beside it', `echo x >>${beside}/file`],
  ['deletes a file beside it', `rm -f ${beside}/file`],
  ['moves a folder beside it', `mv ${beside} ${beside}2`],
  ['changes what the shell reads at its start', `echo x >>${at('.bashrc')}`],
  ['makes a file in the home', `echo x >${at('.profile')}`],
  ['writes to the system', 'echo x >/etc/holon && echo out'],
  ['writes to programs', 'echo x >/usr/local/bin/holon-out && echo out'],
  ['makes the root writable', 'mount -o remount,rw / && echo out'],
  ['mounts something', 'mount -t tmpfs none /mnt && echo out'],
  [
    'unmounts what hides',
    `umount ${at('.ssh')} && grep -q canary ${at('.ssh/id_ed25519')} && echo out`,
  ],
  ['makes a user namespace', 'unshare -U true && echo out'],
  ['makes a mount namespace', 'unshare -Urm true && echo out'],
  ['runs in another container', 'bwrap --ro-bind / / true && echo out'],
  ['enters the namespaces of the first process', 'nsenter -t 1 -m -p ls && echo out'],
  ['changes its root', 'chroot / true && echo out'],
  ['makes a device', 'mknod d b 8 0 && echo out'],
  [
    'reads a disk',
    'head -c1 /dev/sda >/dev/null && echo out; head -c1 /dev/vda >/dev/null && echo out',
  ],
  ['reads the memory of the machine', 'head -c1 /dev/mem && echo out'],
  [
    'sees the daemon',
    `[ -e /proc/${process.pid}/environ ] && [ ${process.pid} -gt 99 ] && echo out`,
  ],
  ['kills the daemon', `kill -0 ${process.pid} && [ ${process.pid} -gt 99 ] && echo out`],
  ['reads the environment of others', 'grep -qs HOLON_CANARY /proc/[0-9]*/environ && echo out'],
  // Opened for writing, and nothing is written: a setting of this machine is nobody's to try.
  ['sets what runs at a crash', '( : >>/proc/sys/kernel/core_pattern ) && echo out'],
  ['sets what the kernel allows', '( : >>/proc/sys/kernel/sysrq ) && echo out'],
  ['asks the kernel for a reset', '( : >>/proc/sysrq-trigger ) && echo out'],
  ['gives out the next pid', '( : >>/proc/sys/kernel/ns_last_pid ) && echo out'],
  ['loads a module', 'modprobe dummy && echo out'],
  ['changes the name of the machine', 'hostname out && echo out'],
  ['changes the time', 'date -s 2001-01-01 && echo out'],
  ['writes a hook', 'echo x >.git/hooks/pre-commit'],
  [
    'puts another repository in its place',
    'mv .git old && mkdir -p .git/hooks && echo x >.git/hooks/a',
  ],
  ['replaces the hooks', 'mv .git/hooks .git/old'],
  ['changes the configuration of git', 'echo x >>.git/config'],
  ['changes the command it was given', 'echo x >>"$0"; echo x >>../state/tasks/*/run && echo out'],
  ['keeps capabilities', "grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status || echo out"],
  [
    'speaks to the container engine',
    '[ -S /run/docker.sock ] && echo out; ls /run/user/* && echo out',
  ],
  ['becomes another user by sudo', 'sudo -n true && echo out'],
  ['schedules something', 'echo "* * * * * true" | crontab - && echo out'],
]

test('nothing of this gets out', { skip: noBubblewrap }, async (t: TestContext) => {
  assert.ok(ways.length >= 40)
  const processes = confined()
  assert.deepEqual(await processes.confinement(), {
    ...{ state: 'on', network: 'none', whom: 'everyone' },
  })
  for (const [way, cmd] of ways) {
    await t.test(way, async () => {
      const before = others()
      const { stdout } = await sh(processes, cmd)
      assert.doesNotMatch(stdout, /\bout\b/)
      assert.deepEqual(others(), before)
    })
  }
})

test('with no network not even this machine is reached', { skip: noBubblewrap }, async () => {
  const get = () =>
    `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`
  const none = await sh(confined(), get())
  assert.doesNotMatch(none.stdout, /reached/)
  const all = await sh(confined({ network: 'open' }), get())
  assert.match(all.stdout, /reached/)
})

test(
  'a confined command does its work: files, pipes, /tmp that stays, exit status',
  { skip: noBubblewrap },
  async () => {
    const processes = confined({ writable: [beside] })
    const cmd =
      'echo kept >/tmp/kept; mkdir -p src; echo one | tee src/a; echo two >>../state/agents/main/memory/a; exit 7'
    assert.deepEqual(await sh(processes, cmd), { status: 7, stdout: 'one\n', stderr: '' })
    assert.equal(readFileSync(join(workspace, 'src/a'), 'utf8'), 'one\n')
    assert.equal(readFileSync(at('state/agents/main/memory/a'), 'utf8'), 'two\n')
    assert.equal((await sh(processes, `cat /tmp/kept; echo x >${beside}/cache`)).stdout, 'kept\n')
    assert.equal(existsSync(`${beside}/cache`), true)
    assert.equal(existsSync('/tmp/kept'), false)
  },
)

test(
  'a confined command writes nothing into a folder that it may only read, and makes no other in its place',
  { skip: noBubblewrap },
  async () => {
    const memory = join(workspace, '.agents/memory')
    mkdirSync(memory, { recursive: true })
    writeFileSync(join(memory, 'a'), 'kept\n')
    const roots = { ...rootsOf(), read_only: [memory] }
    const tries = [
      'cat .agents/memory/a',
      'echo x >.agents/memory/a',
      'rm -rf .agents/memory',
      'mv .agents/memory .agents/b',
      'mv .agents b',
      'echo x >.agents/beside',
    ]
    const { stdout } = await sh(confined(), tries.join('; '), 'none', roots)
    assert.equal(stdout, 'kept\n')
    assert.deepEqual(readdirSync(join(workspace, '.agents'), { recursive: true }).toSorted(), [
      'beside',
      'memory',
      'memory/a',
    ])
    assert.equal(readFileSync(join(memory, 'a'), 'utf8'), 'kept\n')
    // What a link stands for is judged for itself, and nothing comes into sight by it.
    mkdirSync(at('.aws/sso'), { recursive: true })
    writeFileSync(at('.aws/sso/token'), 'canary\n')
    symlinkSync(at('.aws/sso'), join(workspace, '.agents/linked'))
    const linked = { ...rootsOf(), read_only: [join(workspace, '.agents/linked')] }
    const seen = await sh(confined(), 'cat .agents/linked/token', 'none', linked)
    assert.equal(seen.stdout, '')
  },
)

test(
  'a confined command in a terminal has one, and is as confined',
  { skip: noBubblewrap },
  async () => {
    const processes = confined()
    if ((await processes.terminal_problem()) !== null) return
    const { stdout } = await sh(
      processes,
      `[ -t 1 ] && echo tty; cat ${at('.netrc')}; echo end`,
      'terminal',
    )
    assert.match(stdout, /^tty\r?\n/)
    assert.match(stdout, /end\r?\n$/)
    assert.doesNotMatch(stdout, /canary/)
  },
)

test('a stop leaves nothing of a confined command', { skip: noBubblewrap }, async () => {
  const processes = confined()
  const task_id = `task_confined-${process.pid}-stop`
  const roots = agentRoots({ home, agent_id: 'main', workspace, user_home: person, owned: [] })
  const confine = { agent_id: 'main', roots, repository: null }
  const cmd = '(setsid sleep 600 &) ; trap "" TERM; echo begun >begun; sleep 600'
  const spec = {
    task_id,
    cmd,
    workdir: workspace,
    env: {},
    timeout_ms: null,
    stdin: 'none' as const,
  }
  await processes.prepare({ ...spec, confine })
  await processes.start(task_id)
  const outcome = await processes.stop(task_id, 200)
  assert.equal(outcome.stopped, true)
  assert.equal((await processes.observe(task_id)).state, 'ended')
})

test('where confinement is asked for and cannot be had, no command runs', async () => {
  const processes = createProcesses({
    tasks_folder: join(home, 'tasks'),
    clock: systemClock(),
    parent_env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: person },
    // No folder can be made in a file.
    confinement: {
      ...{ folder: join(beside, 'file', 'x'), whom: 'everyone', network: 'none', writable: [] },
    },
  })
  open.push(processes)
  const state = await processes.confinement()

  assert.equal(state.state, 'unavailable')
  await assert.rejects(sh(processes, 'echo ran >ran'), { code: 'unconfined' })
  assert.equal(existsSync(join(workspace, 'ran')), false)
})

test(
  'a command that says nothing of what it may touch is refused where commands are confined',
  { skip: noBubblewrap },
  async () => {
    const spec = {
      task_id: 'task_says_nothing',
      cmd: 'true',
      workdir: workspace,
      env: {},
      timeout_ms: null,
    }
    await assert.rejects(confined().prepare({ ...spec, stdin: 'none' }), { code: 'unconfined' })
  },
)
