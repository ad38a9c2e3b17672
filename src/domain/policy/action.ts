/**
 * A call as a value, before it has an effect: what the policy judges. Rules see this and never the
 * text that a model wrote. Two calls with the same hash would do the same.
 */
import { canonical } from '../canonical.ts'
import type { EffectClass } from '../effect-class.ts'
import type { AgentId, WorkItemId } from '../ids.ts'
import type { Certainty, ShellRedirect, ShellWord } from '../shell/command.ts'

/** Whose words the turn acts on, by the least authority of what it had claimed. */
export type ActionOrigin = 'operator' | 'runtime' | 'external'

/** What kind of place a path is in. */
export type Area =
  | 'workspace'
  /** The agent's own folder. */
  | 'own'
  /** What it is told to keep there: its memory, notes and plans. */
  | 'records'
  /** The rest of the home: state, other agents. */
  | 'home'
  /** What git keeps of a repository, and its hooks. */
  | 'git'
  | 'credentials'
  | 'outside'

/** Where agents can write. */
export const isOfAgents = (area: Area): boolean =>
  area === 'workspace' || area === 'own' || area === 'records' || area === 'home'

/** What the name of a program is on the machine, by the PATH of the command. */
export type ActionProgram =
  /** `search`: it is what its bare name finds. */
  | { kind: 'found'; real_path: string; area: Area; by: 'search' | 'path' }
  /** The shell's own: `cd`, `echo`. */
  | { kind: 'builtin' }
  | { kind: 'absent' }

/** A command of a shell line, found on the machine. */
export type ActionCommand = {
  argv: readonly ShellWord[]
  program: ActionProgram
  /** Its folder, a real path; null where the line makes it unknown. */
  cwd: { real_path: string; area: Area } | null
  env_names: readonly string[]
  redirects: readonly ShellRedirect[]
  wrapped_by: readonly string[]
} & Certainty

/** `as`: how the line has it, where only running it says which file that is. */
export type ActionPath = { op: 'read' | 'write'; real_path: string; area: Area; as?: string }

/** In lower case, without a dot at the end. */
export type ActionHost = { name: string; port: number }

/** A tool of a server: pinned as it was looked at, and whether it says that it only reads. */
export type ActionMcp = {
  server: string
  tool: string
  args_sha: string
  pinned: boolean
  read_only: boolean
}

/** What is exchanged with another repository; null where only running the line says it. */
export type ActionGit = {
  op: 'push' | 'fetch' | 'clone'
  remote: string | null
  ref: string | null
}

export type ActionBody = {
  tool: string
  class: EffectClass
  agent: AgentId
  item: WorkItemId | null
  origin: ActionOrigin
  /** The agent's workspace, a real path: patterns of files begin there. */
  workspace: string
  /** Whether the machine keeps its commands in a sandbox. */
  confined: boolean
  commands: readonly ActionCommand[]
  paths: readonly ActionPath[]
  hosts: readonly ActionHost[]
  mcp: ActionMcp | null
  git: readonly ActionGit[]
}

export type PolicyAction = ActionBody & { sha256: string }

/** The body with its hash. `sha256` is handed in: hex of the text's UTF-8. */
export function sealAction(body: ActionBody, sha256: (text: string) => string): PolicyAction {
  return { ...body, sha256: sha256(canonical(body)) }
}
