/**
 * The doors of confined commands: for each a socket in a folder of its task, which its sandbox has
 * read-only, so that no command can put another in its place. Behind it is the proxy. A door is
 * open while somebody here follows the task; the next daemon opens it anew at the same place.
 *
 * The socket is bound by the descriptor of its folder: a path of one has a hundred bytes, and that
 * of a home may have more.
 */
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Clock, HostGate } from '../ports.ts'
import { type NodeProgram, programBeside } from '../program.ts'
import { HOST_CONNECTIONS, HOST_CONNECTIONS_ALL } from './limits.ts'
import type { Net } from './net.ts'
import { carry, refuse } from './proxy.ts'

export type DoorsOptions = { gate: HostGate; net: Net; clock: Clock }

type Door = { server: Server; clients: Set<Socket>; descriptor: number }

/** What stands inside the sandbox, where no socket of a command leads out. */
export const relayProgram = (): NodeProgram => programBeside('relay', import.meta.url)

/** The folder of a door in that of its task, and its files. */
export const doorFolder = (task_folder: string): string => join(task_folder, 'hosts')
export const doorName = 'door'
const agentName = 'agent'

export class Doors {
  readonly #options: DoorsOptions
  readonly #open = new Map<string, Door>()
  #clients = 0

  constructor(options: DoorsOptions) {
    this.#options = options
  }

  /** Makes the place of a door, and keeps there whose it is. Throws what the file system throws. */
  make(task_folder: string, agent_id: string): void {
    const folder = doorFolder(task_folder)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, agentName), agent_id, { mode: 0o600 })
  }

  /** True: it was shut, and has a place. Rejects when no socket can be had. */
  async open(task_folder: string): Promise<boolean> {
    const agent_id = agentOf(task_folder)
    if (agent_id === null || this.#open.has(task_folder)) return false
    const folder = doorFolder(task_folder)
    const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
    // What lies there is of a daemon that died: a home has one owner.
    rmSync(join(folder, doorName), { force: true })
    const clients = new Set<Socket>()
    const server = createServer({ allowHalfOpen: true }, (client) => {
      this.#enter(client, clients, agent_id)
    })
    // What keeps the daemon alive is what it waits for.
    server.unref()
    const door = { server, clients, descriptor }
    this.#open.set(task_folder, door)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    server.once('error', reject).listen(`/proc/self/fd/${descriptor}/${doorName}`, resolve)
    try {
      await promise
      return true
    } catch (error) {
      this.#open.delete(task_folder)
      closeSync(descriptor)
      throw error
    } finally {
      // From now on it is a connection that could not be taken: its client sees it end.
      server.on('error', () => {}).off('error', reject)
    }
  }

  async shut(task_folder: string): Promise<void> {
    const door = this.#open.get(task_folder)
    if (door === undefined) return
    this.#open.delete(task_folder)
    for (const client of door.clients) client.destroy()
    await new Promise<void>((resolve) => door.server.close(() => resolve()))
    closeSync(door.descriptor)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((folder) => this.shut(folder)))
  }

  #enter(client: Socket, clients: Set<Socket>, agent_id: string): void {
    clients.add(client)
    this.#clients += 1
    client.on('close', () => {
      clients.delete(client)
      this.#clients -= 1
    })
    if (clients.size > HOST_CONNECTIONS || this.#clients > HOST_CONNECTIONS_ALL) {
      client.on('error', () => client.destroy())
      const most = clients.size > HOST_CONNECTIONS ? HOST_CONNECTIONS : HOST_CONNECTIONS_ALL
      const message = `${most} connections are open, and no more are carried; end some`
      return refuse(client, { status: '503 Service Unavailable', message })
    }
    const { gate, net, clock } = this.#options
    // It never rejects but by a bug, and that is not to be kept.
    void carry(client, { judge: (asked) => gate.judge(agent_id, asked), net, clock })
  }
}

/** Null: the command of this task has no door. */
function agentOf(task_folder: string): string | null {
  try {
    return readFileSync(join(doorFolder(task_folder), agentName), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
