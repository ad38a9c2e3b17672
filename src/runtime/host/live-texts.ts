/**
 * What models say in open requests, as far as it came (docs/spec/http.md#live-frames): one text for
 * each agent, held in memory and never stored. Its round's record takes its place. What an attempt
 * said that failed is void: the next one begins anew. Secrets are out of it before it comes here.
 */
import type { AgentId } from '../../domain/ids.ts'
import { limits } from '../../domain/limits.ts'
import type { LiveText, TextPiece } from '../../ports/host.ts'
import type { HostNotice } from '../ports.ts'

/** The first half of the limit is the head; the tail loses its older half when it is full. */
const half = limits.live_text.value / 2

class Said implements LiveText {
  readonly agent_id: AgentId
  readonly turn_id: string
  readonly round: number
  attempt = 1
  length = 0
  #head = ''
  #tail = ''

  constructor(agent_id: AgentId, turn_id: string, round: number) {
    this.agent_id = agent_id
    this.turn_id = turn_id
    this.round = round
  }

  add(text: string): void {
    const room = half - this.#head.length
    this.#head += text.slice(0, room)
    this.#tail += text.slice(room)
    if (this.#tail.length > half) this.#tail = this.#tail.slice(-half / 2)
    this.length += text.length
  }

  void(): void {
    if (this.length === 0) return
    this.attempt += 1
    this.length = 0
    this.#head = ''
    this.#tail = ''
  }

  after(at: number): TextPiece[] {
    const from = Math.max(at, this.length - this.#tail.length)
    const pieces = [
      { at, text: this.#head.slice(at) },
      { at: from, text: this.#tail.slice(from - (this.length - this.#tail.length)) },
    ]
    return pieces.filter(({ text }) => text !== '')
  }
}

export class LiveTexts {
  readonly #said = new Map<AgentId, Said>()
  /** The last round of each agent that was recorded: a late piece of it is not shown again. */
  readonly #recorded = new Map<AgentId, string>()

  /** Of one agent, or of all. */
  of(agent_id: string | null): readonly LiveText[] {
    const all = [...this.#said.values()]
    return agent_id === null ? all : all.filter((said) => said.agent_id === agent_id)
  }

  notice(notice: HostNotice): void {
    switch (notice.kind) {
      case 'committed':
        for (const { event } of notice.events) {
          if (event.type === 'round_recorded') {
            this.#recorded.set(notice.agent_id, event.id)
            this.#said.delete(notice.agent_id)
          }
          if (event.type === 'turn_ended') this.#said.delete(notice.agent_id)
          if (event.type === 'model_fell_back') this.#said.get(notice.agent_id)?.void()
        }
        return
      case 'live':
        if (notice.event.type === 'text_delta') this.#add(notice, notice.event.text)
        return
      case 'retry':
        this.#said.get(notice.agent_id)?.void()
        return
      case 'resting':
      case 'fault':
        this.#said.delete(notice.agent_id)
        return
      case 'degraded_entered':
      case 'degraded_left':
        return
    }
  }

  #add({ agent_id, turn_id, round }: HostNotice & { kind: 'live' }, text: string): void {
    if (this.#recorded.get(agent_id) === `${turn_id}:${round}`) return
    let said = this.#said.get(agent_id)
    if (said?.turn_id !== turn_id || said.round !== round) {
      said = new Said(agent_id, turn_id, round)
      this.#said.set(agent_id, said)
    }
    said.add(text)
  }
}
