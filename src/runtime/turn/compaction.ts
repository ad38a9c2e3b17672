/**
 * Compaction of an open turn: the request that waits to be sent is recorded again, with a fresh
 * opening that has the older rounds as a recap. The decision and its text are in the ledger before
 * anything is sent, so a resumed turn sends the same bytes. It is made of rows, of the plan file,
 * of a new look at where the agent works, which reads as of now, and of the summary a model may
 * have written; the time in it is that of the request.
 */
import { charTokens } from '../../context/estimate.ts'
import { compact, type Compacted, type CompactionView } from '../../context/compaction/compact.ts'
import type { Projected, SectionForm } from '../../context/message.ts'
import { fenceOf } from '../../context/sections/rounds.ts'
import type { RoundView, Situation } from '../../context/sections/situation.ts'
import { summaryTokens, withSummary } from '../../context/compaction/summary.ts'
import { settleSummary } from '../../domain/budgets/settle-summary.ts'
import type { Task } from '../../domain/state/task.ts'
import { mustTurn, roundViews, type Draft } from '../../domain/facts/facts.ts'
import { requestAgain, type Round } from '../../domain/state/turn.ts'
import { LedgerFault } from '../../ledger/port.ts'
import { imagePathIn, outputPath } from '../home.ts'
import type { AgentPorts } from '../agent-ports.ts'
import type { TurnRun } from './turn-run.ts'
import { gatherPlace, gatherText } from '../gather/situation.ts'
import { askSummary, type Paid, type Wanted } from './summary.ts'
import { wholeResultOf, type Talk } from './conversation.ts'
import { toolTokens } from './tool-specs.ts'

/**
 * Compacts the request of `round` to the share `to` of the window. False: it stays as it was, since
 * too little would be won, or the new opening could not be stored.
 */
export async function compactRequest(
  run: TurnRun,
  talk: Talk,
  round: Round,
  to: number,
): Promise<boolean> {
  const { env } = run
  const turn = mustTurn(env.facts())
  const { opening: before, sizes, total, notes } = talk.parts
  if (before === null) return false
  const rounds = roundViews(env.facts(), turn).filter((view) => view.round.state === 'recorded')
  const place = await gatherPlace(env, round.requested_at)
  const situation = { ...asOf(await gatherText(env), round), place }
  const id = env.ports.summary_model ?? null
  const window = Math.floor(situation.context_window / talk.factor)
  const view: CompactionView = {
    tokens: charTokens,
    window,
    random_fence: `${fenceOf(turn)}r${round.n}`,
    full_path: (call) => wholeResultOf(env.ports.home, call),
    message_path: ({ id }) => outputPath(env.ports.home, id),
    image_path: imagePathIn(env.ports.home),
    sees_images: env.ports.models.facts(turn.model).vision,
    system: { text: before.system, lines: before.sections.filter(isSystem) },
    tool_tokens: toolTokens(situation.agent.visibility),
    sizes,
    before: total,
    notes,
    to,
    summary_tokens: id === null ? 0 : summaryTokens(window),
  }
  const made = await env.withShort((short) => compact(situation, rounds, { ...view, short }))
  if (made === null) return false
  const asked = id === null ? null : await askSummary(run, id, round, wantedOf(rounds, made, view))
  if (asked?.kind === 'aborted') return false
  const projected = asked
    ? await env.withShort((short) => withSummary(made, rounds, { ...view, short }, asked.summary))
    : made.opening
  const opening = env.redacted(projected)
  const paid = asked?.paid ?? null
  if (!(await recorded(env, round, { opening, recapped: made.recapped, paid }))) return false
  talk.open(opening, turn.model, made.recapped)
  return true
}

const wantedOf = (
  rounds: readonly RoundView[],
  { recapped }: Compacted,
  { summary_tokens, random_fence, before }: CompactionView,
): Wanted => ({
  rounds: rounds.slice(0, recapped),
  max_tokens: summary_tokens,
  fence: random_fence,
  beside: before,
})

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

type Made = { opening: Projected; recapped: number; paid: Paid | null }

/** False when there is no room for it now: the projection before stays in use. */
async function recorded(
  env: AgentPorts,
  round: Round,
  { opening, recapped, paid }: Made,
): Promise<boolean> {
  const text = env.urls.sealed(env.facts(), JSON.stringify(opening))
  const blob = env.store.blob(new TextEncoder().encode(text))
  const compacted = { opening_sha256: blob.sha256, recapped }
  try {
    await env.transact(round.id, (d) => sendAgain(d, round, compacted, paid), { blobs: [blob] })
    return true
  } catch (error) {
    if (!(error instanceof LedgerFault) || error.retry === 'never') throw error
    if (paid !== null) await env.transact(round.id, (d) => sendAgain(d, round, null, paid))
    return false
  }
}

/** A summary is paid for also where the compaction comes to nothing. */
function sendAgain(
  d: Draft,
  round: Round,
  compacted: { opening_sha256: string; recapped: number } | null,
  paid: Paid | null,
): void {
  const summary = paid === null ? {} : { summary: paid.use }
  d.emit({ ...requestAgain(round), ...compacted, ...summary })
  if (paid !== null) settleSummary(d, mustTurn(d), round, paid.estimate, paid.use.usage)
}
