/**
 * A host in a box: a real home, ledger, files and processes in a temporary folder, with the model
 * and the clock in the test's hands. Every box is removed with the test that made it.
 */
import { existsSync, mkdtempSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock, systemIds } from '../../exec/clock.ts'
import { systemFiles } from '../../exec/files/files.ts'
import type { Redactor } from '../../domain/secrets/redact.ts'
import type { AskedNetwork } from '../../exec/commands/confinement.ts'
import type { Clock, Files, Ids, Web } from '../../exec/ports.ts'
import { createInspect } from '../../exec/inspect/inspect.ts'
import type { Inspect } from '../../exec/inspect/inspect-port.ts'
import { createProcesses } from '../../exec/commands/processes.ts'
import { createWeb } from '../../exec/web/web.ts'
import { createGit } from '../../exec/git/git.ts'
import { createTrees } from '../../exec/git/trees.ts'
import { createWorktrees } from '../../exec/worktrees/worktrees.ts'
import { openLedger, type FaultSeam } from '../../ledger/store/open.ts'
import type { Ledger } from '../../ledger/port.ts'
import type { Effort, Model } from '../../models/model.ts'
import { secretsIn } from '../../runtime/redact-notices.ts'
import { createHost } from '../../runtime/host/host.ts'
import { searchIndexIn } from '../../ledger/search/search-index.ts'
import type { SearchIndex } from '../../ledger/search/port.ts'
import { Memory } from '../../runtime/memory/memory.ts'
import { tasksIn } from './tasks-in.ts'
import type { EffectSeam, Host, HostNotice, HostPorts } from '../../runtime/ports.ts'

export type BoxOptions = {
  /** Models by `provider/model`; `default` answers for every other id. */
  models: Readonly<Record<string, Model>>
  home?: string
  workspace?: string
  clock?: Clock
  ids?: Ids
  fault?: FaultSeam
  effect_seam?: EffectSeam
  foreign_agents?: HostPorts['foreign_agents']
  /** What judges commands; default: nobody. */
  policy?: HostPorts['policy']
  redactor?: Redactor
  summary_model?: string
  /** Of the whole home. */
  budget?: HostPorts['budget'] & object
  /** Openings say where the agent works, however long the look takes; else they do not. */
  sees_place?: 'patiently'
  /** In the place of git and the network. */
  inspect?: HostPorts['inspect']
  /** As a daemon has it: waits while nothing can be written, instead of giving up. */
  waits_for_room?: boolean
  /** Whether outside events can come in; then also the URL they come to. */
  base_url?: string
  files?: Files
  /** What the host is given in the place of the ledger: the same, with the world in between. */
  over?: (ledger: Ledger) => Ledger
  /** Whose stores of credentials file tools are kept from; default: the home itself. */
  user_home?: string
  /** Commands are confined, by real bubblewrap. */
  network?: AskedNetwork

  over_index?: (index: SearchIndex) => SearchIndex
  /** Default: the real one, which reaches no server of a test. */
  web?: Web
  over_worktrees?: (worktrees: HostPorts['worktrees']) => HostPorts['worktrees']
  context_window?: number
  /** What the models are asked for. */
  effort?: Effort
  request_minutes?: number
  /** Whether the models take images; default: no. */
  vision?: boolean
  /** US dollars of a round; without it no price is known. */
  price?: HostPorts['models']['price']
  /** Whether a seam has ended this box: what dies with it is then expected. */
  is_dead?: () => boolean
}

/** What a box ends with: a test, or a program that runs many. */
export type Scope = { after(close: () => void | Promise<void>): void }

export type HostFixture = {
  home: string
  workspace: string
  host: Host
  ledger: Ledger
  ports: HostPorts & { memory: Memory }
  notices: HostNotice[]
  /** Resolves with the notice that `is` accepts, from now on or already there. */
  until(is: (notice: HostNotice) => boolean, what?: string): Promise<HostNotice>
  /** Resolves when the agent rests and `what` holds for what it waits for. */
  rests(agent: string, what?: (next: HostNotice & { kind: 'resting' }) => boolean): Promise<void>
  /** Makes an agent that works in the workspace of the box. */
  makeAgent(model: string, id?: string): Promise<void>
  /** Everything down; the folder stays until the test ends. */
  close(): Promise<void>
}

/** What is open in a temporary home: closed before the folder goes. */
const openIn = new Map<string, (() => Promise<void>)[]>()

export function temporaryHome(t: Scope): { home: string; workspace: string } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-box-')))
  const [home, workspace] = [join(folder, 'home'), join(folder, 'work')]
  t.after(async () => {
    for (const close of openIn.get(home) ?? []) await close()
    openIn.delete(home)
    await endTasks(join(home, 'tasks'))
    rmSync(folder, { recursive: true, force: true })
  })
  mkdirSync(home, { mode: 0o700 })
  mkdirSync(workspace)
  return { home, workspace }
}

/** What the boxes of a test began outlives them, as it is meant to; the test it does not. */
async function endTasks(tasks_folder: string): Promise<void> {
  const left = existsSync(tasks_folder) ? tasksIn(tasks_folder) : []
  if (left.length === 0) return
  const clock = systemClock()
  const processes = createProcesses({ tasks_folder, clock, parent_env: process.env })
  for (const id of left) {
    if ((await processes.observe(id)).state === 'running') await processes.stop(id, 0)
  }
  await processes.close()
}

export async function openBox(t: Scope, options: BoxOptions): Promise<HostFixture> {
  const { home, workspace } =
    options.home && options.workspace
      ? { home: options.home, workspace: options.workspace }
      : temporaryHome(t)
  const ports = await portsOf(home, options)
  const { ledger, processes, memory } = ports
  const host = createHost(ports)
  host.listens(options.base_url ?? null)
  let closed: Promise<void> | null = null
  const close = () => (closed ??= shut(host, processes, memory, ledger))
  const closeAtEnd = () =>
    close().catch((error: unknown) => {
      if (!options.is_dead?.()) throw error
    })
  openIn.set(home, [...(openIn.get(home) ?? []), closeAtEnd])
  t.after(closeAtEnd)
  const watch = watching(host)
  const box: HostFixture = {
    home,
    workspace,
    host,
    ledger,
    ports,
    ...watch,
    // Asks the host that the box has now: a test may have put another one before it.
    async makeAgent(model, id = 'main') {
      const made = await this.host.ensureAgent({
        id,
        model,
        workspace: { mode: 'explicit_root', root: this.workspace },
      })
      if (!made.ok) throw new Error(`${id} was not made: ${made.message}`)
    },
    close,
  }
  return box
}

async function portsOf(home: string, options: BoxOptions): Promise<HostPorts & { memory: Memory }> {
  const clock = options.clock ?? systemClock()
  const ids = options.ids ?? systemIds()
  const opened = await openLedger(home, {
    clock_now: () => clock.now(),
    mint: (prefix) => ids.mint(prefix),
    ...(options.fault ? { fault: options.fault } : {}),
  })
  const ledger = options.over?.(opened) ?? opened
  const files = options.files ?? systemFiles()
  const processes = createProcesses({
    tasks_folder: join(home, 'tasks'),
    clock: systemClock(),
    parent_env: process.env,
    ...(options.network === undefined ? {} : { confinement: confinement(home, options.network) }),
  })
  const memory = new Memory({
    home,
    user_home: home,
    ledger,
    files,
    processes,
    clock: systemClock(),
    index: options.over_index?.(searchIndexIn(home)) ?? searchIndexIn(home),
    ...(options.redactor ? { redactor: options.redactor } : {}),
  })
  const worktrees = createWorktrees({
    parent_env: process.env,
    scratch_folder: join(home, 'worktrees', '.scratch'),
  })
  return {
    home,
    ledger,
    clock,
    ids,
    files,
    processes,
    memory,
    web: options.web ?? createWeb({ clock: systemClock() }),
    trees: createTrees({
      git: createGit({ parent_env: process.env }),
      folder: join(home, 'trees'),
      isSecret: secretsIn(options.redactor),
      now: () => Date.now(),
    }),
    worktrees: options.over_worktrees?.(worktrees) ?? worktrees,
    inspect: options.inspect ?? inspectOf(home, options.sees_place !== undefined),
    models: sourceOf(options),
    ...(options.summary_model ? { summary_model: options.summary_model } : {}),
    ...(options.budget ? { budget: options.budget } : {}),
    environment: {},
    user_home: options.user_home ?? home,
    has_listener: options.base_url !== undefined,
    waits_for_room: options.waits_for_room ?? false,
    ...(options.policy ? { policy: options.policy } : {}),
    ...(options.foreign_agents ? { foreign_agents: options.foreign_agents } : {}),
    ...(options.effect_seam ? { effect_seam: options.effect_seam } : {}),
    ...(options.redactor ? { redactor: options.redactor } : {}),
  }
}

/** The real one; without a look at machine and repository, which differ, unless asked for. */
function inspectOf(home: string, patiently: boolean): Inspect {
  const scratch_folder = join(home, 'worktrees', '.scratch')
  const inspect = createInspect({ parent_env: process.env, scratch_folder })
  return {
    ...inspect,
    machine: async () => (patiently ? inspect.machine(60_000) : null),
    repository: async (folder) => (patiently ? inspect.repository(folder, 60_000) : null),
  }
}

const sourceOf = (options: BoxOptions): HostPorts['models'] => ({
  open: async (id) => {
    const model = options.models[id] ?? options.models['default']
    return model
      ? { ok: true, model }
      : { ok: false, code: 'unknown_model', message: `There is no model "${id}".` }
  },
  facts: () => ({
    context_window: options.context_window ?? 128_000,
    max_output: null,
    effort: options.effort ?? null,
    request_minutes: options.request_minutes ?? null,
    vision: options.vision ?? false,
  }),
  price: options.price ?? (() => null),
})

/** Keeps every notice, and lets a test wait for one. */
function watching(host: Host): Pick<HostFixture, 'notices' | 'until' | 'rests'> {
  const notices: HostNotice[] = []
  const waiting = new Set<() => void>()
  host.subscribe((notice) => {
    notices.push(notice)
    for (const look of [...waiting]) look()
  })
  const until: HostFixture['until'] = (is, what = 'the notice') =>
    new Promise<HostNotice>((resolve, reject) => {
      const look = () => {
        const found = notices.find(is)
        const broken = notices.find((notice) => notice.kind === 'fault')
        if (found) resolve(found)
        else if (broken?.kind === 'fault') reject(new Error(`${what}: ${broken.message}`))
        else return
        waiting.delete(look)
      }
      waiting.add(look)
      look()
    })
  return {
    notices,
    until,
    async rests(agent, what = () => true) {
      const from = notices.length
      await until((notice) => {
        if (notice.kind !== 'resting' || notice.agent_id !== agent) return false
        return notices.indexOf(notice) >= from && what(notice)
      }, `${agent} to rest`)
    },
  }
}

async function shut(
  host: Host,
  processes: { close(): Promise<void> },
  memory: Memory,
  ledger: Ledger,
): Promise<void> {
  try {
    await host.close('now')
  } finally {
    await memory.close()
    await processes.close()
    await ledger.close()
  }
}

const confinement = (home: string, network: AskedNetwork) =>
  ({ folder: join(home, 'sandbox'), whom: 'everyone', network, writable: [] }) as const
