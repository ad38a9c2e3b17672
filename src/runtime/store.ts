/**
 * The runtime's hold on the ledger: the live facts of each agent, and `transact`, the one way to
 * change them. Decide on facts, commit, take over what was committed; on a conflict read afresh
 * and decide again. One agent's transactions run one at a time (docs/spec/ledger.md#one-owner).
 */
import { AgentFacts } from '../domain/facts/agent-facts.ts'
import type { Rows, Table } from '../domain/state/event.ts'
import { Draft, type DraftEnv, type Emitted, type Facts } from '../domain/facts/facts.ts'
import type { AgentId, Mint } from '../domain/ids.ts'
import type { Redactor } from '../domain/secrets/redact.ts'
import { fromMs, type Timestamp } from '../domain/time.ts'
import { isRejection } from '../domain/rejection.ts'
import type { Change, Ledger, NewBlob } from '../ledger/port.ts'
import type { Clock, Ids } from '../exec/ports.ts'
import { blobOf, secretsIn } from './redact-notices.ts'

/** How often a decision is made anew after a conflict before that is a bug. */
const conflictTries = 20

/** Called after each commit with its events, in order. */
type CommitListener = (agent: AgentId, events: readonly Emitted[]) => void

/** Whether the commit deleted its agent: then nothing further is begun for it. */
export const isDeletion = (events: readonly Emitted[]): boolean =>
  events.some(({ event }) => event.type === 'agent_deleted')

/** A row, by table and id, that a decision may need beyond the live ones. */
export type Need = readonly [Table, string]

/**
 * What is read for a decision in its place in the line, so that nothing of the agent changes
 * between the look and the commit; looked up anew after a conflict. `blobs` are those that the
 * decision may name.
 */
export type DecisionInputs<K> = { known: K; needs: readonly Need[]; blobs?: readonly NewBlob[] }
/** The same, for a decision that knows enough without a look. */
export type CommitOptions = Partial<Omit<DecisionInputs<unknown>, 'known'>>

export class Store {
  readonly ledger: Ledger
  readonly mint: Mint
  readonly #clock: Clock
  readonly #redactor: Redactor | undefined
  readonly #redact: DraftEnv['redact']
  readonly #agents = new Map<AgentId, AgentFacts>()
  /** The tail of each agent's line of transactions. */
  readonly #lines = new Map<AgentId, Promise<unknown>>()
  readonly #listeners = new Set<CommitListener>()

  constructor(ledger: Ledger, clock: Clock, ids: Ids, redactor?: Redactor) {
    this.ledger = ledger
    this.#redactor = redactor
    this.#redact = redactor && ((event) => redactor.json(event))
    this.#clock = clock
    this.mint = ((prefix: string) => ids.mint(prefix)) as Mint
  }

  now(): Timestamp {
    return fromMs(this.#clock.now())
  }

  /**
   * A blob of these bytes, without secrets: an event names it, and the commit of that event takes
   * it along. Nothing is stored before.
   */
  blob(bytes: Uint8Array): NewBlob {
    return blobOf(bytes, this.#redactor)
  }

  /** Of bytes that are kept whole or not at all. */
  holdsSecret(bytes: Uint8Array): boolean {
    return secretsIn(this.#redactor)(bytes)
  }

  /** Adds a blob of these bytes to those of a commit to come; its hash. */
  keep(blobs: NewBlob[], bytes: Uint8Array): string {
    const blob = this.blob(bytes)
    blobs.push(blob)
    return blob.sha256
  }

  /**
   * Reads an agent of the ledger into memory, unless it is there. Null: no such agent. In the
   * agent's line: what is read cannot be older than what is committed meanwhile.
   */
  loaded(agent: AgentId): Promise<Facts | null> {
    const known = this.#agents.get(agent)
    if (known) return Promise.resolve(known)
    return this.#inLine(agent, async () => {
      const facts = this.#agents.get(agent) ?? (await this.#read(agent))
      if (facts.seq === 0) return null
      // One that was deleted is read when it is asked for, and not kept.
      if (facts.row('agents', agent)?.state !== 'deleted') this.#agents.set(agent, facts)
      return facts
    })
  }

  /** The facts in memory. */
  all(): Iterable<Facts> {
    return this.#agents.values()
  }

  /** An agent that is gone is read again when somebody asks for it. */
  forget(agent: AgentId): void {
    this.#agents.delete(agent)
  }

  /** The live facts; null when there is no such agent. */
  facts(agent: AgentId): Facts | null {
    return this.#agents.get(agent) ?? null
  }

  /** Facts of an agent that is known to exist. */
  mustFacts(agent: AgentId): Facts {
    const facts = this.#agents.get(agent)
    if (!facts) throw new Error(`no agent ${agent}`)
    return facts
  }

  /** A row from the facts, else from the ledger. */
  async row<T extends Table>(agent: AgentId, table: T, id: string): Promise<Rows[T] | null> {
    return this.#agents.get(agent)?.row(table, id) ?? (await this.ledger.row(table, id))
  }

  /** Ends with the function it returns. */
  onCommit(listener: CommitListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /**
   * Decides and commits. A rejection, or a decision without events, commits nothing. `decide` may
   * run again on fresh facts after a conflict, so it changes nothing but its draft.
   */
  transact<T>(
    agent: AgentId,
    cause: string | null,
    decide: (d: Draft) => T,
    beside: CommitOptions = {},
  ): Promise<T> {
    const looked = { known: null, needs: [], ...beside }
    return this.consider(agent, cause, async () => looked, decide)
  }

  /** As `transact`, with a look at the ledger in the same place in the line. */
  consider<K, T>(
    agent: AgentId,
    cause: string | null,
    look: (facts: Facts) => Promise<DecisionInputs<K>>,
    decide: (d: Draft, known: K) => T,
  ): Promise<T> {
    return this.#inLine(agent, () => this.#decided(agent, cause, look, decide))
  }

  /**
   * Decides over several agents at once: what it emits lands in one commit, or not at all, and only
   * while each of them stands where the decision saw it. An agent that is not there yet has empty
   * facts. `look` reads what the decision needs to know beyond the facts.
   */
  together<K, T>(
    agents: readonly AgentId[],
    cause: string | null,
    look: (facts: readonly Facts[]) => Promise<K>,
    decide: (drafts: readonly Draft[], known: K) => T,
  ): Promise<T> {
    return this.#inLines(agents, async () => {
      for (let tries = 0; tries < conflictTries; tries += 1) {
        const all: AgentFacts[] = []
        for (const agent of agents) all.push(this.#agents.get(agent) ?? (await this.#read(agent)))
        const known = await look(all)
        const drafts = all.map((facts) => new Draft(facts, this.#draftEnv(cause)))
        const value = decide(drafts, known)
        const nothing = drafts.every((d) => d.emitted.length === 0)
        if (nothing || isRejection(value) || (await this.#landed(all, drafts))) return value
        for (const agent of agents) this.#agents.delete(agent)
      }
      throw tooManyConflicts(agents.join(' and '))
    })
  }

  /** After everything that was begun in this turn before; whatever else the store does goes on. */
  inTurn<T>(turn: string, body: () => Promise<T>): Promise<T> {
    // Apart from the lines of agents, which `body` waits for: no agent has a space in its name.
    return this.#inLine(`turn ${turn}`, body)
  }

  /** After whoever else makes an agent of this name: its home is made before its row. */
  making<T>(agent: AgentId, body: () => Promise<T>): Promise<T> {
    return this.inTurn(`making ${agent}`, body)
  }

  #inLine<T>(agent: AgentId, body: () => Promise<T>): Promise<T> {
    return this.#inLines([agent], body)
  }

  /** A place in the line of each agent at once: two that share agents never wait for each other. */
  #inLines<T>(agents: readonly AgentId[], body: () => Promise<T>): Promise<T> {
    const before = Promise.all(agents.map((agent) => this.#lines.get(agent) ?? Promise.resolve()))
    const mine = before.then(body)
    // A failure is its caller's; the line goes on behind it.
    const rest = mine.then(
      () => undefined,
      () => undefined,
    )
    for (const agent of agents) this.#lines.set(agent, rest)
    void rest.then(() => {
      for (const agent of agents) {
        if (this.#lines.get(agent) === rest) this.#lines.delete(agent)
      }
    })
    return mine
  }

  async #decided<K, T>(
    agent: AgentId,
    cause: string | null,
    look: (facts: Facts) => Promise<DecisionInputs<K>>,
    decide: (d: Draft, known: K) => T,
  ): Promise<T> {
    for (let tries = 0; tries < conflictTries; tries += 1) {
      const facts = this.#agents.get(agent) ?? (await this.#read(agent))
      const { known, needs, blobs = [] } = await look(facts)
      await this.#include(facts, needs)
      const d = new Draft(facts, this.#draftEnv(cause))
      const value = decide(d, known)
      if (d.emitted.length === 0 || isRejection(value)) {
        forgetLogs(facts, needs)
        return value
      }
      if (await this.#landed([facts], [d], blobs)) {
        forgetLogs(facts, needs)
        return value
      }
      this.#agents.delete(agent)
    }
    throw tooManyConflicts(agent)
  }

  #draftEnv(causation_id: string | null): DraftEnv {
    return { now: this.now(), mint: this.mint, causation_id, redact: this.#redact }
  }

  /** Commits what was decided, takes it over, and tells of it once all of it is taken over. */
  async #landed(
    all: readonly AgentFacts[],
    drafts: readonly Draft[],
    blobs: readonly NewBlob[] = [],
  ): Promise<boolean> {
    const changes = drafts.map((d) => changeOf(d, blobs))
    const [first, ...more] = changes
    if (first === undefined) return true
    const done = await this.ledger.commit(first, ...more)
    if (!done.ok) return false
    for (const [i, { agent_id, expect_seq, at, events, rows }] of changes.entries()) {
      const facts = all[i]
      if (facts === undefined || events.length === 0) continue
      facts.apply(rows, expect_seq + events.length, at)
      this.#agents.set(agent_id, facts)
    }
    for (const { agent_id, events } of changes) {
      if (events.length === 0) continue
      for (const listener of this.#listeners) listener(agent_id, events)
    }
    return true
  }

  async #include(facts: AgentFacts, needs: readonly Need[]): Promise<void> {
    for (const [table, id] of needs) {
      if (facts.row(table, id)) continue
      const row = await this.ledger.row(table, id)
      if (row && 'agent_id' in row && row.agent_id === facts.agent_id) facts.include(table, row)
    }
  }

  async #read(agent: AgentId): Promise<AgentFacts> {
    const live = await this.ledger.live(agent)
    return live === null ? new AgentFacts(agent) : AgentFacts.of(agent, live)
  }
}

const changeOf = (d: Draft, blobs: readonly NewBlob[]): Change => ({
  agent_id: d.agent_id,
  expect_seq: d.base.seq,
  at: d.now,
  events: d.emitted,
  rows: [...d.changed()],
  ...(blobs.length === 0 ? {} : { blobs: namedBy(d.emitted, blobs) }),
})

/** What was made for a decision that came out otherwise is not stored; nor one thing twice. */
function namedBy(events: readonly Emitted[], blobs: readonly NewBlob[]): NewBlob[] {
  const said = events.map(({ event }) => JSON.stringify(event)).join('\n')
  const named = blobs.filter(({ sha256 }) => said.includes(`"${sha256}"`))
  return [...new Map(named.map((blob) => [blob.sha256, blob])).values()]
}

const tooManyConflicts = (who: string): Error =>
  new Error(`${conflictTries} conflicts in a row on ${who}: two writers on one home`)

const logs: ReadonlySet<Table> = new Set(['deliveries', 'slots', 'receipts'])

/** A row of a log is a fact for the decision that asked for it, and not kept. */
function forgetLogs(facts: AgentFacts, needs: readonly Need[]): void {
  const rows = needs.flatMap(([table, id]) => {
    const row = logs.has(table) ? facts.row(table, id) : undefined
    return row ? [[table, row] as const] : []
  })
  facts.apply(rows, facts.seq, facts.last_at)
}
