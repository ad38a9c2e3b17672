/**
 * The waits of an agent by what is asked of them, worked out of all rows one by one: what an index
 * that is kept along (domain/facts/wait-index.ts) must say too, in whatever order.
 */
import type { Facts } from '../../domain/facts/facts.ts'
import type { TaskId, TurnId } from '../../domain/ids.ts'
import { rankingOf } from '../../domain/facts/ranking.ts'
import { matches, type Wait } from '../../domain/state/wait.ts'

const names = ['ci', 'mail', 'nobody', null].flatMap((source) =>
  ['task_0001', 'nothing', null].map((resource) => ({ source, resource })),
)

/** What may be asked: every turn and task that is named anywhere, and some events. */
function questions(facts: Facts): { turns: TurnId[]; tasks: TaskId[] } {
  const waits = [...facts.rows('waits')]
  return {
    turns: waits.flatMap(({ last_review }) => last_review?.turn_id ?? []),
    tasks: waits.flatMap(({ resource }) => (resource === null ? [] : (resource as TaskId))),
  }
}

const ids = (waits: Iterable<Wait>): string[] => [...waits].map(({ id }) => id).sort()

/** By the ranking of the facts. */
export function keptWaits(facts: Facts) {
  const ranking = rankingOf(facts)
  const { turns, tasks } = questions(facts)
  return {
    released: ids(ranking.releasedWaits()),
    shown: turns.map((turn) => ids(ranking.waitsShownBy(turn))),
    tasks: tasks.map((task) => ids(ranking.waitsForTask(task))),
    events: names.map((event) => ids(ranking.waitsForEvent(event))),
  }
}

/** By its rows. */
export function plainWaits(facts: Facts): ReturnType<typeof keptWaits> {
  const waits = [...facts.rows('waits')]
  const { turns, tasks } = questions(facts)
  const active = (wake: Wait['wake'], which: (wait: Wait) => boolean) =>
    ids(waits.filter((wait) => wait.status === 'active' && wait.wake === wake && which(wait)))
  return {
    released: ids(
      waits.filter((w) => w.status === 'resolved' && w.released_focus && !w.focus_settled),
    ),
    shown: turns.map((turn) => ids(waits.filter((w) => w.last_review?.turn_id === turn))),
    tasks: tasks.map((task) => active('task_result', ({ resource }) => resource === task)),
    events: names.map((event) => active('external', (wait) => matches(wait, event))),
  }
}
