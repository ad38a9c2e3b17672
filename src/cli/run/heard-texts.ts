/**
 * What models say in open requests, as a run that follows a daemon hears it: the newest text of
 * each agent, until its record comes. A request that was not heard of from its beginning is told
 * from there, so nothing is shown twice.
 */
import { nothingHeard, withPiece, type HeardText } from '../../present/history/heard-text.ts'
import type { LiveText } from '../../ports/host.ts'
import type { LiveFrame } from '../../protocol/live-frame.ts'
import type { StoredEvent } from '../../protocol/records/records.ts'

type Heard = { turn_id: string; round: number; heard: HeardText }

export class HeardTexts {
  readonly #texts = new Map<string, Heard>()

  of(agent_id: string): readonly LiveText[] {
    const said = this.#texts.get(agent_id)
    if (said === undefined) return []
    const { turn_id, round } = said
    const { text, length } = said.heard
    const after = (at: number) => [{ at, text: text.slice(at) }]
    return [{ agent_id, turn_id, round, attempt: 1, length, after }]
  }

  hear(frame: LiveFrame & { kind: 'text_delta' }): void {
    const { agent_id, turn_id, round } = frame
    const before = this.#texts.get(agent_id)
    const isSame = before?.turn_id === turn_id && before.round === round
    const heard = withPiece(isSame ? before.heard : nothingHeard, frame)
    if (heard.length === 0) this.#texts.delete(agent_id)
    else this.#texts.set(agent_id, { turn_id, round, heard })
  }

  /** The record stands for what it records. */
  settle(agent_id: string, events: readonly StoredEvent[]): void {
    const said = this.#texts.get(agent_id)
    if (said === undefined) return
    const isOver = events.some(
      ({ event }) =>
        (event.type === 'round_recorded' && event.id === `${said.turn_id}:${said.round}`) ||
        (event.type === 'turn_ended' && event.id === said.turn_id),
    )
    if (isOver) this.#texts.delete(agent_id)
  }

  clear(): void {
    this.#texts.clear()
  }
}
