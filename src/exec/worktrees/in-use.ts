/**
 * Which processes are at work in a folder: those whose current folder or an open file is inside.
 * Read from /proc; where there is none the answer is nobody, and the caller's leases must do.
 * A process of another user may hide its files; its presence is then not seen.
 */
import { readdir, readlink } from 'node:fs/promises'

export async function processesIn(folders: readonly string[]): Promise<number[]> {
  const others = await otherProcesses()
  const inside = await Promise.all(
    others.map(async (pid) => ({ pid, is: await isIn(pid, folders) })),
  )
  return inside.filter(({ is }) => is).map(({ pid }) => pid)
}

async function otherProcesses(): Promise<number[]> {
  const pids = (await namesOf('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  return pids.filter((pid) => pid !== process.pid)
}

async function isIn(pid: number, folders: readonly string[]): Promise<boolean> {
  const fds = await namesOf(`/proc/${pid}/fd`)
  const links = [`/proc/${pid}/cwd`, ...fds.map((fd) => `/proc/${pid}/fd/${fd}`)]
  for (const link of links) {
    const target = await readlink(link).catch(() => '')
    if (folders.some((folder) => target === folder || target.startsWith(`${folder}/`))) return true
  }
  return false
}

/** A process may end while we look, and may hide what it has: then it has nothing. */
const namesOf = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])
