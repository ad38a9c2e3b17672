/**
 * A simulated machine with one home on it: disk, processes and clock go on, the runtime's process
 * comes and goes. What runs in it is the real host over the real ledger; only its ports are ours.
 */
import { createHash, type Hash } from 'node:crypto'
import type { Facts } from '../../src/domain/facts/facts.ts'
import type { OperatorAct } from '../../src/domain/operator/act.ts'
import type { Inspect, TreeSeen } from '../../src/exec/inspect/inspect-port.ts'
import type { Change } from '../../src/ledger/port.ts'
import type { Model, ModelFault, ModelOutcome, ModelRequest } from '../../src/models/model.ts'
import type { OperatorReply } from '../../src/protocol/acts/operator.ts'
import { createHost } from '../../src/runtime/host/host.ts'
import type { Host, HostNotice, HostPorts, PolicyPort } from '../../src/runtime/ports.ts'
import type { Script, Scripted } from '../../src/testing/scripted-model.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { judgedPush } from '../../src/testing/world/held.ts'
import { randomOf, type Random } from '../soak/random.ts'
import { adversary, diligent, temperOf, type Seen } from './adversary.ts'
import { Agenda, type Life } from './agenda.ts'
import { notShown } from './shown.ts'
import { SimCommands } from './commands.ts'
import { home, SimDisk, workspace } from './disk.ts'
import type { Fault, Plan } from './plan.ts'
import { diskFull, SimStore } from './store.ts'
import { Witness } from './witness.ts'
import { SimWorktrees } from './worktrees.ts'

/** What was accepted, and must be in the ledger from then on. */
export type Accepted = { act: OperatorAct; message_id: string; body: string }

export type Given = {
  /** Gets every line of the trace as it comes. */
  show?: ((line: string) => void) | undefined
  /** The model, until the calm; without it the adversary. */
  answers?: (seen: Seen, asked: ModelRequest) => Scripted
  /** A policy asks about each call that has this word. */
  asked?: string | undefined
  /** Gets every change that is in the ledger. */
  landed?: (change: Change) => void
  /** Gets every reply to an act. */
  replied?: (act: OperatorAct, reply: OperatorReply) => void
}

export class World {
  readonly agenda = new Agenda()
  readonly store = new SimStore()
  readonly disk: SimDisk
  readonly commands: SimCommands
  readonly worktrees: SimWorktrees
  readonly witness = new Witness()
  readonly accepted: Accepted[] = []
  /** Acts that their sender may send again: they have an id of their own. */
  readonly repeatable: OperatorAct[] = []
  /** Acts without a reply: of the process that is gone, whoever sent them may send them again. */
  readonly unanswered = new Set<OperatorAct>()
  /** What broke, that is no invariant of rows: a bug thrown by the runtime. */
  readonly broken: string[] = []
  /** Agents whose rows changed since somebody looked. */
  readonly moved = new Set<string>()
  host: Host | null = null
  life: Life = { n: 0, ended: true }
  /** Models bring everything to its end, and nothing goes wrong any more. */
  isCalm = false
  crashes = 0
  readonly #plan: Plan
  readonly #trace: Hash = createHash('sha256')
  readonly #models: Random
  readonly #luck: Random
  readonly #outside: Life = { n: 0, ended: false }
  readonly #roundOf = new WeakMap<object, string>()
  #asked = ''
  #minted = 0
  #requests = 0
  #posted = 0
  #era = 0

  readonly #given: Given

  constructor(plan: Plan, given: Given = {}) {
    this.#plan = plan
    this.#given = given
    this.disk = new SimDisk(() => new Date(this.agenda.now()).toISOString())
    this.worktrees = new SimWorktrees(this.disk)
    this.#models = randomOf(plan.seed, 'models')
    this.#luck = randomOf(plan.seed, 'luck')
    const processes = randomOf(plan.seed, 'processes')
    const may = (of: number) => !this.isCalm && this.has('process') && processes.chance(of)
    this.commands = new SimCommands(this.agenda, this.#outside, processes, {
      start: (task) => {
        if (!may(0.04)) return null
        this.witness.isUnsure(task)
        return processes.chance(0.5) ? 'refused' : 'unsure'
      },
      survives: () => may(0.05),
      posts: (task) => this.#posts(task),
      runOf: (task) => this.witness.runOf(task),
    })
  }

  has(fault: Fault): boolean {
    return this.#plan.faults.includes(fault)
  }

  trace(line: string): void {
    this.#trace.update(`${line}\n`)
    this.#given.show?.(line)
  }

  hash(): string {
    return this.#trace.copy().digest('hex')
  }

  /** A new process on the home, which recovers what the last one left. */
  boot(): void {
    const life: Life = { n: this.life.n + 1, ended: false }
    this.life = life
    this.witness.asks = (input) => this.#isAsked() && this.#asks(input)
    this.witness.lives(life.n)
    const host = createHost(this.#portsOf(life))
    this.host = host
    host.subscribe((notice) => this.#noticed(life, notice))
    host.listens('http://sim.invalid')
    host.open().catch((error: unknown) => this.#bug(life, error))
  }

  /** What was asked about is another thing from then on. */
  changeRules(): void {
    this.#era += 1
  }

  /** Whether a policy judges: in every second drawn world, else where a test names its word. */
  #isAsked(): boolean {
    const { answers, asked } = this.#given
    return asked !== undefined || (answers === undefined && this.#plan.seed % 2 !== 0)
  }

  /** The process is gone, without a word. */
  crash(): void {
    this.life.ended = true
    this.agenda.bury(this.life)
    this.host = null
    this.crashes += 1
  }

  /** The agent every run begins with. */
  makeMain(): void {
    const { host, life } = this
    if (host === null) return
    const settings = {
      id: 'main',
      model: 'test/first',
      workspace: { mode: 'explicit_root', root: workspace },
    } as const
    host.ensureAgent(settings).catch((error: unknown) => this.#bug(life, error))
  }

  /** Agents in memory, in order of their names. */
  agents(): Facts[] {
    const { host } = this
    if (host === null) return []
    return [...this.witness.history.keys()]
      .toSorted()
      .flatMap((id) => host.facts(id) ?? [])
      .filter((facts) => facts.row('agents', facts.agent_id)?.state !== 'deleted')
  }

  /** An act of the operator or an event from outside; its reply is kept when it comes. */
  act(command: OperatorAct): void {
    const { host, life } = this
    if (host === null) return
    this.unanswered.add(command)
    const isNamed = command.do === 'deliver' && command.sender_id !== undefined
    if (isNamed || command.receipt !== undefined) this.repeatable.push(command)
    host.act(command).then(
      (reply) => this.#replied(life, command, reply),
      (error: unknown) => {
        this.unanswered.delete(command)
        if (!isInjected(error)) this.#bug(life, error)
      },
    )
  }

  /** By the URL that commands get, of the agent's own trigger. In a crash nobody answers. */
  #posts(task: string): void {
    const facts = this.agents().find((one) => one.row('tasks', task) !== undefined)
    const own = facts && [...facts.rows('triggers')].find(({ by }) => by === 'runtime')
    if (!facts || !own) return
    const body = `post ${(this.#posted += 1)} of ${task}`
    const via = { kind: 'trigger', trigger_id: own.id } as const
    this.act({ do: 'deliver', agent_id: facts.agent_id, via, body, source: 'ci' })
  }

  #replied(life: Life, act: OperatorAct, reply: OperatorReply): void {
    if (life.ended) return
    this.unanswered.delete(act)
    this.trace(`reply ${act.do} ${reply.ok ? 'ok' : reply.code}`)
    this.#given.replied?.(act, reply)
    if (!reply.ok || reply.message_id === null) return
    const body = 'body' in act ? act.body : 'text' in act ? act.text : undefined
    if (body === undefined) return
    this.accepted.push({ act, message_id: reply.message_id, body })
  }

  #noticed(life: Life, notice: HostNotice): void {
    if (life.ended || notice.kind !== 'fault') return
    // A fault of the world under the runtime itself ends the process, as it would end a daemon.
    if (!notice.message.includes('injected')) this.broken.push(`bug: ${notice.message}`)
    this.trace('fault')
    this.agenda.bury(life)
    life.ended = true
    this.host = null
    this.crashes += 1
  }

  #bug(life: Life, error: unknown): void {
    if (life.ended) return
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    if (!text.includes('injected')) this.broken.push(`bug: ${text}`)
  }

  #landed(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.events.length === 0) continue
      this.witness.landed(change)
      this.moved.add(change.agent_id)
      this.trace(JSON.stringify([change.agent_id, change.at, change.events]))
      this.#given.landed?.(change)
    }
  }

  #portsOf(life: Life): HostPorts {
    const { agenda } = this
    const clock = agenda.clockOf(life)
    const mint = (prefix: string) => this.#mint(prefix)
    const ledger = this.store.open(life, agenda, mint, {
      writing: (changes) => {
        if (!this.disk.state.full) return
        for (const change of changes) this.witness.refused(change)
        throw diskFull()
      },
      landed: (changes, committed) => {
        if (committed.ok) this.#landed(changes)
      },
    })
    return {
      home,
      ledger,
      clock,
      ids: {
        mint,
        token: (bytes) => tokenOf(this.#mint('t'), bytes),
        random: () => this.#luck.next(),
      },
      files: this.disk.portOf(life, agenda),
      processes: this.commands.portOf(life),
      worktrees: this.worktrees.portOf(life, agenda),
      web: { read: noWeb },
      ...(this.#isAsked() ? { policy: this.#policy(life) } : {}),
      inspect: this.#inspect(life),
      memory: { search: noMemory, get: noMemory },
      models: {
        open: (id) =>
          agenda.perform(life, 'model', `open ${id}`, () => ({
            ok: true as const,
            model: this.#model(life),
          })),
        facts: () => ({
          context_window: windowOf(this.#plan.seed),
          max_output: null,
          effort: null,
          request_minutes: null,
          vision: false,
        }),
        price: () => null,
      },
      environment: {},
      user_home: '/sim/user',
      has_listener: true,
      waits_for_room: true,
      effect_seam: {
        before_effect: (what) => {
          if (life.ended) return
          this.witness.begins(what)
          if (what.startsWith('request ')) this.#asked = what.slice('request '.length)
        },
        after_effect: () => {},
      },
    }
  }

  #asks(input: unknown): boolean {
    const { asked } = this.#given
    const text = JSON.stringify(input)
    if (asked !== undefined) return text.includes(asked)
    return createHash('sha256').update(text).digest().readUInt8(0) % 3 === 0
  }

  /**
   * In every second run a rule asks about every third command. What a command would do is another
   * thing from time to time: a yes to what it was is none then.
   */
  #policy(life: Life): PolicyPort {
    return {
      judge: ({ input, item, origin, agent }) =>
        this.agenda.perform(life, 'file', 'judge', () => {
          const byLuck = this.#given.asked === undefined && !this.isCalm && this.#luck.chance(0.15)
          if (byLuck) this.changeRules()
          const text = JSON.stringify(input)
          const asks = this.#asks(input)
          const why = asks ? 'a rule asks' : 'a rule allows'
          const decide = asks ? 'ask' : 'allow'
          return judgedPush(text, decide, { era: this.#era, why, item, origin, agent })
        }),
    }
  }

  /** What checks look at: a page that is there or not, and a folder that no git knows. */
  #inspect(life: Life): Inspect {
    const { agenda } = this
    return {
      get: (url) =>
        agenda.perform(life, 'process', `get ${url}`, () => {
          const ok = this.#luck.chance(0.8)
          return ok ? { ok, status: 200, text: 'It is there.' } : { ok, why: 'nothing listens' }
        }),
      tree: () => agenda.perform(life, 'file', 'tree', () => noTree),
      machine: async () => null,
      repository: async () => null,
    }
  }

  /** One provider: answers when it is picked, within five minutes, or when it is told to stop. */
  #model(life: Life): Model {
    return {
      request: (request, options) => {
        const round = this.#roundOf.get(request) ?? this.#asked
        this.#roundOf.set(request, round)
        const agent = this.witness.agentOfRound(round)
        const script: Script = (asked) => {
          const facts = agent === null ? null : (this.host?.facts(agent) ?? null)
          if (facts === null) throw new Error(`${round} is asked for nobody`)
          this.broken.push(...notShown(facts, round, asked))
          const isReport = asked.tool_choice === 'none'
          const seen = { facts, nth: (this.#requests += 1), isReport }
          if (this.isCalm) return diligent(seen)
          const { answers } = this.#given
          if (answers) return answers(seen, asked)
          return adversary(this.#models, seen, temperOf(this.#plan.seed), this.has('model'))
        }
        const answer = () => scriptedModel(script).request(request, options)
        return this.#answered(life, options.signal, round, answer)
      },
    }
  }

  #answered(
    life: Life,
    signal: AbortSignal,
    round: string,
    answer: () => Promise<ModelOutcome>,
  ): Promise<ModelOutcome> {
    return new Promise((resolve, reject) => {
      const cancel = this.agenda.after(life, 'silence', patience, () => resolve(silent))
      const stop = () => {
        cancel()
        void this.agenda.perform(life, 'model', 'aborted', () => resolve(aborted))
      }
      if (signal.aborted) return stop()
      signal.addEventListener('abort', stop, { once: true })
      const asked = this.agenda.perform(life, 'model', `answer ${round}`, () => {
        // A silent provider's promise never settles: what ends it is the patience or the abort.
        void answer().then((outcome) => {
          signal.removeEventListener('abort', stop)
          cancel()
          resolve(outcome)
        }, reject)
      })
      asked.catch(reject)
    })
  }

  #mint(prefix: string): string {
    this.#minted += 1
    const n = this.#minted.toString(16).padStart(12, '0')
    return `${prefix}_${n.slice(0, 8)}-${n.slice(8)}-7000-8000-000000000000`
  }
}

/** In every third run it is so small that turns outgrow it: they are compacted. */
const windowOf = (seed: number): number => (seed % 3 === 0 ? 11_000 : 128_000)

/** As many bytes, in the letters of a URL. */
const tokenOf = (from: string, bytes: number): string =>
  createHash('sha512').update(from).digest().subarray(0, bytes).toString('base64url')

/** Milliseconds until a silent provider is given up, as the adapters do. */
const patience = 300_000

const faultOf = (kind: ModelFault['kind'], code: ModelFault['code']): ModelOutcome => ({
  ok: false,
  fault: {
    kind,
    code,
    message: `The provider failed: ${code}.`,
    status: null,
    retry_after_ms: null,
    retryable: kind === 'world',
  },
})
const silent = faultOf('world', 'stream_hung')
const aborted = faultOf('aborted', 'aborted')

const isInjected = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('injected')

/** No page is there. */
const noWeb = async () => ({
  ok: false as const,
  code: 'no_connection' as const,
  message: 'There is no network.',
})

const noMemory = () =>
  Promise.resolve({
    ok: false as const,
    code: 'query_empty' as const,
    message: 'Nothing is remembered here.',
    hint: 'Ask for something else.',
  })

/** A check looks at no tree: what git says of one is tried elsewhere. */
const noTree: TreeSeen = { hash: null, problem: 'nobody looked' }
