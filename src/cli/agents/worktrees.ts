/**
 * `holon worktree`: the worktrees of children, what each would lose, and the command to go on with.
 * A worktree is named by the task that owns it.
 */
import type { Worktree } from '../../protocol/records/records.ts'
import { safeLine } from '../../present/text/safe.ts'
import { table, type Column } from '../../present/text/table.ts'
import { act } from '../command/act.ts'
import { idOf, printLines, reading, viewsOf, type Context } from '../command/context.ts'
import { exits, usage, type Exit } from '../command/failure.ts'
import { printList } from '../command/records.ts'

export type WorktreeListOptions = { agent?: string; all?: boolean }

const live = ['planned', 'ready', 'kept']
/** Worktrees that are shown at most. */
const most = 1_000

const columns: readonly Column[] = [
  { title: 'WORKTREE' },
  { title: 'BRANCH', min: 10 },
  { title: 'CHILD', min: 8 },
  { title: 'STATE' },
  { title: 'WOULD BE LOST', min: 14 },
  { title: 'GO ON WITH', min: 20 },
]

export function worktrees(context: Context, options: WorktreeListOptions): Promise<Exit> {
  const { agent, all = false } = options
  if (context.flags.json === true) {
    const path =
      agent === undefined ? '/worktrees' : `/agents/${encodeURIComponent(agent)}/worktrees`
    const query = { state: all ? 'all' : 'live' }
    return printList(context, { plural: 'worktrees', path, query })
  }
  return reading(context, async (reader, moment) => {
    if (agent !== undefined) await viewsOf(reader, moment, agent)
    const found = await reader.list('worktrees', {
      ...(agent === undefined ? {} : { agent_id: agent }),
      ...(all ? {} : { status: live }),
      limit: most,
    })
    if (found.length === 0) {
      printLines(context, [all ? 'no worktree yet' : 'no worktree stands; those that went: --all'])
      return exits.done
    }
    const { ids, medium } = context
    ids.know(found.map(({ id }) => id))
    const rows = found.map((one) => {
      const short = ids.short(one.id)
      const { branch, child_agent_id, state } = one
      return [short, branch, child_agent_id, state, loss(one), goOn(one, short)].map(safeLine)
    })
    const kept = found.filter(({ state }) => state === 'kept')
    printLines(context, [
      ...table(columns, rows, medium),
      ...found.flatMap(({ id, unfiltered }) =>
        unfiltered === null ? [] : [safeLine(rawLine(ids.short(id), unfiltered))],
      ),
      ...kept.map(({ id, path }) => `look at ${ids.short(id)}   git -C ${safeLine(path)} status`),
    ])
    return exits.done
  })
}

/** Files that stand there as git has them, because no filter of a repository is run. */
const rawLine = (short: string, { files, filters }: NonNullable<Worktree['unfiltered']>): string =>
  `${short} has ${files} files as git stores them: ${filters.join(', ')} was not run`

function loss({ state, reason, snapshot }: Worktree): string {
  switch (state) {
    case 'planned':
    case 'ready':
      return snapshot === null || state === 'ready'
        ? 'its child works in it'
        : `nothing: ${snapshot.ref} has it`
    case 'kept':
      return reason ?? 'it was not looked at'
    case 'removed':
      return `nothing: ${reason}`
    case 'discarded':
      return `nothing: ${snapshot?.ref} has it`
  }
}

function goOn({ state, snapshot }: Worktree, short: string): string {
  switch (state) {
    case 'planned':
    case 'ready':
      if (snapshot !== null && state === 'planned') return `holon worktree restore ${short}`
      return `holon tasks follow ${short}`
    case 'kept':
      return `merge it, or holon worktree discard ${short}`
    case 'removed':
    case 'discarded':
      return snapshot === null ? '-' : `holon worktree restore ${short}`
  }
}

export async function onWorktree(
  context: Context,
  verb: 'snapshot' | 'restore' | 'discard' | 'remove',
  target: string,
): Promise<Exit> {
  const { agent_id, worktree_id } = await reading(context, async (reader) => {
    const id = await idOf(context, reader, target, ['task'])
    const row = await reader.row('worktrees', id)
    if (row !== null) return { agent_id: row.agent_id, worktree_id: id }
    const hint = 'holon worktree list --all shows them'
    throw usage('worktree_not_found', `${target} has no worktree`, hint)
  })
  return act(context, { do: `${verb}_worktree`, agent_id, worktree_id })
}
