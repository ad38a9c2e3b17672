/**
 * Git worktrees for a home that this process owns. Most runs never touch one, so what handles them
 * is loaded when the first is asked for.
 */
import { join } from 'node:path'
import type { Worktrees } from '../../exec/worktrees/port.ts'
import { env } from '../machine/machine.ts'

export function worktreesOf(home: string): Worktrees {
  let opened: Promise<Worktrees> | null = null
  const real = () =>
    (opened ??= import('../../exec/worktrees/worktrees.ts').then(({ createWorktrees }) =>
      createWorktrees({ parent_env: env, scratch_folder: join(home, 'worktrees', '.scratch') }),
    ))
  return {
    repository: async (folder) => (await real()).repository(folder),
    add: async (request) => (await real()).add(request),
    status: async (of) => (await real()).status(of),
    snapshot: async (of) => (await real()).snapshot(of),
    list_snapshots: async (repository) => (await real()).list_snapshots(repository),
    restore: async (of) => (await real()).restore(of),
    remove: async (request) => (await real()).remove(request),
    objection: async (request) => (await real()).objection(request),
    facts: async (of) => (await real()).facts(of),
    prune: async (of) => (await real()).prune(of),
  }
}
