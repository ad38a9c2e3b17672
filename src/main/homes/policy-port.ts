/**
 * The policy that an owner of a home judges calls by: as its files are at this moment, so that a
 * changed rule holds from the next call on, and by the presets in force for the agent. Where there
 * is none nothing is asked. Of a file that is refused the last good one stays in force, which is
 * kept here; where there is none, and where nothing can be parsed, everything is asked, with why.
 */
import { refusalWords } from '../../cli/command/guards.ts'
import type { PolicyAction } from '../../domain/policy/action.ts'
import { joinHooks } from '../../domain/policy/hook.ts'
import { plainOnly } from '../../domain/policy/plain-line.ts'
import type { Policy } from '../../domain/policy/rule.ts'
import {
  decideAction,
  decideByAll,
  unjudged,
  type PolicyDecision,
} from '../../domain/policy/decision.ts'
import { effectivePolicy } from '../../domain/policy/effective.ts'
import type { HomeAge, SandboxChoice } from '../../domain/policy/in-force.ts'
import { openShellParser } from '../../exec/shell/parser.ts'
import type { PolicyPort } from '../../runtime/ports.ts'
import { clock } from '../machine/machine.ts'
import { reachOf } from '../../tools/reach.ts'
import { sha256 } from '../../tools/tool/sha256.ts'
import type { RulesNow } from './sandbox.ts'
import { actionOf, pathsOf, readPolicy, readWritten, rulesOf, usualSearch } from './policy.ts'
import type { Hooks } from './hooks.ts'
import { lastGoodPolicy } from './policy-good.ts'
import { policyFiles, policyIsThere } from './policy-files.ts'

/** Asks about every command. */
const careful = effectivePolicy({ preset: 'watch', rules: [], otherwise: {}, narrower: [] }, sha256)

/** Where none is in force: nothing is asked but by hooks. */
const none = effectivePolicy({ preset: 'open', rules: [], otherwise: {}, narrower: [] }, sha256)

/** `choice`: of the sandbox, as the owner of the home was started with it. */
export type HomeStanding = { age: HomeAge; choice: SandboxChoice }

/** `rules`: what the files say now, for who judges more than calls. */
export type HomePolicy = PolicyPort & { rules(workspace: string): ReturnType<RulesNow> }

/** `hooks`: null where there are none, which costs nothing. */
export function policyPort(home: string, standing: HomeStanding, hooks: Hooks | null): HomePolicy {
  const good = lastGoodPolicy(home)
  let opened: ReturnType<typeof openPolicyReader> | null = null
  return {
    async rules(workspace) {
      if (!(await policyIsThere(home))) return { ok: true, rules: [] }
      const { problem, readFile } = await (opened ??= openPolicyReader())
      if (problem !== null) return { ok: false, why: `the policy cannot be read: ${problem}` }
      const found = await readWritten({ home, file: null, workspace }, readFile, [])
      return found.ok
        ? { ok: true, rules: [...rulesOf(found.own.policy), ...rulesOf(found.narrowing)] }
        : { ok: false, why: refusalWords(found) }
    },
    async judge({ agent, workspace, confined, environment, presets, ...made }) {
      const isSet = standing.age === 'new' || presets.some((preset) => preset !== null)
      const isAsked = hooks !== null || isSet || opened !== null
      if (!isAsked && !(await policyIsThere(home))) return null
      const { read, problem, readFile } = await (opened ??= openPolicyReader())
      const by = { home, file: null, workspace, confined, presets, ...standing }
      const found = await readPolicy(by, readFile, [])
      if (found.ok && !found.in_force && hooks === null) return null
      if (found.ok && found.refused === null) await good.keep(found.text)
      const search = environment['PATH'] ?? usualSearch()
      const where = { home, agent, workspace, confined, search }
      const reach = reachOf(made.tool_name, made.input, pathsOf(where))
      const action = actionOf({ ...made, reach }, where, read)
      const { decision: judged, policies } = judgedBy(action, found, problem)
      const decision = plainOnly(judged, action, reach.lines[0]?.text ?? null)
      const asked = hooks !== null && decision.decide !== 'deny'
      const answers = asked ? await hooks(action) : []
      return { action, decision: joinHooks(decision, answers, policies) }
    },
  }
}

function judgedBy(
  action: PolicyAction,
  found: Awaited<ReturnType<typeof readPolicy>>,
  problem: string | null,
): { decision: PolicyDecision; policies: readonly Policy[] } {
  if (found.ok && !found.in_force) return { decision: unjudged(none), policies: [none] }
  if (found.ok && problem === null) {
    return { decision: decideByAll(action, found.policies), policies: found.policies }
  }
  const why = found.ok ? `no line can be read: ${problem}` : refusalWords(found)
  return { decision: askedAll(decideAction(action, careful), why), policies: [careful] }
}

async function openPolicyReader() {
  const parser = await openShellParser(clock)
  return { ...parser, readFile: policyFiles(parser.read) }
}

/** What only looks is left alone; of all else a person decides until it is mended. */
function askedAll(decision: PolicyDecision, why: string): PolicyDecision {
  if (decision.because.by === 'no_part') return decision
  return { ...decision, why: `${why}. Until then everything is asked.`, lifts: null }
}
