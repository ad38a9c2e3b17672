/** Process notes in the opening of a turn about an item: the way it has gone, bounded. */
import type { TokenEstimator } from './estimate.ts'
import { block } from './fence.ts'
import { contextLimits } from './limits.ts'
import { noteLines, processNotes } from './process-notes.ts'
import { full, omitted, type Section } from './section.ts'
import type { Situation } from './situation.ts'

/** Title and marks. */
const headTokens = 40

export function notesSection(
  { item, events = [] }: Situation,
  view: { fence: string; tokens: TokenEstimator },
  max_tokens: number,
): Section {
  if (item === null) return omitted('notes', 'the turn has no item')
  const { id } = item.projection.item
  const own = events.filter((event) => event.work_item_id === id)
  const found = processNotes(own, contextLimits.notes.value)
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
