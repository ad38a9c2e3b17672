/**
 * Gathers what a fork is derived from (context/fork/fork.ts), as the parent's rows are now, and
 * makes the view a blob: the child shows the same bytes in every turn.
 */
import { charTokens } from '../../context/estimate.ts'
import { enteringItems, finishedLately } from '../../context/fork/others.ts'
import type { ForkSource, OtherItem } from '../../context/fork/source.ts'
import { deriveFork } from '../../context/fork/fork.ts'
import { contextLimits } from '../../context/limits.ts'
import { notedEvents } from '../../context/process-notes.ts'
import type { EarlierRound } from '../../context/sections/situation.ts'
import { activeWaitOf, mustTurn, roundViews } from '../../domain/facts/facts.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { isTerminal } from '../../domain/state/task.ts'
import type { NewBlob } from '../../ledger/port.ts'
import type { AgentPorts } from '../agent-ports.ts'
import { planText } from '../gather/plans.ts'
import { withMessages, withoutUnread } from '../gather/situation.ts'

/** The view, for the commit of the intent that names it. */
export async function forkOf(env: AgentPorts, handoff: string): Promise<NewBlob> {
  const source = await sourceOf(env, handoff)
  const entering = enteringItems(source)
  const plan_texts: Record<string, string> = {}
  for (const id of [...entering.bound, ...entering.named]) {
    const item = env.facts().row('work_items', id)
    const text = item ? await planText(env.ports, item) : null
    if (text !== null) plan_texts[id] = text
  }
  const finished = finishedLately(source, entering.bound)
  const events = await Promise.all(
    finished.map(({ id }) => env.store.ledger.noteEvents(id, notedEvents)),
  )
  const finished_events = Object.fromEntries(finished.map(({ id }, i) => [id, events[i] ?? []]))
  const { whole } = deriveFork({ ...source, plan_texts, finished_events }, charTokens)
  return env.store.blob(new TextEncoder().encode(whole))
}

async function sourceOf(env: AgentPorts, handoff: string): Promise<ForkSource> {
  const facts = env.facts()
  const turn = mustTurn(facts)
  const { ledger } = env.store
  const known: OtherItem[] = [...facts.rows('work_items')].map((item) => ({
    item,
    wait: activeWaitOf(facts, item.id),
  }))
  const mine = known.find(({ item }) => item.id === turn.work_item_id) ?? null
  const waited = mine?.wait?.wake === 'task_result' ? mine.wait.resource : null
  const task = waited === null ? null : await env.load('tasks', waited)
  const range = {
    agent_id: env.agent_id,
    limit: contextLimits.note_events.value,
    before: facts.seq + 1,
  }
  const about = turn.work_item_id === null ? range : { ...range, work_item_id: turn.work_item_id }
  return {
    parent: env.agent_id,
    item: mine && { ...mine, plan_text: await planText(env.ports, mine.item) },
    waited_task: task && { id: task.id, work_item_id: task.work_item_id },
    rounds: await roundsOf(env, turn.work_item_id),
    running: [...facts.rows('tasks')].filter((one) => !isTerminal(one)),
    events: withoutUnread(facts, await ledger.eventPage(about)),
    others: known.filter((other) => other !== mine),
    short_forms: await ledger.shortIds(
      env.agent_id,
      known.map(({ item }) => item.id),
    ),
    plan_texts: {},
    finished_events: {},
    handoff,
  }
}

async function roundsOf(env: AgentPorts, item: WorkItemId | null): Promise<EarlierRound[]> {
  const facts = env.facts()
  const { ledger } = env.store
  const views =
    item === null
      ? roundViews(facts, mustTurn(facts))
      : await ledger.roundsAbout(item, contextLimits.earlier_rounds.value)
  return withMessages(env, views)
}
