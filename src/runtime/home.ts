/**
 * Where things are in a home (docs/spec/agent.md#home, *Home*): one function a place, all absolute
 * paths.
 */
import type { ImageHead } from '../domain/image.ts'
import type { AgentId, CallId, MessageId, TaskId, TurnId, WorkItemId } from '../domain/ids.ts'

export const agentHome = (home: string, agent: AgentId): string => `${home}/agents/${agent}`

/** The handoff of a private child, where it is too long for a request. */
export const handoffPath = (home: string, agent: AgentId): string =>
  `${agentHome(home, agent)}/handoff.md`

export const planFolder = (home: string, agent: AgentId, item: WorkItemId): string =>
  `${agentHome(home, agent)}/work-items/${item}`

export const planPath = (home: string, agent: AgentId, item: WorkItemId): string =>
  `${planFolder(home, agent, item)}/plan.md`

export const tasksFolder = (home: string): string => `${home}/tasks`

export const taskPath = (home: string, task: TaskId): string => `${tasksFolder(home)}/${task}`

/** The git worktree of the child that the task supervises. */
export const worktreePath = (home: string, task: TaskId): string => `${home}/worktrees/${task}`

/** What is too long for a request: a result, a message, the older events of a turn. */
export const outputPath = (home: string, of: CallId | MessageId | TurnId): string =>
  `${home}/outputs/${of}.txt`

/** An image that came with a message, as a file for whoever wants to look at it again. */
export const imagePathIn =
  (home: string) =>
  ({ id }: { id: MessageId }, n: number, { media_type }: ImageHead): string =>
    `${home}/outputs/${id}.${n}.${media_type.slice('image/'.length)}`
