/**
 * What a journal says, folded line by line: the session, the open question, and for each request
 * its *leg* — the stretch of the journal that answers it. A leg begins with the order (a prompt, or
 * the answer to a question) and ends with a question or the end of the prompt. Legs follow each
 * other without gaps, so nothing an agent said falls between two. Pure but for its own state.
 */
import type { AcpEnd, AcpQuestion } from '../../ports/acp.ts'
import type { AcpLine } from './journal.ts'

/**
 * - `running`: ordered, and not over.
 * - `asked`: it ended with this question. `ended`, `failed`: with the prompt.
 * - `refused`: the driver did nothing, for the reason given.
 */
export type LegState = { state: 'running' } | AcpEnd

/** `from` and `to` are positions among the updates; `to` is null while it runs. */
export type Leg = { from: number; to: number | null; now: LegState }

type Update = Extract<
  AcpLine,
  { type: 'text' | 'thought' | 'tool_call' | 'tool_call_update' | 'plan' }
>

export class JournalFold {
  /** The session the agent was in last. */
  session_id: string | null = null
  /** The request whose prompt was received and is not over. */
  open_prompt: string | null = null
  /** Ids of orders the driver has taken. */
  readonly taken = new Set<string>()
  /** Everything the agent said, oldest first. */
  readonly updates: Update[] = []
  readonly #legs = new Map<string, Leg>()
  readonly #questions = new Map<string, AcpQuestion>()
  /** The request whose leg runs. */
  #running: string | null = null
  /** Whether the running leg's own prompt has been sent: questions before it are another's. */
  #own = false
  #end = 0

  /** The oldest question nobody has answered. */
  get question(): AcpQuestion | null {
    return this.#questions.values().next().value ?? null
  }

  leg(request_id: string): Leg | null {
    return this.#legs.get(request_id) ?? null
  }

  take(line: AcpLine): void {
    switch (line.type) {
      case 'text':
      case 'thought':
      case 'tool_call':
      case 'tool_call_update':
      case 'plan':
        this.updates.push(line)
        return
      case 'prompt_received':
        this.open_prompt = line.request_id
        return this.#begin(line.request_id, false)
      case 'prompted':
        this.#own = true
        return
      case 'order_refused':
        this.taken.add(line.request_id)
        this.#legs.set(line.request_id, {
          from: this.#end,
          to: this.#end,
          now: { state: 'refused', why: line.why },
        })
        return
      case 'session_begun':
        this.session_id = line.session_id
        return
      case 'permission_asked': {
        const { permission_id, title, options } = line
        this.#questions.set(permission_id, { permission_id, title, options })
        return this.#askedPerhaps()
      }
      case 'permission_answered':
        this.#questions.delete(line.permission_id)
        if (line.request_id === null) return
        this.#begin(line.request_id, true)
        return this.#askedPerhaps()
      case 'cancel_received':
        this.taken.add(line.request_id)
        return
      case 'prompt_ended':
        return this.#over(line.request_id, { state: 'ended', stop: line.stop })
      case 'prompt_failed': {
        const { code, message } = line
        return this.#over(line.request_id, { state: 'failed', code, message })
      }
      case 'driver_started':
      case 'agent_started':
      case 'agent_ended':
      case 'driver_ended':
        return
    }
  }

  #begin(request_id: string, own: boolean): void {
    // Only a prompt can find another leg running: it takes its place.
    this.#close({ state: 'ended', stop: 'cancelled' })
    this.taken.add(request_id)
    this.#legs.set(request_id, { from: this.#end, to: null, now: { state: 'running' } })
    this.#running = request_id
    this.#own = own
  }

  #askedPerhaps(): void {
    const { question } = this
    if (question !== null && this.#own) this.#close({ state: 'asked', question })
  }

  /** The end of a prompt is the end of the leg that runs, unless that waits for its own. */
  #over(request_id: string, now: LegState): void {
    const waits = this.#running !== null && !this.#own && this.#running !== request_id
    if (this.open_prompt === request_id) this.open_prompt = null
    if (!waits) this.#close(now)
  }

  #close(now: LegState): void {
    const leg = this.#running === null ? undefined : this.#legs.get(this.#running)
    this.#running = null
    if (leg === undefined) return
    leg.to = this.updates.length
    leg.now = now
    this.#end = leg.to
  }
}
