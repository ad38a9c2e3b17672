/**
 * The home as the HTTP surface sees it: the host's acts and notices, the ledger's reads, and the
 * files of tasks and plans. Nothing is decided here.
 */
import type { StoredEvent } from '../../domain/state/event.ts'
import type { TaskId, TurnId, WorkItemId } from '../../domain/ids.ts'
import type { Redactor } from '../../domain/secrets/redact.ts'
import type { HomePort, HomeReads, StreamNotice } from '../../http/request/ports.ts'
import type { LedgerReads } from '../../ledger/port.ts'
import type { Notes } from '../../protocol/records/turn-record.ts'
import type { Host, HostNotice } from '../../runtime/ports.ts'
import type { Rows } from '../../domain/state/event.ts'
import { planNames } from '../../exec/files/plan-file.ts'
import { clock, files, userHome } from '../machine/machine.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import { frameOf } from './live-frames.ts'

/** What of a process that serves the home is neither in the ledger nor in the host. */
export type Served = {
  home: string
  started_at: string
  act: HomePort['act']
  agent_ids: HomePort['agent_ids']
  ready: HomePort['ready']
  metrics: HomePort['metrics']
  upkeep: HomePort['upkeep']
  search: HomePort['search']
  has_owner?: boolean
  /** Knows what is a secret today. */
  redactor: () => Promise<Redactor>
}

/** What of a host is read; without one, of what it would say. */
export type HostReads = Pick<
  Host,
  | 'subscribe'
  | 'followOutput'
  | 'facts'
  | 'liveSigns'
  | 'liveTexts'
  | 'plan'
  | 'taskOutput'
  | 'degraded'
  | 'triggerUrl'
>

export function readsOf(ledger: LedgerReads): HomeReads {
  return {
    agents: () => ledger.agents(),
    live: (agent_id) => ledger.live(agent_id),
    row: (table, id) => ledger.row(table, id),
    idsLike: (table, text, agent_id) => ledger.idsLike(table, text, agent_id),
    list: (table, filter) => ledger.list(table, filter),
    events: (page): Promise<StoredEvent[]> => ledger.eventPage(page),
    eventRange: (agent_id) => ledger.eventRange(agent_id),
    roundsOfTurn: (turn_id) =>
      ledger.roundsOfTurn(turn_id as Parameters<LedgerReads['roundsOfTurn']>[0]),
    blob: (sha256) => ledger.blob(sha256),
    triggerByToken: (token_sha256) => ledger.triggerByToken(token_sha256),
    spend: (filter) => ledger.spend(filter),
    counts: (agent_id) => ledger.counts(agent_id),
  }
}

export function homePort(
  ledger: LedgerReads,
  host: HostReads,
  { home, redactor, ...served }: Served,
): HomePort {
  return {
    ...served,
    reads: readsOf(ledger),
    clock,
    now: () => new Date(clock.now()).toISOString(),
    subscribe: (listener) => {
      const unsubscribe = host.subscribe((notice) => tell(listener, notice))
      const unfollow = host.followOutput((frame) =>
        listener({ kind: 'live', agent_id: frame.agent_id, frame }),
      )
      return () => {
        unsubscribe()
        unfollow()
      }
    },
    facts: (agent_id) => host.facts(agent_id),
    liveSigns: (agent_id) => host.liveSigns(agent_id),
    liveTexts: (agent_id) => host.liveTexts(agent_id),
    plan: (item) => host.plan(item),
    plan_text: ({ plan_artifact: { path } }) => planText(path),
    process_notes: (item) => notesOf(ledger, item.id),
    export_item: async (item) => exported(ledger, { home, redactor: await redactor() }, item),
    instructions: (agent) => instructionsOf(home, agent),
    request_text: async (turn_id, n) => {
      const { requestTextOf, sentReadsOf } = await import('../../runtime/replay/sent-text.ts')
      return requestTextOf(sentReadsOf(ledger), home, turn_id as TurnId, n)
    },
    taskOutput: (task_id, stream, offset, limit) =>
      host.taskOutput(task_id as TaskId, { stream, offset, limit }),
    degraded: () => host.degraded(),
    triggerUrl: (trigger) => Promise.resolve(host.triggerUrl(trigger)),
  }
}

function tell(listener: (notice: StreamNotice) => void, notice: HostNotice): void {
  if (notice.kind === 'committed') {
    return listener({ kind: 'committed', agent_id: notice.agent_id })
  }
  if (notice.kind === 'live' && notice.event.type === 'text_delta') {
    return listener({ kind: 'said', agent_id: notice.agent_id })
  }
  const frame = frameOf(notice)
  if (frame !== null) listener({ kind: 'live', agent_id: frame.agent_id, frame })
}

/** Bytes of a plan that are read: the limit of the tool that writes it, and some. */
const largestPlan = 4 * 1024 * 1024

async function planText(path: string): Promise<string | null> {
  try {
    const { bytes } = await files.read(path, { max_bytes: largestPlan, ...planNames })
    return new TextDecoder().decode(bytes)
  } catch {
    return null // Missing, or nothing to read: the item's plan descriptor says what it is.
  }
}

async function exported(
  ledger: LedgerReads,
  { home, redactor }: { home: string; redactor: Redactor },
  item: Rows['work_items'],
) {
  const { exportItem } = await import('../../runtime/operator/export-item.ts')
  const plan = await planText(item.plan_artifact.path)
  const now = new Date(clock.now()).toISOString()
  const places = { home, user_home: userHome }
  const program = packageJson.version
  return exportItem({ ledger, places, redactor, program, now, plan }, item)
}

/** The same files as its next turn would begin with; of instructions without their text. */
async function instructionsOf(home: string, { id, workspace }: Rows['agents']) {
  const [{ readInstructions }, { readSkills }] = await Promise.all([
    import('../../runtime/gather/instructions.ts'),
    import('../../runtime/gather/skills.ts'),
  ])
  const place = { home, user_home: userHome, agent_id: id, workspace: workspace.root }
  const [instructions, { skills, not_looked_at }] = await Promise.all([
    readInstructions(files, place),
    readSkills(files, place),
  ])
  const records = instructions.map((one) => {
    if (one.state !== 'loaded') return one
    const { text: _, ...record } = one
    return record
  })
  return { instructions: records, skills: [...skills], not_looked_at }
}

/** The same notes as its next turn would begin with. */
async function notesOf(ledger: LedgerReads, work_item_id: WorkItemId): Promise<Notes> {
  const [{ notedEvents, processNotes }, { contextLimits }] = await Promise.all([
    import('../../context/process-notes.ts'),
    import('../../context/limits.ts'),
  ])
  const events = await ledger.noteEvents(work_item_id, notedEvents)
  const { notes, older } = processNotes(events, contextLimits.notes.value)
  return { notes: [...notes], older }
}
