/**
 * `holon work revert`: files that an item changed go back to what they were, where they are as the
 * agent left them; every other is named and left. What stands there is kept, and that it is to be
 * replaced committed, before anything is touched; then each file is exchanged for itself. Ended by
 * a kill in between, the same command does the rest.
 */
import { ifLiving, livingAgent } from '../../domain/agents/lifecycle.ts'
import { limits } from '../../domain/limits.ts'
import type { OperatorAct } from '../../domain/operator/act.ts'
import { rowsNeeded } from '../../domain/operator/decide.ts'
import { tellReverted } from '../../domain/work/create-and-update.ts'
import { isRejection, no, type Rejection } from '../../domain/rejection.ts'
import type { KeptFile, NotKept } from '../../domain/state/file-diff.ts'
import { done, type Done, type RevertOutcome } from '../../domain/state/reply.ts'
import type { RevertedFile, WorkItem } from '../../domain/state/work-item.ts'
import {
  isSameFile,
  permissions,
  revertTargets,
  targetsNamed,
  undoTargets,
  type RevertTarget,
} from '../../domain/work/revert.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import { sha256 } from '../../exec/files/whole-file.ts'
import type { Roots, Standing } from '../../exec/ports.ts'
import type { NewBlob } from '../../ledger/port.ts'
import { diffsOf } from '../../tools/files/file-diff.ts'
import { changesRecorded, revertsRecorded } from './recorded-changes.ts'
import type { ActPorts } from './act-ports.ts'

type Act = OperatorAct & { do: 'revert_files' }
type Left = Extract<RevertOutcome, { outcome: 'left' }>

/** What is to be done with one file: exchanged, or said. */
type Step = { file: RevertedFile; now: Standing; next: Standing } | { outcome: RevertOutcome }

/** One revert of an agent's files at a time. */
export const revertFiles = (ports: ActPorts, command: Act): Promise<Done | Rejection> =>
  ports.store.inTurn(`revert of ${command.agent_id}`, () => revert(ports, command))

async function revert(ports: ActPorts, command: Act): Promise<Done | Rejection> {
  const { agent_id, undo = false } = command
  const { store } = ports
  const item = await store.row(agent_id, 'work_items', command.work_item_id)
  if (item?.agent_id !== agent_id) {
    return no('work_item_not_found', `${command.work_item_id} is not an item of ${agent_id}.`)
  }
  const agent = ifLiving(agent_id, await store.row(agent_id, 'agents', agent_id))
  if (isRejection(agent)) return agent
  const roots = ports.roots(agent_id)
  const { targets, unseen } = undo
    ? { targets: undoTargets(await revertsRecorded(store.ledger, item.id)), unseen: 0 }
    : await revertOf(ports, item)
  const named = targetsNamed(targets, command.files)
  if (isRejection(named)) return named
  const blobs: NewBlob[] = []
  const steps: Step[] = []
  const { root } = agent.workspace
  const room = { left: limits.revert_text.value }
  for (const target of named.targets.slice(0, limits.revert_files.value)) {
    steps.push(await stepOf(ports, { roots, target, blobs, root, room }))
  }
  const files = steps.flatMap((step) => ('file' in step ? [step.file] : []))
  if (files.length > 0) {
    const told = await store.transact(
      agent_id,
      'operator',
      (d) => {
        const agent = livingAgent(d)
        if ('ok' in agent) return agent
        d.emit({ type: 'files_reverted', id: item.id, undo, files })
        tellReverted(d, item.id, { undo, files })
        return null
      },
      { needs: rowsNeeded(command), blobs },
    )
    if (told !== null) return told
  }
  const outcomes: RevertOutcome[] = []
  for (const step of steps) outcomes.push(await carriedOut(ports, roots, step))
  const left_out = named.targets.length - steps.length
  return reply(item, { undo, files: outcomes, left_out, unseen })
}

async function revertOf({ store }: ActPorts, item: WorkItem) {
  const { changes, unseen } = await changesRecorded(store.ledger, item.id)
  return { targets: revertTargets(changes), unseen }
}

async function standingAt(
  { files }: ActPorts,
  roots: Roots,
  path: string,
): Promise<Standing | FileFault> {
  try {
    return await files.look_within(roots, path)
  } catch (error) {
    if (error instanceof FileFault) return error
    throw error
  }
}

/** `room`: characters of diffs that the answer still takes. */
type Look = {
  roots: Roots
  target: RevertTarget
  blobs: NewBlob[]
  root: string
  room: { left: number }
}

async function stepOf(ports: ActPorts, look: Look): Promise<Step> {
  const { roots, target, blobs } = look
  const { path, name } = target
  const left = (why: string, diff: Left['diff'] = null): Step => ({
    outcome: { path, name, outcome: 'left', why, diff },
  })
  if ('no' in target) return left(notKeptWords[target.no])
  // A name that was recorded without its secret is no name of a file.
  if (path.includes('{{secret:')) return left(notKeptWords.secret)
  const now = await standingAt(ports, roots, path)
  if (now instanceof FileFault) return left(now.message)
  if (now.kind === 'other') return left('it is no regular file now, or a very large one')
  const replaced = stateOf(now)
  if (isSameFile(replaced, target.to)) return { outcome: { path, name, outcome: 'same' } }
  if (!isSameFile(replaced, target.left)) {
    return left(changedWords(now, target.left), await diffSince(ports, target.left, now, look))
  }
  const next = await standingOf(ports, target.to)
  if (next === null) return left('its bytes are not kept any more', null)
  if (now.kind !== 'none') {
    if (ports.store.holdsSecret(now.bytes)) return left(notKeptWords.secret)
    ports.store.keep(blobs, now.bytes)
  }
  return { file: { path, name, replaced, put: target.to }, now, next }
}

const notKeptWords: Readonly<Record<NotKept | 'earlier_version', string>> = {
  secret: 'it holds a secret, which is never kept',
  too_large: `it is larger than ${limits.kept_file.value} bytes, of which none are kept`,
  too_many: 'its call changed more than is kept',
  unreadable: 'it could not be read',
  earlier_version: 'an earlier version changed it, and kept nothing',
}

const changedWords = (now: Standing, left: KeptFile): string => {
  if (now.kind === 'none') return 'it was deleted since'
  if (left.kind === 'none') return 'it was made anew since'
  const bytes = 'kept_sha256' in left ? left.kept_sha256 : null
  const isSame = 'bytes' in now && sha256(now.bytes) === bytes
  return isSame ? 'its mode was changed since' : 'it was changed since'
}

const stateOf = (now: Exclude<Standing, { kind: 'other' }>): KeptFile => {
  if (now.kind === 'none') return now
  const kept_sha256 = sha256(now.bytes)
  return now.kind === 'link'
    ? { kind: 'link', kept_sha256 }
    : { kind: 'file', kept_sha256, mode: now.mode }
}

/** Of a new file whose mode nobody looked at. */
const usualMode = 0o644

/** Null: its bytes are gone, with the history that named them. */
async function standingOf({ store }: ActPorts, state: KeptFile): Promise<Standing | null> {
  if (state.kind === 'none') return state
  const bytes = await store.ledger.blob(state.kept_sha256)
  if (bytes === null) return null
  if (state.kind === 'link') return { kind: 'link', bytes }
  return { kind: 'file', bytes, mode: (state.mode ?? usualMode) & permissions }
}

async function diffSince(
  ports: ActPorts,
  left: KeptFile,
  now: Standing,
  { target, root, room }: Look,
): Promise<Left['diff']> {
  const before = textOf(await standingOf(ports, left))
  const after = textOf(now)
  if (before === undefined || after === undefined) return null
  const [diff] = await diffsOf([{ path: target.path, before, after }], root)
  if (diff === undefined || diff.text.length > room.left) return null
  room.left -= diff.text.length
  return diff
}

/** Undefined: it is no text. */
function textOf(state: Standing | null): string | null | undefined {
  if (state?.kind === 'none') return null
  if (state?.kind !== 'file' || state.bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(state.bytes)
  } catch {
    return undefined
  }
}

async function carriedOut(ports: ActPorts, roots: Roots, step: Step): Promise<RevertOutcome> {
  if ('outcome' in step) return step.outcome
  const { path, name } = step.file
  const left = (why: string): RevertOutcome => ({ path, name, outcome: 'left', why, diff: null })
  ports.effect_seam?.before_effect(`revert ${path}`)
  try {
    const { put, aside } = await ports.files.put_within(roots, path, step.now, step.next)
    ports.effect_seam?.after_effect(`revert ${path}`)
    if (aside !== null) return left(`somebody wrote to it meanwhile: ${aside} has what they wrote`)
    return put ? { path, name, outcome: 'put_back' } : left('it changed at this very moment')
  } catch (error) {
    if (error instanceof FileFault) return left(error.message)
    throw error
  }
}

type Replied = { undo: boolean; files: RevertOutcome[]; left_out: number; unseen: number }

function reply(item: WorkItem, { undo, files, left_out, unseen }: Replied): Done {
  const count = (of: RevertOutcome['outcome']) => files.filter((f) => f.outcome === of).length
  const [put, left] = [count('put_back'), count('left')]
  const what = undo ? 'as it was before the revert' : 'put back'
  const parts = [
    `${put} ${put === 1 ? 'file' : 'files'} of ${item.id} ${put === 1 ? 'is' : 'are'} ${what}`,
    ...(left === 0 ? [] : [`${left} left`]),
  ]
  const warnings = [
    ...(left_out === 0 ? [] : [{ kind: 'more_files', message: moreWords(left_out) }]),
    ...(unseen === 0 ? [] : [{ kind: 'unseen_changes', message: unseenWords(unseen) }]),
  ]
  return done(`${parts.join(', ')}.`, { id: item.id, warnings, files })
}

const unseenWords = (count: number): string =>
  `Not all is known that ${count === 1 ? 'a command' : `${count} commands`} of it changed: ` +
  'holon work diff says why.'

const moreWords = (count: number): string =>
  `${count} more files were not looked at: at most ${limits.revert_files.value} at once.`
