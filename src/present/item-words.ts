/**
 * Items, agents, tasks and waits of the state in a few words: the mark, what it is about, and what
 * stands at the right of its row. Times are read by the clock of the server as last heard. Pure.
 */
import type { AgentRecord } from '../protocol/agent-record.ts'
import type { Attention } from '../protocol/attention.ts'
import { measuredWords } from '../protocol/records.ts'
import type { StateRecord } from '../protocol/state-record.ts'
import type { TaskRecord } from '../protocol/task-record.ts'
import type { WaitRecord } from '../protocol/wait-record.ts'
import type { WorkItemRecord } from '../protocol/work-item-record.ts'
import { stateWords } from './check-lines.ts'
import type { Mark } from './marks.ts'
import type { Presentation } from './presentation.ts'
import { clock, clockSpan, due, since, type Zone } from './span.ts'
import { dollars, spent, thousandths } from './state-cell.ts'

export type OpenTurn = StateRecord['turns'][number]

/** How times stand in a row: they run on, or (not connected, no motion) stand as clock times. */
export type Times = Zone & { runs: boolean }

export const markOf: { readonly [K in Attention['kind']]: Mark } = {
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
    (one) => one.agent_id === turn.agent_id && !one.promoted && one.status === 'running',
  )
  if (task !== undefined) {
    const live = p.outputs.get(task.id)?.at
    const last = live ?? task.last_sign_of_life_at
    const long = task.started_at === null ? '' : `: ${running(task.started_at, times)}`
    return `${task.label}${long}${last === null ? '' : `, last output ${ago(last, times)}`}`
  }
  const life = p.lives.get(turn.id)
  if (life !== undefined)
    return `the model is ${life.saying ?? 'alive'}; last word ${ago(life.at, times)}`
  return turn.rounds === 0 ? 'the model is asked' : `request ${turn.rounds} is with the model`
}

/** What came of a completed item since, and its agent has not seen: the newest, and how many. */
export function lateWords(late: readonly string[]): string {
  const more = late.length - 1
  return `came late: ${late.at(-1) ?? ''}${more > 0 ? `; ${more} more` : ''}`
}

/** What an open item that does not work now waits for. */
export function itemWords(
  item: WorkItemRecord,
  agent: AgentRecord | undefined,
  times: Times,
): string {
  if (item.state === 'completed') {
    const at = item.completed_at ?? item.updated_at
    const price = item.spend === null ? '-' : spent(item.spend)
    const word = stateWords[item.verification?.state ?? 'none']
    return `${clock(at, times)}, ${word}${price === '-' ? '' : `, ${price}`}`
  }
  if (item.meter !== null && item.meter.over.length > 0) {
    return `budget: ${item.meter.over.map(measuredWords).join(', ')}`
  }
  if (item.imported?.adopted_at === null) return 'imported: look at it, then pick it'
  const { wait } = item
  if (wait !== null) return waitWords(wait, agent, times)
  if (item.blocked_by !== null) return `blocked: ${item.blocked_by}`
  if (item.plan_status === 'needs_input') return 'your input on its plan'
  return held(agent, times) ?? (item.focus === 'current' ? 'next' : 'queued')
}

type WaitWords = Pick<
  WaitRecord,
  | 'wake'
  | 'wake_at'
  | 'recheck_at'
  | 'resource'
  | 'source'
  | 'created_at'
  | 'trigger_count'
  | 'reviewed_trigger_count'
>

export function waitWords(wait: WaitWords, agent: AgentRecord | undefined, times: Times): string {
  const long = times.runs ? since(wait.created_at, times) : `since ${clock(wait.created_at, times)}`
  switch (wait.wake) {
    case 'operator_input':
      return `you, ${long}`
    case 'task_result':
      return times.runs ? `${wait.resource}, running ${long}` : `${wait.resource} ${long}`
    case 'timer':
    case 'system': {
      if (wait.wake_at === null) return `until it is settled, ${long}`
      return `timer ${times.runs ? due(wait.wake_at, times) : clock(wait.wake_at, times)}`
    }
    case 'external': {
      if (wait.trigger_count > wait.reviewed_trigger_count) {
        const why = held(agent, times)
        return why === null ? 'arrived; its review is next' : `arrived; ${why}`
      }
      const what = wait.source ?? wait.resource ?? 'an event'
      const looks = wait.recheck_at === null
      return `${what}, ${long}${looks ? '' : `; looks at ${clock(wait.recheck_at ?? '', times)}`}`
    }
  }
}

function held(agent: AgentRecord | undefined, times: Times): string | null {
  if (agent === undefined) return null
  if (agent.state === 'stopped') return `${agent.id} is stopped`
  if (agent.posture === 'wait:system') {
    return agent.until === null
      ? `${agent.id} is held`
      : `${agent.id} is held to ${due(agent.until, times)}`
  }
  return null
}

/** `working`, `waits for you`, `stopped by you`. */
export function agentWords(agent: AgentRecord, times: Times): { mark: Mark; text: string } {
  switch (agent.posture) {
    case 'stop':
      return { mark: 'next', text: agent.state === 'deleted' ? 'deleted' : 'stopped' }
    case 'noop':
    case 'start_turn':
      return { mark: 'working', text: agent.current_run_id === null ? 'about to work' : 'working' }
    case 'sleep':
      return { mark: 'next', text: 'sleeps' }
    case 'wait:operator':
      return { mark: 'needs_me', text: 'waits for you' }
    case 'wait:task':
      return { mark: 'waiting', text: 'waits for a task' }
    case 'wait:external':
      return { mark: 'waiting', text: 'waits for an event' }
    case 'wait:system':
      return {
        mark: 'failed',
        text: agent.until === null ? 'held' : `held to ${clock(agent.until, times)}`,
      }
    case 'wait:timer':
    case 'wait:backoff':
      return {
        mark: 'waiting',
        text: agent.until === null ? 'waits' : `waits to ${clock(agent.until, times)}`,
      }
  }
}

export function taskWords(task: TaskRecord, live_at: string | undefined, times: Times): string {
  const last = live_at ?? task.last_sign_of_life_at
  switch (task.status) {
    case 'queued':
      return 'queued'
    case 'running':
      return [
        task.started_at === null ? 'running' : `running ${running(task.started_at, times)}`,
        last === null ? '' : `output ${ago(last, times)}`,
      ]
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
      return task.exit_status === null ? task.status : `exit ${task.exit_status}`
  }
}
