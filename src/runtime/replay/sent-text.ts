/**
 * The text of a request that is in the ledger, put together again from its rows and its opening,
 * for a person to read or to compare. The trigger's URL stays sealed: this is no place to hand it
 * out.
 */
import { imagesShown } from '../../context/images.ts'
import { withSentImages } from '../../context/sent-images.ts'
import { notesOf, renderNotes, renderRound } from '../../context/sections/rounds.ts'
import type { ModelMessage } from '../../ports/model-message.ts'
import type { TurnId } from '../../domain/ids.ts'
import { sentImages, type SentImages } from '../../domain/turns/shown.ts'
import type { LedgerReads } from '../../ledger/port.ts'
import { withShort } from '../short-ids.ts'
import { compactedAt, fullPath, openingRound, parsedOpening } from '../turn/conversation.ts'

/** `part` is `system`, `opening`, `round 12`, or `notes`. */
export type RequestTextPart = { part: string; text: string }

/** What such a text is made of. `sent` are the images of the messages that the turn was given. */
export type SentReads = Pick<LedgerReads, 'roundsOfTurn' | 'blob' | 'shortIds'> & {
  sent: (turn_id: TurnId) => Promise<readonly SentImages[]>
}

export const sentReadsOf = (
  ledger: Pick<LedgerReads, 'roundsOfTurn' | 'blob' | 'shortIds' | 'list'>,
): SentReads => ({
  roundsOfTurn: (turn_id) => ledger.roundsOfTurn(turn_id),
  blob: (sha256) => ledger.blob(sha256),
  shortIds: (agent_id, ids) => ledger.shortIds(agent_id, ids),
  sent: async (turn_id) =>
    sentImages(await ledger.list('messages', { turn_id, limit: mostMessages })),
})

/** Of one turn; with images far fewer. */
const mostMessages = 2_000

/** Null when there is no such request, or its opening is gone. */
export async function requestTextOf(
  ledger: SentReads,
  home: string,
  turn_id: TurnId,
  n: number,
): Promise<RequestTextPart[] | null> {
  const views = (await ledger.roundsOfTurn(turn_id)).filter(({ round }) => round.n <= n)
  const round = views.at(-1)?.round
  const first = openingRound(views.map((view) => view.round))
  if (round?.n !== n || !first || first.opening_sha256 === null) return null
  const bytes = await ledger.blob(first.opening_sha256)
  const opening = bytes === null ? null : parsedOpening(new TextDecoder().decode(bytes))
  if (opening === null) return null
  const compacted = compactedAt(views.map((view) => view.round))
  const sent = (await ledger.sent(turn_id)).filter((one) => one.round <= n)
  const shown = imagesShown(views, { ...anyModel, compacted }, sent)
  const tail = views.slice(first.recapped ?? 0, -1)
  return withShort(ledger, round.agent_id, new Map(), (short) => {
    const items = new Map(Object.entries(opening.items))
    const full_path = (call: Call) => fullPath(home, call)
    const image = (key: string) => (shown.has(key) ? ('shown' as const) : ('left_out' as const))
    const view = { model: round.model, full_path, items, short, compacted, image, sent }
    const first = sent.filter((one) => one.round === 1)
    const user = { role: 'user' as const, content: opening.user }
    return [
      { part: 'system', text: opening.system },
      { part: 'opening', text: textOf(withSentImages(user, first, image, short)) },
      ...tail.map((one) => ({
        part: `round ${one.round.n}`,
        text: renderRound(one, view).map(textOf).join('\n'),
      })),
      ...renderNotes(round, notesOf(round, compacted), view).map((note) => ({
        part: 'notes',
        text: textOf(note),
      })),
    ]
  })
}

const pictured = '[the image, if the model takes images]'

/** Which model takes images no row says. */
const anyModel = { vision: true, refused: false, window: Infinity }

type Call = Parameters<typeof fullPath>[1]

function textOf(message: ModelMessage): string {
  switch (message.role) {
    case 'user':
      return [
        message.content,
        ...(message.images ?? []).map(({ label }) => `${label}\n${pictured}`),
      ].join('\n\n')
    case 'assistant':
      return message.parts
        .map((part) =>
          part.type === 'tool_call' ? `${part.tool_name} ${part.input_json}` : part.text,
        )
        .join('\n')
    case 'tool':
      return message.results
        .map(({ text, image }) => (image ? `${text}\n${pictured}` : text))
        .join('\n')
  }
}
