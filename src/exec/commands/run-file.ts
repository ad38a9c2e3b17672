/**
 * The `run` file of a task: what its runner needs to know beside the command, as shell that is
 * sourced (`runner-script.ts`). Pure. Its last line says that it is whole.
 */
import { createHash } from 'node:crypto'
import type { CommandCaps, StdinMode } from '../ports.ts'
import type { NodeProgram } from '../program.ts'
import { quoted } from '../shell-word.ts'
import { umaskWord } from '../umask.ts'

export type RunFileSettings = {
  task_id: string
  workdir: string
  env: Readonly<Record<string, string>>
  timeout_ms: number | null
  stdin: StdinMode
  caps: CommandCaps
  umask: number
  confined: boolean
}

export function runFile(settings: RunFileSettings, terminal: NodeProgram): string {
  const { task_id, workdir, env, timeout_ms, stdin, caps, umask, confined } = settings
  const exports = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`)
  const inTerminal = [`node=${quoted(terminal.node)}`, `terminal=${quoted(terminal.script)}`]
  return [
    `stdin=${stdin}`,
    `workdir=${quoted(workdir)}`,
    `timeout=${timeout_ms === null ? '' : (Math.max(1, timeout_ms) / 1000).toFixed(3)}`,
    `mark=${markOf(task_id)}`,
    `caps=${quoted(`umask ${umaskWord(umask)} && ${capsScript(caps)}`)}`,
    ...(confined ? ['confined=1'] : []),
    ...(stdin === 'terminal' ? inTerminal : []),
    'give() {',
    'unset OLDPWD',
    ...exports,
    ':',
    '}',
    'ready=1',
    '',
  ].join('\n')
}

/**
 * The number that the processes of a task carry: 60 bits of its id above 2^61, in microseconds some
 * 73,000 years, so that as a limit it means nothing.
 */
export function markOf(task_id: string): string {
  const bits = createHash('sha256').update(task_id).digest('hex').slice(0, 15)
  return String(2n ** 61n + BigInt(`0x${bits}`))
}

/**
 * Shell that sets the caps and succeeds when they hold: a cap above what the machine allows is kept
 * by the machine's own. Core files are off, since they hold whatever was in memory; a command may
 * turn them on for itself.
 */
export function capsScript(caps: CommandCaps): string {
  const set = (option: string, value: number | undefined, other = option): string[] => {
    if (value === undefined) return []
    const tries = [...new Set([option, other])].flatMap((one) => [
      `command ulimit -${one} ${value} 2>/dev/null`,
      `[ "$(command ulimit -H${one} 2>/dev/null)" -le ${value} ] 2>/dev/null`,
    ])
    return [`{ ${tries.join(' || ')}; }`]
  }
  return [
    '{ command ulimit -S -c 0 2>/dev/null || :; }',
    ...set('n', caps.open_files),
    // A plain sh calls it p.
    ...set('u', caps.processes, 'p'),
    ...set('v', caps.memory_bytes === undefined ? undefined : Math.ceil(caps.memory_bytes / 1024)),
    ...set('t', caps.cpu_seconds),
  ].join(' && ')
}
