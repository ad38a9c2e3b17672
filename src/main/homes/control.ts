/**
 * How clients find the owner of a home and prove that they may command it: the lock says who it is,
 * `door.json` where it listens, `control-token` is the proof. Each is read anew when it is needed.
 */
import type { DoorAddress, DoorWay } from '../../client/operator.ts'
import { doorPath, env, files, ids, readText, socketPath, tokenPath } from '../machine/machine.ts'

export async function ownerOf(home: string) {
  const { ownerOf } = await import('../../ledger/sqlite/owner.ts')
  return ownerOf(home)
}

export async function readToken(home: string): Promise<string | null> {
  const given = env['HOLON_CONTROL_TOKEN']?.trim()
  if (given) return given
  const read = await readText(tokenPath(home), 4_096)
  return read.ok ? read.text.trim() : null
}

/** Makes the token of the home when it has none; one that the environment gives is not stored. */
export async function ensureToken(home: string): Promise<string> {
  return (await readToken(home)) ?? rotateToken(home)
}

/** A new token holds from the next request on, the old one no longer. */
export async function rotateToken(home: string): Promise<string> {
  const { tokenBytes } = await import('../../http/gate/token.ts')
  const token = ids.token(tokenBytes)
  await files.write_atomic(tokenPath(home), `${token}\n`, 0o600)
  return token
}

/** Where the owner's door is. What a dead owner left behind names another process. */
export async function readDoor(home: string): Promise<DoorWay | null> {
  const owner = await ownerOf(home)
  const address = await readDoorAddress(home)
  const token = await readToken(home)
  if (address === null || token === null || owner === null) return null
  return address.pid === owner.pid ? { address, token, socket: socketPath(home) } : null
}

/** Where the owner of the home is, or its last one was, if that was killed. */
export async function readDoorAddress(home: string): Promise<DoorAddress | null> {
  const read = await readText(doorPath(home), 4_096)
  if (!read.ok) return null
  try {
    return JSON.parse(read.text) as DoorAddress
  } catch {
    return null
  }
}

export async function writeDoor(home: string, address: DoorAddress): Promise<void> {
  await files.write_atomic(doorPath(home), `${JSON.stringify(address)}\n`, 0o600)
}
