/**
 * Takes the file of an item in (docs/spec/work-item.md#plan-file, *Plan file*): it is read whole
 * and refused whole, and only then its plan file is made, before the one commit that makes the item
 * and stores the file. A process killed between them finds the same place again, for the id is a
 * function of the file.
 */
import type { Carried, SliceRecord } from '../../domain/transfer/export-format.ts'
import { readExport } from '../../domain/transfer/import-file.ts'
import { idOfDigits, type AgentId, type WorkItemId } from '../../domain/ids.ts'
import { checkCreate } from '../../domain/work/create-and-update.ts'
import type { DecidedAct } from '../../domain/operator/act.ts'
import type { Redactor } from '../../domain/secrets/redact.ts'
import { no, type Rejection } from '../../domain/rejection.ts'
import type { PlanStored } from '../../domain/state/work-item.ts'
import { sha256 } from '../../exec/files/whole-file.ts'
import type { NewBlob } from '../../ledger/port.ts'
import { keeping, makePlan } from '../gather/plans.ts'
import type { HostPorts } from '../ports.ts'
import type { Store } from '../store.ts'

type ImportPorts = Pick<HostPorts, 'home' | 'files' | 'redactor'> & { store: Store }

export type Taken = {
  ok: true
  id: WorkItemId
  plan: PlanStored
  carried: Carried
  file_sha256: string
}

/**
 * Nothing is written for a file that is refused, or for an item that is there already. `blobs` gets
 * the file and the plan, for the commit that makes the item.
 */
export async function takeIn(
  { store, home, files, redactor }: ImportPorts,
  { agent_id, file, again = false }: DecidedAct & { do: 'import_item' },
  blobs: NewBlob[],
): Promise<Taken | Rejection> {
  const facts = store.facts(agent_id)
  if (facts === null) return no('agent_not_found', `There is no agent ${agent_id}.`)
  const read = readExport(file, sha256)
  if (!read.ok) return read
  const { carried } = read
  const wrong = checkCreate(facts, carried)
  if (wrong) return wrong
  const id = again ? store.mint('work') : importedId(agent_id, file)
  if (!again && (await store.ledger.row('work_items', id)) !== null) {
    return no('already_imported', `${id} came from the same file.`)
  }
  const kept = new TextEncoder().encode(redacted(file, redactor))
  const whole = store.blob(kept)
  blobs.push(whole)
  const ports = { home, files, ...keeping(store, blobs) }
  const made = await makePlan(ports, agent_id, id, carried.plan)
  return { ok: true, id, plan: made.stored, carried, file_sha256: whole.sha256 }
}

/** The same file of the same agent is the same item. */
const importedId = (agent: AgentId, file: string): WorkItemId =>
  idOfDigits('work', sha256(`${agent}\n${file}`))

/** As it came, without what is a secret here: line by line, so that each stays a record. */
function redacted(file: string, redactor: Redactor | undefined): string {
  if (redactor === undefined) return file
  const lines = file.split('\n').map((line) => {
    if (line === '') return line
    const value = JSON.parse(line) as SliceRecord
    const clean = redactor.json(value)
    return clean === value ? line : JSON.stringify(clean)
  })
  return lines.join('\n')
}
