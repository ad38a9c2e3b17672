/**
 * The daemon of the demonstration: the real program in a process of its own, on a home it is given
 * and a free port of the loopback. `crash` is what it says: the daemon and the runner of one
 * command die at once, so that nobody can know how that command ended.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { signalled } from '../../exec/signalled.ts'
import { clock } from '../../main/machine/machine.ts'
import { endCommand } from '../end-command.ts'

const program = join(import.meta.dirname, '..', '..', 'main.ts')
const seededIds = join(import.meta.dirname, 'seeded-ids.ts')

export type DemoDaemon = {
  url: string
  pid: number
  /** Resolves when the process is gone, with what it said last if it was not asked to. */
  ended: Promise<string>
  stop(): Promise<void>
  crash(task_id: string): Promise<void>
}

/**
 * Rejects when the daemon ends before it is ready, with what it said. `life` is another number for
 * each start on a home.
 */
export async function startDemoDaemon(
  home: string,
  { port, life }: { port: number; life: number },
): Promise<DemoDaemon> {
  const args = ['serve', '--json', '--home', home, '--port', String(port), '--log-level', 'warn']
  const child = spawn(process.execPath, ['--import', seededIds, program, ...args], {
    cwd: home,
    env: { ...process.env, HOLON_DEMO_LIFE: String(life) },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: a ctrl+c in the terminal is for the demonstration, which stops in order.
    detached: true,
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4_000)
  })
  const gone = Promise.withResolvers<string>()
  child.on('exit', () => gone.resolve(said))
  child.on('error', (error) => gone.resolve(error.message))
  const ready = await Promise.race([firstLine(child), gone.promise.then(() => null)])
  if (ready === null) throw new Error(`the daemon did not start: ${said}`)
  const { url, pid } = (JSON.parse(ready) as { ready: { url: string; pid: number } }).ready
  return {
    url,
    pid,
    ended: gone.promise,
    async stop() {
      child.kill('SIGTERM')
      await gone.promise
    },
    async crash(task_id) {
      const { runner, command } = await pidsOf(home, task_id)
      child.kill('SIGKILL')
      await gone.promise
      signalled(runner, 'SIGKILL')
      endCommand(command)
    },
  }
}

async function firstLine({ stdout }: ChildProcess): Promise<string | null> {
  if (stdout === null) return null
  for await (const line of createInterface({ input: stdout })) return line
  return null
}

/**
 * The runner, which must not live to write how its command ended, and that command. Waits for the
 * command to be there, which is a moment after its task.
 */
async function pidsOf(home: string, task_id: string): Promise<{ runner: number; command: number }> {
  const path = join(home, 'tasks', task_id, 'state')
  for (;;) {
    const state = existsSync(path) ? readFileSync(path, 'utf8') : ''
    const runner = /^holon-runner \d+ \S+ \S+ (\d+) /m.exec(state)?.[1]
    const command = /^command (\d+) .*\n/m.exec(state)?.[1]
    if (runner !== undefined && command !== undefined) {
      return { runner: Number(runner), command: Number(command) }
    }
    if (state.includes('could_not_start')) throw new Error(`${task_id} did not start: ${state}`)
    await clock.sleep(5)
  }
}
