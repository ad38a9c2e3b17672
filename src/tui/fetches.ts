/**
 * What has to be read for the view that is open: each read by its name and the version of what is
 * known that it is of. Whoever runs the screen reads what is not there in this version. Pure.
 */
import {
  previewCells,
  viewOf,
  whyCells,
  type TuiModel,
  type ScreenLocation,
} from './model/model.ts'
import { selectedRow } from './drawing/body.ts'
import { searchText } from './writing/pastes.ts'
import type { Presentation } from '../present/presentation.ts'
import { spokeKey } from './screens/home-of.ts'
import { bodyOf } from './screens/screen.ts'

export type RouteRead = {
  readonly key: string
  readonly version: string
  readonly route: string
  readonly given: Record<string, unknown>
}

export function fetchesOf(model: TuiModel): RouteRead[] {
  const { p } = model
  if (p === null || p.link.kind !== 'live') return []
  const view = viewOf(model)
  const seq = String(p.state.last_seq)
  const own = ofPlace(model, view.place, seq)
  const spend: RouteRead = {
    key: 'spend today',
    version: `${seq} ${model.now.slice(0, 10)}`,
    route: 'GET /spend',
    given: { query: { by: 'agent', from: model.now.slice(0, 10) } },
  }
  const shown = view.place.at === 'home' ? [spend, ...spoken(p)] : []
  const all = [...own, ...shown, ...receipted(model, seq), ...previewed(model, seq)]
  const keys = new Set(all.map(({ key }) => key))
  return [...all, ...askedChecks(model, seq).filter(({ key }) => !keys.has(key))]
}

/** Agents whose last words are read where a home has no item: is it empty, or was it spoken in? */
const spokenRead = 8

/** Read once: what is said later the stream tells. */
const spoken = ({ state }: Presentation): RouteRead[] =>
  (state.work_items.length === 0 ? state.agents : [])
    .filter(({ state: is }) => is !== 'deleted')
    .slice(0, spokenRead)
    .map(({ id }) => ({
      key: spokeKey(id),
      version: 'first',
      route: 'GET /agents/{agent}/briefs',
      given: { agent: id, query: { limit: 1 } },
    }))

/** What became of the words that were sent last, by the ledger. */
function receipted({ receipt }: TuiModel, version: string): RouteRead[] {
  if (receipt === null) return []
  const { agent_id: agent, message_id: message } = receipt
  const route = 'GET /agents/{agent}/messages/{message}'
  return [{ key: `message ${message}`, version, route, given: { agent, message } }]
}

/** Items whose checks are read ahead: an answer names the run of the check it is to. */
const checksRead = 5

const askedChecks = ({ p }: TuiModel, seq: string): RouteRead[] =>
  (p?.state.attention ?? [])
    .filter(({ kind }) => kind === 'check_asked' || kind === 'check_failed')
    .slice(0, checksRead)
    .flatMap(({ agent_id, work_item_id: id }) => (id === null ? [] : [item(agent_id, id, seq)]))

/** The item that the selection is about, for the pane beside the list. */
function previewed(model: TuiModel, seq: string): RouteRead[] {
  if (previewCells(model) === 0) return []
  const view = viewOf(model)
  if (view.place.at === 'item') {
    const { agent_id, work_item_id } = view.place
    return work_item_id === null
      ? []
      : [
          item(agent_id, work_item_id, seq),
          plan(agent_id, work_item_id, seq),
          ...(whyCells(model) === 0 ? [] : [why(agent_id, work_item_id, seq, true)]),
        ]
  }
  const row = selectedRow(bodyOf(model), view.selected, view.follow)
  const { agent_id, work_item_id } = row ?? {}
  if (agent_id === undefined || work_item_id === null || work_item_id === undefined) return []
  const whole = whyCells(model) === 0 ? [] : [why(agent_id, work_item_id, seq, true)]
  return [why(agent_id, work_item_id, seq, false), ...whole]
}

const item = (agent: string, id: string, version: string): RouteRead => ({
  key: `item ${id}`,
  version,
  route: 'GET /agents/{agent}/work-items/{item}',
  given: { agent, item: id },
})
const plan = (agent: string, id: string, version: string): RouteRead => ({
  key: `plan ${id}`,
  version,
  route: 'GET /agents/{agent}/work-items/{item}/plan',
  given: { agent, item: id },
})
const why = (agent: string, id: string, version: string, history: boolean): RouteRead => ({
  key: `why ${id}${history ? ' history' : ''}`,
  version,
  route: 'GET /agents/{agent}/work-items/{item}/why',
  given: { agent, item: id, ...(history ? { query: { history: true } } : {}) },
})

function ofPlace(model: TuiModel, place: ScreenLocation, seq: string): RouteRead[] {
  switch (place.at) {
    case 'home':
    case 'board':
    case 'agents':
    case 'waits':
      return []
    case 'tasks':
      return [
        {
          key: 'tasks',
          version: seq,
          route: 'GET /tasks',
          given: { query: { status: 'all', limit: 100 } },
        },
      ]
    case 'events':
      return [
        {
          key: 'events',
          version: seq,
          route: 'GET /events',
          given: { query: { before: (model.p?.last_seq ?? 0) + 1, limit: 200 } },
        },
      ]
    case 'search': {
      const text = searchText(model)
      if (text.trim() === '') return []
      return [
        {
          key: 'search',
          version: text,
          route: 'GET /search',
          given: { query: { q: text, limit: 50 } },
        },
      ]
    }
    case 'item':
      return ofItem(place, seq)
    case 'task': {
      const { agent_id: agent, task_id: task, stream } = place
      const live = model.p?.outputs.get(task)
      const said = live === undefined ? '' : `${live.from + live.text.length}`
      return [
        {
          key: `task ${task}`,
          version: seq,
          route: 'GET /agents/{agent}/tasks/{task}',
          given: { agent, task },
        },
        {
          key: `output ${task} ${stream}`,
          version: `${seq} ${said}`,
          route: 'GET /agents/{agent}/tasks/{task}/output',
          given: { agent, task, query: outputQuery(model, task, stream) },
        },
      ]
    }
  }
}

/** Bytes of an output that are read at its end. */
const tail = 64 * 1_024

function outputQuery(model: TuiModel, task: string, stream: string) {
  const read = model.details.get(`output ${task} ${stream}`)?.value as { size?: number } | undefined
  const known = model.details.get(`task ${task}`)?.value as
    | { output?: { bytes: number } }
    | undefined
  const size = Math.max(read?.size ?? 0, stream === 'stdout' ? (known?.output?.bytes ?? 0) : 0)
  return { stream, offset: Math.max(0, size - tail), limit: tail * 2 }
}

function ofItem(place: ScreenLocation & { at: 'item' }, seq: string): RouteRead[] {
  const { agent_id: agent, work_item_id: id, tab } = place
  if (id === null) return []
  const base = [item(agent, id, seq), why(agent, id, seq, tab === 'why')]
  switch (tab) {
    case 'thread':
      return base
    case 'plan':
      return [...base, plan(agent, id, seq)]
    case 'tasks':
      return [
        ...base,
        {
          key: `tasks ${id}`,
          version: seq,
          route: 'GET /agents/{agent}/tasks',
          given: { agent, query: { work_item_id: id, status: 'all', limit: 100 } },
        },
      ]
    case 'why':
      return base
    case 'spend':
      return [
        ...base,
        {
          key: `spend ${id}`,
          version: seq,
          route: 'GET /agents/{agent}/work-items/{item}/spend',
          given: { agent, item: id },
        },
      ]
    case 'events':
      return base
  }
}
