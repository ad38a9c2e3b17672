/** Where things are in a home (contracts 9, *Home*): one function a place, all absolute paths. */
import type { AgentId, CallId, TaskId, TurnId, WorkItemId } from '../domain/ids.ts'

export const agentHome = (home: string, agent: AgentId): string => `${home}/agents/${agent}`

export const planFolder = (home: string, agent: AgentId, item: WorkItemId): string =>
  `${agentHome(home, agent)}/work-items/${item}`

export const planPath = (home: string, agent: AgentId, item: WorkItemId): string =>
  `${planFolder(home, agent, item)}/plan.md`

export const tasksFolder = (home: string): string => `${home}/tasks`

export const taskPath = (home: string, task: TaskId): string => `${tasksFolder(home)}/${task}`

/** The git worktree of the child that the task supervises. */
export const worktreePath = (home: string, task: TaskId): string => `${home}/worktrees/${task}`

export const outputPath = (home: string, call: CallId): string => `${home}/outputs/${call}.txt`

/** The events a turn shows only as one file. */
export const coalescedPath = (home: string, turn: TurnId): string =>
  `${home}/outputs/${turn}-events.txt`
