/**
 * A home that this process owns: its ledger, its host, and everything the host stands on. The same
 * for a run, for a command that writes and leaves, and for the daemon.
 */
import { join } from 'node:path'
import type { OwnedHome, RunSettings } from '../../cli/command/run-ports.ts'
import type { SpendBudget } from '../../domain/state/spend-budget.ts'
import type { Redactor } from '../../domain/secrets/redact.ts'
import type { Ledger } from '../../ledger/port.ts'
import type { Config } from '../../protocol/config.ts'
import { acpSessionsOf } from './acp.ts'
import { atWork } from '../machine/started.ts'
import { clock, env, files, ids, userHome } from '../machine/machine.ts'
import { inspectOf } from './inspect.ts'
import { memoryOf } from './memory.ts'
import { modelsOf } from './models.ts'
import type { HookSettings } from './hooks.ts'
import type { HomePolicy } from './policy-port.ts'
import { choiceOf, confinementOf, hostsOf, type RulesNow } from './sandbox.ts'
import { homeAge } from '../../domain/policy/in-force.ts'
import { openRunDoor } from './run-door.ts'
import { refuseOpenSecrets, unreadableSecrets, type UnreadableSecret } from './secrets.ts'
import { treesOf } from './trees.ts'
import { sayUpgrade } from './upgrade.ts'
import { worktreesOf } from './worktrees.ts'

type Taking = {
  /** Knows what must not be written. */
  redactor: Redactor
  /** What the daemon has that a run has not: it can be reached, timed, and waits for room. */
  daemon?: { timed(ledger: Ledger): Ledger; memory_failed: (error: unknown) => void }
}

type Models = Awaited<ReturnType<typeof modelsOf>>

/**
 * With a registered secret whose value is not known, no model is asked: what it is sent, and what
 * it writes, could have the value in it. The agents are held until the setting is mended.
 */
function heldModels(models: Models, unreadable: readonly UnreadableSecret[]): Models {
  const [first] = unreadable
  if (first === undefined) return models
  const message = `No model is asked: ${first.message}: ${first.hint}.`
  const refused = { ok: false, code: 'secret_unreadable', message } as const
  return { ...models, open: async () => refused }
}

/** Rejects with the ledger's faults, and with `SecretRefusal` for a home that is open to others. */
export async function takeHome({ home, config }: RunSettings, { redactor, daemon }: Taking) {
  await refuseOpenSecrets(home, config)
  const acp = acpSessionsOf(home, () => processes)
  const [{ openLedger }, { createHost }, { createProcesses }, { createWeb }, models] =
    await Promise.all([
      import('../../ledger/store/open.ts'),
      import('../../runtime/host/host.ts'),
      import('../../exec/commands/processes.ts'),
      import('../../exec/web/web.ts'),
      modelsOf(config, acp).then(async (all) => heldModels(all, await unreadableSecrets(config))),
    ])
  const opened = await openLedger(home, {
    clock_now: () => clock.now(),
    mint: (prefix) => ids.mint(prefix),
    before_upgrade: sayUpgrade,
  })
  const ledger = daemon === undefined ? opened : daemon.timed(opened)
  const age = homeAge(await ledger.madeAtSchema())
  const policy = latePolicy({ home, config, redactor, age })
  const hosts = hostsOf(config, rulesOf(policy, ledger))
  const processes = createProcesses({
    tasks_folder: join(home, 'tasks'),
    clock,
    parent_env: env,
    pass: config.environment ?? [],
    caps: config.command_caps ?? {},
    ...confinementOf(home, config, { age, gate: hosts }),
  })
  const on_fault = daemon?.memory_failed
  const over = { home, ledger, processes, redactor }
  const memory = await memoryOf(on_fault === undefined ? over : { ...over, on_fault })
  const host = createHost({
    home,
    ledger,
    clock,
    ids,
    files,
    processes,
    worktrees: worktreesOf(home),
    trees: treesOf(home, redactor),
    web: createWeb({ clock, ...(hosts === null ? {} : { hosts }) }),
    inspect: inspectOf(home),
    foreign_agents: { stop: async (...of) => (await acp()).stop(...of) },
    memory,
    policy,
    models,
    ...(config.summary_model === undefined ? {} : { summary_model: config.summary_model }),
    ...(config.budget === undefined ? {} : { budget: homeBudget(config.budget) }),
    environment: {},
    user_home: userHome,
    redactor,
    ...(daemon === undefined
      ? { has_listener: false }
      : { has_listener: true, waits_for_room: true }),
  })
  return { ledger, processes, models, memory, host, redactor }
}

/** Its parser and its files are looked at when a first call is judged. */
function latePolicy(settings: HookSettings): HomePolicy {
  let port: Promise<HomePolicy> | null = null
  const opened = () =>
    (port ??= import('./policy-port.ts').then(async ({ policyPort }) => {
      const hooks = (settings.config.hooks ?? []).length > 0 ? await import('./hooks.ts') : null
      const standing = { age: settings.age, choice: choiceOf(settings.config) }
      return policyPort(settings.home, standing, hooks && hooks.hooksOf(settings))
    }))
  return {
    judge: async (call) => (await opened()).judge(call),
    rules: async (workspace) => (await opened()).rules(workspace),
  }
}

/** The rules that hold for an agent now: where its workspace is, a repository may narrow them. */
function rulesOf(policy: HomePolicy, ledger: Ledger): RulesNow {
  return async (agent_id) => {
    try {
      const agent = await ledger.row('agents', agent_id)
      if (agent === null) return { ok: false, why: `there is no agent ${agent_id}` }
      return await policy.rules(agent.workspace.root)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      return { ok: false, why: `the home cannot be read: ${why}` }
    }
  }
}

/** A limit that is not set is none. */
function homeBudget({ day, all }: NonNullable<Config['budget']>): SpendBudget {
  const limits = (given: NonNullable<typeof day>) => ({
    max_tokens: given.max_tokens ?? null,
    max_usd: given.max_usd ?? null,
    max_rounds: given.max_rounds ?? null,
  })
  return { day: day ? limits(day) : null, all: all ? limits(all) : null }
}

export type TakenHome = Awaited<ReturnType<typeof takeHome>>

/** Gives everything back, the lock last, whatever of it fails. */
export async function giveBack(taken: TakenHome, how: 'safe_point' | 'now'): Promise<void> {
  try {
    await taken.host.close(how)
  } finally {
    await taken.memory.close()
    await taken.processes.close()
    taken.models.close()
    await taken.ledger.close()
  }
}

export async function own(settings: RunSettings): Promise<OwnedHome> {
  const { secretsOf } = await import('./secrets.ts')
  const { redactor } = await secretsOf(settings.config)
  const taken = await takeHome(settings, { redactor })
  const { ledger, host, models, processes } = taken
  let door: Promise<{ close(): Promise<void> }> | null = null
  return {
    outlives: false,
    host,
    agents: () => ledger.agents(),
    events: (after) => ledger.events({ after, limit: 500 }),
    last_global_seq: () => ledger.lastGlobalSeq(),
    open_model: async (id) => {
      const found = await models.open(id)
      return found.ok ? { ok: true } : found
    },
    async open_door() {
      atWork()
      door ??= openRunDoor(settings.home, taken)
      await door
    },
    async output_bytes(task_id) {
      const seen = await processes.observe(task_id)
      return seen.state === 'absent' ? null : seen.output.stdout_bytes + seen.output.stderr_bytes
    },
    async close(how) {
      try {
        await (await door)?.close()
      } finally {
        await giveBack(taken, how)
      }
    },
  }
}
