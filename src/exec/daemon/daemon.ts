/**
 * A process in the background, as `holon start` makes it and `holon stop` ends it: detached from
 * the terminal, its output appended to a log file, and named by a pid file that says which process
 * with that pid it is. A pid alone proves nothing: pids are used again.
 */
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import type { LaunchEnd } from '../../ports/daemon.ts'
import { processTable, sameProcess } from '../commands/process-table.ts'
import { signalled } from '../signalled.ts'
import { withPersonsUmask } from '../umask.ts'

export type Launch = {
  /** The program and its words, without a shell. */
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  /** stdout and stderr are appended to it; made for its user alone when missing. */
  log_path: string
}

/** Contract: `ended` never rejects; after `release` it keeps nobody alive. */
export type Launched = { pid: number | null; ended: Promise<LaunchEnd>; release(): void }

export function launchDetached({ command, args, env, cwd, log_path }: Launch): Launched {
  const log = openSync(log_path, 'a', 0o600)
  const end = Promise.withResolvers<LaunchEnd>()
  try {
    const child = withPersonsUmask(() =>
      spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', log, log] }),
    )
    child.on('error', (error) => end.resolve({ code: null, signal: null, problem: error.message }))
    child.on('exit', (code, signal) => end.resolve({ code, signal, problem: null }))
    return { pid: child.pid ?? null, ended: end.promise, release: () => child.unref() }
  } finally {
    // The child has its own; ours would keep the file open.
    closeSync(log)
  }
}

/** Writes who we are: the pid on the first line, which process with that pid on the second. */
export async function writePidFile(path: string): Promise<void> {
  const table = processTable()
  const self = await table.identity(process.pid)
  const text = `${process.pid}\n${self?.started ?? '-'} ${table.boot}\n`
  await writeFile(path, text, { mode: 0o600 })
}

/** The pid in the file if that very process still runs; else null. */
export async function readPidFile(path: string): Promise<number | null> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  })
  const [, digits, started, boot] = /^(\d{1,10})\n(.+) (\S+)\n$/.exec(text) ?? []
  if (digits === undefined || started === undefined) return null
  const table = processTable()
  const pid = Number(digits)
  if (boot !== table.boot) return null
  return sameProcess(await table.identity(pid), { pid, started }) ? pid : null
}

export const removePidFile = (path: string): Promise<void> => rm(path, { force: true })

/** Asks a process to end. False: it has gone already. Throws when it is another user's. */
export const terminate = (pid: number): boolean => signalled(pid, 'SIGTERM')
