/**
 * Files that only their user may read (docs/spec/security.md#files): the modes and owners of a
 * home's folder, tokens and secrets, looked at before an owner starts, and the reading of one
 * secret. What is open to others is a refusal with its cause and the command that closes it;
 * nothing is repaired here, because what could be read may have been read, and a person has to
 * know.
 */
import { constants, type Stats } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileFault } from './file-fault.ts'
import { readHandle } from './whole-file.ts'

/** `message` says what is open to whom, `hint` what to run. Both are one line. */
export type PrivateRefusal = { code: 'not_private'; path: string; message: string; hint: string }

/** Bytes of a file with one secret: a private key with its chain has about 8,000. */
const largestSecret = 65_536

/** What of a home holds a secret. The rest is kept by the mode of the folder. */
const inHome = ['control-token', 'trigger-secret'] as const

/**
 * Looks at the home and its ledger (0700), its tokens and `secret_files` (0600), absolute paths.
 * What is not there is no problem here. Links are followed: what counts is the file that is read.
 * On systems without owners and modes there is nothing to find. Rejects with a `FileFault`.
 */
export async function checkPrivate(
  home: string,
  secret_files: readonly string[] = [],
): Promise<PrivateRefusal[]> {
  const files = [...inHome.map((name) => join(home, name)), ...secret_files]
  const folders = [home, join(home, 'ledger')]
  const foreign = await lookAsRoot(home)
  if (foreign !== null) return [foreign]
  const refusals = await Promise.all([
    ...folders.map((path) => look(path, 0o700)),
    ...files.map((path) => look(path, 0o600)),
  ])
  return refusals.filter((refusal) => refusal !== null)
}

/**
 * Root in the home of another user: what it writes there belongs to root, and locks the user out.
 */
async function lookAsRoot(home: string): Promise<PrivateRefusal | null> {
  if (process.getuid?.() !== 0) return null
  const found = await stat(home).catch(() => null)
  if (found === null || found.uid === 0) return null
  const message = `${home} belongs to another user (${found.uid}; this is root)`
  const hint = `run it as that user: sudo -u '#${found.uid}' …`
  return { code: 'not_private', path: home, message, hint }
}

export type SecretRead =
  | { ok: true; text: string }
  | { ok: false; code: 'not_private' | 'unreadable'; message: string; hint: string }

/**
 * One secret: the text of the file without the white space around it. The file that was opened is
 * the one whose mode is judged. Rejects only with the fault `scarce`, which says nothing about the
 * file; `message` does not contain the secret.
 */
export async function readSecretFile(path: string): Promise<SecretRead> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    try {
      const refusal = judge(path, await handle.stat(), 0o600)
      if (refusal) return { ok: false, ...refusal }
      const { bytes } = await readHandle(handle, path, largestSecret)
      return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim() }
    } finally {
      await handle.close()
    }
  } catch (error) {
    const fault = error instanceof TypeError ? null : fileFault(error, path)
    if (fault?.code === 'scarce') throw fault
    const message = fault === null ? `${path}: it is no text` : fault.message
    const hint = 'put one secret into that file and make it readable by this user only'
    return { ok: false, code: 'unreadable', message, hint }
  }
}

async function look(path: string, mode: 0o700 | 0o600): Promise<PrivateRefusal | null> {
  try {
    return judge(path, await stat(path), mode)
  } catch (error) {
    const fault = fileFault(error, path)
    if (fault.code === 'not_found') return null
    throw fault
  }
}

function judge(path: string, found: Stats, mode: 0o700 | 0o600): PrivateRefusal | null {
  if (process.getuid === undefined) return null
  const user = process.getuid()
  // What the system's own user holds, it could read anyway.
  if (found.uid !== user && found.uid !== 0) {
    const message = `${path} belongs to another user (${found.uid}; this is ${user})`
    const hint = `sudo chown ${user} ${quoted(path)}, or choose another place`
    return { code: 'not_private', path, message, hint }
  }
  const open_to = accessOf(found.mode)
  if (open_to === null) return null
  const bits = (found.mode & 0o7777).toString(8).padStart(4, '0')
  const message = `${path} can be ${open_to} by others (${bits})`
  return { code: 'not_private', path, message, hint: `chmod ${mode.toString(8)} ${quoted(path)}` }
}

function accessOf(mode: number): string | null {
  if ((mode & 0o022) !== 0) return 'changed'
  if ((mode & 0o044) !== 0) return 'read'
  return (mode & 0o011) === 0 ? null : 'entered'
}

/** As a shell takes it. */
const quoted = (path: string): string =>
  /^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
