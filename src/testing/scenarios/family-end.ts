/**
 * The end of a run of the three-children scenario in words that do not depend on ids, times or how
 * often it was killed, and what must be true of every such end: the ledger, the repository and the
 * folders of the worktrees agree, and nothing that was committed is gone.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Rows, Table } from '../../domain/state/event.ts'
import { violations } from '../../domain/invariants/of-an-agent.ts'
import { isLiveMessage } from '../../domain/state/message.ts'
import { isTerminal } from '../../domain/state/task.ts'
import type { LedgerReads } from '../../ledger/port.ts'
import { factsOf } from '../../protocol/agent-view.ts'
import { allEvents, everyRow } from '../world/whole-ledger.ts'
import {
  commitLedger,
  otherReport,
  partNames,
  partReport,
  shippedFiles,
  shipReport,
} from './three-children.ts'

export type FamilyPlaces = { home: string; workspace: string }

export type FamilyEnd = {
  agents: unknown[]
  items: unknown[]
  reports: string[]
  delegations: unknown[]
  worktrees: unknown[]
  tasks: unknown[]
  /** One for each child: what its end said, and to which item. */
  results: unknown[]
  /** Path to text, of the commit on `main`. */
  files: Record<string, string>
  /** Subjects of what is no merge, sorted. */
  commits: string[]
  branches: string[]
  checked_out: number
  /** One sentence for each thing that is wrong; empty: all is well. */
  problems: string[]
}

export async function familyEnd(reader: LedgerReads, places: FamilyPlaces): Promise<FamilyEnd> {
  const read = async <T extends Table>(table: T): Promise<Rows[T][]> => everyRow(reader, table)
  const [agents, items, briefs, tasks, messages] = await Promise.all([
    reader.agents(),
    read('work_items'),
    read('briefs'),
    read('tasks'),
    read('messages'),
  ])
  const objective = (id: string | null) => items.find((item) => item.id === id)?.objective ?? null
  const words = (text: string) => text.replaceAll(/\b(task|work)_[0-9a-f-]{4,36}/g, '$1')
  return {
    agents: sorted(agents.map(({ id, preset, state }) => ({ id, preset, state }))),
    items: sorted(
      items.map((item) => ({
        agent_id: item.agent_id,
        objective: item.objective,
        state: item.state,
        plan_status: item.plan_status,
        todos: item.todo_list.map(({ text, state }) => `${words(text)}: ${state}`),
        report: item.result_summary,
      })),
    ),
    reports: briefs.flatMap(({ kind, text }) => (kind === 'result' ? text : [])).toSorted(),
    delegations: sorted(
      (await read('delegations')).map((one) => ({
        of: objective(one.work_item_id),
        child: one.child_agent_id,
        made: objective(one.child_work_item_id),
        state: one.state,
        said: one.result_summary,
      })),
    ),
    worktrees: sorted(
      (await read('worktrees')).map((one) => ({
        child: one.child_agent_id,
        branch: one.branch,
        state: one.state,
        reason: one.reason,
      })),
    ),
    tasks: sorted(
      tasks.map(({ agent_id, kind, label, status, exit_status, child_agent_id }) => {
        return { agent_id, kind, label, status, exit_status, child_agent_id }
      }),
    ),
    results: sorted(
      messages.flatMap((message) => {
        const task = tasks.find(({ id }) => id === message.task_id)
        if (message.kind !== 'task_result' || task?.kind !== 'child_agent') return []
        return { about: objective(message.work_item_id), body: told(words(message.body), places) }
      }),
    ),
    ...repository(places.workspace),
    problems: [
      ...(await reader.verify()).problems,
      ...messages.filter(isLiveMessage).map(({ id, status }) => `${id} is still ${status}`),
      ...(await read('turns')).flatMap(({ id, state }) =>
        state === 'open' ? `${id} is open` : [],
      ),
      ...(await read('calls')).flatMap(wrongCall),
      ...tasks.filter((one) => !isTerminal(one)).map(({ id, status }) => `${id} is ${status}`),
      ...(await invariants(reader)),
      ...leftFolders(places.home, await read('worktrees')),
      ...lostCommits(places.workspace),
    ],
  }
}

/**
 * Without the home's place, and without the commit: it has the time in it. On a machine under load
 * git may be too late to say what is in the worktree; that is told, and ends nothing differently.
 */
const told = (body: string, { home }: FamilyPlaces): string =>
  body
    .replaceAll(`${realpathSync(home)}/`, '')
    .replace(/; what is in it is unknown: it was not seen in time\.$/m, seenInTime)
    .replace(/ ahead of main \([0-9a-f]{7}\)/, ' ahead of main (commit)')

/** Of every part: its one commit is on its branch, and it goes into main as it is. */
const seenInTime = ', 1 commit ahead of main (commit), clean, merges without conflict.'

const sorted = <T>(rows: T[]): T[] =>
  rows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

/** The model of the scenario calls nothing that can be refused. */
function wrongCall({ id, tool_name, result }: Rows['calls']): string[] {
  if (result === null) return [`${id} ${tool_name} has no result`]
  if (result.status === 'success') return []
  return [`${id} ${tool_name}: ${result.error.kind}, ${result.error.code}: ${result.error.message}`]
}

async function invariants(reader: LedgerReads): Promise<string[]> {
  const events = await allEvents(reader)
  const found: string[] = []
  for (const [agent_id, own] of Map.groupBy(events, (event) => event.agent_id)) {
    const live = await reader.live(agent_id)
    if (live === null) continue
    const broken = violations(factsOf(agent_id, live), own)
    found.push(...broken.map((one) => `${agent_id}: invariant ${one}`))
  }
  return found
}

/** A worktree that is gone has no folder, and a folder has a worktree that is not. */
function leftFolders(home: string, worktrees: readonly Rows['worktrees'][]): string[] {
  const folder = join(home, 'worktrees')
  const names = existsSync(folder) ? readdirSync(folder) : []
  const kept = new Set(
    worktrees.flatMap(({ id, state }) => (state === 'removed' || state === 'discarded' ? [] : id)),
  )
  return names
    .filter((name) => !name.startsWith('.') && !kept.has(name as Rows['worktrees']['id']))
    .map((name) => `the folder worktrees/${name} is left`)
}

const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trimEnd()

const lines = (text: string): string[] => (text === '' ? [] : text.split('\n'))

function repository(folder: string) {
  const names = lines(git(folder, 'ls-tree', '-r', '--name-only', 'main'))
  return {
    files: Object.fromEntries(
      names.map((name) => [name, `${git(folder, 'show', `main:${name}`)}\n`]),
    ),
    commits: lines(git(folder, 'log', '--no-merges', '--format=%s', 'main')).toSorted(),
    branches: lines(git(folder, 'for-each-ref', '--format=%(refname)')),
    checked_out: lines(git(folder, 'worktree', 'list')).length,
  }
}

/** What was ever committed by a command of the run, in order. */
export function notedCommits(folder: string): string[] {
  const noted = join(folder, '.git', commitLedger)
  return existsSync(noted) ? lines(readFileSync(noted, 'utf8').trimEnd()) : []
}

/** Of each child one, of each merge one, and the other work's. */
export const notedPerShip = 2 * partNames.length + 1

/** Every commit that was noted is reached by a name; and nothing in the tree is not committed. */
function lostCommits(folder: string): string[] {
  const reached = new Set(lines(git(folder, 'rev-list', '--all')))
  return [
    ...notedCommits(folder)
      .filter((commit) => !reached.has(commit))
      .map((commit) => `${commit} is lost`),
    ...lines(git(folder, 'status', '--porcelain')).map((line) => `not committed: ${line}`),
    ...lines(git(folder, 'fsck', '--no-progress', '--no-dangling')),
  ]
}

/** How ships end that went one after the other, but for their tasks. */
export function expectedEnd(ships: readonly string[]): Omit<FamilyEnd, 'tasks'> {
  const children = ships.flatMap((ship, i) =>
    partNames.map((part, j) => ({ ship, part, child: `main.${i * partNames.length + j + 1}` })),
  )
  const reports = ships.flatMap((ship) => [shipReport(ship), otherReport(ship)])
  return {
    agents: sorted([
      { id: 'main', preset: 'public_named', state: 'active' },
      ...children.map(({ child }) => ({ id: child, preset: 'private_child', state: 'deleted' })),
    ]),
    items: expectedItems(ships, children),
    reports: [...reports, ...children.map(({ ship, part }) => partReport(ship, part))].toSorted(),
    delegations: sorted(
      children.map(({ ship, part, child }) => ({
        of: `Ship ${ship}`,
        child,
        made: `Write ${ship}-${part}`,
        state: 'completed',
        said: partReport(ship, part),
      })),
    ),
    worktrees: sorted(
      children.map(({ child }) => {
        return { child, branch: `holon/${child}`, state: 'removed', reason: 'clean and merged' }
      }),
    ),
    results: sorted(
      children.map(({ ship, part, child }) => ({
        about: `Ship ${ship}`,
        body: [
          `${child} (task, Write ${ship}-${part}): completed. ` +
            `Worktree worktrees/task, branch holon/${child}${seenInTime}`,
          partReport(ship, part),
        ].join('\n'),
      })),
    ),
    files: Object.assign({ 'README.md': 'The whole.\n' }, ...ships.map(shippedFiles)),
    commits: [
      'begin',
      ...ships.map((ship) => `other ${ship}`),
      ...children.map(({ ship, part }) => `${ship}-${part}`),
    ].toSorted(),
    branches: ['refs/heads/main'],
    checked_out: 1,
    problems: [],
  }
}

type Made = { ship: string; part: string; child: string }

function expectedItems(ships: readonly string[], children: readonly Made[]): unknown[] {
  const completed = { state: 'completed', plan_status: 'draft' }
  const todosOf = (ship: string) =>
    children.flatMap((one) =>
      one.ship === ship ? `${ship}-${one.part} task ${one.child} merged: completed` : [],
    )
  return sorted([
    ...ships.flatMap((ship) => [
      {
        agent_id: 'main',
        objective: `Ship ${ship}`,
        ...completed,
        todos: [...todosOf(ship), 'beside it: work: completed'],
        report: shipReport(ship),
      },
      {
        agent_id: 'main',
        objective: `Other work ${ship}`,
        ...completed,
        plan_status: 'ready',
        todos: [`other ${ship} committed: completed`],
        report: otherReport(ship),
      },
    ]),
    ...children.map(({ ship, part, child }) => ({
      agent_id: child,
      objective: `Write ${ship}-${part}`,
      ...completed,
      todos: [],
      report: partReport(ship, part),
    })),
  ])
}
