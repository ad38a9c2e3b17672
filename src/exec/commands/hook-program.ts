/**
 * Runs a program that is asked one thing: its stdin is the question, its stdout the answer. It has
 * the allow-listed environment of a command, the root as its folder, no writable folder but its
 * `/tmp`, no network, and is shut in where commands are. It and what it started end with the
 * answer, or at the limit. Never rejects: what went wrong is the answer.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { childEnvironment } from '../environment.ts'
import { sha256 } from '../files/whole-file.ts'
import { HOOK_ANSWER_MS, HOOK_OUTPUT_BYTES } from '../limits.ts'
import type { Clock } from '../ports.ts'
import { findProgram } from '../program.ts'
import { quoted } from '../shell-word.ts'
import { signalled } from '../signalled.ts'
import { Confinement, type ConfinementOptions } from './confinement.ts'

export type HookProgramOptions = {
  clock: Clock
  parent_env: Readonly<Record<string, string | undefined>>
  /** Holon's own folder for it, and whether it runs where it cannot be confined, as commands do. */
  confined: (Pick<ConfinementOptions, 'folder' | 'whom'> & { deny: readonly string[] }) | null
}

export type ProgramEnd = { state: 'ended'; stdout: string } | { state: 'failed'; why: string }

export type AskProgram = (run: readonly string[], question: string) => Promise<ProgramEnd>

type Started = { file: string; args: readonly string[] }

/** Stands for an agent in the names of folders; no agent can have it. */
const nobody = '.hooks'

export function hookPrograms({ clock, parent_env, confined }: HookProgramOptions): AskProgram {
  const env = childEnvironment({ pass: [], set: {} }, parent_env)
  const path = env['PATH'] ?? ''
  const shell = findProgram(['bash', 'sh'], path) ?? '/bin/sh'
  const options = confined && { ...confined, network: 'none' as const, writable: [] }
  const confinement = options && new Confinement(options, { path, shell })
  const shut = async (run: readonly string[]): Promise<Started> => {
    const [program = '', ...args] = run
    if (confinement === null || confined === null) return { file: program, args }
    const problem = await confinement.problem()
    if (problem !== null && confined.whom === 'models') return { file: program, args }
    if (problem !== null) throw new Error(`it cannot be confined: ${problem}`)
    const text = `exec ${[realpathSync(program), ...args].map(quoted).join(' ')}\n`
    const folder = join(confined.folder, `${nobody}-run`)
    const command = join(folder, sha256(text))
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(command, text, { mode: 0o600 })
    const roots = { write: [], read: [realpathSync(program)], deny: confined.deny, read_only: [] }
    const of = { agent_id: nobody, repository: null, roots }
    return { file: shell, args: ['-c', confinement.script(of, folder, '/'), 'hook', command] }
  }
  return async (run, question) => {
    try {
      const { file, args } = await shut(run)
      const child = spawn(file, args, { cwd: '/', env, detached: true, stdio: 'pipe' })
      return await answerOf(child, question, clock)
    } catch (error) {
      return { state: 'failed', why: messageOf(error) }
    }
  }
}

function answerOf(child: ChildProcess, question: string, clock: Clock): Promise<ProgramEnd> {
  const { promise, resolve } = Promise.withResolvers<ProgramEnd>()
  const { stdin, stdout, stderr } = child
  if (!stdin || !stdout || !stderr) {
    child.on('error', () => undefined)
    return Promise.resolve({ state: 'failed', why: 'it could not be started' })
  }
  const pieces: Buffer[] = []
  let bytes = 0
  const end = (how: ProgramEnd) => {
    forget()
    const left = endGroup(child)
    for (const stream of [stdin, stdout, stderr]) stream.destroy()
    resolve(left === null ? how : { state: 'failed', why: `it could not be ended: ${left}` })
  }
  const seconds = HOOK_ANSWER_MS / 1_000
  const forget = clock.after(HOOK_ANSWER_MS, () =>
    end({ state: 'failed', why: `it did not answer within ${seconds} s` }),
  )
  child.on('error', (error) =>
    end({ state: 'failed', why: `it could not be started: ${error.message}` }),
  )
  child.on('close', (code, signal) => {
    if (code === 0) return end({ state: 'ended', stdout: Buffer.concat(pieces).toString('utf8') })
    end({ state: 'failed', why: signal ? `${signal} ended it` : `it ended with ${code}` })
  })
  stdout.on('data', (piece: Buffer) => {
    pieces.push(piece)
    bytes += piece.length
    if (bytes > HOOK_OUTPUT_BYTES) {
      end({ state: 'failed', why: `it wrote more than ${HOOK_OUTPUT_BYTES} bytes` })
    }
  })
  stderr.resume()
  // Who ends without reading the question says so by its answer.
  stdin.on('error', () => undefined)
  stdin.end(question)
  return promise
}

/** With all that it started. Null: nobody of it is left; else why somebody may be. */
function endGroup({ pid }: ChildProcess): string | null {
  try {
    if (pid !== undefined) signalled(-pid, 'SIGKILL')
    return null
  } catch (error) {
    return messageOf(error)
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
