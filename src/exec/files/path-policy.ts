/**
 * Which paths a model's file tools may touch (docs/spec/security.md#paths), as a pure function of
 * the path's text. `roots.ts` asks it twice: for the path as written, and for what the opened file
 * really is.
 *
 * The longest root that contains the path decides, and a denied root wins a tie: so a workspace may
 * contain the home, the home is denied, and the agent's own folder inside it is allowed again.
 */

import type { Area } from '../../domain/policy/action.ts'
import type { PathMode, Roots } from '../ports.ts'

/** `why` is one sentence for the model. */
export type PathVerdict = { allowed: true } | { allowed: false; why: string }

const yes: PathVerdict = { allowed: true }
const no = (why: string): PathVerdict => ({ allowed: false, why })

/** Never, whatever the roots say: these are the machine, not files. */
const machine = ['/proc', '/sys', '/dev']

/** Stores of credentials, relative to a person's home folder. */
const stores = [
  // Keys of people and machines.
  '.ssh',
  '.gnupg',
  '.password-store',
  '.pki',
  '.config/sops',
  '.config/age',
  '.config/op',
  '.local/share/keyrings',
  '.local/share/kwalletd',
  'Library/Keychains',
  // Clouds and clusters.
  '.aws',
  '.azure',
  '.boto',
  '.s3cfg',
  '.oci',
  '.kube',
  '.docker',
  '.fly',
  '.vercel',
  '.databrickscfg',
  '.terraform.d/credentials.tfrc.json',
  '.terraformrc',
  '.vault-token',
  '.config/gcloud',
  '.config/doctl',
  '.config/hcloud',
  '.config/rclone',
  '.config/containers/auth.json',
  // Code hosts and package registries.
  '.netrc',
  '_netrc',
  '.git-credentials',
  '.config/git/credentials',
  '.config/gh',
  '.config/glab-cli',
  '.config/hub',
  '.config/github-copilot',
  '.npmrc',
  '.yarnrc.yml',
  '.pypirc',
  '.config/pip/pip.conf',
  '.config/composer/auth.json',
  '.composer/auth.json',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.m2/settings.xml',
  '.m2/settings-security.xml',
  '.gradle/gradle.properties',
  // Databases.
  '.pgpass',
  '.my.cnf',
  '.mylogin.cnf',
  // Model providers and their tools.
  '.config/holon/keys',
  '.huggingface',
  '.cache/huggingface/token',
  '.claude/.credentials.json',
  '.codex/auth.json',
  // Browsers and mail: cookies are sessions.
  '.mozilla',
  '.thunderbird',
  '.config/google-chrome',
  '.config/chromium',
  '.config/BraveSoftware',
  '.config/microsoft-edge',
  'Library/Application Support/Google/Chrome',
  'Library/Application Support/Firefox',
  'Library/Cookies',
]

export function credentialStores(user_home: string): string[] {
  return stores.map((store) => `${user_home === '/' ? '' : user_home}/${store}`)
}

/** What is wrong with a path as text, before anything is looked up. */
export function problemOfPath(path: string): string | null {
  if (path === '') return 'the path is empty'
  if (path.includes('\0')) return 'the path contains a NUL character'
  if (!path.startsWith('/')) return 'the path is not absolute'
  return null
}

/** May `path` be touched? It must be absolute and normal (no `.`, `..` or doubled slashes). */
export function judgePath(roots: Roots, path: string, mode: PathMode): PathVerdict {
  for (const place of machine) {
    if (isWithin(path, place, 'exact')) return no(`${place} is not a place for files`)
  }
  const hooks = gitHazard(path, mode)
  if (hooks) return no(hooks)
  const denied = longest(roots.deny, path, 'folded')
  const writable = longest(roots.write, path, 'exact')
  const readable = Math.max(writable, longest(roots.read, path, 'exact'))
  if (denied >= 0 && denied >= readable) return no('it is in a folder kept from file tools')
  if (mode === 'read' && readable >= 0) return yes
  if (mode === 'write' && longest(roots.read_only, path, 'folded') >= 0) {
    return no('it may be read but not written')
  }
  if (mode === 'write' && writable > denied) return yes
  if (mode === 'write' && readable >= 0) return no('it may be read but not written')
  return no('it is outside the folders this agent works in')
}

/**
 * Hooks run by themselves, and a repository's other files can name programs to run (`config`), or
 * another place where such files are (`commondir`, a `.git` that is a file): writing any of them is
 * running code later, in the operator's name. So git changes what is in `.git`, not a file tool.
 */
function gitHazard(path: string, mode: PathMode): string | null {
  const parts = path.toLowerCase().split('/')
  const git = parts.indexOf('.git')
  if (git < 0) return null
  if (parts.includes('hooks', git + 1)) return 'git hooks are not touched by file tools'
  return mode === 'write' ? 'what is in .git is changed by git, not by file tools' : null
}

/** Length of the longest root that contains the path, or -1. */
function longest(roots: readonly string[], path: string, compare: Compare): number {
  let best = -1
  for (const root of roots) if (isWithin(path, root, compare)) best = Math.max(best, root.length)
  return best
}

/** Denied names also match in other letter case: on macOS `~/.SSH` is the same folder. */
type Compare = 'exact' | 'folded'

function isWithin(path: string, root: string, compare: Compare = 'exact'): boolean {
  const fold = (text: string) => (compare === 'folded' ? text.toLowerCase() : text)
  const [below, above] = [fold(path), fold(root)]
  return below === above || below.startsWith(above.endsWith('/') ? above : `${above}/`)
}

/**
 * The roots of one agent (docs/spec/agent.md#roots-of-an-agent, Home): writes in the workspace and
 * its own folder; reads also `owned`, the paths in `tasks/` and `outputs/` that the ledger says are
 * its own; the rest of the home, and credential stores, are denied.
 */
export function agentRoots(facts: {
  home: string
  agent_id: string
  workspace: string
  user_home: string
  owned: readonly string[]
}): Roots {
  const { home, agent_id, workspace, user_home, owned } = facts
  const inHome = (path: string) =>
    isWithin(path, `${home}/tasks`) || isWithin(path, `${home}/outputs`)
  return {
    write: [workspace, `${home}/agents/${agent_id}`],
    read: owned.filter(inHome),
    deny: [home, ...othersOwn(home, agent_id, workspace), ...credentialStores(user_home)],
    read_only: [],
  }
}

/**
 * Where instructions of an agent may really be: in its own folder, and in `top`, its workspace or
 * the repository around it. A link in there that leads elsewhere is somebody's try to have another
 * file sent to a model. A parent's instructions hold for a child that works in its folder.
 */
export function instructionRoots(facts: {
  home: string
  agent_id: string
  top: string
  user_home: string
}): Roots {
  const { home, agent_id, top, user_home } = facts
  const deny = [home, ...credentialStores(user_home)]
  return { write: [], read: [top, `${home}/agents/${agent_id}`], deny, read_only: [] }
}

/** What an agent is told to keep of what it does. */
const records = ['memory', 'notes', 'work-items']

/** What is in its folder and no other one touches: these, and what it is instructed by. */
const own = ['AGENTS.md', 'skills', ...records]

/** A child may work in its parent's folder, but what the parent remembers there is the parent's. */
function othersOwn(home: string, agent_id: string, workspace: string): string[] {
  if (!isWithin(workspace, `${home}/agents`)) return []
  const [owner] = workspace.slice(`${home}/agents/`.length).split('/')
  if (!owner || owner === agent_id) return []
  return own.map((name) => `${home}/agents/${owner}/${name}`)
}

/** What a path inside `tasks/` or `outputs/` belongs to, for asking the ledger whose it is. */
export type HomeEntry = { table: 'tasks' | 'calls' | 'messages' | 'turns'; id: string }

/** By the prefix of the id that a file in `outputs/` is named after. */
const outputsOf: Readonly<Record<string, HomeEntry['table']>> = {
  call: 'calls',
  msg: 'messages',
  turn: 'turns',
}

export function homeEntry(home: string, path: string): HomeEntry | null {
  if (!isWithin(path, home)) return null
  const [section, name] = path.slice(home.length + 1).split('/')
  if (!name) return null
  if (section === 'tasks') return { table: 'tasks', id: name }
  if (section !== 'outputs') return null
  const id = name.replace(/\.(?:txt|\d+\.(?:png|jpeg|gif|webp))$/, '')
  const table = outputsOf[id.slice(0, id.indexOf('_'))]
  return table === undefined ? null : { table, id }
}

export type AreaFacts = { home: string; agent_id: string; workspace: string; user_home: string }

/** What kind of place a real path is in: the nearest of those that contain it. */
export function areasOf(facts: AreaFacts): (path: string) => Area {
  const { home, agent_id, workspace, user_home } = facts
  const stores = credentialStores(user_home).map((store) => store.toLowerCase())
  const places: [Area, string][] = [
    ['home', home],
    ['own', `${home}/agents/${agent_id}`],
    ...records.map((name): [Area, string] => ['records', `${home}/agents/${agent_id}/${name}`]),
    ['workspace', workspace],
  ]
  return (path) => {
    const folded = path.toLowerCase()
    let [nearest, length]: [Area, number] = ['credentials', longest(stores, folded, 'exact')]
    if (length < 0) nearest = 'outside'
    for (const [area, root] of places) {
      const found = longest([root], path, 'exact')
      if (found > length) [nearest, length] = [area, found]
    }
    const isGit = nearest === 'workspace' || nearest === 'outside'
    return isGit && folded.split('/').includes('.git') ? 'git' : nearest
  }
}
