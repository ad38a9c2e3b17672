/** The processes of a folder, as tests look for them when everything should have ended. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { signalled } from '../../src/exec/signalled.ts'

/**
 * Processes of this machine that belong to the folder: it stands in their words, in their
 * environment, or they work in it. Linux only; elsewhere there is nothing to look at.
 */
export function processesOf(folder: string): string[] {
  if (process.platform !== 'linux') return []
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => {
    if (Number(pid) === process.pid) return []
    try {
      const words = readFileSync(join('/proc', pid, 'cmdline'), 'utf8').replaceAll('\0', ' ')
      const environment = readFileSync(join('/proc', pid, 'environ'), 'utf8')
      const cwd = readlinkSync(join('/proc', pid, 'cwd'))
      const isOurs = [words, environment, cwd].some((text) => text.includes(folder))
      return isOurs ? [`${pid} ${words.trim()}`] : []
    } catch {
      // It has ended, or belongs to somebody else.
      return []
    }
  })
}

/** Ends every process of a folder, with those that they begin meanwhile, as a power cut does. */
export async function endProcesses(folder: string): Promise<void> {
  for (let all = processesOf(folder); all.length > 0; all = processesOf(folder)) {
    for (const line of all) signalled(Number.parseInt(line, 10), 'SIGKILL')
    await pause(20)
  }
}

/** What still runs of a folder, a line for each; a moment is given to what is just ending. */
export async function leftProcesses(folder: string): Promise<string[]> {
  for (let waited = 0; waited < 10_000; waited += 100) {
    if (processesOf(folder).length === 0) return []
    await pause(100)
  }
  return processesOf(folder).map((one) => one.slice(0, 120))
}
