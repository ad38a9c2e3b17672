/**
 * The messages of an open turn, kept in memory and only appended to; rebuilt from rows when a turn
 * is resumed, was compacted, or its model changes. The opening is a blob, so a resumed turn says
 * the same words. What a request measures (`sent`) is taken here, where it is put together.
 */
import { charTokens } from '../../context/estimate.ts'
import { imageForm, imagesShown, type ImageForm, type ImagesView } from '../../context/images.ts'
import { withSentImages } from '../../context/sent-images.ts'
import { fits, imagesOf, messageTokens } from '../../context/opening/fits.ts'
import type { ModelMessage } from '../../ports/model-message.ts'
import type { Opening, Projected } from '../../context/message.ts'
import type { ItemsShown } from '../../context/result-view.ts'
import {
  notesOf,
  renderNotes,
  renderRound,
  type RoundsView,
} from '../../context/sections/rounds.ts'
import { agentOf, mustTurn, openTurn, roundViews } from '../../domain/facts/facts.ts'
import type { Image } from '../../domain/image.ts'
import type { Call } from '../../domain/state/call.ts'
import type { Round, RequestSize } from '../../domain/state/turn.ts'
import { factorOf, factorFrom } from './token-factor.ts'
import { messagesOf, sentImages, type SentImages } from '../../domain/turns/shown.ts'
import { outputPath, taskPath } from '../home.ts'
import type { AgentPorts } from '../agent-ports.ts'
import { toolHash, toolTokens } from './tool-specs.ts'
import { sha256 } from '../../tools/tool/sha256.ts'

export type Conversation = {
  system: string
  messages: readonly ModelMessage[]
  /** Without provider-own parts, also those of the model that is asked. */
  plain: boolean
  /** How it measures, to be recorded with its answer. */
  sent: RequestSize
}

export class Talk {
  readonly env: AgentPorts
  #opening: Projected | null = null
  #messages: ModelMessage[] = []
  #tokens = 0
  #model = ''
  /** Whether the provider refused its own thoughts: for this turn it gets none of them back. */
  #plain = false
  /** Whether the provider refused a request with images: for this turn it gets none of them. */
  #refused = false
  /** Keys of the images that are among the messages. */
  #shown: ReadonlySet<string> = new Set()
  /** Rounds that stand as a recap in the opening. */
  #recapped = 0
  /** Rounds already among the messages, or recapped. */
  #rendered = 0
  /** Estimated tokens of each round, by number from 1; of recapped ones nobody knows. */
  #sizes: number[] = []
  /** What its images take of that. */
  #images: number[] = []
  #hash = ''
  /** The hash up to where the request of the newest round ended. */
  #prefix = ''
  /** Items that the request has in full so far. */
  #items: ItemsShown = new Map()
  /** Tokens of the notes in front of the request made last. */
  #notes = 0
  #factor: number | null = null

  constructor(env: AgentPorts) {
    this.env = env
  }

  /**
   * Begins with a projection just made; `recapped` rounds of the turn are in it. `factor`: what is
   * known of the model's counting, if that was looked up.
   */
  open(opening: Projected, model: string, recapped = 0, factor = this.#factor): void {
    this.#factor = factor
    this.#opening = opening
    if (model !== this.#model) [this.#plain, this.#refused] = [false, false]
    this.#model = model
    this.#messages = []
    this.#shown = new Set()
    this.#items = new Map(Object.entries(opening.items))
    this.#recapped = recapped
    this.#rendered = recapped
    this.#sizes = Array.from({ length: recapped }, () => Infinity)
    this.#images = Array.from({ length: recapped }, () => 0)
    const { visibility } = agentOf(this.env.facts())
    this.#tokens = charTokens(opening.system) + toolTokens(visibility)
    this.#hash = sha256(`${toolHash(visibility)}\n${opening.system}`)
    this.#prefix = this.#hash
  }

  /** From now on without provider-own parts. False: it is so already. */
  leaveOutOwn(): boolean {
    if (this.#plain || this.#opening === null) return false
    this.#plain = true
    this.open(this.#opening, this.#model, this.#recapped)
    return true
  }

  /** From now on without images. False: there are none. */
  leaveOutImages(): boolean {
    if (this.#shown.size === 0 || this.#opening === null) return false
    this.#refused = true
    this.open(this.#opening, this.#model, this.#recapped)
    return true
  }

  /** Everything for the request that is recorded now. `null`: the opening's blob is gone. */
  async request(): Promise<Conversation | null> {
    const facts = this.env.facts()
    const turn = mustTurn(facts)
    if (this.#opening === null || this.#model !== turn.model) {
      const stored = await storedOpening(this.env)
      if (stored === null) return null
      if (this.#model !== turn.model) this.#factor = null
      this.open(stored.opening, turn.model, stored.recapped)
    }
    const views = roundViews(facts, turn)
    const compacted = compactedAt(views.map(({ round }) => round))
    const look = this.#look(compacted)
    const sent = sentImages(messagesOf(facts, turn))
    const shown = imagesShown(views, look, sent)
    // One that goes out of the request is a line from now on.
    const isGone = [...this.#shown].some((id) => !shown.has(id))
    if (isGone && this.#opening) this.open(this.#opening, this.#model, this.#recapped)
    this.#shown = shown
    const image = (key: string, one: Image) => imageForm(key, one, shown, look)
    const view = { ...this.#view(), compacted, image, sent }
    if (this.#messages.length === 0) await this.#appendOpening(sent, image)
    for (const round of views.slice(this.#rendered)) {
      if (round.round.state !== 'recorded') break
      const rendered = await this.env.withShort((short) => {
        const items = new Map(view.items)
        return { messages: renderRound(round, { ...view, items, short }), items }
      })
      for (const [id, marks] of rendered.items) view.items.set(id, marks)
      this.#appendRound(rendered.messages)
    }
    this.#factor ??= await factorFrom(this.env, this.#model)
    this.#factor = factorOf(views, this.#model) ?? this.#factor
    const open = views.at(-1)?.round
    const told = open?.state === 'requested' ? notesOf(open, compacted) : []
    const notes = await this.env.withShort((short) =>
      open === undefined ? [] : renderNotes(open, told, { short, image, sent }),
    )
    return {
      system: this.#opening?.system ?? '',
      messages: [...this.#messages, ...notes],
      plain: this.#plain,
      sent: this.#measure(notes),
    }
  }

  /** Tokens of the request that was made last, as its provider would count them, and its window. */
  size(): { tokens: number; window: number } {
    const { context_window } = this.env.ports.models.facts(this.#model)
    const tokens = Math.ceil((this.#tokens + this.#notes) * this.factor)
    return { tokens, window: context_window }
  }

  /** Whether what was rendered last leaves room for an answer. */
  fits(): boolean {
    const { tokens, window } = this.size()
    return fits(tokens, window)
  }

  /** What the provider counts for one estimated token, as far as is known. */
  get factor(): number {
    return this.#factor ?? 1
  }

  /**
   * What compaction has to know of the request made last; token counts are estimates. The sizes are
   * those that rounds have after one: images of all but the newest round go out first.
   */
  get parts(): {
    opening: Projected | null
    sizes: readonly number[]
    total: number
    notes: number
  } {
    const total = this.#tokens + this.#notes
    const newest = this.#sizes.length - 1
    const sizes = this.#sizes.map((size, at) =>
      at < newest ? size - (this.#images[at] ?? 0) : size,
    )
    return { opening: this.#opening, sizes, total, notes: this.#notes }
  }

  /** With the images of the messages that the turn began with. */
  async #appendOpening(
    sent: readonly SentImages[],
    formOf: (key: string, image: Image) => ImageForm,
  ): Promise<void> {
    const first = sent.filter(({ round }) => round === 1)
    const opening = { role: 'user' as const, content: this.#opening?.user ?? '' }
    this.#append(await this.env.withShort((short) => withSentImages(opening, first, formOf, short)))
  }

  #appendRound(messages: readonly ModelMessage[]): void {
    const before = this.#tokens
    // The notes in front ended the request of this round: up to them it was sent already.
    const [first] = messages
    if (first?.role !== 'user') this.#prefix = this.#hash
    for (const message of messages) {
      this.#append(message)
      if (message === first && first.role === 'user') this.#prefix = this.#hash
    }
    this.#rendered += 1
    this.#sizes.push(this.#tokens - before)
    this.#images.push(messages.reduce((sum, message) => sum + imagesOf(message), 0))
  }

  #append(message: ModelMessage): void {
    this.#messages.push(message)
    this.#tokens += messageTokens(message, charTokens)
    this.#hash = chained(this.#hash, message)
  }

  #measure(notes: readonly ModelMessage[]): RequestSize {
    this.#notes = notes.reduce((sum, message) => sum + messageTokens(message, charTokens), 0)
    const { window } = this.size()
    const { visibility } = agentOf(this.env.facts())
    const tail = this.#sizes.slice(this.#recapped).reduce((sum, size) => sum + size, 0)
    return {
      estimated: this.#tokens + this.#notes,
      factor: Math.round(this.factor * 1_000) / 1_000,
      window,
      rounds: { from: this.#recapped + 1, to: this.#rendered, tokens: tail },
      notes: this.#notes,
      tools: { tokens: toolTokens(visibility), hash: toolHash(visibility) },
      prefix_hash: this.#prefix.slice(0, markDigits),
      hash: notes.reduce(chained, this.#hash).slice(0, markDigits),
    }
  }

  #look(compacted: number): ImagesView {
    const { vision, context_window } = this.env.ports.models.facts(this.#model)
    return { vision, refused: this.#refused, window: context_window, compacted }
  }

  #view(): RoundsView {
    const { home } = this.env.ports
    // Of no model's own, every round is rendered as another model's.
    const model = this.#plain ? '' : this.#model
    const items = this.#items
    return { model, full_path: (call: Call) => fullPath(home, call), items }
  }
}

/** Of a hash that only says whether two requests are alike. */
const markDigits = 16

const chained = (hash: string, message: ModelMessage): string =>
  sha256(`${hash}\n${JSON.stringify(message)}`)

/** The file that has all of a result which the turn's own request shows cut. */
export const fullPath = (home: string, call: Call): string =>
  call.task_id === null ? outputPath(home, call.id) : `${taskPath(home, call.task_id)}/stdout`

/** The same for a later turn, which cuts shorter: not every result it cuts is a file. */
export const wholeResultOf = (home: string, call: Call): string =>
  call.tool_name === 'ExecCommand' && call.task_id !== null
    ? fullPath(home, call)
    : `MemoryGet ${call.id}`

/** The round whose opening a request stands on: the newest one that has an opening. */
export const openingRound = (rounds: readonly Round[]): Round | undefined =>
  rounds.findLast(({ opening_sha256 }) => opening_sha256 !== null)

/** The round whose request was compacted last; 0: none was. */
export function compactedAt(rounds: readonly Round[]): number {
  const round = openingRound(rounds)
  return round?.recapped === undefined ? 0 : round.n
}

async function storedOpening(
  env: AgentPorts,
): Promise<{ opening: Projected; recapped: number } | null> {
  const facts = env.facts()
  const turn = openTurn(facts)
  const round = turn && openingRound(roundViews(facts, turn).map((view) => view.round))
  if (!round || round.opening_sha256 === null) return null
  const bytes = await env.store.ledger.blob(round.opening_sha256)
  if (bytes === null) return null
  const opening = parsedOpening(env.urls.unsealed(facts, new TextDecoder().decode(bytes)))
  return opening === null ? null : { opening, recapped: round.recapped ?? 0 }
}

/** A stored opening; those of earlier versions have no manifest, items or place. */
export function parsedOpening(text: string): Projected | null {
  const value: unknown = JSON.parse(text)
  if (!isOpening(value)) return null
  return { sections: [], items: {}, place: null, ...value }
}

const isOpening = (value: unknown): value is Opening =>
  typeof value === 'object' &&
  value !== null &&
  'system' in value &&
  'user' in value &&
  typeof value.system === 'string' &&
  typeof value.user === 'string'
