/**
 * The ports of the command line, plugged in. A room is loaded when a command first needs it, so
 * that a run reaches its first request without the reads, the door or the schemas.
 */
import { stat, statfs, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isatty } from 'node:tty'
import { nearest } from '../../models/nearest.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import type { CliPorts, TextFileRead } from '../../cli/command/ports.ts'
import { ownerOf, readDoor } from '../homes/control.ts'
import { daemonPorts } from './daemon.ts'
import { setupPorts } from './setup.ts'
import {
  called,
  clock,
  defaultHome,
  env,
  files,
  readBytes,
  readText,
  textIn,
  userHome,
} from '../machine/machine.ts'
import { own } from '../homes/own-home.ts'
import { asking } from './asking.ts'
import { typing } from './typing.ts'
import { upkeepPorts } from '../serve/upkeep.ts'

const interruptions = new Set<() => void>()
const interrupted = () => {
  for (const listener of interruptions) listener()
}

/** How much more than the limit was to come is not waited for. */
async function readStdin(max_bytes: number): Promise<TextFileRead> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Uint8Array)
    bytes += (chunk as Uint8Array).length
    if (bytes > max_bytes) return { ok: false, why: 'too_large' }
  }
  return textIn(Buffer.concat(chunks))
}

async function modeOf(path: string): Promise<number | null> {
  return (await files.exists(path)) ? (await files.stat(path)).mode : null
}

/** The real ones of this process. */
export const ports: CliPorts = {
  version: packageJson.version,
  called,
  environment: {
    holon_home: env['HOLON_HOME'],
    holon_model: env['HOLON_MODEL'],
    holon_log: env['HOLON_LOG'],
    no_color: env['NO_COLOR'],
    force_color: env['FORCE_COLOR'],
    term: env['TERM'],
    wants_plain: Boolean(env['ACCESSIBLE'] || env['INK_SCREEN_READER']),
    has_control_token: (env['HOLON_CONTROL_TOKEN'] ?? '').trim() !== '',
    locale: [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((value) => value),
  },
  user_home: userHome,
  default_home: defaultHome,
  working_folder: process.cwd(),
  terminal: {
    stdin: isatty(0),
    stdout: isatty(1),
    stderr: isatty(2),
    columns: () => process.stdout.columns || process.stderr.columns || 0,
  },
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  async page(text) {
    if (!env['PAGER']?.trim()) return false
    const { pageText } = await import('../../exec/daemon/terminal-tools.ts')
    return pageText(text, env).then(
      () => true,
      () => false,
    )
  },
  clock,
  read_text: readText,
  read_bytes: readBytes,
  read_stdin: readStdin,
  async write_private(path, text) {
    const [{ makeHomeFolder }, { guarded }] = await Promise.all([
      import('../../ledger/home-folder.ts'),
      import('../../ledger/sqlite/fault.ts'),
    ])
    const folder = join(path, '..')
    await guarded(`Making the folder ${folder}`, () => makeHomeFolder(folder))
    await files.write_atomic(path, text, 0o600)
  },
  async write_new(path, text) {
    const { fileFault } = await import('../../exec/files/file-fault.ts')
    if (await files.exists(path)) return false
    try {
      await writeFile(path, text, { flag: 'wx', mode: 0o600 })
      return true
    } catch (error) {
      throw fileFault(error, path)
    }
  },
  folder_exists: (path) =>
    stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    ),
  absolute: (path) => resolve(path),
  nearest: (name, known) => nearest(name, known),
  async check_runbook(text) {
    const [{ parseRunbook }, { frontOf }] = await Promise.all([
      import('../../models/runbook/parse.ts'),
      import('../../models/runbook/front.ts'),
    ])
    const { body, checks, errors } = frontOf(text)
    const parsed = parseRunbook(body)
    if (!parsed.ok) return { errors: [...errors, ...parsed.errors], checked: null }
    if (checks.length === 0) return { errors, checked: null }
    const { objective, steps } = parsed.program
    const titles = steps.map(({ title }) => title)
    return { errors, checked: { objective, plan: body, titles, checks } }
  },
  open_reader: async (home) => (await import('../homes/reader.ts')).openHomeReader(home),
  owner: ownerOf,
  door: readDoor,
  own,
  daemon: daemonPorts,
  policy: {
    open: async (...of) => (await import('../homes/policy.ts')).policyPorts.open(...of),
    refused: async (home) => (await import('../homes/policy.ts')).policyPorts.refused(home),
    past: async (...of) => (await import('../homes/policy.ts')).policyPorts.past(...of),
  },
  upkeep: upkeepPorts,
  setup: setupPorts(interrupted),
  guards: async (...of) => (await import('../homes/sandbox.ts')).guardsOf(...of),
  screen: async (...of) => (await import('./tui.ts')).openScreen(...of),
  async home_facts(home) {
    if (!(await files.exists(home))) {
      return { exists: false, is_folder: false, mode: null, free_bytes: null }
    }
    const disk = await statfs(home)
    return {
      exists: true,
      is_folder: (await stat(home)).isDirectory(),
      mode: await modeOf(home),
      free_bytes: disk.bavail * disk.bsize,
    }
  },
  secret_problems: async (home, config) =>
    (await import('./secret-problems.ts')).secretProblems(home, config),
  hook_problems: async (config, writable) =>
    (await import('../homes/hooks.ts')).hookProblems(config, writable),
  ask: (prompt, signal) => asking(prompt, signal, interrupted),
  typing: (listener) => typing(listener, interrupted),
  on_interrupt(listener) {
    if (interruptions.size === 0) process.on('SIGINT', interrupted)
    interruptions.add(listener)
    return () => {
      interruptions.delete(listener)
      if (interruptions.size === 0) process.off('SIGINT', interrupted)
    }
  },
}
