/**
 * A home that a daemon serves, as `holon run` follows it: acts go to the daemon, its event stream
 * brings what was committed, and the facts are read beside it before a commit is told of. The run
 * sees the same as if it owned the home; only, when it leaves, the work goes on.
 */
import type { Reader } from '../../client/home-reads.ts'
import { sendThroughDoor, untaken, type DoorWay } from '../../client/operator.ts'
import { follow } from '../../client/stream.ts'
import type { Api, ApiPorts } from '../../client/api.ts'
import { agentView, factsOf } from '../../protocol/agent-view.ts'
import type { LiveFrame } from '../../protocol/live-frame.ts'
import type { OperatorCommand, OperatorReply } from '../../protocol/acts/operator.ts'
import type { Agent, Emitted, Facts, Next, StoredEvent } from '../../protocol/records/records.ts'
import { wrongToken } from '../command/failure.ts'
import type { AgentSettings } from '../../ports/host.ts'
import { HeardTexts } from './heard-texts.ts'
import type { RunNotice, OwnedHome } from '../command/run-ports.ts'

export type AttachedPorts = {
  reader: Reader & { close(): Promise<void> }
  api: Api
  stream: Pick<ApiPorts, 'fetch' | 'clock'>
  door: DoorWay
  now(): string
}

/** Tries in a row to reach the daemon again: 13 seconds, enough for it to be started anew. */
const patience = 8

export async function attach(ports: AttachedPorts): Promise<OwnedHome> {
  const home = new AttachedHome(ports, await ports.reader.lastGlobalSeq())
  for (const { id } of await ports.reader.agents()) await home.know(id)
  return home.owned
}

class AttachedHome {
  readonly #ports: AttachedPorts
  readonly #from: number
  readonly #facts = new Map<string, Facts>()
  /** Up to which of its own seqs each agent's events have been told of. */
  readonly #told = new Map<string, number>()
  readonly #listeners = new Set<(notice: RunNotice) => void>()
  readonly #left = new AbortController()
  readonly #texts = new HeardTexts()
  #pending: StoredEvent[] = []
  #flushing: Promise<void> | null = null

  constructor(ports: AttachedPorts, from: number) {
    this.#ports = ports
    this.#from = from
  }

  get owned(): OwnedHome {
    const { reader } = this.#ports
    return {
      outlives: true,
      host: {
        open: () => this.#open(),
        ensureAgent: (settings) => this.#ensureAgent(settings),
        act: (command) => this.#act(command),
        facts: (agent) => this.#facts.get(agent) ?? null,
        next: (agent) => this.#next(agent),
        liveTexts: (agent) => this.#texts.of(agent),
        subscribe: (listener) => {
          this.#listeners.add(listener)
          return () => void this.#listeners.delete(listener)
        },
        close: () => this.#leave(),
      },
      agents: () => reader.agents(),
      events: (after) => reader.events({ after, limit: 500 }),
      last_global_seq: () => reader.lastGlobalSeq(),
      // Its keys are the daemon's: it refuses a model it cannot ask when one is set.
      open_model: () => Promise.resolve({ ok: true }),
      open_door: () => Promise.resolve(),
      output_bytes: () => Promise.resolve(null),
      close: async () => {
        await this.#leave()
        await reader.close()
      },
    }
  }

  /** What was there before the run is known, and not told of. */
  async know(agent: string): Promise<void> {
    await this.#refresh(agent)
    this.#told.set(agent, this.#facts.get(agent)?.seq ?? 0)
  }

  async #refresh(agent: string): Promise<void> {
    const live = await this.#ports.reader.live(agent)
    if (live !== null) this.#facts.set(agent, factsOf(agent, live))
  }

  /** Follows from where the run began, so that nothing of its own acts is missed. */
  #open(): Promise<void> {
    void this.#follow().catch((error: unknown) => this.#failed(error))
    return Promise.resolve()
  }

  async #follow(): Promise<void> {
    const { api, stream } = this.#ports
    const options = {
      path: '/events',
      after: this.#from,
      signal: this.#left.signal,
      tries: patience,
    }
    for await (const item of follow(api, stream, options)) {
      switch (item.kind) {
        case 'event':
          this.#pending.push(item.event)
          this.#flushing ??= this.#flush().finally(() => (this.#flushing = null))
          break
        case 'live':
          this.#live(item.frame)
          break
        case 'open':
          // What is being said comes again from its beginning.
          this.#texts.clear()
          break
        case 'broken':
          break
        case 'reload':
          // It was asked for from now on: only a home that was replaced has less.
          return this.#tellFault('the history it follows is gone: look with holon work list')
        case 'ended':
          return this.#tellFault(
            'the daemon does not answer any more: holon start, then holon run --resume',
          )
      }
    }
  }

  /** Events of one agent at a time, after the facts have reached them. */
  async #flush(): Promise<void> {
    while (this.#pending.length > 0) {
      const all = this.#pending
      this.#pending = []
      for (const agent_id of new Set(all.map((event) => event.agent_id))) {
        await this.#refresh(agent_id)
        const events = all.filter((event) => event.agent_id === agent_id)
        this.#texts.settle(agent_id, events)
        this.#told.set(agent_id, events.at(-1)?.seq ?? 0)
        this.#tell({ kind: 'committed', agent_id, events: events.map(emitted) })
        const next = this.#next(agent_id)
        const rests = next !== null && next.do !== 'noop' && next.do !== 'start_turn'
        if (rests) this.#tell({ kind: 'resting', agent_id, next })
      }
    }
  }

  #live(frame: LiveFrame): void {
    switch (frame.kind) {
      case 'retry':
        return this.#tell(frame)
      case 'heartbeat':
      case 'task_output':
        return
      case 'text_delta':
        this.#texts.hear(frame)
        return this.#tell({ kind: 'live', agent_id: frame.agent_id, event: { type: frame.kind } })
      case 'reasoning_delta':
      case 'tool_call_started':
      case 'alive':
        return this.#tell({ kind: 'live', agent_id: frame.agent_id, event: { type: frame.kind } })
    }
  }

  /** Facts may be ahead of what was told: until that has come, the agent counts as busy. */
  #next(agent: string): Next | null {
    const facts = this.#facts.get(agent)
    if (facts === undefined) return null
    if (facts.seq > (this.#told.get(agent) ?? 0)) {
      return { do: 'noop', because: 'what it did is still on its way' }
    }
    return agentView(facts, this.#ports.now(), true).next
  }

  async #act(command: OperatorCommand): Promise<OperatorReply> {
    const answer = await sendThroughDoor(this.#ports.door, command)
    if (answer.ok) {
      await this.#refresh(command.agent_id)
      return answer.reply
    }
    if (answer.code === 'unauthorized') throw wrongToken()
    const message =
      answer.code === 'closed' ? 'The daemon does not answer.' : untaken('The daemon', answer)
    return { ok: false, code: 'daemon_gone', message, hint: 'holon status says how it is.' }
  }

  /** Made at first use, and given the settings that are new. */
  async #ensureAgent(settings: AgentSettings) {
    const { id, ...given } = settings
    const before = this.#agent(id)
    const exists = before !== null && before.state !== 'deleted'
    const changed = exists ? changedOf(before, given) : given
    if (!exists || Object.keys(changed).length > 0) {
      const act = exists ? 'configure_agent' : 'create_agent'
      const reply = await this.#act({ do: act, agent_id: id, ...changed })
      if (!reply.ok) return reply
    }
    const agent = this.#agent(id)
    if (agent === null) throw new Error(`no row for ${id}`)
    return { ok: true as const, agent }
  }

  #agent(id: string): Agent | null {
    return this.#facts.get(id)?.row('agents', id) ?? null
  }

  #leave(): Promise<void> {
    this.#left.abort()
    return this.#flushing ?? Promise.resolve()
  }

  #failed(error: unknown): void {
    this.#tellFault(error instanceof Error ? error.message : String(error))
  }

  #tellFault(message: string): void {
    const [agent_id = ''] = this.#facts.keys()
    this.#tell({ kind: 'fault', agent_id, message })
  }

  #tell(notice: RunNotice): void {
    for (const listener of this.#listeners) listener(notice)
  }
}

/** What is not as it is stored already. */
function changedOf(agent: Agent, given: Omit<AgentSettings, 'id'>): Omit<AgentSettings, 'id'> {
  const { model, fallback_model, workspace } = given
  const moved = JSON.stringify(workspace) !== JSON.stringify(agent.workspace)
  return {
    ...(model === undefined || model === agent.model ? {} : { model }),
    ...(fallback_model === undefined || fallback_model === agent.fallback_model
      ? {}
      : { fallback_model }),
    ...(workspace === undefined || !moved ? {} : { workspace }),
  }
}

function emitted({ event, ...meta }: StoredEvent): Emitted {
  const { seq, at, work_item_id, turn_id, causation_id } = meta
  return { event, meta: { seq, at, work_item_id, turn_id, causation_id } }
}
