/**
 * What must be true of a home after a soak, asked of its ledger and not of the daemon: everything
 * that was acknowledged is there once, with the bytes that were sent, nothing is there that nobody
 * sent, all of it has come to an end, and the history obeys the invariants
 * (docs/spec/invariants.md).
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { Rows, StoredEvent, Table } from '../../src/domain/state/event.ts'
import type { Facts } from '../../src/domain/facts/facts.ts'
import { familyViolations } from '../../src/domain/invariants/children.ts'
import { violations } from '../../src/domain/invariants/of-an-agent.ts'
import { limits } from '../../src/domain/limits.ts'
import { isLiveMessage } from '../../src/domain/state/message.ts'
import { isTerminal } from '../../src/domain/state/task.ts'
import { openReader } from '../../src/ledger/store/open.ts'
import type { LedgerReads } from '../../src/ledger/port.ts'
import { factsOf } from '../../src/protocol/agent-view.ts'
import { allEvents, everyRow } from '../../src/testing/world/whole-ledger.ts'
import type { Acknowledged } from './senders.ts'

export type Sent = { acknowledged: readonly Acknowledged[]; refused: readonly string[] }

export type Audit = {
  /** One sentence each; empty: all is well. */
  problems: string[]
  events: number
  messages: number
  turns: number
  commands: number
  /** Items that waited for an event, were triggered by a delivery and completed in a review. */
  completed: number
  /** Messages that died after three turns without a request: allowed, and told. */
  dead: number
  /** Calls whose outcome nobody could know: allowed, and told. */
  unknown: number
}

export async function audit(home: string, log: string, sent: Sent): Promise<Audit> {
  const reader = await openReader(home)
  try {
    const events = await allEvents(reader)
    const rows = async <T extends Table>(table: T): Promise<Rows[T][]> => everyRow(reader, table)
    const messages = await rows('messages')
    const calls = await rows('calls')
    const tasks = await rows('tasks')
    const verified = await reader.verify()
    const problems = [
      ...verified.problems.map((problem) => `verify: ${problem}`),
      ...(await arrived(reader, sent, messages)),
      ...fired(sent, await rows('schedules'), await rows('slots')),
      ...ended(messages, await rows('turns'), calls, tasks),
      ...givenUp(events, await rows('briefs')),
      ...ranOnce(log, calls),
      ...(await invariants(reader, events)),
    ]
    return {
      problems,
      events: events.length,
      messages: messages.length,
      turns: (await rows('turns')).length,
      commands: tasks.length,
      completed: events.filter(({ event }) => event.type === 'work_item_completed').length,
      dead: messages.filter(({ status }) => status === 'dead').length,
      unknown: calls.filter(isUnknown).length,
    }
  } finally {
    await reader.close()
  }
}

const isUnknown = ({ result }: Rows['calls']): boolean =>
  result?.status === 'error' && result.error.kind === 'outcome_unknown'

/** Where a message or a delivery came in by, as its sender knows it. */
const surfaceOf = { trigger: 'callback_event', standard: 'webhook_event', github: 'webhook_event' }

/** Each acknowledged id is there once and says what was sent; nothing else came from outside. */
async function arrived(
  reader: LedgerReads,
  { acknowledged }: Sent,
  messages: readonly Rows['messages'][],
): Promise<string[]> {
  const found: string[] = []
  const byId = new Map(messages.map((message) => [message.id as string, message]))
  const deliveries = Map.groupBy(await everyRow(reader, 'deliveries'), doorOf)
  const expected = acknowledged.filter(({ kind }) => kind !== 'schedule')
  for (const { kind, agent_id, sender_id, body, id, delivery_id } of expected) {
    const message = byId.get(id)
    if (message?.agent_id !== agent_id) found.push(`${sender_id} was acknowledged and is lost`)
    if (kind === 'message') {
      if (message?.body !== body) found.push(`${sender_id} says "${message?.body}"`)
      continue
    }
    if (kind === 'schedule') continue
    if (message?.kind !== surfaceOf[kind]) found.push(`${sender_id} is a ${message?.kind}`)
    const rows = deliveries.get(`${agent_id} ${kind} ${sender_id}`) ?? []
    const [row] = rows
    if (rows.length !== 1) found.push(`${sender_id} was delivered ${rows.length} times`)
    if (row?.id !== delivery_id || row.message_id !== id) found.push(`${sender_id} is not ${id}`)
    if (row?.body_sha256 !== sha256(body)) found.push(`${sender_id} has other bytes`)
  }
  const ids = new Set(expected.map(({ id }) => id))
  if (ids.size !== expected.length) found.push('two ids were acknowledged with one message')
  const outside = messages.filter(({ origin }) => outsideOrigins.has(origin))
  for (const { id, body } of outside) if (!ids.has(id)) found.push(`nobody sent ${id}: ${body}`)
  return found
}

const outsideOrigins: ReadonlySet<string> = new Set(['operator', 'callback', 'webhook'])

const doorOf = ({ agent_id, via, sender_id }: Rows['deliveries']): string =>
  `${agent_id} ${via.kind === 'trigger' ? 'trigger' : via.webhook} ${sender_id}`

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Each acknowledged schedule fired its only slot once; a recurring one left out no minute. */
function fired(
  { acknowledged, refused }: Sent,
  schedules: readonly Rows['schedules'][],
  slots: readonly Rows['slots'][],
): string[] {
  const found: string[] = []
  const bySchedule = Map.groupBy(slots, ({ schedule_id }) => schedule_id as string)
  const expected = acknowledged.filter(({ kind }) => kind === 'schedule')
  const byId = new Map(schedules.map((schedule) => [schedule.id as string, schedule]))
  for (const { sender_id, id } of expected) {
    const of = bySchedule.get(id) ?? []
    const ends = of.map(({ status }) => status).join()
    if (byId.get(id)?.label !== sender_id) found.push(`${sender_id} was acknowledged and is lost`)
    if (ends !== 'fired' || byId.get(id)?.status !== 'ended') {
      found.push(`${sender_id} is ${byId.get(id)?.status}, its slots ${ends}`)
    }
  }
  const once = schedules.filter(({ spec }) => spec.kind === 'once')
  if (once.length !== expected.length) {
    found.push(`${once.length} schedules, of which ${expected.length} were acknowledged`)
  }
  for (const label of refused) {
    if (once.some((one) => one.label === label)) found.push(`${label} was refused and is there`)
  }
  for (const { id, spec } of schedules) {
    if (spec.kind === 'cron') found.push(...gaps(id, bySchedule.get(id) ?? []))
  }
  return found
}

/** Of a schedule of every minute: each minute once. */
function gaps(id: string, slots: readonly Rows['slots'][]): string[] {
  const minutes = slots.map(({ due_at }) => Date.parse(due_at) / 60_000).toSorted((a, b) => a - b)
  return minutes.flatMap((minute, i) => {
    const before = minutes[i - 1]
    return before === undefined || minute === before + 1
      ? []
      : [`${id} goes from minute ${before} to ${minute}`]
  })
}

function ended(
  messages: readonly Rows['messages'][],
  turns: readonly Rows['turns'][],
  calls: readonly Rows['calls'][],
  tasks: readonly Rows['tasks'][],
): string[] {
  return [
    ...messages.filter(isLiveMessage).map(({ id, status }) => `${id} is still ${status}`),
    ...turns.filter(({ state }) => state === 'open').map(({ id }) => `${id} is still open`),
    ...calls.filter(({ result }) => result === null).map(({ id }) => `${id} has no result`),
    ...tasks.filter((one) => !isTerminal(one)).map(({ id, status }) => `${id} is still ${status}`),
  ]
}

/** A message may die, but of three turns that never asked the model, and the operator is told. */
function givenUp(events: readonly StoredEvent[], briefs: readonly Rows['briefs'][]): string[] {
  const claims = new Map<string, number>()
  const told = new Set(
    briefs.flatMap(({ kind, message_id }) => (kind === 'failure' ? message_id : [])),
  )
  return events.flatMap(({ event }) => {
    if (event.type === 'message_claimed') claims.set(event.id, (claims.get(event.id) ?? 0) + 1)
    if (event.type !== 'message_dead') return []
    const turns = claims.get(event.id) ?? 0
    return [
      ...(turns === limits.message_attempts.value ? [] : [`${event.id} died after ${turns} turns`]),
      ...(told.has(event.id) ? [] : [`${event.id} died and nobody was told`]),
    ]
  })
}

/** No command ran twice, none ran that nobody asked for, and none that ended well was not run. */
function ranOnce(log: string, calls: readonly Rows['calls'][]): string[] {
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []
  const asked = new Map<string, Rows['calls']>()
  for (const call of calls) {
    const line = /echo (command-\d+)/.exec(JSON.stringify(call.input))?.[1]
    if (call.tool_name === 'ExecCommand' && line !== undefined) asked.set(line, call)
  }
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return [
    ...[...counts].filter(([, n]) => n > 1).map(([line, n]) => `${line} ran ${n} times`),
    ...[...counts.keys()].filter((line) => !asked.has(line)).map((line) => `who ran ${line}?`),
    ...[...asked]
      .filter(([line, { result }]) => result?.status === 'success' && !counts.has(line))
      .map(([line]) => `${line} ended well and left no line`),
  ]
}

async function invariants(reader: LedgerReads, events: readonly StoredEvent[]): Promise<string[]> {
  const found: string[] = []
  const all: Facts[] = []
  const byAgent = Map.groupBy(events, ({ agent_id }) => agent_id)
  for (const [agent_id, own] of byAgent) {
    const live = await reader.live(agent_id)
    if (live === null) continue
    const facts = factsOf(agent_id, live)
    all.push(facts)
    found.push(...violations(facts, own).map((one) => `${agent_id}: invariant ${one}`))
    if (own.some(({ seq }, i) => seq !== i + 1)) found.push(`${agent_id}: its seqs have a gap`)
  }
  return [...found, ...familyViolations(all).map((one) => `invariant ${one}`)]
}
