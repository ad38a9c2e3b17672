/**
 * Every situation a work item can be in, with the one true sentence about it: the table behind the
 * tests of the rule that says it (domain) and of the screen that prints it (present). Each row is
 * about `Release 2.4.0.`, made at 09:00, queued, of an agent whose process is at rest.
 */
import type { WorkItemId } from '../../domain/ids.ts'
import type { AgentView } from '../../protocol/agent-view.ts'
import { item, World } from '../world/agent-world.ts'
import { completedRows, triggeredRows, waitingRows } from './why-held.ts'
import { haltedRows, runnableRows, turnRows } from './why-runnable.ts'
import { viewOf, type Presence } from './why-world.ts'

export type WhySituation = {
  name: string
  prepare: (w: World, id: WorkItemId) => Presence | void
  /** Scheduling state and candidate class. */
  state: string
  /** Behind `Release 2.4.0 `; times as clock times. */
  sentence: string
  next: string
  /** A clock time. */
  when: string | null
}

export function situate({ prepare }: WhySituation): { id: WorkItemId; w: World; view: AgentView } {
  const w = new World()
  const id = item(w, { objective: 'Release 2.4.0.' })
  return { id, w, view: viewOf(w, prepare(w, id) ?? 'at_rest') }
}

export const situations: readonly WhySituation[] = [
  ...completedRows,
  ...waitingRows,
  ...triggeredRows,
  ...runnableRows,
  ...haltedRows,
  ...turnRows,
].map(([name, prepare, state, sentence, next, when]) => {
  return { name, prepare, state, sentence, next, when }
})
