/**
 * `policy.json`, as the one schema that validates it: the home's, by the operator, and that of a
 * repository, which can only deny and ask. What a rule means is in `domain/policy`.
 */
import { z } from 'zod'
import type { ExampleGiven } from '../domain/policy/examples.ts'
import { hostPattern } from '../domain/policy/host.ts'
import {
  presetNames,
  type Otherwise,
  type PolicyRule,
  type PresetName,
  type RuleSource,
} from '../domain/policy/rule.ts'

const word = z.string().min(1).max(500)
const some = <T extends z.ZodType>(of: T) => z.array(of).min(1).max(200)
const oneOrSome = z.union([word, some(word)])
const areas = ['workspace', 'own', 'home', 'git', 'credentials', 'outside'] as const
export const effectClasses = [
  ...(['pure', 'idempotent', 'content_checked'] as const),
  ...(['keyed', 'reattachable', 'non_repeatable'] as const),
] as const

const ruleSchema = z.strictObject({
  decide: z.enum(['deny', 'ask', 'allow']),
  run: some(z.union([word, some(word), z.strictObject({ any: some(word) })]))
    .optional()
    .describe('Words a command begins with; {any: flags} in any order.'),
  write: some(word).optional().describe('Patterns of files; ** goes through folders.'),
  host: some(word).optional().describe('name, name:port, *.name'),
  mcp: oneOrSome.optional().describe('server/tool, * for either'),
  unless: z
    .strictObject({ pinned: z.boolean().optional(), read_only: z.boolean().optional() })
    .optional(),
  class: z
    .union([z.enum(effectClasses), some(z.enum(effectClasses))])
    .optional()
    .describe('The call as a whole, by what its tool promises.'),
  tool: oneOrSome.optional().describe('The call as a whole, by its tool.'),
  in: z.enum(areas).optional().describe('Only in such a place.'),
  origin: z.enum(['operator', 'runtime', 'external']).optional(),
  agent: word.optional(),
  why: z.string().max(500).optional().describe('Said where the rule decides.'),
  match: some(word).optional().describe('Lines that the rule is to be about.'),
  not_match: some(word).optional().describe('Lines that it is not to be about.'),
})

const verdict = z.enum(['allow', 'ask', 'deny'])

/** Of the home. */
export const homePolicySchema = z.strictObject({
  $schema: z.string().optional(),
  preset: z.enum(presetNames).optional().describe('Default: work.'),
  rules: z.array(ruleSchema).max(1_000).optional(),
  otherwise: z
    .strictObject({
      run: z.enum(['sandboxed', ...verdict.options]).optional(),
      write: z.enum(['workspace', ...verdict.options]).optional(),
      host: verdict.optional(),
      mcp: verdict.optional(),
    })
    .optional(),
})

/** Of a repository: whoever wrote it can only make it narrower. */
export const repositoryPolicySchema = z.strictObject({
  $schema: z.string().optional(),
  rules: z
    .array(ruleSchema.extend({ decide: z.enum(['deny', 'ask']) }))
    .max(1_000)
    .optional(),
})

type WrittenRule = z.infer<typeof ruleSchema>

export type WrittenPolicy = {
  preset: PresetName | null
  otherwise: Partial<Otherwise>
  rules: readonly { rule: PolicyRule; examples: ExampleGiven }[]
}

/** What a rule of a file means, or what is wrong with it as a sentence. */
type RuleRead = { ok: true; rule: PolicyRule } | { ok: false; why: string }

export type PolicyFileRead =
  | { ok: true; policy: WrittenPolicy }
  /** `at`: where in the file. */
  | { ok: false; at: readonly PropertyKey[]; why: string }

/** `line` says on which line of the file a place of it stands. */
export function readPolicyValue(
  value: unknown,
  from: 'home' | 'repository',
  place: { file: string; line(at: readonly PropertyKey[]): number },
): PolicyFileRead {
  const schema = from === 'home' ? homePolicySchema : repositoryPolicySchema
  const parsed = schema.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const key = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined
    const at = [...(issue?.path ?? []), ...(key === undefined ? [] : [key])]
    return { ok: false, at, why: issue?.message ?? 'it is not valid' }
  }
  const rules: { rule: PolicyRule; examples: ExampleGiven }[] = []
  for (const [index, written] of (parsed.data.rules ?? []).entries()) {
    const at = ['rules', index]
    const source: RuleSource = { from, file: place.file, line: place.line(at) }
    const read = ruleOf(written, source)
    if (!read.ok) return { ok: false, at, why: read.why }
    const { match = [], not_match = [] } = written
    rules.push({ rule: read.rule, examples: { match, not_match } })
  }
  const data: z.infer<typeof homePolicySchema> = parsed.data
  const { run, write, host, mcp } = data.otherwise ?? {}
  const otherwise = {
    ...(run && { run }),
    ...(write && { write }),
    ...(host && { host }),
    ...(mcp && { mcp }),
  }
  return { ok: true, policy: { preset: data.preset ?? null, otherwise, rules } }
}

const listOf = <T>(given: T | readonly T[] | undefined): readonly T[] =>
  given === undefined ? [] : Array.isArray(given) ? (given as readonly T[]) : [given as T]

function ruleOf(written: WrittenRule, source: RuleSource): RuleRead {
  const { run, write, host, mcp, unless, decide, why = '' } = written
  const tools = listOf(written.tool)
  const ofClass = listOf(written.class)
  const isCall = tools.length > 0 || ofClass.length > 0
  const given = [run, write, host, mcp, isCall ? true : undefined].filter((one) => one)
  if (given.length !== 1) {
    return { ok: false, why: 'a rule has one of run, write, host, mcp, and class or tool' }
  }
  if (unless && !mcp) return { ok: false, why: 'unless belongs to a rule of mcp' }
  if (written.in && !run && !write) return { ok: false, why: 'in belongs to run or write' }
  const hasExamples = written.match ?? written.not_match
  if (hasExamples && !run && !write && !host) {
    return { ok: false, why: 'match and not_match belong to run, write or host' }
  }
  const common = {
    decide,
    in: written.in ?? null,
    origin: written.origin ?? null,
    agent: written.agent ?? null,
    why,
    source,
  }
  const rule = (subject: PolicyRule['subject']): RuleRead => ({
    ok: true,
    rule: { ...common, subject },
  })
  if (run) return rule({ kind: 'run', tokens: run })
  if (write) return rule({ kind: 'write', globs: write })
  if (host) {
    const wrong = host.find((pattern) => hostPattern(pattern) === null)
    if (wrong !== undefined) {
      return { ok: false, why: `${wrong} is no host: write name, name:port or *.name` }
    }
    return rule({ kind: 'host', hosts: host })
  }
  if (mcp) {
    const { pinned, read_only } = unless ?? {}
    const spared = {
      ...(pinned === undefined ? {} : { pinned }),
      ...(read_only === undefined ? {} : { read_only }),
    }
    return rule({ kind: 'mcp', tools: listOf(mcp), unless: spared })
  }
  return rule({ kind: 'call', tools, classes: ofClass })
}
