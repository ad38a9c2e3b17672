/**
 * Which rows retention may take: they have ended, nothing will change them any more, and nothing
 * that is still going on belongs to them. What is never taken has no rule here: agents, work
 * items, pacing, meters, triggers, grants, schedules, snoozes, and the results of items.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Rows, Table } from '../../domain/state/event.ts'
import { isLiveWait } from '../../domain/facts/live-rows.ts'
import { taskResultId } from '../../domain/ids.ts'
import { isLiveMessage } from '../../domain/state/message.ts'
import { isTerminal } from '../../domain/state/task.ts'
import { limits } from '../../domain/limits.ts'
import { fromMs, type Timestamp } from '../../domain/time.ts'

/** The tables retention takes rows from. */
export const fleeting = [
  'waits',
  'messages',
  'turns',
  'rounds',
  'calls',
  'tasks',
  'briefs',
  'decisions',
  'deliveries',
  'slots',
  'receipts',
] as const satisfies readonly Table[]
export type Fleeting = (typeof fleeting)[number]

export const isFleeting = (table: Table): table is Fleeting =>
  (fleeting as readonly Table[]).includes(table)

/**
 * Answers for one transaction: it remembers what is open. A row that points at something that is
 * gone points at something that ended.
 */
export class Open {
  readonly #items: (id: string) => boolean
  readonly #waits: (id: string) => boolean
  readonly #messages: (id: string) => boolean
  readonly #turns: (id: string) => Rows['turns'] | null
  readonly #acted: (turn_id: string) => boolean
  readonly #cuts: (agent_id: string) => number | null
  readonly #supervised: (agent_id: string) => boolean
  /** Keys of admissions are remembered since then. */
  readonly #keysSince: Timestamp
  /** Keys of requests are, and what they were answered with. */
  readonly #repliesSince: Timestamp
  /** Ids in the replies that may be given again; read when the first is asked for. */
  readonly #replied: () => Set<string>

  /** `now` in milliseconds since 1970. */
  constructor(database: DatabaseSync, now: number) {
    const row = (query: string) => {
      const statement = database.prepare(query)
      return remembered((id) => statement.get(id) ?? null)
    }
    const isOpen = (query: string) => {
      const find = row(query)
      return (id: string) => find(id) !== null
    }
    this.#items = isOpen(`select 1 from work_items where id = ? and state = 'open'`)
    this.#waits = isOpen(`select 1 from waits where id = ? and status = 'active'`)
    this.#messages = isOpen(
      `select 1 from messages where id = ? and status in ('queued', 'claimed')`,
    )
    this.#acted = isOpen(
      `select 1 from calls join work_items on work_items.id = calls.work_item_id
      where calls.turn_id = ? and work_items.state = 'open' limit 1`,
    )
    const turn = row('select data from turns where id = ?')
    this.#turns = (id) => turnIn(turn(id)?.['data'])
    const open = row(`select data from turns where agent_id = ? and state = 'open'`)
    this.#cuts = (agent_id) => turnIn(open(agent_id)?.['data'])?.input_cut ?? null
    this.#supervised = isOpen(
      `select 1 from agents where id = ? and state <> 'deleted'
        and json_extract(data, '$.supervisor_agent_id') is not null`,
    )
    this.#keysSince = fromMs(now - limits.dedupe.value)
    this.#repliesSince = fromMs(now - limits.idempotency.value)
    let replied: Set<string> | null = null
    this.#replied = () => (replied ??= repliedIn(database, this.#repliesSince))
  }

  /** Whether the row has ended and belongs to nothing that goes on. */
  isOver<T extends Fleeting>(table: T, row: Rows[T]): boolean {
    switch (table) {
      case 'waits': {
        const wait = row as Rows['waits']
        return !isLiveWait(wait) && !this.#item(wait.work_item_id)
      }
      case 'messages':
        return this.#isMessageOver(row as Rows['messages'])
      case 'turns': {
        const turn = row as Rows['turns']
        return turn.state === 'ended' && !this.#item(turn.work_item_id) && !this.#acted(turn.id)
      }
      case 'rounds':
      case 'calls': {
        const part = row as Rows['rounds' | 'calls']
        return !this.#item(part.work_item_id) && !this.#turn(part.turn_id)
      }
      case 'tasks': {
        const task = row as Rows['tasks']
        return (
          isTerminal(task) &&
          !this.#item(task.work_item_id) &&
          !this.#isReplied(task.id) &&
          // Its result names it, and may be read late.
          !this.#messages(taskResultId(task.id))
        )
      }
      case 'briefs':
        return this.#isBriefOver(row as Rows['briefs'])
      case 'decisions':
        return !this.#item((row as Rows['decisions']).work_item_id)
      case 'deliveries':
        return this.#isDeliveryOver(row as Rows['deliveries'])
      case 'slots': {
        const { message_id } = row as Rows['slots']
        return message_id === null || !this.#messages(message_id)
      }
      case 'receipts':
        return (row as Rows['receipts']).created_at < this.#repliesSince
    }
    throw new Error(`no rule for ${String(table)}`)
  }

  #isMessageOver(message: Rows['messages']): boolean {
    // A wait that the open turn registers must still meet what came after the turn looked.
    const cut = this.#cuts(message.agent_id)
    return (
      !isLiveMessage(message) &&
      !(cut !== null && message.inbox_seq > cut) &&
      // The handoff stands in every request of a child.
      !(message.kind === 'delegation' && this.#supervised(message.agent_id)) &&
      !(message.dedupe_key !== null && message.created_at >= this.#keysSince) &&
      !this.#item(message.work_item_id) &&
      !this.#turn(message.turn_id) &&
      !(message.wait_id !== null && this.#waits(message.wait_id)) &&
      !this.#isReplied(message.id)
    )
  }

  #isBriefOver(brief: Rows['briefs']): boolean {
    return (
      brief.kind !== 'result' &&
      !this.#item(brief.work_item_id) &&
      !this.#turn(brief.turn_id) &&
      !(brief.wait_id !== null && this.#waits(brief.wait_id))
    )
  }

  #isDeliveryOver({ sender_id, received_at, message_id }: Rows['deliveries']): boolean {
    return (
      !(sender_id !== null && received_at >= this.#keysSince) &&
      !(message_id !== null && this.#messages(message_id))
    )
  }

  /** Whether a request that comes again with its key is answered with this row. */
  #isReplied(id: string): boolean {
    return this.#replied().has(id)
  }

  /** Whether there is such an item and it is open. */
  #item(id: string | null): boolean {
    return id !== null && this.#items(id)
  }

  /** Whether there is such a turn and it is open, or is about or has acted on an open item. */
  #turn(id: string | null): boolean {
    const turn = id === null ? null : this.#turns(id)
    if (turn === null) return false
    return turn.state === 'open' || this.#item(turn.work_item_id) || this.#acted(turn.id)
  }
}

function repliedIn(database: DatabaseSync, since: Timestamp): Set<string> {
  const kept = database.prepare('select data from receipts').all()
  const receipts = kept.map(({ data }) => JSON.parse(String(data)) as Rows['receipts'])
  const ids = receipts
    .filter(({ created_at }) => created_at >= since)
    .flatMap(({ reply }) => [reply.id, reply.message_id])
  return new Set(ids.filter((id) => id !== null))
}

function remembered<T>(find: (id: string) => T): (id: string) => T {
  const known = new Map<string, T>()
  return (id) => {
    const before = known.get(id)
    if (before !== undefined) return before
    const found = find(id)
    known.set(id, found)
    return found
  }
}

const turnIn = (data: unknown): Rows['turns'] | null =>
  typeof data === 'string' ? (JSON.parse(data) as Rows['turns']) : null
