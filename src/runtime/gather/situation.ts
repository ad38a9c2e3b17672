/**
 * Gathers the situation of an open turn: live facts, and the few older rows and files that a
 * request shows. Reads only; the same facts give the same situation.
 */
import { contextLimits } from '../../context/limits.ts'
import { placeLine, type EnvironmentInfo } from '../../context/sections/place.ts'
import { notedEvents } from '../../context/process-notes.ts'
import type { EarlierRound, ItemView, Situation } from '../../context/sections/situation.ts'
import { candidateClasses } from '../../domain/state/decision.ts'
import type { StoredEvent } from '../../domain/state/event.ts'
import { mustTurn, agentOf, itemPacing, roundViews, type Facts } from '../../domain/facts/facts.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { isLate } from '../../domain/inbox/late-results.ts'
import { limits } from '../../domain/limits.ts'
import { isInterjected, isUnread, type Message } from '../../domain/state/message.ts'
import { seenByAgent } from '../../domain/facts/imported.ts'
import { allowanceNow, meterOf } from '../../domain/facts/payer.ts'
import { candidates, promptLimit } from '../../domain/facts/candidates.ts'
import { rankingOf, type Candidates } from '../../domain/facts/ranking.ts'
import { projectItem } from '../../domain/facts/readiness.ts'
import { messagesOf } from '../../domain/turns/shown.ts'
import { isTerminal } from '../../domain/state/task.ts'
import type { Timestamp } from '../../domain/time.ts'
import type { Turn } from '../../domain/state/turn.ts'
import type { Wait } from '../../domain/state/wait.ts'
import { outputPath } from '../home.ts'
import { handoffOf, saidLately } from './said.ts'
import { readInstructions } from './instructions.ts'
import type { AgentPorts } from '../agent-ports.ts'
import { plansOf, planText, readPlan } from './plans.ts'
import { readSkills } from './skills.ts'
import { broughtBy, hintsFor, itemWaits, wokenBy } from './woken.ts'

const itemTasks = 10

/** What a request is about, of one moment. */
export const gather = (env: AgentPorts): Promise<Situation> => ofOneMoment(env, () => rowsOf(env))

/** The same with what only a text shows: what was said, and the events about the item. */
export const gatherText = (env: AgentPorts): Promise<Situation> =>
  ofOneMoment(env, () => textOf(env))

/**
 * Looks again where something of the agent was committed during the look: a task that runs in one
 * section and has ended in the next is two moments. An agent that never stands still is shown as it
 * was seen last.
 */
async function ofOneMoment(env: AgentPorts, look: () => Promise<Situation>): Promise<Situation> {
  for (let looks = 1; ; looks += 1) {
    const { seq } = env.facts()
    const seen = await look()
    if (env.facts().seq === seq || looks >= limits.situation_looks.value) return seen
  }
}

async function rowsOf(env: AgentPorts): Promise<Situation> {
  const facts = env.facts()
  const turn = mustTurn(facts)
  const now = env.store.now()
  const agent = agentOf(facts)
  const plans = plansOf(env, null)
  const all = seenByAgent(candidates(facts, now))
  const item = turn.work_item_id === null ? null : await itemView(env, turn.work_item_id)
  const one = offeredOne(turn)
  const about = turn.work_item_id ?? one
  const mine = messagesOf(facts, turn)
  const coalesced = mine.filter((message) => message.to_coalesce)
  const woken_by = await wokenBy(env, turn, item)
  return {
    now,
    agent,
    turn,
    item,
    offered: one === null ? null : await itemView(env, one),
    candidates: all,
    plan_texts: await planTexts(env, all),
    messages: mine.filter((message) => !message.to_coalesce),
    coalesced:
      coalesced.length === 0
        ? null
        : { path: outputPath(env.ports.home, turn.id), count: coalesced.length },
    woken_by,
    brought: await broughtBy(env, woken_by, mine),
    hints: await hintsFor(env, turn, woken_by),
    late: mine.flatMap((message) =>
      message.work_item_id !== turn.work_item_id && isLate(facts, message) ? message.id : [],
    ),
    ...(await answeredBy(env, mine)),
    agent_waits: [...rankingOf(facts).agentWaits()].filter(
      (wait) => wait.status === 'active' && wait.wake !== 'system',
    ),
    earlier: about === null ? [] : await earlier(env, turn, about),
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

/** The only item that a turn for the queue can take up; null: it is about one, or has a choice. */
function offeredOne({ cause, work_item_id }: Turn): WorkItemId | null {
  if (work_item_id !== null || cause.kind !== 'queued_available') return null
  const [one, another] = cause.work_item_ids
  return one !== undefined && another === undefined ? one : null
}

/** Where commands are confined, the model is told: what it meets there is no accident. */
async function confinedOf(env: AgentPorts): Promise<Pick<Situation, 'confined'>> {
  const confined = await env.confined()
  return confined === null ? {} : { confined }
}

async function textOf(env: AgentPorts): Promise<Situation> {
  const situation = await rowsOf(env)
  const { turn } = situation
  const interjected = situation.messages.filter(isInterjected)
  const [handoff, said, aborted] = await Promise.all([
    handoffOf(env, situation.agent),
    saidLately(env),
    abortedBefore(env, turn),
  ])
  const handed = handoff?.message.id
  const talk = {
    handoff,
    aborted,
    said: said.filter((one) => one.by !== 'them' || one.message.id !== handed),
  }
  const id = turn.work_item_id ?? offeredOne(turn)
  if (id === null) return { ...situation, ...talk, words: interjected }
  const { ledger } = env.store
  const [about, events] = await Promise.all([
    ledger.wordsAbout(id, contextLimits.words.value),
    ledger.noteEvents(id, notedEvents),
  ])
  const before = about.filter(
    (message) => message.turn_id !== turn.id && message.id !== handed && !isUnread(message),
  )
  const told = withoutUnread(env.facts(), events)
  const words = [...before, ...interjected]
  const above = new Set([handed, ...words.map((message) => message.id)])
  const earlier = situation.earlier.map((round) => ({
    ...round,
    messages: round.messages.filter((message) => !above.has(message.id)),
  }))
  return { ...situation, ...talk, words, earlier, events: told }
}

/** The turn before, where the operator ended it in its middle: nobody else would say so. */
async function abortedBefore(
  env: AgentPorts,
  turn: Turn,
): Promise<NonNullable<Situation['aborted']> | null> {
  const { ledger } = env.store
  const turns = await ledger.list('turns', { agent_id: env.agent_id, limit: turnsBack })
  const before = turns.findLast(({ id, outcome }) => id !== turn.id && outcome !== 'interrupted')
  if (before?.outcome !== 'aborted') return null
  const rounds = await ledger.roundsOfTurn(before.id)
  return { turn: before, calls: rounds.flatMap(({ calls }) => calls) }
}

/** Turns looked at: one that was undone before its first request says nothing. */
const turnsBack = 5

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
export async function gatherOpening(env: AgentPorts): Promise<Situation> {
  const { home, user_home, files } = env.ports
  const place = { home, user_home, agent_id: env.agent_id, workspace: env.workdir() }
  const [situation, seen, instructions, skills] = await Promise.all([
    gatherText(env),
    placeOf(env),
    readInstructions(files, place),
    readSkills(files, place),
  ])
  return { ...situation, place: placeLine(seen, situation.now), instructions, skills }
}

/** Where the agent works, as it is now; null: it was not seen in time. */
export const gatherPlace = async (env: AgentPorts, now: Timestamp): Promise<string | null> =>
  placeLine(await placeOf(env), now)

/** The machine and the repository, as far as they are seen at once: no turn waits for them. */
async function placeOf(env: AgentPorts): Promise<EnvironmentInfo> {
  const { inspect } = env.ports
  const most = contextLimits.place.value
  const [machine, repository] = await Promise.all([
    inspect.machine(most),
    inspect.repository(env.workdir(), most),
  ])
  return { machine, repository }
}

async function itemView(env: AgentPorts, id: WorkItemId): Promise<ItemView | null> {
  const facts = env.facts()
  const item = await env.load('work_items', id)
  if (!item) return null
  const { ledger } = env.store
  const plans = plansOf(env, null)
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

/** The questions that messages of the turn answer, also where nothing live needs the wait. */
async function answeredBy(
  env: AgentPorts,
  messages: readonly Message[],
): Promise<Required<Pick<Situation, 'answered' | 'given_up'>>> {
  const { ledger } = env.store
  const ids = [...new Set(messages.flatMap(({ wait_id }) => wait_id ?? []))]
  const rows = await Promise.all(
    ids.map(async (id) => env.facts().row('waits', id) ?? ledger.row('waits', id)),
  )
  const answered = rows.filter((wait): wait is Wait => wait?.wake === 'operator_input')
  const items = [...new Set(answered.flatMap(({ work_item_id }) => work_item_id ?? []))]
  const waits = await Promise.all(
    items.map((work_item_id) => ledger.list('waits', { work_item_id, limit: itemWaits })),
  )
  return { answered, given_up: waits.flat() }
}

async function earlier(env: AgentPorts, turn: Turn, item: WorkItemId): Promise<EarlierRound[]> {
  const { ledger } = env.store
  const rounds = await ledger.roundsAbout(item, contextLimits.earlier_rounds.value)
  const past = rounds.filter(({ round }) => round.turn_id !== turn.id)
  return withMessages(env, past)
}

/** Rounds with the messages that each of them showed. */
export function withMessages(
  env: AgentPorts,
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

async function planTexts(env: AgentPorts, all: Candidates): Promise<Record<string, string>> {
  const plans = plansOf(env, null)
  const texts: Record<string, string> = {}
  for (const candidate_class of candidateClasses) {
    if (candidate_class === 'completed_recent') continue
    for (const { item } of all[candidate_class].slice(0, promptLimit[candidate_class])) {
      const text = await planText(plans, item)
      if (text !== null) texts[item.id] = text
    }
  }
  return texts
}

/** What a fork came with, as it was stored. */
async function inherited(env: AgentPorts, sha256: string | null): Promise<string | null> {
  const bytes = sha256 === null ? null : await env.store.ledger.blob(sha256)
  return bytes === null ? null : new TextDecoder().decode(bytes)
}
