/**
 * Words that are typed while a run is followed on a terminal: a line and enter go to the agent as
 * an interjection, as the screen sends them; what came of them is printed among the run's lines.
 */
import type { OperatorCommand, OperatorReply } from '../../protocol/acts/operator.ts'
import { limits, type Emitted } from '../../protocol/records/records.ts'
import { safeLine, safeLines } from '../../present/text/safe.ts'
import type { Context } from '../command/context.ts'
import { CliFailure, problemWords } from '../command/failure.ts'
import type { Typing } from '../command/ports.ts'
import type { RunScreen } from '../command/run-screen.ts'
import { tooLong } from '../command/typed-line.ts'

export type TypedPorts = {
  context: Pick<Context, 'ports' | 'ids'>
  screen: RunScreen
  /** Whom the words are for; null: nobody, and nothing is read. */
  agent_id: string | null
  act: (command: OperatorCommand) => Promise<OperatorReply & { ok: true }>
}

export class TypedWords {
  readonly #ports: TypedPorts
  #typing: Typing | null = null
  /** The person ended typing, or the run is over. */
  #isOver = false
  /** Messages whose receipt is to come. */
  readonly #sent = new Set<string>()
  /** Somebody wants the keyboard when no line is begun. */
  #freed: () => void = () => {}

  constructor(ports: TypedPorts) {
    this.#ports = ports
    this.#isOver = ports.agent_id === null
  }

  /** Begins, or goes on behind a question. */
  resume(): void {
    const { context, screen } = this.#ports
    if (this.#isOver || this.#typing !== null) return
    this.#typing = context.ports.typing({
      changed: (text, cursor) => {
        screen.typed(text, cursor)
        if (text === '') this.#freed()
      },
      tooLong: (missing) => screen.say([tooLong(missing, limits.operator_text.value)]),
      line: (text) => this.#line(text),
      ended: () => this.#end(),
    })
  }

  /**
   * Resolves when no line is begun and no key is on its way to one: a question takes the keyboard
   * then. `held` is called where it has to wait for that.
   */
  async free(held: () => void): Promise<void> {
    await this.#typing?.keysRead()
    if (this.#typing?.isBegun() === true) held()
    while (this.#typing?.isBegun() === true) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#freed = resolve
      await promise
      await this.#typing.keysRead()
    }
  }

  /** What was being typed stays as a line that was not sent. */
  pause(): void {
    const left = this.#typing?.stop() ?? ''
    this.#typing = null
    this.#ports.screen.typed('', 0)
    if (left.trim() !== '') this.#ports.screen.say([`not sent: ${safeLine(left)}`])
  }

  stop(): void {
    this.#isOver = true
    this.pause()
    this.#freed()
  }

  /** The agent was shown what it was sent: its receipt. */
  take(events: readonly Emitted[]): void {
    const { context, screen } = this.#ports
    for (const { event } of events) {
      if (event.type !== 'message_shown' || !this.#sent.delete(event.id)) continue
      screen.say([`${context.ids.short(event.id)} is seen in request ${event.round}`])
    }
  }

  #end(): void {
    this.#isOver = true
    this.#typing = null
    this.#ports.screen.typed('', 0)
    this.#ports.screen.say(['typing is over; the run goes on'])
    this.#freed()
  }

  #line(text: string): void {
    const { screen, agent_id, act, context } = this.#ports
    screen.typed('', 0)
    this.#freed()
    if (text.trim() === '' || agent_id === null) return
    screen.say(safeLines(text).map((line, at) => `${at === 0 ? '>' : ' '} ${line}`))
    const priority = 'interject' as const
    act({ do: 'send', agent_id, text, priority, surface: 'run_once' }).then(
      ({ said, message_id }) => {
        if (message_id !== null) this.#sent.add(message_id)
        screen.say([safeLine(context.ids.within(said))])
      },
      (error: unknown) => screen.say([`not sent: ${whyNot(error)}`]),
    )
  }
}

function whyNot(error: unknown): string {
  if (error instanceof CliFailure) return problemWords(error.problem)
  return safeLine(error instanceof Error ? error.message : String(error))
}
