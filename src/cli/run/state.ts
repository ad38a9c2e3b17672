/**
 * When a run is over, and with which exit code (docs/spec/cli.md#run): a pure function of the facts
 * of one agent, read top to bottom. A run lives while a turn, a hold of at most five minutes, a
 * back-off, or an open item's task or timer wait is pending, or while a question stands before the
 * person.
 */
import {
  activeWaitsOf,
  backOffEnd,
  projections,
  type AgentView,
} from '../../protocol/agent-view.ts'
import {
  isUnderWay,
  limits,
  verificationOf,
  type VerificationState,
  type Next,
  type Projection,
  type Turn,
  type Wait,
} from '../../protocol/records/records.ts'

export type RunView = {
  now: string
  next: Next
  stopped: boolean
  hold: Wait | null
  /** When a runnable item that pauses gets its next try. */
  back_off_end: string | null
  /** Active waits on open items. */
  item_waits: readonly Wait[]
  /** Active waits for the operator, on items and on the agent. */
  questions: readonly Wait[]
  /** Tasks that wait for the operator and for nobody else: of a child that asks, or held. */
  asking_tasks: readonly string[]
  /** What this run made or worked on and did not complete. */
  left: readonly Projection[]
  /** Completed items of this run with checks, and what those come to. */
  verifications: readonly { says: string; state: VerificationState; running: boolean }[]
  /** The last turn that ended in this run. */
  last_turn: Pick<Turn, 'outcome' | 'reason'> | null
  /** Why nothing came of this run; null: something was said or done, or nothing was asked for. */
  came_to_nothing: string | null
  /** A question is being put to the person now. */
  asking: boolean
  /** The runtime itself gave up. */
  broken: boolean
}

export type RunState =
  | { do: 'go_on'; because: string }
  | { do: 'end'; exit: 0 | 1 | 3; because: string }

export function runState(view: RunView): RunState {
  if (view.broken) return { do: 'end', exit: 1, because: 'the runtime gave up' }
  const alive = pending(view)
  if (alive !== null) return { do: 'go_on', because: alive }
  const checked = view.verifications.map(checkedEnd).filter((end) => end !== null)
  if (view.stopped) return { do: 'end', exit: 1, because: 'the agent is stopped' }
  if (view.hold !== null) return { do: 'end', exit: 1, because: 'the agent is held' }
  if (view.last_turn?.outcome === 'failed') {
    return { do: 'end', exit: 1, because: 'the last turn failed' }
  }
  const worst = checked.find(({ exit }) => exit === 1) ?? checked[0]
  if (worst !== undefined && worst.exit === 1) return { do: 'end', ...worst }
  if (view.left.length > 0) return { do: 'end', exit: 3, because: 'work is left that waits' }
  if (view.questions.length + view.asking_tasks.length > 0) {
    return { do: 'end', exit: 3, because: 'a question is open' }
  }
  if (worst !== undefined) return { do: 'end', ...worst }
  if (view.came_to_nothing !== null) return { do: 'end', exit: 1, because: view.came_to_nothing }
  return { do: 'end', exit: 0, because: 'nothing is left' }
}

/** What a completed item with checks does to the exit code; null: nothing. */
function checkedEnd({ state, says }: RunView['verifications'][number]) {
  switch (state) {
    case 'failed':
    case 'unknown':
    case 'changed':
      return { exit: 1, because: `not verified: ${says}` } as const
    case 'pending':
      return { exit: 3, because: 'a check waits for your answer' } as const
    case 'none':
    case 'asked':
    case 'verified':
      return null
  }
}

/** What keeps the run alive, or null. */
function pending(view: RunView): string | null {
  const { next, hold } = view
  if (next.do === 'noop') return 'a turn runs'
  if (next.do === 'start_turn') return 'a turn starts'
  if (view.verifications.some(({ running }) => running)) return 'checks are run'
  if (view.stopped) return null
  if (view.asking) return 'a question is open'
  if (hold !== null) return isShort(view.now, hold) ? 'a short hold' : null
  if (view.back_off_end !== null) return 'a back-off'
  const wait = view.item_waits.find(
    ({ wake, resource }) =>
      wake === 'timer' || (wake === 'task_result' && !view.asking_tasks.includes(resource ?? '')),
  )
  return wait === undefined ? null : wait.id
}

/** A hold that ends within the time a run waits for it. */
const isShort = (now: string, hold: Wait): boolean =>
  hold.wake_at !== null && Date.parse(hold.wake_at) - Date.parse(now) <= limits.hold_wait.value

/** The part of a run's view that the agent's facts give. `mine`: items the run worked on. */
export function runViewOf(
  view: AgentView,
  next: Next,
  mine: ReadonlySet<string>,
): Omit<RunView, 'last_turn' | 'came_to_nothing' | 'asking' | 'broken'> {
  const waits = activeWaitsOf(view.facts)
  const tasks = [...view.facts.rows('tasks')]
  return {
    now: view.now,
    next,
    stopped: view.survey.stopped,
    hold: view.survey.hold,
    back_off_end: backOffEnd(view),
    item_waits: waits.filter((wait) => wait.work_item_id !== null),
    asking_tasks: tasks.flatMap(({ id, asking, status }) =>
      asking?.of === 'operator' || status === 'held' ? [id] : [],
    ),
    questions: waits.filter((wait) => wait.wake === 'operator_input'),
    verifications: [...view.facts.rows('work_items')].flatMap((item) => {
      if (item.state !== 'completed' || !mine.has(item.id)) return []
      const running = item.checks.some(isUnderWay)
      const { state, says } = verificationOf(item)
      return [{ state, says, running }]
    }),
    left: projections(view).filter(({ item }) => item.state === 'open' && mine.has(item.id)),
  }
}

/** The worst of several agents: one that goes on keeps the run; then 1 before 3 before 0. */
export function worstOf(states: readonly RunState[]): RunState {
  const going = states.find((state) => state.do === 'go_on')
  if (going) return going
  const order = [1, 3, 0]
  const ended = states.flatMap((state) => (state.do === 'end' ? [state] : []))
  const [worst] = ended.toSorted((a, b) => order.indexOf(a.exit) - order.indexOf(b.exit))
  return worst ?? { do: 'end', exit: 0, because: 'there is no agent' }
}
