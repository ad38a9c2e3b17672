/**
 * A home full of open work in which nothing is to be done: every item waits for an event, a time
 * far ahead or a person, as in a host that has run for months. The same ids and texts each time,
 * written through the ledger's own commits, with the plan file and its snapshot of every item.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AgentFacts } from '../src/domain/agent-facts.ts'
import type { Event } from '../src/domain/event.ts'
import { Draft } from '../src/domain/facts.ts'
import type { Mint, WorkItemId } from '../src/domain/ids.ts'
import { fromMs } from '../src/domain/time.ts'
import { openLedger } from '../src/ledger/open.ts'
import { makeHomeFolder } from '../src/ledger/home-folder.ts'
import { planFolder, planPath } from '../src/runtime/home.ts'
import { itemCreated, waitRegistered } from '../src/testing/events.ts'

export type WaitingHome = {
  /** Names of its agents. */
  agents: readonly string[]
  /** Open items in all, shared out evenly. */
  items: number
  model: string
}

/** When all of it was made, and a time that no benchmark lives to see. */
const made = Date.parse('2026-01-01T00:00:00.000Z')
const farAhead = '2099-01-01T00:00:00.000Z'
const plan = '# Plan\n\nWait for the review, then merge and tell the operator what was changed.\n'
const planSha = createHash('sha256').update(plan).digest('hex')
/** Items of one commit: few long transactions are the same on disk as many short ones. */
const perCommit = 500

/** Ids that look minted: in order, with an end that differs. */
export function countedMint(): Mint & ((prefix: string) => string) {
  let n = 0
  return ((prefix: string) => {
    const count = (++n).toString(16).padStart(12, '0')
    const tail = createHash('sha256').update(count).digest('hex').slice(0, 12)
    return `${prefix}_${count.slice(0, 8)}-${count.slice(8)}-7000-8000-${tail}`
  }) as Mint & ((prefix: string) => string)
}

/** Writes it into `home`, which is new or empty. */
export async function writeWaitingHome(home: string, spec: WaitingHome): Promise<void> {
  makeHomeFolder(home)
  const mint = countedMint()
  const ledger = await openLedger(home, { clock_now: () => made, mint })
  /** The snapshot that all plans are. */
  const snapshots = [{ sha256: planSha, bytes: new TextEncoder().encode(plan) }]
  let n = 0
  for (const [i, agent] of spec.agents.entries()) {
    const facts = new AgentFacts(agent)
    const commit = async (events: readonly Event[]) => {
      const draft = new Draft(facts, { now: fromMs(made), mint, causation_id: 'bench' })
      for (const event of events) draft.emit(event)
      const rows = [...draft.changed()]
      const { agent_id, seq: expect_seq } = facts
      const base = { agent_id, expect_seq, at: draft.now, events: draft.emitted, rows }
      const blobs = events.some(({ type }) => type === 'work_item_created') ? snapshots : []
      const committed = await ledger.commit({ ...base, blobs })
      if (!committed.ok) throw new Error('somebody else writes here')
      facts.apply(rows, committed.seq, draft.now)
    }
    const root = join(home, 'agents', agent)
    mkdirSync(root, { recursive: true, mode: 0o700 })
    const workspace = { mode: 'inherit', root } as const
    const preset = 'public_named'
    await commit([{ type: 'agent_created', id: agent, model: spec.model, workspace, preset }])
    const end = Math.floor(((i + 1) * spec.items) / spec.agents.length)
    while (n < end) {
      const events: Event[] = []
      for (const to = Math.min(end, n + perCommit); n < to; n++) {
        events.push(...waitingItem(home, agent, mint, n))
      }
      await commit(events)
    }
  }
  await ledger.close()
}

function waitingItem(home: string, agent: string, mint: Mint, n: number): Event[] {
  const id: WorkItemId = mint('work')
  const path = planPath(home, agent, id)
  mkdirSync(planFolder(home, agent, id), { recursive: true, mode: 0o700 })
  writeFileSync(path, plan, { mode: 0o600 })
  const stored = { path, sha256: planSha, bytes: plan.length, good_sha256: planSha }
  const item = itemCreated({ id, objective: `Merge change ${n} once it is reviewed`, plan: stored })
  return [item, waitRegistered({ id: mint('wait'), work_item_id: id, ...wake(n) })]
}

/** Of ten items six wait for an event, two for a time and two for a person. */
function wake(n: number): Partial<ReturnType<typeof waitRegistered>> {
  const reason = `the review of change ${n}`
  if (n % 10 < 6) return { wake: 'external', source: 'github', resource: `pr/${n}`, reason }
  if (n % 10 < 8) return { wake: 'timer', wake_at: farAhead, reason }
  return { wake: 'operator_input', reason: `May change ${n} be merged?` }
}
