/**
 * Every tool there is, in the fixed order in which a model is shown them (a changed order would
 * cost a provider's prompt cache), and the one way from a call as written to a tool and its input.
 */
import { agentGet } from './agent-get.ts'
import { applyPatch } from './apply-patch.ts'
import { completeWorkItem } from './complete-work-item.ts'
import { createWorkItem } from './create-work-item.ts'
import { editFile } from './edit-file.ts'
import { execCommand } from './exec-command.ts'
import { findInFiles } from './find-in-files.ts'
import { getWorkItem } from './get-work-item.ts'
import { listTasks } from './list-tasks.ts'
import { listWorkItems } from './list-work-items.ts'
import { memoryGet } from './memory-get.ts'
import { memorySearch } from './memory-search.ts'
import { pickWorkItem } from './pick-work-item.ts'
import { readFile } from './read-file.ts'
import { taskInput } from './task-input.ts'
import { spawnAgent } from './spawn-agent.ts'
import { taskOutput } from './task-output.ts'
import { taskStatus } from './task-status.ts'
import { taskStop } from './task-stop.ts'
import type { Tool } from './tool.ts'
import { updateWorkItem } from './update-work-item.ts'
import { validate, type Validated } from './validate.ts'
import { waitFor } from './wait-for.ts'

export const tools: readonly Tool[] = [
  createWorkItem,
  updateWorkItem,
  pickWorkItem,
  getWorkItem,
  listWorkItems,
  completeWorkItem,
  waitFor,
  execCommand,
  listTasks,
  taskStatus,
  taskOutput,
  taskStop,
  taskInput,
  spawnAgent,
  agentGet,
  readFile,
  editFile,
  applyPatch,
  memorySearch,
  memoryGet,
  findInFiles,
]

const byName = new Map<string, Tool>(tools.map((tool) => [tool.name, tool]))

export const toolNamed = (name: string): Tool | null => byName.get(name) ?? null

/** A call as the model wrote it, or the result that says what is wrong with it. */
export const validateCall = (tool_name: string, input_json: string): Validated<Tool> =>
  validate(tools, tool_name, input_json)
