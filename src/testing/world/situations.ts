/**
 * Situations for tests of what a model sees, from small rows (testing/rows.ts): a builder takes
 * only what the test is about; candidates are derived by the domain.
 */
import assert from 'node:assert/strict'
import type { ItemView, Situation } from '../../context/sections/situation.ts'
import { AgentFacts } from '../../domain/facts/agent-facts.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { candidates } from '../../domain/facts/candidates.ts'
import { projectItem } from '../../domain/facts/readiness.ts'
import type { Wait } from '../../domain/state/wait.ts'
import type { WorkItem } from '../../domain/state/work-item.ts'
import { anAgent, aPlan, aTurn, now } from '../rows.ts'

export type SituationParts = Partial<Omit<Situation, 'item' | 'candidates'>> & {
  items?: readonly WorkItem[]
  waits?: readonly Wait[]
  /** The item in focus. */
  focus?: WorkItemId
  /** The turn's item, with what its view has beyond the rows. */
  about?: { id: WorkItemId } & Partial<Omit<ItemView, 'projection'>>
}

/** A situation from rows: what the runtime reads at the start of a turn. */
export function aSituation(given: SituationParts = {}): Situation {
  const { items = [], waits = [], focus = null, about, ...more } = given
  const agent = anAgent({ current_work_item_id: focus, ...more.agent })
  const facts = new AgentFacts('main')
  facts.include('agents', agent)
  for (const item of items) facts.include('work_items', item)
  for (const wait of waits) facts.include('waits', wait)
  const own = items.find(({ id }) => id === about?.id)
  const active = waits.find((w) => w.work_item_id === about?.id && w.status === 'active') ?? null
  const item: ItemView | null =
    about === undefined || own === undefined
      ? null
      : {
          projection: projectItem(own, active, focus, now),
          plan: about.plan ?? aPlan(own.id),
          waits: about.waits ?? waits.filter((w) => w.work_item_id === own.id),
          tasks: about.tasks ?? [],
        }
  return {
    now,
    turn: aTurn({ work_item_id: about?.id ?? null }),
    offered: null,
    plan_texts: {},
    messages: [],
    coalesced: null,
    woken_by: [],
    agent_waits: [],
    earlier: [],
    rounds: [],
    running_tasks: [],
    plan_text: null,
    trigger_url: null,
    agent_home: '/holon/agents/main',
    context_window: 200_000,
    ...more,
    agent,
    item,
    candidates: candidates(facts, now),
  }
}

/** Lines of `text` outside every block of the runtime, read as the system text explains them. */
export function outside(text: string): string {
  const lines: string[] = []
  let code: string | null = null
  for (const line of text.split('\n')) {
    const mark = /^<<(\S+) (.*)>>$/.exec(line)
    if (code === null && mark) code = mark[1] ?? null
    else if (code !== null && mark?.[1] === code && mark[2] === 'end') code = null
    else if (code === null) lines.push(line)
  }
  assert.equal(code, null, 'every block ends')
  return lines.join('\n')
}
