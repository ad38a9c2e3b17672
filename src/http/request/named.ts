/**
 * What an id in a request means: the row itself, of the agent in the path. Any beginning or end of
 * an id is taken; one that means several things is refused with all of them, and whose each is.
 */
import type { Rows, Table } from '../../protocol/records/records.ts'
import type { HomePort } from './ports.ts'
import { refuse, type Refusal } from './problem.ts'
import type { Views } from './views.ts'
import type { AgentView } from '../../protocol/agent-view.ts'

export type Lookup<T> = { ok: true; value: T } | { ok: false; refusal: Refusal }

/** Tables whose rows have an id of their own and belong to an agent. */
export type OwnedTable = Exclude<
  Table,
  'agents' | 'rounds' | 'pacing' | 'receipts' | 'snoozes' | 'meters'
>

const notFound: Readonly<Record<OwnedTable, string>> = {
  work_items: 'work_item_not_found',
  waits: 'wait_not_found',
  tasks: 'task_not_found',
  triggers: 'trigger_not_found',
  grants: 'grant_not_found',
  schedules: 'schedule_not_found',
  deliveries: 'delivery_not_found',
  messages: 'not_found',
  turns: 'not_found',
  calls: 'not_found',
  briefs: 'not_found',
  decisions: 'not_found',
  slots: 'not_found',
  delegations: 'not_found',
  worktrees: 'worktree_not_found',
}

export const refused = (code: string, message: string): { ok: false; refusal: Refusal } => ({
  ok: false,
  refusal: refuse({ code, message }),
})

/** The one row of the agent that begins or ends so; of any agent when none is named. */
export async function rowNamed<T extends OwnedTable>(
  { reads }: HomePort,
  table: T,
  agent_id: string | null,
  text: string,
): Promise<Lookup<Rows[T]>> {
  const ids = await reads.idsLike(table, text, agent_id ?? undefined)
  const [one, more] = ids
  const row: Rows[T] | null = one && more === undefined ? await reads.row(table, one.id) : null
  if (row !== null) return { ok: true, value: row }
  if (more !== undefined) {
    const candidates = ids.map((of) => `${of.id} (${of.agent_id})`).join(', ')
    return refused('ambiguous_id', `${text} means more than one: ${candidates}.`)
  }
  const owner = agent_id === null ? '' : ` of ${agent_id}`
  return refused(notFound[table], `There is no ${text}${owner}.`)
}

/** The agent in a path, as it is now. */
export function agentNamed(views: Views, id: string): Lookup<AgentView> {
  const view = views.of(id)
  if (view !== null) return { ok: true, value: view }
  return refused('agent_not_found', `There is no agent "${id}".`)
}
