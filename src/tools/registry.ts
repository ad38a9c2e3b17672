/**
 * Every tool there is, in the fixed order in which a model is shown them (a changed order would
 * cost a provider's prompt cache), and the one way from a call as written to a tool and its input.
 */
import { agentGet } from './agents/agent-get.ts'
import { applyPatch } from './files/apply-patch.ts'
import { completeWorkItem } from './work/complete-work-item.ts'
import { createWorkItem } from './work/create-work-item.ts'
import { editFile } from './files/edit-file.ts'
import { execCommand } from './commands/exec-command.ts'
import { findInFiles } from './files/find-in-files.ts'
import { getWorkItem } from './work/get-work-item.ts'
import { listTasks } from './commands/list-tasks.ts'
import { listWorkItems } from './work/list-work-items.ts'
import { memoryGet } from './memory/memory-get.ts'
import { memorySearch } from './memory/memory-search.ts'
import { pickWorkItem } from './work/pick-work-item.ts'
import { readFile } from './files/read-file.ts'
import { taskInput } from './commands/task-input.ts'
import { spawnAgent } from './agents/spawn-agent.ts'
import { taskOutput } from './commands/task-output.ts'
import { taskStatus } from './commands/task-status.ts'
import { taskStop } from './commands/task-stop.ts'
import type { Tool } from './tool/tool.ts'
import { updateWorkItem } from './work/update-work-item.ts'
import { validate, type Validated } from './tool/validate.ts'
import { viewImage } from './files/view-image.ts'
import { waitFor } from './work/wait-for.ts'
import { webFetch } from './web/web-fetch.ts'

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
  webFetch,
  viewImage,
]

const byName = new Map<string, Tool>(tools.map((tool) => [tool.name, tool]))

export const toolNamed = (name: string): Tool | null => byName.get(name) ?? null

/** A call as the model wrote it, or the result that says what is wrong with it. */
export const validateCall = (tool_name: string, input_json: string): Validated<Tool> =>
  validate(tools, tool_name, input_json)
