/**
 * What a request of the fuzz can be about so that it is taken: for each operation that wants
 * something of a certain kind (an open question, a running turn, a clean worktree), one that is
 * there, or one that is made by the host's own acts. How real processes fall in time then decides
 * less of what a fuzz sees.
 */
import { setTimeout } from 'node:timers/promises'
import { boundHash } from '../../../src/domain/work/answer-question.ts'
import type { CheckGiven } from '../../../src/domain/checks/spec.ts'
import type { Rows, Table } from '../../../src/domain/state/event.ts'
import { openTurn, type Facts } from '../../../src/domain/facts/facts.ts'
import type { OperatorAct } from '../../../src/domain/operator/act.ts'
import { heldHash } from '../../../src/domain/approvals/held-text.ts'
import { isHeld, isTerminal } from '../../../src/domain/state/task.ts'
import type { WorkItem } from '../../../src/domain/state/work-item.ts'
import { calls, says, scriptedModel, type Script } from '../../../src/testing/scripted-model.ts'
import type { FuzzHome } from './fuzz-home.ts'
import { itemFile } from '../item-file.ts'
import { git } from '../repository.ts'

/** Values for the parameters of the path, and a body, where a certain one is wanted. */
export type Place = { path: Readonly<Record<string, string>>; body?: unknown }

type Act = OperatorAct extends infer A ? (A extends unknown ? Omit<A, 'agent_id'> : never) : never

/** A command with this word is held. */
export const publishes = 'publish'
const firstWords = 'Begin with it.'
const childsWords = 'Leave a file there.'

/** Calls something in the turn that it is told to in, and has nothing to add: not to its result. */
const once =
  (words: string, script: Script): Script =>
  (request, n) => {
    const isOver = request.messages.some(({ role }) => role === 'tool')
    const said = JSON.stringify(request.messages)
    return isOver || !said.includes(words) || said.includes('That is all.')
      ? says('That is all.')
      : script(request, n)
  }

/** Asks its operator or its parent, whatever it is told. */
const asking = () => calls({ name: 'WaitFor', input: { wake: 'operator_input', reason: 'And?' } })

/** Leaves a file in its folder that no other has. */
const leaving = () => calls({ name: 'ExecCommand', input: { cmd: 'mktemp new-XXXXXX.txt' } })

const spawning = () => {
  const input = { initial_message: childsWords, model: 'live/leaving' }
  return calls({ name: 'SpawnAgent', input: { ...input, workspace_mode: 'worktree' } })
}

const typing = () => calls({ name: 'ExecCommand', input: { cmd: 'cat', tty: true, yield_ms: 0 } })

/** Asks to run what the policy of the fuzz asks about. */
const publishing = () => calls({ name: 'ExecCommand', input: { cmd: `true ${publishes}` } })

const expecting = () => {
  const on = { source: 'ci', resource: 'r1' }
  return calls({ name: 'WaitFor', input: { wake: 'external', reason: 'The build.', ...on } })
}

/** One model for each thing an agent can be in the middle of. */
export const liveModels = {
  'live/asking': scriptedModel(asking),
  'live/expecting': scriptedModel(expecting),
  'live/thinking': scriptedModel(() => 'hang'),
  'live/typing': scriptedModel(once(firstWords, typing)),
  'live/publishing': scriptedModel(once(firstWords, publishing)),
  'live/leaving': scriptedModel(once(childsWords, leaving)),
  'live/spawning': scriptedModel(once(firstWords, spawning)),
}
type LiveModel = keyof typeof liveModels

export class Live {
  readonly #home: FuzzHome
  readonly #makers: Readonly<Record<string, () => Promise<Place | null>>>
  #made = 0

  constructor(home: FuzzHome) {
    this.#home = home
    const agent = '/agents/{agent}'
    const [item, schedule] = [`${agent}/work-items/{item}`, `${agent}/schedules/{schedule}`]
    const [wait, worktree] = [`${agent}/waits/{wait}`, `${agent}/worktrees/{worktree}`]
    const entry = () => this.#entry()
    this.#makers = {
      [`DELETE ${agent}`]: async () => ({ path: { agent: await this.#agent('live/asking') } }),
      [`POST ${agent}/abort`]: () => this.#run(),
      [`POST ${agent}/messages/{message}/take-back`]: () => this.#unclaimed(),
      [`POST ${agent}/imports`]: async () => {
        const text = itemFile(`objective ${(this.#made += 1)}`, 'Nothing yet.')
        return { path: { agent: 'main' }, body: { file: text } }
      },
      [`PATCH ${schedule}`]: () => this.#schedule({ label: `label ${(this.#made += 1)}` }),
      [`DELETE ${schedule}`]: () => this.#schedule(),
      [`POST ${schedule}/pause`]: () => this.#schedule(),
      [`POST ${schedule}/resume`]: () => this.#schedule(),
      [`POST ${agent}/tasks/{task}/input`]: () => this.#reader(),
      [`POST ${agent}/tasks/{task}/answer`]: () => this.#held(),
      [`GET ${agent}/grants/{grant}`]: () => this.#grant(),
      [`DELETE ${agent}/grants/{grant}`]: () => this.#grant(),
      [`GET ${agent}/turns/{turn}/context/{n}`]: () => this.#request(),
      [`DELETE ${wait}`]: () => this.#wait('operator_input', 'live/asking'),
      [`POST ${wait}/answer`]: () => this.#wait('operator_input', 'live/asking'),
      [`POST ${wait}/trigger`]: () => this.#wait('external', 'live/expecting'),
      [`PATCH ${item}`]: () => this.#item({ objective: `objective ${(this.#made += 1)}` }),
      [`POST ${item}/complete`]: () => this.#item(),
      [`POST ${item}/pick`]: () => this.#item(),
      [`POST ${item}/checks/run`]: async () => ofChecks(await this.#checked(), ['readme']),
      [`POST ${item}/checks/{name}/answer`]: () => this.#question(),
      [`POST ${worktree}/remove`]: () => this.#worktree(true),
      [`POST ${worktree}/discard`]: () => this.#worktree(false),
      [`POST ${worktree}/snapshot`]: () => this.#worktree(false),
      [`POST ${worktree}/restore`]: () => this.#goneWorktree(),
      'POST /attention/{entry}/dismiss': entry,
      'POST /attention/{entry}/snooze': entry,
    }
  }

  /** Null: nothing of a certain kind is wanted, or there is none just now. */
  async of(operation: string): Promise<Place | null> {
    return (await this.#makers[operation]?.()) ?? null
  }

  /** Ends what reads its terminal for ever. */
  async close(): Promise<void> {
    for (const facts of this.#all()) {
      for (const task of [...facts.rows('tasks')]) {
        if (task.kind !== 'command' || isTerminal(task)) continue
        await this.#home.api.box.host.act({
          do: 'stop_task',
          agent_id: facts.agent_id,
          task_id: task.id,
        })
      }
    }
  }

  #all(): Facts[] {
    const { home } = this.#home.api
    return home.agent_ids().flatMap((id) => home.facts(id) ?? [])
  }

  /** A row of an agent that a person may act on. */
  #find<T extends Table>(table: T, is: (row: Rows[T]) => boolean): Rows[T] | null {
    for (const facts of this.#all()) {
      const agent = facts.row('agents', facts.agent_id)
      if (agent?.visibility !== 'public' || agent.state === 'deleted') continue
      for (const row of facts.rows(table)) if (is(row)) return row
    }
    return null
  }

  /**
   * Resolves when a commit makes `look` find something. A command that has begun arms a timer of
   * the clock without a word, so time passes, too, while nothing is heard.
   */
  async #until<T>(look: () => T | null): Promise<T> {
    const { clock, api } = this.#home
    for (let found = look(); ; found = look()) {
      if (found !== null) return found
      const heard = Promise.withResolvers<void>()
      const forget = api.box.host.subscribe(() => heard.resolve())
      await clock.advance(100)
      if (look() === null) await Promise.race([heard.promise, setTimeout(20)])
      forget()
    }
  }

  async #acts(agent_id: string, act: Act): Promise<string | null> {
    const reply = await this.#home.api.box.host.act({ ...act, agent_id })
    if (!reply.ok) throw new Error(`${act.do} of ${agent_id}: ${reply.code}: ${reply.message}`)
    return reply.id
  }

  /** A new agent in its first turn. */
  async #agent(model: LiveModel): Promise<string> {
    const id = `live-${(this.#made += 1)}`
    const workspace = { mode: 'explicit_root', root: this.#home.api.box.workspace } as const
    await this.#acts(id, { do: 'create_agent', model, workspace })
    await this.#acts(id, { do: 'send', text: firstWords })
    return id
  }

  async #run(): Promise<Place> {
    const agent = await this.#agent('live/thinking')
    const { home } = this.#home.api
    const { id } = await this.#until(() => {
      const facts = home.facts(agent)
      return facts && openTurn(facts)
    })
    return { path: { agent }, body: { run_id: id, stop: false } }
  }

  /** What is said to an agent in the middle of a turn waits for the next one. */
  async #unclaimed(): Promise<Place> {
    const { agent = '' } = (await this.#run()).path
    const act = { do: 'send', agent_id: agent, text: 'And then this.' } as const
    const sent = await this.#home.api.box.host.act(act)
    if (!sent.ok) throw new Error(`send to ${agent}: ${sent.message}`)
    return { path: { agent, message: sent.message_id ?? '' } }
  }

  async #schedule(body?: unknown): Promise<Place> {
    const found = this.#find('schedules', ({ status }) => status === 'active')
    const spec = { kind: 'cron', expression: '0 4 * * *', time_zone: 'UTC' } as const
    const given = { do: 'create_schedule', label: 'nightly', text: 'It is night.', spec } as const
    const schedule = found?.id ?? (await this.#acts('main', given)) ?? ''
    const path = { agent: found?.agent_id ?? 'main', schedule }
    return body === undefined ? { path } : { path, body }
  }

  async #reader(): Promise<Place> {
    const reads = () =>
      this.#find('tasks', (task) => task.status === 'running' && task.input === 'terminal')
    if (reads() === null) await this.#agent('live/typing')
    const { id, agent_id } = await this.#until(reads)
    return { path: { agent: agent_id, task: id }, body: { text: 'typed\n' } }
  }

  /** A yes that stands for longer than once. */
  async #grant(): Promise<Place> {
    const grants = () => this.#find('grants', ({ status }) => status === 'active')
    if (grants() === null) {
      const { id, agent_id, bound_hash } = await this.#heldTask()
      const given = { do: 'answer_held', task_id: id, bound_hash } as const
      await this.#acts(agent_id, { ...given, choice: 'like_for_agent' })
    }
    const grant = await this.#until(grants)
    return { path: { agent: grant.agent_id, grant: grant.id } }
  }

  async #held(): Promise<Place> {
    const { id, agent_id, bound_hash } = await this.#heldTask()
    return { path: { agent: agent_id, task: id }, body: { choice: 'no', bound_hash } }
  }

  async #heldTask() {
    const held = () => this.#find('tasks', isHeld)
    if (held() === null) await this.#agent('live/publishing')
    const task = await this.#until(held)
    if (!isHeld(task)) throw new Error(`${task.id} is ${task.status}`)
    return { id: task.id, agent_id: task.agent_id, bound_hash: heldHash(task) }
  }

  async #request(): Promise<Place | null> {
    const { reads } = this.#home.api.home
    const [round] = await reads.list('rounds', { agent_id: 'main', limit: 1 })
    return round ? { path: { agent: 'main', turn: round.turn_id, n: `${round.n}` } } : null
  }

  async #wait(wake: 'operator_input' | 'external', model: LiveModel): Promise<Place> {
    const waits = () => this.#find('waits', (one) => one.wake === wake && one.status === 'active')
    if (waits() === null) await this.#agent(model)
    const wait = await this.#until(waits)
    const answer = { bound_hash: boundHash(wait), text: 'Go on.' }
    const body = wake === 'external' ? { body: 'It is built.' } : answer
    return { path: { agent: wait.agent_id, wait: wait.id }, body }
  }

  async #item(body?: unknown): Promise<Place> {
    const found = this.#find('work_items', ({ state }) => state === 'open')
    const given = { do: 'create_item', objective: 'To be done' } as const
    const item = found?.id ?? (await this.#acts('main', given)) ?? ''
    const path = { agent: found?.agent_id ?? 'main', item }
    return body === undefined ? { path } : { path, body }
  }

  /** A completed item whose file was looked at, and whose question waits for its answer. */
  async #checked(): Promise<WorkItem> {
    const checks: CheckGiven[] = [
      { kind: 'file', name: 'readme', path: 'README.md', expect: { exists: true } },
      { kind: 'person', name: 'look', question: 'Is it what you meant?' },
    ]
    const is = (item: WorkItem) =>
      runOf(item, 'readme')?.state === 'finished' && runOf(item, 'look')?.state === 'owed'
    const found = this.#find('work_items', is)
    if (found !== null) return found
    const given = { do: 'create_item', objective: 'To be looked at', checks } as const
    const id = (await this.#acts('main', given)) ?? ''
    await this.#acts('main', { do: 'complete', work_item_id: id, report: 'It is there.' })
    return this.#until(() => this.#find('work_items', (item) => item.id === id && is(item)))
  }

  async #question(): Promise<Place> {
    const item = await this.#checked()
    const { path } = ofChecks(item, [])
    const run = runOf(item, 'look')?.n
    return { path: { ...path, name: 'look' }, body: { run, passed: true, words: 'Yes.' } }
  }

  /** One that is kept. `merged`: everything in it is in its repository's branch. */
  async #worktree(merged: boolean): Promise<Place> {
    const kept = () => this.#find('worktrees', ({ state }) => state === 'kept')
    if (kept() === null) await this.#agent('live/spawning')
    const { id, agent_id, path, repository, branch } = await this.#until(kept)
    if (merged) {
      git(path, 'add', '--all')
      git(path, 'commit', '--quiet', '--allow-empty', '-m', 'what was left')
      git(repository, 'merge', '--quiet', '--no-edit', branch)
    }
    return { path: { agent: agent_id, worktree: id } }
  }

  async #goneWorktree(): Promise<Place> {
    const { agent = '', worktree = '' } = (await this.#worktree(false)).path
    await this.#acts(agent, { do: 'discard_worktree', worktree_id: worktree })
    return { path: { agent, worktree } }
  }

  async #entry(): Promise<Place | null> {
    const { status, body } = await this.#home.api.ask('GET', '/attention')
    const [first] = status === 200 ? (body['attention'] as { id: string }[]) : []
    return first ? { path: { entry: first.id } } : null
  }
}

const runOf = ({ checks }: WorkItem, name: string) =>
  checks.find((check) => check.name === name)?.run ?? null

const ofChecks = ({ agent_id, id }: WorkItem, names: readonly string[]): Place => ({
  path: { agent: agent_id, item: id },
  body: { names },
})
