/**
 * A stage: the whole host with one agent, `main`, on a clock that a test moves, and the words to
 * move it. Everything is real but the model and the time; nothing here waits for a fixed time.
 */
import assert from 'node:assert/strict'
import type { StoredEvent, Event, EventType, Rows, Table } from '../../src/domain/state/event.ts'
import { violations } from '../../src/domain/invariants/of-an-agent.ts'
import { toldHistory } from '../../src/testing/scenarios/told.ts'
import type { Next } from '../../src/domain/scheduler/next.ts'
import { toMs } from '../../src/domain/time.ts'
import type { Model, ModelRequest } from '../../src/models/model.ts'
import type { OperatorCommand, OperatorReply } from '../../src/protocol/acts/operator.ts'
import type { HostNotice } from '../../src/runtime/ports.ts'
import {
  openBox,
  type HostFixture,
  type BoxOptions,
  type Scope,
} from '../../src/testing/host/host-fixture.ts'
import { settle, virtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts'
import { refusedBodies } from '../../src/testing/model-server/wire-bodies.ts'

type Act = OperatorCommand extends infer C
  ? C extends unknown
    ? Omit<C, 'agent_id'>
    : never
  : never

export type StageOptions = Omit<BoxOptions, 'models' | 'clock'> & {
  model?: Model
  models?: Readonly<Record<string, Model>>
  clock?: VirtualClock
  /** The agent's settings; default `test/first` and no fallback. */
  setting?: { model?: string; fallback_model?: string }
}

export const agent = 'main'
export const minute = 60_000
export const hour = 60 * minute

export class Stage {
  readonly box: HostFixture
  readonly clock: VirtualClock
  readonly #asked: readonly ModelRequest[]

  constructor(box: HostFixture, clock: VirtualClock, asked: readonly ModelRequest[]) {
    this.box = box
    this.#asked = asked
    this.clock = clock
  }

  get now(): number {
    return this.clock.now()
  }

  /** What `next` says now. */
  get next(): Next {
    const next = this.box.host.next(agent)
    assert.ok(next, 'there is no agent')
    return next
  }

  /** An id as the model is shown it. */
  async short(id: string): Promise<string> {
    return (await this.box.ledger.shortIds(agent, [id])).get(id) ?? id
  }

  /** An operator's act that must be accepted. */
  async act(command: Act): Promise<OperatorReply & { ok: true }> {
    const reply = await this.try(command)
    assert.ok(reply.ok, reply.ok ? '' : `${reply.code}: ${reply.message}`)
    return reply
  }

  try(command: Act): Promise<OperatorReply> {
    return this.box.host.act({ ...command, agent_id: agent })
  }

  /** One word of the operator, and everything it sets going, to the next rest. */
  async say(text: string, more: Partial<Act & { do: 'send' }> = {}): Promise<void> {
    await this.act({ do: 'send', text, ...more })
    await this.rest()
  }

  /** An act and everything it sets going. */
  async does(command: Act): Promise<OperatorReply & { ok: true }> {
    const reply = await this.act(command)
    await this.rest()
    return reply
  }

  /**
   * Resolves when the agent rests and has seen everything committed so far. Time stands still but
   * for the pauses before a request is sent again. `from`: a rest from this notice on.
   */
  async rest(from = 0): Promise<Next> {
    let seen = from
    for (;;) {
      const notice = await this.box.until((candidate) => {
        const at = this.box.notices.lastIndexOf(candidate)
        if (candidate.kind === 'retry') return at >= seen
        return at >= from && candidate.kind === 'resting' && at > this.#lastCommit()
      }, `${agent} to rest`)
      if (notice.kind !== 'retry') return this.next
      seen = this.box.notices.lastIndexOf(notice) + 1
      // The notice comes just before the pause begins.
      await settle(3)
      await this.clock.advance(notice.delay_ms)
    }
  }

  /** Resolves when each of these agents is held, or has nothing to do. */
  async held(ids: () => readonly string[]): Promise<void> {
    const { host, notices } = this.box
    const goesOn = () =>
      ids().find((id) => {
        const next = host.next(id)
        const isHeld = next?.do === 'wait' && next.for === 'system'
        return next !== null && next.do !== 'sleep' && !isHeld
      })
    for (let id = goesOn(); id !== undefined; id = goesOn()) {
      const from = notices.length
      await this.box.until(
        (one) => one.kind === 'resting' && one.agent_id === id && notices.indexOf(one) >= from,
        `${id} to be held`,
      )
    }
  }

  #lastCommit(): number {
    return this.box.notices.findLastIndex((notice) => notice.kind === 'committed')
  }

  /** Lets time pass, from one due moment to the next, the work of each done before the next. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms
    for (;;) {
      const { next } = this
      const due = 'until' in next && next.until !== null ? toMs(next.until) : null
      if (due === null || due > end) break
      await this.passUntil(due)
    }
    await this.clock.advance(end - this.now)
  }

  /** Lets time pass to the next due moment; what it sets going comes to rest. */
  async passOn(): Promise<void> {
    const { next } = this
    assert.ok('until' in next && next.until !== null, 'nothing is due')
    await this.passUntil(toMs(next.until))
  }

  async passUntil(at: number): Promise<void> {
    const from = this.box.notices.length
    await this.clock.advance(Math.max(0, at - this.now))
    await this.rest(from)
  }

  /** Fires the timers due now until an event of this type is committed: ends a foreground wait. */
  async hurry(type: EventType): Promise<void> {
    const from = this.box.notices.length
    const there = () => this.box.notices.slice(from).some((notice) => holds(notice, type))
    while (!there()) await this.clock.advance(0)
  }

  /** Fires the timers due now until `count` events of this type are committed, earlier ones too. */
  async hurryTo(type: EventType, count: number): Promise<void> {
    const there = () =>
      this.box.notices
        .flatMap((one) => (one.kind === 'committed' ? one.events : []))
        .filter(({ event }) => event.type === type).length
    while (there() < count) await this.clock.advance(0)
  }

  /** Resolves when an event of this type is committed, from now on. */
  async committed(type: EventType): Promise<void> {
    const from = this.box.notices.length
    await this.box.until(
      (notice) => holds(notice, type) && this.box.notices.indexOf(notice) >= from,
      type,
    )
  }

  rows<T extends Table>(table: T): Promise<Rows[T][]> {
    return this.box.ledger.list(table, { limit: 5_000 })
  }

  events(): Promise<StoredEvent[]> {
    return this.box.ledger.events({ after: 0, limit: 1_000_000 })
  }

  async eventsOf<T extends EventType>(type: T): Promise<(Event & { type: T })[]> {
    const events = await this.events()
    return events.flatMap(({ event }) =>
      event.type === type ? [event as Event & { type: T }] : [],
    )
  }

  /** The item with this objective among the live facts. */
  item(objective: string): Rows['work_items'] {
    const facts = this.box.host.facts(agent)
    const found = [...(facts?.rows('work_items') ?? [])].find((row) => row.objective === objective)
    assert.ok(found, `there is no item "${objective}"`)
    return found
  }

  id(objective: string): string {
    return this.item(objective).id
  }

  /** The newest wait of an item, or of the agent itself. */
  async wait(objective: string | null): Promise<Rows['waits']> {
    const item = objective === null ? null : this.id(objective)
    const waits = (await this.rows('waits')).filter((wait) => wait.work_item_id === item)
    const last = waits.at(-1)
    assert.ok(last, 'there is no such wait')
    return last
  }

  focus(): string | null {
    const facts = this.box.host.facts(agent)
    return facts?.row('agents', agent)?.current_work_item_id ?? null
  }

  async briefs(): Promise<Pick<Rows['briefs'], 'kind' | 'text'>[]> {
    return (await this.rows('briefs')).map(({ kind, text }) => ({ kind, text }))
  }

  /** What holds at every rest: what providers take, invariants, rows that fold, rising times. */
  async sound(): Promise<void> {
    assert.deepEqual(await refusedBodies(this.#asked), [])
    const facts = this.box.host.facts(agent)
    assert.ok(facts)
    const events = await this.events()
    assert.deepEqual([...violations(facts, events), ...toldHistory(events)], [])
    assert.deepEqual((await this.box.ledger.verify()).problems, [])
    const times = events.map(({ at }) => at)
    assert.deepEqual(times, times.toSorted(), 'times decrease')
    const results = new Map<string, number>()
    for (const { event } of events) {
      if (event.type === 'call_recorded') results.set(event.id, 0)
      if (event.type === 'call_finished') results.set(event.id, (results.get(event.id) ?? 0) + 1)
    }
    const wrong = [...results].filter(([, count]) => count !== 1)
    assert.deepEqual(wrong, [], 'calls without exactly one result')
  }
}

const holds = (notice: HostNotice, type: EventType): boolean =>
  notice.kind === 'committed' && notice.events.some(({ event }) => event.type === type)

/** Opens the host and waits for its first rest, or for nothing when a turn is to be recovered. */
export async function openStage(t: Scope, options: StageOptions): Promise<Stage> {
  const { model, models, setting, clock = virtualClock(), ...rest } = options
  const given = { ...(model ? { default: model } : {}), ...models }
  const asked: ModelRequest[] = []
  const known = Object.fromEntries(
    Object.entries(given).map(([name, one]) => [name, heard(one, asked)]),
  )
  const box = await openBox(t, { ...rest, models: known, clock })
  await box.host.ensureAgent({
    id: agent,
    model: 'test/first',
    workspace: { mode: 'explicit_root', root: box.workspace },
    ...setting,
  })
  await box.host.open()
  const stage = new Stage(box, clock, asked)
  await stage.rest()
  return stage
}

/** The same model; what it is asked is kept as it was sent. */
const heard = (model: Model, asked: ModelRequest[]): Model => ({
  ...model,
  request(request, options) {
    asked.push({ ...request, messages: [...request.messages] })
    return model.request(request, options)
  },
})

/** All that a request says, system text included. */
export function textOf(request: ModelRequest | undefined): string {
  assert.ok(request, 'there is no such request')
  const texts = request.messages.map((message) => {
    switch (message.role) {
      case 'user':
        return message.content
      case 'assistant':
        return message.parts
          .map((part) => ('text' in part ? part.text : part.input_json))
          .join('\n')
      case 'tool':
        return message.results.map((result) => result.text).join('\n')
    }
  })
  return [request.system, ...texts].join('\n\n')
}

/** The results that came back with a request, after the model's last answer. */
export function resultsOf(
  request: ModelRequest | undefined,
): { is_error: boolean; text: string }[] {
  const last = request?.messages.findLast((message) => message.role === 'tool')
  return last?.role === 'tool' ? last.results.map(({ is_error, text }) => ({ is_error, text })) : []
}
