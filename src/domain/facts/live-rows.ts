/**
 * Which rows are live: those that a rule may need without asking the ledger for them, and nothing
 * of an agent's history. Facts keep no others over the end of a turn, and a start reads no others.
 */
import type { Call } from '../state/call.ts'
import type { Rows, Table } from '../state/event.ts'
import type { Facts } from './facts.ts'
import { isLiveMessage } from '../state/message.ts'
import { isDrawnOn } from '../state/meter.ts'
import { isTerminal } from '../state/task.ts'
import { isLiveSchedule } from '../state/schedule.ts'
import type { Round, Turn } from '../state/turn.ts'
import { isUnverified } from './verification.ts'
import type { Wait } from '../state/wait.ts'
import type { WorkItem } from '../state/work-item.ts'
import { isGone } from '../state/worktree.ts'

/**
 * One agent may have ten thousand rows of these, of which a turn touches a few. Whether one of them
 * is live follows from itself, or from its item.
 */
export const longTables: readonly Table[] = ['work_items', 'waits', 'pacing']

/** Completed items kept for the prompt; the ledger has the rest. */
const completedKept = 20

/** Whether a rule may need this row without asking the ledger for it. */
export function isLiveRow(facts: Facts, table: Table, row: Rows[Table]): boolean {
  switch (table) {
    case 'agents':
      return true
    case 'work_items': {
      const item = row as WorkItem
      if (item.state === 'open' || isUnverified(item)) return true
      return recentCompleted(facts).includes(item)
    }
    case 'pacing': {
      const kept = row as Rows['pacing']
      return kept.kind === 'agent' || facts.row('work_items', kept.id)?.state === 'open'
    }
    case 'waits':
      return isLiveWait(row as Wait)
    case 'messages':
      return isLiveMessage(row as Rows['messages']) || isOfOpenTurn(facts, row as Rows['messages'])
    case 'tasks':
      return !isTerminal(row as Rows['tasks'])
    case 'turns':
      return (row as Turn).state === 'open'
    case 'rounds':
    case 'calls':
      return facts.row('turns', (row as Round | Call).turn_id)?.state === 'open'
    case 'grants':
      return (row as Rows['grants']).status === 'active'
    case 'triggers':
      return (row as Rows['triggers']).status === 'active'
    case 'schedules':
      return isLiveSchedule(row as Rows['schedules'])
    case 'snoozes': {
      const { until } = row as Rows['snoozes']
      return until === null || until > facts.last_at
    }
    case 'delegations':
      return (row as Rows['delegations']).state === 'active'
    case 'worktrees':
      return !isGone(row as Rows['worktrees'])
    case 'meters': {
      const meter = row as Rows['meters']
      const { kind, id, reserved } = meter
      if (kind === 'agent' || reserved !== null || isDrawnOn(meter)) return true
      // A turn may be about any item that is known, also a completed one.
      const item = facts.row('work_items', id)
      if (item !== undefined && isLiveRow(facts, 'work_items', item)) return true
      return anyOpenTurn(facts, ({ work_item_id }) => work_item_id === id)
    }
    case 'briefs':
    case 'decisions':
    case 'deliveries':
    case 'slots':
    case 'receipts':
      return false
  }
}

/**
 * What an open turn was shown decides how it goes on, used up or not; and a wait registered now
 * must still meet what came after the turn's input cut.
 */
const isOfOpenTurn = (facts: Facts, { inbox_seq, turn_id }: Rows['messages']): boolean =>
  anyOpenTurn(facts, ({ id, input_cut }) => turn_id === id || inbox_seq > input_cut)

function anyOpenTurn(facts: Facts, holds: (turn: Turn) => boolean): boolean {
  for (const turn of facts.rows('turns')) if (turn.state === 'open' && holds(turn)) return true
  return false
}

/** Active, or ended in a way that a later turn must still show or settle. */
export const isLiveWait = (wait: Wait): boolean =>
  wait.status === 'active' ||
  (wait.status === 'resolved' &&
    !wait.focus_settled &&
    (wait.released_focus ||
      (wait.work_item_id === null && (wait.wake === 'timer' || wait.wake === 'task_result'))))

const recentCompleted = (facts: Facts): WorkItem[] => {
  const found: WorkItem[] = []
  for (const item of facts.rows('work_items')) if (item.state === 'completed') found.push(item)
  return recentOf(found)
}

/** Of completed items those that are kept for the prompt. */
export const recentOf = (completed: readonly WorkItem[]): WorkItem[] =>
  completed
    .filter((item) => !isUnverified(item))
    .sort((a, b) => b.changed_seq - a.changed_seq)
    .slice(0, completedKept)
