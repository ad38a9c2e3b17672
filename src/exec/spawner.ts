/**
 * The daemon's end of the spawner: starts it when there is none, hands task ids to it, and passes
 * its notices on. A spawner that died is replaced at the next start; the runners it left go on and
 * keep reporting by the old pipe, which is read until the last of them has closed it.
 *
 * Not running: no child. Running: one child takes ids. Leaving: its stdin is closed or it died; its
 * pipe is still read, and nothing more is handed to it.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { HAND_OVER_MS } from './limits.ts'
import type { Clock } from './ports.ts'
import { ProcessFault } from './process-fault.ts'
import { type IdentityKind, spawnerScript } from './runner-script.ts'

/** `refused`: the folder is claimed already, or does not exist. `died`: the spawner ended first. */
export type HandOver = 'claimed' | 'refused' | 'died'

/**
 * Contract: `hand` resolves with what became of the id, and rejects with a `spawner_failed` fault
 * when the spawner cannot be started or stays silent for `HAND_OVER_MS`. `onEnded` is called at
 * least once for every task of this spawner whose runner reached its end. `close` ends it.
 */
export interface Spawner {
  hand(task_id: string): Promise<HandOver>
  pid(): number | null
  close(): void
}

export type SpawnerOptions = {
  tasks_folder: string
  shell: string
  setsid: string | null
  kind: IdentityKind
  path: string
  clock: Clock
  onEnded: (task_id: string) => void
}

type Child = ChildProcessByStdio<Writable, Readable, null>

export function createSpawner(options: SpawnerOptions): Spawner {
  const pending = new Map<string, { child: Child; settle: (outcome: HandOver) => void }[]>()
  const reading = new Set<Child>()
  let current: Child | null = null
  let closed = false

  function launch(): Child {
    const { shell, setsid, kind, tasks_folder, path } = options
    const norc = shell.endsWith('bash') ? ['--norc'] : []
    const args = [...norc, '-c', spawnerScript(kind), 'holon-spawner']
    const child: Child = spawn(shell, [...args, tasks_folder, shell, setsid ?? ''], {
      detached: true,
      cwd: '/',
      // bash would read ~/.bashrc when its input is a socket and SHLVL is not set.
      env: { PATH: path, SHLVL: '1' },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    reading.add(child)
    const gone = () => left(child)
    child.on('error', gone).on('exit', gone)
    // A write to a spawner that just died; its `exit` says so to whoever waits.
    child.stdin.on('error', gone)
    child.stdout.on('error', gone).on('close', () => reading.delete(child))
    readLines(child.stdout, notice)
    child.unref()
    for (const stream of [child.stdin, child.stdout]) (stream as Partial<Socket>).unref?.()
    return child
  }

  function left(child: Child) {
    if (current === child) current = null
    for (const [id, waiting] of pending) {
      for (const one of waiting.filter((entry) => entry.child === child)) one.settle('died')
      if (waiting.length === 0) pending.delete(id)
    }
  }

  function notice(line: string) {
    const [word, id = ''] = line.split(' ')
    switch (word) {
      case 'claimed':
      case 'refused':
        return pending.get(id)?.[0]?.settle(word)
      case 'ended':
        return options.onEnded(id)
      default:
        throw new Error(`the spawner said ${JSON.stringify(line)}`)
    }
  }

  function hand(task_id: string): Promise<HandOver> {
    if (closed) throw new Error('start after close')
    const child = (current ??= launch())
    return new Promise((resolve, reject) => {
      const waiting = pending.get(task_id) ?? []
      const entry = { child, settle: (outcome: HandOver) => settle(() => resolve(outcome)) }
      const settle = (then: () => void) => {
        cancel()
        waiting.splice(waiting.indexOf(entry), 1)
        if (waiting.length === 0) pending.delete(task_id)
        then()
      }
      const cancel = options.clock.after(HAND_OVER_MS, () => {
        const said = `the spawner did not take ${task_id} within ${HAND_OVER_MS} ms`
        settle(() => reject(new ProcessFault('spawner_failed', said, 'later')))
        // It may be stopped or starved; a new one costs little, and the claim is exclusive.
        if (current === child) current = null
      })
      waiting.push(entry)
      pending.set(task_id, waiting)
      child.stdin.write(`${task_id}\n`)
    })
  }

  function close() {
    closed = true
    current?.stdin.end()
    current = null
    for (const child of reading) child.stdout.destroy()
  }

  return { hand, pid: () => current?.pid ?? null, close }
}

type Socket = { unref(): void }

/** Calls `line` for every whole line; what is left without a newline at the end was torn. */
function readLines(stream: Readable, line: (text: string) => void) {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const one of lines) line(one)
  })
}
