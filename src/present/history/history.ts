/**
 * The history of one agent as far as it was heard: groups of events by noun, and which seqs are in
 * them. An event is taken once, whatever order pages and the stream bring it in. Beyond its bound
 * the oldest groups leave, and what came before them is not taken any more.
 */
import type { StoredEvent } from '../../protocol/records/records.ts'
import { placesOf, withEvent, type Group } from './noun-fold.ts'
import { bounds } from './limits.ts'
import { covers, holes, joined, type Range } from './ranges.ts'
import { ChunkedMapBatch, emptyShelf, type Shelf } from './chunked-map.ts'

export type Feed = {
  readonly agent_id: string
  readonly groups: Shelf<Group>
  readonly heard: readonly Range[]
  /** Up to this seq everything has left; 0: nothing has. */
  readonly folded: number
}

export const emptyFeed = (agent_id: string): Feed => ({
  agent_id,
  groups: emptyShelf(),
  heard: [],
  folded: 0,
})

/** `whole`: what the events are all of, where they are a page. */
export function heardBy(feed: Feed, events: readonly StoredEvent[], whole?: Range): Feed {
  const groups = new ChunkedMapBatch(feed.groups)
  let heard = feed.heard
  // A stream brings one after another: they are joined to what was heard once, at its end.
  let run: { from: number; to: number } | null = null
  for (const stored of events) {
    const { seq } = stored
    if (stored.agent_id !== feed.agent_id || seq <= feed.folded) continue
    if ((run !== null && seq <= run.to && seq >= run.from) || covers(heard, seq)) continue
    for (const place of placesOf(stored)) {
      groups.set(place.id, withEvent(groups.get(place.id), place, stored))
    }
    if (run !== null && seq === run.to + 1) run.to = seq
    else {
      if (run !== null) heard = joined(heard, run.from, run.to)
      run = { from: seq, to: seq }
    }
  }
  if (run !== null) heard = joined(heard, run.from, run.to)
  if (whole !== undefined && whole.from <= whole.to) {
    heard = joined(heard, Math.max(whole.from, feed.folded + 1), whole.to)
  }
  if (run === null && heard === feed.heard) return feed
  return bounded({ ...feed, groups: groups.done(), heard }, groups)
}

/** Drops a quarter at once, so that it is not done for every event. */
function bounded(feed: Feed, groups: ChunkedMapBatch<Group>): Feed {
  if (groups.size <= bounds.entries) return feed
  const all = [...groups.values()]
  const seqs = Float64Array.from(all, ({ last_seq }) => last_seq).sort()
  const folded = seqs[groups.size - Math.floor(bounds.entries * 0.75) - 1] ?? feed.folded
  // Two groups may have their last event in common: both leave with it.
  for (const { id, last_seq } of all) if (last_seq <= folded) groups.delete(id)
  const heard = feed.heard
    .filter(({ to }) => to > folded)
    .map(({ from, to }) => ({ from: Math.max(from, folded + 1), to }))
  return { ...feed, groups: groups.done(), heard, folded }
}

/** Seqs between what was heard: to be fetched. */
export const gapsOf = (feed: Feed): Range[] => holes(feed.heard)

/** The first seq that is held; what is older may be fetched, unless it was folded. */
export const oldestOf = (feed: Feed): number | null => feed.heard[0]?.from ?? null
