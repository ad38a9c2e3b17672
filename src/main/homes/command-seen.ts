/**
 * A command as its process stands, for who reads a home without being its owner: by the files of
 * its runner and the processes of this machine. It changes nothing, and starts nothing.
 */
import { join } from 'node:path'
import type { CommandLook } from '../../cli/command/ports.ts'
import { observeTask } from '../../exec/commands/observe.ts'
import type { TaskProcess } from '../../exec/ports.ts'
import { ProcessFault } from '../../exec/commands/process-fault.ts'
import { processTable } from '../../exec/commands/process-table.ts'
import { taskFolder } from '../../exec/commands/task-folder.ts'
import { endedBy } from '../../domain/agents/task-end.ts'
import { clock } from '../machine/machine.ts'

/** Null: its files cannot be read, and its row is all that is known. */
export async function commandSeen(home: string, task_id: string): Promise<CommandLook | null> {
  try {
    const folder = taskFolder(join(home, 'tasks'), task_id)
    return seenIn(await observeTask(folder, { table: processTable(), clock }))
  } catch (error) {
    if (error instanceof ProcessFault) return null
    throw error
  }
}

function seenIn(process: TaskProcess): CommandLook {
  switch (process.state) {
    case 'absent':
      return { state: 'not_begun' }
    case 'running':
      return { state: 'running', started_at: process.started_at }
    case 'ended': {
      const { started_at, ended_at } = process
      return { state: 'ended', started_at, ended_at, ...endedBy(process) }
    }
    case 'lost':
      return { state: 'lost' }
  }
}
