/**
 * The time of an item as bars: turns, waits and tasks with their beginnings and ends, those that
 * touch a range. Stretches in which nothing ran are its own bars, told by what
 * was waited for. Pure.
 */
import { waitWords } from '../protocol/records.ts'
import { feedOf, type Presentation } from './presentation.ts'
import { safeLine, type Safe } from './safe.ts'
import { shelved } from './shelf.ts'

export type Bar = {
  readonly id: string
  readonly kind: 'turn' | 'wait' | 'task'
  readonly from: string
  /** Null: it goes on. */
  readonly to: string | null
  readonly title: Safe
}

export function timeline(
  p: Presentation,
  agent_id: string,
  work_item_id: string,
  range: { from: string; to: string },
): Bar[] {
  const feed = feedOf(p, agent_id)
  if (feed === null) return []
  const bars: Bar[] = []
  for (const group of shelved(feed.groups)) {
    if (group.work_item_id !== work_item_id) continue
    const { heard, id } = group
    const { turn_started: turn, wait_registered: wait, task_started: task } = heard
    if (turn !== undefined) {
      const to = heard.turn_ended?.at ?? null
      bars.push({ id, kind: 'turn', from: turn.at, to, title: safeLine(turn.event.because) })
    } else if (wait !== undefined) {
      const to = (heard.wait_resolved ?? heard.wait_cancelled)?.at ?? null
      bars.push({ id, kind: 'wait', from: wait.at, to, title: safeLine(waitWords(wait.event)) })
    } else if (task !== undefined) {
      const to = heard.task_ended?.at ?? null
      const title = safeLine(heard.task_queued?.event.label ?? '')
      bars.push({ id, kind: 'task', from: task.at, to, title })
    }
  }
  return bars
    .filter((bar) => bar.from <= range.to && (bar.to ?? range.to) >= range.from)
    .sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : a.id < b.id ? -1 : 1))
}
