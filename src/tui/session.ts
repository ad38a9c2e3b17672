/**
 * The screen as it runs: the model, and everything around it that is not pure. It reads what the
 * view wants, follows the stream, carries out acts, keeps drafts, and tells who draws that there
 * is another frame. Reads and acts go through the client alone.
 */
import {
  failureSentence,
  mayHaveArrived,
  undoneSentence,
  type ApiResult,
  type Api,
} from '../client/api.ts'
import { Holon, isKeyed } from '../client/holon.ts'
import type { Route } from '../client/routes.ts'
import type { OutboxMessage } from '../present/history/input.ts'
import { wants } from '../present/presentation.ts'
import { ShortIds } from '../present/text/short-id.ts'
import { fetchesOf } from './fetches.ts'
import { frameOf } from './screens/frame.ts'
import { aView, type Act, type TuiModel } from './model/model.ts'
import { pageWanted, type PageWanted } from './pages.ts'
import { whole } from './writing/pastes.ts'
import type { TuiOptions, TuiPorts } from './ports.ts'
import { Connection } from './connection.ts'
import { copySequence, lookedAt } from './signals.ts'
import type { Effect, TuiMessage } from './model/step.ts'
import { update } from './input/update.ts'
import { draftKey } from './model/draft-key.ts'
import { usualAgents } from '../protocol/usual-agents.ts'
import { sameLine, type Line } from './drawing/line.ts'

/** Milliseconds. */
const draftPause = 500
const statePause = 250
/** A reading that failed is tried again after so long. */
const readPause = 2_000
/** What is answered at all is answered sooner, but for acts that wait for something to end. */
const answerPause = 3_000

/** Why it ended: the person went, or wants to set up a model and come back. */
export type SessionEnd = 'left' | 'set_up'

export class Session {
  model: TuiModel
  readonly #ports: TuiPorts
  readonly #api: () => Api | null
  readonly #connection: Connection
  readonly #listeners = new Set<() => void>()
  readonly #reading = new Map<string, string>()
  /** Pages that brought nothing, until they are asked for again. */
  readonly #resting = new Set<string>()
  readonly #left = Promise.withResolvers<SessionEnd>()
  #frame: readonly Line[] = []
  #drawnOf: TuiModel | null = null
  #tick: (() => void) | null = null
  #drafts: (() => void) | null = null
  #stateDue: (() => void) | null = null
  #closed = false
  /** Whether the terminal is looked at; null: it has not said. */
  focused: boolean | null = null
  /** Draws everything again. */
  onRedraw: () => void = () => {}
  /** Gives the terminal away while another program runs. */
  onPage: (run: () => Promise<void>) => Promise<void> = (run) => run()

  constructor(ports: TuiPorts, options: TuiOptions, size: TuiModel['size']) {
    this.#ports = ports
    const { home, ascii, colour, motion, called, utc, opens, says, first } = options
    this.model = {
      size,
      look: { ascii, colour, motion, called },
      where: { url: '', home },
      p: null,
      early: null,
      now: new Date(ports.clock.now()).toISOString(),
      utc,
      clocks: false,
      only_pane: false,
      views: [aView({ at: 'home' })],
      last: null,
      writing: null,
      drafts: new Map(),
      unsettled: new Map(),
      history: [],
      overlay: null,
      details: new Map(),
      notice: says === null ? null : { text: says, bad: false },
      trouble: null,
      leaving: false,
      key_at: 0,
      ids: new ShortIds(),
      opens,
      receipt: null,
      first,
    }
    this.#connection = new Connection(ports, (message) => this.send(message))
    this.#api = () => this.#connection.api
  }

  /** Resolves when the person leaves. */
  async run(): Promise<SessionEnd> {
    this.#connection.start()
    const drafts = await this.#ports.drafts.read()
    this.send({ kind: 'drafts', drafts })
    return this.#left.promise
  }

  close(end: SessionEnd = 'left'): void {
    this.#closed = true
    this.#connection.close()
    for (const cancel of [this.#tick, this.#drafts, this.#stateDue]) cancel?.()
    this.#left.resolve(end)
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** The same lines while nothing on them has changed. */
  frame = (): readonly Line[] => {
    if (this.#drawnOf !== this.model) {
      const next = frameOf(this.model)
      this.#frame = next.map((line, n) =>
        sameLine(line, this.#frame[n]) ? (this.#frame[n] ?? line) : line,
      )
      this.#drawnOf = this.model
    }
    return this.#frame
  }

  /** Whether it follows the daemon, and what the view wants has been read. */
  isWhole(): boolean {
    return this.model.p?.link.kind === 'live' && this.#reading.size === 0
  }

  /** A key by its name, with the text it types. */
  key(key: string, text: string): void {
    this.send({ kind: 'key', key, text, at: this.#ports.clock.now() })
  }

  send(message: TuiMessage): void {
    if (this.#closed) return
    const before = this.model
    const [model, effects] = update(before, message)
    this.model = model
    for (const effect of effects) this.#carry(effect)
    if (model !== before) this.#changed()
  }

  /** What the program's clock says, as a time of the server. */
  #time(): string {
    return new Date(this.#ports.clock.now() + this.#connection.offset_ms).toISOString()
  }

  #changed(): void {
    this.#read()
    this.#keepTime()
    for (const listener of this.#listeners) listener()
  }

  /** Seconds tick only beside what runs, and only while it is true. */
  #keepTime(): void {
    const runs = ticks(this.model)
    if (!runs) {
      this.#tick?.()
      this.#tick = null
      return
    }
    this.#tick ??= this.#ports.clock.after(1_000, () => {
      this.#tick = null
      this.send({ kind: 'time', now: this.#time() })
    })
  }

  #read(): void {
    const { model } = this
    const { p } = model
    if (p === null || p.link.kind !== 'live') return
    if (wants(p).some(({ kind }) => kind === 'state')) {
      this.#stateDue ??= this.#ports.clock.after(statePause, () => {
        void this.#connection.readState().finally(() => {
          this.#stateDue = null
          this.#changed()
        })
      })
    }
    for (const { key, version, route, given } of fetchesOf(model)) {
      const known = model.details.get(key)
      if (known?.version === version || this.#reading.has(key)) continue
      this.#reading.set(key, version)
      void this.#fetch(key, version, route, given)
    }
    const page = pageWanted(model)
    if (page !== null && !this.#reading.has(page.key) && !this.#resting.has(page.key)) {
      this.#reading.set(page.key, '')
      void this.#page(page)
    }
  }

  /** A page that brought nothing new is not asked for again at once. */
  async #page(page: PageWanted): Promise<void> {
    const before = this.model.p?.feeds
    await this.#connection.readPage(page)
    this.#reading.delete(page.key)
    if (this.model.p?.feeds === before || this.model.notice !== null) {
      this.#resting.add(page.key)
      this.#ports.clock.after(readPause, () => {
        this.#resting.delete(page.key)
        if (!this.#closed) this.#read()
      })
    }
    if (!this.#closed) this.#changed()
  }

  async #fetch(key: string, version: string, route: string, given: object): Promise<void> {
    const api = this.#api()
    if (api === null) return void this.#reading.delete(key)
    const answer = await new Holon(api).ask(route as Route, given)
    const failure = answer.ok ? null : failureSentence(answer.failure)
    this.#reading.delete(key)
    this.send({ kind: 'read', key, version, failure, value: answer.ok ? answer.value : null })
    if (failure !== null) this.#ports.clock.after(readPause, () => this.#closed || this.#read())
  }

  #carry(effect: Effect): void {
    switch (effect.do) {
      case 'act':
        return void this.#act(effect)
      case 'try_example':
        return void this.#tryExample(effect.makes)
      case 'keep_drafts':
        return this.#keepDrafts()
      case 'copy':
        return void this.#copy(effect.text, effect.what)
      case 'page':
        return void this.#away(() => this.#ports.page(effect.text)).catch((error: unknown) =>
          this.#complain(error),
        )
      case 'edit':
        return void this.#edit(effect.text)
      case 'suspend':
        return void this.#away(() => this.#ports.suspend())
          .then(() => this.#connection.again())
          .catch((error: unknown) => this.#complain(error))
      case 'reconnect':
        return this.#connection.begin()
      case 'redraw':
        return this.onRedraw()
      case 'leave':
        return void this.#writeDrafts().finally(() => this.close(effect.end))
    }
  }

  /** Asks the server for it; what came of it is a notice of the model. */
  async act(act: Act): Promise<void> {
    await this.#act({ do: 'act', act })
  }

  async #act({ act, makes, sent, box, returns_to }: ActEffect): Promise<boolean> {
    const route = act.route as Route
    const key = act.key ?? this.#ports.api.mint_key()
    const local = sent === undefined ? null : { ...sent, key, at: this.#time() }
    const tell = (state: OutboxMessage['state']) => {
      if (local === null) return
      this.send({ kind: 'input', input: { kind: 'sent', sent: { ...local, state } } })
    }
    tell({ kind: 'sending' })
    const made = makes === undefined ? null : await this.#made(makes)
    const answer = made ?? (await this.#asked(route, act, key))
    if (answer.ok) {
      const { message_id } = Object(answer.value) as { message_id?: string }
      if (message_id !== undefined) tell({ kind: 'accepted', message_id })
      if (returns_to !== undefined) {
        const { message } = Object(answer.value) as { message: { body: string } }
        this.send({ kind: 'taken_back', target: returns_to, text: message.body })
      } else if (local === null) this.send({ kind: 'acted', says: act.says, failure: null })
      return true
    }
    const failure = undoneSentence(answer.failure)
    const isUnknown = mayHaveArrived(answer.failure)
    const problem = { code: 'bad_request', detail: failure } as const
    tell(isUnknown ? { kind: 'unknown' } : { kind: 'refused', problem })
    const unsettled = isUnknown && isKeyed(route) ? { ...act, key } : null
    if (box === undefined) this.send({ kind: 'acted', says: '', failure })
    else this.send({ kind: 'undone', box, failure, unsettled })
    return false
  }

  /** Null: the agent is there now; else why it was not made. */
  async #made(act: Act): Promise<ApiResult<unknown> | null> {
    const answer = await this.#asked(act.route as Route, act, this.#ports.api.mint_key())
    if (answer.ok) return null
    const { failure } = answer
    // Somebody else was faster.
    return failure.kind === 'problem' && failure.problem.code === 'agent_exists' ? null : answer
  }

  async #tryExample(makes: Act | null): Promise<void> {
    const text = await this.#ports.example()
    if (text === null) {
      const failure = 'the examples did not come with this program'
      return this.send({ kind: 'acted', says: '', failure })
    }
    const given = { agent: usualAgents.runbook, body: { text } }
    const says = 'what the runbook finds stands here, and esc leads home'
    const act = { route: 'POST /agents/{agent}/messages', given, says }
    const isDone = await this.#act({ do: 'act', act, ...(makes === null ? {} : { makes }) })
    // Only an agent that is there has a thread.
    const agent = { at: 'item', agent_id: usualAgents.runbook, work_item_id: null } as const
    if (isDone) this.send({ kind: 'place', place: { ...agent, tab: 'thread' } })
  }

  /** An act without an answer is a doubt about the daemon, which is looked into at once. */
  async #asked(route: Route, { given }: Act, key: string): Promise<ApiResult<unknown>> {
    const api = this.#api()
    if (api === null) return notConnected
    const calm = this.#ports.clock.after(answerPause, () => void this.#connection.doubt())
    const options = isKeyed(route) ? { idempotency_key: key } : {}
    return new Holon(api).ask(route, given, options).finally(calm)
  }

  async #copy(text: string, what: string): Promise<void> {
    const way = (await this.#ports.copy(text).catch(() => null)) ?? this.#copyByTerminal(text)
    const said = what.length > 60 ? 'it' : what
    const failure =
      way === null ? 'could not copy: too long for the terminal, and no clipboard' : null
    this.send({ kind: 'acted', says: `copied ${said} by ${way}`, failure })
  }

  /** Where no program takes it the terminal may, also far away; it does not say whether it did. */
  #copyByTerminal(text: string): string | null {
    const sequence = copySequence(text)
    if (sequence === null) return null
    this.#ports.stdout.write(sequence)
    return 'the terminal (OSC 52), if it allows that'
  }

  /** While another program has the terminal, the terminal tells that one nothing of ours. */
  async #away(run: () => Promise<void>): Promise<void> {
    const { stdout } = this.#ports
    stdout.write(lookedAt.off)
    try {
      await this.onPage(run)
    } finally {
      stdout.write(lookedAt.on)
    }
  }

  async #edit(text: string): Promise<void> {
    try {
      await this.#away(async () => {
        this.send({ kind: 'edited', text: await this.#ports.edit(text) })
      })
    } catch (error) {
      this.#complain(error)
    }
  }

  #keepDrafts(): void {
    this.#drafts ??= this.#ports.clock.after(draftPause, () => void this.#writeDrafts())
  }

  async #writeDrafts(): Promise<void> {
    this.#drafts?.()
    this.#drafts = null
    const { drafts, writing } = this.model
    const now = new Map(drafts)
    if (writing !== null && writing.text.text.trim() !== '') {
      now.set(draftKey(writing.prompt), whole(writing.text))
    }
    now.delete('find')
    await this.#ports.drafts
      .write(Object.fromEntries(now))
      .catch((error: unknown) => this.#complain(error))
  }

  #complain(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error)
    this.send({ kind: 'notice', notice: { text, bad: true } })
  }
}

type ActEffect = Extract<Effect, { do: 'act' }>

const notConnected = {
  ok: false,
  failure: { kind: 'unreachable', status: null, message: 'no connection', refused: true },
} as const

/** Whether a second that passes changes something that is shown. */
function ticks({ p, look, clocks, trouble }: TuiModel): boolean {
  if (p === null) return false
  if (p.link.kind === 'stale') return trouble !== null
  if (!look.motion || clocks || p.link.kind !== 'live') return false
  return p.state.turns.length > 0 || p.state.tasks.length > 0
}
