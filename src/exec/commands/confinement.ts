/**
 * Shutting commands in with bubblewrap (docs/spec/security.md#sandbox): whether this machine can,
 * shown by canaries that try to get out, and the script that does it for one command. What is asked
 * for and cannot be had is a reason in words; nothing runs unconfined instead.
 */
import { execFile } from 'node:child_process'
import { lstatSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pid, platform } from 'node:process'
import { confinedArguments, confinedScript, type Shut, type PathKind } from './confined-script.ts'
import { fileFault } from '../files/file-fault.ts'
import { gitControl } from '../git/git-control.ts'
import { CONFINEMENT_CHECK_MS } from '../limits.ts'
import { judgePath } from '../files/path-policy.ts'
import { relayProgram } from '../hosts/doors.ts'
import type { Net } from '../hosts/net.ts'
import type { Confine, HostGate, Network, Roots } from '../ports.ts'
import { ProcessFault } from './process-fault.ts'
import { findProgram } from '../program.ts'

/** Listed hosts need somebody who judges. `net` is the machine's where it is not given. */
export type AskedNetwork = 'open' | 'none' | { allow: readonly string[]; gate: HostGate; net?: Net }

/**
 * `folder` is Holon's own, beside the tasks; `writable` are further ones commands may change.
 * `whom`: `everyone` where it was asked for, and no command runs without it; `models` where it is
 * for those a language model writes, as far as this machine can.
 */
export type ConfinementOptions = {
  folder: string
  whom: 'everyone' | 'models'
  network: AskedNetwork
  writable: readonly string[]
}

/** The search path and shell of commands, and the tools that the canaries try. */
type Machine = { path: string; shell: string }

export class Confinement {
  readonly #options: ConfinementOptions
  readonly #machine: Machine
  readonly #relay = relayProgram()
  #problem: Promise<string | null> | null = null

  constructor(options: ConfinementOptions, machine: Machine) {
    this.#options = options
    this.#machine = machine
  }

  /**
   * Why commands cannot be shut in here, or null; tried once. What failed for want of descriptors
   * or memory says nothing about this machine: it rejects with the fault, and is tried again.
   */
  problem(): Promise<string | null> {
    const asked = (this.#problem ??= this.#try())
    asked.catch(() => (this.#problem = null))
    return asked
  }

  /** The shell text that runs a command shut in. Throws what the file system throws. */
  script(confine: Confine, task_folder: string, workdir: string): string {
    const { network, writable, folder } = this.#options
    const { roots, repository, agent_id } = confine
    const tmp = join(folder, agent_id)
    mkdirSync(tmp, { recursive: true, mode: 0o700 })
    const write = [...roots.write, ...writable].flatMap((path) => real(path) ?? [])
    const { problem, ...git } = gitControl(write, repository === null ? null : real(repository))
    if (problem !== null) throw new ProcessFault('unconfined', problem, 'never')
    const shut = {
      program: this.#program() ?? '/usr/bin/bwrap',
      shell: this.#machine.shell,
      roots: {
        write,
        read: roots.read.flatMap((path) => real(path) ?? []),
        deny: roots.deny,
        read_only: readOnlyIn(roots),
      },
      task_folder: real(task_folder) ?? task_folder,
      tmp,
      workdir: real(workdir) ?? workdir,
      network: networkOf(network),
      relay: this.#relay,
      git,
    }
    return scriptOf(shut)
  }

  #program(): string | null {
    return findProgram(['bwrap'], this.#machine.path)
  }

  async #try(): Promise<string | null> {
    if (platform !== 'linux') return `there is no confinement on ${platform}`
    const program = this.#program()
    if (program === null) return 'bubblewrap (bwrap) was not found'
    const room = join(this.#options.folder, `.canary-${pid}`)
    try {
      return await this.#canaries(program, room)
    } catch (error) {
      const fault = fileFault(error, room)
      if (fault.code === 'scarce') throw fault
      if (error instanceof Error && 'code' in error) return `its folder failed: ${error.message}`
      throw error
    } finally {
      rmSync(room, { recursive: true, force: true })
    }
  }

  async #canaries(program: string, room: string): Promise<string | null> {
    const { network } = this.#options
    const { shell } = this.#machine
    const at = (name: string) => join(room, name)
    const folders = [
      'open/.git/objects',
      'open/.git/refs',
      'bare',
      'shut',
      'beside',
      'tmp',
      'task/hosts',
    ]
    for (const name of folders) {
      mkdirSync(at(name), { recursive: true, mode: 0o700 })
    }
    for (const name of ['shut/secret', 'beside/file', 'open/.git/HEAD']) {
      writeFileSync(at(name), 'canary\n', { mode: 0o600 })
    }
    const place = real(room) ?? room
    const write = [`${place}/open`, `${place}/bare`]
    const { problem, ...git } = gitControl(write, null)
    if (problem !== null) return problem
    const shut = {
      program,
      shell,
      roots: { write, read: [], deny: [`${place}/shut`], read_only: [] },
      task_folder: `${place}/task`,
      tmp: `${place}/tmp`,
      workdir: `${place}/open`,
      network: networkOf(network),
      relay: this.#relay,
      git,
    }
    writeFileSync(at('task/command'), canaryScript(place, networkOf(network)), { mode: 0o600 })
    writeFileSync(at('task/confined'), scriptOf(shut), { mode: 0o600 })
    const said = await run(shell, [at('task/confined'), at('task/command')])
    if (said.problem !== null) return `bubblewrap cannot run here: ${said.problem}`
    const words = said.stdout.split('\n').filter((word) => word !== '')
    if (words.at(-1) !== 'end') return 'the canaries did not come to their end'
    const out = words.slice(0, -1)
    return out.length === 0 ? null : `a confined command could still ${out.join(', ')}`
  }
}

/** What is told of it. */
export function networkOf(network: AskedNetwork): Network {
  return typeof network === 'string' ? network : { allow: network.allow }
}

function scriptOf(shut: Shut): string {
  return confinedScript(shut, confinedArguments(shut, standing, real))
}

/** Each line tries one way out and says which one was open; the last says that all were tried. */
function canaryScript(room: string, network: Network): string {
  const tries: Record<string, string> = {
    'read what is denied': `[ -e ${room}/shut/secret ]`,
    'write beside its folders': `echo out >${room}/beside/file`,
    'write to the system': 'echo out >/etc/holon-canary',
    'change a hook': `echo out >${room}/open/.git/hooks/pre-commit`,
    'change the configuration of git': `echo out >${room}/open/.git/config`,
    'change that of a worktree': `echo out >${room}/open/.git/config.worktree`,
    'give git another configuration': `echo out >${room}/open/.git/commondir`,
    'make a repository': `mkdir ${room}/bare/.git/objects || echo out >${room}/bare/.git/HEAD`,
    // It is opened for writing, and nothing is written.
    'change a setting of the kernel': '( : >>/proc/sys/kernel/core_pattern )',
    'not write to its own folder': `! echo in >${room}/open/file`,
    'see other processes': `[ -e /proc/${pid}/stat ] && [ ${pid} -gt 64 ]`,
    'keep capabilities': "! grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status",
    'make a user namespace': 'command -v unshare && unshare -U true',
    ...(network === 'open' ? {} : { 'reach a network': '[ "$(grep -c : /proc/net/dev)" -gt 1 ]' }),
  }
  const lines = Object.entries(tries).map(
    ([way, test]) => `{ ${test}; } >/dev/null 2>&1 && echo '${way}'`,
  )
  return [...lines, 'echo end', ''].join('\n')
}

type Said = { stdout: string; problem: string | null }

function run(program: string, args: readonly string[]): Promise<Said> {
  return new Promise((resolve, reject) => {
    const options = { cwd: '/', env: { PATH: '/usr/bin:/bin' }, timeout: CONFINEMENT_CHECK_MS }
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error !== null && fileFault(error, program).code === 'scarce') return reject(error)
      const first = stderr.trim().split('\n', 1)[0] || error?.message || 'it said nothing'
      resolve({ stdout, problem: error === null ? null : first })
    })
  })
}

/**
 * What is kept from being written in a writable folder, under its real name: nothing is mounted
 * that could not be read without it, and what is behind a link is judged by the other roots.
 */
function readOnlyIn(roots: Roots): string[] {
  return roots.read_only.flatMap((path) => {
    const root = roots.write.find((one) => path.startsWith(`${one}/`))
    if (root === undefined || !judgePath(roots, path, 'read').allowed) return []
    const at = `${real(root)}${path.slice(root.length)}`
    return at === real(path) ? [at] : []
  })
}

function standing(path: string): PathKind {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found === undefined ? 'nothing' : found.isDirectory() ? 'folder' : 'file'
}

/** The path without links, or null when nothing is there or may be seen. */
function real(path: string): string | null {
  try {
    return realpathSync(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES' || code === 'ELOOP')
      return null
    throw error
  }
}
