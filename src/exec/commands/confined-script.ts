/**
 * How a command is shut in (docs/spec/security.md#sandbox), as the shell that starts it: pure text
 * from the folders an agent may use. What its file tools may not do, its commands may not do
 * either: the longest root that contains a path decides for both, and a denied one wins a tie
 * (`files/path-policy.ts`).
 *
 * Inside, everything is read-only but the agent's own folders and its `/tmp`; what is denied is
 * empty; what tells git which program to run, or where that is told, stays as it is, and no new
 * repository comes to be at the top of a folder; nothing of the kernel can be set; there are
 * no other processes, no capabilities, no way to make a new user namespace, and without an open
 * network nothing to connect to, not even this machine. Where hosts are listed a relay listens
 * inside, which hands connections to the proxy of the daemon.
 */
import type { GitControl } from '../git/git-control.ts'
import { doorFolder, doorName } from '../hosts/doors.ts'
import { HOSTS_PORT, RELAY_MEMORY_MB, RELAY_TELLS } from '../hosts/limits.ts'
import type { Network, Roots } from '../ports.ts'
import type { NodeProgram } from '../program.ts'
import { quoted } from '../shell-word.ts'

/** What stands at a path of the machine: links are resolved before this is asked. */
export type PathKind = 'folder' | 'file' | 'nothing'

/** Facts of one command. All paths are absolute and real; `program` is bubblewrap. */
export type Shut = {
  program: string
  shell: string
  roots: Roots
  /** The task's own folder: the command is in it. */
  task_folder: string
  /** Stands for /tmp, and stays for the agent's later commands. */
  tmp: string
  workdir: string
  network: Network
  /** What hands connections to the daemon, where hosts are listed. */
  relay: NodeProgram
  /** Of the repositories in these folders, and of the one that commits of a worktree go to. */
  git: Omit<GitControl, 'problem'>
}

/** Whatever the roots say. They hold passwords; a user who is not root cannot read them anyway. */
const machineSecrets = ['/etc/shadow', '/etc/gshadow', '/etc/sudoers', '/etc/sudoers.d']

/** Names servers by a file that is a link into /run on many machines. */
const resolver = '/etc/resolv.conf'

const fixed = [
  '--die-with-parent',
  '--unshare-user',
  '--disable-userns',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-cgroup-try',
  '--cap-drop',
  'ALL',
]

/** Where, inside, the relay and what it needs are: the machine's own places may be hidden. */
const inside = '/run/holon'

/** What a relay needs: Node, itself, and the folder of the task's door. */
function relayPlaces({ network, relay, task_folder }: Shut): Place[] {
  if (typeof network === 'string') return []
  const { node, script } = relay
  const bound = (from: string, to: string) => ({ path: to, how: ['--ro-bind', from, to] })
  return [
    bound(node, `${inside}/node`),
    bound(script, `${inside}/${relayName(script)}`),
    bound(doorFolder(task_folder), `${inside}/hosts`),
  ]
}

/** A module by its name alone: there is no package beside it that says so. */
const relayName = (script: string): string => (script.endsWith('.ts') ? 'relay.mts' : 'relay.mjs')

/** The arguments of bubblewrap, without the command. `real` resolves links; null: nothing there. */
export function confinedArguments(
  shut: Shut,
  standing: (path: string) => PathKind,
  real: (path: string) => string | null,
): string[] {
  const { roots, task_folder, tmp, workdir, network, git } = shut
  const denied = [...roots.deny, ...machineSecrets].flatMap((path) => real(path) ?? [])
  const places: Place[] = [
    { path: '/run', how: ['--tmpfs', '/run'] },
    { path: '/tmp', how: ['--bind', tmp, '/tmp'] },
    { path: '/var/tmp', how: ['--tmpfs', '/var/tmp'] },
    ...denied.map((path) => ({ path, how: hidden(path, standing(path)) })),
    // A folder with something shut in it is a place of its own: it cannot be moved away with it.
    ...[...roots.write, ...git.kept, ...aboveReadOnly(roots)].map((path) => ({
      path,
      how: ['--bind-try', path, path],
    })),
    ...[...roots.read, ...roots.read_only, task_folder].map((path) => ({
      path,
      how: ['--ro-bind-try', path, path],
    })),
    // What is shut has to be there: if it went meanwhile, nothing runs.
    ...git.shut.map((path) => ({ path, how: ['--ro-bind', path, path] })),
    ...git.covered.map((path) => ({ path, how: ['--tmpfs', path, '--remount-ro', path] })),
    ...relayPlaces(shut),
  ]
  const nameServers = real(resolver)
  return [
    ...fixed,
    ...(network === 'open' ? [] : ['--unshare-net']),
    ...['--ro-bind', '/', '/', '--dev', '/dev'],
    // Root owns the settings of the kernel also without capabilities.
    ...['--proc', '/proc', '--remount-ro', '/proc'],
    ...inOrder(places).flatMap(({ how }) => how),
    ...(nameServers?.startsWith('/run/') ? ['--ro-bind', nameServers, nameServers] : []),
    ...['--chdir', workdir, '--'],
  ]
}

/** The folders between a writable one and what is only to be read in it. */
function aboveReadOnly({ read_only, write }: Roots): string[] {
  return read_only.flatMap((path) => {
    const inside = write.find((root) => path.startsWith(`${root}/`))
    if (inside === undefined) return []
    const names = path.slice(inside.length + 1).split('/')
    return names.slice(1).map((_, i) => `${inside}/${names.slice(0, i + 1).join('/')}`)
  })
}

/** One thing in the place of a path. */
type Place = { path: string; how: readonly string[] }

/** What is deeper comes later and so lies on top; of two at one path the first, denied, wins. */
function inOrder(places: readonly Place[]): Place[] {
  const first = new Map<string, Place>()
  for (const place of places) if (!first.has(place.path)) first.set(place.path, place)
  return [...first.values()].sort((a, b) => a.path.length - b.path.length)
}

function hidden(path: string, standing: PathKind): string[] {
  switch (standing) {
    case 'folder':
      return ['--tmpfs', path]
    case 'file':
      return ['--ro-bind', '/dev/null', path]
    case 'nothing':
      return []
  }
}

/** The file `confined` of a task: run by a shell with the command's file as its only argument. */
export function confinedScript(shut: Shut, args: readonly string[]): string {
  const { program, shell, network } = shut
  const relayed = typeof network === 'string' ? [] : ['-c', relayedScript(shut), shell]
  const words = [program, ...args, shell, ...relayed]
  return `exec ${words.map(quoted).join(' ')} "$1"\n`
}

/** Names of variables by which programs find a proxy, as curl, git, npm, pip and Go read them. */
const proxyNames = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']

/**
 * Starts the relay, whose third descriptor is a pipe that it closes once it listens, and then the
 * command, in the place of this shell.
 */
function relayedScript({ relay }: Shut): string {
  const node = [`${inside}/node`, '--v8-pool-size=0', `--max-old-space-size=${RELAY_MEMORY_MB}`]
  const script = `${inside}/${relayName(relay.script)}`
  const args = [String(HOSTS_PORT), `${inside}/hosts/${doorName}`, String(RELAY_TELLS)]
  const starts = [...node, '--disable-warning=ExperimentalWarning', script, ...args]
  const proxy = `http://127.0.0.1:${HOSTS_PORT}`
  const none = 'localhost,127.0.0.1,::1'
  const given = proxyNames.map((name) => [name, proxy] as const)
  const all = [...given, ['NO_PROXY', none] as const].flatMap(([name, value]) => [
    `export ${name}=${value}`,
    `export ${name.toLowerCase()}=${value}`,
  ])
  return [
    `relay=$(${starts.map(quoted).join(' ')} 3>&1 >/dev/null &)`,
    `[ "$relay" = ready ] || { echo 'holon: the relay of hosts did not start' >&2; exit 126; }`,
    'unset relay',
    ...all,
    // Node looks at these only where it is told to.
    'export NODE_USE_ENV_PROXY=1',
    'exec "$0" "$1"',
  ].join('\n')
}
