/**
 * The end of a story in words that do not depend on ids, times or how often it was killed: the rows
 * that a person could ask for, the files, and everything that must not be.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Table } from '../../src/domain/state/event.ts'
import { violations } from '../../src/domain/invariants/of-an-agent.ts'
import type { HostFixture } from '../../src/testing/host/host-fixture.ts'
import type { Place } from './scenario.ts'

const many = { limit: 1_000 }

const sorted = (rows: readonly unknown[]): string[] =>
  rows.map((row) => JSON.stringify(row)).toSorted()

export async function storyEnd(box: HostFixture, place: Place) {
  const rows = await rowsOf(box)
  return {
    ...rows,
    files: filesIn(place.workspace),
    plans: await plansOf(box),
    problems: await problemsOf(box),
  }
}

async function rowsOf({ ledger }: HostFixture) {
  const items = await ledger.list('work_items', many)
  const named = (id: string | null) => items.find((item) => item.id === id)?.objective ?? null
  type Filter = { limit: number; status?: readonly string[] }
  const list = <T extends Table>(table: T, filter: Filter) => ledger.list(table, filter)
  return {
    agents: sorted(
      (await ledger.agents()).map(({ id, state, current_work_item_id: focus }) => {
        return { id, state, focus: named(focus) }
      }),
    ),
    items: sorted(
      items.map(({ objective, state, plan_status, todo_list, blocked_by, result_summary }) => {
        return { objective, state, plan_status, todo_list, blocked_by, result_summary }
      }),
    ),
    briefs: sorted(
      (await list('briefs', many)).map(({ kind, text }) => ({ kind, text: plain(text) })),
    ),
    waits: sorted(
      (await list('waits', many)).map((wait) => {
        const { work_item_id, wake, status, trigger_count, reviewed_trigger_count } = wait
        return { on: named(work_item_id), wake, status, trigger_count, reviewed_trigger_count }
      }),
    ),
    tasks: sorted(
      (await list('tasks', many)).map(({ label, status, exit_status, promoted }) => {
        return { label, status, exit_status, promoted }
      }),
    ),
    messages: sorted((await list('messages', many)).map(({ kind, status }) => ({ kind, status }))),
    deliveries: sorted(
      (await list('deliveries', many)).map(({ sender_id, status, attempts }) => {
        return { sender_id, status, attempts }
      }),
    ),
    slots: sorted((await list('slots', many)).map(({ status, due_at }) => ({ status, due_at }))),
    schedules: sorted(
      (await list('schedules', many)).map(({ label, status }) => ({ label, status })),
    ),
    triggers: (await list('triggers', many)).map(({ generation, delivered }) => {
      return { generation, delivered }
    }),
    delegations: sorted(
      (await list('delegations', many)).map(({ work_item_id, state, result_summary }) => {
        return { of: named(work_item_id), state, result_summary }
      }),
    ),
    worktrees: sorted((await list('worktrees', many)).map(({ state }) => state)),
    calls: (await list('calls', many))
      .map(({ agent_id, tool_name, result }) => {
        const code = result?.status === 'error' ? result.error.code : (result?.status ?? 'nothing')
        return `${agent_id} ${tool_name}: ${code}`
      })
      .toSorted(),
    open_turns: (await list('turns', { ...many, status: ['open'] })).length,
  }
}

/** Without ids and moments, which differ from run to run. */
const plain = (text: string): string =>
  text
    .replaceAll(/[a-z]+_[0-9a-f-]{4,36}/g, 'an id')
    .replaceAll(/\/\S*\/holon-crash-[^/\s]+/g, 'the place')
    .replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, 'a moment')

function filesIn(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('.git') && statSync(join(folder, path)).isFile())
    .toSorted()
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
}

async function plansOf({ ledger, home }: HostFixture): Promise<string[]> {
  const items = await ledger.list('work_items', many)
  const plans = items.map(({ agent_id, id, objective }) => {
    const path = join(home, 'agents', agent_id, 'work-items', id, 'plan.md')
    return `${objective}: ${existsSync(path) ? readFileSync(path, 'utf8') : 'no plan'}`
  })
  return plans.toSorted()
}

async function problemsOf({ ledger, host }: HostFixture): Promise<string[]> {
  const events = await ledger.events({ after: 0, limit: 100_000 })
  const range = await ledger.eventRange(null)
  const agents = await ledger.agents()
  const broken = agents.flatMap(({ id }) => {
    const facts = host.facts(id)
    if (facts === null || range.first > 1) return []
    return violations(
      facts,
      events.filter((event) => event.agent_id === id),
    ).map(String)
  })
  return [...(await ledger.verify()).problems, ...broken]
}
