/** Which noun the events of a check are of: each run is one, by item, name and number. */
import type { Event } from '../../protocol/records/records.ts'

export type CheckRunEvent = Extract<
  Event,
  { type: 'check_owed' | 'check_started' | 'check_finished' }
>

/** A later run does not undo what an earlier one showed. */
export const checkPlace = ({ id, name, n }: CheckRunEvent) =>
  ({ id: `${id}/check ${n} ${name}`, noun: 'check' }) as const

export const isCheck = (event: Event): event is CheckRunEvent =>
  event.type === 'check_owed' || event.type === 'check_started' || event.type === 'check_finished'
