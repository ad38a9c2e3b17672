/**
 * Grant: a person's yes that stands for longer than once (docs/spec/task.md#grants). It is about
 * commands of one agent, for one of its items or until a date, and has who gave it, at which
 * question, and how often it was used. What has ended never holds again.
 */
import type { AgentId, GrantId, TaskId, WorkItemId } from '../ids.ts'
import type { ActionOrigin, PolicyAction } from '../policy/action.ts'
import { earliest, type Timestamp } from '../time.ts'
import type { DeliverySurface } from './provenance.ts'
import type { By } from './work-item.ts'

/**
 * A command by how it begins: this program with these words in front and no flags but these. The
 * words behind them are free.
 */
export type LikeCommand = {
  /** A real path. */
  program: string
  /** As it was called. */
  name: string
  words: readonly string[]
  flags: readonly string[]
  /** Its folder, a real path. */
  cwd: string
  /** Where it was kept in a sandbox, it holds for no command that is not. */
  confined: boolean
  /** Whose words it was asked on: only what was asked on words of outside holds for such. */
  origin: ActionOrigin
}

/** From narrow to broad. */
export const grantKinds = ['same_for_item', 'like_for_item', 'like_for_agent'] as const

export type GrantScope =
  /** Exactly this action. */
  | { kind: 'same_for_item'; action: PolicyAction }
  | { kind: 'like_for_item'; like: LikeCommand }
  | { kind: 'like_for_agent'; like: LikeCommand }

/** What a yes may stand for beyond once; `like` null: nothing but exactly the same. */
export type Grantable = { like: LikeCommand | null }

export type Grant = {
  id: GrantId
  agent_id: AgentId
  /** Null: for all that the agent does. */
  work_item_id: WorkItemId | null
  scope: GrantScope
  /** The held command to which the yes was said, and by which door. */
  task_id: TaskId
  surface: DeliverySurface
  /** Null: it ends with its item. */
  until: Timestamp | null
  /** Commands that began by it, without the one to which the yes was said. */
  uses: number
  last_used_at: Timestamp | null
  status: 'active' | 'ended'
  because: string | null
  created_at: Timestamp
  ended_at: Timestamp | null
}

export type GrantEvent =
  | {
      type: 'grant_made'
      id: GrantId
      work_item_id: WorkItemId | null
      scope: GrantScope
      task_id: TaskId
      surface: DeliverySurface
      until: Timestamp | null
    }
  /** In the commit that queues the command. */
  | { type: 'grant_used'; id: GrantId; task_id: TaskId }
  | { type: 'grant_ended'; id: GrantId; by: By; because: string }

export function evolveGrant(
  grant: Grant | null,
  event: GrantEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Grant {
  if (event.type === 'grant_made') {
    if (grant !== null) throw new Error(`a second grant ${event.id}`)
    const { type: _, ...given } = event
    return {
      ...given,
      agent_id: meta.agent_id,
      uses: 0,
      last_used_at: null,
      status: 'active',
      because: null,
      created_at: meta.at,
      ended_at: null,
    }
  }
  if (grant === null) throw new Error(`${event.type} before grant_made: ${event.id}`)
  if (grant.status === 'ended') throw new Error(`${event.type} after ${grant.id} ended`)
  switch (event.type) {
    case 'grant_used':
      return { ...grant, uses: grant.uses + 1, last_used_at: meta.at }
    case 'grant_ended':
      return { ...grant, status: 'ended', because: event.because, ended_at: meta.at }
  }
}

/** Whether it holds now: its date counts from the moment it comes, whoever looks. */
export const isInForce = ({ status, until }: Grant, now: Timestamp): boolean =>
  status === 'active' && (until === null || until > now)

/** When the next one ends by its date; null: none does. */
export function nextGrantEnd(facts: { rows(table: 'grants'): Iterable<Grant> }): Timestamp | null {
  const active = [...facts.rows('grants')].filter(({ status }) => status === 'active')
  return earliest(active.map(({ until }) => until))
}
