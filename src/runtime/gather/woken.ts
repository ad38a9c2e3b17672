/**
 * What woke a turn beside its messages: waits that it reviews or that ended, what the tasks of
 * those brought, and where the hints came from. Reads only.
 */
import type { ItemView, Situation } from '../../context/sections/situation.ts'
import { itemPacing } from '../../domain/facts/facts.ts'
import { taskResultId, type TaskId, type WorkItemId } from '../../domain/ids.ts'
import { isHint, type Message } from '../../domain/state/message.ts'
import { rankingOf } from '../../domain/facts/ranking.ts'
import type { Turn } from '../../domain/state/turn.ts'
import { matches, type Wait } from '../../domain/state/wait.ts'
import type { AgentPorts } from '../agent-ports.ts'

/**
 * Waits this turn reviewed, and those that ended since the last turn of their item: of the turn's
 * own, else of each that it is offered.
 */
export async function wokenBy(env: AgentPorts, turn: Turn, item: ItemView | null): Promise<Wait[]> {
  const found = new Map<string, Wait>()
  const facts = env.facts()
  for (const wait of rankingOf(facts).waitsShownBy(turn.id)) found.set(wait.id, wait)
  for (const { id, waits } of await lookedAt(env, turn, item)) {
    const lastTurn = itemPacing(facts, id).last_turn_ended_at ?? ''
    for (const wait of waits) {
      const ended = wait.status === 'resolved' && (wait.resolved_at ?? '') >= lastTurn
      if (ended && wait.changed_seq <= turn.input_cut) found.set(wait.id, wait)
    }
  }
  return [...found.values()].sort((a, b) => a.changed_seq - b.changed_seq)
}

/** Waits of one item that are looked at, the newest. */
export const itemWaits = 5

async function lookedAt(
  env: AgentPorts,
  { cause, work_item_id }: Turn,
  item: ItemView | null,
): Promise<{ id: WorkItemId; waits: readonly Wait[] }[]> {
  if (item !== null) return [{ id: item.projection.item.id, waits: item.waits }]
  if (work_item_id !== null || cause.kind !== 'queued_available') return []
  const { ledger } = env.store
  return Promise.all(
    cause.work_item_ids.map(async (id) => ({
      id,
      waits: await ledger.list('waits', { work_item_id: id, limit: itemWaits }),
    })),
  )
}

/** What the tasks brought that the turn was woken for, where no message of its own says so. */
export async function broughtBy(
  env: AgentPorts,
  woken: readonly Wait[],
  mine: readonly Message[],
): Promise<Message[]> {
  const ended = woken.flatMap(({ wake, status, resource }) =>
    wake === 'task_result' && status === 'resolved' && resource !== null
      ? taskResultId(resource as TaskId)
      : [],
  )
  const others = [...new Set(ended)].filter((id) => !mine.some((message) => message.id === id))
  const rows = await Promise.all(
    others.map(
      async (id) => env.facts().row('messages', id) ?? env.store.ledger.row('messages', id),
    ),
  )
  return rows.filter((row) => row !== null)
}

/** Events of the agent that are looked through for hints. */
const hintsLooked = 200

/** The hints that a review shows of waits which take events of more than one name. */
export async function hintsFor(
  env: AgentPorts,
  turn: Turn,
  woken: readonly Wait[],
): Promise<NonNullable<Situation['hints']>> {
  const open = woken.filter(
    ({ wake, source, resource }) => wake === 'external' && (source === null || resource === null),
  )
  if (open.length === 0) return []
  const kind = ['callback_event', 'webhook_event']
  const { agent_id, store } = env
  const filter = { agent_id, kind, status: ['consumed'], limit: hintsLooked }
  const hints = (await store.ledger.list('messages', filter)).filter(isHint)
  return open.flatMap((wait) => {
    const seen = wait.last_review?.turn_id === turn.id ? wait.last_review.before : wait
    const fresh = wait.trigger_count - seen.reviewed_trigger_count
    const { reviewed_at: last } = seen
    const came = hints.filter(
      (hint) =>
        (hint.wait_id === wait.id || matches(wait, hint)) &&
        (last === null ? hint.inbox_seq > wait.since_seq : hint.created_at >= last),
    )
    const named = Map.groupBy(came.slice(-fresh), ({ source, resource }) =>
      JSON.stringify([source, resource]),
    )
    return fresh === 0
      ? []
      : [...named.values()].flatMap(([hint, ...more]) =>
          hint === undefined
            ? []
            : {
                wait_id: wait.id,
                source: hint.source,
                resource: hint.resource,
                count: 1 + more.length,
              },
        )
  })
}
