/**
 * `holon inbox`: what needs a person, each with the shell line that settles it; and putting an
 * entry away, for a while or until it changes.
 */
import type { Query } from '../../client/api.ts'
import { fingerprintOf, type Attention } from '../../protocol/views/attention.ts'
import { isMeantBy } from '../../protocol/records/records.ts'
import { markOf } from '../../present/item-words.ts'
import { glyph, painted } from '../../present/text/marks.ts'
import { questionLines } from '../../present/lines/question-lines.ts'
import { safeLine } from '../../present/text/safe.ts'
import { since } from '../../present/text/span.ts'
import { apart } from '../../present/text/table.ts'
import { width } from '../../present/text/width.ts'
import { act } from '../command/act.ts'
import { candidateLines, printLines, zoneOf, type Context } from '../command/context.ts'
import { mendPolicy, refusedWords } from '../command/guards.ts'
import { exits, usage, type Exit } from '../command/failure.ts'
import { momentOf, spanOf } from '../command/moment.ts'
import { asking, listOf, printList } from '../command/records.ts'

/** Reading the list is always a success; the list says what waits. */
export async function inbox(context: Context): Promise<Exit> {
  if (context.flags.json === true) {
    return printList(context, { plural: 'attention', path: '/attention', forward: true })
  }
  const found = await entriesOf(context)
  const refused = await context.ports.policy.refused(context.home.value)
  const mend = refused === null ? [] : [safeLine(refusedWords(refused)), `    ${mendPolicy}`]
  const rest =
    found.length > 0 ? text(context, found) : mend.length > 0 ? [] : ['nothing needs you']
  printLines(context, [...mend, ...rest])
  return exits.done
}

/** As the API has it, so that every screen shows the same list. */
async function entriesOf(context: Context, query: Query = {}): Promise<Attention[]> {
  const limit = Number.POSITIVE_INFINITY
  const wanted = { path: '/attention', plural: 'attention', query, limit, forward: true }
  const found = await asking(context, (api) => listOf(api, wanted))
  return (found ?? []) as Attention[]
}

export type SnoozeOptions = { for?: string; until?: string }

/** Puts an entry away for a while; it stands there again sooner when it changes. */
export async function snooze(
  context: Context,
  target: string,
  options: SnoozeOptions,
): Promise<Exit> {
  const { for: span, until } = options
  if ((span === undefined) === (until === undefined)) {
    const example = `holon inbox snooze ${target} --for 2h`
    throw usage('which_time', 'say for how long, in one way', `like ${example}`)
  }
  const ms =
    span === undefined
      ? momentOf('--until', until ?? '')
      : context.ports.clock.now() + spanOf('--for', span)
  const entry = await entryNamed(context, target)
  return act(context, { do: 'snooze', ...entry, until: new Date(ms).toISOString() })
}

/** Until it changes, whenever that is. */
export async function dismiss(context: Context, target: string): Promise<Exit> {
  return act(context, { do: 'dismiss', ...(await entryNamed(context, target)) })
}

/** By its id, or a beginning or end of it; also one that is put away already. */
async function entryNamed(context: Context, target: string) {
  const all = await entriesOf(context, { include_snoozed: true })
  const found = all.filter(({ id }) => isMeantBy(id, target))
  const [entry] = found
  if (entry === undefined) {
    const hint = 'holon inbox lists what does, with its ids'
    throw usage('attention_not_found', `nothing of "${target}" needs you now`, hint)
  }
  if (found.length > 1) {
    const more = candidateLines(context, found)
    throw usage('ambiguous_id', `${target} means more than one`, 'use one of these ids', more)
  }
  const { id: attention_id, agent_id } = entry
  return { attention_id, agent_id, fingerprint: fingerprintOf(entry) }
}

/** How every entry is put away is said once, below the list. */
const away = new Set(['snooze', 'dismiss'])

/** A question is there in full: its first line is the head where it has room. */
function wordsOf(
  { kind, choices }: Attention,
  text: string,
  columns: number | null,
): readonly string[] {
  if (kind !== 'question' && kind !== 'approval') return [safeLine(text)]
  const lines = questionLines({ text, choices }, columns, '    ')
  const [first = '', ...rest] = lines
  const fits = columns === null || width(first) + headRoom <= columns
  return fits ? [first.trim(), ...rest] : ['asks', ...lines]
}

/** Cells of a head beside its text: the mark, an id, how long ago. */
const headRoom = 30

function text(context: Context, found: readonly Attention[]): string[] {
  const zone = zoneOf(context)
  const { ids, ink, medium } = context
  ids.know(found.map(({ id }) => id))
  const lines = found.flatMap((entry) => {
    const mark = markOf[entry.kind]
    const item = entry.work_item_id === null ? entry.agent_id : ids.short(entry.work_item_id)
    const [first = '', ...rest] = wordsOf(entry, ids.within(entry.text), medium.columns)
    const head = `${glyph(mark, ink)} ${item}  ${first}`
    const lines = [
      painted(apart(head, since(entry.since, zone), medium.columns), mark, ink),
      ...rest,
    ]
    for (const { cli, key } of entry.can) {
      if (cli !== null && !away.has(key)) lines.push(`    ${safeLine(ids.within(cli))}`)
    }
    return lines
  })
  const [first] = found
  const id = first === undefined ? '<id>' : ids.short(first.id)
  return [...lines, `later   holon inbox snooze ${id} --for 2h, or holon inbox dismiss ${id}`]
}
