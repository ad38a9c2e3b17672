/**
 * Short forms of ids: `work_7f3a`. Fixed when the id is minted: the shortest tail of at least four
 * characters that no earlier id of the same kind of its agent has as short form. It never changes,
 * and means its id also where a later one ends the same.
 */
import type { Event, EventType, Table } from './event.ts'

/** What models are shown ids of, by the noun in front. */
export const shortKinds = ['work', 'wait', 'msg', 'turn', 'call', 'task', 'brief'] as const
export type ShortKind = (typeof shortKinds)[number]

/** Where the rows with ids of a kind are. */
export const tableOfShort = {
  work: 'work_items',
  wait: 'waits',
  msg: 'messages',
  turn: 'turns',
  call: 'calls',
  task: 'tasks',
  brief: 'briefs',
} as const satisfies { readonly [K in ShortKind]: Table }

/** Where the rows are whose ids have this noun in front, as whoever names one writes it. */
export const tableOfNoun = {
  ...tableOfShort,
  dec: 'decisions',
  deleg: 'delegations',
  dlv: 'deliveries',
  grant: 'grants',
  sched: 'schedules',
  trig: 'triggers',
} as const satisfies Readonly<Record<string, Table>>

/** Characters of a short form behind its noun, at least. */
export const fewestOfTail = 4

const minting: { readonly [T in EventType]?: ShortKind } = {
  work_item_created: 'work',
  wait_registered: 'wait',
  message_admitted: 'msg',
  turn_started: 'turn',
  call_recorded: 'call',
  task_queued: 'task',
  brief_delivered: 'brief',
}

/** The kind of id that an event mints; null: it is about one that is there. */
export const mintedBy = ({ type }: Event): ShortKind | null => minting[type] ?? null

/** `work_…` as its kind and what follows it; null: no id that has a short form. */
export function partsOfId(text: string): { kind: ShortKind; tail: string } | null {
  const cut = text.indexOf('_')
  const kind = shortKinds.find((one) => one === text.slice(0, Math.max(0, cut)))
  const tail = text.slice(cut + 1)
  return kind === undefined || tail === '' ? null : { kind, tail }
}

/** The tails of an id that may become its short form, the shortest first; the last is all of it. */
export function tailsOf(id: string): string[] {
  const tail = partsOfId(id)?.tail ?? ''
  const from = Math.min(fewestOfTail, tail.length)
  return Array.from({ length: tail.length - from + 1 }, (_, i) => tail.slice(-(from + i)))
}

/** The rule: the first tail that no earlier id of its kind and agent has, as `isTaken` says. */
export function shortTail(id: string, isTaken: (tail: string) => boolean): string {
  const tail = tailsOf(id).find((one) => !isTaken(one))
  if (tail === undefined) throw new Error(`all of ${id} is the short form of another id`)
  return tail
}

/**
 * Whether a person may mean the id: it begins so, or ends so, with four characters or more behind
 * its noun, which may be left out. A whole id means itself.
 */
export function isMeantBy(id: string, text: string): boolean {
  const cut = text.indexOf('_') + 1
  const [noun, rest] = [text.slice(0, cut), text.slice(cut)]
  if (id === text) return true
  if (rest.length < fewestOfTail || !id.startsWith(noun)) return false
  return id.startsWith(rest, id.indexOf('_') + 1) || id.endsWith(rest)
}

/** An id as it is shown: short, or whole where it has no short form. */
export type Short = (id: string) => string

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
/**
 * Whole ids and the parts of records named by them; none that is a step of a path or the beginning
 * of a name, for that is not ours to write otherwise.
 */
const shown = new RegExp(
  String.raw`(?<![\w/.@-])(?:${shortKinds.join('|')})_${uuid}` +
    String.raw`(?![\w@-]|\.\w|:\d|/(?!(?:plan|stdout|stderr|\d+)(?![\w./-])))`,
  'g',
)

/** An id with all of its characters. */
export const isWholeId = (text: string): boolean => wholeId.test(text)

const wholeId = new RegExp(`^[a-z]+_${uuid}$`)

/** A text of ours with its ids made short. */
export const withShortIds = (text: string, short: Short): string =>
  text.includes('_') ? text.replace(shown, (id) => short(id)) : text
