/**
 * What a driver does with its orders. One prompt is open at a time: a new one takes the open one's
 * place, which is cancelled first. Each step is in the journal before it is taken, so that the next
 * driver knows what was asked and never asks it again.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import { AcpAgent, AgentFault, type AgentProgram } from './agent.ts'
import { JournalFold } from './fold.ts'
import { type AcpRecord, JOURNAL, JournalWriter, parseJournal } from './journal.ts'
import {
  ACP_JOURNAL_BYTES,
  ACP_LIST_LENGTH,
  ACP_MINUTE_MESSAGES,
  ACP_PROMPT_BYTES,
  ACP_PROMPT_MESSAGES,
  ACP_PROMPT_REQUESTS,
} from './limits.ts'
import { type AcpOrder, parsePromptFile, promptFileName, type PromptFile } from './orders.ts'
import { optionsOf, recordOf, toolCallOf, word } from './updates.ts'
import type { Clock } from '../ports.ts'

/** Milliseconds are those of `limits.ts`, which tests make shorter. */
export type DriveSettings = {
  program: AgentProgram
  start_ms: number
  silence_ms: number
  prompt_ms: number
  cancel_ms: number
}

type Question = {
  option_ids: readonly string[]
  answer: (outcome: RequestPermissionResponse['outcome']) => void
}
type Prompt = { request_id: string; file: PromptFile }
type Running = {
  session_id: string | null
  cancelled: boolean
  began_at_bytes: number
  messages: number
  requests: number
  /** Milliseconds of work that are left, and since when it works; null: a question is open. */
  left_ms: number
  works_since: number | null
}

export class Drive {
  readonly #folder: string
  readonly #settings: DriveSettings
  readonly #clock: Clock
  readonly #journal: JournalWriter
  readonly #taken: Set<string>
  readonly #questions = new Map<string, Question>()
  #asked = 0
  #session_id: string | null
  #agent: AcpAgent | null = null
  /** Updates of a session that is being loaded repeat what was said. */
  #loading = false
  #running: Running | null = null
  #next: Prompt | null = null
  #serving: Promise<void> = Promise.resolve()
  #stopTimer: () => void = () => {}
  #stopWork: () => void = () => {}
  /** Messages since the beginning of a minute. */
  #minute = { began: 0, messages: 0 }

  constructor(folder: string, settings: DriveSettings, clock: Clock) {
    this.#folder = folder
    this.#settings = settings
    this.#clock = clock
    const path = join(folder, JOURNAL)
    this.#journal = new JournalWriter(path, () => new Date(clock.now()).toISOString())
    const before = new JournalFold()
    for (const line of parseJournal(readFileSync(path)).lines) {
      if (line.type === 'permission_asked') this.#asked += 1
      before.take(line)
    }
    this.#taken = before.taken
    this.#session_id = before.session_id
    this.#write({ type: 'driver_started', pid: process.pid })
    for (let { question } = before; question !== null; question = before.question) {
      const { permission_id } = question
      const fell = { type: 'permission_answered', permission_id, option_id: null } as const
      before.take({ at: '', ...fell, request_id: null })
      this.#write({ ...fell, request_id: null })
    }
    if (before.open_prompt !== null) {
      const message = 'its driver ended in the middle'
      this.#failed(before.open_prompt, new AgentFault('driver_lost', message))
    }
  }

  /** The same order again is nothing. Throws what the disk says. */
  take(order: Exclude<AcpOrder, { order: 'end' }>): void {
    if (this.#taken.has(order.request_id)) return
    this.#taken.add(order.request_id)
    switch (order.order) {
      case 'prompt':
        return this.#takePrompt(order.request_id)
      case 'answer':
        return this.#answer(order.request_id, order.permission_id, order.option)
      case 'cancel':
        this.#write({ type: 'cancel_received', request_id: order.request_id }, true)
        return this.#cancel()
    }
  }

  /** Ends the agent. Nothing may be taken afterwards. */
  async end(why: string): Promise<void> {
    this.#next = null
    await this.#agent?.stop(new AgentFault('agent_ended', 'it was stopped'))
    await this.#serving
    this.#write({ type: 'driver_ended', why }, true)
    this.#journal.close()
  }

  #takePrompt(request_id: string): void {
    let file: PromptFile | null = null
    try {
      file = parsePromptFile(readFileSync(join(this.#folder, promptFileName(request_id)), 'utf8'))
    } catch (error) {
      console.error(error)
    }
    if (file === null) {
      this.#write({ type: 'order_refused', request_id, why: 'its file cannot be read' }, true)
      return
    }
    const replaced = this.#next
    this.#write({ type: 'prompt_received', request_id }, true)
    this.#next = { request_id, file }
    if (replaced !== null) {
      this.#write({ type: 'prompt_ended', request_id: replaced.request_id, stop: 'cancelled' })
    }
    this.#cancel()
    if (this.#running === null) this.#serving = this.#serve()
  }

  #answer(request_id: string, permission_id: string, option: number | null): void {
    const question = this.#questions.get(permission_id)
    const option_id = option === null ? null : question?.option_ids[option - 1]
    if (question === undefined || option_id === undefined) {
      const why = question === undefined ? 'nobody asks that any more' : 'there is no such option'
      return this.#write({ type: 'order_refused', request_id, why }, true)
    }
    this.#questions.delete(permission_id)
    this.#write({ type: 'permission_answered', permission_id, option_id, request_id }, true)
    question.answer(
      option_id === null ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option_id },
    )
    this.#listen()
  }

  /** Takes back the open prompt and its questions; an agent that ignores it is ended. */
  #cancel(): void {
    const running = this.#running
    if (running === null || running.cancelled) return
    running.cancelled = true
    this.#dropQuestions()
    if (running.session_id === null) return
    this.#agent?.cancel(running.session_id)
    const fault = new AgentFault('silent', 'it did not end when it was cancelled')
    this.#limit(this.#settings.cancel_ms, fault)
  }

  #dropQuestions(): void {
    for (const [permission_id, { answer }] of this.#questions) {
      const fell = { permission_id, option_id: null, request_id: null }
      this.#write({ type: 'permission_answered', ...fell }, true)
      answer({ outcome: 'cancelled' })
    }
    this.#questions.clear()
  }

  async #serve(): Promise<void> {
    while (this.#next !== null) {
      const { request_id, file } = this.#next
      this.#next = null
      const began_at_bytes = this.#journal.size
      const running: Running = {
        session_id: null,
        cancelled: false,
        began_at_bytes,
        messages: 0,
        requests: 0,
        left_ms: this.#settings.prompt_ms,
        works_since: null,
      }
      this.#running = running
      try {
        const stop = await this.#prompt(running, request_id, file)
        this.#write({ type: 'prompt_ended', request_id, stop }, true)
      } catch (error) {
        if (!(error instanceof AgentFault)) throw error
        this.#failed(request_id, error)
      } finally {
        this.#stopTimer()
        this.#rest(running)
        this.#dropQuestions()
        this.#running = null
      }
    }
  }

  async #prompt(running: Running, request_id: string, file: PromptFile) {
    if (this.#journal.size > ACP_JOURNAL_BYTES) {
      throw new AgentFault('too_much', `its journal is over ${ACP_JOURNAL_BYTES} bytes`)
    }
    const { agent, lost } = await this.#ready()
    const session_id = this.#session_id
    if (session_id === null || running.cancelled) return 'cancelled'
    running.session_id = session_id
    this.#write({ type: 'prompted', request_id, session_id }, true)
    this.#listen()
    return agent.prompt(session_id, lost ? file.after_loss : file.text)
  }

  /** An agent that runs and has a session. `lost`: it remembers nothing of the earlier ones. */
  async #ready(): Promise<{ agent: AcpAgent; lost: boolean }> {
    if (this.#agent !== null && !this.#agent.ended) return { agent: this.#agent, lost: false }
    const known = this.#session_id
    this.#minute = { began: this.#clock.monotonic(), messages: 0 }
    const agent = new AcpAgent(
      this.#settings.program,
      {
        heard: (isRequest) => this.#count(isRequest),
        updated: ({ sessionId, update }) => {
          const ours = !this.#loading && this.#running?.session_id === sessionId
          const record = ours ? recordOf(update) : null
          if (record !== null) this.#keep(record)
        },
        asked: (request) => this.#ask(request),
        ended: (end) => this.#write({ type: 'agent_ended', ...end }, true),
      },
      this.#clock,
    )
    this.#write({ type: 'agent_started', pid: await agent.started() })
    this.#agent = agent
    const slow = `it opened no session in ${this.#settings.start_ms} ms`
    this.#limit(this.#settings.start_ms, new AgentFault('silent', slow))
    try {
      const { session_id, loaded } = await agent.session(known, (on) => (this.#loading = on))
      this.#stopTimer()
      const lost = known !== null && !loaded
      const how = loaded ? 'loaded' : lost ? 'lost_and_new' : 'new'
      this.#write({ type: 'session_begun', session_id, how }, true)
      this.#session_id = session_id
      return { agent, lost }
    } catch (error) {
      // Half a start is no agent to go on with.
      await agent.stop(null)
      throw error
    }
  }

  async #ask({ toolCall, options }: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const kept = optionsOf(options)
    const running = this.#running
    const ids = new Set(kept.map(({ option_id }) => option_id))
    if (kept.length === 0 || ids.size < kept.length) {
      const wrong = kept.length === 0 ? 'no option that can be chosen' : 'two options of one id'
      void this.#agent?.stop(new AgentFault('garbage', `it asked a question with ${wrong}`))
      return { outcome: { outcome: 'cancelled' } }
    }
    const tooMany = this.#questions.size >= ACP_LIST_LENGTH
    if (running === null || running.cancelled || tooMany) {
      return { outcome: { outcome: 'cancelled' } }
    }
    this.#asked += 1
    const permission_id = `perm_${this.#asked}`
    const { title, kind, tool_call_id, locations } = toolCallOf(toolCall)
    const where = locations.length === 0 ? '' : ` (${locations.join(', ')})`
    const said = word(`${title ?? kind ?? tool_call_id}${where}`)
    const asked = Promise.withResolvers<RequestPermissionResponse['outcome']>()
    const option_ids = kept.map(({ option_id }) => option_id)
    this.#questions.set(permission_id, { option_ids, answer: asked.resolve })
    this.#keep({ type: 'permission_asked', permission_id, title: said, options: kept }, true)
    this.#listen()
    return { outcome: await asked.promise }
  }

  /** Whatever an agent sends is counted, also what nobody keeps. */
  #count(isRequest: boolean): void {
    if (this.#loading) return
    const now = this.#clock.monotonic()
    if (now - this.#minute.began > 60_000) this.#minute = { began: now, messages: 0 }
    this.#minute.messages += 1
    const running = this.#running
    if (running !== null) {
      running.messages += 1
      if (isRequest) running.requests += 1
    }
    const said =
      this.#minute.messages > ACP_MINUTE_MESSAGES
        ? `it sent more than ${ACP_MINUTE_MESSAGES} messages in a minute`
        : running !== null && running.messages > ACP_PROMPT_MESSAGES
          ? `it sent more than ${ACP_PROMPT_MESSAGES} messages in one turn`
          : running !== null && running.requests > ACP_PROMPT_REQUESTS
            ? `it asked more than ${ACP_PROMPT_REQUESTS} times in one turn`
            : null
    if (said !== null) void this.#agent?.stop(new AgentFault('too_much', said))
  }

  #keep(record: AcpRecord, durable = false): void {
    this.#write(record, durable)
    this.#listen()
    const running = this.#running
    if (running === null || this.#journal.size - running.began_at_bytes <= ACP_PROMPT_BYTES) return
    const said = `it said more than ${ACP_PROMPT_BYTES} bytes in one turn`
    void this.#agent?.stop(new AgentFault('too_much', said))
  }

  /** Silence counts from here; who waits for an answer may be silent. */
  #listen(): void {
    const running = this.#running
    if (running === null || running.session_id === null || running.cancelled) return
    this.#stopTimer()
    if (this.#questions.size > 0) return this.#rest(running)
    this.#work(running)
    const said = `it said nothing for ${this.#settings.silence_ms} ms`
    this.#limit(this.#settings.silence_ms, new AgentFault('silent', said))
  }

  /** Its time runs from here on. */
  #work(running: Running): void {
    if (running.works_since !== null) return
    running.works_since = this.#clock.monotonic()
    const said = `it worked for more than ${this.#settings.prompt_ms} ms on one turn`
    this.#stopWork = this.#clock.after(
      running.left_ms,
      () => void this.#agent?.stop(new AgentFault('too_much', said)),
    )
  }

  /** Its time stands still: it waits for an answer, or is done. */
  #rest(running: Running): void {
    if (running.works_since === null) return
    this.#stopWork()
    running.left_ms -= this.#clock.monotonic() - running.works_since
    running.works_since = null
  }

  /** Ends the agent after a while, unless something happens before. */
  #limit(ms: number, fault: AgentFault): void {
    this.#stopTimer()
    this.#stopTimer = this.#clock.after(ms, () => void this.#agent?.stop(fault))
  }

  #failed(request_id: string, { code, message }: AgentFault): void {
    this.#write({ type: 'prompt_failed', request_id, code, message }, true)
  }

  #write(record: AcpRecord, durable = false): void {
    this.#journal.append(record, durable)
  }
}
