/**
 * What tests of the operator's acts need beside a `World`: what an act knows, a timetable that can
 * be reckoned in the head, and an act as one commit.
 */
import type { ReceiptKey } from '../../domain/operator/receipts.ts'
import type { ActInputs, PreparedAct } from '../../domain/operator/act-inputs.ts'
import { operate } from '../../domain/operator/decide.ts'
import type { DecidedAct } from '../../domain/operator/act.ts'
import type { Done } from '../../domain/state/reply.ts'
import type { Timetable } from '../../domain/timers/schedules.ts'
import { fromMs, minute, toMs, type Timestamp } from '../../domain/time.ts'
import type { ScheduleSpec } from '../../domain/state/schedule.ts'
import { somePlan, type World } from './agent-world.ts'

/** `every 5`: each fifth minute of the epoch; `never`: no moment at all; `odd`: no expression. */
export const everyFew: Timetable = {
  occurrences(spec, after, limit) {
    if (spec.kind === 'once') return spec.at > after ? [spec.at] : []
    const step = stepOf(spec)
    if (step === null) return []
    const first = Math.floor(toMs(after) / step) + 1
    return Array.from({ length: limit }, (_, n) => fromMs((first + n) * step))
  },
  occurred(spec, before, limit) {
    if (spec.kind === 'once') return spec.at < before ? [spec.at] : []
    const step = stepOf(spec)
    if (step === null) return []
    const last = Math.ceil(toMs(before) / step) - 1
    return Array.from({ length: limit }, (_, n) => fromMs((last - limit + 1 + n) * step))
  },
  problem: ({ expression }) => (expression === 'odd' ? '"odd" cannot be read.' : null),
}

function stepOf(spec: ScheduleSpec & { kind: 'cron' }): number | null {
  const minutes = Number(spec.expression.replace('every ', ''))
  return Number.isNaN(minutes) ? null : minutes * minute
}

export const every = (minutes: number): ScheduleSpec => ({
  kind: 'cron',
  expression: `every ${minutes}`,
  time_zone: 'UTC',
})
export const once = (at: Timestamp): ScheduleSpec => ({ kind: 'once', at })

export const tokenHash = (id: string, generation: number): string => `hash-of-${id}-${generation}`

/** An act without whose it is. */
export type Bare<A = DecidedAct> = A extends DecidedAct
  ? Omit<A, 'agent_id' | 'receipt'> & { receipt?: ReceiptKey }
  : never

/** An act of the operator on the world's agent. */
export const whole = (w: World, act: Bare): DecidedAct => ({
  ...act,
  agent_id: w.facts.agent_id,
})

type All<T> = (T extends unknown ? (of: T) => void : never) extends (of: infer I) => void
  ? I
  : never

/** What acts are decided on. */
export type PartialActInputs = Partial<All<ActInputs[keyof ActInputs]>>

/** The same with what it is decided on: an act looks at its own of these. */
export function prepared(w: World, act: Bare, given: PartialActInputs = {}): PreparedAct {
  const id = 'work_made' as const
  const inputs: Omit<Required<PartialActInputs>, 'carried' | 'file_sha256'> & PartialActInputs = {
    timetable: everyFew,
    token_hash: tokenHash,
    home: `/holon/agents/${w.facts.agent_id}`,
    budget: null,
    plan_text: null,
    new_item: { id, plan: somePlan(id) },
    body_sha256: 'b0d1',
    body: null,
    earlier_delivery: null,
    earlier_message: null,
    answered_by: null,
    answered_wait: null,
    again: null,
    start_place: { boot: 'boot', tasks: 'tasks' },
    images: [],
    unseen_by: null,
    ...given,
  }
  return { ...whole(w, act), inputs } as PreparedAct
}

/** Carried out in one commit; it must not be refused. */
export const does = (w: World, act: Bare, given: PartialActInputs = {}): Done =>
  w.do((d) => operate(d, prepared(w, act, given)))

/** The code of a refusal, which leaves no event. */
export const refusal = (w: World, act: Bare, given: PartialActInputs = {}): string =>
  w.refused((d) => operate(d, prepared(w, act, given)))
