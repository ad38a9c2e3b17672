/**
 * The host: every agent of a home, its lane, its tasks, and the operator's acts. Opening is
 * recovery: the same code whether the last process ended well or was killed (reliability rule 9).
 */
import { activeWaits, openTurn, type Draft, type Emitted, type Facts } from '../domain/facts.ts'
import { isAgentId, type AgentId } from '../domain/ids.ts'
import { releaseHolds } from '../domain/park.ts'
import { isRejection, no, type Rejection } from '../domain/verdict.ts'
import type { Agent } from '../domain/agent.ts'
import type { OperatorCommand, OperatorReply } from '../protocol/operator.ts'
import { act, done, refused } from './operator.ts'
import { agentHome } from './home.ts'
import { Lane } from './lane.ts'
import { LaneEnv } from './lane-env.ts'
import type { AgentSettings, Host, HostNotice, HostPorts } from './ports.ts'
import { Store } from './store.ts'
import { Supervisor } from './supervisor.ts'

export function createHost(ports: HostPorts): Host {
  return new HomeHost(ports)
}

class HomeHost implements Host {
  readonly #ports: HostPorts
  readonly #store: Store
  readonly #supervisor: Supervisor
  readonly #lanes = new Map<AgentId, Lane>()
  readonly #listeners = new Set<(notice: HostNotice) => void>()
  #loaded: Promise<void> | null = null
  #open = false
  /** A bug or a dead store: nothing runs after it, and `close` throws it. */
  #broken: Error | null = null

  constructor(ports: HostPorts) {
    this.#ports = ports
    this.#store = new Store(ports.ledger, ports.clock, ports.ids)
    this.#supervisor = new Supervisor(ports, this.#store, (agent, error) =>
      this.#fail(agent, error),
    )
    this.#store.onCommit((agent, events) => this.#committed(agent, events))
  }

  async open(): Promise<void> {
    await this.#load()
    this.#open = true
    for (const agent of this.#store.agents()) {
      this.#supervisor.watchAll(agent)
      this.#lane(agent).wake()
    }
  }

  async ensureAgent(settings: AgentSettings): Promise<{ ok: true; agent: Agent } | Rejection> {
    await this.#load()
    const { id } = settings
    if (!isAgentId(id)) return no('agent_id_invalid', `"${id}" cannot name an agent.`)
    const home = agentHome(this.#ports.home, id)
    await this.#ports.files.make_folder(home, 0o700)
    const made = await this.#store.transact(id, 'operator', (d) => {
      const before = d.row('agents', id)
      const workspace = settings.workspace ?? { mode: 'inherit', root: home }
      if (!before) {
        const model = settings.model ?? null
        d.emit({ type: 'agent_created', id, model, workspace, preset: 'public_named' })
      }
      const changed = changedSettings(d.row('agents', id), settings)
      if (Object.keys(changed).length > 0) {
        d.emit({ type: 'agent_configured', id, ...changed })
        if ('model' in changed || 'fallback_model' in changed) releaseHeld(d, changed.model)
      }
    })
    if (isRejection(made)) return made
    const agent = this.#store.mustFacts(id).row('agents', id)
    if (!agent) throw new Error(`no row for ${id}`)
    return { ok: true, agent }
  }

  async act(command: Parameters<Host['act']>[0]): ReturnType<Host['act']> {
    await this.#load()
    if (command.do === 'abort') return this.#abort(command)
    return act(this.#store, this.#supervisor, command)
  }

  /** The id of the open turn is the guard: a run that is over is not aborted again. */
  async #abort(command: OperatorCommand & { do: 'abort' }): Promise<OperatorReply> {
    const { agent_id, run_id, stop = true } = command
    const facts = this.#store.facts(agent_id)
    const turn = facts ? openTurn(facts) : null
    if (turn?.id !== run_id) {
      const open = turn === null ? 'no turn is open' : `${turn.id} is the open one`
      return refused(no('run_stale', `${run_id} is not open: ${open}.`))
    }
    await this.#lane(agent_id).abort(stop)
    return done(`${run_id} is aborted${stop ? `, and ${agent_id} is stopped` : ''}.`)
  }

  facts(agent: AgentId): Facts | null {
    return this.#store.facts(agent)
  }

  next(agent: AgentId) {
    return this.#store.facts(agent) === null ? null : this.#lane(agent).next()
  }

  subscribe(listener: (notice: HostNotice) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async close(how: 'safe_point' | 'now'): Promise<void> {
    this.#open = false
    const lanes = [...this.#lanes.values()]
    for (const lane of lanes) {
      lane.env.stopping = true
      // A foreground command need not be waited for: it goes on in the background.
      lane.env.interjected.abort()
      if (how === 'now') lane.env.abort.abort()
    }
    await Promise.all(lanes.map((lane) => lane.settled()))
    await this.#supervisor.close()
    if (this.#broken !== null) throw this.#broken
  }

  #load(): Promise<void> {
    this.#loaded ??= this.#store.load()
    return this.#loaded
  }

  #lane(agent: AgentId): Lane {
    const known = this.#lanes.get(agent)
    if (known) return known
    const env = new LaneEnv(agent, this.#ports, this.#store, (notice) => this.#tell(notice))
    const lane = new Lane(env, (error) => this.#fail(agent, error))
    this.#lanes.set(agent, lane)
    return lane
  }

  #tell(notice: HostNotice): void {
    for (const listener of this.#listeners) listener(notice)
  }

  /** Follows a commit: signals for the running turn, watchers for new tasks, and a wake. */
  #committed(agent: AgentId, events: readonly Emitted[]): void {
    this.#tell({ kind: 'committed', agent_id: agent, events })
    if (!this.#open) return
    const lane = this.#lane(agent)
    for (const { event } of events) {
      if (event.type === 'task_promoted') this.#supervisor.watch(agent, event.id)
      if (event.type === 'request_sent') {
        lane.env.interruption = null
        lane.env.interjected = new AbortController()
      }
      if (event.type === 'message_admitted' && event.priority === 'interject') {
        lane.env.interjected.abort()
      }
      if (event.type === 'agent_stopped') lane.env.abort.abort()
    }
    lane.wake()
  }

  #fail(agent: AgentId, error: unknown): void {
    const failure = error instanceof Error ? error : new Error(String(error))
    this.#broken ??= failure
    const { message } = failure
    for (const lane of this.#lanes.values()) lane.env.stopping = true
    this.#tell({ kind: 'fault', agent_id: agent, message })
  }
}

/** Ends the holds that the setting caused; a held turn goes on with the model set now. */
function releaseHeld(d: Draft, model: string | undefined): void {
  const held = [...activeWaits(d)].some((wait) => wait.wake === 'system')
  const turn = openTurn(d)
  releaseHolds(d)
  if (!held || turn === null || model === undefined || model === turn.model) return
  d.emit({ type: 'model_fell_back', id: turn.id, model, cause: 'the operator set another model' })
}

function changedSettings(agent: Agent | undefined, settings: AgentSettings) {
  return {
    ...(settings.model !== undefined && settings.model !== agent?.model
      ? { model: settings.model }
      : {}),
    ...(settings.fallback_model !== undefined && settings.fallback_model !== agent?.fallback_model
      ? { fallback_model: settings.fallback_model }
      : {}),
    ...(settings.workspace !== undefined &&
    JSON.stringify(settings.workspace) !== JSON.stringify(agent?.workspace)
      ? { workspace: settings.workspace }
      : {}),
  }
}
