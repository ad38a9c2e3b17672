/**
 * `holon policy`: what a policy says of a line, of a call that was made, and of all of them. It is
 * asked, and nothing is carried out or held by it.
 */
import type {
  PolicyDecisionRecord,
  PolicyRecord,
  PolicyRuleRecord,
} from '../../protocol/records/policy-record.ts'
import { counted } from '../../present/lines/call-line.ts'
import { safeLine } from '../../present/text/safe.ts'
import { table } from '../../present/text/table.ts'
import { prefixOf, resolveId } from '../../client/home-reads.ts'
import { readConfig } from '../command/config-file.ts'
import { candidateLines, printJson, printLines, reading, type Context } from '../command/context.ts'
import { CliFailure, exits, noHome, usage, type Exit } from '../command/failure.ts'
import { mendPolicy, refusedWords } from '../command/guards.ts'
import type { OpenedPolicy, PolicyRefused, PolicySettings } from '../command/policy-ports.ts'
import { hooksFor } from '../../protocol/hook-config.ts'
import { problemOf } from '../../protocol/problem.ts'

type Decide = PolicyDecisionRecord['decide']
export type PolicyOptions = { agent?: string; file?: string }

const said: Readonly<Record<Decide, string>> = { allow: 'allowed', ask: 'asked', deny: 'denied' }
const exitsOf: Readonly<Record<Decide, Exit>> = {
  allow: exits.done,
  ask: exits.waits,
  deny: exits.failed,
}

/** Exit 0 when the line is allowed, 3 when it is asked, 1 when it is denied. */
export async function policyCheck(
  context: Context,
  line: string,
  options: PolicyOptions,
): Promise<Exit> {
  const policy = await opened(context, await settingsOf(context, options))
  return printDecision(context, line, policy.line(line))
}

export async function policyExplain(context: Context, text: string): Promise<Exit> {
  const { call, workspace } = await reading(context, async (reader) => {
    if (prefixOf(text) !== 'call') {
      throw usage('bad_id', `"${text}" is no call`, 'calls look like call_7f3a')
    }
    const found = await resolveId(reader, text)
    if (!found.ok) {
      const many = found.code === 'unknown_id' ? 'there is no' : 'more than one is meant by'
      const more = candidateLines(context, found.candidates)
      throw usage(found.code, `${many} ${text}`, 'holon work show <item> --trace names calls', more)
    }
    const call = await reader.row('calls', found.id)
    const agent = call === null ? null : await reader.row('agents', call.agent_id)
    if (call === null || agent === null) throw new Error(`no row for ${found.id}`)
    return { call, workspace: agent.workspace.root }
  })
  const config = await configOf(context)
  const settings = { ...at(context), agent: call.agent_id, workspace, config, file: null }
  const policy = await opened(context, settings)
  printDecision(context, call.tool_name, policy.call(call))
  const about = { tool: call.tool_name, class: call.effect_class }
  const asked = hooksFor(config.hooks ?? [], about)
  if (context.flags.json !== true && asked.length > 0) {
    const names = asked.map(({ run: [program] }) => safeLine(`  hook  ${program}, not run here`))
    printLines(context, names)
  }
  return exits.done
}

export async function policyShow(context: Context, options: PolicyOptions): Promise<Exit> {
  const { record } = await opened(context, await settingsOf(context, options))
  if (context.flags.json === true) {
    printJson(context, record)
    return exits.done
  }
  const { in_force, policies, files, refused } = record
  const lines = policies.flatMap((policy) => policyLines(context, policy))
  const stands = refused && refusedWords({ ...refused, in_force: files[0] ?? null })
  printLines(context, [
    ...(in_force ? [] : [notInForce]),
    ...(policies.length > 1 ? [together] : []),
    ...files.map((file) => safeLine(`with ${file}`)),
    ...(stands === null ? [] : [safeLine(stands)]),
    ...lines,
  ])
  return exits.done
}

const notInForce =
  'nothing is judged: this home was made before agents were, and nobody chose; it would be'
const together = 'each of these decides, and the strictest counts: its own, and of agents above it'

function policyLines(context: Context, { preset, revision, rules, otherwise }: PolicyRecord) {
  const rows = rules.map(({ decide, about, from, why }) => [decide, about, from, why].map(safeLine))
  const { run, write, host, mcp } = otherwise
  const columns = [{ title: 'DECIDE' }, { title: 'ABOUT', min: 20 }, { title: 'FROM', min: 12 }]
  return [
    `preset ${preset}, revision ${revision}`,
    ...(rows.length === 0
      ? []
      : table([...columns, { title: 'WHY', min: 10 }], rows, context.medium)),
    `otherwise: run ${run}, write ${write}, host ${host}, mcp ${mcp}`,
  ]
}

type Group = {
  decide: Decide
  why: string
  rule: PolicyRuleRecord | null
  calls: number
  example: { id: string; title: string }
}

/** Groups that are printed; the rest is counted. */
const SHOWN = 20

/** All calls of the home, tried with the policy as it is, or with a file in its place. */
export async function policyTest(context: Context, file: string | undefined): Promise<Exit> {
  const path = file === undefined ? null : context.ports.absolute(file)
  const decided: Record<Decide, number> = { allow: 0, ask: 0, deny: 0 }
  const groups = new Map<string, Group>()
  const settings = { home: context.home.value, file: path, config: await configOf(context) }
  const done = await context.ports.policy.past(settings, ({ id, title, decision }) => {
    const { decide, rule, why, by } = decision
    decided[decide] += 1
    if (decide === 'allow') return
    const what = rule === null ? why.replace(/^.*: /, '') : `${rule.from} ${rule.about}`
    const key = `${decide} ${by} ${what}`
    const group = groups.get(key)
    if (group) group.calls += 1
    else groups.set(key, { decide, why, rule, calls: 1, example: { id, title } })
  })
  if (done === null) throw noHome(context.home.value)
  if (!done.ok) throw refusal(done)
  const sorted = [...groups.values()].sort((a, b) => b.calls - a.calls)
  const calls = decided.allow + decided.ask + decided.deny
  if (context.flags.json === true) {
    printJson(context, { calls, decided, groups: sorted })
    return exits.done
  }
  const { allow, ask, deny } = decided
  const { config } = await readConfig(context.ports, context.home.value)
  const hooks = config.hooks?.length ?? 0
  printLines(context, [
    `${counted(calls, 'call')}: ${allow} allowed, ${ask} asked, ${deny} denied`,
    ...sorted
      .slice(0, SHOWN)
      .flatMap((group) => [
        safeLine(`${said[group.decide]} ${group.calls}: ${group.why}`),
        `  like ${safeLine(`${group.example.id} ${group.example.title}`)}`,
      ]),
    ...(hooks === 0 ? [] : [`without ${counted(hooks, 'hook')}: none is run over what was`]),
    ...(sorted.length > SHOWN ? [`and ${sorted.length - SHOWN} more kinds`] : []),
  ])
  return exits.done
}

function printDecision(context: Context, title: string, decision: PolicyDecisionRecord): Exit {
  if (context.flags.json === true) printJson(context, decision)
  else {
    const { decide, why, rule, could_be } = decision
    printLines(context, [
      safeLine(`${said[decide]}: ${title}`),
      `  why   ${safeLine(why)}`,
      ...(rule === null
        ? []
        : [`  rule  ${safeLine(`${rule.decide} ${rule.about}, ${rule.from}`)}`]),
      ...(could_be ? ['  only running it would say whether the rule is about it'] : []),
    ])
  }
  return exitsOf[decision.decide]
}

const at = (context: Context) => ({ home: context.home.value })

async function configOf({ ports, home }: Context) {
  return (await readConfig(ports, home.value)).config
}

/** Without an agent the working folder is the workspace. */
async function settingsOf(
  context: Context,
  { agent, file }: PolicyOptions,
): Promise<PolicySettings> {
  const config = await configOf(context)
  const path = file === undefined ? null : context.ports.absolute(file)
  const base = { ...at(context), config, file: path }
  if (agent === undefined) {
    return { ...base, agent: 'main', workspace: context.ports.working_folder }
  }
  return reading(context, async (reader) => {
    const row = await reader.row('agents', agent)
    if (row === null) throw usage('agent_not_found', `there is no agent "${agent}"`, 'holon agents')
    return { ...base, agent, workspace: row.workspace.root }
  })
}

async function opened(context: Context, settings: PolicySettings): Promise<OpenedPolicy> {
  const policy = await context.ports.policy.open(settings)
  if (!policy.ok) throw refusal(policy)
  return policy
}

function refusal({ file, line, why }: PolicyRefused): CliFailure {
  const where = line === null ? file : `${file} line ${line}`
  return new CliFailure(
    exits.usage,
    problemOf('policy_invalid', `${where}: ${why}`, mendPolicy, 422),
  )
}
