/**
 * How a command fails: `holon: what, where; what to do` on stderr, or a problem document with
 * `--json`, and one exit code from one list (docs/spec/cli.md#exit-codes).
 */
import { problemOf, type Problem } from '../../protocol/problem.ts'
import { isShort } from '../../protocol/shortage.ts'
import { thereAre } from '../../present/text/names.ts'
import { safeLine } from '../../present/text/safe.ts'

export const exits = { done: 0, failed: 1, usage: 2, waits: 3, owned: 4, interrupted: 130 } as const
export type Exit = (typeof exits)[keyof typeof exits]

export class CliFailure extends Error {
  readonly problem: Problem
  readonly exit: Exit
  /** Further lines for a person: each error of a document, each candidate of an id. */
  readonly more: readonly string[]
  constructor(exit: Exit, problem: Problem, more: readonly string[] = []) {
    super(problem.detail)
    this.name = 'CliFailure'
    this.exit = exit
    this.problem = problem
    this.more = more
  }
}

/** What was asked for cannot be done as it was asked. */
export const usage = (
  code: string,
  detail: string,
  hint: string | null = null,
  more: readonly string[] = [],
): CliFailure => new CliFailure(exits.usage, problemOf(code, detail, hint, 422), more)

const commands: Readonly<Record<string, string>> = {
  agent_stopped: 'holon agents start <agent>, or send it with --start',
  task_ended: 'holon tasks output shows what it wrote, holon tasks show how it ended',
  task_takes_no_input:
    'a command that was started with an input, and a child, can be told something',
  asks_operator: 'holon inbox has the question, and holon answer answers it',
  trigger_no_match: 'holon waits shows what each waits for; holon answer answers a question',
  work_item_completed: 'holon run makes new work; holon work show has its report',
  schedule_invalid: 'write it like --cron "0 9 * * 1-5" --zone Europe/Rome',
  horizon_invalid:
    'give --before 90d or --keep-days 90, or set it: holon config set retention.keep_days 90',
  path_invalid: 'name a folder outside the home',
  upkeep_running: 'one backup or retention runs at a time: try again when it is done',
}

/** The problem with what to do in a shell, where that is another thing than over HTTP. */
/** A home in which nothing ever was: the same words whatever was to be read of it. */
export const noHome = (home: string): CliFailure =>
  usage('no_home', `there is no home in ${home}`, 'holon init makes one, --home names another')

/** `names` are the agents that there are. */
export const noAgent = (agent: string, names: readonly string[]): CliFailure =>
  usage(
    'agent_not_found',
    `there is no agent "${agent}"`,
    thereAre(names, 'there is none yet: holon init makes one'),
  )

export const inShell = (problem: Problem): Problem => ({
  ...problem,
  hint: commands[problem.code] ?? problem.hint,
})

/**
 * The runtime or the domain said no: to words that mean nothing, or to what does not go now. The
 * catalogue speaks to every surface; here the remedy is a command.
 */
export function refused(
  { code, message, hint }: { code: string; message: string; hint: string },
  agent = '<agent>',
): CliFailure {
  const problem = inShell(problemOf(code, message, hint))
  const remedy = problem.hint?.replaceAll('<agent>', agent) ?? null
  return new CliFailure(exitOf(problem), { ...problem, hint: remedy })
}

/** What was not there, or does not fit, was asked for wrongly; the rest failed. */
export const exitOf = ({ status }: Problem): Exit =>
  status === 404 || status === 422 ? exits.usage : exits.failed

/** Whoever owns the home does not know the token; `cli/program.ts` says what to do about it. */
export const wrongToken = (): CliFailure =>
  new CliFailure(exits.failed, problemOf('unauthorized', unknownToken))

const unknownToken = 'whoever serves this home does not know this control token'

/** The same failure with what to do about a wrong token, which depends on where it comes from. */
export function tokenExplained(failure: CliFailure, from_environment: boolean): CliFailure {
  if (failure.problem.code !== 'unauthorized') return failure
  const hint = from_environment
    ? 'unset HOLON_CONTROL_TOKEN, which goes before the token of the home, or correct it'
    : 'it was started with HOLON_CONTROL_TOKEN: set the same here, or start it anew without'
  return new CliFailure(failure.exit, { ...failure.problem, detail: unknownToken, hint })
}

/** Any failure that may come out of a command as one of ours; null: a bug, to be thrown on. */
export function asFailure(error: unknown): CliFailure | null {
  if (error instanceof CliFailure) return error
  if (isShort(error)) return scarce(error)
  // Faults of the world carry a code and say whether a retry helps; their class is another room's.
  if (!(error instanceof Error) || !('code' in error) || !('retry' in error)) return null
  const code = String(error.code)
  // Some say what to do beside their sentence, most at its end.
  const { detail, hint } =
    'hint' in error && typeof error.hint === 'string'
      ? { detail: error.message, hint: error.hint }
      : faultParts(error.message)
  const exit = code === 'owned' ? exits.owned : exits.failed
  return new CliFailure(exit, problemOf(code, detail, hint, 503))
}

function scarce({ message }: Error): CliFailure {
  const detail = `the system is out of memory or open files (${message})`
  const hint = 'raise the limit or close something'
  return new CliFailure(exits.failed, problemOf('scarce', detail, hint, 503))
}

/**
 * A fault's sentence is `what: what to do`, with what the system said in parentheses at its end,
 * which has colons of its own and belongs to the first part.
 */
function faultParts(message: string): { detail: string; hint: string | null } {
  const [, sentence = message, said = ''] = /^(.*?)( \(.*\))?$/s.exec(message) ?? []
  const at = sentence.lastIndexOf(': ')
  if (at < 0) return { detail: message, hint: null }
  return { detail: sentence.slice(0, at) + said, hint: sentence.slice(at + 2) }
}

/** The sentence of a fault, as `failureText` says it. */
export function faultText(message: string): string {
  const { detail, hint } = faultParts(message)
  return failureText(new CliFailure(exits.failed, problemOf('gave_up', detail, hint)))
}

/** `holon: what, where; what to do`. */
export const failureText = ({ problem, more }: CliFailure): string =>
  [`holon: ${problemWords(problem)}`, ...more].join('\n')

/** What a problem is and what to do, in one line. */
export function problemWords({ detail, hint }: Pick<Problem, 'detail' | 'hint'>): string {
  const what = detail.replace(/[.\s]+$/, '')
  const remedy = hint === null ? '' : `; ${lowerFirst(hint.replace(/[.\s]+$/, ''))}`
  return safeLine(lowerFirst(what) + remedy)
}

/** Names keep their capitals: only a sentence's first ordinary word is made small. */
const lowerFirst = (text: string): string =>
  /^[A-Z][a-z]+\b/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
