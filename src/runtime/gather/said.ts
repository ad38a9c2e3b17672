/**
 * What was said, read for an opening: the handoff of a private child, and the newest words between
 * the agent and whom it works for.
 */
import { charTokens } from '../../context/estimate.ts'
import { contextLimits } from '../../context/limits.ts'
import type { FileAct, Utterance, Situation } from '../../context/sections/situation.ts'
import type { Agent } from '../../domain/state/agent.ts'
import type { Brief } from '../../domain/state/brief.ts'
import { mustTurn } from '../../domain/facts/facts.ts'
import { isUnread, type Message } from '../../domain/state/message.ts'
import { handoffPath } from '../home.ts'
import type { AgentPorts } from '../agent-ports.ts'

/**
 * Null for an agent that nobody supervises, and for a fork: what it inherited ends with its
 * handoff. One that is longer than its room is written to a file of the child's own home.
 */
export async function handoffOf(
  env: AgentPorts,
  { id, visibility, supervisor_agent_id, inherited_sha256 }: Agent,
): Promise<NonNullable<Situation['handoff']> | null> {
  if (visibility === 'public' || supervisor_agent_id === null) return null
  if (inherited_sha256 !== null) return null
  const asked = { agent_id: id, kind: ['delegation'], order: 'oldest', limit: 1 } as const
  const { entries } = await env.store.ledger.page('messages', asked)
  const message = entries[0]?.row
  if (message === undefined) return null
  if (charTokens(message.body) <= contextLimits.handoff_tokens.value) {
    return { message, path: null }
  }
  const path = handoffPath(env.ports.home, id)
  await keep(env, path, message)
  return { message, path }
}

async function keep(env: AgentPorts, path: string, { body }: Message): Promise<void> {
  const { files } = env.ports
  if (await files.exists(path)) return
  await files.make_folder(env.home(), 0o700)
  await files.write_atomic(path, body, 0o600)
}

/**
 * Oldest first, without what this turn was given or has not been read by anybody; more than are
 * shown: some of the others' words stand with the item, and among all that nod or answer one may
 * hold for work to come; some of the briefs are the runtime's.
 */
export async function saidLately(env: AgentPorts): Promise<Utterance[]> {
  const { agent_id, store } = env
  const turn = mustTurn(env.facts())
  const limit = contextLimits.said.value
  const looked = contextLimits.said_looked.value
  const [messages, briefs, acts] = await Promise.all([
    store.ledger.list('messages', { agent_id, kind: instructing, status: read, limit: looked }),
    store.ledger.list('briefs', { agent_id, kind: spoken, limit: 2 * limit }),
    fileActs(env),
  ])
  const theirs = messages.filter((message) => message.turn_id !== turn.id && !isUnread(message))
  const all: Utterance[] = [
    ...theirs.map((message): Utterance => ({ by: 'them', message })),
    ...acts.map((act): Utterance => ({ by: 'operator_act', act })),
    ...briefs.filter(isOwn).map((brief): Utterance => ({ by: 'agent', brief })),
  ]
  return all.toSorted(byTime)
}

/** Items that are looked at for what the operator did to their files. */
const actedItems = 20

async function fileActs({ agent_id, store }: AgentPorts): Promise<FileAct[]> {
  const items = await store.ledger.list('work_items', { agent_id, limit: actedItems })
  const reverted = items.filter(({ reverted_at }) => reverted_at !== undefined)
  const looked = { looked: contextLimits.note_events.value, types: ['files_reverted'] as const }
  const found = await Promise.all(reverted.map(({ id }) => store.ledger.noteEvents(id, looked)))
  return found.flat().flatMap(({ seq, at, event }): FileAct[] => {
    if (event.type !== 'files_reverted') return []
    return [{ id: String(seq), created_at: at, work_item_id: event.id, record: event }]
  })
}

/** What waits is said in the turn that takes it up. */
const isUnderWay: { readonly [S in Message['status']]: boolean } = {
  queued: false,
  claimed: true,
  consumed: true,
  aborted: true,
  failed: true,
  interjected: true,
  coalesced: true,
  dropped: true,
  dead: true,
}
const read = Object.entries(isUnderWay).flatMap(([status, is]) => (is ? [status] : []))
const instructing = ['operator_prompt', 'delegation']
/**
 * Not what the runtime asks about a budget: the model never said it, and an act answers it that is
 * none of the words.
 */
const isOwn = ({ kind, turn_id, wait_id, work_item_id }: Brief): boolean =>
  kind !== 'question' || turn_id !== null || (wait_id !== null && work_item_id !== null)

/** Words of the agent; what the runtime told of a failure is none of them. */
const spoken = ['progress', 'reply', 'question', 'result']

const byTime = (a: Utterance, b: Utterance): number =>
  timeOf(a) < timeOf(b) ? -1 : Number(timeOf(a) > timeOf(b))

function timeOf(one: Utterance): string {
  switch (one.by) {
    case 'agent':
      return one.brief.created_at
    case 'them':
      return one.message.created_at
    case 'operator_act':
      return one.act.created_at
  }
}
