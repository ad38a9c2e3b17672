/**
 * 47: a command begins by a grant only while that holds and for what it is for, and each is counted
 * once, in the commit that queues it. One walk over the events of an agent. Pure.
 */
import type { StoredEvent } from '../state/event.ts'
import type { WorkItemId } from '../ids.ts'
import type { Timestamp } from '../time.ts'

type Known = { item: WorkItemId | null; until: Timestamp | null; ended: boolean }

export function grantHistory(events: readonly StoredEvent[]): string[] {
  const found: string[] = []
  const grants = new Map<string, Known>()
  /** Queued by a grant, and not counted yet. */
  let queued: { task: string; grant: string } | null = null
  for (const { event, at } of events) {
    if (queued !== null && event.type !== 'grant_used') {
      found.push(`47: ${queued.task} began by ${queued.grant} and is not counted`)
      queued = null
    }
    // Of all events, those of grants and of what begins by them.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (event.type) {
      case 'grant_made':
        grants.set(event.id, { item: event.work_item_id, until: event.until, ended: false })
        break
      case 'grant_ended': {
        const grant = grants.get(event.id)
        if (grant) grant.ended = true
        break
      }
      case 'task_queued': {
        if (event.grant_id === undefined) break
        queued = { task: event.id, grant: event.grant_id }
        const grant = grants.get(event.grant_id)
        const isOver = grant === undefined || grant.ended || (grant.until ?? '~') <= at
        const isOther =
          grant !== undefined && grant.item !== null && grant.item !== event.work_item_id
        if (isOver || isOther) {
          const why = isOver ? 'does not hold' : `is for ${grant?.item}`
          found.push(`47: ${event.id} began by ${event.grant_id}, which ${why}`)
        }
        break
      }
      case 'grant_used': {
        const isIts = queued?.task === event.task_id && queued.grant === event.id
        if (!isIts) found.push(`47: ${event.id} counts ${event.task_id}, which did not begin by it`)
        queued = null
        break
      }
    }
  }
  if (queued !== null) found.push(`47: ${queued.task} began by ${queued.grant} and is not counted`)
  return found
}
