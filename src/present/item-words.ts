/**
 * Turns, tasks and what needs a person in a few words: the mark, what it is about, and what
 * stands at the right of its row. Items and agents are in `lines/state-cell.ts`. Times are read by
 * the clock of the server as last heard. Pure.
 */
import type { Attention } from '../protocol/views/attention.ts'
import type { StateRecord } from '../protocol/views/state-record.ts'
import type { TaskRecord } from '../protocol/records/task-record.ts'
import type { Mark } from './text/marks.ts'
import type { Presentation } from './presentation.ts'
import { endWords, runsSince } from './lines/task-words.ts'
import { clock, clockSpan, due, since } from './text/span.ts'
import { dollars, thousandths, type Times } from './lines/state-cell.ts'

/** Characters of live words in a row: they stand beside much else. */
const wordsShown = 60

export type OpenTurn = StateRecord['turns'][number]

export const markOf: { readonly [K in Attention['kind']]: Mark } = {
  approval: 'needs_me',
  question: 'needs_me',
  held: 'failed',
  failed_turn: 'failed',
  budget: 'needs_me',
  needs_input: 'needs_me',
  imported: 'needs_me',
  blocked: 'blocked',
  dead_message: 'failed',
  dead_delivery: 'failed',
  late_result: 'arrived',
  arrived: 'arrived',
  cancelling: 'failed',
  worktree_kept: 'blocked',
  check_asked: 'needs_me',
  check_failed: 'failed',
}

export const running = (at: string, times: Times): string =>
  times.runs ? clockSpan(Date.parse(times.now) - Date.parse(at)) : `since ${clock(at, times)}`

/** `3 s ago` while times run; silence is told in words. */
export const ago = (at: string, times: Times): string =>
  times.runs ? `${since(at, times)} ago` : clock(at, times)

export function turnWords(turn: OpenTurn, times: Times): string {
  return times.runs
    ? `turn ${turn.number}, ${running(turn.started_at, times)}`
    : `turn ${turn.number} ${running(turn.started_at, times)}`
}

/** Tokens and dollars; a price that is not known is left out, never zero. */
export function usedWords(used: {
  input_tokens: number | null
  output_tokens: number | null
  usd: number | null
}): string {
  const { input_tokens: into, output_tokens: out, usd } = used
  const tokens = into === null || out === null ? null : into + out
  const parts = [
    tokens === null || tokens === 0 ? '' : `${thousandths(tokens)} tokens`,
    usd === null || usd === 0 ? '' : dollars(usd),
  ]
  return parts.filter((part) => part !== '').join(', ')
}

/** What goes on in a turn, for the line below it. */
export function doingWords(p: Presentation, turn: OpenTurn, times: Times): string {
  const retry = p.retries.get(turn.id)
  if (retry !== undefined) {
    return `try ${retry.attempt + 1}, ${due(retry.next_at, times)}: ${retry.message}`
  }
  const task = p.state.tasks.find(
    (one) =>
      one.agent_id === turn.agent_id &&
      !one.promoted &&
      one.status !== 'cancelling' &&
      runsSince(one) !== null,
  )
  if (task !== undefined) {
    const live = p.outputs.get(task.id)?.at
    const last = live ?? task.last_sign_of_life_at
    const since = runsSince(task)
    const long = since === null ? '' : `: ${running(since, times)}`
    return `${task.label}${long}${last === null ? '' : `, last output ${ago(last, times)}`}`
  }
  const life = p.lives.get(turn.id)
  const saying = life === undefined ? '' : lastWords(p, turn.id, life.round)
  if (saying !== '') return `says: ${saying}`
  if (life !== undefined)
    return `the model is ${life.saying ?? 'alive'}; last word ${ago(life.at, times)}`
  return turn.rounds === 0 ? 'the model is asked' : `request ${turn.rounds} is with the model`
}

/** The end of what the model is saying, from a word on. */
function lastWords(p: Presentation, turn: string, round: number): string {
  const heard = p.texts.get(`${turn}:${round}`)?.text.slice(-wordsShown * 4) ?? ''
  const said = heard.replace(/\s+/g, ' ').trim()
  if (said.length <= wordsShown) return said
  const tail = said.slice(-wordsShown)
  const word = tail.indexOf(' ')
  return `… ${tail.slice(word + 1)}`
}

/** What came of a completed item since, and its agent has not seen: the newest, and how many. */
export function lateWords(late: readonly string[]): string {
  const more = late.length - 1
  return `came late: ${late.at(-1) ?? ''}${more > 0 ? `; ${more} more` : ''}`
}

export function taskWords(task: TaskRecord, live_at: string | undefined, times: Times): string {
  const last = live_at ?? task.last_sign_of_life_at
  const from = runsSince(task)
  switch (task.status) {
    case 'held':
      return 'waits for your yes'
    case 'queued':
    case 'running':
      if (from === null) return task.status
      return [`running ${running(from, times)}`, last === null ? '' : `output ${ago(last, times)}`]
        .filter((part) => part !== '')
        .join(', ')
    case 'cancelling':
      return task.survivors.length === 0
        ? 'being stopped'
        : `does not end: ${task.survivors.join(', ')} still run`
    case 'completed':
    case 'failed':
    case 'cancelled':
    case 'interrupted':
      return endWords(task)
  }
}
