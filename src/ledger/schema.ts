/**
 * What is on disk: every table of the ledger and every column, with what it means. The types that
 * queries are written against are derived from it, the reference page is printed from it, and a
 * test holds it against what the migrations really make.
 *
 * Two kinds of table and no third: `events`, append-only, is the truth; the eleven row tables are
 * its fold, rewritten in the transaction that appends. `meta` names the home. There are no foreign
 * keys: a row is a fold, what it points at is checked by `verify` and by the domain, and a commit
 * may write the pointing row first.
 */
import type { Table } from '../domain/event.ts'

/** The schema this program reads and writes; `pragma user_version` of the file must equal it. */
export const schemaVersion = 1

type Column = { type: 'text' | 'integer'; null: boolean; about: string }

const text = (about: string) => ({ type: 'text', null: false, about }) as const
const textOrNull = (about: string) => ({ type: 'text', null: true, about }) as const
const integer = (about: string) => ({ type: 'integer', null: false, about }) as const

/** Every row table has these. `born` is the primary key, so each index also holds the order. */
const common = {
  born: integer('global_seq of the event that made the row: its place among all rows'),
  id: text('unique; what events, rows and people call it by'),
  data: text('the whole row as JSON; the other columns repeat what queries filter and order by'),
} as const
const agentId = text('the agent whose row it is')
const itemId = textOrNull('the work item it belongs to, if any')
const turnId = textOrNull('the turn it belongs to, if any')

export const schema = {
  meta: {
    about: 'One row: which home this is and who may write it.',
    columns: {
      id: integer('always 1'),
      home_id: text('`home_` and a UUIDv7, minted when the home was made'),
      boot_epoch: integer(
        'raised by every owner at its start; a commit with an older one is fenced',
      ),
    },
  },
  events: {
    about: 'Every event that ever held, in commit order. Never changed, never deleted.',
    columns: {
      global_seq: integer('dense from 1 over the whole home: the order of everything'),
      id: text('`evt_` and a UUIDv7, unique'),
      agent_id: text('the agent it happened in'),
      seq: integer('dense from 1 within the agent; (agent_id, seq) is unique'),
      at: text('time of the commit, RFC 3339 UTC; never decreases within an agent'),
      type: text('which event: `tableOf` of domain/event.ts lists them'),
      v: integer('version of the event, 1; `evolve` reads every released one'),
      subject_table: text('the table of the one row it changes'),
      subject_id: text('the id of that row'),
      work_item_id: textOrNull('the work item it happened for'),
      turn_id: textOrNull('the turn it happened in'),
      causation_id: textOrNull('the message, turn, call, timer or operator act that asked for it'),
      data: text('the event as JSON'),
    },
  },
  agents: {
    about: 'Identity, lifecycle, focus and settings of each agent.',
    columns: { ...common, state: text('active, stopped or deleted; deleted is final') },
  },
  work_items: {
    about: 'The durable threads of work. At most one result brief each (see briefs).',
    columns: {
      ...common,
      agent_id: agentId,
      state: text('open or completed; completed is final'),
      changed_seq: integer('agent seq of the last change: which items were completed last'),
    },
  },
  waits: {
    about: 'Why an item or an agent is paused, and what may wake it.',
    columns: {
      ...common,
      agent_id: agentId,
      work_item_id: textOrNull('the waiting item; null: the agent itself'),
      status: text('active, resolved or cancelled; the last two are final'),
      wake: text('what may end it: operator_input, task_result, external, timer or system'),
      released_focus: integer('1 when it took the focus from its item, else 0'),
      focus_settled: integer('1 when nothing is left to do about its end, else 0'),
    },
  },
  messages: {
    about: 'Every admitted input, with provenance: the inbox, which is the wake ledger.',
    columns: {
      ...common,
      agent_id: agentId,
      work_item_id: itemId,
      turn_id: textOrNull('the turn that claimed or showed it'),
      status: text('queued or claimed; every other status is final'),
      kind: text('operator_prompt, task_result, … (contracts 4)'),
      inbox_seq: integer('agent seq of the admission: what came after a turn looked?'),
      dedupe_key: textOrNull('two admissions with one key are one message'),
    },
  },
  turns: {
    about: 'Each activation of the model. At most one of an agent is open.',
    columns: {
      ...common,
      agent_id: agentId,
      work_item_id: itemId,
      state: text('open or ended; ended is final'),
    },
  },
  rounds: {
    about: 'One request to the model and its recorded answer.',
    columns: {
      ...common,
      agent_id: agentId,
      turn_id: text('its turn'),
      work_item_id: itemId,
      state: text('requested or recorded; recorded is final'),
    },
  },
  calls: {
    about: 'One tool call of a round: the intent, then the outcome.',
    columns: {
      ...common,
      agent_id: agentId,
      turn_id: text('its turn'),
      round_id: text('its round'),
      work_item_id: itemId,
      state: text('recorded, started or finished; finished is final'),
    },
  },
  tasks: {
    about: 'Managed executions: shell commands and supervised child agents.',
    columns: {
      ...common,
      agent_id: agentId,
      work_item_id: itemId,
      status: text('queued, running or cancelling; every other status is final'),
      kind: text('command or child_agent'),
    },
  },
  briefs: {
    about: 'Text delivered to the operator. Never changed.',
    columns: {
      ...common,
      agent_id: agentId,
      work_item_id: itemId,
      turn_id: turnId,
      kind: text('progress, reply, question, result or failure'),
    },
  },
  decisions: {
    about: 'What the scheduler chose and why. Never changed.',
    columns: { ...common, agent_id: agentId, work_item_id: itemId },
  },
  pacing: {
    about: 'Counters that keep an agent from working in circles: one row an item, one an agent.',
    columns: { ...common, agent_id: agentId, kind: text('item or agent: what the id names') },
  },
} as const satisfies { meta: Shape; events: Shape } & Record<Table, Shape>

type Shape = { about: string; columns: Record<string, Column> }
type Value<C extends Column> =
  | (C['type'] extends 'integer' ? number : string)
  | (C['null'] extends true ? null : never)

/** The tables as Kysely sees them. */
export type Database = {
  [T in keyof typeof schema]: {
    [C in keyof (typeof schema)[T]['columns']]: (typeof schema)[T]['columns'][C] extends infer D
      ? D extends Column
        ? Value<D>
        : never
      : never
  }
}
