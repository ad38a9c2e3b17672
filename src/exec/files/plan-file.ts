/**
 * A work item's plan file as a descriptor (docs/spec/work-item.md#plan-file): computed at the read,
 * storing and repairing nothing. A plan that cannot be used is a `problem`, never a fault: the
 * agent writes the file with ordinary tools, and anything may be there.
 */
import { limits } from '../../domain/limits.ts'
import type { PlanDescriptor, PlanProblem } from '../../domain/state/plan.ts'
import { FileFault } from './file-fault.ts'
import type { Files } from '../ports.ts'
import { sha256 } from './whole-file.ts'

/** The snapshot stored last: its hash, and a file with it, made when somebody has to look at it. */
export type LastGoodPlan = { sha256: string; file: () => Promise<string | null> }

/**
 * The last names on a plan's path are no links: `work-items`, the item's folder and the file, all
 * in the agent's own folder, where it may put what it likes.
 */
export const planNames = { unlinked: 3 } as const

const empty = sha256('')
const nowhere = { sha256: null, bytes: 0, updated_at: null }
const blank = { preview: '', preview_complete: false }

export async function describePlan(
  files: Pick<Files, 'stat' | 'read'>,
  path: string,
  last_good?: LastGoodPlan,
): Promise<PlanDescriptor> {
  const problem = async (code: PlanProblem['code'], message: string) => ({
    problem: { code, message, last_good: (await last_good?.file()) ?? null },
  })
  const max_bytes = limits.plan_file.value
  try {
    const { kind, size, updated_at } = await files.stat(path, planNames)
    if (kind !== 'file') {
      const message = `the plan is not a regular file but a ${sayKind[kind]}`
      return { path, ...nowhere, ...blank, ...(await problem('not_a_file', message)) }
    }
    if (size > max_bytes) {
      const message = `the plan has ${size} bytes; the limit is ${max_bytes}`
      const facts = { path, sha256: null, bytes: size, updated_at }
      return { ...facts, ...blank, ...(await problem('too_large', message)) }
    }
    const file = await files.read(path, { max_bytes, ...planNames })
    const facts = { path, sha256: file.sha256, bytes: file.size, updated_at: file.updated_at }
    if (file.size === 0 && last_good && last_good.sha256 !== empty) {
      const message = 'the plan is empty now and had text before'
      return { ...facts, ...blank, ...(await problem('emptied', message)) }
    }
    if (file.bytes.includes(0)) {
      const message = 'the plan contains NUL bytes, as after a write that a crash cut off'
      return { ...facts, ...blank, ...(await problem('nul_filled', message)) }
    }
    return { ...facts, ...previewOf(new TextDecoder().decode(file.bytes)) }
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    const [code, message] = sayFault(error)
    return { path, ...nowhere, ...blank, ...(await problem(code, message)) }
  }
}

const sayKind = { folder: 'folder', link: 'link', other: 'device or pipe', file: 'file' } as const

/** The file may also change between the look and the read: the same problems, found later. */
function sayFault(fault: FileFault): [PlanProblem['code'], string] {
  switch (fault.code) {
    case 'not_found':
      return ['missing', 'the plan file is missing']
    case 'is_folder':
    case 'not_regular':
      return ['not_a_file', `the plan is not a regular file: ${fault.message}`]
    case 'too_large':
      return ['too_large', fault.message]
    case 'denied':
    case 'disk_full':
    case 'read_only':
    case 'scarce':
    case 'io':
      return ['unreadable', fault.message]
  }
}

/** The first characters, never half of a pair. */
function previewOf(text: string) {
  const cut = text.slice(0, limits.plan_preview.value)
  const shown = cut.isWellFormed() ? cut : cut.slice(0, -1)
  return { preview: shown, preview_complete: shown.length === text.length }
}
