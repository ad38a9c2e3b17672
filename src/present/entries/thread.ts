/**
 * The thread of an item, or of a whole agent, at a level of detail: entries in the order of their
 * first seqs, steps below their turn, neighbours that only look folded into one. An entry that
 * nothing touched is the same object as before, a touched one never is. Pure.
 */
import { looks } from '../lines/call-line.ts'
import type { Entry, Level } from './entry.ts'
import { noEntry } from './entry.ts'
import { callEntry, taskEntry } from './call.ts'
import { checkEntry, withChecks } from './check.ts'
import { messageEntry } from './message.ts'
import {
  briefEntry,
  budgetEntry,
  changeEntry,
  completionEntry,
  delegationEntry,
  planEntry,
  todosEntry,
} from './other.ts'
import { line, type Sight } from './parts.ts'
import { decisionEntry, endOfWait, roundEntry, turnEntry } from './turn.ts'
import { waitEntry } from './wait.ts'
import { gapsOf, type Feed } from '../history/history.ts'
import type { HeardText } from '../history/heard-text.ts'
import type { Group, Noun } from '../history/noun-fold.ts'
import { kept, type KeptEntries } from './memo.ts'
import { onShelf, shelved } from '../history/chunked-map.ts'

type Maker = (group: Group, sight: Sight, level: Level) => Entry | null

const makers: { readonly [N in Noun]: Maker } = {
  message: messageEntry,
  turn: turnEntry,
  round: roundEntry,
  call: callEntry,
  task: taskEntry,
  wait: waitEntry,
  brief: briefEntry,
  completion: completionEntry,
  todos: todosEntry,
  plan: planEntry,
  change: changeEntry,
  budget: budgetEntry,
  delegation: delegationEntry,
  decision: decisionEntry,
  check: checkEntry,
}

/** These stand below the turn they were part of. */
const steps: ReadonlySet<Noun> = new Set(['round', 'call', 'todos', 'plan'])

export type RoundTexts = ReadonlyMap<string, HeardText>

/** `work_item_id` null: everything of the agent. */
export function threadOf(
  feed: Feed,
  live: RoundTexts,
  work_item_id: string | null,
  level: Level,
): readonly Entry[] {
  const key = `${level} ${work_item_id ?? ''}`
  const known = threads.get(feed) ?? new Map<string, Known>()
  threads.set(feed, known)
  const before = known.get(key)
  if (before?.live === live) return before.entries
  const entries = made(feed, live, work_item_id, level)
  known.set(key, { live, entries })
  return entries
}

type Known = { live: RoundTexts; entries: readonly Entry[] }
const threads = new WeakMap<Feed, Map<string, Known>>()

function made(feed: Feed, live: RoundTexts, wanted: string | null, level: Level): Entry[] {
  const groups = [...shelved(feed.groups)].sort((a, b) => a.seq - b.seq)
  const inCalls = new Set<string>()
  for (const { heard } of groups) {
    const task = heard.call_started?.event.task_id ?? heard.check_started?.event.task_id
    if (task) inCalls.add(task)
  }
  const around: Around = { feed, live, woken: wokenTurns(groups), told: toldTexts(groups) }
  const top: Entry[] = []
  const ofTurn = new Map<string, Entry[]>()
  for (const group of groups) {
    if (wanted !== null && itemOf(group, feed) !== wanted) continue
    if (group.noun === 'task' && inCalls.has(group.id)) continue
    const whole = entryOf(group, around, level)
    const isTwice = whole !== null && level < 3 && isTold(group, whole, around)
    const made = isTwice ? asideOf(whole) : whole
    if (made === null) continue
    const turn = steps.has(group.noun) ? group.turn_id : null
    const isBelow = turn !== null && onShelf(feed.groups, turn)?.heard.turn_started !== undefined
    if (!isBelow) top.push(made)
    else if (level > 1 || failed(made)) ofTurn.set(turn, [...(ofTurn.get(turn) ?? []), made])
  }
  const whole = top.map((one) => withChildren(one, ofTurn.get(one.id), level))
  const judged = withChecks(whole, feed, level)
  return [...foldedEntry(feed), ...merged(judged, gapEntries(feed))]
}

type Around = {
  feed: Feed
  live: RoundTexts
  /** Turns that began because a wait had ended, with what ended it. */
  woken: ReadonlyMap<string, string>
  /** What was delivered in a turn, by the turn. */
  told: ReadonlyMap<string, readonly string[]>
}

/** The first turn of an item after one of its waits has ended began because of that. */
function wokenTurns(groups: readonly Group[]): Map<string, string> {
  const woken = new Map<string, string>()
  const turns = groups.filter(({ heard }) => {
    return heard.turn_started?.event.cause.kind === 'continue_current'
  })
  if (turns.length === 0) return woken
  for (const { heard, work_item_id } of groups) {
    const resolved = heard.wait_resolved
    if (resolved === undefined || work_item_id === null) continue
    const turn = turns.find((one) => one.work_item_id === work_item_id && one.seq > resolved.seq)
    if (turn !== undefined) woken.set(turn.id, endOfWait(resolved.event.by))
  }
  return woken
}

function toldTexts(groups: readonly Group[]): Map<string, readonly string[]> {
  const told = new Map<string, readonly string[]>()
  for (const { heard } of groups) {
    const brief = heard.brief_delivered?.event
    if (brief === undefined || brief.turn_id === null) continue
    told.set(brief.turn_id, [...(told.get(brief.turn_id) ?? []), wordsOf(brief)])
  }
  return told
}

type Delivered = { text: string; warnings: readonly { message: string }[] }

/** Without what speaks against them, which the runtime has put below; blank space apart. */
function wordsOf({ text, warnings }: Delivered): string {
  const below = warnings.map(({ message }) => `Warning: ${message}`).join('\n')
  const own = below !== '' && text.endsWith(below) ? text.slice(0, -below.length) : text
  return spaced(own)
}

const spaced = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Words that were delivered as they are stand there once, as what was delivered. */
function isTold(group: Group, { kind }: Entry, { told }: Around): boolean {
  const { noun, turn_id, heard } = group
  if (noun !== 'round' || kind !== 'text' || turn_id === null) return false
  const text = heard.round_recorded?.event.parts
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
  return text !== undefined && (told.get(turn_id)?.includes(spaced(text)) ?? false)
}

const asides = new WeakMap<Entry, Entry>()

/** What it says besides its text; null: nothing. */
function asideOf(entry: Entry): Entry | null {
  if (entry.title === '') return null
  const aside = asides.get(entry) ?? { ...entry, body: [] }
  asides.set(entry, aside)
  return aside
}

/** On the first level only what went wrong is told beside its turn. */
const failed = ({ kind, mark }: Entry): boolean =>
  kind === 'call' && (mark === 'failed' || mark === 'unknown')

/** Steps are of their turn's item; everything else knows its own, or is of its turn's. */
function itemOf(group: Group, feed: Feed): string | null {
  const turnOf = (id: string | null | undefined) =>
    id === null || id === undefined ? null : (onShelf(feed.groups, id)?.work_item_id ?? null)
  if (steps.has(group.noun)) return turnOf(group.turn_id) ?? group.work_item_id
  if (group.noun !== 'message') return group.work_item_id ?? turnOf(group.turn_id)
  const { message_claimed, message_interjected } = group.heard
  return (
    group.work_item_id ?? turnOf((message_interjected ?? message_claimed)?.event.turn_id) ?? null
  )
}

type Made = { deps: readonly (readonly [string, unknown])[]; entry: Entry | null }
const entries: readonly WeakMap<Group, Made>[] = [1, 2, 3].map(() => new WeakMap())

/** Made anew only when its group, or anything it looked at, is another than before. */
function entryOf(group: Group, around: Around, level: Level): Entry | null {
  const { feed, live, woken } = around
  const memo = entries[level - 1]
  const see = (key: string): unknown => {
    if (key.startsWith('live ')) return live.get(key.slice(5))
    return key.startsWith('woken ') ? woken.get(key.slice(6)) : onShelf(feed.groups, key)
  }
  const before = memo?.get(group)
  if (before !== undefined && before.deps.every(([key, value]) => see(key) === value)) {
    return before.entry
  }
  const deps: (readonly [string, unknown])[] = []
  const sight: Sight = {
    group(id) {
      const found = onShelf(feed.groups, id)
      deps.push([id, found])
      return found
    },
    live(id) {
      deps.push([`live ${id}`, live.get(id)])
      return live.get(id)?.text
    },
    woken(id) {
      deps.push([`woken ${id}`, woken.get(id)])
      return woken.get(id)
    },
  }
  const entry = makers[group.noun](group, sight, level)
  memo?.set(group, { deps, entry })
  return entry
}

const parents: KeptEntries = new WeakMap()

function withChildren(entry: Entry, children: Entry[] | undefined, level: Level): Entry {
  if (children === undefined) return entry
  return kept(parents, entry, children, level, (before) => ({
    ...entry,
    children: level < 3 ? folded(children, before?.children) : children,
  }))
}

/** Neighbours that only look become one, and the same failure again is counted. */
function folded(children: readonly Entry[], before: readonly Entry[] = []): Entry[] {
  const out: Entry[] = []
  for (let at = 0; at < children.length;) {
    const first = children[at]
    if (first === undefined) break
    let end = at + 1
    while (end < children.length && alike(first, children[end])) end += 1
    const run = children.slice(at, end)
    out.push(run.length === 1 ? first : asOne(first, run, before))
    at = end
  }
  return out
}

const lookOf = ({ kind, mark, title }: Entry) =>
  kind === 'call' && mark === 'done'
    ? Object.values(looks).find(({ one }) => title.startsWith(`${one} `))
    : undefined

function alike(a: Entry, b: Entry | undefined): boolean {
  if (b === undefined || b.kind !== 'call' || a.kind !== 'call') return false
  const look = lookOf(a)
  if (look !== undefined) return lookOf(b) === look
  return a.mark === 'failed' && b.mark === 'failed' && a.title === b.title && sameBody(a, b)
}

const sameBody = (a: Entry, b: Entry): boolean => a.body.join('\n') === b.body.join('\n')

function asOne(first: Entry, run: readonly Entry[], before: readonly Entry[]): Entry {
  const look = lookOf(first)
  const title =
    look === undefined
      ? line(`${first.title} ×${run.length}`)
      : line(`${look.one} ${run.length} ${look.many}`)
  const known = before.find(({ id, kind }) => id === first.id && kind === 'group')
  if (known?.title === title && known.children.every((one, n) => one === run[n])) return known
  return {
    ...first,
    kind: 'group',
    title,
    facts: look === undefined ? first.facts : [],
    children: run,
  }
}

const gapEntries = (feed: Feed): Entry[] =>
  gapsOf(feed).map(({ from, to }) => ({
    ...noEntry,
    id: `gap ${from}`,
    kind: 'gap' as const,
    seq: from,
    at: '',
    mark: 'unknown' as const,
    title: line(`${to - from + 1} events were not heard yet; they are being fetched`),
  }))

function foldedEntry({ folded: to }: Feed): Entry[] {
  if (to === 0) return []
  const title = line('what is older is not held here any more')
  return [
    {
      ...noEntry,
      id: 'folded',
      kind: 'folded',
      seq: 0,
      at: '',
      title,
      facts: [line(`to seq ${to}`)],
    },
  ]
}

const merged = (a: readonly Entry[], b: readonly Entry[]): Entry[] =>
  b.length === 0 ? [...a] : [...a, ...b].sort((x, y) => x.seq - y.seq)
