/**
 * Compaction of an open turn: the request that waits to be sent is recorded again, with a fresh
 * opening that has the older rounds as a recap. The decision and its text are in the ledger before
 * anything is sent, so a resumed turn sends the same bytes. It is made of rows and of the plan
 * file; the time in it is that of the request.
 */
import { charTokens } from '../context/estimate.ts'
import { compact } from '../context/compact.ts'
import type { SectionForm } from '../context/message.ts'
import { fenceOf } from '../context/rounds.ts'
import type { Situation } from '../context/situation.ts'
import type { Task } from '../domain/task.ts'
import { mustTurn, roundViews, type Draft } from '../domain/facts.ts'
import { requestAgain, type Round } from '../domain/turn.ts'
import { LedgerFault } from '../ledger/port.ts'
import type { LaneEnv } from './lane-env.ts'
import { gatherText } from './situation.ts'
import type { Talk } from './talk.ts'
import { toolTokens } from './tool-specs.ts'

/**
 * Compacts the request of `round` to the share `to` of the window. False: it stays as it was, since
 * too little would be won, or the new opening could not be stored.
 */
export async function compactRequest(
  env: LaneEnv,
  talk: Talk,
  round: Round,
  to: number,
): Promise<boolean> {
  const turn = mustTurn(env.facts())
  const { opening: before, sizes, total, notes } = talk.parts
  if (before === null) return false
  const rounds = roundViews(env.facts(), turn).filter((view) => view.round.state === 'recorded')
  const situation = asOf(await gatherText(env), round)
  const made = compact(situation, rounds, {
    tokens: charTokens,
    window: Math.floor(situation.context_window / talk.factor),
    random_fence: `${fenceOf(turn)}r${round.n}`,
    system: { text: before.system, lines: before.sections.filter(isSystem) },
    tool_tokens: toolTokens(),
    sizes,
    before: total,
    notes,
    to,
  })
  if (made === null) return false
  const opening = env.redacted(made.opening)
  const sha256 = await stored(env, JSON.stringify(opening))
  if (sha256 === null) return false
  await env.transact(round.id, (d) => sendCompacted(d, round, sha256, made.recapped))
  talk.open(opening, turn.model, made.recapped)
  return true
}

/** What ended in this turn stands in its rounds; the time is that of the request. */
function asOf(situation: Situation, { requested_at }: Round): Situation {
  const { item, turn } = situation
  const before = ({ ended_at }: Task) => ended_at === null || ended_at < turn.started_at
  const shown = item && { ...item, tasks: item.tasks.filter(before) }
  return { ...situation, item: shown, now: requested_at }
}

const systemSections = new Set(['system', 'agent', 'instructions', 'skills'])
const isSystem = ({ section }: { section: string; form: SectionForm }): boolean =>
  systemSections.has(section)

/** Null when there is no room for it now: the projection before stays in use. */
async function stored(env: LaneEnv, text: string): Promise<string | null> {
  const bytes = new TextEncoder().encode(env.urls.sealed(env.facts(), text))
  try {
    return await env.store.ledger.putBlob(bytes)
  } catch (error) {
    if (error instanceof LedgerFault && error.retry !== 'never') return null
    throw error
  }
}

function sendCompacted(d: Draft, round: Round, opening_sha256: string, recapped: number): void {
  d.emit({ ...requestAgain(round), opening_sha256, recapped })
}
