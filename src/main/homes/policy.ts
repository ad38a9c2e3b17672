/** The policy of a home put together: its files, the parser of lines, and this machine's places. */
import { dirname } from 'node:path'
import type {
  OpenedPolicy,
  PolicyPorts,
  PolicyRefused,
  PolicySettings,
} from '../../cli/command/policy-ports.ts'
import { sealAction, type ActionOrigin, type PolicyAction } from '../../domain/policy/action.ts'
import { builtOf, type Reach } from '../../domain/policy/build.ts'
import { decideAction, type PolicyDecision } from '../../domain/policy/decision.ts'
import { effectivePolicy } from '../../domain/policy/effective.ts'
import type { Policy, PolicyRule } from '../../domain/policy/rule.ts'
import { partWords, ruleWords, sourceWords } from '../../domain/policy/words.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import type { EffectClass } from '../../domain/effect-class.ts'
import type { ReadSyntax } from '../../domain/shell/syntax.ts'
import { openShellParser } from '../../exec/shell/parser.ts'
import { placesOf } from '../../exec/shell/places.ts'
import type {
  PolicyDecisionRecord,
  PolicyRuleRecord,
} from '../../protocol/records/policy-record.ts'
import type { WrittenPolicy } from '../../protocol/policy-file.ts'
import { reachOf } from '../../tools/reach.ts'
import { sha256 } from '../../tools/tool/sha256.ts'
import { clock, env, userHome } from '../machine/machine.ts'
import {
  homePolicyPath,
  policyFiles,
  nothingWritten,
  policyIsThere,
  repositoryPolicyPath,
  type PolicyFile,
  type ReadPolicyFile,
} from './policy-files.ts'
import { isSameFolder, lastGoodPath } from './policy-good.ts'
import { openHomeReader } from './reader.ts'

/** Rows of a page of the ledger. */
const PAGE = 1_000
/** Texts whose commands are kept: most lines of a ledger stand in it many times. */
const TEXTS = 10_000

export const policyPorts: PolicyPorts = {
  async open(settings) {
    const { read, problem } = await openShellParser(clock)
    if (problem !== null) return { ok: false, file: 'the parser', line: null, why: problem }
    return openPolicy(settings, read, policyFiles(read), [])
  },
  async refused(home) {
    if (!(await policyIsThere(home))) return null
    const { read, problem } = await openShellParser(clock)
    if (problem !== null) return null
    const own = await ownPolicy(home, policyFiles(read))
    return own.ok
      ? own.refused && { ...own.refused, in_force: own.path }
      : { ...own, in_force: null }
  },
  async past({ home, file, confined }, each) {
    const reader = await openHomeReader(home)
    if (reader === null) return null
    try {
      const { read, problem } = await openShellParser(clock)
      if (problem !== null) return { ok: false, file: 'the parser', line: null, why: problem }
      const policies = new Map<string, OpenedPolicy>()
      const readFile = policyFiles(read)
      for (const { id, workspace } of await reader.agents()) {
        const settings = { home, file, confined, agent: id, workspace: workspace.root }
        const opened = await openPolicy(settings, read, readFile, ['repository'])
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

/** `leaves`: files of which a broken one counts as none. */
async function openPolicy(
  settings: PolicySettings,
  read: ReadSyntax,
  readFile: ReadPolicyFile,
  leaves: readonly 'repository'[],
): Promise<OpenedPolicy | PolicyRefused> {
  const found = await readPolicy(settings, readFile, leaves)
  if (!found.ok) return found
  const { policy, files, refused } = found
  return judging(policy, { ...settings, files, refused }, remembering(read))
}

export type ReadPolicy = {
  ok: true
  policy: Policy
  /** Those that it is made of. */
  files: readonly string[]
  /** The home's own text, null where there is none; of one that is refused, the last good one. */
  text: string | null
  refused: PolicyRefused | null
}

type OwnPolicy = {
  ok: true
  policy: WrittenPolicy
  text: string | null
  path: string
  refused: PolicyRefused | null
}

/**
 * What the policy.json of a home says. A file that is refused says nothing: the last good one stays
 * in force, as the home has kept it, and where none was kept that is the refusal.
 */
async function ownPolicy(
  home: string,
  readFile: ReadPolicyFile,
): Promise<OwnPolicy | PolicyRefused> {
  const path = homePolicyPath(home)
  const own = await readFile(path, 'home')
  if (own.ok) return { ...own, path, refused: null }
  const kept = lastGoodPath(home)
  const before = await readFile(kept, 'home')
  if (!before.ok || before.text === null) return own
  return { ...before, path: kept, refused: own }
}

/** What the files of a home and of a workspace say together, read now. */
export async function readPolicy(
  { home, file, workspace }: Pick<PolicySettings, 'home' | 'file' | 'workspace'>,
  readFile: ReadPolicyFile,
  leaves: readonly 'repository'[],
): Promise<ReadPolicy | PolicyRefused> {
  const own = file === null ? await ownPolicy(home, readFile) : await givenPolicy(file, readFile)
  if (!own.ok) return own
  const narrowing = await narrowingPolicy(home, workspace, readFile)
  if (!narrowing.ok && !leaves.includes('repository')) return narrowing
  const rulesIn = (written: { rules: readonly { rule: PolicyRule }[] }) =>
    written.rules.map(({ rule }) => rule)
  const policy = effectivePolicy(
    {
      preset: own.policy.preset ?? 'work',
      rules: rulesIn(own.policy),
      otherwise: own.policy.otherwise,
      narrower: narrowing.ok ? rulesIn(narrowing.policy) : [],
    },
    sha256,
  )
  const files = [
    ...(own.text === null ? [] : [own.path]),
    ...(narrowing.ok && narrowing.text !== null ? [repositoryPolicyPath(workspace)] : []),
  ]
  return { ok: true, policy, files, text: own.text, refused: own.refused }
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

type Where = Omit<PolicySettings, 'file'>

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
  { tool_name, reach, class: effect_class, item, origin }: CallMade,
  { home, agent, workspace, confined, search }: Where & { search: string },
  read: ReadSyntax,
  places = placesOf({ home, agent_id: agent, workspace, user_home: userHome, search }),
): PolicyAction {
  const body = {
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
  return sealAction(body, sha256)
}

/** The path that commands are looked up by, where nothing else is said. */
export const usualSearch = (): string => env['PATH'] ?? ''

function judging(
  policy: Policy,
  where: Where & Pick<ReadPolicy, 'files' | 'refused'>,
  read: ReadSyntax,
): OpenedPolicy {
  const { home, agent, workspace, files, refused } = where
  const search = usualSearch()
  const places = placesOf({ home, agent_id: agent, workspace, user_home: userHome, search })
  const call: OpenedPolicy['call'] = ({ tool_name, input, effect_class }) => {
    const reach = reachOf(tool_name, input, workspace)
    const made = { tool_name, reach, class: effect_class as EffectClass, item: null } as const
    const action = actionOf({ ...made, origin: 'operator' }, { ...where, search }, read, places)
    return recordOf(decideAction(action, policy))
  }
  const { revision, preset, otherwise } = policy
  return {
    ok: true,
    record: { revision, preset, rules: policy.rules.map(ruleRecord), otherwise, files, refused },
    call,
    line: (cmd) => call({ tool_name: 'ExecCommand', input: { cmd }, effect_class: 'reattachable' }),
  }
}

/** The same text has the same tree. */
function remembering(read: ReadSyntax): ReadSyntax {
  const known = new Map<string, ReturnType<ReadSyntax>>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const made = read(text)
    if (known.size >= TEXTS) known.clear()
    known.set(text, made)
    return made
  }
}

const ruleRecord = (rule: PolicyRule): PolicyRuleRecord => ({
  decide: rule.decide,
  about: ruleWords(rule),
  why: rule.why,
  from: sourceWords(rule.source),
})

function recordOf({ decide, because, part, why, revision }: PolicyDecision): PolicyDecisionRecord {
  const rule = because.by === 'rule' ? ruleRecord(because.rule) : null
  const could_be = because.by === 'rule' && because.match === 'could_be'
  return { decide, part: partWords(part), why, by: because.by, rule, could_be, revision }
}

/** A call in a line: its command, file or address, else its tool. */
function titleOf({ tool_name, input }: { tool_name: string; input: unknown }): string {
  const given = (input ?? {}) as Record<string, unknown>
  const named = [given['cmd'], given['path'], given['url']].find((one) => typeof one === 'string')
  return named === undefined ? tool_name : `${tool_name} ${named}`
}
