/** The tasks whose folders stand in a tasks folder. */
import { readdirSync } from 'node:fs'

export const tasksIn = (tasks_folder: string): string[] =>
  readdirSync(tasks_folder).filter((name) => !name.startsWith('.'))
