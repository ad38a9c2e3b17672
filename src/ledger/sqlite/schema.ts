/**
 * What is on disk: every table of the ledger and every column, with what it means. The types that
 * queries are written against are derived from it, the reference page is printed from it, and a
 * test holds it against what the migrations really make.
 *
 * `events`, append-only, is the truth; the twenty-one row tables are its fold, rewritten in the
 * transaction that appends. What retention took from the old end of `events` is summed up in
 * `floors`, `baselines` and `spent`. `blobs` has what events name by hash, where it is small;
 * `short_ids` what models call the ids that events minted. `meta` names the home. There are no
 * foreign keys: a row is a fold, what it points at is checked by `verify` and by the domain, and a
 * commit may write the pointing row first.
 */
import type { Table } from '../../domain/state/event.ts'

/** The schema this program reads and writes; `pragma user_version` of the file must equal it. */
export const schemaVersion = 7

type Column = { type: 'text' | 'integer' | 'real' | 'blob'; null: boolean; about: string }

const text = (about: string) => ({ type: 'text', null: false, about }) as const
const textOrNull = (about: string) => ({ type: 'text', null: true, about }) as const
const integer = (about: string) => ({ type: 'integer', null: false, about }) as const
const integerOrNull = (about: string) => ({ type: 'integer', null: true, about }) as const
const realOrNull = (about: string) => ({ type: 'real', null: true, about }) as const
const blob = (about: string) => ({ type: 'blob', null: false, about }) as const

/** Every row table has these. `born` is the primary key, so each index also holds the order. */
const common = {
  born: integer('global_seq of the event that made the row: its place among all rows'),
  changed: integer('global_seq of the newest event of the row'),
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
      pruned_global_seq: integer(
        'the floor: up to here retention has taken all events but the last of each agent',
      ),
      made_at_schema: integer('the schema it was made at; 0: one before 6, which did not keep it'),
    },
  },
  events: {
    about:
      'Every event above the floor, in commit order. Never changed, deleted by retention only.',
    columns: {
      global_seq: integer('dense over the whole home, from 1: the order of everything'),
      id: text('`evt_` and a UUIDv7, unique'),
      agent_id: text('the agent it happened in'),
      seq: integer('dense from 1 within the agent; (agent_id, seq) is unique'),
      at: text('time of the commit, RFC 3339 UTC; never decreases within an agent'),
      type: text('which event: `tableOf` of domain/state/event.ts lists them'),
      v: integer('version of the event, 1; `evolve` reads every released one'),
      subject_table: text('the table of the one row it changes'),
      subject_id: text('the id of that row'),
      work_item_id: textOrNull('the work item it happened for'),
      turn_id: textOrNull('the turn it happened in'),
      causation_id: textOrNull('the message, turn, call, timer or operator act that asked for it'),
      data: text('the event as JSON'),
      hash: text('SHA-256, hex, of the hash before it in the agent and of the columns: chain.ts'),
    },
  },
  floors: {
    about: 'One row an agent of which retention has taken events: where the kept ones go on from.',
    columns: {
      agent_id: text('the agent'),
      seq: integer('its newest event that is gone'),
      global_seq: integer('the global_seq that event had'),
      at: text('its time'),
      hash: text('its hash: the first event that is kept is chained to it'),
    },
  },
  baselines: {
    about:
      'Rows that outlive their first events, folded up to the floor. verify goes on from them.',
    columns: {
      born: integer('as in the row'),
      changed: integer('global_seq of the newest event that is folded in here'),
      agent_id: text('the agent whose row it is'),
      subject_table: text('the table of the row'),
      subject_id: text('the id of the row'),
      data: text('the row at the floor as JSON'),
    },
  },
  spent: {
    about: 'What rounds that retention took had used, summed up: spend has no horizon.',
    columns: {
      agent_id: text('the agent'),
      day: text('UTC day of the answers, 2026-01-02'),
      work_item_id: text('the work item they were about; empty: none'),
      requests: integer('answers recorded'),
      unpriced: integer('of these, how many had no known price'),
      input_tokens: integer('as far as the provider said'),
      output_tokens: integer('as far as the provider said'),
      cached_input_tokens: integer('as far as the provider said'),
      cache_write_tokens: integer('as far as the provider said'),
      reasoning_tokens: integer('as far as the provider said'),
      usd: realOrNull('the known prices, summed; null: none is known'),
    },
  },
  blobs: {
    about:
      'Openings, plans and bodies up to 64 KiB that events name; larger ones, and all that an ' +
      'earlier program stored, are files in `blobs/`. Never changed.',
    columns: {
      sha256: text('SHA-256 of the bytes, hex: what events and rows call it by'),
      bytes: blob('what has that hash'),
    },
  },
  short_ids: {
    about:
      'The short form of each id that a model is shown, fixed by the event that minted it. Never ' +
      'changed, and kept when retention takes the row: nothing else is ever called so.',
    columns: {
      agent_id: text('the agent whose id it is'),
      kind: text('the noun in front of both: work, wait, msg, turn, call, task or brief'),
      short: text('unique in agent and kind: the end of the id, at least four characters'),
      id: text('the whole id'),
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
      changed_seq: integer(
        'agent seq of the last change: which items were completed last; 2^40 more while its ' +
          'checks do not verify a completed one',
      ),
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
      kind: text('operator_prompt, task_result, …'),
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
      day: textOrNull('UTC day of the answer, 2026-01-02; null before it came'),
      input_tokens: integerOrNull('null: the provider did not say'),
      output_tokens: integerOrNull('null: the provider did not say'),
      cached_input_tokens: integerOrNull('null: the provider did not say'),
      cache_write_tokens: integerOrNull('null: the provider did not say'),
      reasoning_tokens: integerOrNull('null: the provider did not say'),
      usd: realOrNull('null: no price is known'),
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
    about: 'Managed executions: shell commands, calls after a yes, supervised child agents.',
    columns: {
      ...common,
      agent_id: agentId,
      work_item_id: itemId,
      status: text('held, queued, running or cancelling; every other status is final'),
      kind: text('command, tool_call or child_agent'),
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
  triggers: {
    about: 'Capability URLs by which the outside reaches an agent.',
    columns: {
      ...common,
      agent_id: agentId,
      status: text('active or revoked; revoked is final'),
      token_sha256: text('unique; the token itself is nowhere in the ledger'),
    },
  },
  deliveries: {
    about: 'The log of outside events that came in by a trigger or a webhook.',
    columns: {
      ...common,
      agent_id: agentId,
      status: text('dead or accepted; accepted is final'),
      source: textOrNull('whom it is from'),
      sender_id: textOrNull('what the sender calls it'),
    },
  },
  schedules: {
    about: 'Future and recurring inputs to an agent.',
    columns: {
      ...common,
      agent_id: agentId,
      status: text('active, paused, ended or removed; removed is final'),
    },
  },
  slots: {
    about: 'Each moment a schedule was due, and what became of it. Never changed.',
    columns: {
      ...common,
      agent_id: agentId,
      schedule_id: text('its schedule'),
      status: text('fired, missed or skipped'),
    },
  },
  receipts: {
    about: 'Answers of creating requests by their idempotency key. A newer one replaces the older.',
    columns: { ...common, agent_id: agentId },
  },
  snoozes: {
    about: 'Entries of the attention list that somebody put away.',
    columns: {
      ...common,
      agent_id: agentId,
      until: textOrNull('when it may stand there again; null: dismissed'),
    },
  },
  delegations: {
    about: "Links from a parent's work item to the child agent it was handed to. Never deleted.",
    columns: {
      ...common,
      agent_id: agentId,
      work_item_id: itemId,
      child_agent_id: text('the child'),
      state: text('active, or how its task ended; every other state is final'),
    },
  },
  worktrees: {
    about: 'Git worktrees of children, each owned by the task that supervises its child.',
    columns: {
      ...common,
      agent_id: agentId,
      state: text('planned, ready, kept, removed or discarded'),
    },
  },
  meters: {
    about:
      'What was used of a budget: one row an item that has one, one an agent that draws on it.',
    columns: {
      ...common,
      agent_id: agentId,
      kind: text('item or agent: what the id names'),
      reserved: integer('1 while a request is reserved here, or others draw on it; else 0'),
    },
  },
  grants: {
    about: 'A yes of the operator that stands for longer than once. Never deleted.',
    columns: {
      ...common,
      agent_id: agentId,
      work_item_id: textOrNull('the item it is for; null: all that the agent does'),
      status: text('active or ended; ended is final'),
    },
  },
} as const satisfies Record<
  Table | 'meta' | 'events' | 'floors' | 'baselines' | 'spent' | 'blobs' | 'short_ids',
  Shape
>

type Shape = { about: string; columns: Record<string, Column> }
type Value<C extends Column> =
  | (C['type'] extends 'text' ? string : C['type'] extends 'blob' ? Uint8Array : number)
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
