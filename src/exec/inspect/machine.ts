/**
 * What the machine is, for who writes commands for it: the system, the shell that runs them, and
 * the versions of a few programs they are likely to call. It does not change while we run.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { arch, release, type } from 'node:os'
import type { MachineSeen } from './inspect-port.ts'
import { MACHINE_LOOK_MS } from '../limits.ts'

/** Each says its version for this word, as the first number of its first line. */
const programs: readonly (readonly [string, string])[] = [
  ['git', '--version'],
  ['node', '--version'],
  ['python3', '--version'],
  ['rg', '--version'],
]

export async function lookAtMachine(path: string): Promise<MachineSeen> {
  const [os, bash, ...found] = await Promise.all([
    system(),
    versionOf('bash', '--version', path),
    ...programs.map(([name, word]) => versionOf(name, word, path)),
  ])
  return {
    os,
    shell: bash ?? 'sh',
    programs: found.filter((one) => one !== null),
  }
}

async function system(): Promise<string> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '')
  const name = /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(text)?.[1]
  const kernel = /^\d+(\.\d+)?/.exec(release())?.[0] ?? release()
  return `${type()} ${kernel} ${arch()}${name === undefined ? '' : ` (${name})`}`
}

function versionOf(name: string, word: string, path: string): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { env: { PATH: path, LC_ALL: 'C' }, cwd: '/', timeout: MACHINE_LOOK_MS }
    const child = execFile(name, [word], options, (error, out) => {
      const version = error === null ? /\d+(\.\d+)+/.exec(out)?.[0] : undefined
      resolve(version === undefined ? null : `${name} ${version}`)
    })
    child.stdin?.end()
  })
}
