/**
 * The decisions about an item: those that chose it and those that looked at it and passed it over,
 * newest first. Decisions one after another that said the same of it are one run, told by its
 * newest. Bounded: what is older than was looked through is in the events.
 */
import { z } from 'zod'
import type { Decision } from '../../domain/state/decision.ts'
import { decisionRecord } from '../records/history-record.ts'
import { count, timestamp } from '../scalar.ts'

export const decisionRun = decisionRecord
  .extend({
    chosen: z.boolean().describe('False: it was passed over.'),
    times: count.describe('Decisions in a row that said the same of it; this is the newest.'),
    first_at: timestamp.describe('When the first of them was made.'),
  })
  .meta({ id: 'DecisionRun' })
export type DecisionRun = Decision & { chosen: boolean; times: number; first_at: string }

/** Runs that are told, decisions that are looked through, and those of one read. */
const [most, looked, page] = [100, 5_000, 500]

export type WhyHistory = {
  runs: DecisionRun[]
  /** False: there are older ones that were not looked at. */
  complete: boolean
}

/** Of the agent's decisions the newest so many, oldest first; `before`: an id, older than it. */
export type ReadDecisions = (filter: { before?: string; limit: number }) => Promise<Decision[]>

export async function whyHistory(read: ReadDecisions, work_item_id: string): Promise<WhyHistory> {
  const runs: DecisionRun[] = []
  let before: string | undefined
  for (let seen = 0; seen < looked;) {
    const decisions = await read({ ...(before === undefined ? {} : { before }), limit: page })
    for (const decision of decisions.toReversed()) {
      if (!isAbout(decision, work_item_id)) continue
      if (!joins(runs.at(-1), decision, work_item_id)) {
        if (runs.length === most) return { runs, complete: false }
        runs.push(runOf(decision, work_item_id))
      }
    }
    seen += decisions.length
    before = decisions[0]?.id
    if (decisions.length < page) return { runs, complete: true }
  }
  return { runs, complete: false }
}

/** It was chosen, or it was looked at and passed over. */
const isAbout = ({ work_item_id, considered }: Decision, id: string): boolean =>
  work_item_id === id || considered.some((one) => 'work_item_id' in one && one.work_item_id === id)

const runOf = (decision: Decision, id: string): DecisionRun => ({
  ...decision,
  chosen: decision.work_item_id === id,
  times: 1,
  first_at: decision.at,
})

/** Takes an older decision into the run, if it says the same of the item. */
function joins(run: DecisionRun | undefined, decision: Decision, id: string): boolean {
  if (run === undefined || saidOf(run, id) !== saidOf(decision, id)) return false
  run.times += 1
  run.first_at = decision.at
  return true
}

/** Without the moments in it, which are others each time. */
function saidOf({ decision, work_item_id, considered }: Decision, id: string): string {
  const own = considered.find((one) => 'work_item_id' in one && one.work_item_id === id)
  const verdict = own !== undefined && 'verdict' in own ? own.verdict : ''
  const timeless = verdict.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'then')
  return JSON.stringify([decision, work_item_id === id, own?.candidate_class, timeless])
}
