/**
 * The capability URLs of a home (docs/spec/wait.md#triggers): tokens are derived from a secret file
 * and the generation of a trigger, so a URL can be shown again and only a hash of it is stored.
 * Where the secret cannot be read, or is another one than a token was made with, there is no URL to
 * show. A secret that cannot be read is looked at again, whatever was wrong with it: by the next
 * need, and every half minute by itself; who could not be served meanwhile is told by `readable`.
 */
import { createHash, createHmac } from 'node:crypto'
import type { Facts } from '../domain/facts/facts.ts'
import type { AgentId, TriggerId } from '../domain/ids.ts'
import type { Trigger } from '../domain/state/trigger.ts'
import type { TokenHash } from '../domain/inbox/triggers.ts'
import { second } from '../domain/time.ts'
import { FileFault } from '../exec/files/file-fault.ts'
import type { Clock, Files, Ids } from '../exec/ports.ts'

/** Bytes of the secret. A token has as many bits as it: 256. */
const secretBytes = 32
/** Bytes of a file that can be a secret; more is something else. */
const secretFileBytes = 4_096
/** Milliseconds to the next look at a secret that cannot be read: a person mends it, by hand. */
const nextLook = 30 * second

export type TriggerUrlPorts = {
  home: string
  files: Files
  ids: Ids
  clock: Pick<Clock, 'after'>
  /** Called once, when the secret was read: from now on tokens can be made. */
  readable(): void
}

export class TriggerUrls {
  readonly #ports: TriggerUrlPorts
  #secret: Uint8Array | null = null
  #reading: Promise<void> | null = null
  /** Ends the wait for the next look; null: none is waited for. */
  #cancel: (() => void) | null = null
  #closed = false
  /** Where the owner listens, absolute and without a slash at the end; null: nowhere. */
  base_url: string | null = null
  /** What ails the secret, in a sentence; null while it serves. */
  problem: string | null = null

  constructor(ports: TriggerUrlPorts) {
    this.#ports = ports
  }

  /**
   * Reads the secret, made at the first need, unless it was read. Never rejects for what is wrong
   * with the file.
   */
  async load(): Promise<void> {
    if (this.#secret !== null) return
    this.#reading ??= this.#read().finally(() => (this.#reading = null))
    await this.#reading
  }

  /** It is not looked at again by itself. */
  close(): void {
    this.#closed = true
    this.#cancel?.()
  }

  /** Null where nothing can be minted. */
  get hash(): TokenHash {
    const secret = this.#secret
    return secret && ((id, generation) => sha256(tokenOf(secret, id, generation)))
  }

  /** The URL of an active trigger, for its agent and the holder of the control token alone. */
  urlOf(trigger: Trigger): string | null {
    const token = this.#tokenOf(trigger)
    return token === null || this.base_url === null ? null : `${this.base_url}/callbacks/${token}`
  }

  /** The URL that stands in an agent's context and in the environment of its commands. */
  ofAgent(facts: Facts): string | null {
    const own = defaultTrigger(facts)
    return own === null ? null : this.urlOf(own)
  }

  /** An opening to be stored: the agent's own URL becomes a handle, with the address of now. */
  sealed(facts: Facts, text: string): string {
    const own = defaultTrigger(facts)
    const token = own && this.#tokenOf(own)
    if (own === null || token === null) return text
    const handle = handleOf(facts.agent_id, own.id)
    const url = this.urlOf(own)
    const whole = url === null ? text : text.replaceAll(url, urlHandleOf(handle, this.base_url))
    return whole.replaceAll(token, handle)
  }

  /**
   * The stored opening as it is to be read: with the token of today, and where somebody listens the
   * address of today. The owner may have started anew on another port in the middle of the turn.
   */
  unsealed(facts: Facts, text: string): string {
    const own = defaultTrigger(facts)
    const token = own && this.#tokenOf(own)
    if (own === null || token === null) return text
    const handle = handleOf(facts.agent_id, own.id)
    return text
      .replace(urlHandle, (found, of: string, base: string) =>
        of === handle ? `${this.base_url ?? base}/callbacks/${token}` : found,
      )
      .replaceAll(handle, token)
  }

  /** Null where the secret is not the one it was derived from: after a restore without secrets. */
  #tokenOf({ id, generation, status, token_sha256 }: Trigger): string | null {
    if (this.#secret === null || status !== 'active') return null
    const token = tokenOf(this.#secret, id, generation)
    return sha256(token) === token_sha256 ? token : null
  }

  async #read(): Promise<void> {
    this.#cancel?.()
    const found = await this.#look()
    if (typeof found === 'string') {
      this.problem = found
      if (!this.#closed) this.#cancel = this.#ports.clock.after(nextLook, () => void this.load())
      return
    }
    this.problem = null
    this.#secret = found
    this.#ports.readable()
  }

  /** The secret, or what ails it. */
  async #look(): Promise<Uint8Array | string> {
    const { home, files, ids } = this.#ports
    const path = `${home}/trigger-secret`
    try {
      if (!(await files.exists(path))) {
        await files.write_atomic(path, `${ids.token(secretBytes)}\n`, 0o600)
      }
      const { bytes, mode } = await files.read(path, { max_bytes: secretFileBytes, follow: false })
      const secret = Buffer.from(new TextDecoder().decode(bytes).trim(), 'base64url')
      if ((mode & 0o077) !== 0) return `${path} can be read by others: chmod 600 it`
      return secret.length === secretBytes ? secret : `${path} holds no secret of 256 bits`
    } catch (error) {
      if (error instanceof FileFault) return error.message
      throw error
    }
  }
}

const tokenOf = (secret: Uint8Array, id: TriggerId, generation: number): string =>
  createHmac('sha256', secret).update(`${id}\n${generation}`).digest('base64url')

/** Hex: what the row of a trigger keeps of its token. */
const sha256 = (token: string): string => createHash('sha256').update(token).digest('hex')

const handleOf = (agent: AgentId, id: TriggerId): string => `{{trigger:${agent}:${id}}}`
/** Where the URL was when it was stored stands with it, for the time when nobody listens. */
const urlHandleOf = (handle: string, base: string | null): string =>
  `{{url of ${handle} at ${base}}}`
const urlHandle = /\{\{url of (\{\{trigger:[^{}]*\}\}) at ([^{}]*)\}\}/g

/** The agent's own trigger; null for one that has none (yet). */
function defaultTrigger(facts: Facts): Trigger | null {
  for (const trigger of facts.rows('triggers')) {
    if (trigger.by === 'runtime' && trigger.status === 'active') return trigger
  }
  return null
}
