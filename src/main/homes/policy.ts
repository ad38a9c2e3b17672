/** The policy of a home put together: its files, the parser of lines, and this machine's places. */
import { dirname } from 'node:path'
import type {
  OpenedPolicy,
  PolicyPorts,
  PolicyRefused,
  PolicySettings,
} from '../../cli/command/policy-ports.ts'
import {
  sealAction,
  type ActionBody,
  type ActionOrigin,
  type PolicyAction,
} from '../../domain/policy/action.ts'
import { builtOf, type ActionPlaces, type Reach } from '../../domain/policy/build.ts'
import { decideByAll, type PolicyDecision } from '../../domain/policy/decision.ts'
import { effectivePolicy } from '../../domain/policy/effective.ts'
import {
  homePreset,
  presetsInForce,
  type HomeAge,
  type SandboxChoice,
} from '../../domain/policy/in-force.ts'
import type { Agent } from '../../domain/state/agent.ts'
import type { Policy, PolicyRule, PresetName } from '../../domain/policy/rule.ts'
import { partWords, ruleWords, sourceWords } from '../../domain/policy/words.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import type { EffectClass } from '../../domain/effect-class.ts'
import type { ReadSyntax } from '../../domain/shell/syntax.ts'
import { openShellParser } from '../../exec/shell/parser.ts'
import { placesOf } from '../../exec/shell/places.ts'
import type {
  PolicyDecisionRecord,
  PolicyRecord,
  PolicyRuleRecord,
} from '../../protocol/records/policy-record.ts'
import type { WrittenPolicy } from '../../protocol/policy-file.ts'
import { lineage } from '../../protocol/views/lineage.ts'
import { agentHome } from '../../runtime/home.ts'
import { reachOf } from '../../tools/reach.ts'
import { sha256 } from '../../tools/tool/sha256.ts'
import { clock, env, userHome } from '../machine/machine.ts'
import {
  policyFiles,
  nothingWritten,
  repositoryPolicyPath,
  type PolicyFile,
  type ReadPolicyFile,
} from './policy-files.ts'
import { isSameFolder, ownNow, ownPolicy, type OwnPolicy } from './policy-good.ts'
import { openHomeReader } from './reader.ts'
import { ageIn, choiceOf, confinementState } from './sandbox.ts'

/** Rows of a page of the ledger. */
const PAGE = 1_000
/** Decisions that are kept: most calls of a ledger stand in it many times. */
const DECISIONS = 10_000

export const policyPorts: PolicyPorts = {
  async open(settings) {
    const { read, problem } = await openShellParser(clock)
    if (problem !== null) return { ok: false, file: 'the parser', line: null, why: problem }
    const { age, agents } = await ledgerOf(settings.home)
    const standing = await standingIn(settings, age, presetChain(agents, settings.agent))
    return openPolicy(standing, read, policyFiles(read), [])
  },
  refused: async (home) => (await ownNow(home)).refused,
  async past(asked, each) {
    const { home } = asked
    const reader = await openHomeReader(home)
    if (reader === null) return null
    try {
      const { read, problem } = await openShellParser(clock)
      if (problem !== null) return { ok: false, file: 'the parser', line: null, why: problem }
      const policies = new Map<string, OpenedPolicy>()
      const readFile = policyFiles(read)
      const agents = await reader.agents()
      const nobody = { ...asked, agent: '', workspace: '' }
      const standing = await standingIn(nobody, await ageIn(reader), [])
      for (const { id, workspace } of agents) {
        const one = { ...standing, agent: id, workspace: workspace.root }
        const presets = presetChain(agents, id)
        const opened = await openPolicy({ ...one, presets }, read, readFile, ['repository'])
        if (!opened.ok) return opened
        policies.set(id, opened)
      }
      for (let after: number | undefined; ;) {
        const page = await reader.page('calls', {
          order: 'oldest',
          limit: PAGE,
          ...(after === undefined ? {} : { after }),
        })
        for (const { row } of page.entries) {
          const policy = policies.get(row.agent_id)
          if (policy) each({ id: row.id, title: titleOf(row), decision: policy.call(row) })
        }
        after = page.entries.at(-1)?.born
        if (!page.more || after === undefined) return { ok: true }
      }
    } finally {
      await reader.close()
    }
  },
}

/** What is asked of the ledger of a home, opened once. */
async function ledgerOf(home: string): Promise<{ age: HomeAge; agents: readonly Agent[] }> {
  const reader = await openHomeReader(home)
  if (reader === null) return { age: 'new', agents: [] }
  try {
    return { age: await ageIn(reader), agents: await reader.agents() }
  } finally {
    await reader.close()
  }
}

/** What was set for an agent, for the one it was made by, and so on up. */
const presetChain = (agents: readonly Agent[], of: string): (PresetName | null)[] =>
  lineage(agents, (agent) => agent, of).map(({ policy_preset = null }) => policy_preset)

async function standingIn(
  { config, ...of }: PolicySettings,
  age: HomeAge,
  presets: StandingOf['presets'],
): Promise<StandingOf & { agent: string }> {
  const confined = (await confinementState(of.home, config, age)).state === 'on'
  return { ...of, age, choice: choiceOf(config), confined, presets }
}

/** `leaves`: files of which a broken one counts as none. */
async function openPolicy(
  settings: StandingOf & { agent: string },
  read: ReadSyntax,
  readFile: ReadPolicyFile,
  leaves: readonly 'repository'[],
): Promise<OpenedPolicy | PolicyRefused> {
  const found = await readPolicy(settings, readFile, leaves)
  return found.ok ? judging(found, settings, read) : found
}

/** What says how far an agent is let, beside the files. */
export type StandingOf = Pick<PolicySettings, 'home' | 'file' | 'workspace'> & {
  age: HomeAge
  choice: SandboxChoice
  /** Whether its commands are confined. */
  confined: boolean
  /** Set for the agent, for the one it was made by, and so on up. */
  presets: readonly (PresetName | null)[]
}

export type ReadPolicy = {
  ok: true
  /** False: nothing is judged, and the policy is the usual one. */
  in_force: boolean
  /** One for each preset in force, the agent's own first. */
  policies: readonly Policy[]
  /** Those that it is made of. */
  files: readonly string[]
  /** The home's own text, null where there is none; of one that is refused, the last good one. */
  text: string | null
  refused: PolicyRefused | null
}

/**
 * What the files of a home and of a workspace say together, read now, with the presets that are in
 * force then.
 */
export async function readPolicy(
  { home, file, workspace, ...standing }: StandingOf,
  readFile: ReadPolicyFile,
  leaves: readonly 'repository'[],
): Promise<ReadPolicy | PolicyRefused> {
  const found = await readWritten({ home, file, workspace }, readFile, leaves)
  if (!found.ok) return found
  const { own, narrowing, files } = found
  const { age, choice, confined, presets } = standing
  const home_preset = homePreset(age, choice, confined, own.text === null ? null : own.policy)
  const in_force = presetsInForce(presets, home_preset)
  const chosen: readonly PresetName[] = in_force.length === 0 ? ['work'] : in_force
  const policies = chosen.map((preset) => madeOf(own.policy, narrowing, preset))
  const { text, refused } = own
  return { ok: true, in_force: in_force.length > 0, policies, files, text, refused }
}

/** By preset, of two texts as they were read: a text that stays is the same value. */
const made = new WeakMap<WrittenPolicy, WeakMap<WrittenPolicy, Map<PresetName, Policy>>>()

/** The policy that two files are with a preset; its revision is a hash over every rule of all. */
function madeOf(own: WrittenPolicy, narrowing: WrittenPolicy, preset: PresetName): Policy {
  const ofOwn = made.get(own) ?? new WeakMap<WrittenPolicy, Map<PresetName, Policy>>()
  const ofBoth = ofOwn.get(narrowing) ?? new Map<PresetName, Policy>()
  const known = ofBoth.get(preset)
  if (known !== undefined) return known
  const { otherwise } = own
  const written = { preset, rules: rulesOf(own), otherwise, narrower: rulesOf(narrowing) }
  const policy = effectivePolicy(written, sha256)
  made.set(own, ofOwn.set(narrowing, ofBoth.set(preset, policy)))
  return policy
}

export const rulesOf = ({ rules }: WrittenPolicy): PolicyRule[] => rules.map(({ rule }) => rule)

type Written = {
  ok: true
  own: OwnPolicy
  /** The repository's. */
  narrowing: WrittenPolicy
  files: readonly string[]
}

/** What is written in the files of a home and of a workspace, whatever is in force of it. */
export async function readWritten(
  { home, file, workspace }: Pick<PolicySettings, 'home' | 'file' | 'workspace'>,
  readFile: ReadPolicyFile,
  leaves: readonly 'repository'[],
): Promise<Written | PolicyRefused> {
  const own = file === null ? await ownPolicy(home, readFile) : await givenPolicy(file, readFile)
  if (!own.ok) return own
  const narrowing = await narrowingPolicy(home, workspace, readFile)
  if (!narrowing.ok && !leaves.includes('repository')) return narrowing
  const files = [
    ...(own.text === null ? [] : [own.path]),
    ...(narrowing.ok && narrowing.text !== null ? [repositoryPolicyPath(workspace)] : []),
  ]
  return { ok: true, own, narrowing: (narrowing.ok ? narrowing : nothingWritten).policy, files }
}

/** A file that is tried in the place of the home's own. */
async function givenPolicy(
  path: string,
  readFile: ReadPolicyFile,
): Promise<OwnPolicy | PolicyRefused> {
  const given = await readFile(path, 'home')
  if (!given.ok) return given
  if (given.text === null) return { ok: false, file: path, line: null, why: 'it is not there' }
  return { ...given, path, refused: null }
}

/** Where the `.holon` of a workspace is the home, its file is the operator's, and read once. */
async function narrowingPolicy(
  home: string,
  workspace: string,
  readFile: ReadPolicyFile,
): Promise<PolicyFile> {
  const path = repositoryPolicyPath(workspace)
  if (await isSameFolder(dirname(path), home)) return nothingWritten
  return readFile(path, 'repository')
}

type Where = Pick<PolicySettings, 'home' | 'agent' | 'workspace'> & { confined: boolean }

/** A call as it is judged, by whom it is made and on whose words. */
export type CallMade = {
  tool_name: string
  reach: Reach
  class: EffectClass
  item: WorkItemId | null
  origin: ActionOrigin
}

/** What a call would do here, at this moment. `search`: the PATH of its commands. */
export function actionOf(
  made: CallMade,
  where: Where & { search: string },
  read: ReadSyntax,
): PolicyAction {
  return sealAction(bodyOf(made, where, read, placesIn(where)), sha256)
}

const placesIn = ({ home, agent, workspace, search }: Where & { search: string }): ActionPlaces =>
  placesOf({ home, agent_id: agent, workspace, user_home: userHome, search })

function bodyOf(
  { tool_name, reach, class: effect_class, item, origin }: CallMade,
  { agent, workspace, confined }: Where,
  read: ReadSyntax,
  places: ActionPlaces,
): ActionBody {
  return {
    tool: tool_name,
    class: effect_class,
    agent,
    item,
    origin,
    workspace: places.place(workspace).real_path,
    confined,
    mcp: null,
    ...builtOf(reach, read, places),
  }
}

/** Where the relative paths of an agent's calls begin. */
export const pathsOf = ({ home, agent, workspace }: Where) => ({
  workdir: workspace,
  agent_home: agentHome(home, agent),
})

/** The path that commands are looked up by, where nothing else is said. */
export const usualSearch = (): string => env['PATH'] ?? ''

function judging(
  { in_force, policies, files, refused }: ReadPolicy,
  where: Where,
  read: ReadSyntax,
): OpenedPolicy {
  const places = placesIn({ ...where, search: usualSearch() })
  const decide = remembering((call) =>
    recordOf(decideByAll(bodyOf(call, where, read, places), policies)),
  )
  const call: OpenedPolicy['call'] = ({ tool_name, input, effect_class }) => {
    const reach = reachOf(tool_name, input, pathsOf(where))
    const made = { tool_name, reach, class: effect_class as EffectClass, item: null } as const
    return decide({ ...made, origin: 'operator' })
  }
  return {
    ok: true,
    record: { in_force, policies: policies.map(policyRecord), files, refused },
    call,
    line: (cmd) => call({ tool_name: 'ExecCommand', input: { cmd }, effect_class: 'reattachable' }),
  }
}

/** What the same call was decided before, the machine being as it was found then. */
function remembering(decide: (call: CallMade) => PolicyDecisionRecord): typeof decide {
  const known = new Map<string, PolicyDecisionRecord>()
  return (call) => {
    const key = JSON.stringify(call)
    const before = known.get(key)
    if (before !== undefined) return before
    const decision = decide(call)
    if (known.size >= DECISIONS) known.clear()
    known.set(key, decision)
    return decision
  }
}

const policyRecord = ({ revision, preset, otherwise, rules }: Policy): PolicyRecord => {
  return { revision, preset, otherwise, rules: rules.map(ruleRecord) }
}

/** Of rules that were told before: a ledger is decided by few of them. */
const told = new WeakMap<PolicyRule, PolicyRuleRecord>()

function ruleRecord(rule: PolicyRule): PolicyRuleRecord {
  const record = told.get(rule) ?? recordOfRule(rule)
  told.set(rule, record)
  return record
}

const recordOfRule = (rule: PolicyRule): PolicyRuleRecord => ({
  decide: rule.decide,
  about: ruleWords(rule),
  why: rule.why,
  from: sourceWords(rule.source),
})

function recordOf({ decide, because, part, why, revision }: PolicyDecision): PolicyDecisionRecord {
  const rule = because.by === 'rule' ? ruleRecord(because.rule) : null
  const could_be = because.by === 'rule' && because.match === 'could_be'
  const shown = because.by === 'doubt' ? (because.in_doubt ?? partWords(part)) : partWords(part)
  return { decide, part: shown, why, by: because.by, rule, could_be, revision }
}

/** A call in a line: its command, file or address, else its tool. */
function titleOf({ tool_name, input }: { tool_name: string; input: unknown }): string {
  const given = (input ?? {}) as Record<string, unknown>
  const named = [given['cmd'], given['path'], given['url']].find((one) => typeof one === 'string')
  return named === undefined ? tool_name : `${tool_name} ${named}`
}
