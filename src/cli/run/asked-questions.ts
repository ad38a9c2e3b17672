/**
 * The questions that a run puts to its person, one at a time at the foot of the terminal: open ones
 * in their order, none twice, and one that is settled elsewhere is taken away.
 */
import type { OperatorCommand } from '../../protocol/acts/operator.ts'
import type { Agent, Wait } from '../../protocol/records/records.ts'
import type { Context } from '../command/context.ts'
import type { RunHost } from '../command/run-ports.ts'
import type { RunScreen } from '../command/run-screen.ts'
import { answerTo, questionsOf } from './questions.ts'
import type { TypedWords } from './typed-words.ts'

export type AskedPorts = {
  context: Context
  host: RunHost
  screen: RunScreen
  agents: readonly Agent[]
  /** Gives way while a question is asked: there is one keyboard. */
  typed: TypedWords
  act: (command: OperatorCommand) => Promise<unknown>
  /** A question is over, by whomever. */
  settled: () => void
  failed: (error: unknown) => void
}

export class AskedQuestions {
  readonly #ports: AskedPorts
  /** Questions the person left open. */
  readonly #declined = new Set<string>()
  #open: { wait: string; abort: AbortController } | null = null

  constructor(ports: AskedPorts) {
    this.#ports = ports
  }

  get isAsking(): boolean {
    return this.#open !== null
  }

  all(): Wait[] {
    const { host, agents } = this.#ports
    return agents.flatMap((agent) => questionsOf(host, host.facts(agent.id)))
  }

  /** Puts the next one, if none stands there. It waits for the end of a line that is begun. */
  askNext(questions: readonly Wait[]): void {
    const { context, screen, typed, failed } = this.#ports
    const wait = questions.find(({ id }) => !this.#declined.has(id))
    if (this.#open !== null || wait === undefined) return
    const abort = new AbortController()
    this.#open = { wait: wait.id, abort }
    const { promise: settled, resolve } = Promise.withResolvers<void>()
    abort.signal.addEventListener('abort', () => resolve(), { once: true })
    const short = context.ids.short(wait.id)
    const held = () => {
      if (abort.signal.aborted) return
      screen.say([`${short} asks you when the line you have begun is sent or erased`])
    }
    Promise.race([typed.free(held), settled]).then(() => this.#ask(wait, abort.signal), failed)
  }

  #ask(wait: Wait, signal: AbortSignal): void {
    const { context, screen, typed, failed } = this.#ports
    if (signal.aborted) return this.#answered(wait, null, true)
    typed.pause()
    const asked = context.ports.ask(`answer ${context.ids.short(wait.id)}> `, signal)
    screen.bottom = asked.redraw
    asked.answer.then((text) => this.#answered(wait, text, signal.aborted), failed)
  }

  /** Somebody else has answered it, or it is not waited for any more. */
  settle(wait_id: string): void {
    if (this.#open?.wait === wait_id) this.stop()
  }

  stop(): void {
    this.#open?.abort.abort()
  }

  /** Null: the person leaves it open, or somebody else has answered. Empty answers nothing. */
  #answered(wait: Wait, text: string | null, elsewhere: boolean): void {
    const { context, screen, typed, agents, act, settled, failed } = this.#ports
    this.#open = null
    screen.bottom = null
    typed.resume()
    if (elsewhere) screen.say([`${context.ids.short(wait.id)} is settled elsewhere`])
    else if (text === null) this.#declined.add(wait.id)
    else if (text.trim() === '') {
      screen.say(['an empty line answers nothing; ctrl+d leaves the question open'])
    } else {
      act(answerTo(wait, text, agents)).then(settled, failed)
      return
    }
    settled()
  }
}
