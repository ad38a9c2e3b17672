/**
 * One run from its first message to its last line: prints notices as they come, puts questions to
 * the person, ends at a safe point when it is interrupted, and decides with `runState` when nothing
 * is pending any more.
 */
import { agentView } from '../../protocol/agent-view.ts'
import type { OperatorCommand, OperatorReply } from '../../protocol/acts/operator.ts'
import { isUnderWay } from '../../protocol/records/records.ts'
import type { Agent, Emitted, Facts, Turn } from '../../protocol/records/records.ts'
import { RunLines, type RunLine } from '../../present/lines/run-lines.ts'
import { safeJson, safeLine } from '../../present/text/safe.ts'
import { wantsColour, zoneOf, type Context } from '../command/context.ts'
import { exits, refused, type Exit } from '../command/failure.ts'
import type { CheckedRunbook } from '../command/ports.ts'
import { nothingCameOf, RunDeeds } from './deeds.ts'
import { headLine } from './head.ts'
import type { RunNotice, OwnedHome } from '../command/run-ports.ts'
import { LiveWords } from './live-words.ts'
import { RunProgress } from './progress.ts'
import { AskedQuestions } from './asked-questions.ts'
import { TypedWords } from './typed-words.ts'
import { RunScreen } from '../command/run-screen.ts'
import { runState, runViewOf, worstOf, type RunState } from './state.ts'
import { wordsOf, type RunTarget } from './target.ts'

export type SessionOptions = {
  target: RunTarget
  agents: readonly Agent[]
  ask: boolean
  /** Said at the head of the run. */
  warnings: readonly string[]
  /** Told at the head of one that resumes: what came before it. */
  missed: readonly RunLine[]
}

/** Milliseconds in which two interrupts are one: a key press may arrive by two ways. */
const oneInterrupt = 100
/** Milliseconds after which other terminals are let in, if nothing happened before. */
const doorDelay = 300
/** Milliseconds a second interrupt waits for the store before it leaves anyway. */
const leaveAtOnce = 500

type Warned = Pick<OperatorReply & { ok: true }, 'warnings'>
type End = { exit: Exit; because: string }

export class RunSession {
  readonly #context: Context
  readonly #owned: OwnedHome
  readonly #options: SessionOptions
  readonly #screen: RunScreen
  readonly #lines: RunLines
  readonly #progress: RunProgress
  readonly #words: LiveWords
  readonly #ended = Promise.withResolvers<End>()
  /** What this run made or worked on, by agent. */
  readonly #mine = new Map<string, Set<string>>()
  readonly #deeds = new Map<string, RunDeeds>()
  readonly #lastTurns = new Map<string, Pick<Turn, 'outcome' | 'reason'>>()
  readonly #typed: TypedWords
  readonly #asked: AskedQuestions
  readonly #warnings: Warned['warnings'] = []
  #fault: string | null = null
  #interruptedAt: number | null = null
  #doorOpened = false
  #jsonFrom = 0
  #jsonLine: Promise<void> = Promise.resolve()
  closing: 'safe_point' | 'now' = 'safe_point'

  /** What the runtime gave up for, which has been said. */
  get fault(): string | null {
    return this.#fault
  }

  constructor(context: Context, owned: OwnedHome, options: SessionOptions) {
    this.#context = context
    this.#owned = owned
    this.#options = options
    const { ports, flags, ink } = context
    const onTerminal = ports.terminal.stderr && flags.plain !== true && flags.json !== true
    this.#screen = new RunScreen(ports, {
      columns: () => (onTerminal ? ports.terminal.columns() || 100 : null),
      answersOnTerminal: ports.terminal.stdout && flags.plain !== true,
      ink: { ...ink, colour: wantsColour(ports, flags, ports.terminal.stderr) },
      quiet: flags.quiet === true || flags.json === true,
      silent: flags.json === true,
      zone: () => zoneOf(context),
    })
    const [agent] = options.agents
    const facts = agent === undefined ? null : owned.host.facts(agent.id)
    this.#lines = new RunLines({
      ids: context.ids,
      zone: () => zoneOf(context),
      facts,
      turns: turnCount(facts),
    })
    const followed = options.agents.map(({ id }) => id)
    this.#words = new LiveWords(context, owned.host, this.#screen, followed)
    this.#progress = new RunProgress(context, owned, this.#screen, this.#lines)
    const of = {
      context,
      screen: this.#screen,
      act: (command: OperatorCommand) => this.#act(command),
    }
    this.#typed = new TypedWords({ ...of, agent_id: this.#typesTo() })
    this.#asked = new AskedQuestions({
      ...of,
      host: owned.host,
      agents: options.agents,
      typed: this.#typed,
      settled: () => this.#check(),
      failed: (error) => this.#ended.reject(error),
    })
  }

  async run(): Promise<Exit> {
    const { host } = this.#owned
    const { clock } = this.#context.ports
    const startedAt = clock.monotonic()
    if (this.#context.flags.json === true) this.#jsonFrom = await this.#owned.last_global_seq()
    for (const agent of this.#options.agents) this.#follow(agent)
    const { agents, warnings } = this.#options
    this.#screen.say([headLine(this.#context, agents), ...new Set(warnings)])
    const unsubscribe = host.subscribe((notice) => this.#notice(notice))
    const stopListening = this.#context.ports.on_interrupt(() => this.#interrupt())
    const cancelDoor = clock.after(doorDelay, () => this.#openDoor())
    try {
      await Promise.all([this.#say(), this.#screen.ready()])
      this.#screen.lines(this.#options.missed)
      await host.open()
      this.#typed.resume()
      this.#check()
      const end = await this.#ended.promise
      await this.#finish(end, clock.monotonic() - startedAt)
      return end.exit
    } finally {
      cancelDoor()
      stopListening()
      unsubscribe()
      this.#asked.stop()
      this.#still()
    }
  }

  /** Whom a typed line is for: of several agents nobody could tell. */
  #typesTo(): string | null {
    const { agents, ask } = this.#options
    const { ports, flags } = this.#context
    const [agent, ...others] = agents
    const mayType = ask && flags.quiet !== true && ports.terminal.stdin && this.#screen.isTerminal
    return mayType && agent !== undefined && others.length === 0 ? agent.id : null
  }

  /** Nothing is drawn any more but by what is printed. */
  #still(): void {
    for (const part of [this.#progress, this.#words, this.#typed]) part.stop()
    this.#screen.end()
  }

  #follow(agent: Agent): void {
    const mine = new Set<string>()
    this.#mine.set(agent.id, mine)
    this.#deeds.set(agent.id, new RunDeeds())
    if (this.#options.target.kind !== 'resume') return
    for (const item of this.#owned.host.facts(agent.id)?.rows('work_items') ?? []) {
      const checked = item.checks.some(isUnderWay)
      if (item.state === 'open' || checked) mine.add(item.id)
    }
  }

  /** The operator's act of this run: one message, or everything that lets open work go on. */
  async #say(): Promise<void> {
    const { target, agents } = this.#options
    for (const agent of agents) {
      if (agent.state === 'stopped' || this.#isHeld(agent.id)) {
        await this.#act({ do: 'start_agent', agent_id: agent.id })
      }
      if (target.kind === 'runbook' && target.checked !== null) {
        await this.#make(agent.id, target.checked)
      } else if (target.kind !== 'resume') {
        const surface = 'run_once'
        const sent = { do: 'send', agent_id: agent.id, ...wordsOf(target), surface } as const
        this.#warn(await this.#act(sent))
      } else if (agent.model === 'runbook') {
        await this.#unblock(agent.id)
      }
    }
  }

  /** What is to be known of what was sent: on the terminal at once, else with the last line. */
  #warn({ warnings }: Warned): void {
    this.#warnings.push(...warnings)
    this.#screen.say(warnings.map(({ message }) => safeLine(`! ${message}`)))
  }

  /** Checks are the operator's: an item that has some is made here and not by the agent. */
  async #make(agent_id: string, { titles, checks, ...given }: CheckedRunbook): Promise<void> {
    const todo_list = titles.map((text) => ({ text, state: 'pending' as const }))
    const plan_status = 'ready' as const
    const item = { ...given, plan_status, todo_list, checks: [...checks] }
    const { id } = await this.#act({ do: 'create_item', agent_id, ...item })
    if (id !== null) this.#mine.get(agent_id)?.add(id)
  }

  #isHeld(agent: string): boolean {
    const waits = this.#owned.host.facts(agent)?.rows('waits') ?? []
    return [...waits].some((wait) => wait.wake === 'system' && wait.status === 'active')
  }

  async #unblock(agent: string): Promise<void> {
    for (const item of this.#owned.host.facts(agent)?.rows('work_items') ?? []) {
      if (item.state !== 'open' || item.blocked_by === null) continue
      await this.#act({ do: 'unblock', agent_id: agent, work_item_id: item.id })
    }
  }

  async #act(command: OperatorCommand) {
    const reply = await this.#owned.host.act(command)
    if (!reply.ok) throw refused(reply)
    return reply
  }

  #notice(notice: RunNotice): void {
    if (notice.kind === 'degraded_entered') {
      return this.#screen.say([`nothing can be written, it waits: ${notice.message}`])
    }
    if (notice.kind === 'degraded_left') return this.#screen.say(['it goes on'])
    const mine = this.#mine.get(notice.agent_id)
    switch (notice.kind) {
      case 'committed':
        if (mine) this.#committed(notice.agent_id, notice.events, mine)
        if (this.#context.flags.json === true) this.#streamJson()
        return
      case 'live':
        if (mine) for (const part of [this.#progress, this.#words]) part.heard()
        this.#openDoor()
        return
      case 'retry':
        this.#words.settle()
        if (mine) this.#progress.retried(notice)
        return
      case 'resting':
        this.#openDoor()
        if (mine) this.#progress.rested(notice.next)
        this.#check()
        return
      case 'fault':
        this.#fault = notice.message
        this.#check()
        return
    }
  }

  #committed(agent: string, events: readonly Emitted[], mine: Set<string>): void {
    for (const { event, meta } of events) {
      this.#deeds.get(agent)?.take({ event })
      if (meta.turn_id !== null && meta.work_item_id !== null) mine.add(meta.work_item_id)
      if (event.type === 'message_admitted' && event.work_item_id !== null) {
        mine.add(event.work_item_id)
      }
      if (event.type === 'turn_ended') this.#lastTurns.set(agent, event)
      if (event.type === 'round_recorded') this.#openDoor()
      if (event.type === 'wait_resolved' || event.type === 'wait_cancelled') {
        this.#asked.settle(event.id)
      }
    }
    this.#words.settle()
    this.#progress.take(events)
    this.#typed.take(events)
  }

  /** Events in the shape every reader gets, as JSON lines, each once and in order. */
  #streamJson(): void {
    this.#jsonLine = this.#jsonLine.then(async () => {
      const some = await this.#owned.events(this.#jsonFrom)
      this.#jsonFrom = some.at(-1)?.global_seq ?? this.#jsonFrom
      this.#context.ports.out(some.map((event) => `${safeJson(event)}\n`).join(''))
    })
    // A failure to read is the run's failure: it is awaited at the end.
    this.#jsonLine.catch((error: unknown) => this.#ended.reject(error))
  }

  #openDoor(): void {
    if (this.#doorOpened) return
    this.#doorOpened = true
    this.#owned.open_door().catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error)
      this.#screen.say([`other terminals cannot reach this run: ${why}`])
    })
  }

  /** Looks whether anything is pending; ends the run, or puts a question, when nothing is. */
  #check(): void {
    if (this.#interruptedAt !== null) return
    const state = this.#state()
    this.#askNext()
    if (state.do === 'go_on' || this.#asked.isAsking) return
    this.#ended.resolve(state)
  }

  #state(): RunState {
    return worstOf(this.#options.agents.map((agent) => this.#stateOf(agent.id)))
  }

  #stateOf(agent: string): RunState {
    const { host } = this.#owned
    const facts = host.facts(agent)
    const next = host.next(agent)
    if (facts === null || next === null) throw new Error(`agent ${agent} is gone`)
    const view = agentView(facts, zoneOf(this.#context).now, true)
    return runState({
      ...runViewOf(view, next, this.#mine.get(agent) ?? new Set()),
      last_turn: this.#lastTurns.get(agent) ?? null,
      came_to_nothing: this.#cameToNothing(agent),
      asking: this.#asked.isAsking,
      broken: this.#fault !== null,
    })
  }

  /** A run that resumes with nothing to do has not failed: no turn ended in it. */
  #cameToNothing(agent: string): string | null {
    const last = this.#lastTurns.get(agent)
    const deeds = this.#deeds.get(agent)
    return last === undefined || deeds === undefined ? null : nothingCameOf(deeds, last.reason)
  }

  #askNext(): void {
    const { stdin, stderr } = this.#context.ports.terminal
    const questions = this.#asked.all()
    this.#progress.questions = questions.length
    if (!this.#options.ask || this.#context.flags.json === true || !stdin || !stderr) return
    if (this.#fault === null) this.#asked.askNext(questions)
  }

  #interrupt(): void {
    const now = this.#context.ports.clock.monotonic()
    const before = this.#interruptedAt
    if (before !== null && now - before < oneInterrupt) return
    this.#interruptedAt = now
    if (before !== null) {
      this.closing = 'now'
      this.#context.ports.clock.after(leaveAtOnce, () => this.#left('left at once'))
      this.#owned.host.close('now').then(
        () => this.#left('left at once'),
        (error: unknown) => this.#ended.reject(error),
      )
      return
    }
    this.#asked.stop()
    if (this.#owned.outlives) return this.#left('the daemon goes on with it')
    this.#screen.say(['ends at the next safe point; ctrl+c again leaves at once'])
    this.#owned.host.close('safe_point').then(
      () => this.#left('ended at a safe point'),
      (error: unknown) => this.#ended.reject(error),
    )
  }

  #left(because: string): void {
    this.#ended.resolve({ exit: exits.interrupted, because })
  }

  async #finish(end: End, ms: number): Promise<void> {
    const { agents } = this.#options
    this.#still()
    this.#screen.lines(this.#lines.flush())
    const failed = [...this.#deeds.values()].map(({ failed_command }) => failed_command)
    const of = {
      context: this.#context,
      host: this.#owned.host,
      outlives: this.#owned.outlives,
      agents,
      mine: this.#mine,
      failed_commands: failed.filter((one) => one !== null),
    }
    // Why an item is as it is brings the schemas of the API with it: nothing a start needs.
    const { endLines, interruptLines } = await import('./end.ts')
    if (end.exit === exits.interrupted) {
      this.#screen.say(interruptLines(of, end.because))
    } else {
      const counts = this.#lines.counts
      this.#screen.say(endLines(of, { ...end, fault: this.#fault, counts, ms }))
    }
    if (this.#context.flags.json !== true) return
    await this.#jsonLine
    const { host } = this.#owned
    const isOpen = (id: string) =>
      agents.some((agent) => host.facts(agent.id)?.row('work_items', id)?.state === 'open')
    const left = agents.flatMap(({ id }) => [...(this.#mine.get(id) ?? [])]).filter(isOpen)
    const { turns, calls, usage } = this.#lines.counts
    const { exit, because } = end
    const run = { exit, because, turns, calls, usage, left, warnings: this.#warnings }
    this.#context.ports.out(`${safeJson({ run })}\n`)
  }
}

function turnCount(facts: Facts | null): number {
  const pacing = facts?.row('pacing', facts.agent_id)
  return pacing?.kind === 'agent' ? pacing.turn_count : 0
}
