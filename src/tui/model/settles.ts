/**
 * What `a` does about an entry that needs a person: the acts of its record that this screen carries
 * out. Row, footer and key read the same table, so that what is offered is what is done. Pure.
 */
import type { Can, Offered } from '../../protocol/actions/action.ts'
import type { Attention } from '../../protocol/views/attention.ts'
import { viewOf, type TuiModel } from './model.ts'

/** Every act that a record may name; what is not done here has its shell line. */
const settles: { readonly [K in Offered | 'look' | 'output' | 'resume']: boolean } = {
  answer: true,
  answer_held: true,
  answer_check: true,
  run_checks: true,
  update_item: true,
  configure_agent: true,
  unblock: true,
  pick: true,
  send: true,
  start_agent: true,
  stop_task: true,
  redeliver: true,
  remove_worktree: true,
  discard_worktree: true,
  // Keys of their own, on every entry.
  snooze: false,
  dismiss: false,
  // Of other records than an entry.
  stop_agent: false,
  abort: false,
  delete_agent: false,
  create_item: false,
  import_item: false,
  start_task: false,
  create_trigger: false,
  create_schedule: false,
  complete: false,
  trigger: false,
  take_back: false,
  cancel_wait: false,
  task_input: false,
  snapshot_worktree: false,
  restore_worktree: false,
  revoke_grant: false,
  reset_trigger: false,
  revoke_trigger: false,
  change_schedule: false,
  pause_schedule: false,
  resume_schedule: false,
  remove_schedule: false,
  // They change nothing, or have no route.
  look: false,
  output: false,
  resume: false,
}

/** The acts that `a` does, or asks which of. */
export const settledBy = (can: readonly Can[]): readonly Can[] => {
  const here: Readonly<Record<string, boolean>> = settles
  return can.filter(({ key, allowed }) => allowed && here[key] === true)
}

/** The shell line of what only a shell does about an entry; null: a key does it, or nothing. */
export function onlyByShell(can: readonly Can[]): string | null {
  if (settledBy(can).length > 0) return null
  return can.find(({ key, allowed, cli }) => allowed && cli !== null && isAct(key))?.cli ?? null
}

const isAct = (key: string): boolean => !['look', 'output', 'snooze', 'dismiss'].includes(key)

/** `answer`, or `raise its budget, let it go on`: in the words of the record, each once. */
export const settleWords = (can: readonly Can[]): string =>
  [...new Set(settledBy(can).map(({ label }) => label))].join(', ')

type Pointed = Readonly<{ id: string | null; work_item_id?: string | null; agent_id?: string }>

/** The entry that a row is about: of itself, of its item, or of the agent whose screen it is. */
export function entryOf(model: TuiModel, row: Pointed | null): Attention | null {
  const all = model.p?.state.attention ?? []
  if (row === null) return null
  const { place } = viewOf(model)
  const agent_id = place.at === 'item' && place.work_item_id === null ? place.agent_id : null
  return (
    all.find(({ id }) => row.id === `needs ${id}` || row.id === id) ??
    all.find(({ work_item_id }) => work_item_id !== null && work_item_id === row.work_item_id) ??
    all.find((one) => one.agent_id === agent_id) ??
    null
  )
}

/** The same of what is selected, by its id alone: the footer has no rows yet. */
export function entryInSight(model: TuiModel): Attention | null {
  const { place, selected } = viewOf(model)
  switch (place.at) {
    case 'item':
      return entryOf(model, { id: selected, work_item_id: place.work_item_id })
    case 'task':
      return entryOf(model, { id: place.task_id })
    case 'home':
    case 'board':
    case 'agents':
    case 'tasks':
    case 'waits':
    case 'events':
    case 'search': {
      if (selected === null)
        return place.at === 'home' ? (model.p?.state.attention[0] ?? null) : null
      const id = selected.slice(selected.lastIndexOf(' ') + 1)
      return entryOf(model, { id, work_item_id: id })
    }
  }
}
