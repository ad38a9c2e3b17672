/**
 * One process of an agent of another maker, from its start to its end, as the client side of the
 * Agent Client Protocol. It is offered no files and no terminal: it has its own tools, and works in
 * its workspace with its own rules and our allow-listed environment.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  client,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type ClientConnection,
  type NewSessionRequest,
  type PromptRequest,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
} from '@agentclientprotocol/sdk'
import type { AcpFailure, AcpStop } from '../../ports/acp.ts'
import {
  ACP_KILL_MS,
  ACP_LINE_BYTES,
  ACP_STDERR_BYTES,
  ACP_UNANSWERED,
  ACP_WORD_CHARS,
} from './limits.ts'
import { word } from './updates.ts'
import { wire, WireFault } from './wire.ts'
import type { Clock } from '../ports.ts'
import { signalled } from '../signalled.ts'
import { withPersonsUmask } from '../umask.ts'

export type AgentProgram = {
  /** Looked up in the PATH of `env`; no shell. */
  command: string
  args: readonly string[]
  /** All that it sees. */
  env: Readonly<Record<string, string>>
  /** Absolute. */
  workdir: string
}

export type AgentEnd = { code: number | null; signal: string | null }

/** Who listens. All are called in the order in which the agent spoke. */
export type AgentEars = {
  heard(isRequest: boolean): void
  updated(update: SessionNotification): void
  asked(request: RequestPermissionRequest): Promise<RequestPermissionResponse>
  ended(end: AgentEnd): void
}

/** Why the agent cannot go on, as the journal says it. */
export class AgentFault extends Error {
  readonly code: AcpFailure
  readonly retry = 'never'
  constructor(code: AcpFailure, message: string) {
    super(message)
    this.name = 'AgentFault'
    this.code = code
  }
}

export class AcpAgent {
  readonly #clock: Clock
  readonly #program: AgentProgram
  readonly #child: ChildProcess
  readonly #connection: ClientConnection
  readonly #spawned = Promise.withResolvers<number>()
  readonly #gone = Promise.withResolvers<AgentEnd>()
  #said = ''
  #end: AgentEnd | null = null
  /** Why we ended it, when we did. */
  #cause: AgentFault | null = null
  #loads = false

  constructor(program: AgentProgram, ears: AgentEars, clock: Clock) {
    this.#clock = clock
    this.#program = program
    const { command, args, env, workdir } = program
    // Its own group: what it started ends with it.
    const child = withPersonsUmask(() =>
      spawn(command, args, { cwd: workdir, env, detached: true, stdio: 'pipe' }),
    )
    if ((child.stdin as unknown) === undefined) throw noDescriptors(child)
    this.#child = child
    child.on('spawn', () => this.#spawned.resolve(child.pid ?? 0))
    child.on('error', (error) => this.#spawned.reject(new AgentFault('not_started', error.message)))
    this.#spawned.promise.catch(() => undefined)
    child.stdin.on('error', () => undefined) // its end says more
    child.stderr.on('data', (bytes: Buffer) => {
      this.#said = (this.#said + bytes.toString('utf8')).slice(-ACP_STDERR_BYTES)
    })
    const stream = wire(child.stdout, child.stdin, {
      line_bytes: ACP_LINE_BYTES,
      unanswered: ACP_UNANSWERED,
      heard: (isRequest) => ears.heard(isRequest),
    })
    this.#connection = client({ name: 'holon' })
      .onRequest(methods.client.session.requestPermission, ({ params }) => ears.asked(params))
      .onNotification(methods.client.session.update, ({ params }) => ears.updated(params))
      .connect(stream)
    // Whoever it left behind with its pipes would keep them open.
    child.on('exit', () => {
      this.#signal('SIGKILL')
      this.#clock.after(ACP_KILL_MS, () => (child.stdout.destroy(), child.stderr.destroy()))
    })
    child.on('close', (code, signal) => {
      this.#end = { code, signal }
      this.#gone.resolve(this.#end)
      this.#connection.close(this.#fault())
      ears.ended(this.#end)
    })
    this.#connection.closed.then(
      () => this.#disconnected(),
      () => undefined,
    )
  }

  get ended(): boolean {
    return this.#end !== null
  }

  /** Resolves with the pid. Throws `not_started`. */
  started(): Promise<number> {
    return this.#spawned.promise
  }

  /**
   * The session to talk in: `known` when the agent can load it. `loading` is called around a load,
   * whose updates repeat what was said. Throws `AgentFault`.
   */
  async session(
    known: string | null,
    loading: (on: boolean) => void,
  ): Promise<{ session_id: string; loaded: boolean }> {
    await this.#initialize()
    const { agent } = this.#connection
    const where: NewSessionRequest = { cwd: this.#program.workdir, mcpServers: [] }
    if (known !== null && this.#loads) {
      loading(true)
      try {
        const load = { ...where, sessionId: known }
        const loaded = agent.request(methods.agent.session.load, load)
        await this.#answered(loaded)
        return { session_id: known, loaded: true }
      } catch (error) {
        // A session that is not there any more; everything else would fail again below.
        if (!(error instanceof AgentFault) || this.ended) throw error
      } finally {
        loading(false)
      }
    }
    const begun = agent.request(methods.agent.session.new, where)
    const { sessionId } = await this.#answered(begun)
    const id: unknown = sessionId
    if (typeof id !== 'string' || id === '') throw misfit('sessionId', id)
    if (id.length > ACP_WORD_CHARS) {
      throw new AgentFault('garbage', `its session id has ${id.length} characters`)
    }
    return { session_id: sessionId, loaded: false }
  }

  /** Asks and waits for the end of the turn. Throws `AgentFault`. */
  async prompt(session_id: string, text: string): Promise<AcpStop> {
    const prompt: PromptRequest = { sessionId: session_id, prompt: [{ type: 'text', text }] }
    const asked = this.#connection.agent.request(methods.agent.session.prompt, prompt)
    const { stopReason } = await this.#answered(asked)
    if (!isStop(stopReason)) throw misfit('stopReason', stopReason)
    // The updates before it are handed on in the same tick, each a few promises late.
    await new Promise((resolve) => setImmediate(resolve))
    return stopReason
  }

  cancel(session_id: string): void {
    const notice = this.#connection.agent.notify(methods.agent.session.cancel, {
      sessionId: session_id,
    })
    notice.catch(() => undefined) // an agent that is gone needs no cancel
  }

  /** TERM to the agent and what it started, KILL after a while. Resolves when it is gone. */
  async stop(cause: AgentFault | null): Promise<void> {
    this.#cause ??= cause
    if (this.#child.pid === undefined || this.#end !== null) return
    this.#signal('SIGTERM')
    const cancel = this.#clock.after(ACP_KILL_MS, () => this.#signal('SIGKILL'))
    await this.#gone.promise
    cancel()
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const { pid } = this.#child
    if (pid !== undefined) signalled(-pid, signal)
  }

  async #initialize(): Promise<void> {
    const asked = this.#connection.agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'holon', version: '1' },
    })
    const { protocolVersion, agentCapabilities } = await this.#answered(asked)
    if (typeof protocolVersion !== 'number') throw misfit('protocolVersion', protocolVersion)
    if (protocolVersion !== PROTOCOL_VERSION) {
      const spoken = `it speaks version ${protocolVersion} of the protocol`
      const said = `${spoken}, and not ${PROTOCOL_VERSION}`
      throw new AgentFault('wrong_protocol', said)
    }
    this.#loads = agentCapabilities?.loadSession === true
  }

  /** The answer to a request, or an `AgentFault` that says why there is none. */
  async #answered<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer
    } catch (error) {
      throw await this.#faultOf(error)
    }
  }

  /** An answer of the agent, or the end of the connection and why. */
  async #faultOf(error: unknown): Promise<AgentFault> {
    if (error instanceof RequestError && !this.#connection.signal.aborted) return ownError(error)
    if (error instanceof AgentFault) return error
    // A fault of the wire ends the connection before it ends a request.
    if (!this.#connection.signal.aborted) {
      const said = word(error instanceof Error ? error.message : String(error))
      return new AgentFault('garbage', `its answer does not fit the protocol: ${said}`)
    }
    await this.#gone.promise
    return this.#fault()
  }

  #fault(): AgentFault {
    if (this.#cause !== null) return this.#cause
    const { code, signal } = this.#end ?? { code: null, signal: null }
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`
    const said = word(this.#said)
    return new AgentFault('agent_ended', `it ended ${how}${said === '' ? '' : `: ${said}`}`)
  }

  /** The connection can be over while the process lives: garbage, or a closed pipe. */
  #disconnected(): void {
    if (this.#end !== null) return
    const reason: unknown = this.#connection.signal.reason
    if (reason instanceof WireFault) void this.stop(new AgentFault('garbage', reason.message))
    // Its pipes close a moment before it ends: how it ends is for itself to say.
    else this.#clock.after(ACP_KILL_MS, () => void this.stop(null))
  }
}

/** Without a descriptor Node gives back a child that has no streams, and says why in its error. */
function noDescriptors(child: ChildProcess): AgentFault {
  child.on('error', () => undefined)
  return new AgentFault('not_started', 'the system is out of open files')
}

const stops: Readonly<Record<AcpStop, true>> = {
  end_turn: true,
  max_tokens: true,
  max_turn_requests: true,
  refusal: true,
  cancelled: true,
}
const isStop = (reason: unknown): reason is AcpStop =>
  typeof reason === 'string' && Object.hasOwn(stops, reason)

/** The SDK takes any answer that is an object: what it must have is looked at here. */
function misfit(field: string, value: unknown): AgentFault {
  const said = value === undefined ? 'is missing' : `is ${word(JSON.stringify(value))}`
  return new AgentFault('garbage', `its answer does not fit the protocol: ${field} ${said}`)
}

function ownError({ code, message }: RequestError): AgentFault {
  const said = word(message)
  switch (code) {
    case -32_000:
      return new AgentFault('needs_login', `it wants a login: ${said}`)
    case -32_603:
      return new AgentFault('agent_error', `it failed: ${said}`)
    default:
      return new AgentFault('agent_refused', `it refused (${code}): ${said}`)
  }
}
