/**
 * What there is of each thing now, counted over the live facts at a scrape. Nothing is counted
 * along the way, so a count cannot drift from the rows.
 */
import type { Facts } from '../domain/facts/facts.ts'

export type LiveCounts = {
  agents: number
  turns_open: number
  tasks_running: number
  messages_queued: number
  work_items_open: number
  waits_active: number
}

export function countLive(agents: Iterable<Facts>): LiveCounts {
  const counts: LiveCounts = {
    agents: 0,
    turns_open: 0,
    tasks_running: 0,
    messages_queued: 0,
    work_items_open: 0,
    waits_active: 0,
  }
  for (const facts of agents) {
    if (facts.row('agents', facts.agent_id)?.state !== 'deleted') counts.agents += 1
    for (const turn of facts.rows('turns')) if (turn.state === 'open') counts.turns_open += 1
    for (const { status } of facts.rows('tasks')) {
      if (status === 'running' || status === 'cancelling') counts.tasks_running += 1
    }
    for (const { status } of facts.rows('messages')) {
      if (status === 'queued') counts.messages_queued += 1
    }
    for (const { state } of facts.rows('work_items')) {
      if (state === 'open') counts.work_items_open += 1
    }
    for (const { status } of facts.rows('waits')) {
      if (status === 'active') counts.waits_active += 1
    }
  }
  return counts
}
