/**
 * Plan files: made by the runtime, edited by anyone, read at every read of an item
 * (docs/spec/work-item.md#plan-file). The runtime's own writes are atomic; it repairs nothing.
 * Whole texts are kept as blobs by hash, stored with the row that names them, so that a damaged
 * plan has a last good snapshot.
 */
import type { PlanStored, WorkItem } from '../../domain/state/work-item.ts'
import type { AgentId, WorkItemId } from '../../domain/ids.ts'
import { limits } from '../../domain/limits.ts'
import { no, type Rejection } from '../../domain/rejection.ts'
import { describePlan, planNames } from '../../exec/files/plan-file.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import type { Files } from '../../exec/ports.ts'
import type { Ledger, NewBlob } from '../../ledger/port.ts'
import type { AgentPorts } from '../agent-ports.ts'
import { agentHome, planPath } from '../home.ts'
import type { PlanRead } from '../../tools/work/plan.ts'
import { isShortage } from '../shortage.ts'
import type { Store } from '../store.ts'

export type PlanPorts = {
  home: string
  files: Files
  ledger: Pick<Ledger, 'blobFile'>
  /** Has a text stored with the row that is made of the read; its hash. Null: no row is made. */
  keep: ((bytes: Uint8Array) => string) | null
}

export const keeping = (
  store: Store,
  blobs: NewBlob[] | null,
): Pick<PlanPorts, 'ledger' | 'keep'> => ({
  ledger: store.ledger,
  keep: blobs === null ? null : (bytes) => store.keep(blobs, bytes),
})

/**
 * The same for an agent. New texts are added to `blobs`, for the commit that stores what was read;
 * null: nothing of it is stored.
 */
export const plansOf = (
  { ports: { home, files }, store }: AgentPorts,
  blobs: NewBlob[] | null,
): PlanPorts => ({ home, files, ...keeping(store, blobs) })

/** Writes the plan file of a new item. The same item again finds the file and keeps it. */
export async function makePlan(
  ports: PlanPorts,
  agent: AgentId,
  id: WorkItemId,
  text: string,
): Promise<PlanRead> {
  const path = planPath(ports.home, agent, id)
  await ports.files.make_folder(agentHome(ports.home, agent), 0o700)
  await ports.files.write_atomic(path, text, 0o600, planNames)
  return observePlanFile(ports, { path, sha256: null, bytes: 0, good_sha256: null })
}

/**
 * An agent can put a link, or a file, on the way to its plans: that is refused, and no fault of
 * ours. A full disk is none of it, and is waited for.
 */
export async function unlessLinked<T>(making: Promise<T>): Promise<T | Rejection> {
  try {
    return await making
  } catch (error) {
    if (isShortage(error) || !(error instanceof FileFault)) throw error
    return no('plan_folder_linked', `${error.message}.`)
  }
}

export const readPlan = (ports: PlanPorts, item: WorkItem): Promise<PlanRead> =>
  observePlanFile(ports, item.plan_artifact)

/** The plan as it is now; a text not seen before is kept as a snapshot, when it is whole. */
async function observePlanFile(ports: PlanPorts, before: PlanStored): Promise<PlanRead> {
  const good = before.good_sha256
  const described = await describePlan(
    ports.files,
    before.path,
    good === null ? undefined : { sha256: good, file: () => ports.ledger.blobFile(good) },
  )
  if (described.problem !== undefined || described.sha256 === null) {
    const stored = { ...before, sha256: described.sha256, bytes: described.bytes }
    return { stored, described }
  }
  const isNew = described.sha256 !== good
  const good_sha256 = isNew ? await snapshot(ports, before.path, described.sha256) : good
  return {
    stored: {
      path: before.path,
      sha256: described.sha256,
      bytes: described.bytes,
      good_sha256: good_sha256 ?? good,
    },
    described,
  }
}

/**
 * Null where nothing is kept, and when the file changed between the two reads: the next observation
 * keeps it.
 */
async function snapshot(
  { files, keep }: PlanPorts,
  path: string,
  sha256: string,
): Promise<string | null> {
  if (keep === null) return null
  try {
    const file = await files.read(path, { max_bytes: limits.plan_file.value, ...planNames })
    return file.sha256 === sha256 ? keep(file.bytes) : null
  } catch (error) {
    if (error instanceof FileFault) return null
    throw error
  }
}

/** The whole text of an item's plan, for a model that works from it; null when unreadable. */
export async function planText(
  ports: Pick<PlanPorts, 'files'>,
  item: WorkItem,
): Promise<string | null> {
  try {
    const { bytes } = await ports.files.read(item.plan_artifact.path, {
      max_bytes: limits.plan_file.value,
      ...planNames,
    })
    return new TextDecoder().decode(bytes)
  } catch (error) {
    if (error instanceof FileFault) return null
    throw error
  }
}
