/**
 * Markdown to program (docs/spec/cli.md): the first `#` heading is the objective, each `##` heading
 * (or, without any, each top-level list item) a step with at most one action. The answer is a
 * program or every error with its line; nothing throws, nothing is guessed. Pure.
 */
import { limits, type Limit } from '../../domain/limits.ts'
import { durationMs } from './duration.ts'
import { frontOf } from './front.ts'
import { blocksOf, linesOf, type Block } from './markdown.ts'
import type { ParseError } from './parse-error.ts'

export type Program = { objective: string; steps: readonly RunbookStep[] }

export type RunbookStep = {
  /** As written: it is also the text of the step's todo. */
  title: string
  optional: boolean
  /** Counted from 1, of the heading or list item. */
  line: number
  /** The prose of the step. */
  description: string
  action: RunbookAction
}

export type RunbookAction =
  | { kind: 'sh'; cmd: string }
  /** `written` is the duration as the author wrote it. */
  | { kind: 'wait'; ms: number; written: string }
  /** `given` is false when the step has no action and is therefore asked about. */
  | { kind: 'ask'; question: string; given: boolean }
  | { kind: 'callback'; name: string }

export type Parsed = { ok: true; program: Program } | { ok: false; errors: readonly ParseError[] }

type Found = { action: RunbookAction; line: number }
type Draft = { title: string; line: number; prose: string[]; found: Found[] }
type Say = (code: ParseError['code'], line: number, message: string) => void

const shells = ['sh', 'bash', 'shell']
/** Room in the reason of a wait for the words around a question. */
const questionLimit = limits.reason.value - 200
const nameLimit = 200

export function parseRunbook(text: string): Parsed {
  const errors: ParseError[] = []
  const say: Say = (code, line, message) => errors.push({ code, line, message })

  const bytes = new TextEncoder().encode(text).length
  if (bytes > limits.plan.value) {
    say('over_limit', 1, over(limits.plan, bytes))
    return { ok: false, errors }
  }
  const nul = linesOf(text).findIndex((line) => line.includes('\0'))
  if (nul >= 0) say('nul', nul + 1, 'A NUL character stands here: save the file as plain text.')

  if (frontOf(text).checks.length > 0) {
    say('checks_by_run', 1, 'Checks are set by `holon run <file>`, which takes them from its head.')
  }

  const blocks = blocksOf(text)
  const objective = objectiveOf(blocks, say)
  const drafts = stepsOf(blocks, say)
  if (drafts.length === 0) {
    say('no_steps', 1, 'No steps: write each as a `##` heading or a list item.')
  }
  const tooMany = drafts[limits.todos.value]
  if (tooMany) say('over_limit', tooMany.line, over(limits.todos, drafts.length))
  const steps = drafts.map((draft) => finish(draft, say))

  if (errors.length > 0) {
    return { ok: false, errors: errors.toSorted((a, b) => a.line - b.line) }
  }
  return { ok: true, program: { objective, steps } }
}

function objectiveOf(blocks: readonly Block[], say: Say): string {
  const heading = blocks.find((block) => block.kind === 'heading' && block.level === 1)
  if (!heading || heading.kind !== 'heading') {
    say('no_objective', 1, 'No objective: begin with a `#` heading that says what is to be done.')
    return ''
  }
  const { text, line } = heading
  if (text === '') say('no_objective', line, 'The objective is empty: put words behind the `#`.')
  if (text.length > limits.objective.value) {
    say('over_limit', line, over(limits.objective, text.length))
  }
  return text
}

/** The steps in order, with every action found in each; errors for what belongs to none. */
function stepsOf(blocks: readonly Block[], say: Say): Draft[] {
  const byHeading = blocks.some((block) => block.kind === 'heading' && block.level === 2)
  const drafts: Draft[] = []
  let current: Draft | null = null
  for (const block of blocks) {
    if (block.kind === 'heading') {
      if (block.level > 2) continue
      current = block.level === 2 ? begin(block.text, block.line) : null
      if (current) drafts.push(current)
      continue
    }
    if (block.kind === 'item' && !byHeading) {
      current = begin(block.text.replace(/^\[[ xX]\][ \t]+/, ''), block.line)
      drafts.push(current)
    }
    const inside: Draft | null = byHeading || block.kind === 'item' || block.nested ? current : null
    if (block.kind !== 'fence' && block.kind !== 'item') inside?.prose.push(block.text)
    if (block.kind === 'item' && byHeading) inside?.prose.push(block.text)
    const found = actionOf(block, say)
    if (found === null) continue
    if (inside) inside.found.push(found)
    else say('outside_step', block.line, outside(byHeading))
  }
  return drafts
}

const begin = (title: string, line: number): Draft => ({ title, line, prose: [], found: [] })

const outside = (byHeading: boolean): string =>
  byHeading
    ? 'This action belongs to no step: move it below a `##` heading.'
    : 'This action belongs to no step: indent it below its list item.'

/** The action a block is, or null: prose. A broken action is told and still counts as one. */
function actionOf(block: Exclude<Block, { kind: 'heading' }>, say: Say): Found | null {
  const { line } = block
  if (block.kind === 'fence') {
    if (!block.closed) say('not_closed', line, 'This fence is never closed.')
    if (!shells.includes(block.language)) return null
    if (block.body.trim() === '') say('empty_action', line, 'This command is empty.')
    return { action: { kind: 'sh', cmd: block.body }, line }
  }
  const written = /^(wait|ask|callback):(.*)$/.exec(block.text)
  if (!written) return null
  const value = (written[2] ?? '').trim()
  if (written[1] === 'wait') {
    const duration = durationMs(value)
    if ('wrong' in duration) say('bad_duration', line, duration.wrong)
    const ms = 'ms' in duration ? duration.ms : 0
    return { action: { kind: 'wait', ms, written: value }, line }
  }
  if (value === '') say('empty_action', line, `Nothing stands behind \`${written[1]}:\`.`)
  if (written[1] === 'ask') {
    if (value.length > questionLimit) {
      say('over_limit', line, `A question has at most ${questionLimit} characters.`)
    }
    return { action: { kind: 'ask', question: value, given: true }, line }
  }
  if (value !== '' && (value.length > nameLimit || !/^[\w./:@+-]+$/.test(value))) {
    say('bad_name', line, 'A callback has one name of letters, digits and . _ - / : @ +.')
  }
  return { action: { kind: 'callback', name: value }, line }
}

function finish({ title, line, prose, found }: Draft, say: Say): RunbookStep {
  if (title === '') say('no_title', line, 'This step has no title.')
  if (title.length > limits.todo_text.value) {
    say('over_limit', line, over(limits.todo_text, title.length))
  }
  const [first, second] = found
  if (first && second) {
    const message = `This step already has an action in line ${first.line}: one a step.`
    say('two_actions', second.line, message)
  }
  const spoken = prose.filter((text) => !/^(wait|ask|callback):/.test(text)).join('\n')
  const action = first?.action ?? { kind: 'ask', question: `Is it done: ${title}?`, given: false }
  return { title, optional: /\(optional\)/i.test(title), line, description: spoken, action }
}

const over = (limit: Limit, value: number): string =>
  `${limit.name} is ${value} ${limit.unit}; the limit is ${limit.value} (${limit.reason}).`
