/**
 * The presentation reducer: one snapshot, then events, pages, live frames and what this screen sent
 * itself, become what any screen shows. Pure: no clock, no network, no screen. The server derives
 * what an item's state is; so `home` is of the newest `GET /state`, and `wants` says when to read
 * it again.
 */
import type { LiveFrame } from '../protocol/live-frame.ts'
import type { StoredEvent } from '../protocol/records/records.ts'
import type { StateRecord } from '../protocol/views/state-record.ts'
import { emptyFeed, gapsOf, heardBy, type Feed } from './history/history.ts'
import type { Input, Link, OutboxMessage } from './history/input.ts'
import { bounds } from './history/limits.ts'
import { bounded, nothingHeard, withPiece } from './history/heard-text.ts'
import type { Entry, Level } from './entries/entry.ts'
import { onShelf } from './history/chunked-map.ts'
import { threadOf, type RoundTexts } from './entries/thread.ts'
import { waitingAfter, type UnclaimedMessage } from './history/unclaimed.ts'

/** What goes on in an open request, as live frames tell: when the last word came. */
export type RequestProgress = {
  readonly at: string
  readonly round: number
  readonly saying: string | null
}

export type Presentation = {
  readonly state: StateRecord
  readonly link: Link
  /** The server's time as last heard. */
  readonly heard_at: string
  /** Global seq of the last event that was heard: the stream goes on behind it. */
  readonly last_seq: number
  /** Events came that the state may not know of yet. */
  readonly state_is_old: boolean
  /** The agents whose history is held, the last one that was opened first. */
  readonly feeds: readonly Feed[]
  /** What models say in open rounds, by `turn:n`. */
  readonly texts: RoundTexts
  /** Output of running tasks as it comes, by task. */
  readonly outputs: ReadonlyMap<string, LiveOutput>
  readonly lives: ReadonlyMap<string, RequestProgress>
  readonly retries: ReadonlyMap<string, Retry>
  readonly sent: readonly OutboxMessage[]
  /** What agents delivered last, as the stream told, by agent. */
  readonly spoken: ReadonlyMap<string, Spoken>
  /** Of the operator, as the stream told: what a turn may still claim. */
  readonly waiting: readonly UnclaimedMessage[]
}

export type LiveOutput = { readonly from: number; readonly text: string; readonly at: string }
export type Spoken = { readonly at: string; readonly text: string }
export type Retry = { readonly attempt: number; readonly message: string; readonly next_at: string }

/** `state` is all that the first screen needs. */
export const open = (state: StateRecord): Presentation => ({
  state,
  link: { kind: 'connecting' },
  heard_at: state.now,
  last_seq: state.last_seq,
  state_is_old: false,
  feeds: [],
  texts: new Map(),
  outputs: new Map(),
  lives: new Map(),
  retries: new Map(),
  sent: [],
  spoken: new Map(),
  waiting: [],
})

export function apply(p: Presentation, input: Input): Presentation {
  switch (input.kind) {
    case 'events':
      return withEvents(p, input.events)
    case 'page': {
      const { agent_id, events, from, to } = input
      return onFeed(p, agent_id, (feed) => heardBy(feed, events, { from, to }))
    }
    case 'live':
      return input.frames.reduce((now, frame) => withFrame(now, frame, input.at), p)
    case 'state':
      return withState(p, input.state)
    case 'link':
      // Whoever follows again is told from the beginning what models say.
      return { ...p, link: input.link, texts: p.texts.size === 0 ? p.texts : new Map() }
    case 'watch':
      return watched(p, input.agent_id)
    case 'sent':
      return withSent(p, input.sent)
  }
}

function withEvents(p: Presentation, events: readonly StoredEvent[]): Presentation {
  const last = events.at(-1)
  if (last === undefined) return p
  const feeds = p.feeds.map((feed) => heardBy(feed, events))
  const isSame = feeds.every((feed, n) => feed === p.feeds[n])
  const last_seq = events.reduce((max, one) => Math.max(max, one.global_seq), p.last_seq)
  return {
    ...p,
    ...settled(p, events),
    feeds: isSame ? p.feeds : feeds,
    last_seq,
    heard_at: later(p.heard_at, last.at),
    state_is_old: p.state_is_old || last_seq > p.state.last_seq,
    sent: p.sent.filter((one) => !isHeard(one, events)),
    spoken: events.reduce(withBrief, p.spoken),
    waiting: waitingAfter(p.waiting, events),
  }
}

const withBrief = (spoken: Presentation['spoken'], { event, at, agent_id }: StoredEvent) =>
  event.type === 'brief_delivered' && agent_id !== null
    ? put(spoken, agent_id, { at, text: event.text })
    : spoken

const without = <T>(map: ReadonlyMap<string, T>, keys: readonly string[]) =>
  keys.some((key) => map.has(key)) ? new Map([...map].filter(([key]) => !keys.includes(key))) : map

/** What is live ends where its durable record begins. */
function settled(
  p: Presentation,
  events: readonly StoredEvent[],
): Pick<Presentation, 'texts' | 'lives' | 'retries' | 'outputs'> {
  const of = (types: readonly string[]) =>
    events.flatMap(({ event }) => (types.includes(event.type) ? [event.id] : []))
  if (p.texts.size + p.lives.size + p.retries.size + p.outputs.size === 0) return p
  const [rounds, turns] = [of(['round_recorded']), of(['turn_ended'])]
  const said = rounds.map((id) => id.slice(0, id.lastIndexOf(':')))
  return {
    texts: withoutTurns(without(p.texts, rounds), turns),
    lives: without(p.lives, [...turns, ...said]),
    retries: without(p.retries, [...turns, ...said]),
    outputs: without(p.outputs, of(['task_ended'])),
  }
}

/** A turn that ended in the middle of an answer has no record of it. */
const withoutTurns = (texts: RoundTexts, turns: readonly string[]): RoundTexts =>
  turns.length === 0
    ? texts
    : without(
        texts,
        [...texts.keys()].filter((id) => turns.includes(id.slice(0, id.lastIndexOf(':')))),
      )

const isHeard = ({ state }: OutboxMessage, events: readonly StoredEvent[]): boolean =>
  state.kind === 'accepted' &&
  events.some(({ event }) => event.type === 'message_admitted' && event.id === state.message_id)

function withState(p: Presentation, state: StateRecord): Presentation {
  const isGone = p.link.kind === 'gone'
  if (state.last_seq < p.state.last_seq && !isGone) return p
  // A home that was restored counts its events anew: what was heard of it is of another history.
  const wentBack = isGone && state.last_seq < p.last_seq
  return {
    ...p,
    state,
    feeds: wentBack ? p.feeds.map(({ agent_id }) => emptyFeed(agent_id)) : p.feeds,
    waiting: isGone ? [] : p.waiting,
    spoken: isGone ? new Map() : p.spoken,
    heard_at: later(p.heard_at, state.now),
    last_seq: isGone ? state.last_seq : p.last_seq,
    state_is_old: !isGone && p.last_seq > state.last_seq,
  }
}

function watched(p: Presentation, agent_id: string): Presentation {
  const found = p.feeds.find((feed) => feed.agent_id === agent_id) ?? emptyFeed(agent_id)
  if (p.feeds[0] === found) return p
  const others = p.feeds.filter((feed) => feed !== found)
  return { ...p, feeds: [found, ...others].slice(0, bounds.feeds) }
}

function onFeed(p: Presentation, agent_id: string, change: (feed: Feed) => Feed): Presentation {
  const feeds = p.feeds.map((feed) => (feed.agent_id === agent_id ? change(feed) : feed))
  return feeds.every((feed, n) => feed === p.feeds[n]) ? p : { ...p, feeds }
}

/** What is on record already was told before its answer came: the record stands for it. */
function withSent(p: Presentation, one: OutboxMessage): Presentation {
  const others = p.sent.filter(({ key }) => key !== one.key)
  const id = one.state.kind === 'accepted' ? one.state.message_id : null
  const feed = feedOf(p, one.agent_id)
  const isHeld = id !== null && feed !== null && onShelf(feed.groups, id) !== undefined
  return { ...p, sent: isHeld ? others : [...others, one].slice(-bounds.sent) }
}

function withFrame(p: Presentation, frame: LiveFrame, at: string): Presentation {
  switch (frame.kind) {
    case 'heartbeat':
      return { ...p, heard_at: later(p.heard_at, frame.at) }
    case 'alive':
      return withLife(p, frame.turn_id, { at: frame.at, round: frame.round, saying: null })
    case 'text_delta': {
      const id = `${frame.turn_id}:${frame.round}`
      const heard = withPiece(p.texts.get(id) ?? nothingHeard, frame)
      if (heard.length === 0) return { ...p, texts: without(p.texts, [id]) }
      const texts = put(p.texts, id, heard)
      return withLife({ ...p, texts }, frame.turn_id, {
        at,
        round: frame.round,
        saying: 'answering',
      })
    }
    case 'reasoning_delta':
      return withLife(p, frame.turn_id, { at, round: frame.round, saying: 'thinking' })
    case 'tool_call_started': {
      const saying = `writing a call of ${frame.tool_name}`
      return withLife(p, frame.turn_id, { at, round: frame.round, saying })
    }
    case 'retry': {
      const next_at = new Date(Date.parse(at) + frame.delay_ms).toISOString()
      const retry = { attempt: frame.attempt, message: frame.message, next_at }
      return { ...p, retries: put(p.retries, frame.turn_id, retry) }
    }
    case 'task_output':
      return { ...p, outputs: withOutput(p.outputs, frame, at) }
  }
}

/** Both streams as they come: what is exact is read from the files of the task. */
function withOutput(
  outputs: Presentation['outputs'],
  frame: Extract<LiveFrame, { kind: 'task_output' }>,
  at: string,
): Presentation['outputs'] {
  const before = outputs.get(frame.task_id)
  const text = bounded((before?.text ?? '') + frame.text)
  return put(outputs, frame.task_id, { from: before?.from ?? frame.offset, text, at })
}

function withLife(p: Presentation, turn: string, life: RequestProgress): Presentation {
  const retries = new Map(p.retries)
  const isOver = retries.delete(turn)
  return { ...p, lives: put(p.lives, turn, life), retries: isOver ? retries : p.retries }
}

/** The newest are held, so many as the bound says. */
function put<T>(map: ReadonlyMap<string, T>, key: string, value: T): ReadonlyMap<string, T> {
  const next = new Map(map)
  next.delete(key)
  next.set(key, value)
  const [oldest] = next.keys()
  if (next.size > bounds.live && oldest !== undefined) next.delete(oldest)
  return next
}

const later = (a: string, b: string): string => (a > b ? a : b)

export const feedOf = (p: Presentation, agent_id: string): Feed | null =>
  p.feeds.find((feed) => feed.agent_id === agent_id) ?? null

/** Whether the lists have an item of the agent: what is said to it is followed there. */
export const hasItem = ({ work_items, attention }: StateRecord, agent_id: string): boolean =>
  [...work_items.map((one) => one.agent_id), ...attention.map((one) => one.agent_id)].includes(
    agent_id,
  )

/** Empty while the agent is not watched. */
export function thread(
  p: Presentation,
  agent_id: string,
  work_item_id: string | null,
  level: Level,
): readonly Entry[] {
  const feed = feedOf(p, agent_id)
  return feed === null ? [] : threadOf(feed, p.texts, work_item_id, level)
}

/** What the reader of a presentation should fetch now. */
export type Want =
  | { readonly kind: 'state' }
  | { readonly kind: 'page'; readonly agent_id: string; readonly from: number; readonly to: number }

export function wants(p: Presentation): Want[] {
  const pages = p.feeds.flatMap((feed) =>
    gapsOf(feed).map(({ from, to }) => ({
      kind: 'page' as const,
      agent_id: feed.agent_id,
      from,
      to,
    })),
  )
  return p.state_is_old || p.link.kind === 'gone' ? [{ kind: 'state' }, ...pages] : pages
}
