/**
 * The daemon's end of the standby: starts that process on the daemon's listening sockets, gives it
 * a sign of life every second, and starts it again when it ends. The standby is a comfort: that
 * there is none is told, and changes nothing else. After `close` no process holds the sockets but
 * this one.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import {
  STANDBY_AGAIN_MAX_MS,
  STANDBY_AGAIN_MS,
  STANDBY_SIGN_MS,
  STANDBY_SILENCE_MS,
} from '../limits.ts'
import type { Clock } from '../ports.ts'
import type { NodeProgram } from '../program.ts'

/** What may be told of it. */
export type StandbyNotice =
  /** This process is heard again after `silent_ms`; the standby accepted in between. */
  | { kind: 'relieved'; silent_ms: number }
  /** It ended by itself, or could not be started; it is tried again after `again_ms`. */
  | { kind: 'lost'; reason: string; again_ms: number }

export type StandbyOptions = {
  program: NodeProgram
  /** Stands in a list of processes beside the program; nothing of it is opened. */
  home: string
  /** Of the listening sockets. */
  descriptors: readonly number[]
  /** Host names that the daemon answers to. */
  hosts: readonly string[]
  clock: Clock
  onNotice: (notice: StandbyNotice) => void
}

/** Contract: `close` resolves when the process is gone; twice is nothing. */
export type Standby = { pid(): number | null; close(): Promise<void> }

type Running = { child: ChildProcess; ended: Promise<void> }

export function startStandby(options: StandbyOptions): Standby {
  const { clock, onNotice } = options
  let running: Running | null = null
  let cancelSign = () => {}
  let cancelStart = () => {}
  let closed = false
  let losses = 0
  let signed = clock.monotonic()
  /** Of the signs, the longest time between two since a standby was started. */
  let silent_ms = 0

  const sign = () => {
    const now = clock.monotonic()
    silent_ms = Math.max(silent_ms, Math.round(now - signed))
    signed = now
    const stdin = running?.child.stdin
    // What a stopped standby did not read is sign enough for when it goes on.
    if (stdin?.writableLength === 0) stdin.write('\n')
    cancelSign = clock.after(STANDBY_SIGN_MS, sign)
  }

  const lost = (reason: string) => {
    const again_ms = Math.min(STANDBY_AGAIN_MS * 2 ** losses, STANDBY_AGAIN_MAX_MS)
    losses += 1
    onNotice({ kind: 'lost', reason, again_ms })
    cancelStart = clock.after(again_ms, start)
  }

  const start = () => {
    const started = clock.monotonic()
    silent_ms = 0
    try {
      const { child, ended } = launch(options)
      const now: Running = { child, ended: ended.then((how) => gone(now, how, started)) }
      running = now
    } catch (error) {
      lost(error instanceof Error ? error.message : String(error))
    }
  }

  const gone = (of: Running, how: Ended, started: number) => {
    if (running === of) running = null
    if (closed) return
    const lived = clock.monotonic() - started
    // One that lived for long did not die of how it is started.
    if (lived >= STANDBY_AGAIN_MAX_MS) losses = 0
    // None can be relieved before it could stand in.
    if (how.code !== 0 || lived < STANDBY_SILENCE_MS) return lost(how.reason)
    losses = 0
    onNotice({ kind: 'relieved', silent_ms })
    start()
  }

  start()
  sign()
  return {
    pid: () => running?.child.pid ?? null,
    async close() {
      closed = true
      cancelSign()
      cancelStart()
      running?.child.kill('SIGKILL')
      await running?.ended
    },
  }
}

type Ended = { code: number | null; reason: string }

function launch({ program, home, descriptors, hosts }: StandbyOptions) {
  const ended = Promise.withResolvers<Ended>()
  const silence = String(STANDBY_SILENCE_MS)
  const words = [program.script, home, silence, String(descriptors.length), ...hosts]
  const child = spawn(program.node, words, {
    // In a session of its own: keys pressed at the daemon's terminal are not for it.
    detached: true,
    cwd: '/',
    env: {},
    stdio: ['pipe', 'ignore', 'ignore', ...descriptors],
  })
  child.on('error', ({ message }) => ended.resolve({ code: null, reason: message }))
  child.on('exit', (code, signal) =>
    ended.resolve({ code, reason: signal === null ? `exit ${code}` : `ended by ${signal}` }),
  )
  const stdin = child.stdin as typeof child.stdin | undefined
  // A sign to one that has just ended; its end is told by itself.
  stdin?.on('error', () => {})
  child.unref()
  if (stdin instanceof Socket) stdin.unref()
  return { child, ended: ended.promise }
}
