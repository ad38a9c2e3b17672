/**
 * References to records: what they look like and what they name. A reference is a whole id, with
 * the part of it behind a slash; files of an agent's home go by their path in it. Seen from
 * another agent, or from the operator, a file's path begins with `@<agent>/`. Files of the memory
 * of a workspace go by their path in it, for whoever works there.
 *
 * `brief_…`, `msg_…`, `work_…`, `work_…/plan`, `turn_…/3`, `call_…`, `sched_…`, `task_…`,
 * `task_…/stdout`, `file:memory/x.md`, `file:@docs/memory/x.md`, `file:.agents/memory/x.md`
 */
import { isAgentId } from '../ids.ts'
import type { MemoryTable } from './records.ts'

export type MemoryRef =
  | { table: MemoryTable; id: string; part: string | null }
  | { table: 'turns'; id: string; part: string }
  | { table: 'files'; agent_id: string | null; path: string }
  | { table: 'workspace_files'; path: string }

/** Folders of an agent's home whose files are memory. */
export const memoryFolders = ['memory', 'notes'] as const

/** The folder of a workspace whose files are a memory of all who work in it. */
export const workspaceMemory = '.agents/memory'

const tableOf: Readonly<Record<string, [MemoryTable | 'turns', readonly string[]]>> = {
  brief: ['briefs', []],
  msg: ['messages', []],
  work: ['work_items', ['plan']],
  task: ['tasks', ['stdout', 'stderr']],
  call: ['calls', []],
  sched: ['schedules', []],
  turn: ['turns', []],
}

/** Null: it is no reference. Ids may be short: the noun and the end of the id. */
export function parseRef(text: string): MemoryRef | null {
  if (text.startsWith('file:')) return fileRef(text.slice('file:'.length))
  const found = /^(([a-z]+)_[0-9A-Za-z-]{1,80})(?:\/([a-z]+|\d{1,6}))?$/.exec(text)
  const [, id, noun = '', part = null] = found ?? []
  const known = tableOf[noun]
  if (id === undefined || known === undefined) return null
  const [table, parts] = known
  if (table === 'turns') return part !== null && /^\d+$/.test(part) ? { table, id, part } : null
  return part === null || parts.includes(part) ? { table, id, part } : null
}

function fileRef(text: string): MemoryRef | null {
  const named = /^@([^/]+)\/(.*)$/s.exec(text)
  const agent_id = named?.[1] ?? null
  const path = named?.[2] ?? text
  if (agent_id !== null && !isAgentId(agent_id)) return null
  const steps = path.split('/')
  const inside = steps.every((step) => step !== '' && step !== '.' && step !== '..')
  const folders: readonly string[] = memoryFolders
  if (inside && agent_id === null && path.startsWith(`${workspaceMemory}/`)) {
    return path.includes('\0') ? null : { table: 'workspace_files', path }
  }
  if (!inside || steps.length < 2 || !folders.includes(steps[0] ?? '')) return null
  return path.includes('\0') ? null : { table: 'files', agent_id, path }
}

/** A record's reference as `viewer` writes it; null: the operator. */
export const refSeen = (ref: string, of: string, viewer: string | null): string =>
  ref.startsWith('file:') && of !== viewer ? `file:@${of}/${ref.slice('file:'.length)}` : ref

/** Of a file of the workspace anyone who works there may be the writer: the reader is not named. */
export const isShared = (source_ref: string): boolean =>
  parseRef(source_ref)?.table === 'workspace_files'
