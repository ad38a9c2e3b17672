/**
 * Power cuts: a writer in a process of its own, a cut at a random moment, and what is found then.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openLedger } from '../../src/ledger/store/open.ts'
import type { Random } from '../soak/random.ts'
import { cut, insert, type Disk } from './disk.ts'
import { freshMint } from '../../src/testing/events.ts'

export type Sync = 'full' | 'normal'
export type CutDone = {
  acknowledged: number
  found: number
  /** Acknowledged commits that are not there. */
  lost: number
  problems: string[]
}

/** One cut, on a fresh disk. */
export async function powerCut(
  folder: string,
  empty: string,
  sync: Sync,
  random: Random,
): Promise<CutDone> {
  const [image, after] = [join(folder, 'running.img'), join(folder, 'after.img')]
  cut(empty, image)
  const disk = insert(image, join(folder, 'running'))
  let acknowledged = 0
  try {
    const home = join(disk.at, 'home')
    mkdirSync(home, { mode: 0o700 })
    acknowledged = await writeUntilCut(home, sync, random, () => cut(image, after))
  } finally {
    disk.eject()
  }
  let found: Disk
  try {
    found = insert(after, join(folder, 'after'))
  } catch (error) {
    const problems = [`the file system itself is gone: ${String(error)}`]
    return { acknowledged, found: 0, lost: acknowledged, problems }
  }
  try {
    return { acknowledged, ...(await look(join(found.at, 'home'), acknowledged)) }
  } finally {
    found.eject()
    rmSync(after)
  }
}

/** Resolves with the last number that was acknowledged before the cut. */
async function writeUntilCut(
  home: string,
  sync: Sync,
  random: Random,
  cutNow: () => void,
): Promise<number> {
  const program = join(import.meta.dirname, 'writer.ts')
  const child = spawn(process.execPath, [program, home, sync], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  let complaint = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  const ended = once(child, 'close')
  try {
    // Some commits first: a disk on which nothing was acknowledged can lose nothing.
    while (said.length < 40) {
      if (child.exitCode !== null) throw new Error(`the writer ended: ${complaint}`)
      await pause(5)
    }
    await pause(random.between(0, 400))
    // Nothing more is acknowledged, or written, while the disk is copied.
    child.kill('SIGSTOP')
    while (!/^\d+ \(.*\) T/.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8'))) await pause(1)
    cutNow()
  } finally {
    child.kill('SIGKILL')
    await ended
  }
  return Number(said.trim().split('\n').at(-1))
}

/** What a start finds on the disk. */
async function look(home: string, acknowledged: number): Promise<Omit<CutDone, 'acknowledged'>> {
  const problems: string[] = []
  try {
    const ledger = await openLedger(home, { clock_now: () => Date.now(), mint: freshMint })
    try {
      problems.push(...(await ledger.verify()).problems)
      const messages = await ledger.list('messages', { limit: 1_000_000 })
      const numbers = messages.map(({ body }) => Number(/^number (\d+)$/.exec(body)?.[1]))
      const wrong = numbers.findIndex((n, i) => n !== i + 1)
      if (wrong !== -1) problems.push(`message ${wrong + 1} is number ${numbers[wrong]}`)
      const items = await ledger.list('work_items', { limit: 1_000_000 })
      for (const { plan_artifact: plan } of items) {
        if (plan.sha256 === null) continue
        // The folder moved with the disk; the name did not.
        const at = join(home, 'agents', 'main', plan.path.slice(plan.path.lastIndexOf('/') + 1))
        const bytes = existsSync(at) ? readFileSync(at).length : -1
        if (bytes !== plan.bytes) problems.push(`${at} has ${bytes} bytes, not ${plan.bytes}`)
      }
      const lost = Math.max(0, acknowledged - numbers.length)
      return { found: numbers.length, lost, problems }
    } finally {
      await ledger.close()
    }
  } catch (error) {
    return { found: 0, lost: acknowledged, problems: [...problems, String(error)] }
  }
}
