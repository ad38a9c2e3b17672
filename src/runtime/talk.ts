/**
 * The messages of an open turn, kept in memory and only appended to; rebuilt from rows when a turn
 * is resumed or its model changes. The opening is a blob, so a resumed turn says the same words.
 */
import { charTokens } from '../context/estimate.ts'
import { fits, messageTokens } from '../context/fits.ts'
import type { ContextMessage, Opening } from '../context/message.ts'
import { renderNotes, renderRound, type RoundsView } from '../context/rounds.ts'
import { mustTurn, openTurn, roundViews } from '../domain/facts.ts'
import type { Call } from '../domain/call.ts'
import { outputPath, taskPath } from './home.ts'
import type { LaneEnv } from './lane-env.ts'
import { toolTokens } from './tool-specs.ts'

export class Talk {
  readonly env: LaneEnv
  #opening: Opening | null = null
  #messages: ContextMessage[] = []
  #tokens = 0
  #model = ''
  /** Rounds already among the messages, with their results. */
  #rendered = 0

  constructor(env: LaneEnv) {
    this.env = env
  }

  /** Begins with a projection just made. */
  open(opening: Opening, model: string): void {
    this.#opening = opening
    this.#model = model
    this.#messages = []
    this.#rendered = 0
    this.#tokens = charTokens(opening.system) + toolTokens()
    this.#append({ role: 'user', content: opening.user })
  }

  /** Everything for the request that is recorded now. `null`: the opening's blob is gone. */
  async request(): Promise<{ system: string; messages: readonly ContextMessage[] } | null> {
    const facts = this.env.facts()
    const turn = mustTurn(facts)
    if (this.#opening === null || this.#model !== turn.model) {
      const opening = await storedOpening(this.env)
      if (opening === null) return null
      this.open(opening, turn.model)
    }
    const views = roundViews(facts, turn)
    const view = this.#view()
    for (const round of views.slice(this.#rendered)) {
      if (round.round.state !== 'recorded') break
      for (const message of renderRound(round, view)) this.#append(message)
      this.#rendered += 1
    }
    const open = views.at(-1)?.round
    const notes = open?.state === 'requested' ? renderNotes(open.notes) : []
    return { system: this.#opening?.system ?? '', messages: [...this.#messages, ...notes] }
  }

  /** Whether what was rendered last leaves room for an answer. */
  fits(): boolean {
    return fits(this.#tokens, this.env.ports.models.facts(this.#model).context_window)
  }

  #append(message: ContextMessage): void {
    this.#messages.push(message)
    this.#tokens += messageTokens(message, charTokens)
  }

  #view(): RoundsView {
    const { home } = this.env.ports
    return { model: this.#model, full_path: (call: Call) => fullPath(home, call) }
  }
}

const fullPath = (home: string, call: Call): string =>
  call.task_id === null ? outputPath(home, call.id) : taskPath(home, call.task_id)

async function storedOpening(env: LaneEnv): Promise<Opening | null> {
  const facts = env.facts()
  const turn = openTurn(facts)
  const first = turn ? roundViews(facts, turn).find(({ round }) => round.opening_sha256) : undefined
  const sha256 = first?.round.opening_sha256
  if (!sha256) return null
  const bytes = await env.store.ledger.blob(sha256)
  if (bytes === null) return null
  const text = env.urls.unsealed(facts, new TextDecoder().decode(bytes))
  const opening: unknown = JSON.parse(text)
  return isOpening(opening) ? opening : null
}

const isOpening = (value: unknown): value is Opening =>
  typeof value === 'object' &&
  value !== null &&
  'system' in value &&
  'user' in value &&
  typeof value.system === 'string' &&
  typeof value.user === 'string'
