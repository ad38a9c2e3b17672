/**
 * Every sentence the runbook model says: the report, what holds an item and how to go on, and what
 * it answers to words that are no runbook. Plain text that also reads well as Markdown. Pure.
 */
import { limits } from '../../domain/limits.ts'
import type { Wait } from '../../domain/state/wait.ts'
import type { WorkItem } from '../../domain/state/work-item.ts'
import type { ParseError } from './parse-error.ts'
import type { Program, RunbookStep } from './parse.ts'
import type { RunbookMemo, StepResult } from './memo.ts'
import type { RunbookItem, RunbookSituation } from './situation.ts'

/** `Step 3 of 7: Disk space`. */
export const headline = (program: Program, at: number): string =>
  `Step ${at + 1} of ${program.steps.length}: ${program.steps[at]?.title}`

/** The first sentence of a reason; `why` follows. At most as long as a reason may be. */
export const blocker = (step: RunbookStep, at: number, why: string, output: string): string =>
  bounded(`step ${at + 1} (${step.title}) ${why}${output === '' ? '' : `: ${output}`}`)

export const changed = (why: string): string => bounded(`runbook_changed: ${why}`)

const bounded = (text: string): string =>
  text.length <= limits.reason.value ? text : `${text.slice(0, limits.reason.value - 1)}…`

export function report(
  item: Pick<WorkItem, 'objective'>,
  program: Program,
  memo: RunbookMemo,
): string {
  const { steps } = program
  const notes = new Map(memo.results.map((result) => [result.step, result]))
  const left = memo.results.filter((result) => !result.done && result.step <= steps.length)
  const done = steps.length - left.length
  const count =
    left.length === 0
      ? `all ${plural(done, 'step')} done`
      : `${done} of ${plural(steps.length, 'step')} done`
  const lines = steps.map((step, index) => line(step, index + 1, notes.get(index + 1)))
  const names = left.map(({ step }) => `"${steps[step - 1]?.title}"`).join(', ')
  const warning =
    left.length === 0 ? [] : ['', `Left undone, because it failed and is optional: ${names}.`]
  return [`${item.objective}: ${count}.`, '', ...lines, ...warning].join('\n')
}

const line = (step: RunbookStep, number: number, result: StepResult | undefined): string =>
  `${number}. ${step.title}: ${result?.done === false ? 'not done, ' : ''}${result?.note ?? 'done'}`

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** What one command left to say: its last words and how it ended. */
export const commandNote = (ended: string, words: string): string =>
  words === '' ? ended : `${short(words, 200)} (${ended})`

export const answered = (answer: string): string =>
  `you answered "${answer.replaceAll(/\s+/g, ' ')}"`

export const answeredNo = 'was answered with no, which stops the run; unblocked, it asks again'

/** A sentence as a part of another one. */
export const phrase = (sentence: string): string => sentence.trim().replace(/\.$/, '')

export const short = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`

const asked = ({ question, reason }: Wait): string => question?.text ?? reason

/** What holds an item that is not runnable, and the command that goes on. */
export function held({ projection }: RunbookItem): string {
  const { item, wait } = projection
  const name = `"${item.objective}"`
  switch (wait?.wake) {
    case 'operator_input':
      return `${name} waits for you: ${asked(wait)}\nAnswer with: holon answer ${wait.id} "…"`
    case 'task_result':
      return `${name} waits until ${wait.resource} ends: ${wait.reason}. It goes on by itself.`
    case 'timer':
      return `${name} waits until ${wait.wake_at}: ${wait.reason}. It goes on by itself.`
    case 'external':
      return (
        `${name} waits for the callback ${wait.resource}: ${wait.reason}.\n` +
        `By hand: holon trigger ${wait.id}`
      )
    case 'system':
    case undefined:
      break
  }
  if (item.blocked_by === null) return `${name} waits for a decision: holon why ${item.id}`
  return (
    `${name} is blocked: ${item.blocked_by}\n` +
    `When that is put right: holon work unblock ${item.id}, or holon run --resume`
  )
}

/** Words for an item that is at work: it has its plan, and nothing else steers it. */
export const comment = ({ projection }: RunbookItem): string => {
  const { item } = projection
  return (
    `"${item.objective}" is a runbook and takes its orders from its plan alone: ` +
    `${item.plan_artifact.path}\nSteps that are not begun yet may be edited there.`
  )
}

export const notARunbook =
  'This agent runs on the runbook model: it carries out Markdown runbooks and understands ' +
  'nothing else.\nA runbook has one `#` heading, its objective, and a `##` heading for each ' +
  'step, with at most one action below it: a fenced `sh` block, or a line `wait: 2s`, `ask: …` ' +
  'or `callback: name`.\nTo talk to a language model, name one: ' +
  'holon run --model provider/model "…"'

/** A text that means to be a runbook and is not one yet. */
export function broken(errors: readonly ParseError[]): string {
  const shown = errors.slice(0, 10).map((error) => `  line ${error.line}: ${error.message}`)
  const more = errors.length > 10 ? [`  and ${errors.length - 10} more`] : []
  return ['This runbook cannot run. Nothing was recorded.', ...shown, ...more].join('\n')
}

export const brokenPlan = (errors: readonly ParseError[]): string => {
  const [first] = errors
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return `the plan is no runbook: line ${first?.line}: ${first?.message}${more}`
}

/** The questions and blockers of the agent's items, each with the command that answers it. */
export function open(s: RunbookSituation): string | null {
  const { waiting_for_operator, blocked } = s.candidates
  const lines = [...waiting_for_operator, ...blocked].flatMap(({ item, wait }) => {
    if (wait?.wake === 'operator_input') {
      const words = short(asked(wait), 200)
      return [`- ${item.objective}: ${words}\n  holon answer ${wait.id} "…"`]
    }
    if (wait !== null || item.blocked_by === null) return []
    const words = short(item.blocked_by.split('\n')[0] ?? '', 200)
    return [`- ${item.objective}: ${words}\n  holon work unblock ${item.id}`]
  })
  if (lines.length === 0) return null
  return ['These wait for you, and the message named none of them:', ...lines].join('\n')
}

/** Where the outside delivers the event of a `callback` step. */
export const address = (name: string, url: string | null): string =>
  url === null
    ? `No address is open to the outside. \`holon waits\` shows this wait; ` +
      `\`holon trigger <wait>\` lets it go on.`
    : `It goes on when this is called: curl -X POST '${withResource(url, name)}'`

const withResource = (url: string, name: string): string =>
  `${url}${url.includes('?') ? '&' : '?'}resource=${encodeURIComponent(name)}`
