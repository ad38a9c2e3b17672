/**
 * This process on its machine: what the environment says, and the ports of `exec` that every other
 * part is given. Loaded at every start, so it holds nothing that is slow to load.
 */
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { BytesRead, TextFileRead } from '../../cli/command/ports.ts'
import { systemClock, systemIds } from '../../exec/clock.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import { systemFiles } from '../../exec/files/files.ts'
import { calledAs } from './called.ts'

export const env = process.env
export const clock = systemClock()
export const ids = systemIds()
export const files = systemFiles()
export const userHome = homedir()

const realPath = (path: string): string | null => {
  try {
    return realpathSync(path)
  } catch {
    // Not there, or not to be looked into: either way nothing that could have been called.
    return null
  }
}

export const called = calledAs({
  path: process.argv[1] ?? '',
  folder: process.cwd(),
  npm_command: env['npm_command'],
  search: env['PATH'] ?? '',
  real: realPath,
})

/** A folder of the XDG base directories, or where it is without the variable. */
const xdg = (name: string, ...usual: string[]): string => {
  const given = env[name]
  return given !== undefined && isAbsolute(given) ? given : join(userHome, ...usual)
}

export const defaultHome = join(xdg('XDG_STATE_HOME', '.local', 'state'), 'holon')
export const configFolder = xdg('XDG_CONFIG_HOME', '.config')

/** `~/…` names the user's home folder. */
export const expanded = (path: string): string =>
  path.startsWith('~/') ? join(userHome, path.slice(2)) : path

export const doorPath = (home: string) => join(home, 'door.json')
/** As long as the system lets a socket's path be; a longer one is none. */
export const socketPath = (home: string) => join(home, 'control.sock')
export const tokenPath = (home: string) => join(home, 'control-token')
export const pidPath = (home: string) => join(home, 'daemon.pid')
export const logPath = (home: string) => join(home, 'daemon.log')

export async function readText(path: string, max_bytes: number): Promise<TextFileRead> {
  const read = await readBytes(path, max_bytes)
  return read.ok ? textIn(read.bytes) : read
}

export async function readBytes(path: string, max_bytes: number): Promise<BytesRead> {
  try {
    return { ok: true, bytes: (await files.read(path, { max_bytes })).bytes }
  } catch (error) {
    // What the system has too little of says nothing about the file: it is not told as missing.
    if (!(error instanceof FileFault) || error.code === 'scarce') throw error
    return { ok: false, why: whyUnread(error.code) }
  }
}

/** The text that bytes are in UTF-8; with a zero among them they are none. */
export function textIn(bytes: Uint8Array): TextFileRead {
  try {
    if (bytes.includes(0)) return { ok: false, why: 'binary' }
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    if (error instanceof TypeError) return { ok: false, why: 'binary' }
    throw error
  }
}

function whyUnread(code: FileFault['code']): Extract<BytesRead, { ok: false }>['why'] {
  switch (code) {
    case 'not_found':
    case 'denied':
    case 'is_folder':
    case 'not_regular':
    case 'too_large':
      return code
    case 'disk_full':
    case 'read_only':
    case 'scarce':
    case 'io':
      return 'io'
  }
}
