/**
 * Turns that an agent may start without anybody's word: a stock of them, drawn one by one, of which
 * one comes back with time. There are two: what it starts itself, and what its own trigger starts.
 */
import { limits } from '../limits.ts'
import type { AgentPacing } from '../state/pace.ts'
import { between, fromMs, plus, toMs, type Timestamp } from '../time.ts'

export type StockName = 'bucket' | 'trigger_turns'

/** As stored: how many were left at a moment; what came back since is computed. */
export type Stock = { left: number; at: Timestamp; most: number; refill_ms: number }

export function stockOf(pacing: AgentPacing, name: StockName): Stock {
  switch (name) {
    case 'bucket':
      return {
        left: pacing.bucket,
        at: pacing.bucket_at,
        most: limits.bucket.value,
        refill_ms: limits.bucket_refill.value,
      }
    case 'trigger_turns':
      return {
        left: pacing.trigger_turns,
        at: pacing.trigger_turns_at,
        most: limits.trigger_turns.value,
        refill_ms: limits.trigger_refill.value,
      }
  }
}

const cameBack = ({ at, refill_ms }: Stock, now: Timestamp): number =>
  Math.max(0, Math.floor(between(at, now) / refill_ms))

/** Turns that are left now. */
export const levelOf = (stock: Stock, now: Timestamp): number =>
  Math.min(stock.most, stock.left + cameBack(stock, now))

/** When the next turn comes back to an empty stock. */
export const nextBack = ({ at, refill_ms }: Stock): Timestamp => fromMs(toMs(at) + refill_ms)

/** What is stored after one turn was drawn; the part of a turn that came back already is kept. */
export function drawn(stock: Stock, now: Timestamp): { left: number; at: Timestamp } {
  const level = levelOf(stock, now)
  const at = level === stock.most ? now : plus(stock.at, cameBack(stock, now) * stock.refill_ms)
  return { left: Math.max(0, level - 1), at }
}

/** As the fields of the row it stands in. */
export function stored(name: StockName, { left, at }: { left: number; at: Timestamp }) {
  switch (name) {
    case 'bucket':
      return { bucket: left, bucket_at: at }
    case 'trigger_turns':
      return { trigger_turns: left, trigger_turns_at: at }
  }
}
