/**
 * The arguments of a call as the model wrote them, checked before anything runs. Whatever is wrong
 * becomes a result the model can repair the call from: where, what was expected, what it may have
 * meant. Nothing here throws for bad input.
 */
import { z } from 'zod'
import { isShallow } from '../../domain/transfer/json-depth.ts'
import type { ToolResult, Warning } from '../../domain/state/call.ts'
import { nearestNames } from './nearest-name.ts'
import { failed, type Tool } from './tool.ts'

export type Validated<T> =
  | { ok: true; tool: T; input: unknown; warnings: readonly Warning[] }
  | { ok: false; result: ToolResult }

/** How many things that are wrong are told at once. */
const PROBLEMS_TOLD = 8
/** Levels of arguments. No tool has so many, and what looks at deeper ones recurses. */
const DEEPEST = 64
/** Characters of the arguments shown around the place where their JSON breaks. */
const EXCERPT_CHARS = 40

/** `input_json` as the provider handed it over; an empty text is a call without arguments. */
export function validate<T extends Tool>(
  tools: readonly T[],
  tool_name: string,
  input_json: string,
): Validated<T> {
  const tool = tools.find(({ name }) => name === tool_name)
  if (!tool) return { ok: false, result: unknownTool(tools, tool_name) }
  if (!isShallow(input_json, DEEPEST)) return { ok: false, result: tooDeep(tool_name) }
  let value: unknown
  try {
    value = JSON.parse(input_json.trim() === '' ? '{}' : input_json)
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    return { ok: false, result: brokenJson(tool_name, input_json, said) }
  }
  const given = named(tool, value)
  const parsed = tool.input().safeParse(given)
  if (parsed.success) return { ok: true, tool, input: parsed.data, warnings: [] }
  const { issues } = parsed.error
  // What cannot be taken back is done exactly as it was asked for, or not at all.
  if (tool.effect_class === 'non_repeatable' || changesByMistake(tool, issues, given)) {
    return { ok: false, result: violation(tool, issues) }
  }
  const known = tool.input().safeParse(withoutUnknown(given, issues))
  if (!known.success) return { ok: false, result: violation(tool, issues) }
  return { ok: true, tool, input: known.data, warnings: [unknownFields(tool, issues)] }
}

function tooDeep(tool_name: string): ToolResult {
  const message = `The arguments are nested more than ${DEEPEST} levels deep.`
  const hint = 'Give the fields of the tool, and no others.'
  return failed(tool_name, 'invalid_input', 'arguments_too_deep', message, hint)
}

/** A misspelt field of a call that changes something: without it, that would be something else. */
function changesByMistake(
  tool: Tool,
  issues: readonly z.core.$ZodIssue[],
  given: unknown,
): boolean {
  if (tool.effect_class === 'pure') return false
  return issues
    .filter(({ code }) => code === 'unrecognized_keys')
    .some((issue) => {
      const there = valueAt(given, issue.path)
      return problemsOf(tool, issue).some(
        ({ nearest }) => nearest !== undefined && !(isObject(there) && nearest in there),
      )
    })
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown>)[part], value)

/** The arguments under the names of the schema: a tool may know a field by a second one. */
function named(tool: Tool, value: unknown): unknown {
  if (tool.also_called === undefined || !isObject(value)) return value
  const { also_called } = tool
  const entries = Object.entries(value).map(([key, inner]) => {
    const name = also_called[key]
    return [name === undefined || name in value ? key : name, inner] as const
  })
  return Object.fromEntries(entries)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A copy without the fields that the schema does not know. */
function withoutUnknown(value: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  const copy: unknown = structuredClone(value)
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') continue
    const at = valueAt(copy, issue.path)
    for (const key of issue.keys) delete (at as Record<string, unknown>)[key]
  }
  return copy
}

/** What was left out of a call that was otherwise right. */
function unknownFields(tool: Tool, issues: readonly z.core.$ZodIssue[]): Warning {
  const unknown = issues.filter(({ code }) => code === 'unrecognized_keys')
  const fields = unknown.flatMap((issue) => problemsOf(tool, issue)).slice(0, PROBLEMS_TOLD)
  const names = fields.map(({ path, nearest }) =>
    nearest === undefined ? path : `${path} (perhaps meant as ${nearest})`,
  )
  const message = `${tool.name} has no field ${names.join(', ')}: left out. ${takesOf(tool)}`
  return { kind: 'unknown_fields', message }
}

const takesOf = (tool: Tool): string => {
  const fields = fieldsAt(tool.input(), [])
  return fields.length > 0 ? `It takes: ${fields.join(', ')}.` : 'It takes no arguments.'
}

/** What other programs call such a tool, and what does it here. */
const elsewhere: Readonly<Record<string, string>> = {
  bash: 'ExecCommand',
  shell: 'ExecCommand',
  terminal: 'ExecCommand',
  grep: 'FindInFiles; for patterns ExecCommand with rg or grep',
  search: 'FindInFiles',
  glob: 'FindInFiles with glob',
  ls: 'ReadFile of the folder',
  listdir: 'ReadFile of the folder',
  fetch: 'WebFetch',
  curl: 'WebFetch; for other requests ExecCommand with curl',
  read: 'ReadFile',
  cat: 'ReadFile',
  write: 'EditFile without old_text',
  writefile: 'EditFile without old_text',
  edit: 'EditFile',
  strreplace: 'EditFile',
  todowrite: 'UpdateWorkItem with todo_list',
  task: 'SpawnAgent',
  agent: 'SpawnAgent',
  askuser: 'WaitFor with operator_input',
  askuserquestion: 'WaitFor with operator_input',
  sleep: 'WaitFor with timer',
}

function unknownTool(tools: readonly Tool[], tool_name: string): ToolResult {
  const names = tools.map(({ name }) => name)
  const near = nearestNames(tool_name, names, 3)
  const here = elsewhere[tool_name.toLowerCase().replaceAll(/[^a-z]/g, '')]
  const meant =
    here !== undefined
      ? `Here that is ${here}. `
      : near.length > 0
        ? `Did you mean ${near.join(' or ')}? `
        : ''
  const hint = `${meant}The tools are: ${names.join(', ')}.`
  return failed(tool_name, 'invalid_input', 'unknown_tool', `There is no tool ${tool_name}.`, hint)
}

function brokenJson(tool_name: string, json: string, said: string): ToolResult {
  const found = /position (\d+)/.exec(said)
  const at = found ? Number(found[1]) : json.length
  const from = Math.max(0, at - EXCERPT_CHARS)
  const excerpt = json.slice(from, at + EXCERPT_CHARS)
  const cut = at >= json.length
  const message = `The arguments are not valid JSON at character ${at} of ${json.length}: ${said}.`
  const hint = cut
    ? 'The arguments break off. Send the whole call again; give long content in several calls.'
    : `Send the call again as valid JSON. It breaks here: ${excerpt}`
  const detail = { position: at, length: json.length, excerpt }
  const code = cut ? 'truncated_json' : 'invalid_json'
  return failed(tool_name, 'invalid_input', code, message, hint, { retryable: true, detail })
}

type Problem = { path: string; code: string; expected: string; nearest?: string }

function violation(tool: Tool, issues: readonly z.core.$ZodIssue[]): ToolResult {
  const problems = issues.flatMap((issue) => problemsOf(tool, issue))
  const told = problems.slice(0, PROBLEMS_TOLD)
  const more = problems.length - told.length
  const sentences = told.map(({ path, expected }) => `${path === '' ? '' : `${path}: `}${expected}`)
  const message = `${sentences.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`
  const corrections = told.flatMap(({ path, nearest }) =>
    nearest === undefined ? [] : [`${path} may be meant as ${nearest}`],
  )
  const hint = [
    ...corrections.map((text) => `${text}.`),
    `${tool.name}: correct the call. ${takesOf(tool)}`,
  ]
  return failed(
    tool.name,
    'invalid_input',
    told[0]?.code ?? 'invalid_field',
    message,
    hint.join(' '),
    { retryable: true, detail: { problems: told } },
  )
}

function problemsOf(tool: Tool, issue: z.core.$ZodIssue): Problem[] {
  if (issue.code === 'unrecognized_keys') {
    const known = fieldsAt(tool.input(), issue.path)
    return issue.keys.map((key) => {
      const nearest = nearestNames(key, known)[0]
      const path = pathOf([...issue.path, key])
      const expected = 'there is no such field'
      return { path, code: 'unknown_field', expected, ...(nearest ? { nearest } : {}) }
    })
  }
  const missing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined')
  const code = missing ? 'missing_field' : 'invalid_field'
  return [{ path: pathOf(issue.path), code, expected: issue.message }]
}

const pathOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .slice(1)

/** The names an object at `path` of the schema may have. Only asked for when a call is wrong. */
function fieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: z.core.JSONSchema.BaseSchema | undefined = z.toJSONSchema(schema, { io: 'input' })
  for (const part of path) {
    const next: unknown = typeof part === 'number' ? at?.items : at?.properties?.[String(part)]
    at =
      typeof next === 'object' && next !== null ? (next as z.core.JSONSchema.BaseSchema) : undefined
  }
  return Object.keys(at?.properties ?? {})
}
