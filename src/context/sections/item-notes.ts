/** Process notes in the opening of a turn about an item: the way it has gone, bounded. */
import { withShortIds, type Short } from '../../domain/state/short-id.ts'
import type { TokenEstimator } from '../estimate.ts'
import { block } from '../fence.ts'
import { contextLimits } from '../limits.ts'
import { noteLines, processNotes, type ProcessNotes } from '../process-notes.ts'
import { full, omitted, type Section } from '../section.ts'
import { itemInFull, type Situation } from './situation.ts'

/** Title and marks. */
const headTokens = 40

export function notesSection(
  situation: Situation,
  view: {
    fence: string
    tokens: TokenEstimator
    short: Short
    above: ReadonlySet<string>
    shown: ReadonlySet<string>
  },
  max_tokens: number,
): Section {
  const item = itemInFull(situation)
  const { events = [] } = situation
  if (item === null) return omitted('notes', 'the turn has no item')
  const { id } = item.projection.item
  // What was said stands with the item, word for word.
  const own = events.filter(
    ({ work_item_id, event }) =>
      work_item_id === id && !(event.type === 'message_admitted' && view.above.has(event.id)),
  )
  const all = processNotes(own, contextLimits.notes.value)
  // So do briefs, and a question beside the answer that began the turn: an answer alone says less.
  const fresh = all.notes.filter(({ handle }) => !view.shown.has(handle))
  const found = shortened({ ...all, notes: fresh }, view.short)
  if (found.notes.length === 0) return omitted('notes', 'no event left a note')
  const { text, left_out } = noteLines(found, view.tokens, max_tokens - headTokens)
  if (text === '') return omitted('notes', 'no room')
  const begins = own.some(({ event }) => event.type === 'work_item_created')
  const older = begins ? '' : ', without what older events would say'
  const shown = `# Process notes\n\n${block(view.fence, `notes, oldest first${older}`, text)}`
  return left_out === 0 && begins
    ? full('notes', shown, 'the way of the item so far')
    : { section: 'notes', text: shown, form: 'compact', why: 'the newest notes' }
}

const shortened = ({ notes, older }: ProcessNotes, short: Short): ProcessNotes => ({
  notes: notes.map((note) => ({
    ...note,
    text: withShortIds(note.text, short),
    handle: withShortIds(note.handle, short),
  })),
  older,
})
