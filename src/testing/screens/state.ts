/** The state of a home in which nothing is, for tests of screens; what a test is about is given. */
import type { StateRecord } from '../../protocol/views/state-record.ts'

export const aState = (given: Partial<StateRecord> = {}): StateRecord => ({
  now: '2026-03-02T09:00:00.000Z',
  last_seq: 0,
  agents: [],
  work_items: [],
  counts: [],
  turns: [],
  tasks: [],
  waits: [],
  attention: [],
  attention_total: 0,
  ...given,
})
