/**
 * The ports of one agent: its id, the store, the machine, its folders and its trigger's URL. One
 * per agent and process, and never written to; what changes while a turn runs is in
 * turn/turn-run.ts.
 */
import { agentRoots, homeEntry } from '../exec/files/path-policy.ts'
import type { Network, OpenedPath, PathMode, Roots } from '../exec/ports.ts'
import { agentOf, type Draft, type Facts } from '../domain/facts/facts.ts'
import type { AgentId, CallId } from '../domain/ids.ts'
import { workspaceMemory } from '../domain/memory/reference.ts'
import type { HeldTask } from '../domain/state/task.ts'
import { later, type Timestamp } from '../domain/time.ts'
import type { Rows, Table } from '../domain/state/event.ts'
import type { ModelRound } from '../models/model.ts'
import type { JudgedAgain } from '../domain/approvals/held-command.ts'
import type { PolicyAction } from '../domain/policy/action.ts'
import type { PolicyDecision } from '../domain/policy/decision.ts'
import type { PresetName } from '../domain/policy/rule.ts'
import type { Agent } from '../domain/state/agent.ts'
import type { CallJudged, HostNotice, HostPorts } from './ports.ts'
import type { TriggerUrls } from './trigger-urls.ts'
import type { CommitOptions, Store } from './store.ts'
import { agentHome, outputPath } from './home.ts'
import { withShort, type KnownShort } from './short-ids.ts'
import type { Short } from '../domain/state/short-id.ts'

export class AgentPorts {
  readonly agent_id: AgentId
  readonly ports: HostPorts
  readonly store: Store
  readonly notify: (notice: HostNotice) => void
  readonly urls: TriggerUrls
  readonly #knownShort: KnownShort = new Map()

  constructor(
    agent_id: AgentId,
    ports: HostPorts,
    store: Store,
    notify: (notice: HostNotice) => void,
    urls: TriggerUrls,
  ) {
    this.agent_id = agent_id
    this.ports = ports
    this.store = store
    this.notify = notify
    this.urls = urls
  }

  /** As a commit would date it: never before the agent's last one, wherever the clock was set. */
  now(): Timestamp {
    return later(this.store.now(), this.facts().last_at)
  }

  facts(): Facts {
    return this.store.mustFacts(this.agent_id)
  }

  transact<T>(
    cause: string | null,
    decide: (d: Draft) => T,
    beside: CommitOptions = {},
  ): Promise<T> {
    return this.store.transact(this.agent_id, cause, decide, beside)
  }

  /** Without secrets, for what is neither an event nor a blob. */
  redacted<T>(value: T): T {
    const { redactor } = this.ports
    return redactor ? redactor.json(value) : value
  }

  load<T extends Table>(table: T, id: string): Promise<Rows[T] | null> {
    return this.store.row(this.agent_id, table, id)
  }

  /** What `render` makes of ids in their short forms; it may run twice. */
  withShort<T>(render: (short: Short) => T): Promise<T> {
    return withShort(this.store.ledger, this.agent_id, this.#knownShort, render)
  }

  home(): string {
    return agentHome(this.ports.home, this.agent_id)
  }

  /** The agent's own trigger, while somebody listens for it. */
  triggerUrl(): string | null {
    return this.urls.ofAgent(this.facts())
  }

  /** What every command of the agent finds in its environment besides the allow-list. */
  environment(): Readonly<Record<string, string>> {
    const url = this.triggerUrl()
    return { ...this.ports.environment, ...(url === null ? {} : { HOLON_TRIGGER_URL: url }) }
  }

  /** The folder the agent works in: its workspace, else its own home. */
  workdir(): string {
    return agentOf(this.facts()).workspace.root
  }

  /**
   * A private child that works in a folder of others does not write into what they remember there;
   * a worktree is a copy, and its own until somebody merges it.
   */
  roots(owned: readonly string[] = []): Roots {
    const { visibility, workspace } = agentOf(this.facts())
    const isShared = visibility === 'private' && workspace.mode !== 'worktree'
    const roots = agentRoots({
      home: this.ports.home,
      agent_id: this.agent_id,
      workspace: this.workdir(),
      user_home: this.ports.user_home,
      owned,
    })
    return isShared ? { ...roots, read_only: [`${workspace.root}/${workspaceMemory}`] } : roots
  }

  /** A path in `tasks/` or `outputs/` is readable for the agent whose task, call or input it is. */
  async open(path: string, mode: PathMode): Promise<OpenedPath> {
    const entry = homeEntry(this.ports.home, path)
    const row = entry === null ? null : await this.load(entry.table, entry.id)
    const owned = row !== null && row.agent_id === this.agent_id ? [path] : []
    return this.ports.files.open_within(this.roots(owned), path, mode)
  }

  /** A long output of a call, beside the ledger; its path. */
  async keepOutput(call: CallId, text: string): Promise<string> {
    const { home, files } = this.ports
    const path = outputPath(home, call)
    await files.make_folder(`${home}/outputs`, 0o700)
    await files.write_atomic(path, this.redacted(text), 0o600)
    return path
  }

  /** With which network its commands run where they are confined; null: they are not. */
  async confined(): Promise<Network | null> {
    const sandbox = await this.ports.processes.confinement()
    // A runbook is the operator's own words.
    const isLeft = agentOf(this.facts()).model === 'runbook'
    if (sandbox.state !== 'on' || (sandbox.whom === 'models' && isLeft)) return null
    return sandbox.network
  }

  /** The presets that were set for it, for the agent it was made by, and so on up. */
  async #presets(): Promise<(PresetName | null)[]> {
    const chain: (PresetName | null)[] = []
    let agent: Agent | null = agentOf(this.facts())
    while (agent !== null) {
      chain.push(agent.policy_preset ?? null)
      const maker: AgentId | null = agent.lineage_parent_agent_id
      agent = maker === null ? null : await this.store.row(maker, 'agents', maker)
    }
    return chain
  }

  /**
   * What the policy says of a call of the agent; null: nothing. What a runbook does is the
   * operator's own words, and is not judged.
   */
  async judged(
    asked: Pick<CallJudged, 'tool_name' | 'class' | 'input' | 'item' | 'origin'>,
  ): Promise<JudgedAgain | null> {
    const { policy } = this.ports
    const { model, workspace } = agentOf(this.facts())
    if (policy === undefined || model === 'runbook') return null
    const found = await policy.judge({
      ...asked,
      agent: this.agent_id,
      workspace: workspace.root,
      confined: (await this.confined()) !== null,
      presets: await this.#presets(),
      environment: this.environment(),
    })
    return found === null ? null : verdictOf(found)
  }

  /** What it says now of what is held, as it said before. */
  judgedAgain({ cmd, workdir, held }: HeldTask): Promise<JudgedAgain | null> {
    const { item, origin, tool: tool_name, class: effect_class } = held.action
    const input = held.call === undefined ? { cmd, workdir } : held.call.input
    return this.judged({ tool_name, class: effect_class, input, item, origin })
  }

  /** US dollars for an answer: what the provider says it took, else by the price; null: unknown. */
  paidFor({ told_usd, model, usage }: ModelRound): number | null {
    return told_usd ?? this.ports.models.price(model, usage)
  }

  /** Runs an effect between the two points at which a crash test may end the process. */
  async effect<T>(what: string, run: () => Promise<T>): Promise<T> {
    this.ports.effect_seam?.before_effect(what)
    const value = await run()
    this.ports.effect_seam?.after_effect(what)
    return value
  }
}

function verdictOf({
  action,
  decision,
}: {
  action: PolicyAction
  decision: PolicyDecision
}): JudgedAgain {
  const { decide, why, revision: policy_revision, lifts } = decision
  switch (decide) {
    case 'allow':
      return { verdict: 'allow', action, policy_revision }
    case 'ask':
      return { verdict: 'ask', action, because: why, policy_revision, lapses_at: null, lifts }
    case 'deny':
      return { verdict: 'deny', why }
  }
}
