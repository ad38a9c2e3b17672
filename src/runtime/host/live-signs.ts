/**
 * Signs of life of what is open now (docs/spec/http.md#live-frames): when an open request was last
 * heard of and when it is given up, the same of a running command. Held in memory, made of the
 * host's own notices and of the sizes of output files; nothing is stored, and nobody who does not
 * ask pays for it.
 */
import type { Facts } from '../../domain/facts/facts.ts'
import { openTurn } from '../../domain/facts/facts.ts'
import type { AgentId, TaskId, TurnId } from '../../domain/ids.ts'
import { isTerminal, type Task } from '../../domain/state/task.ts'
import { fromMs, later, plus, type Timestamp } from '../../domain/time.ts'
import { modelLimits } from '../../models/limits.ts'
import type { ModelEvent } from '../../models/model.ts'
import type { LiveSign } from '../../ports/host.ts'
import type { HostNotice } from '../ports.ts'

export type SignPorts = {
  now(): Timestamp
  /** Milliseconds since 1970 of the newest output of a task; null while it wrote nothing. */
  output_at(task: TaskId): number | null
}

type Heard = { turn_id: TurnId; at: Timestamp; gives_up_at: Timestamp }

export class LiveSigns {
  readonly #ports: SignPorts
  readonly #requests = new Map<AgentId, Heard>()

  constructor(ports: SignPorts) {
    this.#ports = ports
  }

  /** Of every open request and running task of the agent. */
  of(facts: Facts): LiveSign[] {
    const request = this.#requests.get(facts.agent_id)
    const open = request !== undefined && openTurn(facts)?.id === request.turn_id
    const tasks = [...facts.rows('tasks')].filter((task) => !isTerminal(task))
    return [
      ...(open
        ? [
            {
              id: request.turn_id,
              last_sign_of_life_at: request.at,
              gives_up_at: request.gives_up_at,
            },
          ]
        : []),
      ...tasks.map((task) => this.#ofTask(task)),
    ]
  }

  notice(notice: HostNotice): void {
    switch (notice.kind) {
      case 'committed':
        for (const { event } of notice.events) {
          if (event.type === 'request_sent') this.#heard(notice.agent_id, event.turn_id, idle)
          if (event.type === 'round_recorded' || event.type === 'turn_ended') {
            this.#requests.delete(notice.agent_id)
          }
        }
        return
      case 'live':
        this.#heard(notice.agent_id, notice.turn_id, patience(notice.event))
        return
      case 'retry':
        this.#heard(notice.agent_id, notice.turn_id, notice.delay_ms + idle)
        return
      case 'resting':
        this.#requests.delete(notice.agent_id)
        return
      case 'fault':
      case 'degraded_entered':
      case 'degraded_left':
        return
    }
  }

  #heard(agent: AgentId, turn_id: TurnId, ms: number): void {
    const at = this.#ports.now()
    this.#requests.set(agent, { turn_id, at, gives_up_at: plus(at, ms) })
  }

  #ofTask({ id, started_at, timeout_ms }: Task): LiveSign {
    const wrote = this.#ports.output_at(id)
    const last =
      wrote === null || started_at === null ? started_at : later(fromMs(wrote), started_at)
    const gives_up_at =
      started_at === null || timeout_ms === null ? null : plus(started_at, timeout_ms)
    return { id, last_sign_of_life_at: last, gives_up_at }
  }
}

const idle = modelLimits.stream_idle.value

/** How long a stream may be silent after this event. */
const patience = (event: ModelEvent): number =>
  event.type === 'reasoning_delta' ? modelLimits.thinking_idle.value : idle
