/**
 * Gathers the situation of an open turn: live facts, and the few older rows and files that a
 * request shows. Reads only; the same facts give the same situation.
 */
import { contextLimits } from '../context/limits.ts'
import { noteTypes } from '../context/process-notes.ts'
import type { EarlierRound, ItemView, Situation } from '../context/situation.ts'
import { allowanceNow, meterOf } from '../domain/budget.ts'
import type { StoredEvent } from '../domain/event.ts'
import { mustTurn, agentOf, itemPacing, roundViews, type Facts } from '../domain/facts.ts'
import type { WorkItemId } from '../domain/ids.ts'
import { isUnread, type Message } from '../domain/message.ts'
import { seenByAgent } from '../domain/imported.ts'
import { candidates, promptLimit } from '../domain/rank.ts'
import { rankingOf, type Candidates } from '../domain/ranking.ts'
import { candidateClasses, projectItem } from '../domain/readiness.ts'
import { isTerminal } from '../domain/task.ts'
import type { Turn } from '../domain/turn.ts'
import type { Wait } from '../domain/wait.ts'
import { coalescedPath } from './home.ts'
import { readInstructions } from './instructions.ts'
import type { LaneEnv } from './lane-env.ts'
import { planText, readPlan } from './plans.ts'
import { readSkills } from './skills.ts'

const itemWaits = 5
const itemTasks = 10

export async function gather(env: LaneEnv): Promise<Situation> {
  const facts = env.facts()
  const turn = mustTurn(facts)
  const now = env.store.now()
  const agent = agentOf(facts)
  const plans = env.plans(null)
  const all = seenByAgent(candidates(facts, now))
  const item = turn.work_item_id === null ? null : await itemView(env, turn.work_item_id)
  const mine = [...facts.rows('messages')]
    .filter((message) => message.turn_id === turn.id)
    .sort((a, b) => a.inbox_seq - b.inbox_seq)
  const coalesced = mine.filter((message) => message.to_coalesce)
  return {
    now,
    agent,
    turn,
    item,
    candidates: all,
    plan_heads: await planHeads(env, all),
    messages: mine.filter((message) => !message.to_coalesce && message.status !== 'queued'),
    coalesced:
      coalesced.length === 0
        ? null
        : { path: coalescedPath(env.ports.home, turn.id), count: coalesced.length },
    woken_by: wokenBy(env, turn, item),
    agent_waits: [...rankingOf(facts).agentWaits()].filter(
      (wait) => wait.status === 'active' && wait.wake !== 'system',
    ),
    earlier: turn.work_item_id === null ? [] : await earlier(env, turn, turn.work_item_id),
    rounds: roundViews(facts, turn),
    running_tasks: [...facts.rows('tasks')].filter((task) => !isTerminal(task)),
    allowance: allowanceNow(facts, now),
    plan_text: item === null ? null : await planText(plans, item.projection.item),
    trigger_url: env.triggerUrl(),
    ...(await confinedOf(env)),
    agent_home: env.home(),
    inherited: await inherited(env, agent.inherited_sha256),
    context_window: env.ports.models.facts(turn.model).context_window,
  }
}

/** Where commands are confined, the model is told: what it meets there is no accident. */
async function confinedOf({ ports }: LaneEnv): Promise<Pick<Situation, 'confined'>> {
  const sandbox = await ports.processes.confinement()
  return sandbox.state === 'on' ? { confined: sandbox.network } : {}
}

/** The same with what only a text shows: the operator's words and the events about the item. */
export async function gatherText(env: LaneEnv): Promise<Situation> {
  const situation = await gather(env)
  const { turn } = situation
  const interjected = situation.messages.filter(({ status }) => status === 'interjected')
  const id = turn.work_item_id
  if (id === null) return { ...situation, words: interjected }
  const { ledger } = env.store
  const [said, events] = await Promise.all([
    ledger.operatorWords(id, contextLimits.words.value),
    ledger.noteEvents(id, { looked: contextLimits.note_events.value, types: noteTypes }),
  ])
  const before = said.filter((message) => message.turn_id !== turn.id && !isUnread(message))
  const told = withoutUnread(env.facts(), events)
  return { ...situation, words: [...before, ...interjected], events: told }
}

/** Where a turn opens again in its middle, words that wait for the next one are not for it. */
export const withoutUnread = (
  facts: Pick<Facts, 'row'>,
  events: readonly StoredEvent[],
): StoredEvent[] =>
  events.filter(({ event }) => {
    const message = event.type === 'message_admitted' ? facts.row('messages', event.id) : undefined
    return message === undefined || !isUnread(message)
  })

/** The same with the files of which a system text is made. */
export async function gatherOpening(env: LaneEnv): Promise<Situation> {
  const { home, user_home, files } = env.ports
  const place = { home, user_home, agent_id: env.agent_id, workspace: env.workdir() }
  const [situation, instructions, skills] = await Promise.all([
    gatherText(env),
    readInstructions(files, place),
    readSkills(files, place),
  ])
  return { ...situation, instructions, skills }
}

async function itemView(env: LaneEnv, id: WorkItemId): Promise<ItemView | null> {
  const facts = env.facts()
  const item = await env.load('work_items', id)
  if (!item) return null
  const { ledger } = env.store
  const plans = env.plans(null)
  const waits = await ledger.list('waits', { work_item_id: id, limit: itemWaits })
  const tasks = await ledger.list('tasks', { work_item_id: id, limit: itemTasks })
  const lastTurn = itemPacing(facts, id).last_turn_ended_at ?? ''
  const active = waits.find((wait) => wait.status === 'active') ?? null
  const current = agentOf(facts).current_work_item_id
  return {
    projection: projectItem(item, active, current, env.now(), meterOf(facts, id)),
    plan: (await readPlan(plans, item)).described,
    waits,
    tasks: [
      ...tasks.filter((task) => isTerminal(task) && (task.ended_at ?? '') >= lastTurn),
      ...[...facts.rows('tasks')].filter((task) => task.work_item_id === id && !isTerminal(task)),
    ],
  }
}

/** Waits this turn reviewed, and those of its item that ended since the item's last turn. */
function wokenBy(env: LaneEnv, turn: Turn, item: ItemView | null): Wait[] {
  const found = new Map<string, Wait>()
  const facts = env.facts()
  for (const wait of rankingOf(facts).waitsShownBy(turn.id)) found.set(wait.id, wait)
  if (item !== null) {
    const lastTurn = itemPacing(facts, item.projection.item.id).last_turn_ended_at ?? ''
    for (const wait of item.waits) {
      const ended = wait.status === 'resolved' && (wait.resolved_at ?? '') >= lastTurn
      if (ended && wait.changed_seq <= turn.input_cut) found.set(wait.id, wait)
    }
  }
  return [...found.values()].sort((a, b) => a.changed_seq - b.changed_seq)
}

async function earlier(env: LaneEnv, turn: Turn, item: WorkItemId): Promise<EarlierRound[]> {
  const { ledger } = env.store
  const rounds = await ledger.roundsAbout(item, contextLimits.earlier_rounds.value)
  const past = rounds.filter(({ round }) => round.turn_id !== turn.id)
  return withMessages(env, past)
}

/** Rounds with the messages that each of them showed. */
export function withMessages(
  env: LaneEnv,
  views: readonly Omit<EarlierRound, 'messages'>[],
): Promise<EarlierRound[]> {
  const { ledger } = env.store
  return Promise.all(
    views.map(async (view) => {
      const rows = await Promise.all(view.round.message_ids.map((id) => ledger.row('messages', id)))
      return { ...view, messages: rows.filter((row): row is Message => row !== null) }
    }),
  )
}

async function planHeads(env: LaneEnv, all: Candidates): Promise<Record<string, string>> {
  const plans = env.plans(null)
  const heads: Record<string, string> = {}
  for (const candidate_class of candidateClasses) {
    if (candidate_class === 'completed_recent') continue
    for (const { item } of all[candidate_class].slice(0, promptLimit[candidate_class])) {
      const text = await planText(plans, item)
      if (text !== null) heads[item.id] = text.slice(0, contextLimits.plan_head.value)
    }
  }
  return heads
}

/** What a fork came with, as it was stored. */
async function inherited(env: LaneEnv, sha256: string | null): Promise<string | null> {
  const bytes = sha256 === null ? null : await env.store.ledger.blob(sha256)
  return bytes === null ? null : new TextDecoder().decode(bytes)
}
