/**
 * `holon replay`: a turn from the ledger alone. Its decisions are made again on the folded events
 * (`domain/turns/replay.ts`); each of its requests is put together from the folded rows and, beside
 * it, from the stored ones, and the opening it stands on must be the bytes it was recorded with.
 * Reads only: no model, no process, no file of an agent.
 */
import type { Rows, StoredEvent } from '../../domain/state/event.ts'
import type { AgentId, TurnId } from '../../domain/ids.ts'
import type { ReplayEnd } from '../../ports/host.ts'
import { Replay, type Divergence } from '../../domain/turns/replay.ts'
import { sentImages } from '../../domain/turns/shown.ts'
import type { LedgerReads, RoundWithCalls } from '../../ledger/port.ts'
import { requestTextOf, sentReadsOf, type RequestTextPart } from './sent-text.ts'

/** Events of one read, and how far the start of a turn is looked ahead for. */
const [page, ahead] = [1_000, 8]

/** `turn` is a row of this ledger. Rejects with the ledger's faults. */
export async function replayTurn(
  ledger: LedgerReads,
  home: string,
  turn: Rows['turns'],
): Promise<ReplayEnd> {
  const { agent_id, id } = turn
  const { first } = await ledger.eventRange(agent_id)
  if (first > 1) {
    const message = `retention took the events of ${agent_id} before ${first}`
    const hint = 'a turn is replayed from its agent’s first event: a backup from before has them'
    return { ok: false, code: 'below_retention', message, hint }
  }
  if (turn.state === 'open') {
    const message = `${id} is still open`
    return { ok: false, code: 'open_turn', message, hint: 'replay it when it has ended' }
  }
  const replay = new Replay(agent_id, id)
  const state = { requests: 0, divergence: null as Divergence | null }
  /** The newest record of a request that is not answered yet. */
  let asked: StoredEvent | null = null
  for await (const [event, next] of history(ledger, turn)) {
    replay.push(event, next)
    if (replay.divergence !== null) break
    asked = isRequestOf(event, id) ? event : asked
    if (asked !== null && isSettled(event, asked, id)) {
      state.divergence = await compareRequest(ledger, home, { replay, event: asked, turn_id: id })
      if (state.divergence !== null) break
      state.requests++
      asked = null
    }
    if (event.event.type === 'turn_ended' && event.event.id === id) break
  }
  const divergence = state.divergence ?? replay.divergence
  return { ok: true, decisions: replay.decisions, requests: state.requests, divergence }
}

const isRequestOf = ({ event }: StoredEvent, turn: TurnId): boolean =>
  event.type === 'request_sent' && event.turn_id === turn

/**
 * Whether the request was sent as it was recorded there: it is answered, or the turn is over. One
 * that was compacted first, or fell back to another model, is recorded again.
 */
const isSettled = ({ event }: StoredEvent, asked: StoredEvent, turn: TurnId): boolean =>
  (event.type === 'round_recorded' && event.id === asked.event.id) ||
  (event.type === 'turn_ended' && event.id === turn)

/** Each event of the agent with the few behind it. */
async function* history(
  ledger: LedgerReads,
  { agent_id }: Rows['turns'],
): AsyncGenerator<[StoredEvent, readonly StoredEvent[]]> {
  let known: StoredEvent[] = []
  let after = 0
  for (;;) {
    const more = await ledger.eventPage({ agent_id, after, limit: page })
    after = more.at(-1)?.seq ?? after
    known = [...known, ...more]
    const last = more.length < page
    const ready = last ? known.length : Math.max(0, known.length - ahead)
    for (let at = 0; at < ready; at++) {
      const event = known[at]
      if (event !== undefined) yield [event, known.slice(at + 1, at + 1 + ahead)]
    }
    known = known.slice(ready)
    if (last) return
  }
}

type Asked = { replay: Replay; event: StoredEvent; turn_id: TurnId }

async function compareRequest(
  ledger: LedgerReads,
  home: string,
  { replay, event, turn_id }: Asked,
): Promise<Divergence | null> {
  if (event.event.type !== 'request_sent') return null
  const { n, opening_sha256 } = event.event
  const differs = (what: string, stored: string, again: string): Divergence => ({
    seq: event.seq,
    what: `request ${n}: ${what}`,
    stored,
    again,
  })
  // The store gives no bytes under a hash that is not theirs; what is gone it says.
  if (opening_sha256 !== null && (await ledger.blob(opening_sha256)) === null) {
    return differs('its opening', opening_sha256, 'the blob is gone')
  }
  const folded = {
    roundsOfTurn: () => Promise.resolve(viewsOf(replay, turn_id)),
    blob: (sha256: string) => ledger.blob(sha256),
    sent: () => {
      const given = replay.rows('messages').filter((message) => message.turn_id === turn_id)
      return Promise.resolve(sentImages(given))
    },
    shortIds: (agent_id: AgentId, ids: readonly string[]) => ledger.shortIds(agent_id, ids),
  }
  const stored = await requestTextOf(sentReadsOf(ledger), home, turn_id, n)
  const again = await requestTextOf(folded, home, turn_id, n)
  if (stored === null || again === null) return null
  return firstDifference(stored, again, differs)
}

/** The rounds of the turn as the events so far make them. */
function viewsOf(replay: Replay, turn_id: TurnId): RoundWithCalls[] {
  const calls = replay.rows('calls').filter((call) => call.turn_id === turn_id)
  return replay
    .rows('rounds')
    .filter((round) => round.turn_id === turn_id)
    .toSorted((a, b) => a.n - b.n)
    .map((round) => ({
      round,
      calls: calls.filter((call) => call.round === round.n).toSorted((a, b) => a.index - b.index),
    }))
}

/** Characters of a text around the first place where two differ. */
const shown = 60

function firstDifference(
  stored: readonly RequestTextPart[],
  again: readonly RequestTextPart[],
  differs: (what: string, stored: string, again: string) => Divergence,
): Divergence | null {
  for (const [at, part] of stored.entries()) {
    const other = again[at]
    if (other?.part !== part.part) return differs('its parts', part.part, other?.part ?? 'nothing')
    if (other.text === part.text) continue
    let from = 0
    while (other.text[from] === part.text[from]) from++
    const around = (text: string) => text.slice(Math.max(0, from - shown / 2), from + shown / 2)
    return differs(part.part, around(part.text), around(other.text))
  }
  const extra = again[stored.length]
  return extra === undefined ? null : differs('its parts', 'nothing', extra.part)
}
