/**
 * An answer that broke off (a broken stream, an abort, a limit) was paid for, and is charged like
 * one that came: against every budget its request runs on, in a commit of its own, before the
 * request goes out again (docs/spec/turn.md#answers-that-break-off).
 */
import { settled } from '../facts/budget.ts'
import type { Draft } from '../facts/facts.ts'
import { alignDrawers, metersFor } from './settle.ts'
import type { RoundId, Usage } from '../state/turn.ts'

/** `usage`: as reported, or estimated. A round that has its answer, or is gone, takes no more. */
export function chargeCut(d: Draft, id: RoundId, usage: Usage): void {
  const round = d.row('rounds', id)
  if (round?.state !== 'requested') return
  d.emit({ type: 'answer_cut', id, answers: (round.cut?.answers ?? 0) + 1, usage })
  // A round counts once, however often its answer broke off.
  const use = { ...settled(usage, null), rounds: round.cut === undefined ? 1 : 0 }
  for (const { id: meter, reserved } of metersFor(d, round.work_item_id, id)) {
    d.emit({ type: 'meter_settled', id: meter, round_id: id, use })
    // The request is still open: what it will take stays reserved beside what it took.
    if (reserved?.round_id !== id) continue
    d.emit({ type: 'meter_reserved', id: meter, round_id: id, use: reserved.use, told: [] })
  }
  alignDrawers(d)
}
